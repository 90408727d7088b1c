"""What a t-test of pairs can show: the smallest effect, and the seeds that decide. Pure, no I/O."""

from __future__ import annotations

import math

from scipy import optimize, stats

POWER = 0.8
SEEDS_MAX = 10_000
"""As many seeds as this are never asked for."""


def smallest_effect(se: float, df: float, alpha: float, margin: float) -> float:
    """The smallest true difference that is found with POWER: significant at `alpha`, and seen to be above the margin.

    In the unit of `se`, the standard error of the mean difference, whose estimate has `df` degrees of freedom. By the
    noncentral t distribution; above the margin it is seen in POWER of cases if it is 0.84 standard errors above it.
    """
    found = float(optimize.brentq(lambda shift: _power(shift, df, alpha) - POWER, 0, _enough(df, alpha)))
    return max(found * se, margin + float(stats.norm.isf(1 - POWER)) * se)


def seeds_needed(sd: float, alpha: float, alpha_same: float, margin: float) -> int | None:
    """The pairs that decide if their differences have this sd: a difference of 0 comes out as the same, and one of
    twice the margin is found, each with POWER. None if SEEDS_MAX are too few, as for a margin of 0.

    `alpha` is the level of the test, 1 - `alpha_same` that of the interval. For "the same" by Julious, Sample sizes for
    clinical trials with normal data, Statistics in Medicine 23, 2004, section 5.
    """
    if margin <= 0 or not _decides(SEEDS_MAX, sd, alpha, alpha_same, margin):
        return None
    low, high = 2, SEEDS_MAX
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _decides(middle, sd, alpha, alpha_same, margin) else (middle + 1, high)
    return low


def _decides(seeds: int, sd: float, alpha: float, alpha_same: float, margin: float) -> bool:
    se, df = sd / math.sqrt(seeds), seeds - 1
    if se == 0:
        return True
    reach = float(stats.t.isf(alpha_same / 2, df) + stats.norm.isf((1 - POWER) / 2))
    return reach * se <= margin and _power(2 * margin / se, df, alpha) >= POWER


def _power(shift: float, df: float, alpha: float) -> float:
    """The chance that a t-test finds a difference of `shift` standard errors, on the side where it is."""
    return float(stats.nct.sf(stats.t.isf(alpha / 2, df), df, shift))


def _enough(df: float, alpha: float) -> float:
    """A shift that is found with more than POWER."""
    shift = 1.0
    while _power(shift, df, alpha) <= POWER:
        shift *= 2
    return shift
