"""The mean goodput of the cells of any two axes, as colours with their numbers. Draws, no I/O."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from ..report.heat import heat
from ..report.source import Source
from .option import Options, chosen_axes
from .style import scaled_rate

COLOUR_MAP = "cividis"
"""Rises in brightness evenly, for colour-blind people and in grey alike."""
WIDE_RANGE = 30


def draw(figure: Figure, source: Source, options: Options) -> None:
    """Raises UserError for axes that do not vary."""
    x, y = chosen_axes(source, options)
    found = heat(source.usable, x, y)
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
    several = f"{per_cell[0]} to {per_cell[-1]}" if len(per_cell) > 1 else f"{per_cell[0]}"
    trials = "trial" if per_cell[-1] == 1 else "trials"
    figure.colorbar(image, ax=axes, label=f"mean goodput ({unit}), {several} {trials} a cell")
