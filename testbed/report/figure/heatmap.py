"""The mean goodput of the cells of any two axes, as colours with their numbers. Draws, no I/O."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from ...analysis.series import varied_keys
from ...codec.frozen import dataclass
from ...trial.result import TrialResult
from ..caption import MANY
from ..headline import scaled_rate
from ..stored_run import StoredRun
from .option import Options, chosen_axes

COLOUR_MAP = "cividis"
"""Rises in brightness evenly, for colour-blind people and in grey alike."""
WIDE_RANGE = 30


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """Raises UserError for axes that do not vary."""
    x, y = chosen_axes(run, options)
    found = heat(run.usable, x, y)
    values = np.array([[np.nan if v is None else v for v in row] for row in found.mean_bps])
    scale, unit = scaled_rate(float(np.nanmax(values)))
    values = values / scale
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    norm = LogNorm(low, high) if low > 0 and high > WIDE_RANGE * low else Normalize(min(low, 0), high)
    figure.set_size_inches(3.2 + 0.75 * len(found.x), 2.2 + 0.42 * len(found.y))
    axes = figure.subplots()
    image = axes.imshow(np.ma.masked_invalid(values), cmap=COLOUR_MAP, norm=norm, aspect="auto", origin="upper")
    for row, column in np.argwhere(np.isfinite(values)):
        value = values[row, column]
        colour = "black" if norm(value) > 0.55 else "white"
        axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=8, color=colour)
    crowded = len(found.x) > 6 or max(map(len, found.x)) > 10
    axes.set_xticks(range(len(found.x)), found.x, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axes.set_yticks(range(len(found.y)), found.y)
    axes.set_xlabel(x)
    axes.set_ylabel(y or "")
    per_cell = sorted({count for row in found.trials for count in row if count})
    pooled = pooled_words(run.usable, x, y)
    if pooled:
        axes.set_title("\n".join(textwrap.wrap(f"means over {pooled}", 60)), fontsize=8, loc="left")
    several = f"{per_cell[0]} to {per_cell[-1]}" if len(per_cell) > 1 else f"{per_cell[0]}"
    trials = "trial" if per_cell[-1] == 1 else "trials"
    figure.colorbar(image, ax=axes, label=f"mean goodput ({unit}), {several} {trials} a cell")


def pooled_words(results: Sequence[TrialResult], x: str, y: str | None) -> str:
    """The parameters of which a cell has several values, with these; empty if there are none."""
    said = []
    for key in varied_keys(results):
        rows = dict.fromkeys((_place(each, x, y), each.params.get(key, "none")) for each in results)
        values = [*dict.fromkeys(value for _, value in rows)]
        if len(rows) > len({place for place, _ in rows}):
            several = f"{values[0]} … {values[-1]} ({len(values)} values)"
            said.append(f"{key} {', '.join(values) if len(values) <= MANY else several}")
    return "; ".join(said)


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
        cells.setdefault(_place(each, x, y), []).append(each.usable_goodput_bps)
    xs, ys = (tuple(dict.fromkeys(place[i] for place in cells)) for i in (0, 1))
    means = tuple(tuple(_mean(cells.get((x, y))) for x in xs) for y in ys)
    return Heat(xs, ys, means, tuple(tuple(len(cells.get((x, y), ())) for x in xs) for y in ys))


def _place(each: TrialResult, x: str, y: str | None) -> tuple[str, str]:
    return each.params.get(x, ""), each.params.get(y, "") if y else ""


def _mean(values: Sequence[float] | None) -> float | None:
    return sum(values) / len(values) if values else None
