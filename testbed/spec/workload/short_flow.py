"""Flows that arrive and end, as the tool `flow` writes them in a file: load, requests, rules. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...error import ValueRefused
from ...model.workload.arrival import TraceOfTimes
from ...model.workload.short_flow import REQUEST_BYTES, REQUEST_LEAST_BYTES, Requests, ShortFlowWorkload
from ..syntax.document import Fault
from ..syntax.field import matching, number
from ..syntax.file_model import FileModel
from ..syntax.scalar import byte_count, text_of, whole

LOAD_ALLOWED = "a share of the slowest link, such as 60 % or 0.6"
REQUEST_MAX_BYTES, CONNECTIONS_MAX = 1 << 20, 128
DRAIN_NS = 10 * 10**9


class RequestsFile(FileModel):
    """The receiver asks for each flow, and the sender answers."""

    size: Annotated[
        int,
        PlainValidator(byte_count(REQUEST_LEAST_BYTES, REQUEST_MAX_BYTES)),
        PlainSerializer(units.format_size),
        WithJsonSchema(matching(units.SIZE.pattern, "The size of a request.", "100 B")),
    ] = REQUEST_BYTES
    connections: Annotated[
        int | None,
        PlainValidator(lambda value: None if value == "new" else whole(1, CONNECTIONS_MAX)(value)),
        PlainSerializer(lambda count: count or "new"),
        WithJsonSchema(
            {"anyOf": [{"const": "new"}, number(1, CONNECTIONS_MAX, "How many stay open, and take requests in turn.")]}
        ),
    ] = None


def read_load(value: object) -> Fraction:
    share = units.parse_fraction(text_of(value, LOAD_ALLOWED))
    if not share:
        raise ValueRefused("a load of 0 is no flow at all", LOAD_ALLOWED)
    return share


LoadField = Annotated[
    Fraction,
    PlainValidator(read_load),
    PlainSerializer(units.format_fraction),
    WithJsonSchema(matching(units.FRACTION_PATTERN, "The load of the slowest link, in place of a rate.", "60 %")),
]

BULK = ("bytes", "flows", "window", "start", "leave_out", "writes")
"""Keys of flows that run all the time, or to a number of bytes."""
OWN = ("size", "load", "drain", "requests")
"""Keys of flows that arrive."""


def faults(file: Any) -> Iterator[Fault]:
    """What is wrong between the keys of a file with arrivals."""
    for key in BULK:
        if key in file.model_fields_set and getattr(file, key) != type(file).model_fields[key].default:
            yield Fault((key,), f"{key} is for flows that do not arrive one by one", f"arrivals, or {key}")
    for key in ("size", "duration"):
        if getattr(file, key) is None:
            example = "size: {cdf: web-search}" if key == "size" else "duration: 10 s"
            yield Fault((), f"flows that arrive need a {key}", f"a line such as '{example}'", named=True)
    if isinstance(file.congestion, tuple):
        yield Fault(("congestion",), "all flows that arrive have one congestion control", "one name, such as cubic")
    is_timed = isinstance(file.arrivals, TraceOfTimes)
    if file.load is not None and (is_timed or file.arrivals.rate is not None):
        what = "the arrivals have their own " + ("times" if is_timed else "rate")
        yield Fault(("load",), what, "no load, or arrivals without it, such as 'arrivals: poisson'", named=True)
    if file.load is None and not is_timed and file.arrivals.rate is None:
        yield Fault(("arrivals",), "nothing says how many arrive", "a rate, or a line such as 'load: 60 %'", named=True)


def workload(file: Any) -> ShortFlowWorkload:
    """The value, of keys without faults."""
    asked = file.requests
    return ShortFlowWorkload(
        source=file.source,
        destination=file.destination,
        arrivals=file.arrivals,
        sizes=file.size,
        duration_ns=file.duration,
        drain_ns=DRAIN_NS if file.drain is None else file.drain,
        load_share=file.load,
        congestion=file.congestion,
        rate_bps=file.rate,
        requests=None if asked is None else Requests(asked.size, asked.connections),
    )


def values(workload: ShortFlowWorkload) -> dict[str, Any]:
    """The keys of a value; `workload` is the way back. Those of other flows are not written."""
    asked = workload.requests
    return {
        "flows": None,
        "start": None,
        "source": workload.source,
        "destination": workload.destination,
        "arrivals": workload.arrivals,
        "size": workload.sizes,
        "duration": workload.duration_ns,
        "drain": workload.drain_ns,
        "load": workload.load_share,
        "congestion": workload.congestion,
        "rate": workload.rate_bps,
        "requests": None
        if asked is None
        else RequestsFile.model_construct(size=asked.size_bytes, connections=asked.connections),
    }
