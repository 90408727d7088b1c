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


Workload: TypeAlias = FlowWorkload | Iperf3Workload | PingWorkload
