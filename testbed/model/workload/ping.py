"""The tool `ping`: its keys, its facts. Pure, no I/O."""

from __future__ import annotations

from ... import units
from ...codec.keyed import Kind, key, keyed
from ...codec.kind import byte_count, matching, whole
from ...codec.scalar import quantity
from ...error import ValueRefused
from .fact import DATAGRAM_MAX, Program, Transfer, Workload

_INTERVAL_ALLOWED = "10 ms or more"
FIRST = 3
"""With controllers, so many pings at the beginning run as separate processes: ping prints single RTTs with only three
digits.
"""


def _interval(value: object) -> int | None:
    found = quantity(units.parse_time, units.TIME.allowed)(value)
    if found is not None and found < 10_000_000:
        raise ValueRefused(f"{value} is too short", _INTERVAL_ALLOWED)
    return found


INTERVAL = Kind(_interval, units.format_time, matching(units.TIME.pattern, f"A time, {_INTERVAL_ALLOWED}.", "100 ms"))


@keyed
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
    """ICMP echo requests at a steady pace.

    `count` requests, `interval_ns` (at least 10 ms) apart, with `size_bytes` of payload.
    """

    count: int = key("count", whole(1, 10**6, "How many requests."), default=10)
    interval_ns: int = key("interval", INTERVAL, default=100_000_000)
    size_bytes: int = key("size", byte_count(0, DATAGRAM_MAX, "The payload of a request, in bytes."), default=56)

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
