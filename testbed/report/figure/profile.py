"""The throughput profile: goodput over the round-trip time, a line for each series. Draws, no I/O.

A point is the mean of the repetitions, with its 95 % t interval where there are several; each trial has a mark. At one
round-trip time there are no lines, but a bar for each series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis import statistic
from ...analysis.series import Series
from ...trial.result import TrialResult
from ..headline import scaled_rate
from ..stored_run import StoredRun
from .option import Options
from .style import (
    ACROSS,
    GREY,
    WIDE,
    Look,
    grid,
    grid_of_axes,
    legend,
    log_axis,
    panels,
    plain_number,
    rate_word,
)

LEAST_GAP = 0.07
"""The share of an axis that a number of three digits takes, where three figures stand side by side."""


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    if len({each.asked.rtt_s for each in run.usable}) == 1:
        _bars(figure, run)
        return
    shown = panels([each for each in run.series if each.trials], has_all=True, alone="goodput")
    scale, unit = scaled_rate(max(each.usable_goodput_bps for each in run.usable))
    row = grid_of_axes(figure, len(shown))
    for axes, panel in zip(row, shown, strict=True):
        for series, label, look in panel.members:
            _line(axes, series, label, look, scale)
        axes.set_title(panel.title, fontsize=10)
        axes.set_xlabel("round-trip time (ms)")
        grid(axes)
    for axes in row[::ACROSS]:
        axes.set_ylabel(f"goodput at the receiver ({unit})")
    _scales(row, run.usable, scale)
    legend(figure, row)


def _bars(figure: Figure, run: StoredRun) -> None:
    """The first series at the top, as in the tables."""
    scale, unit = scaled_rate(max(each.usable_goodput_bps for each in run.usable))
    found = panels([each for each in run.series if each.trials], has_all=True, alone="goodput")
    members = [(panel.title, *each) for panel in found for each in panel.members]
    axes = figure.subplots()
    figure.set_size_inches(WIDE, 1.4 + BAR_INCHES * len(members))
    for place, (_, series, _, look) in enumerate(members):
        goodputs = [each.usable_goodput_bps for each in series.trials]
        interval = statistic.above_zero(statistic.t_interval(goodputs)) if len(goodputs) > 1 else None
        mean = sum(goodputs) / len(goodputs) / scale
        axes.barh([place], [mean], color=look[0], alpha=0.75, height=0.7)
        if interval is not None:
            ends = [[mean - interval.low / scale], [interval.high / scale - mean]]
            axes.errorbar([mean], [place], xerr=ends, color="black", capsize=3, linewidth=1, zorder=3)
        for each in series.trials:
            face = "black" if each.verdict == "valid" else "white"
            axes.plot([each.usable_goodput_bps / scale], [place], "ok", markerfacecolor=face, markersize=3.5)
    names = [", ".join(filter(None, (title, label))) for title, _, label, _ in members]
    axes.set_yticks(range(len(members)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    rtt_s = run.usable[0].asked.rtt_s
    axes.set_xlabel(f"goodput at the receiver ({unit}), at a round-trip time of {rtt_s * 1e3:g} ms")
    grid(axes)
    rates = {each.asked.rate_bps for each in run.usable}
    rate = rates.pop() if len(rates) == 1 else None
    if rate is not None:
        axes.axvline(rate / scale, color=GREY, linewidth=1, linestyle=(0, (1, 3)), label=f"link rate {rate_word(rate)}")
        axes.legend(fontsize=8, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0))


BAR_INCHES = 0.32


def _line(axes: Axes, series: Series, label: str, look: Look, scale: float) -> None:
    colour, line, mark = look
    profile = series.profile()
    assert profile is not None, "BUG: a series with trials has a profile"
    rtts = [rtt * 1e3 for rtt in profile.rtt_s]
    means = [mean / scale for mean in profile.mean_bps]
    axes.plot(rtts, means, line, color=colour, linewidth=1.5)
    for rtt, mean, samples in zip(rtts, means, profile.samples_bps, strict=True):
        if len(samples) > 1:
            interval = statistic.above_zero(statistic.t_interval(samples))
            ends = [[mean - interval.low / scale], [interval.high / scale - mean]]
            axes.errorbar([rtt], [mean], yerr=ends, color=colour, capsize=3, linewidth=1, zorder=3)
    many = any(len(samples) > 1 for samples in profile.samples_bps)
    for each in series.trials:
        face = colour if each.verdict == "valid" else "white"
        size, alpha = (3.5, 0.5) if many else (6, 1.0)
        axes.plot(*_point(each, scale), mark, color=colour, markerfacecolor=face, markersize=size, alpha=alpha)
    axes.plot([], [], line, color=colour, marker=mark, linewidth=1.5, label=label)


def _scales(row: Sequence[Axes], results: Sequence[TrialResult], scale: float) -> None:
    """Logarithmic both, where nothing is 0; and the link's rate, if it has one."""
    rates = {each.asked.rate_bps for each in results if each.asked.rate_bps is not None}
    ticks = sorted({each.asked.rtt_s * 1e3 for each in results})
    least = min(each.usable_goodput_bps for each in results)
    for number, axes in enumerate(row):
        if len(rates) == 1:
            rate = next(iter(rates))
            label = f"link rate {rate_word(rate)}" if number == len(row) - 1 else None
            axes.axhline(rate / scale, color=GREY, linewidth=1, linestyle=(0, (1, 3)), label=label)
        if least > 0:
            log_axis(axes, "y")
        if ticks[0] > 0 and len(ticks) > 1:
            axes.set_xscale("log")
            axes.set_xticks(ticks, [plain_number(tick) for tick in ticks], rotation=45 if _touch(ticks) else 0)
            axes.minorticks_off()


def _touch(ticks: Sequence[float]) -> bool:
    """Whether numbers beside one another would touch on a logarithmic axis."""
    nearest = min(math.log(after / before) for before, after in pairwise(ticks))
    return nearest / math.log(ticks[-1] / ticks[0]) < LEAST_GAP


def _point(each: TrialResult, scale: float) -> tuple[float, float]:
    return each.asked.rtt_s * 1e3, each.usable_goodput_bps / scale
