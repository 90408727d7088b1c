"""The noise of paired differences, with what the cells of a suite know of each other's. Pure, no I/O.

Few seeds know their noise badly: of three, a t-test over 18 cells asks for 29 standard errors where 3 are enough if the
noise is known. Two things help, and each is used only as far as the data bear it out:

- cells of one metric are noisy alike, relative to their means. The variance of each is drawn towards the typical one,
  the more the less they differ: Smyth, Linear models and empirical Bayes methods for assessing differential expression,
  Statistical Applications in Genetics and Molecular Biology 3(1), 2004 (the moderated t of limma).
- the same seed does not always make both sides alike. If it does not, the samples of each side say what the noise is,
  with twice as many degrees of freedom as their differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from ...codec.frozen import dataclass
from ..statistic import FloatArray
from .power import SEEDS_MAX

CELLS_MIN = 5
"""Fewer cells do not say how much cells differ: each stands for itself."""

PAIRS_MIN = 8
"""From as many pairs on two levels are no concern: they tell a cell apart once in 30 000 cases."""


@dataclass(frozen=True)
class Noise:
    """The variance of the differences of a cell, as estimated, and the degrees of freedom of a t-test with it. `mean`
    is the mean variance of the cells like it, None if it stands alone. `alone` is the variance with its degrees of
    freedom that only this cell's samples say, None if these are no others: no test shows that a cell is not noisier
    than the others by a factor of two, which is enough to take a difference just above a tolerance for none.
    """

    variance: float
    df: float
    mean: float | None = None
    alone: tuple[float, float] | None = None

    def se(self, pairs: int) -> float:
        """The standard error of the mean difference."""
        return math.sqrt(self.variance / pairs)

    def careful_se(self, pairs: int) -> float:
        """The same with a variance that is at least the mean one; infinity if that is not known."""
        return math.inf if self.mean is None else math.sqrt(max(self.variance, self.mean) / pairs)

    def p(self, effect: float, pairs: int) -> float:
        """The two-sided p of the t-test of a mean difference; where all differences are equal, of the sign test."""
        return self._p(effect, self.se(pairs)) if self.variance else 2.0 ** (1 - pairs)

    def careful_p(self, effect: float, pairs: int) -> float:
        """The same beside a noise that is at least that of the mean cell; 1 if that is not known."""
        return max(self.p(effect, pairs), self._p(effect, self.careful_se(pairs)))

    def _p(self, effect: float, se: float) -> float:
        if se == 0:  # beside no noise at all any difference is clear
            return float(effect == 0)
        return float(2 * special.stdtr(self.df, -abs(effect) / se))


def by_levels(pairs: int, apart: int = 1, others: int = 0) -> float:
    """The chance that levels tell `apart` cells or more from their base, in one direction, of `apart + others` cells.

    The trials of such a cell switch between two levels by chance. A cell is told apart if all of its trials are on one
    level in the base and on the other one in the candidate: 4^-n in each direction with n pairs, if both levels are as
    likely, and less if they are not or if there are more. Its samples then show no noise, so that no t-test sees it.
    From PAIRS_MIN pairs on it counts as 0.
    """
    return 0.0 if pairs >= PAIRS_MIN else min(1.0, 2 * float(special.betainc(apart, others + 1, 4.0**-pairs)))


def of_copies(pairs: int) -> float:
    """The p of pairs that are copies of one another, which show no noise: of few, `by_levels` is the bound."""
    return 0.0 if pairs < PAIRS_MIN else 2 * 4.0**-pairs


def share_at_most(seen: int, of: int) -> float:
    """The largest share of all cases that fits `seen` among `of`, with a confidence of 95 %: Clopper and Pearson,
    Biometrika 26, 1934, one-sided. Of n without one it is 1 - 0.05^(1/n): 63 % of 3, 26 % of 10, 10 % of 29.
    """
    return 1.0 if seen >= of else float(special.betaincinv(seen + 1, of - seen, 0.95))


def seeds_for(seen: int, share: float, least: int) -> int:
    """The fewest trials, `least` or more, of which so many may be `seen` and all others not, so that at most this share
    of all are like them.
    """
    return next((n for n in range(least, SEEDS_MAX) if share_at_most(seen, n) <= share), SEEDS_MAX)


def own(base: FloatArray, candidate: FloatArray) -> Noise:
    """What the differences of one cell alone say. Needs 2 pairs."""
    return Noise(float((candidate - base).var(ddof=1)), len(base) - 1)


def pooled(cells: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[Noise, ...]:
    """The noise of each of several cells of one metric: base and candidate, of 2 pairs or more that are not all equal.

    Of fewer than CELLS_MIN cells, each has its own. Otherwise the moderated one, relative to the mean of both sides;
    the degrees of freedom are those of the prior and n - 1, as for two sides of unlike noise.
    """
    if len(cells) < CELLS_MIN:
        return tuple(own(*cell) for cell in cells)
    scales = [float(np.abs(base).mean() + np.abs(candidate).mean()) / 2 for base, candidate in cells]
    counts = np.array([len(base) for base, _ in cells])
    paired = np.array([own(*cell).variance for cell in cells]) / np.square(scales)
    apart = np.array([base.var(ddof=1) + other.var(ddof=1) for base, other in cells]) / np.square(scales)
    is_paired = _seeds_matter(paired, apart, counts - 1)
    variances, df = (paired, counts - 1) if is_paired else (apart, 2 * (counts - 1))
    _, prior_df = _prior(variances, df)
    moderated = _moderated(variances, df)
    total = np.minimum(prior_df + counts - 1, df.sum())
    by_itself = [own(*cell) if is_paired else _welch(*cell) for cell in cells]
    return tuple(
        Noise(float(variance) * scale**2, float(each), float(variances.mean()) * scale**2, (mine.variance, mine.df))
        for variance, each, scale, mine in zip(moderated, total, scales, by_itself, strict=True)
    )


def typical(sides: Sequence[FloatArray]) -> tuple[float, ...]:
    """The standard deviation of a trial of each of several cells of one metric, from one side of them: of CELLS_MIN or
    more, each is drawn towards the typical one, relative to its mean. 0 for one sample, or equal ones.
    """
    found = [float(each.std(ddof=1)) if len(each) > 1 else 0.0 for each in sides]
    vary = [number for number, sd in enumerate(found) if sd > 0 and float(np.abs(sides[number]).mean()) > 0]
    if len(vary) < CELLS_MIN:
        return tuple(found)
    scales = np.array([float(np.abs(sides[number]).mean()) for number in vary])
    df = np.array([len(sides[number]) - 1 for number in vary])
    variances = np.square(np.array([found[number] for number in vary]) / scales)
    for number, variance, scale in zip(vary, _moderated(variances, df), scales, strict=True):
        found[number] = math.sqrt(float(variance)) * float(scale)
    return tuple(found)


def _moderated(variances: FloatArray, df: FloatArray) -> FloatArray:
    """Each drawn towards the typical one."""
    prior, prior_df = _prior(variances, df)
    is_known = math.isfinite(prior_df)
    return np.asarray((prior_df * prior + df * variances) / (prior_df + df) if is_known else prior + 0 * df)


def _welch(base: FloatArray, candidate: FloatArray) -> Noise:
    """What the samples of both sides of one cell say, with the degrees of freedom of Welch, Biometrika 34, 1947."""
    one, other = float(base.var(ddof=1)), float(candidate.var(ddof=1))
    return Noise(one + other, (len(base) - 1) * (one + other) ** 2 / (one**2 + other**2) if one + other else 1.0)


def _seeds_matter(paired: FloatArray, apart: FloatArray, df: FloatArray) -> bool:
    """Whether the same seed makes the sides alike, beyond chance: on average over the cells (5 %), or in one (1 %).

    Without correlation, half of the one variance over the other has a beta distribution.
    """
    average = 1 - float((paired / apart).mean())
    chance = float(special.betainc(df / 2, df / 2, np.minimum(paired / apart / 2, 1)).min())
    return average > 1.64 / math.sqrt(df.sum()) or chance * len(df) < 0.01


def _prior(variances: FloatArray, df: FloatArray) -> tuple[float, float]:
    """The typical variance and how many degrees of freedom it is worth (infinity if the cells are alike).

    By the moments of the log variances: Smyth 2004, section 6.2. A variance of 0 counts as 1e-5 of the median.
    """
    if not variances.any():
        return 0.0, math.inf
    raised = np.maximum(variances, 1e-5 * float(np.median(variances[variances > 0])))
    logs = np.log(raised) - special.digamma(df / 2) + np.log(df / 2)
    excess = float(logs.var(ddof=1) - special.polygamma(1, df / 2).mean())
    if excess <= 0:
        return float(np.average(variances, weights=df)), math.inf
    prior_df = 2 * _inverse_trigamma(excess)
    return float(np.exp(logs.mean() + special.digamma(prior_df / 2) - np.log(prior_df / 2))), prior_df


def _inverse_trigamma(value: float) -> float:
    """The x with trigamma(x) = value, by Newton's method as in the appendix of Smyth 2004."""
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return x
