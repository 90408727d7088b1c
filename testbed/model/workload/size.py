"""How large the flows of a workload are: distributions of sizes, and the published ones. Pure, no I/O."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ... import units
from ...codec.keyed import Keyed, Kind, key, keyed, read
from ...codec.kind import LINES, SIZE, TEXT, matching, record
from ...codec.scalar import quantity, text_of
from ...error import ValueRefused, one_of
from .arrival import NUMBER, decimal, rows

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
