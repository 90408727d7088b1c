"""The difference between measured profiles and a published one, judged point by point. Pure, no I/O.

`point` judges one of them. That all points of all series agree needs no correction (an intersection-union test: Berger,
Technometrics 24, 1982). That any differs does: a point differs if its interval at the level of the whole family, after
Bonferroni, lies outside the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from ..codec.frozen import dataclass
from . import concavity, statistic
from .point import SAME_RTT, Figure, PointDifference, Verdict, point
from .profile import Bend, Limits, Published, ThroughputProfile
from .statistic import LEVEL, Interval

K = TypeVar("K")


@dataclass(frozen=True)
class ShapeDifference:
    """Both profiles over the whole common range; `c_uc` is measured minus published C_UC. A bend is None if the
    repetitions do not show it.
    """

    c_uc: Figure
    measured_bend: Bend | None
    published_bend: Bend | None

    @property
    def is_same(self) -> bool | None:
        """None if one of them is not shown."""
        if self.measured_bend is None or self.published_bend is None:
            return None
        return self.measured_bend == self.published_bend


@dataclass(frozen=True)
class ProfileDistance:
    """The difference between a measured and a published profile over the RTTs that both cover.

    `rms` is the root mean square of the relative differences from the published values, a ratio; None without one.
    `shape` is None without capacities, or if the published profile has fewer than two values there. `left_out_rtt_s`
    are the published RTTs outside the measured range.
    """

    points: tuple[PointDifference, ...]
    left_out_rtt_s: tuple[float, ...]
    rms: Figure | None
    shape: ShapeDifference | None

    def verdict(self, tolerance: float) -> Verdict:
        """differ if any point does, agree if all do."""
        return worst([point.verdict(tolerance) for point in self.points])


@dataclass(frozen=True)
class Candidate(Generic[K]):
    """One of our profiles; `is_apart` is whether its RMS is shown to be below that of the next one: their intervals do
    not overlap. None if there is no next one, or no interval.
    """

    key: K
    rms: Figure
    is_apart: bool | None


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """differ if any is, agree if all are; cannot tell without any."""
    if "differ" in verdicts:
        return "differ"
    return "agree" if verdicts and set(verdicts) == {"agree"} else "cannot tell"


def distance(
    measured: ThroughputProfile,
    published: Published,
    capacities_bps: tuple[float, float] | None = None,
    family: int | None = None,
    level: float = LEVEL,
    limits: Limits = (),
) -> ProfileDistance:
    """Compare at the published RTTs within the measured range.

    `capacities_bps` are those of the measured and of the published profile, for the shape. `family` is how many points
    are judged together; None: those of this profile. `limits` are judged too, but are no part of RMS and shape.
    Raises ValueError if the measured range holds none of the published RTTs, or if a published throughput is 0.
    """
    covered = common_rtts([*published, *(rtt for rtt, _ in limits)], measured)
    rtts = tuple(rtt for rtt in published if rtt in covered) if limits and covered else _common(published, measured)
    inside = [(rtt, limit) for rtt, limit in limits if rtt in covered]
    each = _family_level(level, family or len(rtts) + len(inside))
    points = [point(measured, rtt, published[rtt], level, each) for rtt in rtts]
    points += [point(measured, rtt, limit, level, each) for rtt, limit in inside]
    left_out = [rtt for rtt in (*published, *(rtt for rtt, _ in limits)) if rtt not in covered]
    values = [point(measured, rtt, published[rtt], level, _family_level(level, len(rtts))) for rtt in rtts]
    return ProfileDistance(
        points=tuple(sorted(points, key=lambda each: each.rtt_s)),
        left_out_rtt_s=tuple(dict.fromkeys(left_out)),
        rms=_rms(values, level) if values else None,
        shape=_shape(measured, published, rtts, capacities_bps, level) if capacities_bps and len(rtts) > 1 else None,
    )


def best_match(
    target: Published, candidates: Mapping[K, ThroughputProfile], level: float = LEVEL
) -> tuple[Candidate[K], ...]:
    """Our profiles by their RMS relative difference from the target, the nearest first.

    All are compared at the same RTTs: those of the target that every candidate covers. Equal distances keep the order
    of `candidates`. Raises ValueError if there is no candidate or no common RTT.
    """
    if not candidates:
        raise ValueError("there is no candidate to match")
    rtts = _common(target, *candidates.values())
    wanted = {rtt: target[rtt] for rtt in rtts}
    found = sorted(
        ((key, _rms_of(profile, wanted, level)) for key, profile in candidates.items()), key=lambda pair: pair[1].value
    )
    apart = [_is_below(one, other) for (_, one), (_, other) in pairwise(found)]
    return tuple(Candidate(key, rms, clear) for (key, rms), clear in zip(found, [*apart, None], strict=True))


def _rms_of(measured: ThroughputProfile, published: Published, level: float) -> Figure:
    found = distance(measured, published, level=level).rms
    assert found is not None, "BUG: published values without a difference"
    return found


def common_rtts(published: Iterable[float], measured: ThroughputProfile) -> tuple[float, ...]:
    """The published RTTs within what was measured."""
    low, high = measured.rtt_s[0] * (1 - SAME_RTT), measured.rtt_s[-1] * (1 + SAME_RTT)
    return tuple(rtt for rtt in published if low <= rtt <= high)


def _common(published: Published, *measured: ThroughputProfile) -> tuple[float, ...]:
    covered = [set(common_rtts(published, each)) for each in measured]
    rtts = tuple(rtt for rtt in published if all(rtt in each for each in covered))
    if not rtts:
        low, high = max(each.rtt_s[0] for each in measured), min(each.rtt_s[-1] for each in measured)
        raise ValueError(f"no published RTT lies within what was measured, {low} s to {high} s")
    return rtts


def _family_level(level: float, count: int) -> float:
    return 1 - (1 - level) / count


def _rms(points: Sequence[PointDifference], level: float) -> Figure:
    """The interval is the smallest and the largest RMS of differences that all lie within their intervals, taken
    together after Bonferroni: it holds the true RMS in at least `level` of cases, and 0 where nothing differs.
    """
    value = _root_mean_square([point.relative.value for point in points])
    intervals = [point.family for point in points]
    known = [each for each in intervals if each is not None]
    if len(known) < len(points):
        return Figure(value, None)
    low = _root_mean_square([max(0.0, each.low, -each.high) for each in known])
    high = _root_mean_square([max(abs(each.low), abs(each.high)) for each in known])
    return Figure(value, Interval(low, high, level))


def _root_mean_square(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _is_below(one: Figure, other: Figure) -> bool | None:
    if one.interval is None or other.interval is None:
        return None
    return one.interval.high < other.interval.low


def _shape(
    measured: ThroughputProfile,
    published: Published,
    rtts: Sequence[float],
    capacities_bps: tuple[float, float],
    level: float,
) -> ShapeDifference:
    if min(capacities_bps) <= 0:
        raise ValueError(f"a capacity of {min(capacities_bps)} bit/s is not above 0")
    between = (max(rtts[0], measured.rtt_s[0]), min(rtts[-1], measured.rtt_s[-1]))
    theirs = [published[rtt].mean for rtt in rtts]
    off = [published[rtt].off_bps for rtt in rtts]
    c_uc, c_cc = concavity.utilization_concavity, concavity.convex_concave
    found = {}
    for name, coefficient in (("c_uc", c_uc), ("c_cc", c_cc)):
        found[name] = (
            concavity.estimated(coefficient, measured.rtt_s, measured.estimates, capacities_bps[0], between),
            concavity.estimated(coefficient, rtts, theirs, capacities_bps[1]),
            concavity.sensitivity(coefficient, rtts, off, capacities_bps[1]),
        )
    ours, other, width = found["c_uc"]
    apart = statistic.weighted([(1, ours), (-1, other)])
    bends = found["c_cc"]
    return ShapeDifference(
        c_uc=Figure(apart.value, _wider(apart.interval(level), width)),
        measured_bend=concavity.bend(bends[0].value, bends[0].interval(level)),
        published_bend=concavity.bend(bends[1].value, _wider(bends[1].interval(level), bends[2])),
    )


def _wider(interval: Interval | None, by: float) -> Interval | None:
    return None if interval is None else Interval(interval.low - by, interval.high + by, interval.level)
