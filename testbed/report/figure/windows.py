"""The windows table in the paper's form, as bars and as a table: MB of 2^20 bytes, mean and sd. Draws, no I/O.

A bar shows its value from 0 on: where the values are too far apart for that, each is a mark on a logarithmic axis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...error import UserError
from ..stored_run import StoredRun
from ..window_table import Transfer, WindowTable, window_table
from .option import Options
from .style import COLOURS, HIGH, MANY_SERIES, MARKERS, WIDE, grid, log_axis

HATCHES = ("", "//", "\\\\", "xx", "..", "--", "++")
ROW_INCHES = 0.24
ENDS = "0.2"
WIDE_RANGE = 30


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """Raises UserError for a run without a window among its axes."""
    found = window_table(run.usable)
    if found is None:
        raise UserError("no axis of this run is a window; allowed: a sweep over window, such as links-baseline")
    figure.set_size_inches(WIDE, HIGH + ROW_INCHES * len(found.rows))
    heights = [HIGH - 0.8, 0.5 + ROW_INCHES * (len(found.rows) + 1)]
    bars, table = figure.subplots(2, 1, gridspec_kw={"height_ratios": heights})
    _bars(bars, found)
    table.axis("off")
    cells = [[_cell(row.transfers, window) for window in found.windows] for row in found.rows]
    words = [row.label for row in found.rows] if len(found.rows) > 1 else [run.name]
    drawn = table.table(cells, rowLabels=words, colLabels=found.windows, loc="center", cellLoc="right")
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8)
    for cell in drawn.get_celld().values():
        cell.set_edgecolor("0.8")
    during = "" if found.duration_s is None else f" in {found.duration_s:g} s"
    table.set_title(f"MB of 2²⁰ bytes{during}: {_repetitions(found)}", fontsize=9, loc="left")


def _repetitions(found: WindowTable) -> str:
    """What a cell of the table has, and of how many trials it is."""
    counts = sorted({each.trials for row in found.rows for each in row.transfers})
    if counts == [1]:
        return "one trial each, so there is no sd"
    several = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    return f"mean (sd over n, not n − 1) of the repetitions, {several}"


def _bars(axes: Axes, found: WindowTable) -> None:
    shown = found.rows[:MANY_SERIES]
    means = [each.mean_mb for row in shown for each in row.transfers]
    is_wide = min(means) > 0 and max(means) > WIDE_RANGE * min(means)
    width = 0.8 / len(shown)
    for number, row in enumerate(shown):
        by_window = {each.window: each for each in row.transfers}
        at = [i for i, window in enumerate(found.windows) if window in by_window]
        members = [by_window[found.windows[i]] for i in at]
        x, y = np.array(at) - 0.4 + width * (number + 0.5), [each.mean_mb for each in members]
        colour = COLOURS[number % len(COLOURS)]
        if is_wide:
            axes.plot(x, y, MARKERS[number % len(MARKERS)], color=colour, markersize=7, label=row.label)
        else:
            axes.bar(
                x, y, width, color=colour, hatch=HATCHES[number // len(COLOURS) % len(HATCHES)],
                edgecolor="white", linewidth=0.5, label=row.label,
            )  # fmt: skip
        for place, each in zip(x, members, strict=True):
            if each.sd_mb is not None:
                axes.errorbar(
                    [place], [each.mean_mb], yerr=[each.sd_mb], capsize=3, linewidth=1, linestyle="", color=ENDS
                )
    axes.set_xticks(range(len(found.windows)), found.windows)
    axes.set_xlim(-0.5, len(found.windows) - 0.5)
    axes.set_xlabel("window")
    axes.set_ylabel("transfer (MB of 2²⁰ bytes)")
    if is_wide:
        log_axis(axes, "y")
    grid(axes)
    if len(shown) > 1:
        axes.legend(fontsize=8, frameon=False)
    if len(found.rows) > len(shown):
        words = f"the first {len(shown)} of {len(found.rows)} rows of the table; --where chooses others"
        axes.set_title(words, fontsize=9, loc="left")


def _cell(transfers: Sequence[Transfer], window: str) -> str:
    return next((each.text for each in transfers if each.window == window), "–")
