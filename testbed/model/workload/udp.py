"""The tool `udp`: its keys, its facts. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...codec.fault import Fault
from ...codec.keyed import key, keyed
from ...codec.kind import RATE, SPAN, whole
from .fact import FLOWS, FLOWS_MAX, LENGTH, AskedFlow, DataPorts, Transfer, Workload

ANY_PORT, PORTS = (0, 65_535), (6001, 6000 + FLOWS_MAX)
BURST_MAX = 1024
HEADERS_BYTES = {4: 28, 6: 48}
"""The headers of IP and UDP together, by the version of IP."""


@keyed
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
    """Datagrams at a constant rate: loss, jitter, delay one way.

    For `duration_ns`, `flows` in parallel, each with `rate_bps` of payload.

    `length_bytes` is the payload of a datagram. `burst` datagrams leave back to back, None is the tool's choice.
    """

    rate_bps: int = key("rate", RATE, "The rate of each flow, in payload.", default=None)
    duration_ns: int = key("duration", SPAN, "How long each flow sends.", default=None)
    length_bytes: int = key("length", LENGTH, default=1400)
    flows: int = key("flows", FLOWS, default=1)
    burst: int | None = key(
        "burst",
        whole(1, BURST_MAX, "How many datagrams leave back to back."),
        "Default: one up to 10 000 datagrams per second, more above that.",
        default=None,
    )

    relays = ()
    opening_round_trips = 1
    data_ports = DataPorts("udp", ANY_PORT, PORTS)
    echo_bytes = None
    buffer_bytes = 0

    def faults(self) -> Iterator[Fault]:
        if self.rate_bps is None:
            yield Fault((), "udp needs a rate", "a line such as 'rate: 100 Mbit/s'", named=True)
        if self.duration_ns is None:
            yield Fault((), "the key 'duration' is missing", "a line such as 'duration: 10 s'", named=True)

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
