"""What shapers, policers, caps of flows and traces become: queueing disciplines of ours, a patch of the lab kernel.

Pure, no I/O.

`kernel/lab/patches/` has them, and says in full what they do; `agent/native/qdisc.c` tells the kernel, as iproute2 does
not know them. Each is a parent of one queue, as tbf is, and exact in whole ns: a bucket keeps fractions of a byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from ...model.link.bucket import PerFlow, Policer, Shaper
from ...model.link.trace import MS, PACKET_BYTES, Run, Trace
from ..linux import OWN_QDISCS

Words: TypeAlias = tuple[str, ...]
Told: TypeAlias = Iterator[tuple[str, int, str]]
"""What netlink must report exactly: in words with the unit, how much, and its name for Qdisc.value()."""

SHAPER, POLICER, TRACE, PER_FLOW = OWN_QDISCS

NO_LIMIT_BYTES = 2**31
"""Nothing waits below a policer or the cap of a flow, unless the link has a rate, whose queue then takes the place of
this one."""


def shaper_words(shaper: Shaper, limit_bytes: int, burst_bytes: int) -> Words:
    """`burst_bytes` is the depth of the bucket of the line, as that of a tbf: the credit has one of its own."""
    numbers = {
        "limit": limit_bytes,
        "rate": shaper.rate_bps // 8,
        "burst": burst_bytes,
        "refill": shaper.refill_bps // 8,
        "credit": shaper.burst_bytes,
    }
    return (SHAPER, *_words(numbers))


def shaper_told(shaper: Shaper, burst_bytes: int) -> Told:
    yield "bucket of the line in bytes", burst_bytes, "burst"
    yield "refill in bytes/s", shaper.refill_bps // 8, "refill"
    yield "credit in bytes", shaper.burst_bytes, "credit"


def policer_words(policer: Policer) -> Words:
    numbers = {"limit": NO_LIMIT_BYTES, "refill": policer.rate_bps // 8, "credit": policer.burst_bytes}
    return (POLICER, *_words(numbers))


def policer_told(policer: Policer) -> Told:
    yield "rate of the policer in bytes/s", policer.rate_bps // 8, "refill"
    yield "burst of the policer in bytes", policer.burst_bytes, "credit"
    yield "queue of the policer in bytes", NO_LIMIT_BYTES, "limit"


def per_flow_words(cap: PerFlow, burst_bytes: int, flow_bytes: int) -> Words:
    """`burst_bytes` is the bucket of each flow; of each, `flow_bytes` wait at most, and 0 is a policer."""
    numbers = {"limit": NO_LIMIT_BYTES, "refill": cap.rate_bps // 8, "credit": burst_bytes, "bytes": flow_bytes}
    return (PER_FLOW, *_words(numbers))


def per_flow_told(cap: PerFlow, burst_bytes: int, flow_bytes: int) -> Told:
    yield "rate of each flow in bytes/s", cap.rate_bps // 8, "refill"
    yield "bucket of each flow in bytes", burst_bytes, "credit"
    if flow_bytes:
        yield "queue of each flow in bytes", flow_bytes, "bytes"
    yield "queue of all flows in bytes", NO_LIMIT_BYTES, "limit"


def trace_words(trace: Trace, limit_bytes: int) -> Words:
    tick = MS if trace.packed.startswith("ms") else 1
    numbers = {"limit": limit_bytes, "bytes": PACKET_BYTES, "period": trace.period_ns, "tick": tick}
    return (TRACE, *_words(numbers), "runs", ",".join(_runs(trace.runs, tick)), "start", "1")


def trace_told(trace: Trace) -> Told:
    yield "bytes of an opportunity", PACKET_BYTES, "bytes"
    yield "period of the trace in ns", trace.period_ns, "period"
    yield "runs of the trace", len(trace.runs), "count"
    yield "CRC-32 of the trace", trace.crc, "crc"
    yield "whether the trace has begun", 1, "start"


def begin_words() -> Words:
    """The trace begins anew, now."""
    return (TRACE, "start", "1")


def later(words: Words) -> Words:
    """The words of a change: the queue of a trace may become another one, the trace stays."""
    return words[:3] if words[:1] == (TRACE,) else words


def _words(numbers: dict[str, int]) -> Words:
    return tuple(word for name, number in numbers.items() for word in (name, str(number)))


def _runs(runs: tuple[Run, ...], tick: int) -> Iterator[str]:
    for before, run in pairwise((Run(0), *runs)):
        count = f"x{run.count}" if run.count > 1 else ""
        gap = f"+{run.gap}" if run.gap else ""
        yield f"{(run.at_ns - before.at_ns) // tick}{count}{gap}"
