"""The difference between a measured profile and what was published at one RTT: a value, or a limit. Pure, no I/O.

A value agrees if the interval of the relative difference lies within the tolerance: two one-sided tests (Schuirmann,
J. Pharmacokinetics and Biopharmaceutics 15, 1987). Of a limit, one of these two tests decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from ..codec.frozen import dataclass
from . import statistic
from .profile import Limit, Reference, ThroughputProfile
from .statistic import Estimate, Interval

Verdict: TypeAlias = Literal["agree", "differ", "cannot tell"]

SAME_RTT = 1e-6
"""RTTs that differ by this share are the same."""


@dataclass(frozen=True)
class Figure:
    """A number and its 95 % interval over the repetitions; None if they do not give one."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class PointDifference:
    """Both sides at a published RTT; `relative` is measured / published - 1, `family` its interval after Bonferroni.

    `is_between` is whether nobody measured there: the number is then on a straight line between two measured RTTs, and
    the intervals reach over both of them. `share_off` is how far the published number may be off, as a share of it.
    `seeds` is how many repetitions the point has, the fewer of two neighbours. `limit` is on which side of the
    published number ours should be, give or take the tolerance; None for a value, which has two sides. `is_exact`:
    nothing is random in ours. `is_apart`: the variation within the one trial does not explain the difference.
    `is_of_one`: the published number is of one run, and how much others would differ is not known. `share_by_chance` is
    half of the 95 % interval of a published mean of several runs, as a share of it, and 0 where no runs differ.
    """

    rtt_s: float
    measured_bps: float
    published_bps: float
    relative: Figure
    family: Interval | None
    is_between: bool
    share_off: float
    seeds: int
    limit: Limit | None = None
    is_exact: bool = False
    is_apart: bool = False
    is_of_one: bool = False
    share_by_chance: float = 0.0

    def verdict(self, tolerance: float) -> Verdict:
        """differ too if nothing at all was received where there should be something: that is no matter of chance."""
        if self.measured_bps == 0:
            return "cannot tell" if self.limit == "at most" else "differ"
        may_be_less, may_be_more = self.limit == "at most", self.limit == "at least"
        if self.is_apart and not (may_be_more if self.relative.value > 0 else may_be_less):
            return "differ"
        within, family = self.relative.interval, self.family
        if within and (may_be_less or -within.low <= tolerance) and (may_be_more or within.high <= tolerance):
            return "agree"
        if family and ((not may_be_more and family.low > tolerance) or (not may_be_less and family.high < -tolerance)):
            return "differ"
        return "cannot tell"


def point(
    measured: ThroughputProfile, rtt: float, published: Reference, level: float, family_level: float
) -> PointDifference:
    """At an RTT within what was measured. Raises ValueError if what is published is 0."""
    if published.mean.value <= 0:
        raise ValueError("a published throughput is 0, so there is no relative difference")
    places = _places(measured, rtt)
    ours = [measured.estimates[place] for place in places]
    inside = float(np.clip(rtt, measured.rtt_s[0], measured.rtt_s[-1]))
    value = float(measured.at([inside])[0])
    within, family = (_relative(ours, published, each) for each in (level, family_level))
    return PointDifference(
        rtt_s=rtt,
        measured_bps=value,
        published_bps=published.mean.value,
        relative=Figure(value / published.mean.value - 1, within),
        family=family,
        is_between=len(places) > 1,
        share_off=published.share_off,
        seeds=min(len(measured.samples_bps[place]) for place in places),
        limit=published.limit,
        is_exact=all(measured.rtt_s[place] in measured.exact for place in places),
        is_of_one=published.mean.error is None,
        share_by_chance=_by_chance(published.mean),
    )


def _by_chance(mean: Estimate) -> float:
    found = mean.interval()
    return 0.0 if found is None else (found.high - mean.value) / mean.value


def _places(measured: ThroughputProfile, rtt: float) -> tuple[int, ...]:
    """The place of this RTT, or of its two neighbours."""
    for place, at in enumerate(measured.rtt_s):
        if abs(at - rtt) <= SAME_RTT * rtt:
            return (place,)
    above = int(np.searchsorted(measured.rtt_s, rtt))
    return above - 1, above


def _relative(ours: Sequence[Estimate], published: Reference, level: float) -> Interval | None:
    """Over all of ours, each with its interval on the logarithmic scale, and as far as the published number may be off.

    A profile between two RTTs is taken to lie between its values there. None if one of ours has no interval.
    """
    if published.share_off >= 1 or any(each.value <= 0 for each in ours):
        return None
    if any(each.interval(level) is None for each in ours):  # one case, though the published number may have an sd
        return None
    ends = [statistic.log_ratio(each, published.mean).interval(level) for each in ours]
    found = [end for end in ends if end is not None]
    if len(found) < len(ours):
        return None
    with np.errstate(over="ignore"):  # few repetitions with much noise: no bound
        low = float(np.exp(min(end.low for end in found))) / (1 + published.share_off)
        high = float(np.exp(max(end.high for end in found))) / (1 - published.share_off)
    return Interval(low - 1, high - 1, level) if np.isfinite(high) else None
