"""How much error each look of a sequential comparison may spend. Pure, no I/O.

A comparison that may add seeds looks at its data several times, and each look may err. The error of all looks together
is spent over them: Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70, 1983.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..statistic import LEVEL, checked_level


def levels(fractions: Sequence[float], level: float = LEVEL) -> tuple[float, ...]:
    """The significance level of each look, so that all looks together err with a chance of at most 1 - level.

    `fractions` are the seeds of each look over those of the last one that the budget allows: rising, above 0, at most
    1. A look's level is what is spent at its fraction less what was spent before it. So the levels add up to 1 - level
    at the fraction 1; by the union bound, any test that holds its level at each look holds 1 - level over all of them:
    a t-test of few seeds, Holm's correction, "same" by the interval that has 1 minus the level of the look.

    Raises ValueError for fractions that do not rise or are outside of (0, 1].
    """
    checked_level(level)
    if any(not 0 < fraction <= 1 for fraction in fractions) or any(a >= b for a, b in pairwise(fractions)):
        raise ValueError("the fractions of the looks must rise, be above 0 and at most 1")
    return tuple((1 - level) * (spent(after) - spent(before)) for before, after in pairwise((0.0, *fractions)))


def spent(fraction: float) -> float:
    """The share of the error that is spent when this share of the seeds has been seen: 0 at 0, 1 at 1.

    The power family of Kim and DeMets, Biometrika 74, 1987.
    """
    return float(fraction**EXPONENT)


EXPONENT = 2.0
"""More than 1: the first looks have too few seeds to tell much, so that little is spent on them."""
