"""The queue of a bottleneck with all its parameters: its command, and what netlink must report of it. Pure, no I/O.

A queue is the child of the token bucket that makes the rate. The bucket looks at the first packet (peek) as soon as the
one before it has left, and lets it go when its time at the rate has passed. So a queue that acts when a packet leaves
it (CoDel) acts when the link begins to send the packet, as on a real link.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from ...codec.frozen import dataclass
from ...error import UserError
from ...model.link.queue import Parameter, Queue, Unit

Words: TypeAlias = tuple[str, ...]

MEMORY_BYTES = 2304
"""The memory of a full packet of 1514 bytes, which cake counts (sk_buff.truesize, seen in the kernel)."""
LEAST_MEMORY_BYTES = 32 << 20
"""The kernel's default of what fq_codel and fq_pie may take."""


COUNTED_MAX = 2**32 - 1
"""What a field of netlink holds."""


@dataclass(frozen=True)
class MadeQueue:
    """A queue as it is set up: its limit in the unit of its type, and every parameter; None is off."""

    asked: Queue
    limit: int
    values: tuple[tuple[str, Any], ...]

    @property
    def type(self) -> str:
        return self.asked.type

    @property
    def value(self) -> Mapping[str, Any]:
        return dict(self.values)


@dataclass(frozen=True)
class Told:
    """A number that netlink must report: `what` for people, `name` as `trial.observe.queue_option` calls it."""

    what: str
    asked: int
    name: str
    slack: int = 0


def limit(queue: Queue, asked: tuple[int, Literal["packets", "bytes"]] | None, default_bytes: int, frame: int) -> int:
    """The limit in the unit of the type, of full frames; `asked` None is the kernel's own, or `default_bytes`."""
    kind = queue.kind
    if asked is None and kind.limit is not None:
        return kind.limit * (frame if kind.limit_unit == "memory" else 1)
    size, unit = asked or (default_bytes, "bytes")
    if kind.limit_unit == "packets":
        least = 2 if queue.type == "sfq" else 1
        return max(least, size if unit == "packets" else size // frame)
    size_bytes = size * frame if unit == "packets" else size
    return max(1, size_bytes // frame) * _memory_bytes(frame) if kind.limit_unit == "memory" else size_bytes


def _memory_bytes(frame: int) -> int:
    return MEMORY_BYTES if frame <= 1514 else 2 * frame


def made(queue: Queue, size: int, frame: int, rate_bps: int) -> MadeQueue:
    """Raises UserError for a red or sfq that no kernel takes."""
    values = {each.name: queue.value(each.name) for each in queue.kind.parameters}
    if queue.type == "sfq" and size > values["depth"] * min(values["flows"], values["divisor"]):
        most = f"depth {values['depth']} × flows {min(values['flows'], values['divisor'])}"
        raise UserError(
            f"a buffer of {size} packets is more than an sfq with {most} holds; allowed: up to that, or fifo"
        )
    own = _red(values, size, frame, rate_bps) if queue.type == "red" else _of_link(queue.type, size, frame)
    values |= {name: value for name, value in own.items() if values.get(name) is None}
    largest = max(size, *own.values()) if own else size
    if largest > COUNTED_MAX:
        what = f"the buffer of a {queue.type} is {largest} in a field that holds up to {COUNTED_MAX}"
        raise UserError(f"{what}; allowed: a smaller buffer")
    return MadeQueue(queue, size, tuple(values.items()))


def _of_link(type_: str, size: int, frame: int) -> dict[str, int]:
    """The defaults that follow from the frames of the link; psched_mtu() in the kernel."""
    memory = 2 * size * frame
    return {
        "fq_codel": {"quantum": frame, "memory_limit": max(LEAST_MEMORY_BYTES, memory)},
        "fq_pie": {"quantum": frame, "memory_limit": max(LEAST_MEMORY_BYTES, memory)},
        "dualpi2": {"memlimit": memory},
        "sfq": {"quantum": frame},
        "fq": {"quantum": 2 * frame, "initial_quantum": 10 * frame},
    }.get(type_, {})


def _red(values: dict[str, Any], size: int, frame: int, rate_bps: int) -> dict[str, int]:
    """As tc chooses them (Floyd, "RED: Discussions of setting parameters", 1997), but for the size of packets and the
    rate, which are those of the link.
    """
    high = values["max"] or (3 * values["min"] if values["min"] else size // 4)
    low = values["min"] or high // 3
    packet = values["avpkt"] or frame
    burst = values["burst"] or max(1, (2 * low + high) // (3 * packet))
    what = f"red with min {low}, max {high}, avpkt {packet}, burst {burst} and a buffer of {size} bytes"
    if not 0 < low < high:
        raise UserError(f"{what} cannot be: min is not below max; allowed: a larger buffer, or both in bytes")
    if burst + 1 - low / packet < 1 or weight(low, burst, packet) is None:
        raise UserError(f"{what} cannot be; allowed: a burst of more than min / avpkt packets")
    if high.bit_length() + (weight(low, burst, packet) or 0) >= 32:
        raise UserError(f"{what} is more than the kernel can count; allowed: a smaller burst, or a smaller max")
    if _slope(low, high, values["probability"]) >= 32:
        raise UserError(f"{what} and a probability that small is more than the kernel can count; allowed: a larger one")
    return {"max": high, "min": low, "avpkt": packet, "burst": burst, "bandwidth": rate_bps}


def weight(low: int, burst: int, packet: int) -> int | None:
    """The logarithm of red's weight: the first W with burst + 1 - min/avpkt ≤ (1 - (1-W)^burst) / W; None for none."""
    for log in range(1, 32):
        share = 0.5**log
        if burst + 1 - low / packet <= (1 - (1 - share) ** burst) / share:
            return log
    return None


def _slope(low: int, high: int, probability: Fraction) -> int:
    """Red's Plog: how often the probability of a drop for a byte of queue can be doubled before it is over 1."""
    each = probability / (high - low)
    log = 0
    while each <= 1:
        each, log = each * 2, log + 1
    return log


def _cell(weight_log: int, packet: int, bandwidth_bps: int) -> int:
    """The logarithm of the cell in which red counts idle time, in ticks of 64 ns, for a table of 256 entries. Of the
    time that a packet takes, tc counts whole microseconds.
    """
    ticks = max(1, math.ceil(packet * 8 * 10**6 // bandwidth_bps * 1000 / 64))
    longest = 31 * ticks / -math.log(1 - 0.5**weight_log)
    return next(log for log in range(32) if longest / 2**log < 512)


def words(queue: MadeQueue, *, change: bool = False) -> Words:
    """What tc gets; a change leaves out what cannot change."""
    kind = queue.asked.kind
    said = [each for each in kind.parameters if not (change and each.is_fixed)]
    parameters = (word for each in said for word in _words(each, queue.value[each.name]))
    first = {"memory": ("unlimited", "memlimit")}.get(kind.limit_unit, ("limit",))
    return (queue.type, *first, str(queue.limit), *parameters, *ALWAYS_SAID.get(queue.type, ()))


def words_of(queue: MadeQueue | None, change: bool) -> Words:
    """The same; none without a queue."""
    return () if queue is None else words(queue, change=change)


ALWAYS_SAID: dict[str, Words] = {"fq": ("nopacing",)}
"""A bottleneck knows nothing of pacing: fq would take the sender's from its socket, which it can see in one kernel."""


def _words(parameter: Parameter, value: Any) -> Words:
    if parameter.unit == "flag":
        word = parameter.name if value else parameter.off
        return (word,) if word else ()
    if value is None:
        return ()
    if parameter.unit == "choice":
        return (value,)
    if parameter.name == "perturb":
        return (parameter.name, str(value // 10**9))
    return (parameter.name, _NUMBERS.get(parameter.unit, str)(value))


_NUMBERS: Mapping[Unit, Any] = {
    "time": lambda ns: f"{ns // 1000}us",
    "share": lambda share: f"{float(share):.12f}".rstrip("0"),
    "percent": lambda percent: str(int(percent)),
    "rate": lambda bps: f"{bps}bit",
    "decimal": lambda value: f"{float(value):.6f}".rstrip("0").rstrip("."),
}


def told(queue: MadeQueue) -> Iterator[Told]:
    """Every number that the kernel reports of such a queue, and what it must be."""
    value, kind = queue.value, queue.asked.kind
    yield Told(
        f"limit in {'bytes of memory' if kind.limit_unit == 'memory' else kind.limit_unit}", queue.limit, "limit"
    )
    own = {name: make({**value, "limit": queue.limit}) for name, make in _OWN.get(queue.type, {}).items()}
    for each in kind.parameters:
        if each.name in own or each.name in _UNTOLD.get(queue.type, ()):
            continue
        asked = value[each.name]
        if each.unit == "time":
            slack = 3000 if each.name == "tupdate" and queue.type != "dualpi2" else 2
            if asked is not None:
                yield Told(f"{each.name} in us", asked // 1000, each.name, slack)
        else:
            yield Told(each.name, int(asked), each.name)
    for name, number in own.items():
        yield Told(name, number, name, 1 if name in ("alpha", "beta", "probability") else 0)
    for name, number in CONSTANTS.get(queue.type, {}).items():
        yield Told(name, number, name)


_UNTOLD = {"red": ("avpkt", "burst", "bandwidth", "ecn", "harddrop", "nodrop", "adaptive")}
"""Parameters that the kernel tells in other numbers."""
RED_FLAGS = {"ecn": 1, "harddrop": 2, "adaptive": 4, "nodrop": 8}

_OWN: dict[str, dict[str, Any]] = {
    "cake": {
        "diffserv": lambda v: ("diffserv3", "diffserv4", "diffserv8", "besteffort").index(v["diffserv"]),
        "isolation": lambda v: (
            *("flowblind", "srchost", "dsthost", "hosts", "flows"),
            *("dual-srchost", "dual-dsthost", "triple-isolate"),
        ).index(v["isolation"]),
        "ack_filter": lambda v: ("no-ack-filter", "ack-filter", "ack-filter-aggressive").index(v["ack_filter"]),
        "target": lambda v: max(1, v["rtt"] // 20_000),
    },
    "dualpi2": {
        "alpha": lambda v: round(v["alpha"] * 256),
        "beta": lambda v: round(v["beta"] * 256),
        "any_ect": lambda v: 3 if v["any_ect"] else 1,
    },
    "red": {
        "probability": lambda v: min(2**32 - 1, int(v["probability"] * 2**32)),
        "weight": lambda v: weight(v["min"], v["burst"], v["avpkt"]) or 0,
        "slope": lambda v: _slope(v["min"], v["max"], v["probability"]),
        "cell": lambda v: _cell(weight(v["min"], v["burst"], v["avpkt"]) or 1, v["avpkt"], v["bandwidth"]),
        "flags": lambda v: sum(bit for name, bit in RED_FLAGS.items() if v[name]),
    },
    "sfq": {
        "perturb": lambda v: v["perturb"] // 10**9,
        "flows": lambda v: min(v["flows"], v["divisor"], v["limit"]),
    },
    "fq": {"buckets": lambda v: int(math.log2(v["buckets"]))},
}
"""By type and the name of a number: how it follows from all parameters."""

CONSTANTS: dict[str, dict[str, int]] = {
    "cake": {
        "base_rate": 0,
        "atm": 0,
        "overhead": 0,
        "autorate": 0,
        "mpu": 0,
        "ingress": 0,
        "split_gso": 1,
        "fwmark": 0,
    },
    "sfq": {"red": 0},
    "fq": {
        "pacing": 0,
        "maxrate": 2**32 - 1,
        "ce_threshold": 2**32 - 1,
        "refill_delay": 40_000,
        "orphan_mask": 1023,
        "low_rate_threshold": 68_750,
        "timer_slack": 10_000,
        "horizon": 10_000_000,
        "horizon_drop": 1,
        "offload_horizon": 0,
    },
}
"""What nobody can ask for, and the kernel reports all the same."""
