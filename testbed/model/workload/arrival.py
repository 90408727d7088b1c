"""When the flows of a workload begin, and how large they are: arrival processes, distributions of sizes, the published
ones, and the draws from them. Pure, no I/O.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ... import units
from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, Kind, key, keyed, read
from ...codec.kind import LINES, SIZE, SPAN, TEXT, matching, record, sound
from ...codec.scalar import quantity, text_of
from ...error import ValueRefused, one_of

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


SIZE_MAX_BYTES = 10**12
"""No flow is larger: the tail of a Pareto distribution ends here, where even 10 Gbit/s take a quarter of an hour."""


SIZE_ALLOWED = "a size such as 10 KiB, {pareto: {mean: 100 kB, shape: 1.2}}, or {cdf: web-search}"
POINTS_ALLOWED = "lines of 'BYTES SHARE', both rising, the last share 1"
_SHAPE_ALLOWED = "a number from more than 1 to 10, such as 1.2"
_DECIMAL = r"[0-9]{1,3}(\.[0-9]{1,9})?"


def _shape(value: object) -> Fraction:
    text = text_of(value, _SHAPE_ALLOWED)
    if not re.fullmatch(_DECIMAL, text) or not 1 < Fraction(text) <= 10:
        raise ValueRefused(f"{text!r} is not the shape of a Pareto distribution that has a mean", _SHAPE_ALLOWED)
    return Fraction(text)


SHAPE = Kind(
    _shape,
    decimal,
    {"anyOf": [{"type": "number", "exclusiveMinimum": 1, "maximum": 10}, {"type": "string"}]},
)


class Sizes(ABC):
    """A distribution of sizes."""

    @property
    @abstractmethod
    def mean_bytes(self) -> float:
        """Of the distribution, not of a draw."""

    @abstractmethod
    def at(self, share: float) -> int:
        """The quantile at a share from 0 to 1 (without 1): at least 1 byte, at most SIZE_MAX_BYTES."""

    def draw(self, random: random.Random) -> int:
        """One size, by inversion: one number is drawn for each, whichever the distribution is."""
        return self.at(random.random())


@dataclass(frozen=True)
class Fixed(Sizes):
    """All flows have `size_bytes`."""

    size_bytes: int

    @property
    def mean_bytes(self) -> float:
        return float(self.size_bytes)

    def at(self, share: float) -> int:
        return self.size_bytes


@keyed
class Pareto(Sizes, Keyed):
    """A Pareto distribution of sizes.

    P(size > x) = (least / x)^shape, with least = mean × (shape − 1) / shape; `shape` is above 1.
    """

    pareto_mean_bytes: int = key("mean", SIZE)
    shape: Fraction = key(
        "shape",
        SHAPE,
        "The shape of the Pareto distribution; a smaller one has a heavier tail.",
        default=Fraction(6, 5),
    )

    @property
    def mean_bytes(self) -> float:
        return float(self.pareto_mean_bytes)

    def at(self, share: float) -> int:
        shape = float(self.shape)
        least = self.pareto_mean_bytes * (shape - 1) / shape
        return _whole(least * (1.0 - share) ** (-1 / shape))


@dataclass(frozen=True)
class Cdf(Sizes):
    """A distribution function by its points: (bytes, share of the flows up to this size), both rising, the last share
    1. Between two points it is linear; the share of the first point has just that size. `name` is that of a published
    one, or of the file with the points.
    """

    name: str
    points: tuple[tuple[int, Fraction], ...]

    @property
    def mean_bytes(self) -> float:
        first = self.points[0][0] * self.points[0][1]
        rest = (Fraction(low + high, 2) * (after - before) for (low, before), (high, after) in pairwise(self.points))
        return float(first + sum(rest))

    def at(self, share: float) -> int:
        found = bisect_left(self.points, share, key=lambda point: float(point[1]))
        high_bytes, after = self.points[min(found, len(self.points) - 1)]
        if found == 0:
            return _whole(high_bytes)
        low_bytes, before = self.points[found - 1]
        return _whole(low_bytes + (high_bytes - low_bytes) * (share - float(before)) / float(after - before))


def _whole(size: float) -> int:
    return min(SIZE_MAX_BYTES, max(1, round(size)))


def _published(name: str, points: Mapping[int, str]) -> tuple[str, Cdf]:
    return name, Cdf(name, tuple((size, Fraction(share)) for size, share in points.items()))


PUBLISHED: Mapping[str, Cdf] = MappingProxyType(
    dict(
        (
            _published(
                "web-search",
                {
                    0: "0",
                    10_000: "0.15",
                    20_000: "0.2",
                    30_000: "0.3",
                    50_000: "0.4",
                    80_000: "0.53",
                    200_000: "0.6",
                    1_000_000: "0.7",
                    2_000_000: "0.8",
                    5_000_000: "0.9",
                    10_000_000: "0.97",
                    30_000_000: "1",
                },
            ),
            _published(
                "data-mining",
                {
                    0: "0",
                    180: "0.1",
                    216: "0.2",
                    560: "0.3",
                    900: "0.4",
                    1_100: "0.5",
                    1_870: "0.6",
                    3_160: "0.7",
                    10_000: "0.8",
                    400_000: "0.9",
                    3_160_000: "0.95",
                    100_000_000: "0.98",
                    1_000_000_000: "1",
                },
            ),
        )
    )
)
"""Sizes of flows in data centres, with the points that load generators commonly read off the published figures.

web-search: Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4. data-mining: Greenberg et al., VL2,
SIGCOMM 2009, figure 2. Both are the workloads of Alizadeh et al., pFabric, SIGCOMM 2013, figure 4.
"""


PARETO = record(Pareto)


@keyed
class ParetoKeys(Keyed):
    """A Pareto distribution."""

    pareto: Pareto = key("pareto", PARETO)


@keyed
class CdfKeys(Keyed):
    """A distribution by its points. `text` is what the file says, if it is none of the published ones."""

    cdf: str = key("cdf", TEXT, f"{', '.join(PUBLISHED)}, or a file with lines of 'BYTES SHARE'.")
    text: str | None = key("text", LINES, "What the file says; default: read from it.", default=None)


def read_sizes(value: object) -> Sizes:
    if isinstance(value, Sizes):
        return value
    if isinstance(value, dict) and "pareto" in value:
        return read(ParetoKeys, value).pareto
    if isinstance(value, dict) and "cdf" in value:
        file = read(CdfKeys, value)
        if file.text is not None:
            return Cdf(file.cdf, _points(file.cdf, file.text))
        if file.cdf not in PUBLISHED:
            what = f"{file.cdf!r} is no published distribution, and no file that was read"
            raise ValueRefused(what, f"{one_of([*PUBLISHED], file.cdf)}; a file only outside of axes", ("cdf",))
        return PUBLISHED[file.cdf]
    if isinstance(value, dict):
        raise ValueRefused("this is no distribution of sizes", SIZE_ALLOWED)
    size_bytes = quantity(units.parse_size, SIZE_ALLOWED, low=1)(value)
    if size_bytes is None or size_bytes > SIZE_MAX_BYTES:
        raise ValueRefused(f"{value!r} is too large", f"up to {units.format_size(SIZE_MAX_BYTES)}")
    return Fixed(size_bytes)


def write_sizes(sizes: Sizes | None) -> Any:
    match sizes:
        case Fixed():
            return units.format_size(sizes.size_bytes)
        case Pareto():
            return ParetoKeys(sizes).written()
        case Cdf() if PUBLISHED.get(sizes.name) == sizes:
            return {"cdf": sizes.name}
        case Cdf():
            return {"cdf": sizes.name, "text": "\n".join(f"{size} {_share(share)}" for size, share in sizes.points)}
    return None


def _points(name: str, text: str) -> tuple[tuple[int, Fraction], ...]:
    found: list[tuple[int, Fraction]] = []
    for place, words in rows(name, text):
        if len(words) != 2 or not re.fullmatch(r"[0-9]{1,13}", words[0]) or not re.fullmatch(rf"{NUMBER}%?", words[1]):
            raise ValueRefused(f"{place}: {' '.join(words)[:40]!r} is no point", POINTS_ALLOWED, ("cdf",))
        point = (int(words[0]), Fraction(words[1].rstrip("%")) / (100 if words[1].endswith("%") else 1))
        if point[0] > SIZE_MAX_BYTES or point[1] > 1:
            raise ValueRefused(f"{place}: {' '.join(words)} is out of range", POINTS_ALLOWED, ("cdf",))
        found.append(point)
    for low, high in pairwise(found):
        if not (low[0] < high[0] and low[1] < high[1]):
            what = f"{name}: the point {low[0]} {float(low[1]):g} does not rise to {high[0]} {float(high[1]):g}"
            raise ValueRefused(what, POINTS_ALLOWED, ("cdf",))
    if not found or found[-1][1] != 1 or found[-1][0] < 1:
        raise ValueRefused(f"{name} does not end at a share of 1", POINTS_ALLOWED, ("cdf",))
    return tuple(found)


def _share(share: Fraction) -> str:
    return units.format_fraction(share).replace(" %", "%")


SIZES = Kind(
    read_sizes,
    write_sizes,
    {
        "anyOf": [
            matching(units.SIZE.pattern, "The size of every flow.", "10 KiB"),
            {
                "type": "object",
                "properties": {"pareto": {"$ref": Pareto}},
                "required": ["pareto"],
                "additionalProperties": False,
            },
            {"$ref": CdfKeys},
        ],
        "description": f"How large flows are: {SIZE_ALLOWED}.",
    },
)
