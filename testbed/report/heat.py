"""The mean of a number over the cells of two axes. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..result import TrialResult


@dataclass(frozen=True)
class Heat:
    """`mean_bps` has a row for each value of y; None where no trial is. `y` has one empty value if there is no axis."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    mean_bps: tuple[tuple[float | None, ...], ...]
    trials: tuple[tuple[int, ...], ...]


def heat(results: Sequence[TrialResult], x: str, y: str | None) -> Heat:
    """The mean goodput of all trials that share the two values, whatever the others are. Values in their order."""
    cells: dict[tuple[str, str], list[float]] = {}
    for each in results:
        params = each.data["params"]
        place = (params.get(x, ""), params.get(y, "") if y else "")
        cells.setdefault(place, []).append(each.data["goodput_bps"])
    xs, ys = (tuple(dict.fromkeys(place[i] for place in cells)) for i in (0, 1))
    means = tuple(tuple(_mean(cells.get((x, y))) for x in xs) for y in ys)
    return Heat(xs, ys, means, tuple(tuple(len(cells.get((x, y), ())) for x in xs) for y in ys))


def _mean(values: Sequence[float] | None) -> float | None:
    return sum(values) / len(values) if values else None
