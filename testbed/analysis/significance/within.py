"""What one pair of trials shows, by how much each varies within itself. Pure, no I/O.

With one seed nothing says how much trials differ. A trial is a mean over its parts, so it differs less than they do,
however they depend on one another, unless something is drawn once for a whole trial, such as a level. So a trial is
taken to be as uncertain as one of its parts, and levels to be less than APART times apart. A difference beyond both is
one. This never shows that two trials are alike.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..statistic import FloatArray

ERROR = 0.01
"""How often any cell of a suite in which nothing changed may be told apart so."""
PARTS = 10
"""A trial is cut into so many parts of the same length."""
APART = 4.0
"""Two levels of a trial are not as many times apart. Those that were seen of TCP are 10 to 73 % apart."""


def p(one: FloatArray, other: FloatArray) -> float:
    """The chance that two trials differ as much, from samples of what each brought, of the same length; 1 unless their
    means are APART times apart, and of fewer than two samples a part. A t-test of one part of each (Welch 1947).
    """
    if min(len(one), len(other)) < 2 * PARTS:
        return 1.0
    parts = [_parts(each) for each in (one, other)]
    low, high = sorted(float(each.mean()) for each in parts)
    if high < APART * low or high <= 0:
        return 1.0
    return of_parts(high - low, [float(each.var(ddof=1)) for each in parts])


def of_value(trial: FloatArray, value: float) -> float:
    """The same of a trial and a number that is known."""
    if len(trial) < 2 * PARTS:
        return 1.0
    parts = _parts(trial)
    low, high = sorted((float(parts.mean()), value))
    return 1.0 if high < APART * low or high <= 0 else of_parts(high - low, [float(parts.var(ddof=1))])


def of_parts(difference: float, variances: list[float]) -> float:
    total = sum(variances)
    if total == 0:
        return 0.0
    df = (PARTS - 1) * total**2 / sum(each**2 for each in variances)
    return float(2 * special.stdtr(df, -difference / math.sqrt(total)))


def _parts(samples: FloatArray) -> FloatArray:
    return np.array([float(part.mean()) for part in np.array_split(samples, PARTS)])
