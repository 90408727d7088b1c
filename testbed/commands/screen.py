"""What a sweep shows while it runs: a bar on a terminal, a line for each trial where output is piped."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from ..codec.frozen import dataclass
from ..error import TestbedError
from ..kernel import oops
from ..model.scenario import Trial
from ..sweep.ledger import Report
from ..sweep.run import Sweep
from ..trial.result import TrialResult
from .result_table import COLOUR
from .terminal import say

AT_ONCE_S, SHARE = 0.005, 0.05
"""A look ahead that takes less is made after each event."""
SHOWN = 16
"""Running trials on a line."""


@dataclass(frozen=True)
class Reports:
    """Several that want to know how a sweep goes on, told one after the other."""

    all: tuple[Report, ...]

    def begun(self, trial: Trial) -> None:
        for each in self.all:
            each.begun(trial)

    def lab_time(self, trial: Trial, lab_s: float) -> None:
        for each in self.all:
            each.lab_time(trial, lab_s)

    def finished(self, trial: Trial, result: TrialResult) -> None:
        for each in self.all:
            each.finished(trial, result)

    def failed(self, trial: Trial, error: TestbedError) -> None:
        for each in self.all:
            each.failed(trial, error)


class Screen:
    """Shows how a sweep goes on: a bar on a terminal, a line for each trial where output is piped. Given the sweep, it
    also says how many lab seconds are done and, from what ended so far, how many wall seconds are left. `jobs` is how
    many trials run side by side, or says how many do now.
    """

    def __init__(
        self, console: Console, total: int, sweep: Sweep | None = None, jobs: int | Callable[[], int] = 1
    ) -> None:
        self._console = console
        self._total = total
        self._sweep = sweep
        self._width = jobs if callable(jobs) else lambda: jobs
        self._ended = 0
        self._lab_s = 0.0
        self._verdicts: Counter[str] = Counter()
        self._running: dict[str, tuple[Trial, float, float]] = {}
        self._foreseen, self._cost_s = ((0.0, 0.0), -math.inf), 0.0
        self._look_ahead()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, TextColumn("{task.fields[left]}"), console=console, disable=self._is_piped)
        self._task = self._progress.add_task("trials", total=total, left=self._left())

    @property
    def _jobs(self) -> int:
        """How many trials run at the same time."""
        return self._width()

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
        self._look_ahead()
        self._describe()

    def lab_time(self, trial: Trial, lab_s: float) -> None:
        self._running[trial.id] = (*self._running[trial.id][:2], lab_s)
        self._describe()

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self._lab_s += result.lab_s
        self._verdicts[result.verdict] += 1
        said = f" {trial.id}: {rate(result).split(', ')[0]}, {result.wall_s:.1f} s"
        self._end(trial, (result.verdict, COLOUR[result.verdict]), said)

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self._verdicts["failed"] += 1
        self._end(trial, ("failed", "red"), f" {trial.id}: {oops.in_line(str(error))}")

    def _end(self, trial: Trial, verdict: tuple[str, str], said: str) -> None:
        self._running.pop(trial.id, None)
        self._ended += 1
        self._look_ahead()
        self._progress.update(self._task, completed=self._ended, total=self._total)
        self._describe()
        so_far = f" ({self._so_far()})" if self._is_piped else ""
        say(self._console, f"{self._ended}/{self._total}{so_far} ", verdict, said)

    def _so_far(self) -> str:
        left = self._left()
        return f"{self._lab_s:.0f} lab s done" + (f", {left}" if left else "")

    def _left(self) -> str:
        """About how long it still takes; nothing where there is nothing left, or no sweep to learn it from."""
        walls_s, at = self._foreseen
        gone_s = time.monotonic() - at
        least_s, most_s = (max(0.5, each - gone_s) for each in walls_s)
        return f"{between(least_s, most_s)} left" if walls_s[1] else ""

    def _look_ahead(self) -> None:
        """Counts what is left; with very many trials, so seldom that it takes only a small SHARE of the time."""
        now = time.monotonic()
        if self._sweep is None or (self._cost_s > AT_ONCE_S and now - self._foreseen[1] < self._cost_s / SHARE):
            return
        waiting = self._sweep.waiting
        self._total = max(self._total, self._ended + len(self._running) + len(waiting))  # `until` may add some
        self._foreseen = (self._foresee(self._sweep, waiting), now)
        self._cost_s = time.monotonic() - now

    def _foresee(self, sweep: Sweep, waiting: Sequence[Trial]) -> tuple[float, float]:
        """Between which wall seconds are left now, from what has ended so far."""
        forecast, now, jobs = sweep.forecast, time.monotonic(), self._jobs
        wall_s = forecast.told([trial.params for trial in waiting], jobs).wall_s
        running = [(forecast.told([trial.params], jobs).wall_s, now - at) for trial, at, _ in self._running.values()]
        least_s, most_s = (
            sum(max(0.0, getattr(each, end) - gone_s) for each, gone_s in running) for end in ("least", "most")
        )
        return wall_s.least + least_s / jobs, wall_s.most + most_s / jobs

    def _describe(self) -> None:
        if self._is_piped:
            return
        lab_s = self._lab_s + sum(lab_s for _, _, lab_s in self._running.values())
        shown = itertools.islice(self._running.values(), SHOWN)
        now = ", ".join(f"{lab_s:.0f}" for _, _, lab_s in shown) + (", …" if len(self._running) > SHOWN else "")
        verdicts = ", ".join(
            f"[{COLOUR.get(verdict, 'red')}]{count} {verdict}[/]" for verdict, count in self._verdicts.items()
        )
        description = (
            f"{lab_s:.0f} lab s done" + (f", {verdicts}" if verdicts else "") + (f" (running: {now})" if now else "")
        )
        self._progress.update(self._task, description=description, left=self._left())


def duration(wall_s: float) -> str:
    """About how long: 8 s, 12 min, 3.5 h."""
    if wall_s < 90:
        return f"{max(wall_s, 1):.0f} s" if wall_s else "0 s"
    return f"{wall_s / 60:.0f} min" if wall_s < 5400 else f"{wall_s / 3600:.1f} h"


def between(least_s: float, most_s: float) -> str:
    """Between which times: 8–20 s, 50 s–2 min; about 8 s, where both are said alike."""
    least, most = duration(least_s), duration(most_s)
    if least == most:
        return f"about {most}"
    number, unit = least.split()
    return f"{number}–{most}" if most.endswith(f" {unit}") else f"{least}–{most}"


def rate(result: TrialResult) -> str:
    goodput = result.goodput_bps
    return f"{result.verdict}" if goodput is None else f"{goodput / 1e6:.3f} Mbit/s, {result.verdict}"
