"""`testbed grade`: marks submissions of an exercise."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ...error import MachineError, UserError
from ...exercise import outlet, work_folder
from ...exercise.check import mark
from ...exercise.file import Exercise
from ...exercise.mark import Mark, unmarked
from ...exercise.submission import Submission, read
from ...trial.folder import write_named
from ..text_table import Column, Table, show, terminal_width
from .exercise import Name

EXAMPLES = (
    ("Mark all submissions of a class", "testbed grade learning-switch submissions/*"),
    ("As a table for a spreadsheet", "testbed grade learning-switch submissions/* --format csv > marks.csv"),
    ("In a Gradescope autograder",
     "testbed grade ./exercise submission --format gradescope -o results.json"),
)  # fmt: skip

COLUMNS = (Column("submission", names=True), Column("points", right=True), Column("fails", wraps=True))


class Format(StrEnum):
    table = "table"
    json = "json"
    csv = "csv"
    junit = "junit"
    gradescope = "gradescope"


def grade(
    exercise: Name,
    submissions: Annotated[
        list[Path], typer.Argument(metavar="SUBMISSION...", help="Folders, each with the files of one student.")
    ],
    format: Annotated[Format, typer.Option(help="The format of the output.")] = Format.table,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it there instead.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many are marked at the same time.")
    ] = os.cpu_count() or 1,
) -> None:
    """Only the files that the exercise names are taken from a submission. Each is checked in a lab kernel of its own,
    without a network of this computer, and can read neither the solution nor the other submissions.

    The exit code is 0 if all were marked, whatever the marks are, and 3 if this computer could not mark one of them.
    """
    found = work_folder.find(exercise)
    if format is Format.gradescope and len(submissions) != 1:
        raise UserError("Gradescope has one submission at a time; allowed: one SUBMISSION, or --format json")
    read_ones = [read(found, folder, name) for folder, name in zip(submissions, _names(submissions), strict=True)]
    results = _marked(found, read_ones, jobs)
    lacking = [each for each in results if isinstance(each, MachineError)]
    if lacking and len(lacking) == len(results):
        raise lacking[0]
    done = [
        unmarked(found.name, one.name, found.file.rules, each.what) if isinstance(each, MachineError) else each
        for one, each in zip(read_ones, results, strict=True)
    ]
    if format is Format.table and output is None:
        rows = tuple((each.submission, f"{each.points} of {each.of}", _fails(each)) for each in done)
        show(Table(COLUMNS, rows).lines(terminal_width()))
    elif output is None:
        print(_text(done, format), end="")
    else:
        write_named(output, _text(done, format))
    if lacking:
        print(f"testbed: {len(lacking)} of {len(results)} could not be graded: {lacking[0]}", file=sys.stderr)
        raise typer.Exit(MachineError.exit_code)


def _marked(found: Exercise, submissions: list[Submission], jobs: int) -> list[Mark | MachineError]:
    stopped: list[bool] = []
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = [pool.submit(mark, found, each, lambda: bool(stopped)) for each in submissions]
        return [_result(found, each, future) for each, future in zip(submissions, waiting, strict=True)]
    except BaseException:
        stopped.append(True)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _result(found: Exercise, submission: Submission, future: Future[Mark]) -> Mark | MachineError:
    """The mark, or what came in the way of this one, be it a mistake of ours; the others keep theirs."""
    try:
        return future.result()
    except MachineError as error:
        return error
    except Exception as error:
        return MachineError(f"{type(error).__name__}: {error}", f"testbed exercise check, in {submission.name}")


def _names(folders: list[Path]) -> list[str]:
    """The last part of each path, with as many before it as tell them apart."""
    parts = [folder.absolute().parts for folder in folders]
    for length in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-length:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    raise UserError("a submission is named twice; allowed: each folder once")


def _fails(each: Mark) -> str:
    if each.problems:
        return each.problems[0]
    ended = "" if each.ended is None else f" ({each.ended.splitlines()[0]})"
    return (", ".join(each.fails) or "-") + ended


def _text(done: list[Mark], format: Format) -> str:
    if format is Format.gradescope:
        return f"{outlet.gradescope(done[0])}\n"
    if format is Format.junit:
        return outlet.junit(done)
    if format is Format.csv or format is Format.table:
        return outlet.table(done)
    return json.dumps([each.data() for each in done], indent=1, ensure_ascii=False) + "\n"
