"""The dispatcher: hands the trials of a sweep to a Dask cluster, a few for each core at a time, and stores what comes
back. One thread; Dask decides which worker carries out which trial.

A trial that a worker could not end is handed out again: the worker died, its computer could not run it, or it took far
longer than foreseen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from ...error import TestbedError
from ...kernel import parcel
from ...kernel.guest import TrialError
from ...model.scenario import Trial
from ...trial.result import TrialResult
from ..ledger import Ledger
from ..run import Sweep
from . import member, task
from .arrival import stored
from .flight import MOST_TROUBLES, Again, Flight, Trouble
from .member import CORE, MEMORY
from .pool import ClusterLost, Pool
from .task import Outcome, task_of

if TYPE_CHECKING:
    from distributed import Client, Future

AHEAD = 2
"""Trials that are handed out for each core: while one runs, the next is there."""
LOOK_S = 1.0
"""Between two looks at the workers, and at the trials that take too long."""
DROP_S = 10.0
"""Between two times that workers are told which results they need not keep."""
PATIENCE, PATIENCE_S = 10.0, 300.0
"""A trial may take so many times what is foreseen, and so many seconds more."""
GOODBYE_S = 5.0
"""How long workers may take to answer what is not needed any more."""


class Dispatcher:
    """For one run; not for several threads."""

    def __init__(self, client: Client, pool: Pool, sweep: Sweep, ledger: Ledger) -> None:
        self._client, self._pool, self._sweep, self._ledger = client, pool, sweep, ledger
        self._outfit = pool.outfit
        self._flights: dict[str, Flight] = {}
        self._kept: dict[str, set[str]] = {}
        self._here: dict[str, list[str]] = {}
        self._given_up: set[str] = set()
        self._changed = asyncio.Event()
        self._lost: BaseException | None = None
        self._background: set[asyncio.Future[Any]] = set()

    async def carry_out(self) -> None:
        """Raises ClusterLost if the cluster is gone; what is stored by then is stored."""
        self._client.subscribe_topic(task.TOPIC, self._on_sign)
        self._client.subscribe_topic("all", self._on_cluster)
        flying: set[asyncio.Task[None]] = set()

        def landed(ended: asyncio.Task[None]) -> None:
            flying.discard(ended)
            self._fail(None if ended.cancelled() else ended.exception())

        watch = asyncio.create_task(self._watch())
        watch.add_done_callback(landed)
        try:
            while self._lost is None:
                self._changed.clear()
                while len(flying) < AHEAD * self._pool.cores and (trial := self._ledger.take(virtual=True)):
                    flight = asyncio.create_task(self._fly(trial))
                    flying.add(flight)
                    flight.add_done_callback(landed)
                if not flying and (self._pool.cores or not self._sweep.waiting):
                    break
                await self._changed.wait()
        finally:
            self._ledger.cancel()
            watch.cancel()
            await self._end(flying)
        if self._lost is not None:
            raise self._lost

    def _fail(self, error: BaseException | None) -> None:
        self._lost = self._lost or error
        self._changed.set()

    async def _fly(self, trial: Trial) -> None:
        """Carries out a trial, whatever happens to it on the way."""
        done = None
        try:
            done = self._sweep.store.finished(trial) or await self._measured(trial)
            self._ledger.finished(trial, done)
        except ClusterLost:
            raise
        except (TestbedError, OSError) as raised:
            error = raised if isinstance(raised, TestbedError) else TestbedError(f"{type(raised).__name__}: {raised}")
            self._ledger.failed(trial, error)
        finally:
            self._ledger.ended(trial, done)

    async def _measured(self, trial: Trial) -> TrialResult:
        expected, loop = self._outfit.expected[trial.kernel], asyncio.get_running_loop()
        about, need_bytes = task_of(trial, expected.kernel, self._outfit.digest), self._sweep.needs[trial.params]
        if need_bytes > self._pool.most_bytes:
            most = self._pool.most_bytes >> 20
            raise TrialError(f"it may need {need_bytes >> 20} MiB, and the largest worker has {most} MiB for trials")
        flight = self._flights[about.key] = Flight(trial, about, need_bytes, loop.create_future(), loop.time())
        try:
            while len(flight.troubles) < MOST_TROUBLES:
                try:
                    outcome = await self._fetched(about.key) or await self._carried_out(flight)
                    self._here.setdefault(outcome.worker, []).append(about.key)
                    name = self._pool.named(outcome.worker)
                    return stored(self._sweep.store, trial, about, outcome, expected, name)
                except Again:
                    continue
                except Trouble as trouble:
                    self._note(flight, str(trouble))
        finally:
            del self._flights[about.key]
        self._given_up.add(about.key)
        raise TrialError(f"{MOST_TROUBLES} workers did not end it: {'; '.join(flight.troubles)}")

    def _note(self, flight: Flight, trouble: str) -> None:
        flight.troubles.append(trouble)
        self._pool.notice(f"{flight.trial.id}: {trouble}")

    async def _fetched(self, key: str) -> Outcome | None:
        """A result that a worker kept of an earlier run."""
        for address in sorted(self._kept.pop(key, ())):
            said = await self._pool.ask(address, member.fetch, key)
            if (found := parcel.received(said)) is not None:
                return Outcome(key, "finished", address, found)
        return None

    async def _carried_out(self, flight: Flight) -> Outcome:
        """One attempt. Raises Trouble or Again if it leads to nothing."""
        from distributed import fire_and_forget

        loop, noted = asyncio.get_running_loop(), len(flight.troubles)
        flight.stopped = loop.create_future()
        flight.begin(None, loop.time())
        resources = {MEMORY: flight.need_bytes, CORE: 1, self._outfit.ticket: 1}
        work = (task.carry_out, flight.task, flight.submissions > 0)
        flight.future = self._client.submit(*work, key=flight.name, resources=resources)
        flight.submissions += 1
        fire_and_forget(flight.future)  # it goes on while we are away
        result = asyncio.ensure_future(self._result(flight.future))
        try:
            await asyncio.wait((result, flight.stopped), return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                self._give_up(flight)
                raise flight.stopped.result()
            outcome = result.result()
        finally:
            result.cancel()
        if isinstance(outcome, str):  # deaths have been noted one by one, if the worker had said that it began
            raise Again if len(flight.troubles) > noted else Trouble(outcome)
        if outcome.ending == "unfit":
            await self._pool.bench(outcome.worker, outcome.said)
        if outcome.ending in ("unfit", "cancelled"):
            raise Trouble(f"{self._pool.named(outcome.worker)}: {outcome.said or 'somebody cancelled it'}")
        return outcome

    async def _result(self, future: Future[Outcome]) -> Outcome | str:
        """What came of it, or why nothing did."""
        from distributed import KilledWorker
        from distributed.utils import CancelledError

        try:
            said = await future
            return task.received(said) or f"a worker has an error of its own: {said}"
        except KilledWorker as error:
            return f"the workers that were to do it died, the last one is {error.last_worker.address}"
        except CancelledError:
            await self._pool.connected()
            raise Again from None
        except Exception as error:
            return f"a worker has an error of its own: {type(error).__name__}: {error}"

    def _give_up(self, flight: Flight) -> None:
        """Ends an attempt that is no use any more, wherever it is."""
        if flight.future is not None:
            self._later(self._client.cancel([flight.future], force=True))
        if flight.worker is not None:
            self._later(self._pool.ask(flight.worker, task.cancel, [flight.task.key], limit_s=GOODBYE_S))

    def _on_sign(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """A worker says what it does."""
        about = event[1]
        flight = self._flights.get(about["key"])
        if flight is None:
            if about["key"] in self._given_up:  # Dask had it begin elsewhere meanwhile
                self._later(self._pool.ask(about["worker"], task.cancel, [about["key"]], limit_s=GOODBYE_S))
            return
        if about["what"] == "begun" or flight.worker is None:
            flight.begin(about["worker"], asyncio.get_running_loop().time())
        if not flight.is_told:
            flight.is_told = True
            self._ledger.begun(flight.trial)
        if about["what"] == "lab time":
            self._ledger.lab_time(flight.trial, about["lab_s"])

    def _on_cluster(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """A worker came or went. Dask hands out again what it had; what had begun there may be what killed it."""
        about = event[1]
        if about.get("action") != "remove-worker":
            return
        name = self._pool.named(about["worker"])
        self._pool.members.pop(about["worker"], None)
        for flight in self._flights.values():
            if flight.worker == about["worker"]:
                flight.begin(None, asyncio.get_running_loop().time())
                self._note(flight, f"{name}: the worker died")
                if len(flight.troubles) >= MOST_TROUBLES:
                    flight.stop(Again())

    async def _watch(self) -> None:
        """Looks after workers, and after trials that take too long."""
        dropped_s = 0.0
        while True:
            await self._meet()
            now_s = asyncio.get_running_loop().time()
            for flight in [*self._flights.values()]:
                limit_s = self._limit_s(flight.trial)
                if flight.worker is not None and now_s - flight.since_s > limit_s:
                    why = f"a trial took more than {limit_s:.0f} s on it"
                    flight.stop(Trouble(f"{self._pool.named(flight.worker)}: {why}"))
                    await self._pool.bench(flight.worker, why)
            if now_s - dropped_s > DROP_S:
                dropped_s = now_s
                self._drop()
            await asyncio.sleep(LOOK_S)

    def _limit_s(self, trial: Trial) -> float:
        own_s = 0.0 if trial.limits.wall_ns is None else trial.limits.wall_ns / 1e9
        return PATIENCE * max(self._ledger.forecast.wall_s(trial.params), own_s) + PATIENCE_S

    async def _meet(self) -> None:
        """Looks for new workers."""
        await self._pool.connected()
        try:
            joined = await self._pool.meet()
            if joined:
                await self._hand_out_again()
        except OSError:  # the scheduler goes; the next look says whether it stays away
            return
        for address in joined:
            for key in self._pool.members[address].kept:
                self._kept.setdefault(key, set()).add(address)
        self._changed.set()

    async def _hand_out_again(self) -> None:
        """Dask does not look again for a worker for what nobody could take before one joined."""
        processing = await self._client.processing()
        known = {str(key) for keys in processing.values() for key in keys}
        for flight in self._flights.values():
            now_s = asyncio.get_running_loop().time()
            is_new = now_s - flight.since_s < LOOK_S
            if flight.worker is None and flight.future is not None and flight.future.key not in known and not is_new:
                flight.stop(Again())

    def _drop(self) -> None:
        """Tells the workers which results they need not keep."""
        here, self._here = self._here, {}
        for address, keys in here.items():
            self._later(self._pool.ask(address, member.drop, keys, limit_s=GOODBYE_S))

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _end(self, flying: set[asyncio.Task[None]]) -> None:
        """Ends what still runs, here and on the workers."""
        is_there = self._client.status == "running"
        for flight in self._flights.values() if is_there else ():
            self._give_up(flight)
        for each in flying:
            each.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
        if is_there:
            self._drop()
        if self._background:
            await asyncio.wait(self._background, timeout=GOODBYE_S)
