"""The tool `flow`: its keys; its facts where flows run all the time, and where they arrive. Pure, no I/O."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from ... import units
from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, Kind, Schema, key, keyed, keys
from ...codec.keyed import read as read_keys
from ...codec.kind import RATE, SIZE, SPAN, TIME, matching, number, record, whole
from ...codec.scalar import byte_count, quantity, text_of
from ...codec.scalar import whole as read_whole
from ...error import UserError, ValueRefused
from .arrival import ARRIVALS, ARRIVALS_MAX, SIZES, Arrivals, Sizes, TraceOfTimes
from .control import CONGESTION
from .fact import FLOWS, FLOWS_MAX, WINDOW, AskedFlow, DataPorts, ToolKeys, Transfer, Workload

OPEN_MAX = 2_000
"""The most flows that are open at the same time; each takes two threads."""
FLOW_BYTES = 256 << 10
"""The memory of an open flow beyond the data in flight. Linux starts no more threads than an eighth of its memory has
room for their stacks of 16 KiB, and a flow has two."""
ANY_PORT, PORTS = (0, 65_535), (5001, 5000 + FLOWS_MAX)
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
    lambda value: None if value == "new" else read_whole(1, CONNECTIONS_MAX)(value),
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


RATE_LEAST_BPS = 1_000
DRAIN_NS = 10 * 10**9
LOAD_ALLOWED = "a share of the slowest link, such as 60 % or 0.6"
_LEAVE_OUT_ALLOWED = "a time such as 2 s, or {rtts: 20}"

BULK = ("bytes", "flows", "window", "start", "leave_out", "writes")
"""Keys of flows that run all the time, or to a number of bytes."""
OWN = ("size", "load", "drain", "requests")
"""Keys of flows that arrive."""


@keyed
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
    data_ports = DataPorts("tcp", ANY_PORT, PORTS)
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


def _each(one: Kind, schema: Schema, about: str) -> Kind:
    """One value for all flows, or a list, as a tuple, with one for each."""

    def each(apply: Callable[[Any], Any], value: Any) -> Any:
        return tuple(map(apply, value)) if isinstance(value, list | tuple) else apply(value)

    def written(value: Any) -> Any:
        return list(map(one.write, value)) if isinstance(value, tuple) else one.write(value)

    both = {"anyOf": [schema, {"type": "array", "items": schema, "minItems": 1}]}
    described = {**both, "description": f"{about}; a list has one for each flow."}
    return Kind(lambda value: each(one.read, value), written, described, one.none)


_START = Kind(
    quantity(units.parse_time, units.TIME.allowed),
    units.format_time,
    {"anyOf": [matching(units.TIME.pattern, "A time.", "0 s", "2 s"), {"const": 0}]},
)
CONGESTIONS = _each(CONGESTION, CONGESTION.described(), "Congestion control")
WINDOWS = _each(WINDOW, WINDOW.described(), "Socket buffers")
STARTS = _each(_START, _START.described(), "Time from one flow's start to the next one's")


@keyed
class Rtts(Keyed):
    """A time counted in round trips of the path."""

    rtts: int = key("rtts", whole(1, 10**6, "Round trips."))


def _read_leave_out(value: object) -> Any:
    if isinstance(value, dict | Rtts):
        return read_keys(Rtts, value)
    return quantity(units.parse_time, _LEAVE_OUT_ALLOWED, low=1)(value)


LEAVE_OUT = Kind(
    _read_leave_out,
    lambda value: value.written() if isinstance(value, Rtts) else units.format_time(value),
    {
        "anyOf": [matching(units.TIME.pattern, _LEAVE_OUT_ALLOWED, "2 s"), {"$ref": Rtts}],
        "description": "The ramp: how long after the last flow's start the steady state begins.",
    },
)


@keyed
class Writes(Keyed):
    """An application that writes a piece of `size` every so often, and nothing in between."""

    size: int = key("size", SIZE)
    every: int = key("every", SPAN)


def read_load(value: object) -> Fraction:
    share = units.parse_fraction(text_of(value, LOAD_ALLOWED))
    if not share:
        raise ValueRefused("a load of 0 is no flow at all", LOAD_ALLOWED)
    return share


LOAD = Kind(
    read_load,
    units.format_fraction,
    matching(units.FRACTION_PATTERN, "The load of the slowest link, instead of a rate.", "60 %"),
)


@keyed
class FlowKeys(ToolKeys):
    """TCP flows by the testbed's own sender: cheap in virtual time, with samples of every flow."""

    tool = "flow"

    duration: int | None = key("duration", SPAN, "How long each flow sends, or how long flows arrive.", default=None)
    bytes: int | None = key("bytes", SIZE, "How much each flow sends; instead of duration.", default=None)
    flows: int = key("flows", FLOWS, default=1)
    congestion: str | tuple[str, ...] = key("congestion", CONGESTIONS, default="cubic")
    window: int | tuple[int | None, ...] | None = key("window", WINDOWS, default=None)
    start: int | tuple[int, ...] = key("start", STARTS, default=0)
    leave_out: int | Rtts | None = key("leave_out", LEAVE_OUT, default=None)
    rate: int | None = key("rate", RATE, "The most that each flow may send, in payload: TCP paces it.", default=None)
    writes: Writes | None = key(
        "writes", record(Writes), "What the application of each flow writes; else all it can.", default=None
    )
    arrivals: Arrivals | None = key("arrivals", ARRIVALS, default=None)
    size: Sizes | None = key("size", SIZES, default=None)
    load: Fraction | None = key("load", LOAD, default=None)
    drain: int | None = key(
        "drain", TIME, "How long flows may go on after the last arrivals: 10 s if left out.", default=None
    )
    requests: Requests | None = key("requests", record(Requests), default=None)

    def faults(self) -> Iterator[Fault]:
        if self.rate is not None and self.rate < RATE_LEAST_BPS:
            yield Fault(("rate",), "TCP paces in whole bytes a second", "1 kbit/s and more", named=True)
        if self.arrivals is not None:
            yield from self._arrival_faults()
            return
        for name in OWN:
            if getattr(self, name) is not None:
                yield Fault((name,), f"{name} is for flows that arrive", "a line such as 'arrivals: {poisson: 200 /s}'")
        if self.duration is None and self.bytes is None:
            yield Fault((), "the workload has neither duration nor bytes", "one of the two", named=True)
        if self.duration is not None and self.bytes is not None:
            yield Fault(("bytes",), "duration and bytes exclude each other", "one of the two")
        for name in ("congestion", "window", "start"):
            values = getattr(self, name)
            if isinstance(values, tuple) and len(values) != self.flows:
                what = f"the number of values is {len(values)} and the number of flows {self.flows}"
                yield Fault((name,), what, "one value for all flows, or a list with one for each", named=True)
        if isinstance(self.leave_out, int) and self.duration is not None:
            yield from self._ramp_faults(self.leave_out, self.duration)

    def _arrival_faults(self) -> Iterator[Fault]:
        """What is wrong between the keys of flows that arrive."""
        assert self.arrivals is not None, "BUG: flows without arrivals"
        known = keys(FlowKeys)
        for name in BULK:
            if getattr(self, name) not in (None, known[name].default):
                yield Fault((name,), f"{name} is for flows that do not arrive one by one", f"arrivals, or {name}")
        for name in ("size", "duration"):
            if getattr(self, name) is None:
                example = "size: {cdf: web-search}" if name == "size" else "duration: 10 s"
                yield Fault((), f"flows that arrive need a {name}", f"a line such as '{example}'", named=True)
        if isinstance(self.congestion, tuple):
            yield Fault(("congestion",), "all flows that arrive have one congestion control", "one name, such as cubic")
        is_timed = isinstance(self.arrivals, TraceOfTimes)
        if self.load is not None and (is_timed or self.arrivals.rate is not None):
            what = "the arrivals have their own " + ("times" if is_timed else "rate")
            yield Fault(("load",), what, "no load, or arrivals without it, such as 'arrivals: poisson'", named=True)
        if self.load is None and not is_timed and self.arrivals.rate is None:
            yield Fault(
                ("arrivals",), "nothing says how many arrive", "a rate, or a line such as 'load: 60 %'", named=True
            )

    def _ramp_faults(self, leave_out_ns: int, duration_ns: int) -> Iterator[Fault]:
        """The steady state lies between the ramp, which begins with the last flow, and the end of the first."""
        starts = self.start if isinstance(self.start, tuple) else (0, (self.flows - 1) * self.start)
        together_ns = duration_ns - (max(starts) - min(starts))
        if leave_out_ns >= together_ns:
            run = f"run together for {units.format_time(together_ns)}" if together_ns > 0 else "never run all together"
            what = f"leave_out leaves nothing: the flows {run}"
            yield Fault(("leave_out",), what, "a longer duration, or a shorter leave_out")

    def workload(self) -> Workload:
        return self._bulk() if self.arrivals is None else self._arriving()

    def _bulk(self) -> FlowWorkload:
        rtts = self.leave_out.rtts if isinstance(self.leave_out, Rtts) else None
        start_ns = self.start if isinstance(self.start, tuple) else tuple(i * self.start for i in range(self.flows))
        return FlowWorkload(
            source=self.source,
            destination=self.destination,
            duration_ns=self.duration,
            flow_bytes=self.bytes,
            flows=self.flows,
            congestion=_spread(self.congestion, self.flows),
            window_bytes=_spread(self.window, self.flows),
            start_ns=start_ns,
            leave_out_ns=None if isinstance(self.leave_out, Rtts) else self.leave_out,
            leave_out_rtts=rtts,
            rate_bps=self.rate,
            write_bytes=None if self.writes is None else self.writes.size,
            write_every_ns=None if self.writes is None else self.writes.every,
        )

    def _arriving(self) -> ShortFlowWorkload:
        assert self.arrivals is not None, "BUG: flows without arrivals"
        assert self.size is not None, "BUG: flows that arrive without a size"
        assert self.duration is not None, "BUG: flows that arrive for ever"
        assert isinstance(self.congestion, str), "BUG: flows that arrive with several congestion controls"
        return ShortFlowWorkload(
            source=self.source,
            destination=self.destination,
            arrivals=self.arrivals,
            sizes=self.size,
            duration_ns=self.duration,
            drain_ns=DRAIN_NS if self.drain is None else self.drain,
            load_share=self.load,
            congestion=self.congestion,
            rate_bps=self.rate,
            requests=self.requests,
        )

    @classmethod
    def of(cls, workload: FlowWorkload | ShortFlowWorkload) -> FlowKeys:
        if isinstance(workload, ShortFlowWorkload):
            return cls._of_arrivals(workload)
        rtts, flows = workload.leave_out_rtts, workload.flows
        step_ns = workload.start_ns[1] if flows > 1 else 0
        is_even = workload.start_ns == tuple(i * step_ns for i in range(flows))
        return cls(
            source=workload.source,
            destination=workload.destination,
            duration=workload.duration_ns,
            bytes=workload.flow_bytes,
            flows=flows,
            congestion=_gathered(workload.congestion),
            window=_gathered(workload.window_bytes),
            start=step_ns if is_even else workload.start_ns,
            leave_out=workload.leave_out_ns if rtts is None else Rtts(rtts),
            rate=workload.rate_bps,
            writes=None
            if workload.write_bytes is None or workload.write_every_ns is None
            else Writes(workload.write_bytes, workload.write_every_ns),
        )

    @classmethod
    def _of_arrivals(cls, workload: ShortFlowWorkload) -> FlowKeys:
        """Keys of flows that run all the time are not written."""
        return cls(
            workload.source,
            workload.destination,
            flows=None,  # type: ignore[arg-type]
            start=None,  # type: ignore[arg-type]
            arrivals=workload.arrivals,
            size=workload.sizes,
            duration=workload.duration_ns,
            drain=workload.drain_ns,
            load=workload.load_share,
            congestion=workload.congestion,
            rate=workload.rate_bps,
            requests=workload.requests,
        )


def _spread(values: Any, flows: int) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,) * flows


def _gathered(values: tuple[Any, ...]) -> Any:
    return values[0] if len(set(values)) == 1 else values
