"""Secondary metrics that look worse over all cells together, though none of these tells by itself. Pure, no I/O."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from scipy import special

from ..analysis.metric import METRICS
from ..analysis.paired import CellComparison
from ..codec.frozen import dataclass

K = TypeVar("K", bound=Hashable)
ERROR = 0.01
"""The share of comparisons in which any metric is named though nothing changed, at most, for all metrics together."""
CELLS_MIN = 5


@dataclass(frozen=True)
class Across:
    """A metric that looks worse over `cells` cells, in `worse` of which it is so by more than the tolerance, as
    estimated. `effect` is the mean of their differences, each over the mean of both sides (so from -2 to 2) and 0
    within the tolerance; `p` is that of a two-sided t-test of these numbers.
    """

    metric: str
    cells: int
    worse: int
    effect: float
    p: float


def look_worse(cells: Iterable[tuple[str, CellComparison[K]]], tolerance: float) -> tuple[Across, ...]:
    """Of cells with the names of their metrics. A metric needs CELLS_MIN cells with two pairs or more, and a mean
    effect above the tolerance, a share; the error is divided by the number of metrics.
    """
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for metric, each in cells:
        if each.pairs > 1:
            groups[metric].append(_harm(each, is_more_better=METRICS[metric].is_more_better))
    tested = {metric: harms for metric, harms in groups.items() if len(harms) >= CELLS_MIN}
    found = [(metric, harms, float(np.mean(harms)), _p(harms)) for metric, harms in tested.items()]
    return tuple(
        Across(
            metric, len(harms), sum(each > 0 for each in harms), -mean if METRICS[metric].is_more_better else mean, p
        )
        for metric, harms, mean, p in found
        if mean > tolerance and p < ERROR / len(tested)
    )


def _harm(each: CellComparison[K], *, is_more_better: bool) -> float:
    """The difference, positive if it is worse."""
    if abs(each.effect) <= each.margin:
        return 0.0
    relative = 2 * each.effect / (abs(each.base) + abs(each.candidate))
    return -relative if is_more_better else relative


def _p(harms: Sequence[float]) -> float:
    """Equal ones may be equal by chance, as are so many tosses of a coin."""
    count, sd = len(harms), float(np.std(harms, ddof=1))
    if math.isclose(min(harms), max(harms)):
        return 2.0 ** (1 - count)
    return float(2 * special.stdtr(count - 1, -abs(float(np.mean(harms))) / (sd / math.sqrt(count))))
