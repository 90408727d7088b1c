"""The throughput profile: throughput over RTT, and where it is concave or convex. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from ..codec.frozen import dataclass
from . import statistic
from .distribution import t_quantile
from .statistic import LEVEL, Estimate, FloatArray, Values

Limit: TypeAlias = Literal["at least", "at most"]
Bend: TypeAlias = Literal["concave", "convex", "straight"]
Triple: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class ThroughputProfile:
    """Theta(tau): the mean over time and repetitions of the aggregate throughput at each RTT.

    Phanekham et al., Throughput Analytics of Cloud Networks, eq. (1). `rtt_s` is the round trip, strictly
    increasing; `mean_bps` is 0 or more. `samples_bps` holds, for each RTT, the repetitions behind the mean,
    and is empty where only the mean is known, as in a published profile. At the RTTs in `exact` nothing is random, so
    that the mean has no error. Raises ValueError.
    """

    rtt_s: tuple[float, ...]
    mean_bps: tuple[float, ...]
    samples_bps: tuple[tuple[float, ...], ...]
    exact: frozenset[float] = frozenset()

    def __post_init__(self) -> None:
        rtt, mean = statistic.paired(self.rtt_s, self.mean_bps)
        if rtt[0] < 0 or (np.diff(rtt) <= 0).any():
            raise ValueError("the RTTs of a profile are not 0 or more and strictly increasing")
        if (mean < 0).any():
            raise ValueError(f"the throughput at {rtt[int(np.argmax(mean < 0))]} s is negative")
        if len(self.samples_bps) != len(rtt):
            raise ValueError(f"{len(rtt)} RTTs cannot have {len(self.samples_bps)} groups of samples")
        for at, mean_bps, samples in zip(rtt, mean, self.samples_bps, strict=True):
            if samples and not np.isclose(statistic.mean(samples), mean_bps, rtol=1e-9, atol=0):
                raise ValueError(f"the mean at {at} s is {mean_bps}, but its samples have another mean")

    @classmethod
    def of_samples(
        cls, samples_bps: Mapping[float, Values], exact: frozenset[float] = frozenset()
    ) -> ThroughputProfile:
        """From the repetitions at each RTT in seconds; at least one for each."""
        rows = [(rtt, statistic.checked(samples_bps[rtt])) for rtt in sorted(samples_bps)]
        return cls(
            tuple(float(rtt) for rtt, _ in rows),
            tuple(float(samples.mean()) for _, samples in rows),
            tuple(tuple(samples.tolist()) for _, samples in rows),
            exact,
        )

    @classmethod
    def of_means(cls, mean_bps: Mapping[float, float]) -> ThroughputProfile:
        """From the mean at each RTT in seconds, if the repetitions are not known."""
        rtts = sorted(mean_bps)
        means = tuple(float(mean_bps[rtt]) for rtt in rtts)
        return cls(tuple(float(rtt) for rtt in rtts), means, tuple(() for _ in rtts))

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The mean at each RTT with its error; a mean without samples is a constant."""
        return tuple(
            statistic.estimate(samples) if samples and rtt not in self.exact else Estimate.constant(mean)
            for rtt, samples, mean in zip(self.rtt_s, self.samples_bps, self.mean_bps, strict=True)
        )

    def scaled(self, factor: float) -> ThroughputProfile:
        """Every throughput times a factor above 0."""
        return ThroughputProfile(
            self.rtt_s,
            tuple(mean * factor for mean in self.mean_bps),
            tuple(tuple(each * factor for each in samples) for samples in self.samples_bps),
            self.exact,
        )

    def at(self, rtt_s: Values) -> FloatArray:
        """The means at other RTTs, with straight lines between the points; ValueError outside the range."""
        wanted = statistic.checked(rtt_s)
        outside = wanted[(wanted < self.rtt_s[0]) | (wanted > self.rtt_s[-1])]
        if len(outside):
            raise ValueError(f"{outside[0]} s is outside {self.rtt_s[0]} s to {self.rtt_s[-1]} s")
        return np.interp(wanted, self.rtt_s, self.mean_bps)


@dataclass(frozen=True)
class Reference:
    """A published throughput above 0: its mean with the error that chance left, a constant where no error is printed.

    `off_bps` is how far the number may be from that mean for other reasons: rounding, or reading it off a figure. With
    `limit`, the throughput is at least, or at most, the number.
    """

    mean: Estimate
    off_bps: float = 0.0
    limit: Limit | None = None

    @property
    def share_off(self) -> float:
        return self.off_bps / self.mean.value

    def scaled(self, factor: float) -> Reference:
        error = None if self.mean.error is None else self.mean.error * factor
        return Reference(
            Estimate(self.mean.value * factor, error, self.mean.freedom), self.off_bps * factor, self.limit
        )


Published: TypeAlias = Mapping[float, Reference]
"""Published throughputs by RTT in s, in this order."""

Limits: TypeAlias = Sequence[tuple[float, Reference]]
"""Published limits of the throughput, each at an RTT in s."""


@dataclass(frozen=True)
class Stretch:
    """Neighbouring RTTs over which the profile bends in one way, or within the noise does not bend."""

    from_rtt_s: float
    to_rtt_s: float
    bend: Bend


def stretches(profile: ThroughputProfile, margin_bps: float = 0.0, level: float = LEVEL) -> tuple[Stretch, ...]:
    """Divides the profile into the fewest concave, convex and straight stretches.

    By the chord test (Phanekham et al., section IV) on every three points of a stretch: concave if no middle
    point lies below the chord of the outer two by more than the margin and one lies above it by more;
    convex if the reverse holds; straight if all are within. The margin is the larger of `margin_bps` and the
    noise: Welch's t of that distance, from the repetitions at the three points, such that a straight profile
    shows no bend in `level` of cases (Bonferroni over the triples). Points with fewer than two repetitions
    count as free of noise. Neighbouring stretches share the segment in which the bend changes.

    A profile of two points is one straight stretch. Raises ValueError for a single point.
    """
    if len(profile.rtt_s) < 2:
        raise ValueError("a single RTT has no shape; at least 2 are needed")
    signs = _chord_tests(profile, margin_bps, level)
    parts, start, last = [], 0, len(profile.rtt_s) - 1
    while True:
        end = min(start + 2, last)
        while end < last and _bend(signs, start, end + 1) is not None:
            end += 1
        bend = _bend(signs, start, end)
        assert bend is not None, "BUG: three points are concave and convex"
        parts.append(Stretch(profile.rtt_s[start], profile.rtt_s[end], bend))
        if end == last:
            return tuple(parts)
        start = end - 1


def _bend(signs: Mapping[Triple, int], start: int, end: int) -> Bend | None:
    """How the points from start to end bend; None if some triples are concave and others convex."""
    seen = {sign for (a, _, c), sign in signs.items() if a >= start and c <= end} - {0}
    if len(seen) == 2:
        return None
    return "straight" if not seen else "concave" if 1 in seen else "convex"


def _chord_tests(profile: ThroughputProfile, margin_bps: float, level: float) -> dict[Triple, int]:
    """For each three points: 1 if the middle one is above the chord by more than the margin, -1 if below."""
    triples = [*combinations(range(len(profile.rtt_s)), 3)]
    return {each: _chord_test(profile, each, margin_bps, (1 - level) / len(triples)) for each in triples}


def _chord_test(profile: ThroughputProfile, triple: Triple, margin_bps: float, chance: float) -> int:
    rtt = np.array([profile.rtt_s[index] for index in triple])
    mean = np.array([profile.mean_bps[index] for index in triple])
    weight = (rtt[2] - rtt[1]) / (rtt[2] - rtt[0])
    factors = np.array([-weight, 1, weight - 1])
    above = float(factors @ mean)
    noise = _welch_margin([profile.samples_bps[index] for index in triple], factors, chance)
    margin = max(margin_bps, noise, 1e-12 * float(mean.max()))  # the last is rounding
    return int(above > margin) - int(above < -margin)


def _welch_margin(groups: list[tuple[float, ...]], factors: FloatArray, chance: float) -> float:
    """The margin that noise in a weighted sum of the groups' means exceeds with this chance, on either side."""
    many = [(factor, group) for factor, group in zip(factors, groups, strict=True) if len(group) > 1]
    parts = [float(factor**2 * np.var(group, ddof=1) / len(group)) for factor, group in many]
    if sum(parts) == 0:
        return 0.0
    spread = sum(part**2 / (len(group) - 1) for part, (_, group) in zip(parts, many, strict=True))
    return -t_quantile(sum(parts) ** 2 / spread, chance / 2) * float(np.sqrt(sum(parts)))
