"""Flows that arrive and end, as a value: when each begins, and how large it is. Pure, no I/O.

The draw depends on the seed and the values only: a schedule is part of the plan.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from ... import units
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import matching, number
from ...codec.scalar import byte_count, whole
from ...error import UserError
from .arrival import ARRIVALS_MAX, Arrivals
from .fact import AskedFlow, DataPorts, Transfer, Workload
from .size import Sizes

OPEN_MAX = 2_000
"""The most flows that are open at the same time; each takes two threads."""
FLOW_BYTES = 256 << 10
"""The memory of an open flow beyond the data in flight. Linux starts no more threads than an eighth of its memory has
room for their stacks of 16 KiB, and a flow has two."""
ANY_PORT, PORTS = (0, 65_535), (5001, 5128)
REQUEST_BYTES = 100
"""Of a request, if the file does not say it."""
REQUEST_LEAST_BYTES = 8
"""A request tells the number of its answer."""


REQUEST_MAX_BYTES, CONNECTIONS_MAX = 1 << 20, 128
REQUEST_SIZE = Kind(
    byte_count(REQUEST_LEAST_BYTES, REQUEST_MAX_BYTES),
    units.format_size,
    matching(units.SIZE.pattern, "The size of a request.", "100 B"),
)
CONNECTIONS = Kind(
    lambda value: None if value == "new" else whole(1, CONNECTIONS_MAX)(value),
    lambda count: count or "new",
    {"anyOf": [{"const": "new"}, number(1, CONNECTIONS_MAX, "How many stay open, and take requests in turn.")]},
    none="new",
)


@keyed
class Requests(Keyed):
    """The receiver asks for each flow, and the sender answers.

    A request has `size_bytes`. So many `connections`
    stay open all the time and take the requests in turn, each one after the other; None is a new one for each.
    """

    size_bytes: int = key("size", REQUEST_SIZE, default=REQUEST_BYTES)
    connections: int | None = key("connections", CONNECTIONS, default=None)


@keyed
class ShortFlowWorkload(
    Workload,
    tool="flow",
    programs=(),
    one_kernel=True,
    sends_data=True,
    reports=frozenset({"congestion"}),
    port_is_senders=False,
    control=None,
):
    """TCP flows that arrive during `duration_ns` and send a drawn number of bytes each, from `source` to `destination`.

    `load` is the share of the goodput that the slowest link of the path can carry, which the flows need on average; it
    says the rate of arrivals if these do not. After the last arrivals, flows may go on for `drain_ns`; those that have
    not ended by then are cut. `rate_bps` is the most that each may send, of payload (SO_MAX_PACING_RATE); None is no
    limit. `requests` None: the sender opens a connection for each flow and sends.
    """

    arrivals: Arrivals
    sizes: Sizes
    duration_ns: int
    drain_ns: int
    load_share: Fraction | None = None
    congestion: str = "cubic"
    rate_bps: int | None = None
    requests: Requests | None = None

    relays = ()
    length_ns = None
    opening_round_trips = 1
    echo_bytes = None
    sending_ns = None

    @property
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        """All of them together: what they offer on average, None if only the path's rate tells it."""
        return (AskedFlow(self.congestion, rate_bps=self._offered_bps),)

    @property
    def load(self) -> tuple[Transfer, ...]:
        return (Transfer(self.asked_flows, self.duration_ns),)

    @property
    def data_ports(self) -> DataPorts:
        """The one who listens has a port of ours: the receiver of the data, or who answers requests."""
        return DataPorts("tcp", ANY_PORT, PORTS) if self.requests is None else DataPorts("tcp", PORTS, ANY_PORT)

    @property
    def connections(self) -> int:
        return 1 if self.requests is None else self.requests.connections or 1

    @property
    def buffer_bytes(self) -> int:
        """As many flows as can be open at the same time; what is in flight belongs to the path."""
        return FLOW_BYTES * OPEN_MAX

    @property
    def _offered_bps(self) -> int | None:
        count = self.arrivals.mean_count(self.duration_ns)
        return None if count is None else max(1, round(count * self.sizes.mean_bytes * 8e9 / self.duration_ns))


@dataclass(frozen=True)
class Arrival:
    """One flow of a schedule: when it begins, after the start of the workload, and how many bytes it sends."""

    start_ns: int
    size_bytes: int


def schedule(workload: ShortFlowWorkload, *, seed: int, goodput_bps: float | None) -> tuple[Arrival, ...]:
    """The flows that arrive in the time of a workload, in order. `goodput_bps` is what the path can carry, for a load;
    None if no link has a rate. Times and sizes are drawn apart: flow N has the same size at every load.

    Raises UserError if there are none, too many, or none can be drawn.
    """
    rate = _rate(workload, goodput_bps)
    times, sizes = random.Random(f"{seed}/flow/arrivals"), random.Random(f"{seed}/flow/sizes")
    found: list[Arrival] = []
    for at_ns in workload.arrivals.times_ns(rate, times, workload.duration_ns):
        if len(found) == ARRIVALS_MAX:
            raise UserError(
                f"more than {ARRIVALS_MAX} flows arrive in {workload.duration_ns / 1e9:g} s; allowed: fewer arrivals, "
                "a lower load, larger flows, or a shorter duration"
            )
        found.append(Arrival(at_ns, workload.sizes.draw(sizes)))
    if not found:
        raise UserError(
            f"no flow arrives in {workload.duration_ns / 1e9:g} s with the seed {seed}; allowed: more arrivals, a "
            "higher load, or a longer duration"
        )
    return tuple(found)


def _rate(workload: ShortFlowWorkload, goodput_bps: float | None) -> float | None:
    """Of the arrival process itself; None if it has none."""
    if workload.load_share is None:
        return None if workload.arrivals.rate is None else float(workload.arrivals.rate)
    if goodput_bps is None:
        raise UserError(
            "load is a share of what the slowest link of the path carries, and no link has a rate; allowed: a rate of "
            "the link, or arrivals such as {poisson: 200 /s}"
        )
    mean_rate = float(workload.load_share) * goodput_bps / (8 * workload.sizes.mean_bytes)
    return mean_rate / workload.arrivals.share
