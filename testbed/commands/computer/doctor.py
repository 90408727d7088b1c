"""`testbed doctor`: shows what this computer can run, what it lacks, and the command that fixes it."""

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer
from rich.markup import escape

from ...kernel.ready.doctor import examine, lab_works
from ...kernel.ready.examination import BUILD, HOST, LAB, MININET, SDN, VM, Examination
from ...kernel.ready.feasibility import Ability, abilities
from ..text_table import Column, Table, paragraph, show, terminal_width

TITLES = {
    LAB: "To run trials in the lab kernel (the default)",
    BUILD: "To build a lab kernel",
    MININET: "To build networks with Mininet (`engine: mininet`)",
    HOST: "To run trials in the kernel of this computer (`kernel: host`)",
    SDN: "For nodes of the types ovs and controller",
    VM: "To run virtual machines (`type: vm`, with `kernel: host`)",
}
COLOUR = {"ok": "green", "yes": "green", "no": "red"}

EXAMPLES = (
    ("See what this computer can run, and what to type for the rest", "testbed doctor"),
    ("Read it in a program", "testbed doctor --format json"),
)


class Format(StrEnum):
    table = "table"
    json = "json"


def doctor(
    format: Annotated[Format, typer.Option(help="The format of the output.")] = Format.table,
) -> None:
    """For everything that is missing, the command that installs it is printed below the tables.

    The exit code is 3 if this computer cannot run trials in the lab kernel.
    """
    findings = examine()
    works = lab_works(findings)
    able = tuple(abilities())
    if format is Format.json:
        print(json.dumps([*map(asdict, findings), *map(_as_finding, able)], indent=2))
    else:
        _print(findings, able, works)
    if not works:
        raise typer.Exit(3)


def _as_finding(ability: Ability) -> dict[str, object]:
    """For programs, in the same list: what can run here is a finding as well."""
    return {
        "what": f"{ability.part} on kernel {ability.kernel}",
        "ok": ability.ok,
        "detail": ability.why,
        "fix": ability.fix,
        "needed_for": ability.part.split()[-1],
    }


def _print_abilities(able: tuple[Ability, ...], width: int | None) -> None:
    """A line for each node type and engine."""
    rows = []
    for part in dict.fromkeys(each.part for each in able):
        row = {each.kernel: each for each in able if each.part == part}
        marks = ["yes" if row[kernel].ok else "no" for kernel in ("lab", "host")]
        rows.append((part, *marks, "; ".join(f"{each.kernel}: {each.why}" for each in row.values() if each.why)))
    columns = (Column("", names=True), Column("lab"), Column("host"), Column("why not", wraps=True))
    _titled("Which topologies can run here", Table(columns, tuple(rows), colours=COLOUR), width)


def _titled(title: str, table: Table, width: int | None) -> None:
    show([*(f"[italic]{escape(line)}[/]" for line in paragraph(title, width).split("\n")), *table.lines(width), ""])


def _print(findings: tuple[Examination, ...], able: tuple[Ability, ...], works: bool) -> None:
    width = terminal_width()
    columns = (Column(""), Column("what", wraps=True, names=True), Column("found", wraps=True))
    others = {finding.needed_for for finding in findings} - set(TITLES)
    for need, title in (TITLES | {name: f"For {name}" for name in sorted(others)}).items():
        rows = tuple(
            ("ok" if finding.ok else "no", finding.what, finding.detail)
            for finding in findings
            if finding.needed_for == need
        )
        _titled(title, Table(columns, rows, colours=COLOUR), width)
    _print_abilities(able, width)
    for finding in findings:
        if finding.fix:  # not broken into lines, so that it can be copied
            advice = finding.fix[2:] if finding.fix.startswith("# ") else f"type {finding.fix}"
            show([escape(f"{finding.what}: {advice}")])
    print("Trials in the lab kernel can run here." if works else "Trials in the lab kernel cannot run here.")
