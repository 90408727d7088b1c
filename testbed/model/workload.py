"""What runs over a topology, as values: one class for each tool. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

FLOWS_MAX = 128
WINDOW_MAX_BYTES = 2**30
"""Windows are smaller than this, the largest that TCP can announce (RFC 7323) and that the kernel accepts."""


@dataclass(frozen=True)
class FlowWorkload:
    """TCP flows made by our own sender and receiver, from the host `source` to the host `destination`.

    Each of the flows sends for `duration_ns` from its own start, or `flow_bytes` bytes: one of the two is
    None. The tuples have one entry for each flow. `window_bytes` None is the kernel's autotuning; a number is
    asked for as SO_SNDBUF and SO_RCVBUF. `start_ns` counts from the start of the workload. The steady state
    begins `leave_out_ns`, or `leave_out_rtts` round trips, after the last flow's start; both None leaves
    nothing out.
    """

    tool: ClassVar[str] = "flow"

    source: str
    destination: str
    duration_ns: int | None
    flow_bytes: int | None = None
    flows: int = 1
    congestion: tuple[str, ...] = ("cubic",)
    window_bytes: tuple[int | None, ...] = (None,)
    start_ns: tuple[int, ...] = (0,)
    leave_out_ns: int | None = None
    leave_out_rtts: int | None = None


@dataclass(frozen=True)
class Iperf3Workload:
    """An iperf3 client on `source` sending to a server on `destination`, for whole seconds.

    `congestion` is None for UDP. `window_bytes` None is the kernel's choice. `rate_bps` is that of each flow,
    counted in payload; None, for TCP only, is unlimited. `length_bytes` is the payload of a UDP datagram;
    None is iperf3's choice.
    """

    tool: ClassVar[str] = "iperf3"

    source: str
    destination: str
    duration_ns: int
    protocol: Literal["tcp", "udp"] = "tcp"
    flows: int = 1
    congestion: str | None = "cubic"
    window_bytes: int | None = None
    rate_bps: int | None = None
    length_bytes: int | None = None


@dataclass(frozen=True)
class PingWorkload:
    """`count` ICMP echo requests, `interval_ns` (at least 10 ms) apart, with `size_bytes` of payload."""

    tool: ClassVar[str] = "ping"

    source: str
    destination: str
    count: int = 10
    interval_ns: int = 100_000_000
    size_bytes: int = 56


@dataclass(frozen=True)
class UdpWorkload:
    """Datagrams at a constant rate for `duration_ns`, `flows` in parallel, each with `rate_bps` of payload.

    `length_bytes` is the payload of a datagram. `burst` datagrams leave back to back, None is the tool's choice.
    """

    tool: ClassVar[str] = "udp"

    source: str
    destination: str
    rate_bps: int
    duration_ns: int
    length_bytes: int = 1400
    flows: int = 1
    burst: int | None = None


@dataclass(frozen=True)
class HttpWorkload:
    """Downloads of objects by curl on `destination` from nginx on `source`.

    Every object size is downloaded `downloads` times, each time by `concurrency` clients at once, in a drawn order,
    `pause_ns` from the end of one to the start of the next. `cache` is the host with a caching proxy that the clients
    ask; None asks the source. `warm` fills the cache first. With `keepalive` a client keeps its connection.
    `congestion` is that of the servers.
    """

    tool: ClassVar[str] = "http"

    source: str
    destination: str
    sizes_bytes: tuple[int, ...]
    downloads: int = 1
    pause_ns: int = 0
    concurrency: int = 1
    cache: str | None = None
    warm: bool = False
    keepalive: bool = False
    congestion: str = "cubic"


Workload: TypeAlias = FlowWorkload | Iperf3Workload | PingWorkload | UdpWorkload | HttpWorkload


def legs(workload: Workload) -> tuple[tuple[str, str], ...]:
    """The ways of the data as (sender, receiver), the last one to the workload's destination: more than one where a
    host between the two, a cache, takes the data and sends it on.
    """
    via = workload.cache if isinstance(workload, HttpWorkload) else None
    if via is None:
        return ((workload.source, workload.destination),)
    return ((workload.source, via), (via, workload.destination))


def controls(workload: Workload) -> tuple[str, ...]:
    """The congestion controls that it asks the kernel for."""
    if isinstance(workload, FlowWorkload):
        return workload.congestion
    if isinstance(workload, Iperf3Workload | HttpWorkload) and workload.congestion is not None:
        return (workload.congestion,)
    return ()


def length_ns(workload: Workload) -> int | None:
    """From the workload's start to its end; None if that depends on the path."""
    if isinstance(workload, FlowWorkload):
        return None if workload.duration_ns is None else max(workload.start_ns) + workload.duration_ns
    if isinstance(workload, PingWorkload):
        return workload.count * workload.interval_ns
    return None if isinstance(workload, HttpWorkload) else workload.duration_ns
