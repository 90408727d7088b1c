"""How files write each impairment: FILE_FIELDS, from which `impaired` makes the keys of links. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .... import units
from ....codec.fault import Fault
from ....codec.keyed import Kind, read
from ....codec.kind import matching
from ....codec.scalar import text_of
from ....codec.schema import shared
from ....error import ValueRefused
from ....model.link.bucket import POLICER, SHAPER
from ....model.link.extent import BUFFER_MAX, DELAY, LINK_RATE, TICK_NS, read_rate
from ....model.link.fault import AGGREGATE
from ....model.link.impairment import Buffer, Jitter, buffer_words
from ....model.topology import Link
from . import fault
from .bucket import policer_faults, shaper_faults
from .loss import LINK_LOSS, LOSS
from .policy import LINK_POLICY, POLICY, policy_faults
from .queue import QUEUE, queue_faults
from .trace import TRACE, trace_faults

Read = Callable[[Any], Any]


def read_jitter(value: object) -> Jitter | None:
    if value == "none":
        return None
    return read(Jitter, value if isinstance(value, dict) else {"sd": text_of(value, _JITTER)})


def write_jitter(jitter: Jitter | None) -> Any:
    if jitter is None:
        return "none"
    return units.format_time(jitter.sd_ns) if jitter == Jitter(jitter.sd_ns) else jitter.written()


def read_buffer(value: object) -> Buffer | None:
    text = text_of(value, BUFFER_ALLOWED)
    if text == "none":
        return None
    if text.rstrip().endswith("bdp"):
        buffer = Buffer(units.parse_bdp(text), "bdp")
    elif text.rstrip().endswith(("packets", "packet")):
        buffer = Buffer(Fraction(units.parse_packets(text)), "packets")
    else:
        buffer = Buffer(Fraction(_size(text)), "bytes")
    if not buffer.amount:
        raise ValueRefused(f"{text!r} holds nothing", f"more than 0: {BUFFER_ALLOWED}")
    if buffer.unit != "bdp" and buffer.amount > BUFFER_MAX:
        raise ValueRefused(f"{text!r} is too large", f"up to {BUFFER_MAX} {buffer.unit}")
    return buffer


def _size(text: str) -> int:
    try:
        return units.parse_size(text)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, f"bdp, packets, or {refused.allowed}") from None


def write_buffer(buffer: Buffer | None) -> str:
    return "none" if buffer is None else buffer_words(buffer)


BUFFER_ALLOWED = "bdp, packets, or a size in B, kB, KiB, MB, MiB, GB, GiB, such as '1 bdp', '100 packets' or '64 KiB'"
_JITTER = "a time such as 2 ms, or {sd: 2 ms, distribution: normal, reorder: true}"

JITTER = Kind(
    read_jitter,
    write_jitter,
    {
        "anyOf": [
            matching(units.TIME.pattern, "Uniform jitter that keeps the order, or none.", "2 ms", none=True),
            {"$ref": Jitter},
        ]
    },
    none="none",
)
BUFFER = Kind(
    read_buffer,
    write_buffer,
    matching(
        rf"{units.BDP_PATTERN}|{units.PACKETS.pattern}|{units.SIZE.pattern}",
        "What the drop-tail queue holds, or none.",
        "1 bdp",
        "100 packets",
        "64 KiB",
        none=True,
    ),
    none="none",
)


def _buffer_faults(link: Link) -> Iterator[Fault]:
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        if direction.buffer is not None and direction.buffer.unit == "bdp":
            lacking = [key for key, value in (("rate", direction.rate_bps), ("rtt", link.rtt_ns)) if not value]
            if lacking:
                what = f"a buffer in bdp is rate × round-trip time, and there is no {' and no '.join(lacking)}"
                yield Fault(("buffer", way), what, "a rate and an rtt on the link, or a buffer in packets or bytes")


def _delay_faults(link: Link) -> Iterator[Fault]:
    """Parts of a microsecond need a program of ours, which is on this computer."""
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        times = [direction.delay_ns, 0 if direction.jitter is None else direction.jitter.sd_ns]
        times += [value for each in link.schedule for name, value in getattr(each, way) if name == "delay_ns"]
        if link.emulator is not None and any(time_ns % TICK_NS for time_ns in times):
            what = f"the tc of {link.emulator} cuts off parts of a microsecond"
            yield Fault(("delay", way), what, "whole microseconds, or no emulator on a machine")


def _jitter_faults(link: Link) -> Iterator[Fault]:
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        if direction.jitter is not None and direction.jitter.sd_ns > direction.delay_ns:
            what = "the jitter is more than the one-way delay, and no packet can arrive before it is sent"
            yield Fault(("jitter", way), what, "a jitter up to the delay of that direction")


def _later_rate(value: object) -> int | None:
    if value == "none":
        raise ValueRefused("a schedule cannot remove a rate, because packets may be waiting for it", units.RATE.allowed)
    return read_rate(value)


def _later_buffer(value: object) -> Buffer:
    buffer = read_buffer(value)
    if buffer is None or buffer.unit == "bdp":
        raise ValueRefused("a buffer can change only to a number of packets or bytes", "such as 100 packets or 64 KiB")
    return buffer


def _no_faults(link: Link) -> Iterator[Fault]:
    return iter(())


@dataclass(frozen=True)
class FileField:
    """How files write an impairment.

    - `one`: the kind of a value for one direction; the word that it has for None is what trials call that on an axis.
    - `description`, `total_description`, `later_description`: for editors, of its key, of its total's, in a schedule.
    - `of_link`: the kind of a link's key; None is one value for both directions, or one for each.
    - `read_later`: reads a value in a schedule; None reads it as `one` does.
    - `faults`: what is wrong between it and the rest of a link; paths begin at the link.
    """

    one: Kind
    description: str = ""
    total_description: str = ""
    later_description: str = ""
    of_link: Kind | None = None
    read_later: Read | None = None
    faults: Callable[[Link], Iterator[Fault]] = _no_faults


_FIELDS: dict[str, FileField] = {
    "rate": FileField(LINK_RATE, read_later=_later_rate),
    "delay": FileField(
        DELAY,
        "The delay of one direction; instead of rtt.",
        "The round-trip time, split evenly between the directions; instead of delay.",
        faults=_delay_faults,
    ),
    "loss": FileField(LOSS, of_link=LINK_LOSS),
    "buffer": FileField(
        BUFFER,
        later_description="The size of the queue, in packets or bytes.",
        read_later=_later_buffer,
        faults=_buffer_faults,
    ),
    "jitter": FileField(JITTER, faults=_jitter_faults),
    "policy": FileField(POLICY, of_link=LINK_POLICY, faults=policy_faults),
    "down": FileField(
        fault.DOWN,
        "When the link is down; by hand: never by itself.",
        later_description="Whether the link is down.",
        read_later=fault.read_later_down,
    ),
    "ack_loss": FileField(fault.PICK, "Which pure ACKs are lost.", of_link=fault.LINK_ACK_LOSS),
    "corrupt": FileField(fault.PICK, "Which packets have a wrong bit when they arrive."),
    "duplicate": FileField(fault.PICK, "Which packets come twice."),
    "reorder": FileField(fault.REORDER, "Which packets come late.", faults=fault.reorder_faults),
    "aggregate": FileField(AGGREGATE, "Packets leave in bursts.", faults=fault.aggregate_faults),
    "shaper": FileField(
        SHAPER,
        "A token bucket that shapes: a rate while there is credit, the refill afterwards; the rest waits.",
        faults=shaper_faults,
    ),
    "policer": FileField(
        POLICER,
        "A token bucket that polices: what exceeds the rate and the burst is dropped.",
        faults=policer_faults,
    ),
    "trace": FileField(TRACE, "When the link can send, instead of a rate.", faults=trace_faults),
    "queue": FileField(
        QUEUE,
        "What holds the packets that wait for the rate, and when it drops or marks them; default: fifo.",
        later_description="Another parameter of the same type.",
        faults=queue_faults,
    ),
}


def titled(key: str) -> str:
    """A key as the beginning of a name in JSON Schema."""
    return key.title().replace("_", "")


FILE_FIELDS: dict[str, FileField] = {
    key: replace(row, one=replace(row.one, schema=shared(f"{titled(key)}Value", row.one.described())))
    for key, row in _FIELDS.items()
}
"""For each of IMPAIRMENTS, in the order in which files write them."""


def in_params(key: str, text: str) -> str:
    """What trials call a value of an axis that files would call so."""
    return (FILE_FIELDS[key].one.none or "none") if text == "none" and key in FILE_FIELDS else text
