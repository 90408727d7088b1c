"""`testbed reproduce`: runs what publications measured, and compares the numbers row by row."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from testbed.api import (
    NODE_TYPES,
    SCENARIOS,
    Column,
    Engine,
    Format,
    MachineError,
    Scenario,
    Store,
    Summary,
    Table,
    Terminal,
    TestbedError,
    TrialResult,
    UserError,
    carry_out,
    duration,
    files_of,
    load_scenario,
    prepare,
    published,
    say,
    show,
    terminal_width,
)

from . import catalogue, table
from .measured import Measured, Size
from .row import Finding, Row

RESULTS = Path("results/reproduction")
PAGE = Path("docs/reproduction.md")
CHANGES = "## What changed"
"""The heading of the section that is written by hand, and stays when the page is made anew."""
COLOUR = {"pass": "green", "fail": "red", "cannot tell": "yellow", "not run": "dim"}
MORE = "a wider terminal or --format json shows them"
COLUMNS = (
    Column("row", names=True),
    Column("where", wraps=True, drop=1),
    Column("printed", wraps=True),
    Column("ours", wraps=True),
    Column("claim", folds=True, drop=2),
    Column("outcome"),
)
LIST_COLUMNS = (
    Column("row", names=True),
    Column("where", wraps=True, drop=1),
    Column("what", wraps=True),
    Column("claim", drop=2),
    Column("runs", wraps=True),
)
HOW = """For those who ask how the numbers of this testbed compare with the literature. For each row of the publications
below, this page says what was printed, what comes out here, and how strong the claim is. To see the rows, and to run
one of them (half a minute):

```sh
testbed reproduce --list
testbed reproduce S3-E2
```

Written by `testbed reproduce --{size}`, which runs all rows."""
UNMET = ("fail", "cannot tell")
CANNOT_TELL = 5
"""The exit code, as that of `testbed compare` for what is undecided."""
HAVE = frozenset({*NODE_TYPES, *(f"engine: {name}" for name in get_args(Engine))})
"""Node types and engines that this version has."""

EXAMPLES = (
    ("List what can be reproduced, and run nothing", "testbed reproduce --list"),
    ("Reproduce one figure in minutes", "testbed reproduce S3-F7"),
    ("Reproduce a publication with the numbers that it used", "testbed reproduce S3 --full"),
    ("Judge again what ran before, after a criterion has changed", "testbed reproduce --stored"),
)


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Rows, such as S3-F7 or K3, or a publication, such as S3; all if left out."),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full/--quick", help="Use the numbers of the publication, or smaller ones that take minutes."),
    ] = False,
    results: Annotated[Path, typer.Option(metavar="DIR", help="Where the results are kept.")] = RESULTS,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help=f"The page to write with all rows; {PAGE} if no ID is given, otherwise in DIR.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many trials run at the same time.")
    ] = os.cpu_count() or 1,
    stored: Annotated[bool, typer.Option("--stored", help="Run nothing, and judge the stored results.")] = False,
    list_rows: Annotated[bool, typer.Option("--list", help="List the rows, and run nothing.")] = False,
    format: Annotated[Format, typer.Option(metavar="table|json", help="The format of the output.")] = Format.table,
) -> None:
    """Each row is a published number, figure or statement. The table has the published value, ours, and how strong the
    claim is: the same mechanism gave the number (reproduced), only an order or a shape was compared (shape), or the
    number was an input (calibrated).

    Each row has a criterion that follows from what is printed. Intervals over the seeds decide: a row whose interval
    straddles its bound is neither met nor not met, but "cannot tell".

    The exit code is 1 if a row is not met, or cannot be judged although it ran,
    and 5 if otherwise a row is undecided.
    """
    if format is Format.csv:
        raise UserError("rows cannot be printed as CSV; allowed: --format table or json")
    rows = catalogue.select(ids or [])
    size: Size = "full" if full else "quick"
    console = Terminal()
    if list_rows:
        _list(rows, format)
        return
    runs = Runs(results / size, size, console)
    if not stored:
        runs.carry_out(rows, jobs)
    found = [runs.finding(row) for row in rows]
    _print(found, format)
    page = output or (PAGE if not ids and PAGE.parent.is_dir() else results / size / PAGE.name)
    everything = {finding.row.id: finding for finding in found}
    _write(page, [everything.get(row.id) or runs.finding(row) for row in catalogue.ROWS], size)
    console.print(f"{table.summary(found)} All rows: {page}")
    if any(finding.outcome == "fail" or (finding.judgement is None and finding.row in runs.ran) for finding in found):
        raise typer.Exit(1)
    if any(finding.outcome == "cannot tell" for finding in found):
        raise typer.Exit(CANNOT_TELL)


@dataclass
class Runs:
    """The scenarios behind the rows: their results, or why there are none."""

    folder: Path
    size: Size
    console: Console

    def __post_init__(self) -> None:
        self.measured: dict[str, Measured] = {}
        self.lacking: dict[str, str] = {}
        self.unusable: dict[str, str] = {}
        self.ran: set[Row] = set()

    def carry_out(self, rows: Sequence[Row], jobs: int) -> None:
        """Runs what is missing of every scenario of these rows that this version and this machine can run."""
        able = [row for row in rows if not lacks(row)]
        names = list(dict.fromkeys(name for row in able for name in row.scenarios))
        scenarios = {name: self._scenario(name) for name in names}
        self._foretell(scenarios, jobs)
        for name, scenario in scenarios.items():
            self.console.rule(f"{name} ({self.size})", align="left", style="dim")
            try:
                summary, order = carry_out(scenario, self._store(name), self._files(name), jobs, self.console)
            except MachineError as error:
                self.lacking[name] = str(error)
                say(self.console, ("not run", "yellow"), f": {error}")
                continue
            for trial, failure in summary.failures:
                say(self.console, ("failed", "red"), f" {trial.id}: {failure}")
            self._take(name, summary.in_order(order), len(order))
        self.ran = {row for row in able if row.judge and not any(name in self.lacking for name in row.scenarios)}

    def finding(self, row: Row) -> Finding:
        """The finding of a row; of one that was not asked for, from results that exist already."""
        if row.judge is None:
            return Finding(row, None)
        lacking = lacks(row) or next((self.lacking[name] for name in row.scenarios if name in self.lacking), "")
        if lacking:
            return Finding(row, None, lacking)
        try:
            runs = {name: self._measured(name) for name in row.scenarios}
            judged = row.judge(runs)
        except (TestbedError, ValueError) as error:
            return Finding(row, None, str(error))
        except (LookupError, ArithmeticError) as error:  # a judge that looks for what no trial has
            return Finding(row, None, f"these results cannot be judged: {type(error).__name__} {error}")
        why = "; ".join(filter(None, (judged.why, *(each.cautions for each in runs.values()))))
        return Finding(row, replace(judged, why=why), lost=sum(each.invalid for each in runs.values()))

    def _measured(self, name: str) -> Measured:
        """What is there of a scenario as it is now. Raises UserError for results that are not whole, or of another."""
        if name not in self.measured and name not in self.unusable:
            try:
                self._look_for(name)
            except UserError as error:
                self.unusable[name] = str(error)
        if name in self.unusable:
            raise UserError(self.unusable[name])
        return self.measured[name]

    def _look_for(self, name: str) -> None:
        store = self._store(name)
        if not store.exists:
            raise UserError(f"{name} has not run in its {self.size} size")
        found = prepare(self._scenario(name), store, check=False)
        self._take(name, Summary(found.done).in_order(found.ids), len(found.ids))

    def _take(self, name: str, results: Sequence[TrialResult], trials: int) -> None:
        """Nothing is judged from a part of a sweep: the longest RTT may be what is missing."""
        if len(results) < trials:
            self.unusable[name] = f"{trials - len(results)} of {trials} trials of {name} ({self.size}) are missing"
        else:
            self.measured[name] = Measured.of(name, self.size, results)

    def _store(self, name: str) -> Store:
        return Store(self.folder / name)

    def _scenario(self, name: str) -> Scenario:
        return load_scenario(_path(name), quick=self.size == "quick")

    def _files(self, name: str) -> dict[str, str]:
        return files_of(_path(name), quick=self.size == "quick")

    def _foretell(self, scenarios: Mapping[str, Scenario], jobs: int) -> None:
        waiting, wall_s = 0, 0.0
        for name, scenario in scenarios.items():
            made = prepare(scenario, self._store(name), check=False)
            waiting += len(made.waiting)
            wall_s += made.forecast.total_s([trial.params for trial in made.waiting], jobs) if made.waiting else 0.0
        if waiting:
            said = f"{len(scenarios)} scenarios, {waiting} trials to run, about {duration(wall_s)} with {jobs} jobs"
            self.console.print(said)


def lacks(row: Row) -> str:
    """What this version has not, and the row needs; empty if nothing."""
    missing = [need for need in row.needs if need not in HAVE]
    return f"this version has no {', '.join(missing)}" if missing else ""


def _path(name: str) -> Path:
    return SCENARIOS / f"{name}.yaml"


def _print(findings: Sequence[Finding], format: Format) -> None:
    if format is Format.json:
        print(json.dumps([table.to_dict(finding) for finding in findings], indent=1, ensure_ascii=False))
        return
    rows = tuple((*_cells(finding), finding.outcome or "–") for finding in findings)
    show(Table(COLUMNS, rows, MORE, COLOUR).lines(terminal_width()))


def _list(rows: Sequence[Row], format: Format) -> None:
    """What there is, without running it."""
    if format is Format.json:
        print(json.dumps([table.to_dict(Finding(row, None)) for row in rows], indent=1, ensure_ascii=False))
        return
    listed = []
    for row in rows:
        runs = ", ".join(row.scenarios) or ("a formula" if row.judge else "-")
        listed.append((row.id, row.where, row.what, row.claim, lacks(row) or runs))
    show(Table(LIST_COLUMNS, tuple(listed), MORE).lines(terminal_width()))


def _cells(finding: Finding) -> Iterable[str]:
    row = finding.row
    ours = finding.judgement.ours if finding.judgement else ""
    why = table.remark(finding) if finding.outcome in (*UNMET, "not run") else ""
    return row.id, row.where, row.expected, "; ".join(text for text in (ours, why) if text), row.claim


def _write(page: Path, findings: Sequence[Finding], size: Size) -> None:
    citations = {name: published.find(name)[0].citation for name in published.names()}
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        changes = _changes(page.read_text()) if page.exists() else ""
        page.write_text(table.markdown(findings, citations, "Reproduction", HOW.format(size=size), changes))
    except OSError as error:
        raise UserError(f"{page} cannot be written: {error.strerror}; allowed: -o with a file that can") from None


def _changes(page: str) -> str:
    """The section of an earlier page that is written by hand, up to the next heading; empty if there is none."""
    _, heading, rest = page.partition(f"\n{CHANGES}\n")
    return f"{CHANGES}\n{rest.partition(chr(10) + '## ')[0]}" if heading else ""
