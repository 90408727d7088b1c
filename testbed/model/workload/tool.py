"""The tools that the testbed comes with: a class for each, with the facts of fact.py. Pure, no I/O.

Keys in files: spec.workload; the steps that run a tool and what its output says: trial.workload.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .command import CommandWorkload
from .fact import AskedFlow, ControlConnection, DataPorts, Program, Transfer, Workload
from .http import HttpWorkload

FLOWS_MAX = 128
WINDOW_MAX_BYTES = 2**30
"""Windows are smaller than this, the largest that TCP can announce (RFC 7323) and that the kernel accepts."""

ANY_PORT = (0, 65_535)
FLOW_PORTS, UDP_PORTS = (5001, 5000 + FLOWS_MAX), (6001, 6000 + FLOWS_MAX)
IPERF3 = ControlConnection(port=5201, data_ports=(50_000, 50_127), greeting_bytes=52)
"""iperf3 opens a UDP stream with a datagram of 4 bytes each way and fails without it: 48 more for IPv6 and UDP."""


@dataclass(frozen=True)
class FlowWorkload(
    Workload,
    tool="flow",
    programs=(),
    one_kernel=True,
    sends_data=True,
    reports=frozenset({"congestion", "window"}),
    port_is_senders=True,
    control=None,
):
    """TCP flows made by our own sender and receiver, from the host `source` to the host `destination`.

    Each of the flows sends for `duration_ns` from its own start, or `flow_bytes` bytes: one of the two is
    None. The tuples have one entry for each flow; one alone stands for all. `window_bytes` None is the
    kernel's autotuning; a number is asked for as SO_SNDBUF and SO_RCVBUF. `start_ns` counts from the start of
    the workload. The steady state begins `leave_out_ns`, or `leave_out_rtts` round trips, after the last flow's
    start; both None leaves nothing out.

    `rate_bps` is the most that each flow may send, of payload, which TCP paces (SO_MAX_PACING_RATE); None is no limit.
    The application of each writes `write_bytes` every `write_every_ns`; both None: it always has more to send.
    """

    duration_ns: int | None
    flow_bytes: int | None = None
    flows: int = 1
    congestion: tuple[str, ...] = ("cubic",)
    window_bytes: tuple[int | None, ...] = (None,)
    start_ns: tuple[int, ...] = (0,)
    leave_out_ns: int | None = None
    leave_out_rtts: int | None = None
    rate_bps: int | None = None
    write_bytes: int | None = None
    write_every_ns: int | None = None

    relays = ()
    data_ports = DataPorts("tcp", ANY_PORT, FLOW_PORTS)
    echo_bytes = None
    buffer_bytes = 0

    def __post_init__(self) -> None:
        for name in ("congestion", "window_bytes", "start_ns"):
            entries = getattr(self, name)
            if len(entries) not in (1, self.flows):
                raise ValueError(
                    f"{name} has {len(entries)} entries for {self.flows} flows; allowed: one for each, or one"
                )
            object.__setattr__(self, name, entries if len(entries) == self.flows else entries * self.flows)

    @property
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        return tuple(map(AskedFlow, self.congestion, self.window_bytes, (self.offered_bps,) * self.flows))

    @property
    def offered_bps(self) -> int | None:
        """What each flow offers at most; None is all that the path takes."""
        offers = [] if self.rate_bps is None else [self.rate_bps]
        if self.write_bytes is not None and self.write_every_ns is not None:
            offers.append(max(1, self.write_bytes * 8 * 10**9 // self.write_every_ns))
        return min(offers, default=None)

    @property
    def load(self) -> tuple[Transfer, ...]:
        spread_ns = max(self.start_ns) - min(self.start_ns)
        return (Transfer(self.asked_flows, self.duration_ns, self.flow_bytes, spread_ns=spread_ns),)

    @property
    def length_ns(self) -> int | None:
        return None if self.duration_ns is None else max(self.start_ns) + self.duration_ns

    @property
    def opening_round_trips(self) -> int:
        return self.flows

    @property
    def connections(self) -> int:
        return self.flows


@dataclass(frozen=True)
class Iperf3Workload(
    Workload,
    tool="iperf3",
    programs=(Program("iperf3", "--version", "iperf3"),),
    one_kernel=False,
    sends_data=True,
    reports=frozenset({"congestion", "window"}),
    port_is_senders=False,
    control=IPERF3,
):
    """An iperf3 client on `source` sending to a server on `destination`, for whole seconds.

    `congestion` is None for UDP. `window_bytes` None is the kernel's choice. `rate_bps` is that of each flow,
    counted in payload; None, for TCP only, is unlimited. `length_bytes` is the payload of a UDP datagram;
    None is iperf3's choice.
    """

    duration_ns: int
    protocol: Literal["tcp", "udp"] = "tcp"
    flows: int = 1
    congestion: str | None = "cubic"
    window_bytes: int | None = None
    rate_bps: int | None = None
    length_bytes: int | None = None

    relays = ()
    opening_round_trips = 1
    echo_bytes = None

    @property
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        congestion = self.congestion if self.protocol == "tcp" else None
        return (AskedFlow(congestion, self.window_bytes, self.rate_bps),) * self.flows

    @property
    def load(self) -> tuple[Transfer, ...]:
        return (Transfer(self.asked_flows, self.duration_ns, datagram_bytes=self.length_bytes),)

    @property
    def length_ns(self) -> int:
        return self.duration_ns

    @property
    def data_ports(self) -> DataPorts:
        return DataPorts(self.protocol, IPERF3.data_ports, (IPERF3.port, IPERF3.port))

    @property
    def connections(self) -> int:
        return self.flows

    @property
    def buffer_bytes(self) -> int:
        """It fills fixed socket buffers with data of its own, two for each flow."""
        return self.flows * 2 * (self.window_bytes or 0)


@dataclass(frozen=True)
class PingWorkload(
    Workload,
    tool="ping",
    programs=(Program("ping", "-V", "iputils-ping"),),
    one_kernel=False,
    sends_data=False,
    reports=frozenset(),
    port_is_senders=False,
    control=None,
):
    """`count` ICMP echo requests, `interval_ns` (at least 10 ms) apart, with `size_bytes` of payload."""

    count: int = 10
    interval_ns: int = 100_000_000
    size_bytes: int = 56

    relays = ()
    asked_flows = ()
    opening_round_trips = 1
    data_ports = None
    connections = 1
    buffer_bytes = 0

    @property
    def load(self) -> tuple[Transfer, ...]:
        return (Transfer((), self.length_ns, packets=2 * self.count),)

    @property
    def length_ns(self) -> int:
        return self.count * self.interval_ns

    @property
    def echo_bytes(self) -> int:
        return self.size_bytes


@dataclass(frozen=True)
class UdpWorkload(
    Workload,
    tool="udp",
    programs=(),
    one_kernel=True,
    sends_data=True,
    reports=frozenset(),
    port_is_senders=False,
    control=None,
):
    """Datagrams at a constant rate for `duration_ns`, `flows` in parallel, each with `rate_bps` of payload.

    `length_bytes` is the payload of a datagram. `burst` datagrams leave back to back, None is the tool's choice.
    """

    rate_bps: int
    duration_ns: int
    length_bytes: int = 1400
    flows: int = 1
    burst: int | None = None

    relays = ()
    opening_round_trips = 1
    data_ports = DataPorts("udp", ANY_PORT, UDP_PORTS)
    echo_bytes = None
    buffer_bytes = 0

    @property
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        return (AskedFlow(None, rate_bps=self.rate_bps),) * self.flows

    @property
    def load(self) -> tuple[Transfer, ...]:
        return (Transfer(self.asked_flows, self.duration_ns, datagram_bytes=self.length_bytes, at_once=self.burst),)

    @property
    def length_ns(self) -> int:
        return self.duration_ns

    @property
    def connections(self) -> int:
        return self.flows


BUILT_IN: tuple[type[Workload], ...] = (
    FlowWorkload,
    Iperf3Workload,
    PingWorkload,
    UdpWorkload,
    HttpWorkload,
    CommandWorkload,
)
"""In the order in which messages name them. `spec.workload` and `trial.workload` have a module for each, which is named
after its tool.
"""
