"""`testbed reproduce`: runs what publications measured, and compares the numbers row by row; the table of the rows."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console

from testbed.api import (
    NODE_TYPES,
    SCENARIOS,
    Citation,
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
    counted,
    duration,
    files_of,
    load_scenario,
    nearest,
    prepare,
    published,
    repeating,
    say,
    show,
    terminal_width,
    write_named,
)

from . import again, kept, look
from .check import ERROR
from .look import Looks
from .measured import Measured, Size
from .page import Both, Costs, markdown, reason, remark, summary_of
from .paper import cloudcmp, interdatacenter, links, object_store, throughput_profile
from .row import Finding, Judge, Row

PUBLICATIONS = {
    "S0": interdatacenter.ROWS,
    "S1": object_store.ROWS,
    "S2": cloudcmp.ROWS,
    "S3": throughput_profile.ROWS,
    "S4": links.ROWS,
}
"""By the first word of the ids of their rows; checks ("K1") stand among the rows that they are about."""

ROWS: tuple[Row, ...] = tuple(row for rows in PUBLICATIONS.values() for row in rows)


def select(words: Sequence[str]) -> tuple[Row, ...]:
    """The rows that the words name: an id ("S3-F7", "K3"), or a publication ("S3") with all its rows and checks.

    Without words, all rows. Raises UserError for a word that names nothing.
    """
    picked: dict[str, Row] = {}
    for word in words:
        matching = PUBLICATIONS.get(word.upper()) or tuple(row for row in ROWS if row.id.lower() == word.lower())
        if not matching:
            near = nearest(word.upper(), [*PUBLICATIONS, *(row.id for row in ROWS)])
            hint = f" (did you mean {near}?)" if near else ""
            allowed = f"{', '.join(PUBLICATIONS)}, or an id that `testbed reproduce --list` prints{hint}"
            raise UserError(f"there is no row {word!r}; allowed: {allowed}")
        picked |= {row.id: row for row in matching}
    return tuple(picked.values()) if words else ROWS


def to_dict(finding: Finding) -> dict[str, Any]:
    """For JSON."""
    row, judged = finding.row, finding.judgement
    return {
        "id": row.id,
        "source": row.source,
        "where": row.where,
        "what": row.what,
        "expected": row.expected,
        "claim": row.claim,
        "scenarios": list(row.scenarios),
        "ours": judged.ours if judged else None,
        "outcome": finding.outcome,
        "why": reason(finding),
        "limits": finding.limits,
        "criterion": row.criterion.text if row.criterion else None,
        "criterion_source": row.criterion.source if row.criterion else None,
        "repeats": (row.criterion.repeats or None) if row.criterion else None,
        "parts": [{"says": each.says, "verdict": each.verdict, "found": each.found} for each in judged.decisions]
        if judged
        else [],
    }


RESULTS = Path("results/reproduction")
PAGE = Path("docs/reproduction.md")
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
SIZES: tuple[Size, ...] = ("quick", "full")
UNMET = ("fail", "cannot tell")
CANNOT_TELL = 5
"""The exit code, as that of `testbed compare` for what is undecided."""
HAVE = frozenset({*NODE_TYPES, *(f"engine: {name}" for name in get_args(Engine))})
"""Node types and engines that this version has."""

EXAMPLES = (
    ("List what can be reproduced, and run nothing", "testbed reproduce --list"),
    ("Reproduce one figure in minutes", "testbed reproduce S3-F7"),
    ("Reproduce a publication with the numbers that it used", "testbed reproduce S3 --full"),
    ("Repeat a random 1 % of what is behind docs/reproduction.md", "testbed reproduce --audit 1"),
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
            help=f"The page to write with all rows; if left out, {PAGE}, or with an ID a page in DIR that has only the "
            "rows with results in DIR.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many trials run at the same time.")
    ] = os.cpu_count() or 1,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Begin with 4 seeds, or those that ran, and add some where rows are undecided, up to the "
            "publication's number or 20.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run and how long it takes, and run nothing.")
    ] = False,
    stored: Annotated[bool, typer.Option("--stored", help="Run nothing, and judge the stored results.")] = False,
    from_kept: Annotated[
        bool,
        typer.Option("--kept", help="Begin with the results behind docs/reproduction.md, where DIR has none."),
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Make the results of these rows those behind docs/reproduction.md.")
    ] = False,
    audit: Annotated[
        int | None,
        typer.Option(
            "--audit",
            min=1,
            max=100,
            metavar="PERCENT",
            help="Repeat this share of the trials behind docs/reproduction.md, and compare their numbers.",
        ),
    ] = None,
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
    if audit is not None and (stored or until_decided or dry_run or from_kept or keep or output):
        raise UserError("--audit repeats what is kept; allowed: with ID, --quick or --full, and --jobs")
    if stored and (until_decided or dry_run):
        raise UserError("--stored runs nothing; allowed: without --until-decided and --dry-run")
    rows = select(ids or [])
    size: Size = "full" if full else "quick"
    console = Terminal()
    if list_rows:
        _list(rows, format)
        return
    if audit is not None:
        _audit(rows, size, audit, jobs, console)
        return
    if from_kept:
        kept.put_back(kept.FOLDER / size, results / size, _scenarios(rows))
    runs = Runs(results / size, size, console)
    if until_decided:
        runs.add_seeds(rows)
    if dry_run:
        runs.foretell(rows, jobs)
        return
    if not stored:
        runs.carry_out(rows, jobs)
    found = [runs.finding(row) for row in rows]
    _print(found, format)
    if keep:
        made = kept.keep(runs.folder, _scenarios(rows), kept.FOLDER / size)
        there = f"{counted(sum(made.values()), 'trial')} of {counted(len(made), 'scenario')}"
        console.print(f"kept in {kept.FOLDER / size}: {there}")
    page = output or (PAGE if not ids and PAGE.parent.is_dir() else results / size / PAGE.name)
    shown = rows if ids and output is None else ROWS
    _write(page, runs, {finding.row.id: finding for finding in found}, shown)
    console.print(f"{summary_of(found)} {'All rows' if shown is ROWS else 'A page'}: {page}")
    if any(finding.outcome == "fail" or (finding.judgement is None and finding.row in runs.ran) for finding in found):
        raise typer.Exit(1)
    if any(finding.outcome == "cannot tell" for finding in found):
        raise typer.Exit(CANNOT_TELL)


def _audit(rows: Sequence[Row], size: Size, percent: int, jobs: int, console: Console) -> None:
    seed = random.SystemRandom().randrange(2**32)
    names = _scenarios(rows)
    with kept.unpacked(kept.FOLDER / size, names) as folder:
        found = again.repeated(folder, names, percent / 100, seed, repeating(jobs, console))
    again.store(kept.FOLDER / size, found)
    console.print(found.in_words())
    if code := {"same": 0, "different": 1, "cannot tell": CANNOT_TELL}[found.verdict]:
        console.print(f"each of them: {kept.FOLDER / size / again.FILE}")
        raise typer.Exit(code)


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
        self.looks: Looks = look.read(self.folder)
        self.is_growing = False

    def add_seeds(self, rows: Sequence[Row]) -> None:
        """From now on scenarios of these rows get more seeds, until the rows are decided."""
        names = _scenarios(rows)
        self.looks = self.looks.begun({name: self._sizes(name) for name in names})
        self.is_growing = True

    def _sizes(self, name: str) -> tuple[int, ...]:
        full = load_scenario(_path(name)).repetitions
        return look.sizes(self._asked(name).repetitions, full, has_run=self._store(name).exists)

    def carry_out(self, rows: Sequence[Row], jobs: int) -> None:
        """Runs what is missing of every scenario of these rows that this version and this machine can run."""
        names = _scenarios(rows)
        if self.is_growing:
            look.write(self.folder, self.looks, names)
        self.foretell(rows, jobs, each=False)
        while names:
            for name in names:
                self._run(name, jobs)
            self.ran = {
                row for row in rows if row.judge and not lacks(row) and not {*row.scenarios} & self.lacking.keys()
            }
            names = self._grow(rows)
        self.looks = look.read(self.folder)  # other commands may have given others' scenarios more seeds meanwhile

    def _run(self, name: str, jobs: int) -> None:
        scenario = self._scenario(name)
        self.console.rule(f"{name} ({self.size})", align="left", style="dim")
        try:
            summary, order = carry_out(scenario, self._store(name), self._files(name), jobs, self.console)
        except MachineError as error:
            self.lacking[name] = str(error)
            say(self.console, ("not run", "yellow"), f": {error}")
            return
        for trial, failure in summary.failures:
            say(self.console, ("failed", "red"), f" {trial.id}: {failure}")
        self._take(name, summary.in_order(order), len(order))

    def _grow(self, rows: Sequence[Row]) -> list[str]:
        """The scenarios that get more seeds: those of rows that are undecided, unless a trial of theirs is lost."""
        if not self.is_growing:
            return []
        found = [self.finding(row) for row in rows if row in self.ran]
        unsure = [each.row for each in found if each.outcome == "cannot tell" and not each.lost]
        later = self.looks.grown(_scenarios(unsure))
        names = [name for name in later.seeds if later.seeds[name] != self.looks.seeds[name]]
        if names:
            words = ", ".join(f"{name} ({later.seeds[name]})" for name in names)
            self.console.print(f"undecided: {counted(len(unsure), 'row')}; more seeds: {words}")
            self.looks = later
            look.write(self.folder, later, names)
        return names

    def finding(self, row: Row) -> Finding:
        """The finding of a row; of one that was not asked for, from results that exist already."""
        if row.judge is None:
            return Finding(row, None)
        lacking = lacks(row) or next((self.lacking[name] for name in row.scenarios if name in self.lacking), "")
        if lacking:
            return Finding(row, None, lacking)
        *earlier, present = self.looks.so_far(row.scenarios)
        found = self._judged(row, row.judge, present)
        for seeds in reversed(earlier) if found.outcome == "cannot tell" and not found.lost else ():
            before = self._judged(row, row.judge, seeds)
            if before.is_decided:
                words = " and ".join(f"{counted(count, 'seed')} of {name}" for name, count in seeds.items())
                return replace(before, why="; ".join(filter(None, (before.why, f"decided with {words}"))))
        return found

    def _judged(self, row: Row, judge: Judge, seeds: Mapping[str, int]) -> Finding:
        """The finding with so many seeds of each scenario, and with all of one that is not named."""
        try:
            every = {name: self._measured(name) for name in row.scenarios}
            runs = {name: each.first(seeds[name]) if name in seeds else each for name, each in every.items()}
            judged = judge(runs)
        except (TestbedError, ValueError) as error:
            return Finding(row, None, str(error))
        except (LookupError, ArithmeticError) as error:  # a judge that looks for what no trial has
            return Finding(row, None, f"these results cannot be judged: {type(error).__name__} {error}")
        why = "; ".join(filter(None, (judged.why, *(each.cautions for each in runs.values()))))
        judged = replace(judged, why=why, error=ERROR / self.looks.number(row.scenarios))
        return Finding(row, judged, lost=sum(each.invalid for each in runs.values()), is_full=self.size == "full")

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

    def has(self, row: Row) -> bool:
        """Whether there are results of a scenario of this row, whole or not."""
        return any((self.folder / name).exists() for name in row.scenarios)

    def _store(self, name: str) -> Store:
        return Store(self.folder / name)

    def _scenario(self, name: str) -> Scenario:
        asked = self._asked(name)
        return replace(asked, repetitions=self.looks.of(name, asked.repetitions))

    def _asked(self, name: str) -> Scenario:
        return load_scenario(_path(name), quick=self.size == "quick")

    def _files(self, name: str) -> dict[str, str]:
        return files_of(_path(name), quick=self.size == "quick")

    def foretell(self, rows: Sequence[Row], jobs: int, *, each: bool = True) -> None:
        """Prints how long all scenarios take; with `each`, first every scenario, and the rows that need it."""
        waiting, total_s, names = 0, 0.0, _scenarios(rows)
        for name in names:
            made = prepare(self._scenario(name), self._store(name), check=False)
            count = len(made.waiting)
            wall_s = made.forecast.total_s([trial.params for trial in made.waiting], jobs) if count else 0.0
            waiting, total_s = waiting + count, total_s + wall_s
            if each:
                ids = ", ".join(row.id for row in rows if name in row.scenarios)
                said = f"{counted(count, 'trial')} to run, about {duration(wall_s)}" if count else "done"
                self.console.print(f"{name}: {said} ({ids})")
        if waiting:
            there = f"{counted(len(names), 'scenario')}, {counted(waiting, 'trial')} to run"
            self.console.print(f"{there}, about {duration(total_s)} with {counted(jobs, 'job')}")


def _scenarios(rows: Iterable[Row]) -> list[str]:
    """Those of the rows that this version can run."""
    return list(dict.fromkeys(name for row in rows if not lacks(row) for name in row.scenarios))


def lacks(row: Row) -> str:
    """What this version has not, and the row needs; empty if nothing."""
    missing = [need for need in row.needs if need not in HAVE]
    return f"this version has no {', '.join(missing)}" if missing else ""


def _path(name: str) -> Path:
    return SCENARIOS / f"{name}.yaml"


def _print(findings: Sequence[Finding], format: Format) -> None:
    if format is Format.json:
        print(json.dumps([to_dict(finding) for finding in findings], indent=1, ensure_ascii=False))
        return
    rows = tuple((*_cells(finding), finding.outcome or "–") for finding in findings)
    show(Table(COLUMNS, rows, MORE, COLOUR).lines(terminal_width()))


def _list(rows: Sequence[Row], format: Format) -> None:
    """What there is, without running it."""
    if format is Format.json:
        print(json.dumps([to_dict(Finding(row, None)) for row in rows], indent=1, ensure_ascii=False))
        return
    listed = []
    for row in rows:
        runs = ", ".join(row.scenarios) or ("a formula" if row.judge else "-")
        listed.append((row.id, row.where, row.what, row.claim, lacks(row) or runs))
    show(Table(LIST_COLUMNS, tuple(listed), MORE).lines(terminal_width()))


def _cells(finding: Finding) -> Iterable[str]:
    row = finding.row
    ours = finding.judgement.ours if finding.judgement else ""
    why = remark(finding) if finding.outcome in (*UNMET, "not run") else ""
    return row.id, row.where, row.expected, "; ".join(text for text in (ours, why) if text), row.claim


def citations() -> dict[str, Citation]:
    """Of each published profile, by its name."""
    return {name: published.find(name)[0].citation for name in published.names()}


def _write(page: Path, runs: Runs, found: Mapping[str, Finding], rows: Sequence[Row]) -> None:
    """The page: what was found, what else is in the results folder, and of the rows what else is kept."""
    try:
        with behind(runs, found, rows) as (findings, said, costs):
            page.parent.mkdir(parents=True, exist_ok=True)
            write_named(page, markdown(findings, citations(), said, costs))
    except OSError as error:
        raise UserError(f"{page} cannot be written: {error.strerror}; allowed: -o with a file that can") from None


@contextmanager
def behind(
    runs: Runs | None, found: Mapping[str, Finding], rows: Sequence[Row] = ROWS
) -> Iterator[tuple[list[Both], str, Costs]]:
    """The findings of these rows, and others that have results of `runs`, in both sizes; what is said of the trials
    behind those that are kept, and what these cost, by size and scenario.
    """
    shown = [row for row in ROWS if row in rows or (runs is not None and runs.has(row))]
    names = None if len(shown) == len(ROWS) else _scenarios(shown)
    with ExitStack() as stack:
        folders = {size: stack.enter_context(kept.unpacked(kept.FOLDER / size, names)) for size in SIZES}
        others = {size: Runs(folder, size, Terminal()) for size, folder in folders.items()}

        def finding(row: Row, size: Size) -> Finding:
            if runs is not None and size == runs.size:
                if row.id in found:
                    return found[row.id]
                if runs.has(row):
                    return runs.finding(row)
            return others[size].finding(row)

        told = [f"{size.capitalize()}: {kept.said(folder, kept.FOLDER / size)}" for size, folder in folders.items()]
        if names is not None:
            told.insert(0, f"This page has {len(shown)} of {len(ROWS)} rows.")
        costs: Costs = {size: kept.costs(folder) for size, folder in folders.items()}
        yield [Both(finding(row, "quick"), finding(row, "full")) for row in shown], " ".join(told), costs
