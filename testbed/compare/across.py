"""Secondary metrics that look worse over all cells together, though none of these tells by itself. Pure, no I/O."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from scipy import special

from ..analysis.metric import METRICS
from ..analysis.paired import CellComparison
from ..codec.frozen import dataclass
from .pairing import Cell, Pair

K = TypeVar("K", bound=Hashable)
_Values: TypeAlias = Mapping[int, Sequence[float | None]]
"""The metrics of the trials of both sides, by seed."""
ERROR = 0.01
"""The share of comparisons in which any metric is named though nothing changed, at most, for all metrics together."""
CELLS_MIN = 5
NEAR = 1 / 3
"""The share of the tolerance within which each trial of a cell is where that of another one is, if one is a copy."""
TIMES = 1.0
"""The mean effect from which on cells are counted, as effects end at 2: one side has three times what the other has."""


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


def originals(cells: Mapping[Cell, Sequence[Pair]], tolerance: float) -> Mapping[Cell, Cell]:
    """For each cell the first one of which it is a copy, as along an axis that does nothing: they have two seeds or
    more in common, and in the trials of these, on both sides, nearly the same of each metric. Most cells are their own.
    """
    share = NEAR * tolerance
    firsts: dict[object, list[tuple[Cell, _Values]]] = defaultdict(list)
    found = {}
    for cell, pairs in cells.items():
        values = {one.result.seed: (*one.metrics.values(), *other.metrics.values()) for one, other in pairs}
        alike = firsts[tuple(pairs[0][0].metrics)]
        found[cell] = next((one for one, own in alike if _is_copy(values, own, share)), cell)
        if found[cell] is cell:
            alike.append((cell, values))
    return found


def _is_copy(values: _Values, others: _Values, share: float) -> bool:
    """Of most cells the first numbers tell: there may be thousands of cells, and each is held against all others."""
    shared = [seed for seed in values if seed in others]
    return len(shared) > 1 and all(_are_near(values[seed], others[seed], share) for seed in shared)


def _are_near(values: Sequence[float | None], others: Sequence[float | None], share: float) -> bool:
    return all(
        one == other or (one is not None and other is not None and abs(one - other) <= share * abs(other))
        for one, other in zip(values, others, strict=True)
    )


def look_worse(
    cells: Iterable[tuple[str, CellComparison[K]]],
    tolerance: float,
    original: Callable[[K], Hashable] = lambda key: key,
) -> tuple[Across, ...]:
    """Of cells with the names of their metrics. A metric needs CELLS_MIN cells with two pairs or more, and a mean
    effect above the tolerance, a share, unless its own is in its unit; the error is divided by the number of metrics.
    Cells with one `original` count as one.
    """
    groups: defaultdict[str, dict[Hashable, CellComparison[K]]] = defaultdict(dict)
    for metric, each in cells:
        if each.pairs > 1:
            groups[metric].setdefault(original(each.key), each)
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
    """Of a t-test. Equal ones, as where one side has nothing, and those near the end of what an effect can be have a
    deviation that says nothing: there it is the chance that all cells that differ go the same way, and in as many of
    them as here no trial of one side is above the other.
    """
    count, mean, sd = len(harms), float(np.mean(harms)), float(np.std(harms, ddof=1))
    if math.isclose(min(harms), max(harms)) or (min(harms) >= 0 and mean > TIMES):
        differ = [each for harm, each in zip(harms, cells, strict=True) if harm]
        chances = np.ones(1)  # that all go one way, by the number of those that are apart
        for each in differ:
            apart = 1 / math.comb(2 * each.pairs, each.pairs)
            chances = np.convolve(chances, [0.5 - apart, apart])
        return 2 * float(chances[sum(each.is_disjoint for each in differ) :].sum())
    return float(2 * special.stdtr(count - 1, -abs(mean) / (sd / math.sqrt(count))))
