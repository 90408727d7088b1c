"""What the client of a run asks of a worker before it gets trials, and what is done for it on the worker.

The functions run in the worker's process. A worker that takes part says so with Dask resources: `memory` in bytes,
`core`, and a ticket that is named after the software and the kernels of the run.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, cast

from ...codec.frozen import dataclass
from ...kernel.consumption import available_bytes
from ...kernel.lab import RESERVE_BYTES
from ...kernel.parcel import Parcel
from ...trial import software
from . import kernel_parcel
from .kernel_parcel import KernelId
from .spool import spool

MEMORY, CORE = "memory", "core"
TICKETS = 1e6
"""More than trials can run on a worker."""


@dataclass(frozen=True)
class Member:
    """A worker as it presents itself. `memory_bytes` is for all trials that run on it together."""

    name: str
    host: str
    cores: int
    memory_bytes: int
    parts: software.Parts
    lacking: tuple[KernelId, ...]
    kept: tuple[str, ...]


def received(value: object) -> Member | None:
    """What arrived, made anew; None if it is no answer of a worker's: a class says nothing of what is in it."""
    if not isinstance(value, Member) or set(vars(value)) != {each.name for each in fields(Member)}:
        return None
    lists = isinstance(value.lacking, tuple) and isinstance(value.kept, tuple) and isinstance(value.parts, dict)
    lacking = tuple(filter(None, map(kernel_parcel.received, value.lacking))) if lists else ()
    texts = (value.name, value.host, *value.kept, *value.parts, *value.parts.values()) if lists else (None,)
    numbers = (value.cores, value.memory_bytes)
    if not all(type(each) is str for each in texts) or not all(type(each) is int and each >= 0 for each in numbers):
        return None
    return replace(Member(**vars(value)), lacking=lacking)


def present(kernels: Iterable[KernelId], dask_worker: Any = None) -> Member:
    """What the worker has: software, room, which of the kernels it lacks, the keys of the results that it has kept."""
    total = dask_worker.state.total_resources
    return Member(
        name=str(dask_worker.name),
        host=platform.node(),
        cores=int(total.get(CORE, dask_worker.state.nthreads)),
        memory_bytes=int(total.get(MEMORY, _memory_bytes(dask_worker))),
        parts=software.here(),
        lacking=kernel_parcel.lacking(kernels),
        kept=spool().held(),
    )


def _memory_bytes(dask_worker: Any) -> int:
    """What is free, or this worker's share of the computer, whichever is less.

    Dask's limit for a worker is its share of the computer, or of the container or batch allocation; it is no limit for
    guests, of whose memory Dask knows nothing.
    """
    free = available_bytes() - RESERVE_BYTES
    limit = cast(int | None, dask_worker.memory_manager.memory_limit)
    return max(0, min(free, limit) if limit else free)


def receive(kernel: KernelId, parcel: Parcel) -> None:
    kernel_parcel.receive(kernel, parcel)


async def join(ticket: str, dask_worker: Any = None) -> None:
    """Takes trials of runs with this ticket. What the worker's owner has set with --resources stays as it is."""
    total = dask_worker.state.total_resources
    own = {MEMORY: float(_memory_bytes(dask_worker)), CORE: float(dask_worker.state.nthreads)}
    offered = {name: value for name, value in own.items() if name not in total}
    await dask_worker.set_resources(**offered, **{ticket: TICKETS})


async def leave(ticket: str, dask_worker: Any = None) -> None:
    """Takes no more trials of runs with this ticket."""
    await dask_worker.set_resources(**{ticket: 0.0})


def fetch(key: str) -> Parcel | None:
    return spool().fetch(key)


def drop(keys: Iterable[str]) -> None:
    spool().drop(keys)
