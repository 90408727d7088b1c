"""`testbed list`: lists what comes with the testbed, and the kernels of this computer."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from ..known import KINDS, Known, shortened
from ..text_table import GAP, Format, FormatOption, literal, show, terminal_width

EXAMPLES = (
    ("List everything", "testbed list"),
    ("List the scenarios that `testbed run NAME` runs", "testbed list scenarios"),
    ("Read whole descriptions and paths in a program", "testbed list topologies --format json"),
)
USES = {
    "scenarios": "testbed run NAME",
    "topologies": "testbed up NAME",
    "profiles": "testbed compare DIR NAME, or the rows of testbed reproduce",
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
    """Each has a line that describes it. All commands take these names instead of files."""
    found = {name: KINDS[name]() for name in KINDS if kind in (None, name)}
    if format is Format.json:
        print(json.dumps([_plain(each) for those in found.values() for each in those], indent=1, ensure_ascii=False))
        return
    width = terminal_width()
    for at, (name, those) in enumerate(found.items()):
        longest = max((len(each.name) for each in those), default=0)
        names = [f"{each.name:{longest}}{GAP}{each.judge}" if each.judge else each.name for each in those]
        column = max(map(len, names), default=0)
        pairs = zip(names, those, strict=True)
        lines = [f"{text:{column}}{GAP}{_cut(each, column, width)}".rstrip() for text, each in pairs]
        show([*([""] if at else []), f"[italic]{name.capitalize()} ({USES[name]})[/]"])
        show(f"{GAP}{literal(line)}" for line in lines or [NONE.get(name, "none")])


def _cut(each: Known, column: int, width: int | None) -> str:
    return shortened(each.description, None if width is None else max(width - column - 2 * len(GAP), 12))


def _plain(each: Known) -> dict[str, str]:
    plain = {"kind": each.kind, "name": each.name, "description": each.description, "path": str(each.path)}
    return plain | ({"judge": f"testbed {each.judge}"} if each.judge else {})
