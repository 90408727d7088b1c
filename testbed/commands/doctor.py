"""`testbed doctor`: what this machine can do, what it lacks, and the command that fixes it."""

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from ..doctor import BUILD, HOST, LAB, MININET, SDN, VM, Finding, examine, lab_works

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
    if format is Format.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _print(findings, works)
    if not works:
        raise typer.Exit(3)


def _print(findings: tuple[Finding, ...], works: bool) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200  # paths stay whole where they can be copied from a file
    for need, title in TITLES.items():
        found = Column("found", overflow="fold")
        table = Table("", "what", found, title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
        for finding in (each for each in findings if each.needed_for == need):
            mark = "[green]ok[/]" if finding.ok else "[red]no[/]"
            table.add_row(mark, escape(finding.what), escape(finding.detail))
        console.print(table)
        console.print()
    for finding in findings:
        if finding.fix:
            advice = finding.fix[2:] if finding.fix.startswith("# ") else f"type {finding.fix}"
            console.print(f"{escape(finding.what)}: {escape(advice)}", soft_wrap=True)
    console.print("Trials in the lab kernel can run here." if works else "Trials in the lab kernel cannot run here.")
