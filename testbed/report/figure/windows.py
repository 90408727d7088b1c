"""The windows table in the paper's form, as bars and as a table: MB of 2^20 bytes, mean and sd. Draws, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...error import UserError
from ..stored_run import StoredRun
from ..window_table import Transfer, WindowTable, window_table
from .option import Options
from .style import COLOURS, HIGH, MANY_SERIES, WIDE, grid, log_axis

HATCHES = ("", "//", "\\\\", "xx", "..", "--", "++")
ROW_INCHES = 0.24


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
    table.set_title(f"MB of 2²⁰ bytes{during}: mean (sd of the repetitions, with n)", fontsize=9, loc="left")


def _bars(axes: Axes, found: WindowTable) -> None:
    shown = found.rows[:MANY_SERIES]
    width = 0.8 / len(shown)
    for number, row in enumerate(shown):
        by_window = {each.window: each for each in row.transfers}
        at = [i for i, window in enumerate(found.windows) if window in by_window]
        members = [by_window[found.windows[i]] for i in at]
        axes.bar(
            np.array(at) - 0.4 + width * (number + 0.5),
            [each.mean_mb for each in members],
            width,
            yerr=[each.sd_mb for each in members],
            capsize=3,
            color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number // len(COLOURS) % len(HATCHES)],
            edgecolor="white",
            linewidth=0.5,
            label=row.label,
            error_kw={"linewidth": 1, "ecolor": "0.2"},
        )
    axes.set_xticks(range(len(found.windows)), found.windows)
    axes.set_xlabel("window")
    axes.set_ylabel("transfer (MB of 2²⁰ bytes)")
    means = [each.mean_mb for row in shown for each in row.transfers]
    if min(means) > 0 and max(means) > 30 * min(means):
        log_axis(axes, "y")
    grid(axes)
    if len(shown) > 1:
        axes.legend(fontsize=8, frameon=False)


def _cell(transfers: Sequence[Transfer], window: str) -> str:
    return next((each.text for each in transfers if each.window == window), "–")
