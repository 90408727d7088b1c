"""How files write each impairment: FILE_FIELDS, from which `impaired` makes the keys of links; the keys of loss and of
traces, and what is wrong between one of them and the rest of a link. Pure, no I/O.

`spec.trace_file` reads the files of traces. A trace travels inside the topology, so that a trial can be repeated
without its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .... import units
from ....codec.fault import Fault
from ....codec.frozen import dataclass
from ....codec.keyed import Keyed, Kind, key, keyed, read
from ....codec.kind import TEXT, matching, record, sound
from ....codec.scalar import text_of
from ....codec.schema import shared
from ....error import ValueRefused, one_of
from ....model.link.bucket import POLICER, SHAPER
from ....model.link.buffer import Buffer
from ....model.link.extent import DELAY, LINK_RATE, TICK_NS, read_rate
from ....model.link.fault import AGGREGATE
from ....model.link.impairment import (
    EVERY_MAX,
    EVERY_MIN,
    GilbertElliott,
    Jitter,
    Loss,
    PeriodicLoss,
    RandomLoss,
)
from ....model.link.trace import PACKET_BYTES, PERIOD_MAX_NS, RATE_MAX_BPS, RUNS_MAX, Trace
from ....model.topology import Link
from . import fault
from .buffer import BUFFER, read_buffer
from .direction import of_data
from .per_flow import PER_FLOW, down_faults, per_flow_faults
from .policy import LINK_POLICY, POLICY, policy_faults
from .queue import QUEUE, queue_faults


def shaper_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a shaper and the rest of a link; paths begin at the link."""
    for way, direction in link.directions:
        shaper = direction.shaper
        if shaper is None:
            continue
        yield from down_faults(link, "shaper", way)
        if direction.rate_bps != shaper.rate_bps:
            what = "the shaper has a rate of its own, and the link has another one"
            yield Fault(("shaper", way), what, "no rate on the link")
        if shaper.burst_bytes < link.mtu_bytes + 14:
            yield Fault(("shaper", way), "a full packet is larger than the burst", f"{link.mtu_bytes + 14} B or more")


def policer_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a policer and the rest of a link; paths begin at the link."""
    for way, direction in link.directions:
        policer = direction.policer
        if policer is None:
            continue
        if policer.burst_bytes < link.mtu_bytes + 14:
            what = "a full packet is larger than the burst, and none would pass"
            yield Fault(("policer", way), what, f"{link.mtu_bytes + 14} B or more")
        if direction.rate_bps is not None and direction.rate_bps <= policer.rate_bps and direction.trace is None:
            what = f"the link itself carries no more than {units.format_rate(direction.rate_bps)}"
            yield Fault(("policer", way), f"{what}: nothing would be policed", "a rate below that of the link")


@keyed
class Chain(Keyed):
    """Loss in bursts."""

    chain: GilbertElliott = key("gilbert-elliott", record(GilbertElliott))

    def faults(self) -> Iterator[Fault]:
        yield from (fault.under("gilbert-elliott") for fault in self.chain.faults())


LOSSES: dict[str, type[Keyed]] = {"every": PeriodicLoss, "random": RandomLoss, "gilbert-elliott": Chain}
"""The forms of loss that are mappings, by the key that tells them apart."""

LOSS_ALLOWED = "none, 1 in X, 1 % (at random), {every: X, phase: …}, {random: 0.1 %}, {gilbert-elliott: {p: …, r: …}}"


def read_loss(value: object) -> Loss | None:
    if isinstance(value, dict):
        form = next((LOSSES[str(key)] for key in value if key in LOSSES), None)
        if form is None:
            raise ValueRefused(
                f"there is no kind of loss {', '.join(value) or '{}'}",
                one_of([*LOSSES], next(iter(value), "")),
            )
        found: Any = sound(form, value)
        return found.chain if isinstance(found, Chain) else found
    text = text_of(value, LOSS_ALLOWED)
    if text == "none":
        return None
    if text.rstrip().endswith("%"):
        share: Any = sound(RandomLoss, {"random": text})
        return share  # type: ignore[no-any-return]
    try:
        every = units.parse_one_in(text)
    except ValueRefused:
        raise ValueRefused(f"{text!r} does not say which packets are lost", LOSS_ALLOWED) from None
    if not EVERY_MIN <= every <= EVERY_MAX:
        what = "would drop every packet" if every == 1 else "is out of range"
        raise ValueRefused(f"{text!r} {what}", f"1 in {EVERY_MIN} to 1 in {EVERY_MAX}")
    return PeriodicLoss(every)


def write_loss(loss: Loss | None) -> Any:
    if loss is None:
        return "none"
    if isinstance(loss, PeriodicLoss):
        return loss.written() if loss.phase else units.format_one_in(loss.every)
    return (Chain(loss) if isinstance(loss, GilbertElliott) else loss).written()


_SCALAR = matching(
    rf"{units.ONE_IN_PATTERN}|{units.SHARE_PATTERN}",
    "1 in X, or a share at random, for the direction of the data; or none.",
    "1 in 10000",
    "1 %",
    none=True,
)
_ABOUT = f"Packet loss: {LOSS_ALLOWED}."
LOSS = Kind(
    read_loss,
    write_loss,
    {"anyOf": [_SCALAR, *({"$ref": form} for form in LOSSES.values())], "description": _ABOUT},
    none="none",
)
LINK_LOSS = of_data(LOSS, _ABOUT, "LinkLoss")


TRACE_ALLOWED = "a file with a trace, relative to the folder of this file, or none"
OPPORTUNITIES = "opportunities"
MTU_BYTES = 1500

_PACKED = re.compile(r"ms( [0-9]{1,9}(x[0-9]{1,9})?)+|ns( [0-9]{1,15}:[0-9]{1,12})+")


@keyed
class TraceKeys(Keyed):
    """A trace that was read from a file."""

    file: str = key("file", TEXT, "The name of the file that it was read from.")
    opportunities: str = key("opportunities", TEXT, "When it can send: see model/link/trace.py.")


def _read(value: object) -> Trace | None:
    if value == "none":
        return None
    if isinstance(value, str):
        raise ValueRefused(f"the file {value!r} was not read", TRACE_ALLOWED)
    if not isinstance(value, dict):
        raise ValueRefused("this is not a trace", TRACE_ALLOWED)
    found = read(TraceKeys, value)
    return made(found.file, found.opportunities)


def _write(trace: Trace | None) -> Any:
    return "none" if trace is None else {"file": trace.name, OPPORTUNITIES: trace.packed}


def short(written: Any) -> Any:
    """What a file says of a link, with a trace or a table as the name of its file: for people."""
    if isinstance(written, dict) and (OPPORTUNITIES in written or written.keys() == {"file", "rows"}):
        return written["file"]
    return {key: short(value) for key, value in written.items()} if isinstance(written, dict) else written


def made(name: str, packed: str) -> Trace:
    """The trace. Raises ValueRefused for one that no link can follow."""
    if not _PACKED.fullmatch(packed) or packed.count(" ") > RUNS_MAX:
        raise ValueRefused("these are no opportunities of a trace", f"up to {RUNS_MAX} of different times, or rows")
    if packed.startswith("ns") and any(int(row.split(":")[1]) > RATE_MAX_BPS for row in packed.split(" ")[1:]):
        raise ValueRefused("a rate is too high", f"up to {units.format_rate(RATE_MAX_BPS)}")
    trace = Trace(name, packed)
    if not 0 < trace.period_ns <= PERIOD_MAX_NS:
        length = units.format_time(trace.period_ns)
        raise ValueRefused(f"the trace is {length} long", f"more than 0 and up to {units.format_time(PERIOD_MAX_NS)}")
    if not trace.opportunities:
        raise ValueRefused("nothing can ever be sent", "an opportunity, or a rate that brings one")
    if trace.rate_bps * MTU_BYTES > RATE_MAX_BPS * PACKET_BYTES and packed.startswith("ms"):
        mean, most = map(units.format_rate, (trace.rate_bps * MTU_BYTES // PACKET_BYTES, RATE_MAX_BPS))
        raise ValueRefused(f"its packets of {MTU_BYTES} bytes are {mean} on average", f"up to {most}")
    return trace


TRACE = Kind(
    _read,
    _write,
    {
        "anyOf": [
            {
                "type": "string",
                "description": "A file with a trace, in the format of Mahimahi or a table of times and rates.",
                "examples": ["traces/fading.trace"],
            },
            {"$ref": TraceKeys},
        ]
    },
    none="none",
)


def trace_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a trace and the rest of a link; paths begin at the link."""
    for way, direction in link.directions:
        if direction.trace is None:
            continue
        yield from down_faults(link, "trace", way)
        if direction.shaper is not None:
            yield Fault(("trace", way), "a trace and a shaper exclude each other", "one of the two")
        elif direction.rate_bps != direction.trace.rate_bps:
            yield Fault(("trace", way), "a trace and a rate exclude each other", "no rate on the link")


Read = Callable[[Any], Any]


def read_jitter(value: object) -> Any:
    if value == "none":
        return None
    return sound(Jitter, value if isinstance(value, dict) else {"most": text_of(value, _JITTER)})


def write_jitter(jitter: Jitter | None) -> Any:
    if jitter is None:
        return "none"
    return units.format_time(jitter.netem_ns) if jitter.is_plain else jitter.written()


_JITTER = "a time such as 2 ms, or {sd: 2 ms, distribution: normal, reorder: true}"

JITTER = Kind(
    read_jitter,
    write_jitter,
    {
        "anyOf": [
            matching(
                units.TIME.pattern,
                "Uniform jitter of up to so much less and more, which keeps the order, or none.",
                "2 ms",
                none=True,
            ),
            {"$ref": Jitter},
        ]
    },
    none="none",
)


def _buffer_faults(link: Link) -> Iterator[Fault]:
    for way, direction in link.directions:
        if direction.buffer is not None and direction.buffer.unit == "bdp":
            lacking = [key for key, value in (("rate", direction.rate_bps), ("rtt", link.rtt_ns)) if not value]
            if lacking:
                what = f"a buffer in bdp is rate × round-trip time, and there is no {' and no '.join(lacking)}"
                yield Fault(("buffer", way), what, "a rate and an rtt on the link, or a buffer in packets or bytes")


def _delay_faults(link: Link) -> Iterator[Fault]:
    """Parts of a microsecond need a program of ours, which is on this computer."""
    for way, direction in link.directions:
        times = [direction.delay_ns, 0 if direction.jitter is None else direction.jitter.netem_ns]
        times += [value for each in link.schedule for name, value in getattr(each, way) if name == "delay_ns"]
        if link.emulator is not None and any(time_ns % TICK_NS for time_ns in times):
            what = f"the tc of {link.emulator} cuts off parts of a microsecond"
            yield Fault(("delay", way), what, "whole microseconds, or no emulator on a machine")


def _jitter_faults(link: Link) -> Iterator[Fault]:
    for way, direction in link.directions:
        if direction.jitter is not None and direction.jitter.is_more_than(direction.delay_ns):
            jitter = direction.jitter
            as_asked = jitter.netem_ns in (jitter.sd_ns, jitter.most_ns)
            said = "" if as_asked else f" ({units.format_time(jitter.netem_ns)} for netem)"
            what = f"the jitter{said} is more than the one-way delay, and no packet can arrive before it is sent"
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
    "per_flow": FileField(
        PER_FLOW,
        "The most that each flow of the same addresses, protocol and ports gets, by default in a queue of its own.",
        faults=per_flow_faults,
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
