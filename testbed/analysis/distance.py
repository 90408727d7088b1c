"""The distance of measured profiles from a published one, and which is the nearest. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from . import concavity, statistic
from .concavity import Curve
from .profile import Bend, ThroughputProfile
from .statistic import LEVEL, RESAMPLES, FloatArray, Interval

K = TypeVar("K")

BEND_MARGIN = 0.02
"""A profile whose normalized C_CC is nearer to 0 than this counts as straight."""


@dataclass(frozen=True)
class Figure:
    """A number and its bootstrap interval over the repetitions; None if there are none to resample."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class PointDifference:
    """Both profiles at one RTT of the published one; `relative` is measured / published - 1."""

    rtt_s: float
    measured_bps: float
    published_bps: float
    relative: Figure


@dataclass(frozen=True)
class ShapeDifference:
    """Both profiles over the whole common range; `c_uc` is measured minus published C_UC."""

    c_uc: Figure
    measured_bend: Bend
    published_bend: Bend

    @property
    def is_same(self) -> bool:
        return self.measured_bend == self.published_bend


@dataclass(frozen=True)
class ProfileDistance:
    """The difference between a measured and a published profile over the RTTs that both cover.

    `rms` is the root mean square difference of throughput over capacity at the published RTTs, a ratio.
    `shape` is None if the published profile has fewer than two points there. `left_out_rtt_s` are the published
    RTTs outside the measured range.
    """

    points: tuple[PointDifference, ...]
    left_out_rtt_s: tuple[float, ...]
    rms: Figure
    shape: ShapeDifference | None


@dataclass(frozen=True)
class Candidate(Generic[K]):
    """One of our profiles; `wins` is the share of bootstrap draws in which it is the nearest to the target.

    `wins` is None if there is nothing to resample.
    """

    key: K
    rms: Figure
    wins: float | None


def distance(
    measured: ThroughputProfile,
    published: ThroughputProfile,
    measured_capacity_bps: float,
    published_capacity_bps: float,
    seed: int,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> ProfileDistance:
    """Compare at the published RTTs within the measured range, with straight lines between measured RTTs.

    The intervals are percentile bootstraps that resample the repetitions at each RTT, of both profiles if both
    have them; the same seed gives the same intervals. Raises ValueError if the measured range holds none of
    the published RTTs, or if the published throughput at one of them is 0.
    """
    rtts = _common(published, measured)
    ours, theirs = _draw((measured, published), (measured_capacity_bps, published_capacity_bps), seed, resamples)
    return ProfileDistance(
        points=_points(rtts, ours, theirs, level),
        left_out_rtt_s=tuple(rtt for rtt in published.rtt_s if rtt not in rtts),
        rms=_figure(_rms(ours, theirs, rtts), level),
        shape=_shape(ours.curves(rtts), theirs.curves(rtts), level) if len(rtts) > 1 else None,
    )


def best_match(
    target: ThroughputProfile,
    candidates: Mapping[K, ThroughputProfile],
    target_capacity_bps: float,
    capacity_bps: float,
    seed: int,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> tuple[Candidate[K], ...]:
    """Our profiles by their distance from the target, the nearest first.

    All are compared at the same RTTs: those of the target that every candidate covers. The distance is the
    RMS difference of throughput over capacity. Equal distances keep the order of `candidates`. Raises
    ValueError if there is no candidate or no common RTT.
    """
    if not candidates:
        raise ValueError("there is no candidate to match")
    profiles = tuple(candidates.values())
    rtts = _common(target, *profiles)
    capacities = (target_capacity_bps, *(capacity_bps for _ in profiles))
    theirs, *ours = _draw((target, *profiles), capacities, seed, resamples)
    spread = np.array([_rms(each, theirs, rtts) for each in ours])
    nearest = np.argmin(spread[:, 1:], axis=0)
    ranking = [
        Candidate(key, _figure(row, level), float(np.mean(nearest == index)) if len(nearest) else None)
        for index, (key, row) in enumerate(zip(candidates, spread, strict=True))
    ]
    return tuple(sorted(ranking, key=lambda candidate: candidate.rms.value))


@dataclass(frozen=True)
class _Draws:
    """A profile: its means (row 0 of `means_bps`) and its bootstrap draws (the other rows)."""

    rtt_s: tuple[float, ...]
    means_bps: FloatArray
    capacity_bps: float

    def at(self, rtts: Sequence[float]) -> FloatArray:
        """A row of means for each draw, at these RTTs, with straight lines between the points."""
        weights = [np.interp(rtts, self.rtt_s, unit) for unit in np.eye(len(self.rtt_s))]
        return np.asarray(self.means_bps @ np.array(weights))

    def curves(self, rtts: Sequence[float]) -> list[Curve]:
        """Each draw over the range of these RTTs, normalized."""
        inside = [rtt for rtt in self.rtt_s if rtts[0] < rtt < rtts[-1]]
        grid = [rtts[0], *inside, rtts[-1]]
        x = tuple(((np.array(grid) - grid[0]) / (grid[-1] - grid[0])).tolist())
        return [Curve(x, tuple(row)) for row in (self.at(grid) / self.capacity_bps).tolist()]


def _draw(
    profiles: Sequence[ThroughputProfile], capacities_bps: Sequence[float], seed: int, resamples: int
) -> list[_Draws]:
    """Draws of all profiles; only their means if no profile has repetitions."""
    if min(capacities_bps) <= 0:
        raise ValueError(f"a capacity of {min(capacities_bps)} bit/s is not above 0")
    count = resamples if any(profile.has_samples for profile in profiles) else 0
    generator = np.random.default_rng(seed)
    return [
        _Draws(profile.rtt_s, np.vstack([profile.mean_bps, profile.resampled(generator, count)]), capacity)
        for profile, capacity in zip(profiles, capacities_bps, strict=True)
    ]


def _common(published: ThroughputProfile, *measured: ThroughputProfile) -> tuple[float, ...]:
    low = max(profile.rtt_s[0] for profile in measured)
    high = min(profile.rtt_s[-1] for profile in measured)
    rtts = tuple(rtt for rtt in published.rtt_s if low <= rtt <= high)
    if not rtts:
        raise ValueError(f"no published RTT lies within what was measured, {low} s to {high} s")
    return rtts


def _points(rtts: Sequence[float], ours: _Draws, theirs: _Draws, level: float) -> tuple[PointDifference, ...]:
    one, other = ours.at(rtts), theirs.at(rtts)
    if (other == 0).any():
        raise ValueError("a published throughput is 0, so there is no relative difference")
    relative = one / other - 1
    return tuple(
        PointDifference(rtt, float(one[0, i]), float(other[0, i]), _figure(relative[:, i], level))
        for i, rtt in enumerate(rtts)
    )


def _shape(ours: list[Curve], theirs: list[Curve], level: float) -> ShapeDifference:
    one, other = (np.array([concavity.utilization_concavity(each) for each in curves]) for curves in (ours, theirs))
    return ShapeDifference(_figure(one - other, level), _bend(ours, level), _bend(theirs, level))


def _bend(curves: list[Curve], level: float) -> Bend:
    """How a whole profile bends: the sign of C_CC, if it exceeds the margin and its interval excludes 0."""
    c_cc = _figure(np.array([concavity.convex_concave(each) for each in curves]), level)
    if abs(c_cc.value) < BEND_MARGIN or (c_cc.interval is not None and c_cc.interval.contains(0)):
        return "straight"
    return "concave" if c_cc.value > 0 else "convex"


def _rms(ours: _Draws, theirs: _Draws, rtts: Sequence[float]) -> FloatArray:
    apart = ours.at(rtts) / ours.capacity_bps - theirs.at(rtts) / theirs.capacity_bps
    return np.asarray(np.sqrt(np.mean(apart**2, axis=1)))


def _figure(rows: FloatArray, level: float) -> Figure:
    """The value (row 0) and the interval of its draws (the other rows)."""
    return Figure(float(rows[0]), statistic.percentiles(rows[1:], level) if len(rows) > 1 else None)
