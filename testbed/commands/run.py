"""`testbed run`: carries out the trials of a scenario, or one trial again."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from .. import store, sweep, table
from ..error import TestbedError, UserError
from ..kernels.lab import available_bytes
from ..library import spec_file
from ..result import TrialResult
from ..runner import run as run_trial
from ..scenario import Scenario, Trial
from ..specfile import files_of, load_scenario
from ..sweep import Summary, Sweep
from ..trial import orders
from .results import COLOUR, Format, print_cells, print_table


def run(
    scenario: Annotated[
        Path | None, typer.Argument(help="A scenario file, or the name of one that comes with the testbed.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Where results go (results/NAME; NAME-quick with --quick)."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trials side by side in virtual time.")] = os.cpu_count() or 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the scenario.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The scenario's quick size.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what there is to do, and do nothing.")] = False,
    format: Annotated[Format, typer.Option(help="How to print what --dry-run says: table or json.")] = Format.table,
    repeat: Annotated[
        Path | None, typer.Option(metavar="TRIAL_DIR", help="Run a stored trial again, and compare.")
    ] = None,
) -> None:
    """Run the trials of a scenario that are not done yet. Exit code 1 if one is invalid or failed."""
    if (scenario is None) == (repeat is None):
        raise UserError("say what to run; allowed: one scenario file, or --repeat with the folder of a trial")
    if format is not Format.table and not (dry_run and format is Format.json):
        raise UserError(f"--format {format} means nothing here; allowed: --dry-run --format json")
    if repeat is not None:
        if output is not None or settings or quick or dry_run:
            raise UserError(
                "--repeat runs a trial just as it is stored; allowed: --repeat TRIAL_DIR without -o, --set, "
                "--quick and --dry-run"
            )
        _repeat(repeat)
    elif scenario is not None:
        scenario = spec_file(scenario)
        loaded = load_scenario(scenario, settings or [], quick=quick)
        folder = store.Store(output or Path("results") / (f"{loaded.name}-quick" if quick else loaded.name))
        if dry_run:
            _foretell(loaded, folder, jobs, format)
        else:
            _run(loaded, folder, files_of(scenario, settings or [], quick=quick), jobs)


def _run(scenario: Scenario, folder: store.Store, specs: dict[str, str], jobs: int) -> None:
    console = Console(stderr=True, highlight=False)
    summary, ids = carry_out(scenario, folder, specs, jobs, console)
    found = summary.in_order(ids)
    print_table(found)
    if scenario.repetitions > 1:
        print_cells(found, scenario.until)
    print(f"results: {folder.path}")
    for trial, error in summary.failures:
        console.print(f"[red]failed[/] {escape(trial.id)}: {escape(str(error))}", soft_wrap=True)
    if summary.failures or any(each.verdict == "invalid" for each in summary.results):
        raise typer.Exit(1)


def carry_out(
    scenario: Scenario, folder: store.Store, specs: dict[str, str], jobs: int, console: Console
) -> tuple[Summary, list[str]]:
    """Runs what is missing of a scenario and brings the tables up to date, interrupted or not; how it ended, and the
    ids of the trials that belong to the run, in file order. `specs` are the files to keep, by what they are.
    """
    prepared = prepare(scenario, folder)
    with folder.locked():
        folder.create(scenario.name, specs, prepared.ids, [axis.key for axis in scenario.axes], scenario.until)
        if prepared.done:
            said = f"{len(prepared.done)} of {len(prepared.ids)} trials are in {folder.path} already"
            console.print(said, soft_wrap=True)
        try:
            with Screen(console, len(prepared.waiting), prepared, jobs) as screen:
                summary = sweep.run(prepared, jobs, screen)
        finally:
            table.update(folder, mend=True)
    return summary, prepared.ids


def prepare(scenario: Scenario, folder: store.Store, *, check: bool = True) -> Sweep:
    if folder.exists:
        folder.open()
    return sweep.prepare(scenario.trials(), folder, scenario.order(), scenario.until, check=check)


def _foretell(scenario: Scenario, folder: store.Store, jobs: int, format: Format) -> None:
    """Says what a run would do."""
    prepared = prepare(scenario, folder, check=False)
    waiting, undecided = prepared.waiting, prepared.agenda.undecided
    forecast = prepared.forecast
    wall_s = forecast.total_s([trial.params for trial in waiting], jobs) if waiting else 0.0
    most_s = forecast.total_s(prepared.agenda.possible, jobs) if waiting else 0.0
    source = (
        f"learned from {forecast.trials} finished trials"
        if forecast.trials
        else "built-in values, as no trial is finished"
    )
    said = {
        "scenario": scenario.name,
        "size": scenario.size,
        "note": scenario.quick_note,
        "folder": str(folder.path),
        "cells": len(scenario.cells),
        "trials": len(prepared.ids),
        "trials_most": len(prepared.ids) + undecided,
        "found": len(prepared.done),
        "waiting": len(waiting),
        "jobs": jobs,
        "wall_s": wall_s,
        "wall_most_s": most_s,
        "estimate": source,
        "memory_bytes": prepared.memory_bytes if waiting else None,
        "available_bytes": available_bytes(),
    }
    if format is Format.json:
        print(json.dumps(said, indent=1))
        return
    trials = f"{len(prepared.ids)}" + (f", up to {said['trials_most']} (until)" if undecided else "")
    print(f"scenario: {scenario.name}, {scenario.size} size")
    if scenario.quick_note:
        print(f"scaled:   {scenario.quick_note}")
    print(f"cells:    {len(scenario.cells)}")
    print(f"trials:   {trials}")
    print(f"found:    {len(prepared.done)} in {folder.path}")
    print(f"waiting:  {len(waiting)}")
    if waiting:
        most = f", up to {duration(most_s)}" if undecided else ""
        print(f"estimate: {duration(wall_s)}{most} with {jobs} job{'s' if jobs > 1 else ''} ({source})")
        free = f"{available_bytes() >> 20} MiB are free"
        print(f"memory:   {prepared.memory_bytes >> 20} MiB for the largest trial; {free}")


def duration(wall_s: float) -> str:
    """About how long: 8 s, 12 min, 3.5 h."""
    if wall_s < 90:
        return f"{max(wall_s, 1):.0f} s" if wall_s else "0 s"
    return f"{wall_s / 60:.0f} min" if wall_s < 5400 else f"{wall_s / 3600:.1f} h"


def _repeat(folder: Path) -> None:
    trial = store.read_trial(folder)
    first = store.read_result(folder)
    made = orders(trial)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with store.partial(folder.parent) as again:
        second = run_trial(trial, made, again)
        different = store.same_files(folder, again)
    print(f"{trial.id}: {_rate(first)}, again {_rate(second)}")
    if different:
        print(f"different: {', '.join(different)}")
        raise typer.Exit(1)
    print(
        "every file is the same, byte for byte "
        f"(but {', '.join(sorted(store.NOT_REPEATED))}, which tells of this machine)"
    )


def _rate(result: TrialResult) -> str:
    goodput = result.data["goodput_bps"]
    return f"{result.verdict}" if goodput is None else f"{goodput / 1e6:.3f} Mbit/s, {result.verdict}"


class Screen:
    """Shows how a sweep goes on: a bar on a terminal, a line for each trial where output is piped. Given the sweep, it
    also says how many lab seconds are done and, from what ended so far, how many wall seconds are left.
    """

    def __init__(self, console: Console, total: int, sweep: Sweep | None = None, jobs: int = 1) -> None:
        self._console = console
        self._total = total
        self._sweep = sweep
        self._jobs = jobs
        self._ended = 0
        self._lab_s = 0.0
        self._running: dict[str, tuple[Trial, float, float]] = {}
        self._foreseen = (self._foresee(), time.monotonic())
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, TextColumn("{task.fields[left]}"), console=console, disable=self._is_piped)
        self._task = self._progress.add_task("trials", total=total, left=self._left())

    @property
    def _is_piped(self) -> bool:
        return not self._console.is_terminal

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begun(self, trial: Trial) -> None:
        self._running[trial.id] = (trial, time.monotonic(), 0.0)
        self._foreseen = (self._foresee(), time.monotonic())
        self._describe()

    def lab_time(self, trial: Trial, lab_s: float) -> None:
        self._running[trial.id] = (*self._running[trial.id][:2], lab_s)
        self._describe()

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self._lab_s += result.data["lab_s"]
        verdict = f"[{COLOUR[result.verdict]}]{result.verdict}[/]"
        self._end(
            trial,
            f"{verdict} {escape(trial.id)}: {escape(_rate(result).split(', ')[0])}, {result.wall_s:.1f} s",
        )

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self._end(trial, f"[red]failed[/] {escape(trial.id)}: {escape(str(error).splitlines()[0])}")

    def _end(self, trial: Trial, line: str) -> None:
        self._running.pop(trial.id, None)
        self._ended += 1
        if self._sweep is not None:  # with `until` there may be more than there were
            self._total = max(self._total, self._ended + len(self._running) + len(self._sweep.waiting))
        self._foreseen = (self._foresee(), time.monotonic())
        self._progress.update(self._task, completed=self._ended, total=self._total)
        self._describe()
        so_far = f" ({self._so_far()})" if self._is_piped else ""
        self._console.print(f"{self._ended}/{self._total}{so_far} {line}", soft_wrap=True)

    def _so_far(self) -> str:
        left = self._left()
        return f"{self._lab_s:.0f} lab s done" + (f", {left}" if left else "")

    def _left(self) -> str:
        """About how long it still takes; nothing where there is nothing left, or no sweep to learn it from."""
        wall_s, at = self._foreseen
        return f"about {duration(max(0.5, wall_s - (time.monotonic() - at)))} left" if wall_s else ""

    def _foresee(self) -> float:
        """Wall seconds that are left now, from what has ended so far."""
        if self._sweep is None:
            return 0.0
        forecast, now = self._sweep.forecast, time.monotonic()
        wall_s = forecast.total_s([trial.params for trial in self._sweep.waiting], self._jobs)
        running_s = [forecast.wall_s(trial.params) - (now - began) for trial, began, _ in self._running.values()]
        return wall_s + sum(max(0.0, each) for each in running_s) / self._jobs

    def _describe(self) -> None:
        if self._is_piped:
            return
        lab_s = self._lab_s + sum(lab_s for _, _, lab_s in self._running.values())
        now = ", ".join(f"{lab_s:.0f}" for _, _, lab_s in self._running.values())
        description = f"{lab_s:.0f} lab s done" + (f" (running: {now})" if now else "")
        self._progress.update(self._task, description=description, left=self._left())
