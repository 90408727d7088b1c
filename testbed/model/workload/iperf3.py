"""The tool `iperf3`: its keys, its facts. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from ...codec.fault import Fault
from ...codec.keyed import key, keyed
from ...codec.kind import RATE, SIZE, SPAN, word
from .control import ANY_CONGESTION, BpfControl, Control, name_of
from .fact import (
    DATAGRAM_MAX,
    FLOWS,
    WINDOW,
    AskedFlow,
    ControlConnection,
    DataPorts,
    Program,
    Transfer,
    Workload,
)

IPERF3 = ControlConnection(port=5201, data_ports=(50_000, 50_127), greeting_bytes=52)
"""iperf3 opens a UDP stream with a datagram of 4 bytes each way and fails without it: 48 more for IPv6 and UDP."""


@keyed
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
    """iperf3, whose own control connection crosses the network too.

    An iperf3 client on `source` sending to a server on `destination`, for whole seconds. `congestion` None is cubic for
    TCP, and none for UDP. `window_bytes` None is the kernel's choice. `rate_bps` is that of each flow, counted in
    payload; None, for TCP only, is unlimited. `length_bytes` is the payload of a UDP datagram; None is iperf3's choice.
    """

    protocol: Literal["tcp", "udp"] = key("protocol", word("tcp", "udp"), default="tcp")
    duration_ns: int = key("duration", SPAN, "How long each flow sends, in whole seconds.", default=None)
    flows: int = key("flows", FLOWS, default=1)
    congestion: Control | None = key(
        "congestion", ANY_CONGESTION, "The congestion control, for tcp; default: cubic.", default=None
    )
    window_bytes: int | None = key("window", WINDOW, default=None)
    rate_bps: int | None = key("rate", RATE, "The rate of each flow, in payload; udp needs it.", default=None)
    length_bytes: int | None = key("length", SIZE, "The payload of a datagram, for udp.", default=None)

    relays = ()
    opening_round_trips = 1
    echo_bytes = None

    def faults(self) -> Iterator[Fault]:
        if self.duration_ns is None:
            yield Fault((), "the key 'duration' is missing", "a line such as 'duration: 10 s'", named=True)
        elif self.duration_ns % 10**9:
            yield Fault(("duration",), "iperf3 counts in whole seconds", "a time such as 10 s", named=True)
        yield from self._udp_faults() if self.protocol == "udp" else self._tcp_faults()

    def _udp_faults(self) -> Iterator[Fault]:
        if self.rate_bps is None:
            yield Fault((), "udp needs a rate", "a line such as 'rate: 100 Mbit/s'", named=True)
        if self.congestion is not None:
            yield Fault(("congestion",), "udp has no congestion control", "'protocol: tcp', or no such line")
        if self.length_bytes is not None and self.length_bytes > DATAGRAM_MAX:
            yield Fault(("length",), "no datagram is that long", f"up to {DATAGRAM_MAX} B", named=True)

    def _tcp_faults(self) -> Iterator[Fault]:
        if self.length_bytes is not None:
            yield Fault(("length",), "tcp has no datagrams", "'protocol: udp', or no such line", named=True)

    def workload(self) -> Workload:
        return replace(self, congestion="cubic") if self.protocol == "tcp" and self.congestion is None else self

    @property
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        congestion = None if self.congestion is None or self.protocol == "udp" else name_of(self.congestion)
        return (AskedFlow(congestion, self.window_bytes, self.rate_bps),) * self.flows

    @property
    def bpf_controls(self) -> tuple[BpfControl, ...]:
        return (self.congestion,) if isinstance(self.congestion, BpfControl) else ()

    @property
    def is_users_code(self) -> bool:
        return bool(self.bpf_controls)

    @property
    def needed_files(self) -> tuple[tuple[str, str], ...]:
        return tuple((each.file, each.sha256) for each in self.bpf_controls)

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
