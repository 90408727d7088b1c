"""The ledger of a sweep that goes on: which trials were taken, and how each of them ended. Several threads may use it.

It tells the report of the sweep, and writes the list of trials when the run needs another one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from ..error import TestbedError
from ..model.scenario import Trial
from ..trial.result import TrialResult
from .forecast import Forecast
from .queue import TrialQueue
from .store import Store


class Report(Protocol):
    """Receives the progress of a sweep. Called from several threads, one call at a time."""

    def begun(self, trial: Trial) -> None: ...

    def lab_time(self, trial: Trial, lab_s: float) -> None: ...

    def finished(self, trial: Trial, result: TrialResult) -> None: ...

    def failed(self, trial: Trial, error: TestbedError) -> None: ...


@dataclass
class Ledger:
    """`ids` says which trials are known to belong to the run."""

    store: Store
    queue: TrialQueue
    forecast: Forecast
    ids: Callable[[], list[str]]
    report: Report
    results: list[TrialResult] = field(default_factory=list)
    failures: list[tuple[Trial, TestbedError]] = field(default_factory=list)
    _running: int = 0
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, *, virtual: bool) -> Trial | None:
        """The next trial, in virtual time or in real time; None if there is none now."""
        with self._changed:
            return self._take(virtual)

    def wait(self, *, virtual: bool) -> Trial | None:
        """As `take`, but waits while a running trial may show that another repetition is needed."""
        with self._changed:
            while (trial := self._take(virtual)) is None and self._running and not self.is_cancelled():
                self._changed.wait()
        return trial

    def begun(self, trial: Trial) -> None:
        self._tell(partial(self.report.begun, trial))

    def lab_time(self, trial: Trial, lab_s: float) -> None:
        self._tell(partial(self.report.lab_time, trial, lab_s))

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """A taken trial has this result."""
        self.results.append(result)
        self._tell(partial(self.forecast.learn, trial.params, result.wall_s, result.cpu_s))
        self._tell(partial(self.report.finished, trial, result))

    def failed(self, trial: Trial, error: TestbedError) -> None:
        """A taken trial cannot be carried out."""
        self.failures.append((trial, error))
        self._tell(partial(self.report.failed, trial, error))

    def ended(self, trial: Trial, result: TrialResult | None) -> None:
        """A taken trial has been dealt with; to be called once for each, with its result or without."""
        with self._changed:
            self._running -= 1
            if not self.is_cancelled() and self.queue.ended(trial, result):
                self.store.list_trials(self.ids())
            self._changed.notify_all()

    def cancel(self) -> None:
        """Hands out no more trials."""
        with self._changed:
            self._cancelled.set()
            self._changed.notify_all()

    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def _take(self, virtual: bool) -> Trial | None:
        trial = None if self.is_cancelled() else self.queue.take(virtual=virtual)
        self._running += trial is not None
        return trial

    def _tell(self, call: Callable[[], None]) -> None:
        with self._changed:
            call()
