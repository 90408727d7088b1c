"""A link's trace as a topology has it once its file was read, and what is wrong with one. Pure, no I/O.

`spec.trace_file` reads the files. A trace travels inside the topology, so that a trial can be repeated without its
file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .... import units
from ....codec.fault import Fault
from ....codec.keyed import Keyed, Kind, key, keyed, read
from ....codec.kind import TEXT
from ....error import ValueRefused
from ....model.link.trace import PACKET_BYTES, PERIOD_MAX_NS, RATE_MAX_BPS, RUNS_MAX, Trace
from ....model.topology import Link
from .bucket import down_faults

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
    """What a file says of a link, with a trace as the name of its file: for people."""
    if isinstance(written, dict) and OPPORTUNITIES in written:
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
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        if direction.trace is None:
            continue
        yield from down_faults(link, "trace", way)
        if direction.shaper is not None:
            yield Fault(("trace", way), "a trace and a shaper exclude each other", "one of the two")
        elif direction.rate_bps != direction.trace.rate_bps:
            yield Fault(("trace", way), "a trace and a rate exclude each other", "no rate on the link")
