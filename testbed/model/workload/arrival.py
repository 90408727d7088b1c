"""When the flows of a workload begin: arrival processes, and the draw of their times. Pure, no I/O."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ... import units
from ...codec.fault import Fault
from ...codec.keyed import Keyed, Kind, key, keyed, read
from ...codec.kind import LINES, SPAN, TEXT, matching, sound
from ...codec.scalar import text_of
from ...error import ValueRefused

SECOND_NS = 10**9
ARRIVALS_MAX = 100_000
"""The most flows of a trial. Each is a line of its schedule, and a row of its table."""
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


ARRIVAL_RATE = Kind(
    _arrivals,
    _write_arrivals,
    matching(_ARRIVALS_PATTERN, "How many flows begin per unit of time, on average.", "5 /s", "30 /min"),
)


class Arrivals(ABC):
    """An arrival process. `rate` is that of the process, in a second; None if a load says it, or a file the times."""

    rate: Fraction | None

    @property
    @abstractmethod
    def share(self) -> float:
        """Of the time in which flows arrive at this rate."""

    @abstractmethod
    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        """The times of arrivals before `until_ns` after the start, in order."""

    def mean_count(self, until_ns: int) -> float | None:
        """How many flows arrive before `until_ns`, on average; None if only a load tells it."""
        return None if self.rate is None else float(self.rate) * self.share * until_ns / SECOND_NS


@dataclass(frozen=True)
class Poisson(Arrivals):
    """A Poisson process: the times between arrivals are exponential. For each rate they are the same but for their
    scale.
    """

    rate: Fraction | None = None

    share = 1.0

    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        assert rate is not None, "BUG: a Poisson process without a rate"
        at_ns = 0.0
        while (at_ns := at_ns + draw.expovariate(1.0) / rate * SECOND_NS) < until_ns:
            yield int(at_ns)


@keyed
class OnOff(Arrivals, Keyed):
    """A Poisson process that comes and goes.

    It is of `rate` while it is busy, nothing while it is idle, both for exponential times with these
    means. At the start it is busy with the probability of its share of the time, which is its steady state.
    """

    DEFINITION = "OnOffArrivals"

    busy_ns: int = key("busy", SPAN, "How long flows arrive, on average; the times are exponential.")
    idle_ns: int = key("idle", SPAN, "How long none arrives, on average.")
    rate: Fraction | None = key(
        "rate", ARRIVAL_RATE, "How many arrive per unit of time while it is busy.", default=None
    )

    def faults(self) -> Iterator[Fault]:
        for name, span_ns in (("busy", self.busy_ns), ("idle", self.idle_ns)):
            if span_ns < SPELL_LEAST_NS:
                yield Fault((name,), f"{units.format_time(span_ns)} is too short", "1 ms and more", named=True)

    @property
    def share(self) -> float:
        return self.busy_ns / (self.busy_ns + self.idle_ns)

    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        """It has no memory, so the first gap of a spell is drawn anew."""
        assert rate is not None, "BUG: an on-off process without a rate"
        is_busy, begin_ns = draw.random() < self.share, 0.0
        while begin_ns < until_ns:
            end_ns = begin_ns + draw.expovariate(1.0) * (self.busy_ns if is_busy else self.idle_ns)
            at_ns = begin_ns
            while is_busy and (at_ns := at_ns + draw.expovariate(1.0) / rate * SECOND_NS) < min(end_ns, until_ns):
                yield int(at_ns)
            begin_ns, is_busy = end_ns, not is_busy


@dataclass(frozen=True)
class TraceOfTimes(Arrivals):
    """Arrivals at the times of a file, whatever the seed."""

    file: str
    arrivals_ns: tuple[int, ...]

    rate = None
    share = 1.0

    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        return (at_ns for at_ns in self.arrivals_ns if at_ns < until_ns)

    def mean_count(self, until_ns: int) -> float:
        return float(sum(at_ns < until_ns for at_ns in self.arrivals_ns))


@keyed
class PoissonKeys(Keyed):
    """A Poisson process with its rate."""

    poisson: Fraction = key("poisson", ARRIVAL_RATE)


@keyed
class TimesKeys(Keyed):
    """Times from a file. `text` is what it says."""

    trace: str = key("trace", TEXT, "A file with the time of an arrival on each line, in seconds.")
    text: str | None = key("text", LINES, "What the file says; default: read from it.", default=None)


def read_arrivals(value: object) -> Arrivals:
    if isinstance(value, Arrivals):
        return value
    if value == "poisson":
        return Poisson()
    if isinstance(value, dict) and "poisson" in value:
        return Poisson(read(PoissonKeys, value).poisson)
    if isinstance(value, dict) and value.keys() & {"busy", "idle"}:
        return sound(OnOff, value)
    if isinstance(value, dict) and "trace" in value:
        trace = read(TimesKeys, value)
        if trace.text is None:
            raise ValueRefused("the file was not read; an axis cannot name one", ARRIVALS_ALLOWED, ("trace",))
        return TraceOfTimes(trace.trace, _times_ns(trace.trace, trace.text))
    raise ValueRefused("these are no arrivals", ARRIVALS_ALLOWED)


def write_arrivals(arrivals: Arrivals | None) -> Any:
    match arrivals:
        case Poisson(rate=None):
            return "poisson"
        case Poisson(rate=Fraction() as rate):
            return PoissonKeys(rate).written()
        case OnOff():
            return arrivals.written()
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


ARRIVALS = Kind(
    read_arrivals,
    write_arrivals,
    {
        "anyOf": [{"const": "poisson"}, {"$ref": PoissonKeys}, {"$ref": OnOff}, {"$ref": TimesKeys}],
        "description": f"When flows begin: {ARRIVALS_ALLOWED}.",
    },
)
