"""`testbed grade`: marks submissions of an exercise."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ...error import MachineError, UserError
from ...exercise import feedback as feedback_file
from ...exercise import likeness, mark_format, work_folder
from ...exercise.check import mark
from ...exercise.file import Exercise
from ...exercise.mark import Mark, headline, unmarked
from ...exercise.submission import Submission, of_solution, of_starter, read
from ...exercise.variant import with_secret
from ...trial.folder import write_named
from ..text_table import Column, Table, show, terminal_width
from .exercise import Name, SecretOption, VariantsOption

EXAMPLES = (
    ("Mark all submissions of a class", "testbed grade learning-switch submissions/*"),
    ("As a table for a spreadsheet", "testbed grade learning-switch submissions/* --format csv > marks.csv"),
    ("In a network that no student has seen, with a file of feedback for each",
     "testbed grade nat submissions/* --secret secret.txt --feedback feedback"),
    ("In a Gradescope autograder",
     "testbed grade ./exercise submission --format gradescope -o results.json"),
)  # fmt: skip

COLUMNS = (Column("submission", names=True), Column("points", right=True), Column("fails", wraps=True))
SAME = Column("same program as", names=True, wraps=True)


THE_SOLUTION = "(the solution)"
"""No folder of a student has this name: with others in front, it is told apart."""


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
    variants: VariantsOption = None,
    secret: SecretOption = None,
    feedback: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a file in Markdown for each student into this folder.")
    ] = None,
) -> None:
    """Only the files that the exercise names are taken from a submission. Each is checked in a lab kernel of its own,
    without a network of this computer, and can read neither the solution nor the other submissions.

    The exit code is 0 if all were marked, whatever the marks are, and 3 if this computer could not mark one of them.
    """
    found = with_secret(work_folder.find(exercise), variants, secret)
    if format is Format.gradescope and len(submissions) != 1:
        raise UserError("Gradescope has one submission at a time; allowed: one SUBMISSION, or --format json")
    if feedback is not None:
        work_folder.put(feedback, {})  # or the class would be marked, and then it cannot be written
    read_ones = [read(found, folder, name) for folder, name in zip(submissions, _names(submissions), strict=True)]
    _try_solution(found)
    results = _marked(found, read_ones, jobs)
    lacking = [each for each in results if isinstance(each, MachineError)]
    if lacking and len(lacking) == len(results):
        raise lacking[0]
    done = _compared(
        found,
        read_ones,
        [
            unmarked(found.name, one.name, found.file.rules, each.what) if isinstance(each, MachineError) else each
            for one, each in zip(read_ones, results, strict=True)
        ],
    )
    if format is Format.table and output is None:
        show(_table(done).lines(terminal_width()))
    elif output is None:
        print(_text(done, format), end="")
    else:
        write_named(output, _text(done, format))
    if feedback is not None:
        texts = (feedback_file.text(found, each).encode() for each in done)
        names = feedback_file.file_names([each.submission for each in done])
        work_folder.put(feedback, dict(zip(names, texts, strict=True)))
    if lacking:
        print(f"testbed: {len(lacking)} of {len(results)} could not be graded: {lacking[0]}", file=sys.stderr)
        raise typer.Exit(MachineError.exit_code)


def _table(done: list[Mark]) -> Table:
    """With a column for submissions that are the same, if there are any."""
    rows = [(each.submission, f"{each.points} of {each.of}", _fails(each)) for each in done]
    if not any(each.same_as for each in done):
        return Table(COLUMNS, tuple(rows))
    same = [", ".join(each.same_as or ()) or "-" for each in done]
    return Table((*COLUMNS, SAME), tuple((*row, one) for row, one in zip(rows, same, strict=True)))


def _try_solution(found: Exercise) -> None:
    """Raises UserError if the solution does not have the full mark in the networks that only this marking has: no
    student could.
    """
    if not found.secret:
        return
    if found.is_for_students:
        print(
            f"testbed: {found.name} has no solution here, so nobody tried whether it has the full mark in the other "
            "networks",
            file=sys.stderr,
        )
        return
    tried = mark(found, of_solution(found))
    if not tried.is_full:
        first = next(rule for rule in tried.rules if rule.outcome != "passed")
        raise UserError(
            f"in the networks of this marking, the solution fails {', '.join(tried.fails)} ({first.name}: "
            f"{first.seen}); allowed: networks in which it has the full mark: testbed exercise prove"
        )


def _compared(found: Exercise, submissions: list[Submission], done: list[Mark]) -> list[Mark]:
    """With those that have the same programs but for names, among them the solution if it is there."""
    if not likeness.has_programs(tuple(found.file.files)):
        return done
    handed_in = {each.name: each.files for each in submissions}
    own = {} if found.is_for_students else {THE_SOLUTION: of_solution(found).files}
    same = likeness.alike(handed_in | own, of_starter(found).files)
    return [replace(each, same_as=same[each.submission]) for each in done]


def _marked(found: Exercise, submissions: list[Submission], jobs: int) -> list[Mark | MachineError]:
    stopped: list[bool] = []
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = [pool.submit(mark, found, each, lambda: bool(stopped)) for each in submissions]
        return [_result(each, future) for each, future in zip(submissions, waiting, strict=True)]
    except BaseException:
        stopped.append(True)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _result(submission: Submission, future: Future[Mark]) -> Mark | MachineError:
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
        if len({*names} - {THE_SOLUTION}) == len(names):
            return names
    raise UserError("a submission is named twice; allowed: each folder once")


def _fails(each: Mark) -> str:
    if each.problems:
        return headline(each.problems[0])
    why = f" ({each.remarks[0]})" if each.remarks and not each.is_full else ""
    return (", ".join(each.fails) or "-") + why


def _text(done: list[Mark], format: Format) -> str:
    if format is Format.gradescope:
        return f"{mark_format.gradescope(done[0])}\n"
    if format is Format.junit:
        return mark_format.junit(done)
    if format is Format.csv or format is Format.table:
        return mark_format.table(done)
    return json.dumps([each.data() for each in done], indent=1, ensure_ascii=False) + "\n"
