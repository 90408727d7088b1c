"""`testbed exercise`: exercises that check themselves."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import units
from ...error import TestbedError, UserError
from ...exercise import self_test, work_folder
from ...exercise.check import mark
from ...exercise.file import HANDOUT, Exercise
from ...exercise.mark import Mark
from ...exercise.submission import read
from ...exercise.variant import with_secret
from ..help_page import Command, examples, group
from ..text_table import Column, Format, FormatOption, Table, paragraph, show, terminal_width

app = group(
    "An exercise is a network, a task, and rules that say whether the task is done. They are checked in a lab "
    "kernel, in virtual time: a slow computer gives the same mark.",
    ("List the exercises", "testbed exercise list"),
    ("Begin one in a folder of its name", "testbed exercise start learning-switch"),
    ("See how far you are, in that folder", "testbed exercise check"),
)

Name = Annotated[
    str, typer.Argument(metavar="EXERCISE", help="The name of an exercise (testbed exercise list), or its folder.")
]
Folder = Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where you work on it; here if left out.")]
VariantsOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Other networks in which rules must hold, too: DIR/NAME/FILE for a given FILE."),
]
SecretOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A secret of yours, which draws one more network: 16 bytes or more."),
]
HERE = Path()
COLUMNS = (Column("exercise", names=True), Column("min", right=True), Column("points", right=True), Column("title"))
RULES = (Column("rule", names=True), Column("points", right=True), Column("result"))
PROMISES = (
    Column("submission", names=True),
    Column("points", right=True),
    Column("fails", wraps=True),
    Column("kept", wraps=True),
)


@app.command("list", cls=Command, epilog=examples(("List the exercises", "testbed exercise list")))
def list_(format: FormatOption = Format.table) -> None:
    """List the exercises that come with the testbed."""
    found = [work_folder.find(name) for name in work_folder.names()]
    if format is Format.json:
        print(json.dumps([_about(each) for each in found], indent=1, ensure_ascii=False))
        return
    rows = tuple((each.name, f"{each.file.time / 60e9:g}", str(each.file.points), each.file.title) for each in found)
    show(Table(COLUMNS, rows).lines(terminal_width()))


def _about(each: Exercise) -> dict[str, Any]:
    return {
        "name": each.name,
        "title": each.file.title,
        "goal": each.file.goal.strip(),
        "time_s": each.file.time / 1e9,
        "points": each.file.points,
        "files": sorted(each.file.files),
        "rules": [{"name": rule.name, "points": rule.points, "kind": rule.kinds[0]} for rule in each.file.rules],
        "hints": len(each.file.hints),
        "wrong": [*each.wrongs()],
        "folder": str(each.folder),
    }


@app.command(cls=Command, epilog=examples(("Begin an exercise", "testbed exercise start learning-switch work/switch")))
def start(
    exercise: Name,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Where to work on it; the exercise's name if left out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Move existing files to a new folder first.")] = False,
) -> None:
    """Begin an exercise: copy its handout and its files into a folder."""
    found = work_folder.find(exercise)
    where = Path(found.name) if folder is None else folder
    copied = work_folder.start(found, where, force=force)
    print(f"{found.file.title}: about {units.format_time(found.file.time)}" if found.file.time % 60_000_000_000 else
          f"{found.file.title}: about {found.file.time // 60_000_000_000} min")  # fmt: skip
    print(paragraph(found.file.goal.strip(), terminal_width()))
    print(f"read {where / HANDOUT}; change {', '.join(str(where / name) for name in found.file.files)}")
    others = [name for name in copied if name not in found.file.files and name != HANDOUT]
    if others:
        print(f"given, and not to be changed: {', '.join(others)}")
    print(f"then: testbed exercise check {where}; if you are stuck: testbed exercise hint {where}")


@app.command(
    cls=Command,
    epilog=examples(
        ("See how far you are", "testbed exercise check"),
        ("For a program", "testbed exercise check work --format json"),
    ),
)
def check(folder: Folder = HERE, format: FormatOption = Format.table) -> None:
    """Check what you have done so far. The exit code is 0 if all rules hold, 1 if not."""
    work = work_folder.opened(folder)
    found = mark(work.exercise, read(work.exercise, folder))
    if format is Format.json:
        print(json.dumps(found.data(), indent=1, ensure_ascii=False))
    else:
        tell(found)
        if not found.is_full and work.hints < len(work.exercise.file.hints):
            print(f"stuck? testbed exercise hint ({work.hints} of {len(work.exercise.file.hints)} hints are open)")
    raise typer.Exit(0 if found.is_full else 1)


def tell(found: Mark) -> None:
    """Prints a mark for people."""
    rows = tuple((rule.name, f"{rule.points} of {rule.of}", rule.outcome) for rule in found.rules)
    colours = {"passed": "green", "failed": "red", "not checked": "red"}
    show(Table(RULES, rows, colours=colours).lines(terminal_width()))
    common = _common(found)
    if common is not None:
        print(f"\n{paragraph(f'no rule could be checked: {common}', terminal_width(), indent='  ')}")
    for rule in found.rules:
        if rule.outcome != "passed" and common is None:
            print(f"\n{rule.name}:")
            print(paragraph(rule.message or "", terminal_width(), indent="  "))
            print(paragraph(f"seen: {rule.seen}", terminal_width(), indent="  "))
            for line in rule.shown:
                lead = "  " + line[: len(line) - len(line.lstrip())]
                print(paragraph(f"{lead}{line.strip()}", terminal_width(), indent=f"{lead}    "))
    ended = [] if found.ended is None or common is not None else [f"the network ended too early: {found.ended}"]
    for text in (*ended, *found.notes):
        print(f"\n{text}")
    print(f"\n{found.points} of {found.of} points")


def _common(found: Mark) -> str | None:
    """Why no rule at all could be checked, if it is the same for all: the files, or the end of the network."""
    seen = {rule.seen for rule in found.rules}
    if len(seen) != 1 or any(rule.outcome != "not checked" for rule in found.rules):
        return None
    return "; ".join(found.problems) or found.ended or next(iter(seen))


@app.command(cls=Command, epilog=examples(("Open the next hint", "testbed exercise hint")))
def hint(folder: Folder = HERE) -> None:
    """Open the next hint."""
    work = work_folder.opened(folder)
    text = work_folder.next_hint(work)
    for number, each in enumerate(work.exercise.file.hints[: work.hints], 1):
        print(paragraph(f"{number}. {each.strip()}", terminal_width()))
    if text is None:
        print("there is no other hint")
    else:
        print(paragraph(f"{work.hints + 1}. {text}", terminal_width()))


@app.command(cls=Command, epilog=examples(("Begin anew", "testbed exercise reset")))
def reset(folder: Folder = HERE) -> None:
    """Begin anew: put the files in place as they were at first. Yours are kept in a new folder."""
    work = work_folder.opened(folder)
    kept = work_folder.reset(work)
    print("nothing had been changed" if kept is None else f"all is as at first; what you had is in {kept}")


@app.command(
    cls=Command,
    epilog=examples(("Print the reference solution", "testbed exercise solution learning-switch")),
)
def solution(
    exercise: Name,
    folder: Annotated[Path | None, typer.Argument(metavar="[FOLDER]", help="Write it there instead.")] = None,
) -> None:
    """For teachers: print the reference solution, or write it into a folder."""
    texts = work_folder.solution(work_folder.whole(work_folder.find(exercise)))
    if folder is None:
        for name, text in texts.items():
            print(f"=== {name}")
            print(text, end="" if text.endswith("\n") else "\n")
        return
    there = [name for name in texts if os.path.lexists(folder / name)]
    if there:
        raise UserError(f"{folder / there[0]} exists; allowed: another folder")
    work_folder.put(folder, {name: text.encode() for name, text in texts.items()})
    print(f"{', '.join(texts)} are in {folder}")


@app.command(
    cls=Command,
    epilog=examples(("See whether an exercise of yours does what it promises", "testbed exercise prove my-exercise")),
)
def prove(
    exercise: Name,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many are checked at the same time.")
    ] = os.cpu_count() or 1,
    format: FormatOption = Format.table,
    variants: VariantsOption = None,
    secret: SecretOption = None,
) -> None:
    """For teachers: check an exercise's solution, starter and wrong submissions. The exit code is 1 if one of them is
    not as promised.
    """
    found = with_secret(work_folder.whole(work_folder.find(exercise)), variants, secret)
    with ThreadPoolExecutor(jobs) as pool:
        done = [*pool.map(lambda name: self_test.kept(found, name), self_test.cases(found))]
    if format is Format.json:
        print(json.dumps([{"name": each.name, "broken": each.broken, **each.mark.data()} for each in done], indent=1))
    else:
        rows = tuple(
            (
                each.name,
                f"{each.mark.points} of {each.mark.of}",
                ", ".join(each.mark.fails) or "-",
                each.broken or "yes",
            )
            for each in done
        )
        show(Table(PROMISES, rows).lines(terminal_width()))
    if any(each.broken for each in done):
        raise Broken("; ".join(each.broken for each in done if each.broken))


@app.command(
    cls=Command,
    epilog=examples(("A copy of your exercise that students may have", "testbed exercise publish my-exercise public")),
)
def publish(
    exercise: Name,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder, which gets the exercise.")],
) -> None:
    """For teachers: copy an exercise without its solution, its answers, its wrong submissions, and what is for the
    teacher. Rules about answers are then marked by your copy alone.
    """
    copied = work_folder.publish(work_folder.find(exercise), folder)
    print(f"{folder} has {', '.join(copied)}; students: testbed exercise start {folder} WHERE")


class Broken(TestbedError):
    """An exercise does not do what it promises."""
