"""What goodput costs: a point for each trial, goodput over another metric such as the RTT under load. Draws.

Of several trials that differ in the seed only the mean is drawn larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from matplotlib.figure import Figure

from ...analysis import flow_sample
from ...analysis.metric import METRICS, Metric
from ...analysis.series import Series
from ...error import UserError, one_of
from ..headline import scaled_rate
from ..stored_run import StoredRun
from .option import Options
from .style import ACROSS, cells, grid, grid_of_axes, log_axis

USUAL = "rtt-p95"
WIDE_RANGE = 5
SMALL, LARGE = 3.5, 8.0


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """Raises UserError for an unknown metric, and where no trial has it."""
    name = options.metric or USUAL
    if name not in METRICS or name == "goodput":
        allowed = [each for each in METRICS if each != "goodput"]
        raise UserError(f"there is no metric {name!r} to set goodput against; allowed: {one_of(allowed, name)}")
    metric = METRICS[name]
    shown, pooled = cells(run)
    points = {id(series): [*_points(run, series, metric)] for panel in shown for series, _, _ in panel.members}
    every = [point for each in points.values() for point in each]
    if not every:
        raise UserError(f"no trial of this run has values of {name}; allowed: another --metric")
    scale, unit = scaled_rate(max(rate for _, rate in every))
    means = "small marks: trials; large ones: their means over the seeds" if _are_several(points.values()) else ""
    row = grid_of_axes(figure, len(shown))
    for axes, panel in zip(row, shown, strict=True):
        for series, label, (colour, _, mark) in panel.members:
            found = [(value, rate / scale) for value, rate in points[id(series)]]
            if not found:
                continue
            words, has_mean = f"{label} (n = {len(found)})", len(found) == 1 or not pooled
            if len(found) > 1:
                small = None if has_mean else words
                axes.plot(*zip(*found, strict=True), mark, color=colour, markersize=SMALL, alpha=0.5, label=small)
            if has_mean:
                mean = [fmean(each) for each in zip(*found, strict=True)]
                axes.plot(*mean, mark, color=colour, markersize=LARGE, label=words)
        better = "more" if metric.is_more_better else "less"
        axes.set_title(panel.title, fontsize=10)
        what = f"{metric.what}{f' ({metric.unit})' if metric.unit else ''}: {better} is better"
        axes.set_xlabel("\n".join(filter(None, (what, pooled or means))))
        axes.set_ylim(0, 1.08 * max(rate for _, rate in every) / scale)
        grid(axes)
        axes.legend(fontsize=7, frameon=False, loc="best")
    values = [value for value, _ in every]
    if min(values) > 0 and max(values) > WIDE_RANGE * min(values):
        for axes in row:
            log_axis(axes, "x")
    for axes in row[::ACROSS]:
        axes.set_ylabel(f"goodput ({unit})")


def _are_several(points: Iterable[Sequence[object]]) -> bool:
    return any(len(each) > 1 for each in points)


def _points(run: StoredRun, series: Series, metric: Metric) -> Iterator[tuple[float, float]]:
    """The metric in its unit, and the goodput in bit/s, of each trial that has both."""
    for each in series.trials:
        value = flow_sample.metrics(run.folder(each.id), each, [metric.name])[metric.name]
        if value is not None and each.goodput_bps is not None:
            yield value * metric.scale, each.goodput_bps
