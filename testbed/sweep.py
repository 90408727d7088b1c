"""A sweep: runs the trials of a scenario that are not done yet, side by side where the kernel allows it.

Virtual time makes lab trials immune to one another; trials in real time run one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from . import runner
from .error import TestbedError
from .kernels.guest import Cancelled
from .kernels.lab import RESERVE_BYTES, available_bytes, check_memory
from .result import TrialResult
from .scenario import Trial
from .store import Store
from .trial import Orders, orders


class Report(Protocol):
    """Whoever wants to know how a sweep goes on. Called from several threads, one call at a time."""

    def begun(self, trial: Trial) -> None: ...

    def lab_time(self, trial: Trial, lab_s: float) -> None: ...

    def finished(self, trial: Trial, result: TrialResult) -> None: ...

    def failed(self, trial: Trial, error: TestbedError) -> None: ...


@dataclass(frozen=True)
class Sweep:
    """What there is to do: `done` were found in the store, `waiting` are to be run."""

    store: Store
    done: tuple[TrialResult, ...]
    waiting: tuple[tuple[Trial, Orders], ...]


@dataclass(frozen=True)
class Summary:
    """How a sweep ended. `results` has those that were found in the store too."""

    results: tuple[TrialResult, ...]
    failures: tuple[tuple[Trial, TestbedError], ...] = ()

    def in_order(self, ids: Sequence[str]) -> list[TrialResult]:
        """The results in the order of these ids, in which they came out does not matter."""
        place = {id: number for number, id in enumerate(ids)}
        return sorted(self.results, key=lambda each: place[each.id])


def prepare(trials: Sequence[Trial], store: Store) -> Sweep:
    """Plans every trial and looks for what its kernel lacks, before anything runs.

    Raises UserError and MachineError for the first thing that no trial could do without.
    """
    done, waiting = [], []
    for trial in trials:
        found = store.finished(trial)
        if found is not None:
            done.append(found)
            continue
        made = orders(trial)
        runner.check(trial, made)
        if trial.kernel.place != "host":
            check_memory(made.memory_bytes)
        waiting.append((trial, made))
    return Sweep(store, tuple(done), tuple(waiting))


def run(sweep: Sweep, jobs: int, report: Report) -> Summary:
    """Runs what waits. A trial that cannot be carried out is reported, and the others go on.

    Interrupted, it ends the running trials, keeps what is finished and raises KeyboardInterrupt.
    """
    sweep.store.discard_partial()
    work = _Work(sweep.store, report, _Memory(available_bytes() - RESERVE_BYTES))
    virtual = [each for each in sweep.waiting if each[0].kernel.is_virtual_time]
    real = [each for each in sweep.waiting if not each[0].kernel.is_virtual_time]
    for batch, width in ((virtual, jobs), (real, 1)):
        pool = ThreadPoolExecutor(max_workers=max(1, width))
        try:
            list(pool.map(lambda each: work.do(*each), batch))
        finally:
            work.cancelled.set()
            pool.shutdown(wait=True, cancel_futures=True)
            work.cancelled.clear()
    return Summary((*sweep.done, *work.results), tuple(work.failures))


@dataclass
class _Work:
    """What the threads of a sweep share."""

    store: Store
    report: Report
    memory: _Memory
    cancelled: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    results: list[TrialResult] = field(default_factory=list)
    failures: list[tuple[Trial, TestbedError]] = field(default_factory=list)

    def do(self, trial: Trial, made: Orders) -> None:
        if self.cancelled.is_set():
            return
        try:
            with self.memory.taken(made.memory_bytes), self.store.writing(trial) as folder:
                self._tell(partial(self.report.begun, trial))
                done = runner.run(
                    trial,
                    made,
                    folder,
                    progress=lambda lab_s: self._tell(partial(self.report.lab_time, trial, lab_s)),
                    cancelled=self.cancelled.is_set,
                )
        except Cancelled:
            return
        except (TestbedError, OSError) as raised:
            error = raised if isinstance(raised, TestbedError) else TestbedError(f"{type(raised).__name__}: {raised}")
            self.failures.append((trial, error))
            self._tell(partial(self.report.failed, trial, error))
            return
        self.results.append(done)
        self._tell(partial(self.report.finished, trial, done))

    def _tell(self, call: Callable[[], None]) -> None:
        with self.lock:
            call()


class _Memory:
    """The memory that the trials of a sweep share: a trial waits until there is enough, or it runs alone."""

    def __init__(self, free_bytes: int) -> None:
        self._free = free_bytes
        self._running = 0
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, wanted_bytes: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: wanted_bytes <= self._free or self._running == 0)
            self._free -= wanted_bytes
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._free += wanted_bytes
                self._running -= 1
                self._changed.notify_all()
