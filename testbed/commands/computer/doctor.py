"""`testbed doctor`: shows what this computer can run, what it lacks, and the command that fixes it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ...kernel.ready.doctor import (
    BUILD,
    CONFINED,
    HOST,
    LAB,
    MEASURE,
    MININET,
    ROUTE,
    SDN,
    VM,
    Examination,
    examine,
    lab_works,
)
from ...kernel.ready.feasibility import Ability, abilities
from ...units import counted
from ..text_table import Column, Format, FormatOption, Table, paragraph, show, terminal_width

if TYPE_CHECKING:
    from ...sweep.origin import Origin

TITLES = {
    LAB: "To run in the lab kernel (the default)",
    MEASURE: "For testbed run, compare, report and cc (`[all]`; classes can do without)",
    CONFINED: "To run what somebody else wrote",
    BUILD: "To build a lab kernel",
    MININET: "To build networks with Mininet (`engine: mininet`)",
    HOST: "To run trials in the kernel of this computer (`kernel: host`)",
    SDN: "For nodes of the types ovs and controller",
    ROUTE: "For routing daemons (FRR), DHCP and DNS",
    VM: "To run virtual machines (`type: vm`)",
}
SAME_BYTES = "same bytes"
COLOUR = {"ok": "green", "yes": "green", "same": "green", "no": "red", "differs": "red"}

EXAMPLES = (
    ("See what this computer can run, and what to type for the rest", "testbed doctor"),
    ("Read it in a program", "testbed doctor --format json"),
    ("See whether a run from elsewhere would give the same bytes here", "testbed doctor --same-as results/theirs"),
)


def doctor(
    format: FormatOption = Format.table,
    same_as: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Instead, compare this computer with that of a run or trial, in everything that decides its bytes.",
        ),
    ] = None,
) -> None:
    """For everything that is missing, the command that installs it is printed below the tables.

    The exit code is 3 if this computer can run nothing in the lab kernel; with --same-as, 1 if anything differs.
    """
    if same_as is not None:
        if not _show_likeness(same_as, format):
            raise typer.Exit(1)
        return
    findings = examine()
    works = lab_works(findings)
    able = tuple(abilities())
    if format is Format.json:
        print(json.dumps([*map(asdict, findings), *map(_as_finding, able)], indent=2))
    else:
        _print(findings, able, works)
    if not works:
        raise typer.Exit(3)


def _show_likeness(folder: Path, format: Format) -> bool:
    """Prints part by part how this computer differs from those of finished trials; whether it does not."""
    from ...sweep import origin  # trials take half a second to import, which the rest does not need

    folders = origin.finished(folder)
    rows = likeness(origin.origins(folders), len(folders))
    if format is Format.json:
        print(json.dumps([*map(asdict, rows)], indent=2))
    else:
        columns = (Column(""), Column("what", names=True), Column("then → now", wraps=True))
        lines = tuple(("same" if row.ok else "differs", row.what, row.detail) for row in rows)
        show(Table(columns, lines, colours=COLOUR).lines(terminal_width()))
        number = sum(not row.ok for row in rows)
        few = f"{number} part{'s differ' if number > 1 else ' differs'}"
        said = f"{few}: a repetition here may give other bytes" if number else "All that decides the bytes is the same"
        print(f"{said} ({folder}, {counted(len(folders), 'trial')}).")
    return all(row.ok for row in rows)


def likeness(origins: tuple[Origin, ...], trials: int) -> list[Examination]:
    """A finding for each part: what differs, and in how many of the trials; then what is the same in all of them."""
    differing: dict[str, dict[str, int]] = {}
    for each in origins:
        for found in each.differences():
            told = differing.setdefault(found.what, {})
            text = f"{found.before} → {found.after}"
            told[text] = told.get(text, 0) + len(each.folders)
    rows = []
    for what, told in differing.items():
        detail = "; ".join(
            text + (f" ({count} of {trials} trials)" if count < trials else "") for text, count in told.items()
        )
        rows.append(Examination(what, False, detail, needed_for=SAME_BYTES))
    same = {part: value for each in origins for part, value in each.parts.items() if part not in differing}
    return [*rows, *(Examination(part, True, value, needed_for=SAME_BYTES) for part, value in same.items())]


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
    print(conclusion(findings, works))


def conclusion(findings: tuple[Examination, ...], works: bool) -> str:
    """The last line. An installation for classes has no trials, and is whole."""
    if not works:
        return "Trials in the lab kernel cannot run here."
    if any(not finding.ok for finding in findings if finding.needed_for == MEASURE):
        return "Networks, exercises and marks can run here; testbed run and what reads its results cannot."
    return "Trials in the lab kernel can run here."
