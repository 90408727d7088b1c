"""A trial as a task for a worker: all that the worker needs to carry it out, and what comes back.

Runs on the worker: carries out the trial in a folder of its own, keeps the result until somebody has it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Protocol, TypeAlias, get_args

from ...codec.frozen import dataclass
from ...error import MachineError, TestbedError, UserError
from ...kernel.consumption import available_bytes
from ...kernel.guest import Cancelled
from ...kernel.lab import RESERVE_BYTES
from ...kernel.parcel import Parcel, packed
from ...kernel.parcel import received as parcel_received
from ...model.scenario import Trial
from ...native_program import tools
from ...spec.scenario.trial import trial_data, trial_of
from ...trial import run as runner
from ...trial.evidence import remains
from ...trial.folder import PARTIAL
from ...trial.orders.sequence import orders
from ...trial.ready_kernel import ReadyKernel
from . import kernel_parcel
from .kernel_parcel import KernelId
from .spool import spool

TOPIC = "testbed-trial"
"""Of the events by which a worker says what it does."""

SIGN_S = 1.0
"""The least time between two signs of life of a trial."""
MEMORY_WAIT_S = 60.0
"""How long a trial waits for memory that others on its computer use, although the forecast said it would be free."""

Ending: TypeAlias = Literal["finished", "failed", "cancelled", "unfit"]


@dataclass(frozen=True)
class Task:
    """`key` names the trial by its content and by the software that decides its bytes; `spec` is its JSON."""

    key: str
    spec: str
    kernel: KernelId


@dataclass(frozen=True)
class Outcome:
    """How a task ended on a worker. `unfit` is the fault of its computer: another one may do it. `parcel` has the files
    of the trial, finished or failed; `said` is why it did not finish.
    """

    key: str
    ending: Ending
    worker: str
    parcel: Parcel | None = None
    said: str = ""


def received(value: object) -> Outcome | None:
    """What arrived, made anew; None if it is no outcome: a class says nothing of what is in it."""
    if not isinstance(value, Outcome):
        return None
    has = {each.name: vars(value).get(each.name, each.default) for each in fields(Outcome)}
    sent, has["parcel"] = has["parcel"], parcel_received(has["parcel"])
    texts = all(type(has[name]) is str for name in ("key", "worker", "said", "ending"))
    is_whole = texts and has["ending"] in get_args(Ending) and (sent is None) == (has["parcel"] is None)
    return Outcome(**has) if is_whole else None


class Worker(Protocol):
    """What a task uses of the Dask worker that it runs on."""

    address: str
    local_directory: str

    def log_event(self, topic: str, msg: Any) -> None: ...


def task_of(trial: Trial, kernel: KernelId, software: str) -> Task:
    """`software` is the digest of what decides the bytes of the result."""
    spec = json.dumps(trial_data(trial), ensure_ascii=False)
    text = json.dumps([spec, kernel.name, kernel.key, kernel.image, software])
    return Task(hashlib.sha256(text.encode()).hexdigest(), spec, kernel)


def carry_out(task: Task, is_fresh: bool = False) -> Outcome:
    """For the worker. What a worker has kept of an earlier run is not measured again, unless it is to be fresh."""
    from distributed import get_worker

    worker: Worker = get_worker()
    kept = None if is_fresh else spool().fetch(task.key)
    if kept is not None:
        return Outcome(task.key, "finished", worker.address, kept)
    with _announced(worker, task.key) as announced:
        return _carried_out(task, worker, announced)


def cancel(keys: Iterable[str]) -> None:
    """Ends these trials, if they run on this worker."""
    for key in keys:
        if key in RUNNING:
            RUNNING[key].set()


RUNNING: dict[str, threading.Event] = {}
"""The trials that run in this process, and what cancels them."""


class _announced:
    """The trial as one that runs on this worker, while the block lasts."""

    def __init__(self, worker: Worker, key: str) -> None:
        self._worker, self._key = worker, key
        self.cancelled = threading.Event()
        self._said_s = 0.0

    def __enter__(self) -> _announced:
        RUNNING[self._key] = self.cancelled
        self.say("begun")
        return self

    def __exit__(self, *error: object) -> None:
        RUNNING.pop(self._key, None)

    def say(self, what: str, lab_s: float = 0.0) -> None:
        about = {"key": self._key, "what": what, "worker": self._worker.address, "lab_s": lab_s}
        self._worker.log_event(TOPIC, about)

    def lab_time(self, lab_s: float) -> None:
        now = time.monotonic()
        if now - self._said_s >= SIGN_S:
            self._said_s = now
            self.say("lab time", lab_s)


def _carried_out(task: Task, worker: Worker, announced: _announced) -> Outcome:
    def ended(ending: Ending, parcel: Parcel | None = None, error: Exception | None = None) -> Outcome:
        said = "" if error is None else str(error) if isinstance(error, TestbedError) else remains.in_words(error)
        return Outcome(task.key, ending, worker.address, parcel, said)

    try:
        with TemporaryDirectory(prefix=PARTIAL, dir=worker.local_directory) as name:
            folder = Path(name).resolve()
            try:
                run_trial(task, folder, announced.lab_time, announced.cancelled.is_set)
            except (MachineError, Cancelled, OSError):
                raise
            except Exception as error:  # whatever it is, another worker would find the same
                return ended("failed", packed(folder), error)
            parcel = packed(folder)
        spool().keep(task.key, parcel)
        return ended("finished", parcel)
    except Cancelled:
        return ended("cancelled")
    except (TestbedError, OSError) as error:
        return ended("unfit", error=error)


def run_trial(task: Task, folder: Path, progress: Callable[[float], None], cancelled: Callable[[], bool]) -> None:
    """Carries out the trial with the very kernel that the task names."""
    trial = trial_of(json.loads(task.spec), "the trial that arrived")
    image = kernel_parcel.find(task.kernel)
    if image is None:
        raise MachineError(f"the lab kernel {task.kernel.name} is not here any more", "testbed run … --on …")
    made = orders(trial)
    _wait_for_memory(made.memory_bytes, cancelled)
    ready = ReadyKernel(trial.kernel, tools(), image)
    runner.run(trial, made, folder, progress=progress, cancelled=cancelled, ready=ready)


def _wait_for_memory(wanted_bytes: int, cancelled: Callable[[], bool]) -> None:
    """Others on this computer may use more than was foreseen. After MEMORY_WAIT_S the kernel says what is missing."""
    began = time.monotonic()
    while available_bytes() < wanted_bytes + RESERVE_BYTES and time.monotonic() - began < MEMORY_WAIT_S:
        if cancelled():
            raise Cancelled
        time.sleep(0.5)


def refuse(trial: Trial) -> None:
    """Raises UserError for a trial that must run on a particular computer."""
    bound = next((node for node in trial.topology.nodes if node.vm is not None or node.machine is not None), None)
    if trial.kernel.is_virtual_time and bound is None:
        return
    why = (
        f"its kernel is {trial.kernel.kind}, and in real time a trial depends on its computer"
        if bound is None
        else f"its node {bound.name} is a virtual or real machine, which is not on every computer"
    )
    raise UserError(f"{trial.id} cannot run on a cluster: {why}; allowed: the same command without --on")
