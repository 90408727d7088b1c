"""`testbed run`: carries out the trials of a scenario, or one trial again."""

from __future__ import annotations

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
    TimeRemainingColumn,
)

from .. import store, sweep
from ..error import TestbedError, UserError
from ..result import TrialResult
from ..runner import run as run_trial
from ..scenario import Trial
from ..specfile import files_of, load_scenario
from ..trial import orders
from .results import COLOUR, print_table


def run(
    scenario: Annotated[Path | None, typer.Argument(help="A scenario file.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where results go (results/NAME).")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trials side by side in virtual time.")] = os.cpu_count() or 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the scenario.")
    ] = None,
    repeat: Annotated[
        Path | None, typer.Option(metavar="TRIAL_DIR", help="Run a stored trial again, and compare.")
    ] = None,
) -> None:
    """Run the trials of a scenario that are not done yet. Exit code 1 if one is invalid or failed."""
    if (scenario is None) == (repeat is None):
        raise UserError("say what to run; allowed: one scenario file, or --repeat with the folder of a trial")
    if repeat is not None:
        if output is not None or settings:
            raise UserError(
                "--repeat runs a trial just as it is stored; allowed: --repeat TRIAL_DIR without -o and --set"
            )
        _repeat(repeat)
    elif scenario is not None:
        _run(scenario, output, jobs, settings or [])


def _run(path: Path, output: Path | None, jobs: int, settings: list[str]) -> None:
    scenario = load_scenario(path, settings)
    folder = store.Store(output or Path("results") / scenario.name)
    trials = scenario.trials()
    prepared = sweep.prepare(trials, folder)
    folder.create(scenario.name, files_of(path), [trial.id for trial in trials])
    console = Console(stderr=True, highlight=False)
    if prepared.done:
        console.print(f"{len(prepared.done)} of {len(trials)} trials are in {folder.path} already")
    with folder.locked(), Screen(console, len(prepared.waiting)) as screen:
        summary = sweep.run(prepared, jobs, screen)
    print_table(summary.in_order([trial.id for trial in trials]))
    print(f"results: {folder.path}")
    for trial, error in summary.failures:
        console.print(f"[red]failed[/] {escape(trial.id)}: {escape(str(error))}", soft_wrap=True)
    if summary.failures or any(each.verdict == "invalid" for each in summary.results):
        raise typer.Exit(1)


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
    """Shows how a sweep goes on: a bar with an estimate on a terminal, a line for each trial where output is piped."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._ended = 0
        self._lab_s: dict[str, float] = {}
        self._began = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task("trials", total=total)

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begun(self, trial: Trial) -> None:
        self._lab_s[trial.id] = 0.0
        self._describe()

    def lab_time(self, trial: Trial, lab_s: float) -> None:
        self._lab_s[trial.id] = lab_s
        self._describe()

    def finished(self, trial: Trial, result: TrialResult) -> None:
        verdict = f"[{COLOUR[result.verdict]}]{result.verdict}[/]"
        self._end(
            trial,
            f"{verdict} {escape(trial.id)}: {escape(_rate(result).split(', ')[0])}, {result.wall_s:.1f} s",
        )

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self._end(trial, f"[red]failed[/] {escape(trial.id)}: {escape(str(error).splitlines()[0])}")

    def _end(self, trial: Trial, line: str) -> None:
        self._lab_s.pop(trial.id, None)
        self._ended += 1
        self._progress.advance(self._task)
        self._describe()
        self._console.print(f"{self._ended}/{self._total}{self._left()} {line}", soft_wrap=True)

    def _left(self) -> str:
        """The estimate in the lines of piped output; on a terminal the bar has it."""
        left = self._total - self._ended
        if self._console.is_terminal or not left:
            return ""
        return f" (about {(time.monotonic() - self._began) / self._ended * left:.0f} s left)"

    def _describe(self) -> None:
        running = ", ".join(f"{lab_s:.0f}" for lab_s in self._lab_s.values())
        self._progress.update(self._task, description=f"lab seconds: {running}" if running else "trials")
