"""Level shifts in a throughput series: when, from which level to which. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ..codec.frozen import dataclass
from . import statistic
from .distribution import t_below
from .statistic import LEVEL, FloatArray, Values

SHORTEST = 5
"""The fewest samples of a level; a shorter dip belongs to the level around it."""
PENALTY = 3.0
"""Times log n for each change: as in the modified BIC of Zhang and Siegmund, Biometrics 63, 2007."""

_FLOOR = 1e-3
_MAD_TO_SD = 1 / NormalDist().inv_cdf(0.75)
_LARGEST_CORRELATION = 0.95
_LARGEST_AT_FIRST = 0.8


@dataclass(frozen=True)
class Shift:
    """One change of level. `at_s` is the start of the first sample of the new level.

    `confidence` is 1 minus the chance that noise alone shows such a step somewhere in a series as long:
    Welch's t of the two levels, with as many samples as the correlation leaves independent, and Bonferroni
    over the positions.
    """

    at_s: float
    before_bps: float
    after_bps: float
    confidence: float

    @property
    def ratio(self) -> float:
        """The new level over the old; infinite if the old one is 0."""
        return self.after_bps / self.before_bps if self.before_bps else float("inf")


@dataclass(frozen=True)
class Levels:
    """A series as constant levels, with the sd of its samples around them and the correlation of neighbours."""

    shifts: tuple[Shift, ...]
    noise_sd_bps: float
    correlation: float


def levels(
    throughput_bps: Values,
    interval_s: float = 1.0,
    shortest: int = SHORTEST,
    penalty: float = PENALTY,
    confidence: float = LEVEL,
) -> Levels:
    """Find the level shifts of a series whose samples each cover `interval_s`.

    In two steps. First the segmentation with the least cost, exactly, by optimal partitioning (Jackson et
    al., IEEE Signal Processing Letters 12, 2005), in time n^2: a level costs its sum of squares over the
    long-run variance of the noise, a change `penalty` log n. Then, as the noise may differ from level to
    level, the shifts below `confidence` are removed one by one, the one that explains least first.

    The noise is taken to be autoregressive of order 1 around the levels, with a correlation within [0, 0.95].
    For the first step it is estimated from differences, which shifts hardly touch (Chakar, Lebarbier,
    Levy-Leduc and Robin, Bernoulli 23, 2017), and taken as 0.8 at most, so that too many shifts go on to the
    second rather than too few; for the second from the residuals. The sd counts as at least 0.1 % of the
    median, so that a series without noise works too. If neighbours correlate by more than 0.8, a series of
    fewer than 100 samples shows false shifts in up to a tenth of cases.

    A slow start is a shift like any other: leave the ramp out first. Raises ValueError for fewer than
    2 * `shortest` samples (`shortest` is 2 or more).
    """
    if shortest < 2 or interval_s <= 0 or penalty <= 0:
        raise ValueError("a level has 2 samples or more, and interval and penalty are above 0")
    samples = statistic.checked(throughput_bps, 2 * shortest)
    floor = _FLOOR * abs(float(np.median(samples)))
    sd, correlation = _noise(samples, floor)
    if sd == 0:
        return Levels((), 0.0, 0.0)
    long_run_sd = sd * np.sqrt(_inflation(correlation))
    starts = _cheapest(samples / long_run_sd, shortest, penalty * np.log(len(samples)))
    while True:
        split = _Split(samples, (0, *starts, len(samples)), max(floor, _tiny(samples)))
        shifts = split.shifts(interval_s)
        doubtful = [index for index, shift in enumerate(shifts) if shift.confidence < confidence]
        if not doubtful:
            return Levels(shifts, split.residual_sd, split.correlation)
        del starts[min(doubtful, key=split.gain)]


@dataclass(frozen=True)
class _Split:
    """A series cut at `bounds`, which include its ends."""

    samples: FloatArray
    bounds: Sequence[int]
    floor_bps: float

    @property
    def parts(self) -> list[FloatArray]:
        return [self.samples[a:b] for a, b in zip(self.bounds, self.bounds[1:], strict=False)]

    @property
    def residuals(self) -> list[FloatArray]:
        return [part - part.mean() for part in self.parts]

    @property
    def residual_sd(self) -> float:
        return float(np.concatenate(self.residuals).std(ddof=len(self.parts)))

    @property
    def correlation(self) -> float:
        """Of neighbours within a level, each level scaled by its own sd."""
        scaled = [residual / max(residual.std(), self.floor_bps) for residual in self.residuals]
        products = sum(float(part[1:] @ part[:-1]) for part in scaled)
        squares = sum(float(part @ part) for part in scaled)
        estimate = products / squares if squares else 0.0
        return float(np.clip(estimate, 0, _LARGEST_CORRELATION))

    def gain(self, index: int) -> float:
        """The sum of squares that the shift with this index explains."""
        old, new = self.parts[index : index + 2]
        return float((new.mean() - old.mean()) ** 2 * len(old) * len(new) / (len(old) + len(new)))

    def shifts(self, interval_s: float) -> tuple[Shift, ...]:
        parts, inflation = self.parts, _inflation(self.correlation)
        pairs = zip(self.bounds[1:], parts, parts[1:], strict=False)
        rows = [(at, old, new, self._confidence(old, new, inflation)) for at, old, new in pairs]
        return tuple(Shift(at * interval_s, float(old.mean()), float(new.mean()), sure) for at, old, new, sure in rows)

    def _confidence(self, old: FloatArray, new: FloatArray, inflation: float) -> float:
        errors, freedoms = [], []
        for part in (old, new):
            independent = max(len(part) / inflation, 2.0)
            errors.append(max(float(part.var(ddof=1)), self.floor_bps**2) / independent)
            freedoms.append(independent - 1)
        freedom = sum(errors) ** 2 / sum(e**2 / f for e, f in zip(errors, freedoms, strict=True))
        t = abs(new.mean() - old.mean()) / np.sqrt(sum(errors))
        return 1 - min(1.0, len(self.samples) * 2 * t_below(freedom, -float(t)))


def _inflation(correlation: float) -> float:
    """The long-run variance of autoregressive noise over that of one sample."""
    return (1 + correlation) / (1 - correlation)


def _tiny(samples: FloatArray) -> float:
    """A spread above 0 for a series whose median is 0."""
    return float(np.finfo(np.float64).eps * np.abs(samples).max())


def _noise(samples: FloatArray, floor: float) -> tuple[float, float]:
    """The sd and the lag-1 correlation of the noise around levels that change rarely."""
    next_one, next_but_one = (_robust_sd(samples[lag:] - samples[:-lag]) for lag in (1, 2))
    if next_one <= floor:
        return floor, 0.0
    correlation = float(np.clip((next_but_one / next_one) ** 2 - 1, 0, _LARGEST_AT_FIRST))
    return next_one / float(np.sqrt(2 * (1 - correlation))), correlation


def _robust_sd(differences: FloatArray) -> float:
    return _MAD_TO_SD * float(np.median(np.abs(differences)))


def _cheapest(samples: FloatArray, shortest: int, penalty: float) -> list[int]:
    """The first index of each level but the first, for samples with noise of sd 1."""
    count = len(samples)
    centred = samples - samples.mean()
    sums, squares = (np.concatenate(([0.0], np.cumsum(part))) for part in (centred, centred**2))
    best = np.full(count + 1, np.inf)  # of the first so many samples
    best[0] = -penalty
    last_start = np.zeros(count + 1, dtype=np.int64)
    for end in range(shortest, count + 1):
        starts = np.arange(end - shortest + 1)
        costs = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        totals = best[starts] + costs + penalty
        last_start[end] = np.argmin(totals)
        best[end] = totals[last_start[end]]
    return _walk_back(last_start.tolist())


def _walk_back(last_start: list[int]) -> list[int]:
    starts, at = [], last_start[-1]
    while at > 0:
        starts.append(at)
        at = last_start[at]
    return starts[::-1]
