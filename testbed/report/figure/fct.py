"""How long flows that arrive and end took: the share that had ended after a time, and the slowdown by size. Draws.

Reads completions.parquet of the trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.series import Series
from ...analysis.statistic import FloatArray
from ...error import UserError
from ...trial import sample_table
from ...trial.evidence.completion import SIZES_BYTES
from ...units import format_size
from ..stored_run import StoredRun
from .option import Options
from .style import GREY, HIGH, WIDE, Panel, cells, grid, log_axis

COLUMNS = ["size_bytes", "fct_s", "slowdown"]
ACROSS = 1.5
"""So much wider than other figures, for two panels."""
SHARES = ((0.5, "-", None, "median"), (0.99, ":", "none", "99 %"))
"""Each with its line, and how its marks are filled."""


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """A row for each panel: the distribution on the left, by size on the right. Raises UserError without such flows."""
    shown, pooled = cells(run)
    flows = {id(series): _flows(run, series) for panel in shown for series, _, _ in panel.members}
    if not any(len(each) for each in flows.values()):
        raise UserError("no trial of this run has flows that arrive; allowed: a workload with 'arrivals'")
    figure.set_size_inches(ACROSS * WIDE, HIGH * len(shown))
    rows = figure.subplots(len(shown), 2, squeeze=False)
    for (left, right), panel in zip(rows, shown, strict=True):
        _distribution(left, panel, [flows[id(series)] for series, _, _ in panel.members])
        _by_size(right, panel, [flows[id(series)] for series, _, _ in panel.members])
        left.set_title(panel.title, fontsize=10)
        left.legend(fontsize=7, frameon=False, loc="best")
        if pooled:
            left.set_xlabel(f"{left.get_xlabel()}\n{pooled}")


def _flows(run: StoredRun, series: Series) -> FloatArray:
    """Rows of size, completion time and slowdown of all flows of a series; NaN for what a flow that was cut lacks."""
    found = [np.empty((0, len(COLUMNS)))]
    for each in series.trials:
        path = run.folder(each.id) / f"{sample_table.COMPLETIONS}.parquet"
        if not path.exists():
            continue
        with sample_table.reading(path):
            table = sample_table.rows(sample_table.opened(path), COLUMNS)
        found.append(np.column_stack([table[name].cast(pa.float64()).to_numpy() for name in COLUMNS]))
    return np.concatenate(found)


def _distribution(axes: Axes, panel: Panel, flows: Sequence[FloatArray]) -> None:
    """Of all flows: with some that were cut a line ends below 1."""
    for (_, label, (colour, line, _)), each in zip(panel.members, flows, strict=True):
        ended = np.sort(each[~np.isnan(each[:, 1]), 1]) * 1e3
        if len(ended):
            share = np.arange(1, len(ended) + 1) / len(each)
            axes.step(ended, share, where="post", color=colour, linestyle=line, label=f"{label} (n = {len(each)})")
    axes.set_xlabel("flow completion time (ms)")
    axes.set_ylabel("share of all flows")
    axes.set_ylim(0, 1.01)
    log_axis(axes, "x")
    grid(axes)


def _by_size(axes: Axes, panel: Panel, flows: Sequence[FloatArray]) -> None:
    """The quantiles of each class of sizes. Without slowdowns, of the completion times."""
    column = 2 if all(not np.isnan(each[~np.isnan(each[:, 1]), 2]).any() for each in flows) else 1
    for (_, label, (colour, _, mark)), each in zip(panel.members, flows, strict=True):
        axes.plot([], [], color=colour, linestyle="", marker=mark, markersize=4, label=label)
        for share, line, face, _ in SHARES:
            points = [_quantile(members[:, column], share) for members in _classes(each)]
            axes.plot(
                range(len(SIZES_BYTES)), points, line, color=colour, marker=mark, markersize=5,
                markerfacecolor=face or colour,
            )  # fmt: skip
    for _, line, face, word in SHARES:
        axes.plot([], [], line, color=GREY, marker="o", markersize=4, markerfacecolor=face or GREY, label=word)
    bounds = [f"≤ {format_size(bound)}" for bound in SIZES_BYTES if bound is not None]
    axes.set_xticks(range(len(SIZES_BYTES)), [*bounds, "larger"], fontsize=8)
    axes.set_xlabel("size of the flow")
    axes.set_ylabel("slowdown" if column == 2 else "flow completion time (s)")
    if any(np.isfinite(line.get_ydata()).any() for line in axes.get_lines()):
        log_axis(axes, "y")
    axes.legend(fontsize=7, frameon=False, loc="best")
    grid(axes)


def _classes(flows: FloatArray) -> list[FloatArray]:
    found, low = [], 0.0
    for high in SIZES_BYTES:
        most = np.inf if high is None else float(high)
        found.append(flows[(flows[:, 0] > low) & (flows[:, 0] <= most)])
        low = most
    return found


def _quantile(values: FloatArray, share: float) -> float:
    """NaN without flows, and where it depends on one that was cut, which takes longer than any that ended."""
    ordered = np.sort(values)  # NaN comes last
    last = ordered[math.ceil(share * (len(ordered) - 1))] if len(ordered) else float("nan")
    if np.isnan(last):
        return float("nan")
    return float(np.quantile(np.where(np.isnan(ordered), last, ordered), share))
