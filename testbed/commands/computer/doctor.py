"""`testbed doctor`: what this machine can do, what it lacks, and the command that fixes it."""

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from ...kernel.ready.doctor import examine, lab_works
from ...kernel.ready.examination import BUILD, HOST, LAB, MININET, SDN, VM, Finding
from ...kernel.ready.feasibility import Ability, abilities

TITLES = {
    LAB: "To run trials in the lab kernel (the default)",
    BUILD: "To build a lab kernel",
    MININET: "To build networks with Mininet (`engine: mininet`)",
    HOST: "To run trials in this machine's own kernel (`kernel: host`)",
    SDN: "For nodes of the types ovs and controller",
    VM: "To run virtual machines (`type: vm`, with `kernel: host`)",
}


class Format(StrEnum):
    table = "table"
    json = "json"


def doctor(
    format: Annotated[Format, typer.Option(help="How to print the findings.")] = Format.table,
) -> None:
    """Say what this machine can do, what it lacks, and what to type."""
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


def _print_abilities(console: Console, able: tuple[Ability, ...]) -> None:
    """A line for each node type and engine."""
    why = Column("why not", overflow="fold")
    table = Table("", "lab", "host", why, box=None, padding=(0, 2, 0, 0))
    for part in dict.fromkeys(each.part for each in able):
        row = {each.kernel: each for each in able if each.part == part}
        marks = ["[green]yes[/]" if row[kernel].ok else "[red]no[/]" for kernel in ("lab", "host")]
        table.add_row(
            part, *marks, escape("; ".join(f"{each.kernel}: {each.why}" for each in row.values() if each.why))
        )
    console.print("[italic]Which topologies can run here[/]")
    console.print(table)
    console.print()


def _print(findings: tuple[Finding, ...], able: tuple[Ability, ...], works: bool) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200  # paths stay whole where they can be copied from a file
    others = {finding.needed_for for finding in findings} - set(TITLES)
    for need, title in (TITLES | {name: f"For {name}" for name in sorted(others)}).items():
        found = Column("found", overflow="fold")
        table = Table("", "what", found, box=None, padding=(0, 2, 0, 0))
        for finding in (each for each in findings if each.needed_for == need):
            mark = "[green]ok[/]" if finding.ok else "[red]no[/]"
            table.add_row(mark, escape(finding.what), escape(finding.detail))
        console.print(f"[italic]{title}[/]", soft_wrap=True)
        console.print(table)
        console.print()
    _print_abilities(console, able)
    for finding in findings:
        if finding.fix:
            advice = finding.fix[2:] if finding.fix.startswith("# ") else f"type {finding.fix}"
            console.print(f"{escape(finding.what)}: {escape(advice)}", soft_wrap=True)
    console.print("Trials in the lab kernel can run here." if works else "Trials in the lab kernel cannot run here.")
