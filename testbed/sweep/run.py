"""A sweep: runs the trials of a scenario that are not done yet, in parallel where the kernel allows it.

In virtual time, lab trials do not disturb each other; trials in real time run one at a time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path
from shlex import quote
from typing import Protocol

from ..codec.frozen import dataclass
from ..error import MachineError, TestbedError, UserError
from ..kernel.consumption import available_bytes, load
from ..kernel.guest import Cancelled
from ..kernel.lab import RESERVE_BYTES, check_memory
from ..model.run_setting import Until
from ..model.scenario import Params, Trial
from ..trial import provenance, readiness, ready_kernel
from ..trial import run as runner
from ..trial.evidence import remains
from ..trial.folder import DiskFull, disk_full
from ..trial.orders.sequence import orders
from ..trial.result import TrialResult
from .extension import in_file_order
from .forecast import Forecast, Work, work
from .ledger import Ledger, Report
from .origin import origins
from .queue import TrialQueue
from .shard import Shard
from .store import Store


class Place(Protocol):
    """Where the trials of a sweep are carried out: here, or on other computers."""

    def carry_out(self, sweep: Sweep, ledger: Ledger) -> None:
        """Takes the waiting trials from the ledger, and enters there how each of them ended. When interrupted, it ends
        those that run.
        """


@dataclass(frozen=True)
class Sweep:
    """A sweep that is prepared: `done` are the results found in the store, `queue` has the trials still to run.

    `trials` are all possible trials, in file order; `memory_bytes` is the need of the largest trial that is not done,
    `needs` that of a trial of each cell that has any. `added` are the ids of those that the scenario does not ask for,
    done or not.
    """

    store: Store
    trials: tuple[Trial, ...]
    done: tuple[TrialResult, ...]
    queue: TrialQueue
    forecast: Forecast
    memory_bytes: int
    added: frozenset[str] = frozenset()
    needs: Mapping[Params, int] = field(default_factory=dict)

    @property
    def waiting(self) -> list[Trial]:
        """The trials that are known to be needed and are not done, in run order."""
        return self.queue.waiting

    @property
    def ids(self) -> list[str]:
        """The trials that are known to belong to the run, done or not, in file order."""
        members = self.queue.members | self.added
        return [trial.id for trial in self.trials if trial.id in members]


@dataclass(frozen=True)
class Summary:
    """How a sweep ended. `results` include those found in the store."""

    results: tuple[TrialResult, ...]
    failures: tuple[tuple[Trial, TestbedError], ...] = ()

    def in_order(self, ids: Sequence[str]) -> list[TrialResult]:
        """The results in the order of these ids."""
        place = {id: number for number, id in enumerate(ids)}
        return sorted(self.results, key=lambda each: place[each.id])


def prepare(
    trials: Sequence[Trial],
    store: Store,
    order: Sequence[Trial] | None = None,
    until: Until | None = None,
    *,
    added: Sequence[Trial] = (),
    check: bool = True,
    here: bool = True,
    shard: Shard | None = None,
) -> Sweep:
    """Finds the finished trials, plans a trial of each cell that is not finished, and checks its kernel.

    `trials` are in file order, `order` are the same in run order (None: file order). It runs and writes nothing;
    without `check` it does not examine this computer either; without `here` the trials need not fit into its memory.
    `added` are trials that `extension` found: the finished ones belong to the run, the others are not run. Of those
    with a `shard`, only trials of that share are run. Raises UserError and MachineError for the first requirement that
    is not met.
    """
    queue = TrialQueue(trials if order is None else order, until, None if shard is None else shard.has)
    done = _finished(trials, store, queue)
    if check:
        _refuse_other_kernels([trial for trial in trials if trial.id in done], store)
    works: dict[Params, Work] = {}
    needs: dict[Params, int] = {}
    waiting = {trial.params for trial in queue.waiting}
    planned: set[Trial] = set()
    for trial in trials if waiting else ():
        cell = replace(trial, id="", seed=0, repetition=0)
        if cell in planned or (shard is not None and trial.params not in waiting and trial.id not in done):
            continue
        planned.add(cell)
        made = orders(trial)
        works[trial.params] = work(trial, made)
        if trial.params not in waiting:
            continue
        needs[trial.params] = made.memory_bytes
        if check:
            readiness.check(trial, made)
            if here and trial.kernel.kind != "host":
                check_memory(made.memory_bytes)
    forecast = Forecast(works, load() if here else None)
    for trial in trials if waiting else ():
        if trial.id in done:
            forecast.recall(trial.params, done[trial.id].wall_s, done[trial.id].cpu_s)
    known = {trial.id for trial in trials}
    others = [trial for trial in added if trial.id not in known]
    also = [trial for trial in added if trial.id not in done]
    results = (*done.values(), *(each for trial in also if (each := store.finished(trial)) is not None))
    members = frozenset(trial.id for trial in added)
    most = max(needs.values(), default=0)
    return Sweep(store, in_file_order(trials, others), results, queue, forecast, most, members, needs)


def _finished(trials: Sequence[Trial], store: Store, queue: TrialQueue) -> dict[str, TrialResult]:
    """The results in the store that belong to the run, by id; records them in the queue.

    In the order of repetitions, since the earlier ones decide whether a later one belongs to the run.
    """
    done = {}
    for trial in sorted(trials, key=lambda trial: trial.repetition):
        result = store.finished(trial)
        if result is not None and queue.has(trial):
            done[trial.id] = result
            queue.ended(trial, result)
    return done


def _refuse_other_kernels(done: Sequence[Trial], store: Store) -> None:
    """Raises UserError for a trial on a kernel that was rebuilt since, under the same name, from another source."""
    for trial in done:
        was = store.kernel_key(trial)
        if was is not None and ready_kernel.kernel_key(trial) not in (None, was):
            folder = store.path / "trials"
            raise UserError(
                f"{folder / trial.id} was measured with a different build of its kernel than the present one; allowed: "
                f"another folder (-o), or this one without the old trials: rm -r {quote(str(folder))}"
            )


def other_builds(sweep: Sweep) -> str | None:
    """What to say if finished trials ran on another build of the kernel than the waiting ones of the run will, from the
    same source; None if none did, or if nothing waits.
    """
    done = {result.id for result in sweep.done} if sweep.waiting else set()
    folder = sweep.store.path / "trials"
    found = [pair for trial in sweep.trials if trial.id in done and (pair := _other_program(trial, folder / trial.id))]
    if not found:
        return None
    before, now = found[0]
    return (
        f"{len(found)} of the finished trials ran on another build of the lab kernel ({before[:12]}, now {now[:12]}) "
        "from the same source, which measures the same"
    )


def other_software(sweep: Sweep) -> str | None:
    """What to say if finished trials ran with other software than the waiting ones of the run will; None if none did,
    or tells so, or if nothing waits.
    """
    done = {result.id for result in sweep.done} if sweep.waiting else set()
    found = origins([sweep.store.path / "trials" / trial.id for trial in sweep.trials if trial.id in done])
    others = [(len(each.folders), parts) for each in found if each.parts and (parts := each.differences())]
    if not others:
        return None
    count, unlike = sum(each for each, _ in others), dict.fromkeys(each.what for _, parts in others for each in parts)
    return (
        f"{count} of the finished trials ran with other software ({', '.join(unlike)}): what comes now may differ from "
        f"them; testbed doctor --same-as {quote(str(sweep.store.path))} says how"
    )


def _other_program(trial: Trial, folder: Path) -> tuple[str, str] | None:
    with suppress(MachineError):
        return provenance.other_program(trial, folder)
    return None


def run(sweep: Sweep, jobs: int, report: Report, place: Place | None = None) -> Summary:
    """Runs the waiting trials in a place (None: here, so many side by side). It reports a trial that cannot be carried
    out, and goes on with the others, unless the disk is full.

    When interrupted, it ends the running trials, keeps the finished ones and raises KeyboardInterrupt.
    """
    sweep.store.discard_partial()
    ledger = Ledger(sweep.store, sweep.queue, sweep.forecast, lambda: sweep.ids, report)
    try:
        (place or Here(jobs)).carry_out(sweep, ledger)
    finally:
        sweep.store.discard_partial()
    return Summary((*sweep.done, *ledger.results), tuple(ledger.failures))


@dataclass(frozen=True)
class Here:
    """This computer: a thread for each trial that runs; in real time one at a time. From `until_s` on, by the monotonic
    clock, none begins, and those that run go on to their end.
    """

    jobs: int
    until_s: float = math.inf

    def carry_out(self, sweep: Sweep, ledger: Ledger) -> None:
        work = _Work(sweep, ledger, _Memory(available_bytes() - RESERVE_BYTES), self.until_s)
        for virtual, width in ((True, self.jobs), (False, 1)):
            pool = ThreadPoolExecutor(max_workers=width)
            try:
                for each in wait([pool.submit(work.go_on, virtual) for _ in range(width)], None, FIRST_EXCEPTION).done:
                    each.result()
            except BaseException:
                ledger.cancel()
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class _Work:
    """What the threads of a sweep share."""

    sweep: Sweep
    ledger: Ledger
    memory: _Memory
    until_s: float

    def go_on(self, virtual: bool) -> None:
        """Runs one trial after another until none is waiting, or the time is over."""
        while time.monotonic() < self.until_s and (trial := self.ledger.wait(virtual=virtual)) is not None:
            done = None
            try:
                done = self._do(trial)
            finally:
                self.ledger.ended(trial, done)

    def _do(self, trial: Trial) -> TrialResult | None:
        """The result of a trial; None if there is none. Uses a result that another run has stored meanwhile."""
        try:
            done = self.sweep.store.finished(trial) or self._measure(trial)
        except Cancelled:
            return None
        except Exception as raised:  # whatever it is, the other trials go on
            error = raised if isinstance(raised, TestbedError) else disk_full(raised, self.sweep.store.path)
            error = error or TestbedError(remains.in_words(raised))
            self.ledger.failed(trial, error)
            if isinstance(error, DiskFull):
                self.ledger.cancel()
            return None
        self.ledger.finished(trial, done)
        return done

    def _measure(self, trial: Trial) -> TrialResult:
        made = orders(trial)
        with self.memory.taken(made.memory_bytes), self.sweep.store.writing(trial) as folder:
            self.ledger.begun(trial)
            return runner.run(
                trial,
                made,
                folder,
                progress=lambda lab_s: self.ledger.lab_time(trial, lab_s),
                cancelled=self.ledger.is_cancelled,
            )


class _Memory:
    """The memory that the trials of a sweep share: a trial waits until there is enough, or until it runs alone."""

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
