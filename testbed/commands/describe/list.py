"""`testbed list`: lists what comes with the testbed, and the kernels of this computer."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..known import COMPARE, KINDS, Known, shortened
from ..text_table import GAP, Format, FormatOption, literal, show, terminal_width

EXAMPLES = (
    ("List everything", "testbed list"),
    ("List the scenarios that `testbed run NAME` runs", "testbed list scenarios"),
    ("Read whole descriptions and paths in a program", "testbed list topologies --format json"),
)
USES = {
    "scenarios": "testbed run NAME",
    "topologies": "testbed up NAME",
    "profiles": "testbed compare DIR NAME, and how many of its numbers that can judge",
    "kernels": "testbed kernel list",
}
NONE = {"kernels": "none yet; to build one, type: testbed kernel build"}


class Kind(StrEnum):
    scenarios = "scenarios"
    topologies = "topologies"
    profiles = "profiles"
    kernels = "kernels"


def list(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; all four if left out.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Each has a line that describes it. All commands take these names instead of files. `profiles` says how many
    numbers of each a command can judge runs by.
    """
    found = {name: KINDS[name]() for name in KINDS if kind in (None, name)}
    if format is Format.json:
        print(json.dumps([_plain(each) for those in found.values() for each in those], indent=1, ensure_ascii=False))
        return
    width = terminal_width()
    for at, (name, those) in enumerate(found.items()):
        longest = max((len(each.name) for each in those), default=0)
        judges = {each.name: each.judge if kind is None else _judge(each) for each in those}
        names = [f"{each.name:{longest}}{GAP}{judges[each.name]}".rstrip() for each in those]
        column = max(map(len, names), default=0)
        pairs = zip(names, those, strict=True)
        lines = [f"{text:{column}}{GAP}{_cut(each, column, width)}".rstrip() for text, each in pairs]
        show([*([""] if at else []), f"[italic]{name.capitalize()} ({USES[name]})[/]"])
        show(f"{GAP}{literal(line)}" for line in lines or [NONE.get(name, "none")])


def _cut(each: Known, column: int, width: int | None) -> str:
    return shortened(each.description, None if width is None else max(width - column - 2 * len(GAP), 12))


def _judge(each: Known) -> str:
    """The command that judges by a profile, and by how many of its numbers; empty for the others."""
    if each.judge != COMPARE:
        return each.judge
    compared, numbers = counts(each.path)
    return f"{each.judge} {compared:2} of {numbers}"


def _plain(each: Known) -> dict[str, str | int]:
    plain: dict[str, str | int] = {
        "kind": each.kind,
        "name": each.name,
        "description": each.description,
        "path": str(each.path),
    }
    if not each.judge:
        return plain
    compared, numbers = counts(each.path)
    return {**plain, "judge": f"testbed {each.judge}", "numbers": numbers, "compared": compared}


def counts(path: Path) -> tuple[int, int]:
    """By how many numbers of a profile `testbed compare` can judge runs, and how many it has."""
    from ...compare import published  # imports what computes

    found = published.load(path)
    return found.compared_numbers, found.numbers
