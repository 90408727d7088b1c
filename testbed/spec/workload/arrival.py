"""Arrival processes as files write them, converted to and from values. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...error import ValueRefused
from ...model.workload.arrival import Arrivals, OnOff, Poisson, TraceOfTimes
from ...model.workload.short_flow import ARRIVALS_MAX
from ..syntax.field import Lines, Span, Text, matching
from ..syntax.file_model import FileModel
from ..syntax.scalar import text_of

_ARRIVALS_ALLOWED = "a number of arrivals in a time, such as '5 /s' or '30 /min'"
_ARRIVALS_PATTERN = r"^\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*/\s*(s|min|h)\s*$"
_SECONDS = {"s": 1, "min": 60, "h": 3600}
ARRIVALS_ALLOWED = "poisson, {poisson: 200 /s}, {busy: 1 s, idle: 2 s, rate: 200 /s}, or {trace: FILE}"
TIMES_ALLOWED = "lines with a time in seconds each, from 0 and never falling"
SPELL_LEAST_NS = 1_000_000
NUMBER = r"[0-9]{1,12}(\.[0-9]{1,12})?"


def _arrivals(value: object) -> Fraction:
    """In a second."""
    text = text_of(value, _ARRIVALS_ALLOWED)
    match = re.fullmatch(_ARRIVALS_PATTERN, text)
    if match is None or not Fraction(match[1]):
        raise ValueRefused(f"{text!r} is not a rate of arrivals", _ARRIVALS_ALLOWED)
    return Fraction(match[1]) / _SECONDS[match[2]]


def _write_arrivals(arrivals: Fraction) -> str:
    """In the shortest time in which it is a decimal: every one that was read is."""
    for unit, seconds in _SECONDS.items():
        text = decimal(arrivals * seconds)
        if Fraction(text) == arrivals * seconds:
            return f"{text} /{unit}"
    raise AssertionError(f"BUG: {arrivals} arrivals in a second cannot be written")


def decimal(value: Fraction) -> str:
    """With up to nine places."""
    whole, rest = divmod(value.numerator * 10**9 // value.denominator, 10**9)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")


ArrivalRate = Annotated[
    Fraction,
    PlainValidator(_arrivals),
    PlainSerializer(_write_arrivals),
    WithJsonSchema(
        matching(_ARRIVALS_PATTERN, "How many flows begin per unit of time, on average.", "5 /s", "30 /min")
    ),
]


class PoissonFile(FileModel):
    """A Poisson process with its rate."""

    poisson: ArrivalRate


class OnOffFile(FileModel):
    """A Poisson process that comes and goes."""

    busy: Span = Field(description="How long flows arrive, on average; the times are exponential.")
    idle: Span = Field(description="How long none arrives, on average.")
    rate: ArrivalRate | None = Field(None, description="How many arrive per unit of time while it is busy.")


class TraceFile(FileModel):
    """Times from a file. `text` is what it says."""

    trace: Text = Field(description="A file with the time of an arrival on each line, in seconds.")
    text: Lines | None = None


def read_arrivals(value: object) -> Arrivals:
    if isinstance(value, Arrivals):
        return value
    if value == "poisson":
        return Poisson()
    if isinstance(value, dict) and "poisson" in value:
        return Poisson(PoissonFile.model_validate(value).poisson)
    if isinstance(value, dict) and value.keys() & {"busy", "idle"}:
        file = OnOffFile.model_validate(value)
        for key, span_ns in (("busy", file.busy), ("idle", file.idle)):
            if span_ns < SPELL_LEAST_NS:
                raise ValueRefused(f"{units.format_time(span_ns)} is too short", "1 ms and more", (key,))
        return OnOff(file.busy, file.idle, file.rate)
    if isinstance(value, dict) and "trace" in value:
        trace = TraceFile.model_validate(value)
        if trace.text is None:
            raise ValueRefused("the file was not read; an axis cannot name one", ARRIVALS_ALLOWED, ("trace",))
        return TraceOfTimes(trace.trace, _times_ns(trace.trace, trace.text))
    raise ValueRefused("these are no arrivals", ARRIVALS_ALLOWED)


def write_arrivals(arrivals: Arrivals | None) -> Any:
    match arrivals:
        case Poisson(rate=None):
            return "poisson"
        case Poisson():
            return PoissonFile.model_construct(poisson=arrivals.rate).written()
        case OnOff():
            return OnOffFile.model_construct(busy=arrivals.busy_ns, idle=arrivals.idle_ns, rate=arrivals.rate).written()
        case TraceOfTimes():
            text = "\n".join(f"{at_ns // 10**9}.{at_ns % 10**9:09}" for at_ns in arrivals.arrivals_ns)
            return {"trace": arrivals.file, "text": text}
    return None


def rows(name: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """The lines of a file of numbers that say something, as words, each with its place."""
    for line, row in enumerate(text.splitlines(), 1):
        words = row.partition("#")[0].split()
        if words:
            yield f"{name}:{line}", words


def _times_ns(name: str, text: str) -> tuple[int, ...]:
    found: list[int] = []
    for place, words in rows(name, text):
        if len(words) != 1 or not re.fullmatch(NUMBER, words[0]):
            raise ValueRefused(f"{place}: {' '.join(words)[:40]!r} is no time of an arrival", TIMES_ALLOWED, ("trace",))
        at_ns = round(Fraction(words[0]) * 10**9)
        if found and at_ns < found[-1]:
            raise ValueRefused(f"{place}: {words[0]} s is before the arrival above it", TIMES_ALLOWED, ("trace",))
        found.append(at_ns)
    if not 0 < len(found) <= ARRIVALS_MAX:
        raise ValueRefused(f"{name} has {len(found)} arrivals", f"1 to {ARRIVALS_MAX} of them", ("trace",))
    return tuple(found)


ArrivalsField = Annotated[
    Arrivals,
    PlainValidator(read_arrivals),
    PlainSerializer(write_arrivals),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "poisson"},
                *(each.model_json_schema() for each in (PoissonFile, OnOffFile, TraceFile)),
            ],
            "description": f"When flows begin: {ARRIVALS_ALLOWED}.",
        }
    ),
]
