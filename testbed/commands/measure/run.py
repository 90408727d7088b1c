"""`testbed run`: carries out the trials of a scenario, or one trial again."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ... import journal
from ...cache_folder import private
from ...error import TestbedError, UserError, visible
from ...kernel import confinement
from ...kernel.consumption import available_bytes
from ...kernel.ready.named import check_controls_of, check_kernels, kernels_of, older_kernels
from ...library import spec_file
from ...model.scenario import Scenario, Trial
from ...spec import program_store
from ...spec.load import COPY, files_of, load_scenario, programs_of
from ...spec.syntax.attachment import permitted
from ...sweep import extension, origin, store
from ...sweep import run as sweep
from ...sweep import shard as shards
from ...sweep.ledger import Report
from ...sweep.run import Here, Summary, Sweep
from ...sweep.shard import Shard
from ...trial import provenance
from ...trial.folder import (
    NOT_REPEATED,
    DiskFull,
    is_ours,
    is_summary,
    read_result,
    read_trial,
    same_files,
    same_result,
)
from ...trial.orders.sequence import orders
from ...trial.run import run as run_trial
from ...trial.strict_folder import remove_tree
from ...units import counted
from .. import foreign_code, option_rule
from ..foreign_code import AllowCode, AllowFile
from ..option_rule import Never, Only
from ..result_table import MISSING, print_cells, print_rules, print_trials
from ..screen import Reports, Screen, between, duration, rate
from ..sequential.budget import HELP as BUDGET_HELP
from ..sequential.budget import OF_DECISION, Options
from ..terminal import Terminal, say
from ..text_table import Format
from . import cluster_option
from .audit import tell_software
from .lone_topology import scenario_for

if TYPE_CHECKING:
    from ...report.live import Live
    from ...sweep.cluster.place import Cluster
    from .run_until_decided import Decision


def foretell(scenario: Scenario, prepared: Sweep, jobs: int, format: Format, shard: Shard | None) -> None:
    """Prints how many trials there are, how long those take that are not done, and the memory that they need."""
    folder = prepared.store
    waiting, undecided = prepared.waiting, prepared.queue.undecided
    forecast = prepared.forecast
    told, most = (forecast.told(cells, jobs) for cells in ([each.params for each in waiting], prepared.queue.possible))
    touched = max((forecast.touched_bytes(trial.params) for trial in waiting), default=0)
    source = (
        f"learned from {counted(forecast.trials, 'finished trial')}"
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
        "wall_s": told.wall_s.expected,
        "wall_most_s": most.wall_s.expected,
        "wall_range_s": [told.wall_s.least, told.wall_s.most],
        "cpu_s": told.cpu_s.expected,
        "cpu_range_s": [told.cpu_s.least, told.cpu_s.most],
        "load": forecast.load and forecast.load.others,
        "cores": forecast.load and forecast.load.cores,
        "estimate": source,
        "memory_bytes": prepared.memory_bytes if waiting else None,
        "touched_bytes": touched if waiting else None,
        "available_bytes": available_bytes(),
        "shard": None if shard is None else str(shard),
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
    print(f"waiting:  {len(waiting)}" + ("" if shard is None else f" in shard {shard}"))
    if waiting:
        up_to = f", up to {duration(most.wall_s.most)} (until)" if undecided else ""
        now = f"; {forecast.load.text}" if forecast.load else ""
        print(f"estimate: {between(told.wall_s.least, told.wall_s.most)}{up_to} with {counted(jobs, 'job')} ({source})")
        print(f"CPU:      {between(told.cpu_s.least, told.cpu_s.most)}{now}")
        free = f"{available_bytes() >> 20} MiB are free"
        print(f"memory:   {prepared.memory_bytes >> 20} MiB for the largest trial, about {touched >> 20} taken; {free}")


SHOWN_FAILED = 3
"""Trials that a line names which failed for the same reason."""
SCRATCH = "repeated"


def repeat_trial(folder: Path, allow_code: bool) -> None:
    """Raises typer.Exit if a file differs."""
    trial = read_trial(folder)
    first = read_result(folder)
    if not is_ours(folder):
        if not allow_code:
            foreign_code.refuse_foreign(folder, trial.topology, trial.workload, trial.kernel)
        held = confinement.method() if trial.kernel.kind != "host" else confinement.NONE
        print(f"{trial.id} is foreign: you did not make it here. It is confined by: {held.text}", file=sys.stderr)
    made = orders(trial)
    program_store.find(trial.workload.needed_files, _copies(folder))
    with journal.folder_noted(
        private(SCRATCH) / journal.unique("trial"), remove_tree
    ) as place:  # `folder` may be foreign
        again = place / "again"
        again.mkdir()
        second = run_trial(trial, made, again)
        alone = is_summary(folder)
        different = (same_result if alone else same_files)(folder, again)
        software = provenance.between(trial, folder, provenance.noted(again) or {})
    print(f"{trial.id}: {rate(first)}, again {rate(second)}")
    if different:
        print(f"different: {visible(', '.join(different))}")
        tell_software(map(str, software))
        raise typer.Exit(1)
    if alone:
        print("its result is the same in every number; of what it wrote besides nothing is stored here")
        return
    print(
        f"every file is the same, byte for byte (but {', '.join(sorted(NOT_REPEATED))}, which describes this computer)"
    )


def _copies(folder: Path) -> dict[str, Path]:
    """The run's own copies of program files, by their names."""
    spec = Path(os.path.realpath(folder)).parent.parent / "spec"
    return {path.name.removeprefix(COPY): path for path in spec.glob(f"{COPY}*")}


EXAMPLES = (
    ("Run a scenario that comes with the testbed, with other values",
     "testbed run quickstart --set 'path.rtt=[20 ms, 80 ms]' -o results/mine"),
    ("See how long a large scenario takes, before it runs", "testbed run throughput-profile --quick --dry-run"),
    ("Run it, and add seeds until it is known whether it is worse than another run",
     "testbed run quickstart --until-decided --base results/before"),
    ("Run a stored trial again, and see whether every file is the same",
     "testbed run --repeat results/quickstart/trials/ID"),
)  # fmt: skip


RULES = (
    Only(("--format",), "--dry-run", "--format {value} has no use here; allowed: --dry-run --format json"),
    OF_DECISION,
    Never("--until-decided", ("--dry-run", "--repeat", "--shard"),
          "{option} runs a whole scenario; allowed: it without {others}"),
    cluster_option.OF_CLUSTER,
    Never("--on", ("--repeat", "--until-decided"), "{option} runs a scenario; allowed: it without {others}"),
    Never("--repeat", ("-o", "--set", "--quick", "--dry-run", "--live", "--shard"),
          "{option} runs a trial exactly as it is stored; allowed: {option} TRIAL_DIR without {others}"),
    Never("--dry-run", ("--live",), "{option} runs nothing, so {others} has nothing to show; allowed: one of them"),
)  # fmt: skip


def run(
    context: typer.Context,
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario file, the name of one that comes with the testbed (testbed list scenarios), or a Mininet "
            "topology in Python.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where the results go; results/NAME if left out, NAME-quick with --quick, NAME-shard-3-of-64 with "
            "--shard.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many trials run at the same time.")
    ] = os.cpu_count() or 1,
    on: Annotated[str | None, typer.Option(metavar="WHERE", help=cluster_option.ON)] = None,
    any_worker: Annotated[bool, typer.Option("--any-worker", help=cluster_option.ANY_WORKER)] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key or an axis of the scenario; may be repeated."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run the quick size of the scenario.")] = False,
    shard: Annotated[
        str | None,
        typer.Option(metavar="K/N", help="Run one of N shards of the trials, such as 3/64; testbed merge joins them."),
    ] = None,
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
            help=OF_DECISION.help("the baseline run, which gets seeds too; or with --axis the baseline value."),
        ),
    ] = None,
    axis: Annotated[
        str | None, typer.Option(metavar="KEY", help=OF_DECISION.help("compare two values of this axis."))
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="With --axis: the value to judge; an axis of two values needs none."),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help=OF_DECISION.help("what does not matter; 3 % if left out.")),
    ] = None,
    budget: Annotated[list[str] | None, typer.Option(metavar="BUDGET", help=OF_DECISION.help(BUDGET_HELP))] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Serve the report to browsers on this computer while the scenario runs.")
    ] = False,
    allow_code: AllowCode = False,
    allow_file: AllowFile = None,
) -> None:
    """Trials with a result in the folder do not run again: an interrupted run continues where it stopped. A table of
    the results is printed at the end; `testbed results` prints it again.

    If the disk is full the run ends with exit code 3, and the same command goes on later.

    The exit code is 1 if a trial is invalid or failed; with --until-decided it is that of `testbed compare`. It is 1,
    too, if a rule of the scenario's `expect` does not hold or could not be checked. It is 4 if a shard has no trial.
    """
    if (scenario is None) == (repeat is None):
        raise UserError("there is nothing to run; allowed: one scenario, or --repeat with the folder of a trial")
    option_rule.refuse(option_rule.given_in(context), RULES)
    options = Options(base, axis, candidate, tolerance, tuple(budget or ()))
    console = Terminal()
    place = cluster_option.place(on, any_worker, console)
    if repeat is not None:
        repeat_trial(repeat, allow_code)
    elif scenario is not None:
        if allow_code:
            foreign_code.allow()
        with scenario_for(spec_file(scenario), permitted(allow_file or ())) as (scenario, may):
            loaded = load_scenario(scenario, settings or [], quick, may)
            if not allow_code:
                cells = ((cell.topology, cell.workload, cell.kernel) for cell in loaded.cells)
                foreign_code.refuse_unconfined(str(scenario), cells)
            needed = kernels_of(cell.topology for cell in loaded.cells)
            check_kernels(files_of(scenario, settings or [], quick=quick).values(), needed)
            check_controls_of(scenario, loaded.trials())
            mine = None if shard is None else shards.parse(shard, by_cell=loaded.until is not None)
            share = "" if mine is None else f"-shard-{mine.number}-of-{mine.count}"
            folder = store.Store(output or Path("results") / f"{loaded.name}{'-quick' if quick else ''}{share}")
            if dry_run:
                prepared = prepare(loaded, folder, check=False, shard=mine)
                if place is not None and prepared.waiting:
                    place.check(prepared.waiting)
                    jobs = place.width()
                foretell(loaded, prepared, jobs, format, mine)
            else:
                decision = _decision(options, loaded) if until_decided else None
                specs = files_of(scenario, settings or [], quick=quick)
                specs |= programs_of(scenario, settings or [], quick, may)
                _run(loaded, folder, specs, jobs, console, live, decision, mine, place)


def _decision(options: Options, scenario: Scenario) -> Decision:
    from .run_until_decided import Decision  # imports all that compares

    return Decision.of(options, scenario)


def _run(
    scenario: Scenario,
    folder: store.Store,
    specs: dict[str, str],
    jobs: int,
    console: Console,
    live: bool,
    decision: Decision | None,
    shard: Shard | None,
    place: Cluster | None,
) -> None:
    if decision is not None:
        decision.foretell(folder.path, console)
    elif folder.exists and {(folder.path / "trials" / each.id).exists() for each in scenario.trials()} == {True, False}:
        _foretell(console, folder.path)
    summary, ids = carry_out(scenario, folder, specs, jobs, console, live, shard, place)
    found = summary.in_order(ids)
    print_trials(found)
    if scenario.repetitions > 1:
        print_cells(found, scenario.until)
    if shard is not None and len(found) < len(ids):
        words = shards.in_words(folder.shards)
        print(f"{words}: {len(found)} of {len(ids)} trials are here; testbed merge joins the shards")
    is_kept = decision is not None or _print_rules(folder, shard)
    for what in origin.mixed(folder, found):
        say(console, ("warning", "yellow"), f": {what}")
    print(f"results: {folder.path}")
    for what in alike(summary.failures):
        say(console, ("failed", "red"), f" {what}")
    if any(isinstance(error, DiskFull) for _, error in summary.failures):
        raise typer.Exit(DiskFull.exit_code)
    if decision is not None:
        try:
            decision.carry_out(folder.path, jobs, console)
        except typer.Exit:
            _print_rules(folder, shard)
            raise
        is_kept = _print_rules(folder, shard)
    elif summary.failures or any(each.verdict == "invalid" for each in summary.results):
        is_kept = False
    if not is_kept:
        raise typer.Exit(1)
    trials = () if shard is None else scenario.trials()
    if shard is not None and not any(map(shard.has, trials)):
        what = f" shard {shard} has none of the {counted(len(trials), 'trial')}: nothing was run; with fewer shards"
        say(console, ("empty", "red"), what + " than trials each is likely to have some")
        raise typer.Exit(MISSING)


def alike(failures: Iterable[tuple[Trial, TestbedError]]) -> Iterator[str]:
    """The trials that failed, those for the same reason together: each was told with it when it did."""
    found: dict[str, list[str]] = {}
    for trial, error in failures:
        found.setdefault(str(error), []).append(trial.id)
    for why, ids in found.items():
        more = f" and {len(ids) - SHOWN_FAILED} more" if len(ids) > SHOWN_FAILED else ""
        yield f"{', '.join(ids[:SHOWN_FAILED])}{more}: {why}"


def _print_rules(folder: store.Store, shard: Shard | None) -> bool:
    """Whether all rules hold; those of a share of the trials are not judged."""
    if not folder.expect:
        return True
    if shard is not None and folder.shards:
        print(f"{counted(len(folder.expect), 'rule')} of expect: judged by testbed merge, when all shards are there")
        return True
    return print_rules(folder)


def carry_out(
    scenario: Scenario,
    folder: store.Store,
    specs: dict[str, str],
    jobs: int,
    console: Console,
    live: bool = False,
    shard: Shard | None = None,
    place: Cluster | None = None,
    until_s: float = math.inf,
) -> tuple[Summary, list[str]]:
    """Runs what is missing of a scenario and brings the tables up to date, interrupted or not; how it ended, and the
    ids of the trials that belong to the run, in file order. `specs` are the files to keep, by what they are. `live`
    serves the report meanwhile, and keeps it in the folder at the end. The trials are carried out here, where none
    begins from `until_s` of the monotonic clock on, or in `place`.
    """
    from ...sweep import table  # imports pyarrow, which a forecast need not pay for, before any trial that needs it

    prepared = prepare(scenario, folder, shard=shard, here=place is None)
    if place is not None and prepared.waiting:
        place.check(prepared.waiting)
    if place is None:
        for what in older_kernels(trial.kernel for trial in prepared.waiting):
            say(console, ("warning", "yellow"), f": {what}")
        if (builds := sweep.other_builds(prepared)) is not None:
            say(console, ("warning", "yellow"), f": {builds}")
        if (others := sweep.other_software(prepared)) is not None:
            say(console, ("warning", "yellow"), f": {others}")
    with folder.locked():
        if {trial.id for trial in extension.added(scenario, folder)} != prepared.added:
            prepared = prepare(scenario, folder, shard=shard, here=place is None)  # somebody extended it meanwhile
        added = {trial.id: trial.repetition for trial in prepared.trials if trial.id in prepared.added}
        axes = [axis.key for axis in scenario.axes]
        before = (folder.shards, folder.about.get("key")) if folder.exists else ((), None)
        share = shards.share(scenario, shard, *before)
        expect = scenario.expect
        folder.create(
            *(scenario.name, specs, prepared.ids, axes, scenario.until, added, scenario.primary, share, expect),
            scenario.rare,
        )
        if prepared.done:
            said = f"{len(prepared.done)} of {len(prepared.ids)} trials are in {folder.path} already"
            say(console, said)
        try:
            with ExitStack() as stack:
                reports: list[Report] = [stack.enter_context(_shown(folder, prepared, console))] if live else []
                width = jobs if place is None else place.width
                screen = stack.enter_context(Screen(console, len(prepared.waiting), prepared, width))
                summary = sweep.run(prepared, jobs, Reports((screen, *reports)), place or Here(jobs, until_s))
        finally:
            with suppress(DiskFull):  # they are made again when they are needed
                table.update(folder, mend=True)
    return summary, prepared.ids


def _foretell(console: Console, folder: Path) -> None:
    from ..known import learn_metrics
    from ..sequential.foretold import foretell  # imports all that compares

    learn_metrics([folder])
    foretell(console, folder)


def _shown(folder: store.Store, prepared: Sweep, console: Console) -> Live:
    from ...report.live import Live  # SciPy takes a second to import, which a run without it need not pay for

    live = Live(folder, len(prepared.waiting))
    say(console, f"live: {live.url} while it runs, then {live.file}")
    return live


def prepare(
    scenario: Scenario,
    folder: store.Store,
    *,
    check: bool = True,
    here: bool = True,
    shard: Shard | None = None,
) -> Sweep:
    """The run as it is now; without `here` its trials need not fit into this computer's memory."""
    if folder.exists:
        folder.open()
    more = extension.added(scenario, folder)
    order, until = scenario.order(), scenario.until
    return sweep.prepare(scenario.trials(), folder, order, until, added=more, check=check, here=here, shard=shard)
