"""How large the flows of a workload are: distributions of sizes, and the published ones. Pure, no I/O."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType

SIZE_MAX_BYTES = 10**12
"""No flow is larger: the tail of a Pareto distribution ends here, where even 10 Gbit/s take a quarter of an hour."""


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


@dataclass(frozen=True)
class Pareto(Sizes):
    """P(size > x) = (least / x)^shape, with least = mean × (shape − 1) / shape; `shape` is above 1."""

    pareto_mean_bytes: int
    shape: Fraction

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
