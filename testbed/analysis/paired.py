"""A comparison of two runs by cell: effect, interval and verdict. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
from scipy import stats

from . import statistic
from .statistic import LEVEL, FloatArray, Interval, Values

K = TypeVar("K")
Verdict: TypeAlias = Literal["better", "same", "worse", "cannot tell"]


@dataclass(frozen=True)
class CellComparison(Generic[K]):
    """One cell of two runs, paired by seed.

    `effect` is the mean of candidate minus base, in the metric's unit, with its t interval (None for one
    pair). `relative` and `noise_floor` are over the mean of the base; None if that is 0, and the floor
    also for one pair. `p` is adjusted by Holm over all the cells; None for one pair.
    """

    key: K
    pairs: int
    base: float
    candidate: float
    effect: float
    interval: Interval | None
    relative: float | None
    relative_interval: Interval | None
    noise_floor: float | None
    p: float | None
    verdict: Verdict


def compare(
    cells: Mapping[K, tuple[Values, Values]],
    tolerance: float,
    is_more_better: bool | Callable[[K], bool] = True,
    absolute_tolerance: float | Callable[[K], float] = 0.0,
    level: float = LEVEL,
) -> tuple[CellComparison[K], ...]:
    """Compare base and candidate samples of each cell; sample i of both has the same seed.

    `tolerance` is the relative difference that does not matter (0.03 is 3 % of the base's mean), and
    `absolute_tolerance` the one in the metric's unit, for metrics that can be 0; the larger of them counts. Where cells
    are of several metrics, it and `is_more_better` are functions of the cell's key; Holm's correction is over all.

    same: the interval lies within the tolerance, or every pair is equal. better, worse: after Holm's
    correction the difference is significant (p < 1 - level), it is larger than the tolerance, and larger than
    the noise floor, by which two sets of the base's own seeds differ. cannot tell: neither, as for a single
    pair that is not equal. Raises ValueError if a cell's samples cannot be paired.
    """
    least = absolute_tolerance if callable(absolute_tolerance) else lambda key: absolute_tolerance
    is_gain = is_more_better if callable(is_more_better) else lambda key: is_more_better
    if tolerance < 0 or any(least(key) < 0 for key in cells):
        raise ValueError("a tolerance is 0 or more")
    pairs = {key: statistic.paired(*samples) for key, samples in cells.items()}
    raw = {key: _p(candidate - base) for key, (base, candidate) in pairs.items() if len(base) > 1}
    adjusted = dict(zip(raw, holm(list(raw.values())), strict=True))
    return tuple(
        _cell(key, base, candidate, adjusted.get(key), (tolerance, least(key)), is_gain(key), level)
        for key, (base, candidate) in pairs.items()
    )


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """The first of worse, cannot tell, better, same that is among the verdicts.

    Raises ValueError for no verdicts.
    """
    if not verdicts:
        raise ValueError("no cells, so no verdict")
    return next(verdict for verdict in _SEVERITY if verdict in verdicts)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p-values adjusted for the chance of any false positive among them: Holm, Scand. J. Stat. 6, 1979.

    In the order given. Raises ValueError for one outside of [0, 1].
    """
    if any(not 0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value is not in [0, 1]")
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return tuple(adjusted)


def noise_floor(base: Values, level: float = LEVEL) -> float:
    """The most by which the means of two sets of as many seeds of the base differ, in `level` of cases.

    In the metric's unit: t sd sqrt(2/n), t of 2n - 2 degrees of freedom. Needs 2 samples.
    """
    samples = statistic.checked(base, 2)
    t = float(stats.t.ppf((1 + level) / 2, 2 * len(samples) - 2))
    return t * statistic.sample_sd(samples) * float(np.sqrt(2 / len(samples)))


def _cell(
    key: K,
    base: FloatArray,
    candidate: FloatArray,
    p: float | None,
    tolerances: tuple[float, float],
    is_more_better: bool,
    level: float,
) -> CellComparison[K]:
    difference = candidate - base
    scale = abs(float(base.mean()))
    effect = float(difference.mean())
    interval = statistic.t_interval(difference, level) if len(base) > 1 else None
    floor = noise_floor(base, level) if len(base) > 1 else None
    margin = max(tolerances[0] * scale, tolerances[1])
    is_significant = p is not None and floor is not None and p < 1 - level and abs(effect) > max(margin, floor)
    is_small = interval is not None and max(-interval.low, interval.high) <= margin
    return CellComparison(
        key=key,
        pairs=len(base),
        base=float(base.mean()),
        candidate=float(candidate.mean()),
        effect=effect,
        interval=interval,
        relative=effect / scale if scale else None,
        relative_interval=interval.scaled(1 / scale) if scale and interval else None,
        noise_floor=floor / scale if scale and floor is not None else None,
        p=p,
        verdict=_verdict(is_small or not difference.any(), is_significant, (effect > 0) == is_more_better),
    )


def _verdict(is_same: bool, is_significant: bool, is_good: bool) -> Verdict:
    if is_same:
        return "same"
    if is_significant:
        return "better" if is_good else "worse"
    return "cannot tell"


def _p(difference: FloatArray) -> float:
    """The p of a two-sided paired t-test of a mean difference of 0; if all differences are equal, 1 if 0, else 0."""
    if np.ptp(difference) == 0:
        return float(difference[0] == 0)
    t = abs(difference.mean()) / (statistic.sample_sd(difference) / np.sqrt(len(difference)))
    return float(2 * stats.t.sf(t, len(difference) - 1))


_SEVERITY: tuple[Verdict, ...] = ("worse", "cannot tell", "better", "same")
