"""How a number is distributed: the share of trials, or of samples, at or below a value. Draws.

With a metric of samples the files of the trials are read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from ...analysis import flow_sample, statistic
from ...analysis.metric import METRICS
from ...analysis.series import Series
from ...error import UserError, one_of
from ..signal import inside
from ..stored_run import StoredRun
from .option import Options
from .style import ACROSS, cells, grid, grid_of_axes, log_axis

SAMPLED: dict[str, tuple[str, str, float]] = {
    "srtt": ("smoothed round-trip times, all samples", "ms", 1e3),
    "rate": ("goodput of a flow over a second", "Mbit/s", 1e-6),
}
"""What every sample has, besides what every trial has."""
WIDE_RANGE = 100


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """A line for each series and RTT. Raises UserError for an unknown metric, and where nothing has it."""
    name = options.metric or "goodput"
    if name not in METRICS and name not in SAMPLED:
        raise UserError(f"there is no metric {name!r}; allowed: {one_of([*METRICS, *SAMPLED], name)}")
    what, unit, scale = SAMPLED[name] if name in SAMPLED else _of_trials(name)
    of: Callable[[StoredRun, Series], list[float]] = _samples(name) if name in SAMPLED else _trials(name)
    shown, pooled = cells(run)
    row = grid_of_axes(figure, len(shown))
    seen: list[float] = []
    for axes, panel in zip(row, shown, strict=True):
        for series, label, (colour, line, _) in panel.members:
            values = [value * scale for value in of(run, series)]
            if values:
                seen += [min(values), max(values)]
                steps = statistic.cdf(values)
                x, share = np.array([steps.x[0], *steps.x]), np.array([0.0, *steps.share])
                axes.step(x, share, where="post", color=colour, linestyle=line, label=f"{label} (n = {len(values)})")
        axes.set_title(panel.title, fontsize=10)
        axes.set_xlabel("\n".join(filter(None, (f"{what} ({unit})" if unit else what, pooled))))
        axes.set_ylim(0, 1.01)
        grid(axes)
        axes.legend(fontsize=7, frameon=False, loc="best")
    if not seen:
        raise UserError(f"no trial of this run has values of {name}; allowed: {one_of([*METRICS, *SAMPLED], name)}")
    if min(seen) > 0 and max(seen) > WIDE_RANGE * min(seen):
        for axes in row:
            log_axis(axes, "x")
    for axes in row[::ACROSS]:
        axes.set_ylabel("share of samples" if name in SAMPLED else "share of trials")


def _of_trials(name: str) -> tuple[str, str, float]:
    metric = METRICS[name]
    return metric.what, metric.unit, metric.scale


def _trials(name: str) -> Callable[[StoredRun, Series], list[float]]:
    def of(run: StoredRun, series: Series) -> list[float]:
        found = [flow_sample.metrics(run.folder(each.id), each, [name])[name] for each in series.trials]
        return [value for value in found if value is not None]

    return of


def _samples(name: str) -> Callable[[StoredRun, Series], list[float]]:
    """Once the ramp is over, where one is left out."""

    def of(run: StoredRun, series: Series) -> list[float]:
        found: list[float] = []
        for each in series.trials:
            for flow in inside(run.folder(each.id), each).flows:
                values = flow.srtt_s if name == "srtt" else flow.goodput_bps
                steady = (flow.time_s >= (each.steady_s or 0.0)) & np.isfinite(values)
                found += values[steady].tolist()
        return found

    return of
