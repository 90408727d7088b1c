"""What became of flows that arrive and end: completion times, slowdowns and their quantiles. Pure, no I/O.

The slowdown of a flow is its completion time over the ideal one: the time that the same bytes take on the same path if
nothing else is on it and the transport costs nothing. So it is at least 1. pFabric (Alizadeh et al., SIGCOMM 2013,
section 5.1) calls it the normalized flow completion time, Homa (Montazeri et al., SIGCOMM 2018, section 5.2) slowdown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import ClassVar

from ...codec.frozen import dataclass
from ...model.link.impairment import IMPAIRMENTS, Direction
from ...model.workload import ShortFlowWorkload
from ...plan.link.stage import frame_bytes
from ...plan.network import Plan
from ..measured import ToolResult
from ..record import ABSENT_IF_EMPTY

TCP_BYTES = 32
"""The header of a data segment: 20 bytes, and the time stamps of RFC 7323."""
IP_BYTES = {4: 20, 6: 40}
SIZES_BYTES = (10_000, 100_000, 1_000_000, 10_000_000, None)
"""The bounds of the classes of sizes; 100 kB and 10 MB are those of pFabric, section 5.1."""
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Completion:
    """One flow. `start_ns` is when it was asked to begin, after the start of the workload, `size_bytes` what it was
    asked to send and `ideal_ns` how long that takes at best (None: not known).

    It began at `began_ns` (None: it never did), was connected at `connected_ns` (None: it was not, or long before), and
    its receiver had all of its bytes at `ended_ns` (None: it was cut). `port` is that of the end that connected.
    The end that sends got a request of `requested_bytes` (0 without requests; None: the tool does not tell).
    """

    start_ns: int
    size_bytes: int
    ideal_ns: int | None
    began_ns: int | None = None
    connected_ns: int | None = None
    ended_ns: int | None = None
    received_bytes: int = 0
    retransmits: int | None = None
    port: int | None = None
    requested_bytes: int | None = None

    @property
    def fct_ns(self) -> int | None:
        """From the time at which it was asked to begin until its receiver had its last byte; None if it was cut."""
        return None if self.ended_ns is None else self.ended_ns - self.start_ns

    @property
    def slowdown(self) -> float | None:
        """None if it was cut, or the ideal is not known."""
        return self.fct_ns / self.ideal_ns if self.fct_ns is not None and self.ideal_ns else None


@dataclass(frozen=True)
class FctSpread:
    """The mean, quantiles (by linear interpolation) and the largest of flow completion times in seconds, or of their
    slowdowns. `bounds` are those that are only lower bounds, because flows were cut before their end.
    """

    mean: float
    p50: float
    p95: float
    p99: float
    max: float
    bounds: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)

    def exact(self, name: str) -> float | None:
        """One of the values; None if it is only a lower bound."""
        return None if name in self.bounds else float(getattr(self, name))


@dataclass(frozen=True)
class FctSize:
    """The flows of more than the class before has, up to `up_to_bytes` (None: all that are larger)."""

    up_to_bytes: int | None
    flows: int
    finished: int
    fct_s: FctSpread | None
    slowdown: FctSpread | None


@dataclass(frozen=True, kw_only=True)
class FctResult(ToolResult):
    """Flows that arrive and end: of those asked, `begun` began and `finished` brought all of their bytes; `unfinished`
    were cut. At most `open_max` were open at the same time. A spread is None if no flow finished; that of the slowdown
    also if the path takes no time, or changes while the workload runs.
    """

    KEY: ClassVar[str] = "fct"

    flows: int
    begun: int
    finished: int
    unfinished: int
    offered_bytes: int
    received_bytes: int
    retransmits: int | None
    open_max: int
    fct_s: FctSpread | None
    slowdown: FctSpread | None
    sizes: tuple[FctSize, ...]


def ideal_ns(workload: ShortFlowWorkload, plan: Plan) -> Callable[[int], int] | None:
    """The function from the bytes of a flow to its ideal completion time: how long its first bit is on the way, and
    how long the slowest link takes to send all of its frames, with headers.

    The way is that of the data, one way, and for requests the way there and back. None if the path takes no time, or
    changes while the workload runs: by a schedule, a trace, or the credit of a shaper.
    """
    both = (True,) if workload.requests is None else (True, False)
    if any(stage.states or _varies(stage.asked) for is_data in both for stage in plan.stages(is_data=is_data)):
        return None
    hops = plan.path if workload.requests is None else (*plan.answers, *plan.path)
    ways = {(hop.link.name, hop.way) for hop in plan.path}
    delays_ns = (hop.link.asked(hop.way, is_data=(hop.link.name, hop.way) in ways).delay_ns for hop in hops)
    way_ns, rate_bps = sum(delays_ns), plan.rate_bps
    if not way_ns and rate_bps is None:
        return None
    payload_bytes = segment_bytes(plan)
    headers_bytes = frame_bytes(plan.mtu_bytes) - payload_bytes

    def ideal(size_bytes: int) -> int:
        wire_bytes = size_bytes + headers_bytes * -(-size_bytes // payload_bytes)
        return way_ns + (0 if rate_bps is None else wire_bytes * 8 * 10**9 // rate_bps)

    return ideal


def _varies(asked: Direction) -> bool:
    """Whether its rate is none that always holds."""
    return any(row.rate_bps is not None and asked.value(row.name) is not None for row in IMPAIRMENTS.values())


def segment_bytes(plan: Plan) -> int:
    """The payload of a full segment."""
    version = 4 if plan.data_path is None else plan.data_path.destination_ip.version
    return plan.mtu_bytes - IP_BYTES[version] - TCP_BYTES


def goodput_bps(plan: Plan) -> float | None:
    """The payload in full frames that the slowest link of the path carries; None if no link has a rate."""
    rate_bps = plan.rate_bps
    return None if rate_bps is None else rate_bps * segment_bytes(plan) / frame_bytes(plan.mtu_bytes)


def summary(flows: Sequence[Completion], end_ns: int) -> FctResult:
    """All flows together, and those of each class of sizes that has some. They were cut at `end_ns`."""
    classes, low = [], 0
    for high in SIZES_BYTES:
        inside = [each for each in flows if low < each.size_bytes and (high is None or each.size_bytes <= high)]
        if inside:
            finished = sum(each.ended_ns is not None for each in inside)
            classes.append(FctSize(high, len(inside), finished, _fct(inside, end_ns), _slowdown(inside, end_ns)))
        low = high or low
    finished = sum(each.ended_ns is not None for each in flows)
    counts = [each.retransmits for each in flows if each.retransmits is not None]
    return FctResult(
        flows=len(flows),
        begun=sum(each.began_ns is not None for each in flows),
        finished=finished,
        unfinished=len(flows) - finished,
        offered_bytes=sum(each.size_bytes for each in flows),
        received_bytes=sum(each.received_bytes for each in flows),
        retransmits=sum(counts) if counts else None,
        open_max=_open_max(flows),
        fct_s=_fct(flows, end_ns),
        slowdown=_slowdown(flows, end_ns),
        sizes=tuple(classes),
    )


def _fct(flows: Sequence[Completion], end_ns: int) -> FctSpread | None:
    ended = [each.fct_ns / 1e9 for each in flows if each.fct_ns is not None]
    return _spread(ended, [(end_ns - each.start_ns) / 1e9 for each in flows if each.fct_ns is None])


def _slowdown(flows: Sequence[Completion], end_ns: int) -> FctSpread | None:
    if any(not each.ideal_ns for each in flows):
        return None
    ended = [each.slowdown for each in flows if each.slowdown is not None]
    return _spread(ended, [(end_ns - each.start_ns) / (each.ideal_ns or 1) for each in flows if each.fct_ns is None])


def _spread(ended: list[float], cut: list[float]) -> FctSpread | None:
    """Of all flows: one that was cut takes at least as long as it had, so what it raises is a lower bound. A quantile
    that stays the same if these took for ever is exact. None if none ended.
    """
    if not ended:
        return None
    import numpy as np  # few readers of orders need it

    least, most = np.sort([*ended, *cut]), np.sort([*ended, *([np.inf] * len(cut))])
    found, bounds = {"mean": float(least.mean()), "max": float(least[-1])}, ["mean", "max"] if cut else []
    for name, share in SHARES.items():
        found[name] = float(np.quantile(least, share, method="linear"))
        last = math.ceil(share * (len(least) - 1))
        bounds += [] if np.array_equal(least[: last + 1], most[: last + 1]) else [name]
    return FctSpread(**found, bounds=tuple(sorted(bounds)))


def _open_max(flows: Sequence[Completion]) -> int:
    """The most flows that had begun and not ended at the same time."""
    begins = sorted(each.began_ns for each in flows if each.began_ns is not None)
    ends = sorted(each.ended_ns for each in flows if each.ended_ns is not None)
    most = over = 0
    for number, begin_ns in enumerate(begins, 1):
        while over < len(ends) and ends[over] <= begin_ns:
            over += 1
        most = max(most, number - over)
    return most
