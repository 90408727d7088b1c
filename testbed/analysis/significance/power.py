"""What a t-test of pairs can show: the smallest effect, and the seeds that decide. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from scipy import optimize, special

POWER = 0.8
SEEDS_MAX = 10_000
"""As many seeds as this are never asked for."""
FAR = 1e4
"""Standard errors; the shares above and below differ by 1e-8 there."""


def smallest_effect(se: float, df: float, alpha: float, margin: float) -> float:
    """The smallest true difference that is found with POWER: significant at `alpha`, and seen to be above the margin.

    In the unit of `se`, the standard error of the mean difference, whose estimate has `df` degrees of freedom. By the
    noncentral t distribution; above the margin it is seen in POWER of cases if it is 0.84 standard errors above it.
    """
    return max(_shift(math.floor(df), alpha) * se, margin - float(special.ndtri(1 - POWER)) * se)


def seeds_needed(sd: float, alpha: float, alpha_same: float, margin: float, cells: int = 1) -> int | None:
    """The pairs that decide if their differences have this sd: a difference of 0 comes out as the same, and one of
    twice the margin is found, each with POWER. None if SEEDS_MAX are too few, as for a margin of 0.

    `alpha` is the level of the test, 1 - `alpha_same` that of the interval. With POWER all of so many `cells` like it
    come out as the same where nothing changed. For "the same" by Julious, Sample sizes for
    clinical trials with normal data, Statistics in Medicine 23, 2004, section 5.
    """
    return _fewest(lambda seeds: _margin(seeds, alpha, alpha_same, cells) * sd <= margin) if margin > 0 else None


def seeds_for_all(shares: Sequence[float], alpha: float, alpha_same: float) -> int | None:
    """The same for cells that are not all as noisy: the sd of each one's differences, over its margin."""
    of_margin = np.array(shares)

    def decide(seeds: int) -> bool:
        reach = math.sqrt(seeds) / of_margin - float(special.stdtrit(seeds - 1, 1 - alpha_same / 2))
        same = float(np.prod(np.clip(2 * special.ndtr(reach) - 1, 0, 1)))
        return same >= POWER and _shift(seeds - 1, alpha) / 2 / math.sqrt(seeds) * float(of_margin.max()) <= 1

    return _fewest(decide)


def _fewest(decide: Callable[[int], bool]) -> int | None:
    """The fewest pairs that decide, as all numbers above do; None if SEEDS_MAX are too few."""
    if not decide(SEEDS_MAX):
        return None
    low, high = 2, SEEDS_MAX
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if decide(middle) else (middle + 1, high)
    return low


@lru_cache(maxsize=10_000)
def _margin(seeds: int, alpha: float, alpha_same: float, cells: int) -> float:
    """The smallest margin for which so many pairs decide, over the sd of their differences."""
    reach = float(special.stdtrit(seeds - 1, 1 - alpha_same / 2) - special.ndtri((1 - POWER ** (1 / cells)) / 2))
    return max(reach, _shift(seeds - 1, alpha) / 2) / math.sqrt(seeds)


@lru_cache(maxsize=10_000)
def _shift(df: int, alpha: float) -> float:
    """The true difference, in standard errors, that a t-test finds with POWER on the side where it is."""
    high = 1.0
    while _power(high, df, alpha) <= POWER:
        high *= 2
    return float(optimize.brentq(lambda shift: _power(shift, df, alpha) - POWER, 0, high))


def _power(shift: float, df: int, alpha: float) -> float:
    """Far out, where SciPy knows no noncentral t, the estimate of the difference is the true one, and only that of the
    standard error is left to chance.
    """
    critical = -float(special.stdtrit(df, alpha / 2))
    near = math.nan if shift > FAR else 1 - float(special.nctdtr(df, shift, critical))
    return float(special.chdtr(df, df * (shift / critical) ** 2)) if math.isnan(near) else near
