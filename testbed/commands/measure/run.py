"""`testbed run`: carries out the trials of a scenario, or one trial again."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ...error import UserError
from ...kernel.lab import available_bytes
from ...kernel.vm.named_kernels import check_names, names
from ...library import spec_file
from ...model.scenario import Scenario
from ...spec.load import files_of, load_scenario
from ...sweep import extension, store, table
from ...sweep import run as sweep
from ...sweep.run import Summary, Sweep
from ...trial.folder import NOT_REPEATED, partial, read_result, read_trial, same_files
from ...trial.orders.sequence import orders
from ...trial.run import run as run_trial
from ..result_table import Format, print_cells, print_trials
from ..screen import Reports, Screen, duration, rate
from ..sequential.budget import HELP as BUDGET_HELP
from .run_until_decided import Decision, Options

if TYPE_CHECKING:
    from ...report.live import Live

EXAMPLES = (
    ("Run a scenario that comes with the testbed, with other values",
     "testbed run quickstart --set 'path.rtt=[20 ms, 80 ms]' -o results/mine"),
    ("See how long a large scenario takes, before it runs", "testbed run throughput-profile --quick --dry-run"),
    ("Run it, and add seeds until it is known whether it is worse than a run before",
     "testbed run quickstart --until-decided --base results/before"),
    ("Run a stored trial again, and see whether every file is the same",
     "testbed run --repeat results/quickstart/trials/ID"),
)  # fmt: skip


def run(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario file, or the name of one that comes with the testbed (testbed list scenarios).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where the results go; results/NAME if left out, or results/NAME-quick with --quick.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="How many trials run side by side.")] = os.cpu_count()
    or 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key or an axis of the scenario; may be repeated."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run the quick size of the scenario.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the number of trials and the time they need, and run nothing.")
    ] = False,
    format: Annotated[
        Format, typer.Option(metavar="table|json", help="The format of what --dry-run prints.")
    ] = Format.table,
    repeat: Annotated[
        Path | None, typer.Option(metavar="TRIAL_DIR", help="Run a stored trial again, and compare its files.")
    ] = None,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Then compare the run with another one, or two values of an axis, and add seeds to undecided cells.",
        ),
    ] = False,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|VALUE",
            help="With --until-decided: the run to compare with, which gets seeds too; or with --axis the value.",
        ),
    ] = None,
    axis: Annotated[
        str | None, typer.Option(metavar="KEY", help="With --until-decided: compare two values of this axis.")
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="With --axis: the value to judge; an axis of two values needs none."),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="With --until-decided: what does not matter; 3 % if left out."),
    ] = None,
    budget: Annotated[
        list[str] | None, typer.Option(metavar="BUDGET", help=f"With --until-decided: {BUDGET_HELP}")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Serve the report to browsers on this computer while the scenario runs.")
    ] = False,
) -> None:
    """Trials with a result in the folder do not run again: an interrupted run continues where it stopped. A table of
    the results is printed at the end; `testbed results` prints it again.

    The exit code is 1 if a trial is invalid or failed; with --until-decided it is that of `testbed compare`.
    """
    if (scenario is None) == (repeat is None):
        raise UserError("there is nothing to run; allowed: one scenario, or --repeat with the folder of a trial")
    if format is not Format.table and not (dry_run and format is Format.json):
        raise UserError(f"--format {format} has no use here; allowed: --dry-run --format json")
    options = Options(until_decided, base, axis, candidate, tolerance, tuple(budget or ()))
    options.refuse_alone()
    if until_decided and (dry_run or repeat is not None):
        raise UserError("--until-decided runs trials of a scenario; allowed: it without --dry-run and --repeat")
    if repeat is not None:
        if output is not None or settings or quick or dry_run or live:
            raise UserError(
                "--repeat runs a trial exactly as it is stored; allowed: --repeat TRIAL_DIR without -o, --set, "
                "--quick, --dry-run and --live"
            )
        _repeat(repeat)
    elif scenario is not None:
        scenario = spec_file(scenario)
        loaded = load_scenario(scenario, settings or [], quick=quick)
        needed = names(cell.topology for cell in loaded.cells)
        check_names(files_of(scenario, settings or [], quick=quick).values(), needed)
        folder = store.Store(output or Path("results") / (f"{loaded.name}-quick" if quick else loaded.name))
        if dry_run and live:
            raise UserError("--dry-run runs nothing, so --live has nothing to show; allowed: one of them")
        if dry_run:
            _foretell(loaded, folder, jobs, format)
        else:
            decision = Decision.of(options, loaded) if until_decided else None
            _run(loaded, folder, files_of(scenario, settings or [], quick=quick), jobs, live, decision)


def _run(
    scenario: Scenario, folder: store.Store, specs: dict[str, str], jobs: int, live: bool, decision: Decision | None
) -> None:
    console = Console(stderr=True, highlight=False)
    summary, ids = carry_out(scenario, folder, specs, jobs, console, live)
    found = summary.in_order(ids)
    print_trials(found)
    if scenario.repetitions > 1:
        print_cells(found, scenario.until)
    print(f"results: {folder.path}")
    for trial, error in summary.failures:
        console.print(f"[red]failed[/] {escape(trial.id)}: {escape(str(error))}", soft_wrap=True)
    if decision is not None:
        decision.carry_out(folder.path, jobs, console)
    elif summary.failures or any(each.verdict == "invalid" for each in summary.results):
        raise typer.Exit(1)


def carry_out(
    scenario: Scenario, folder: store.Store, specs: dict[str, str], jobs: int, console: Console, live: bool = False
) -> tuple[Summary, list[str]]:
    """Runs what is missing of a scenario and brings the tables up to date, interrupted or not; how it ended, and the
    ids of the trials that belong to the run, in file order. `specs` are the files to keep, by what they are. `live`
    serves the report meanwhile, and keeps it in the folder at the end.
    """
    prepared = prepare(scenario, folder)
    with folder.locked():
        if {trial.id for trial in extension.added(scenario, folder)} != prepared.added:
            prepared = prepare(scenario, folder)  # somebody extended the run meanwhile
        added = {trial.id: trial.repetition for trial in prepared.trials if trial.id in prepared.added}
        axes = [axis.key for axis in scenario.axes]
        folder.create(scenario.name, specs, prepared.ids, axes, scenario.until, added, scenario.primary)
        if prepared.done:
            said = f"{len(prepared.done)} of {len(prepared.ids)} trials are in {folder.path} already"
            console.print(said, soft_wrap=True)
        try:
            with ExitStack() as stack:
                reports: list[sweep.Report] = [stack.enter_context(_shown(folder, prepared, console))] if live else []
                screen = stack.enter_context(Screen(console, len(prepared.waiting), prepared, jobs))
                summary = sweep.run(prepared, jobs, Reports((screen, *reports)))
        finally:
            table.update(folder, mend=True)
    return summary, prepared.ids


def _shown(folder: store.Store, prepared: Sweep, console: Console) -> Live:
    from ...report.live import Live  # SciPy takes a second to import, which a run without it need not pay for

    live = Live(folder, len(prepared.waiting))
    console.print(f"live: {live.url} while it runs, then {live.file}", soft_wrap=True)
    return live


def prepare(scenario: Scenario, folder: store.Store, *, check: bool = True) -> Sweep:
    if folder.exists:
        folder.open()
    more = extension.added(scenario, folder)
    return sweep.prepare(scenario.trials(), folder, scenario.order(), scenario.until, added=more, check=check)


def _foretell(scenario: Scenario, folder: store.Store, jobs: int, format: Format) -> None:
    """Says what a run would do."""
    prepared = prepare(scenario, folder, check=False)
    waiting, undecided = prepared.waiting, prepared.queue.undecided
    forecast = prepared.forecast
    wall_s = forecast.total_s([trial.params for trial in waiting], jobs) if waiting else 0.0
    most_s = forecast.total_s(prepared.queue.possible, jobs) if waiting else 0.0
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


def _repeat(folder: Path) -> None:
    trial = read_trial(folder)
    first = read_result(folder)
    made = orders(trial)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with partial(folder.parent) as again:
        second = run_trial(trial, made, again)
        different = same_files(folder, again)
    print(f"{trial.id}: {rate(first)}, again {rate(second)}")
    if different:
        print(f"different: {', '.join(different)}")
        raise typer.Exit(1)
    print(
        f"every file is the same, byte for byte (but {', '.join(sorted(NOT_REPEATED))}, which describes this computer)"
    )
