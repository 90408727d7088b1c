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

    @property
    def text(self) -> str:
        return f"looks worse over {self.cells} cells, {100 * self.effect:+.1f} % in the mean"


def look_worse(cells: Iterable[tuple[str, CellComparison[K]]], tolerance: float) -> tuple[Across, ...]:
    """Of cells with the names of their metrics. A metric needs CELLS_MIN cells with two pairs or more, and a mean
    effect above the tolerance, a share, unless its own is in its unit; the error is divided by the number of metrics.
    Cells that came out the same are copies of one, as along an axis that does nothing, and count as one.
    """
    groups: defaultdict[str, dict[object, CellComparison[K]]] = defaultdict(dict)
    for metric, each in cells:
        if each.pairs > 1:
            groups[metric][each.base, each.candidate, each.interval] = each
    tested = {metric: [*mine.values()] for metric, mine in groups.items() if len(mine) >= CELLS_MIN}
    found = []
    for metric, mine in tested.items():
        kind = METRICS[metric]
        harms = [_harm(each, is_more_better=kind.is_more_better) for each in mine]
        mean, p = float(np.mean(harms)), _p(harms, mine)
        if mean > (tolerance if kind.is_relative else 0.0) and p < ERROR / len(tested):
            effect = -mean if kind.is_more_better else mean
            found.append(Across(metric, len(mine), sum(each > 0 for each in harms), effect, p))
    return tuple(found)


def _harm(each: CellComparison[K], *, is_more_better: bool) -> float:
    """The difference, positive if it is worse."""
    if abs(each.effect) <= each.margin:
        return 0.0
    relative = 2 * each.effect / (abs(each.base) + abs(each.candidate))
    return -relative if is_more_better else relative


def _p(harms: Sequence[float], cells: Sequence[CellComparison[K]]) -> float:
    """Of a t-test. Equal ones, as where one side has nothing, have no deviation: there it is the chance that cells go
    the same way, of which no trial of one side is above the other, or else tosses of a coin.
    """
    count, sd = len(harms), float(np.std(harms, ddof=1))
    if math.isclose(min(harms), max(harms)):
        return 2 * math.prod(1 / math.comb(2 * each.pairs, each.pairs) if each.is_disjoint else 0.5 for each in cells)
    return float(2 * special.stdtr(count - 1, -abs(float(np.mean(harms))) / (sd / math.sqrt(count))))
