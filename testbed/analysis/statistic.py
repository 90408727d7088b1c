"""Statistics of samples: location, spread, intervals, fairness and distributions. Pure, no I/O.

Every function takes a one-dimensional sequence of numbers. It raises ValueError, with the number of the
sample, if the sequence is too short or holds a NaN, an infinity or an absent value (None); an absent value
never counts as 0. A result has the unit of the samples unless its docstring says that it is a ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..codec.frozen import dataclass
from .distribution import t_quantile

FloatArray: TypeAlias = NDArray[np.float64]
Values: TypeAlias = "FloatArray | Iterable[float | None]"

LEVEL = 0.95
"""The default confidence level of an interval."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval; `level` is its nominal coverage, strictly between 0 and 1."""

    low: float
    high: float
    level: float = LEVEL

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high

    def scaled(self, factor: float) -> Interval:
        ends = sorted((self.low * factor, self.high * factor))
        return Interval(ends[0], ends[1], self.level)


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error, and the degrees of freedom of that error.

    `error` is None where nothing says how large it is: a single sample. A constant has an error of 0 and infinite
    freedom; an error of 0 with finite freedom is that of samples that are all equal.
    """

    value: float
    error: float | None
    freedom: float

    @classmethod
    def constant(cls, value: float) -> Estimate:
        return cls(value, 0.0, np.inf)

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Student's. None if the error is not known: one sample, or equal samples, which are one case seen again."""
        if self.error is None or (self.error == 0 and np.isfinite(self.freedom)):
            return None
        half = t_quantile(self.freedom, (1 + checked_level(level)) / 2) * self.error if self.error else 0.0
        return Interval(self.value - half, self.value + half, level)


@dataclass(frozen=True)
class Distribution:
    """A step function over the distinct sample values: share[i] holds from x[i] up to the next x."""

    x: tuple[float, ...]
    share: tuple[float, ...]


def checked(values: Values, least: int = 1) -> FloatArray:
    """The samples as an array; ValueError if there are fewer than `least`, or one is absent, NaN or infinite."""
    given = values if isinstance(values, np.ndarray) else list(values)
    for index, value in enumerate(given if isinstance(given, list) else ()):
        if value is None:
            raise ValueError(f"sample {index} is absent; leave it out, it is not 0")
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"the samples have {array.ndim} dimensions, not 1")
    if len(array) < least:
        raise ValueError(f"there are {len(array)} samples, and at least {least} are needed")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise ValueError(f"sample {bad[0]} is {array[bad[0]]}, not a finite number")
    return array


def mean(values: Values) -> float:
    return float(checked(values).mean())


def sample_sd(values: Values) -> float:
    """The sd of the population the samples were drawn from, estimated with n - 1; needs 2 samples."""
    return _sd(checked(values, 2), 1)


def population_sd(values: Values) -> float:
    """The sd of exactly these samples, with n; 0 for a single one."""
    return _sd(checked(values), 0)


def _sd(samples: FloatArray, less: int) -> float:
    """Of equal samples exactly 0: their mean is rounded, and may be none of them."""
    return 0.0 if samples.min() == samples.max() else float(samples.std(ddof=less))


def quantile(values: Values, share: float) -> float:
    """The quantile by linear interpolation: type 7 of Hyndman and Fan, The American Statistician 50, 1996.

    `share` is from 0 (the smallest sample) to 1 (the largest).
    """
    if not 0 <= share <= 1:
        raise ValueError(f"the share of a quantile is {share}, not in [0, 1]")
    return float(np.quantile(checked(values), share, method="linear"))


def median(values: Values) -> float:
    return quantile(values, 0.5)


def iqr(values: Values) -> float:
    """The distance between the quartiles, both of type 7."""
    return quantile(values, 0.75) - quantile(values, 0.25)


def population_cov(values: Values) -> float:
    """Coefficient of variation (a ratio): population sd over mean. Raises ValueError if the mean is 0.

    This is sigma / mu as in Persico et al., A First Look at Public-cloud Inter-datacenter Network
    Performance, 2016, footnote 3, with sigma read as the sd of the samples themselves.
    """
    return population_sd(values) / _nonzero_mean(values)


def cv_rmse(first: Values, second: Values) -> float:
    """The distance of two paired series (a ratio): root mean square difference over the mean of both means.

    Persico et al., 2016, footnote 4. Sample i of one is paired with sample i of the other; the result is symmetric.
    Raises ValueError if they differ in length or the mean is 0.
    """
    one, other = paired(first, second)
    scale = (one.mean() + other.mean()) / 2
    if scale == 0:
        raise ValueError("the sum of both means is 0, so there is no relative difference")
    return float(np.sqrt(np.mean((one - other) ** 2)) / scale)


def jain_index(values: Values) -> float:
    """Fairness of shares (a ratio from 1/n, one has all, to 1, all equal).

    Jain, Chiu and Hawe, DEC-TR-301, 1984. Raises ValueError for a negative share, or if all are 0.
    """
    shares = checked(values)
    if (shares < 0).any():
        raise ValueError(f"share {int(np.argmax(shares < 0))} is negative")
    largest = shares.max()
    if largest == 0:
        raise ValueError("all shares are 0, so the index is undefined")
    shares = shares / largest  # the squares of tiny or huge shares stay in range
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def t_interval(values: Values, level: float = LEVEL) -> Interval:
    """Student's interval of the mean: exact for normal samples. Needs 2 samples; n - 1 degrees of freedom."""
    samples, level = checked(values, 2), checked_level(level)
    half = t_quantile(len(samples) - 1, (1 + level) / 2) * sample_sd(samples) / np.sqrt(len(samples))
    return Interval(float(samples.mean() - half), float(samples.mean() + half), level)


def above_zero(interval: Interval) -> Interval:
    """The interval of what is never negative: the part below 0 is cut off, which takes no coverage from it."""
    return Interval(max(0.0, interval.low), max(0.0, interval.high), interval.level)


def estimate(values: Values) -> Estimate:
    """The mean of samples with the error of a mean; the error is None for a single sample."""
    samples = checked(values)
    if len(samples) == 1:
        return Estimate(float(samples[0]), None, 0)
    return Estimate(float(samples.mean()), sample_sd(samples) / float(np.sqrt(len(samples))), len(samples) - 1)


def weighted(parts: Sequence[tuple[float, Estimate]]) -> Estimate:
    """A weighted sum of independent estimates, such as a difference of means. Parts of weight 0 do not count.

    The freedom is that of Welch, Biometrika 34, 1947, and Satterthwaite, Biometrics Bulletin 2, 1946.
    """
    used = [(weight, part) for weight, part in parts if weight != 0]
    value = sum(weight * part.value for weight, part in used)
    if any(part.error is None for _, part in used):
        return Estimate(value, None, 0)
    variances = [(weight * (part.error or 0.0)) ** 2 for weight, part in used]
    total = sum(variances)
    if total == 0:
        return Estimate(value, 0.0, min((part.freedom for _, part in used), default=np.inf))
    spread = sum(variance**2 / part.freedom for variance, (_, part) in zip(variances, used, strict=True))
    return Estimate(value, float(np.sqrt(total)), total**2 / spread if spread else np.inf)


def log_ratio(one: Estimate, other: Estimate) -> Estimate:
    """The logarithm of one / other, both above 0, with errors relative to the values (the delta method)."""
    if one.value <= 0 or other.value <= 0:
        raise ValueError("a ratio of a number that is not above 0 has no logarithm")
    logs = [
        Estimate(float(np.log(each.value)), None if each.error is None else each.error / each.value, each.freedom)
        for each in (one, other)
    ]
    return weighted([(1, logs[0]), (-1, logs[1])])


def cdf(values: Values) -> Distribution:
    """The empirical distribution function: the share of samples at or below x."""
    x, counts = np.unique(checked(values), return_counts=True)
    return Distribution(tuple(x.tolist()), tuple((np.cumsum(counts) / counts.sum()).tolist()))


def paired(first: Values, second: Values, least: int = 1) -> tuple[FloatArray, FloatArray]:
    """Two series whose samples form pairs, as arrays; ValueError if their lengths differ."""
    one, other = checked(first, least), checked(second, least)
    if len(one) != len(other):
        raise ValueError(f"{len(one)} samples cannot be paired with {len(other)}")
    return one, other


def _nonzero_mean(values: Values) -> float:
    value = mean(values)
    if value == 0:
        raise ValueError("the mean is 0, so there is no variation relative to it")
    return value


def checked_level(level: float) -> float:
    """A confidence level. Raises ValueError for what is none."""
    if not 0 < level < 1:
        raise ValueError(f"the confidence level is {level}, not strictly between 0 and 1")
    return level
