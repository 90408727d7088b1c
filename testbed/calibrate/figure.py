"""The figure: measured and rebuilt on the same axes. Draws with matplotlib; returns SVG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..analysis import statistic
from ..error import harmless
from ..report.figure.style import COLOURS, grid
from .measurement import Ask, Measurement
from .outcome import Outcome

Pairs = list[tuple[Ask, list[Measurement], tuple[Measurement, ...]]]
MEASURED, REBUILT = COLOURS[0], COLOURS[1]
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
ROOM = 1.1


def draw(outcome: Outcome) -> str:
    """As SVG: throughput over time and over flows, quantiles of RTTs, segments sent again."""
    pairs = list(_pairs(outcome))
    with matplotlib.rc_context({"svg.hashsalt": "testbed", "svg.fonttype": "none", "text.parse_math": False}):
        figure = Figure(figsize=(10, 7), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(2, 2)
        for axes, (title, fill) in zip(panels.flat, PANELS, strict=True):
            axes.set_title(title, fontsize=10, loc="left")
            fill(axes, pairs)
            grid(axes)
            if not axes.has_data():
                axes.text(0.5, 0.5, "the files do not tell it", ha="center", va="center", transform=axes.transAxes)
        for colour, word in ((MEASURED, "measured"), (REBUILT, "rebuilt")):
            panels.flat[0].plot([], [], color=colour, label=word)
        panels.flat[0].legend(fontsize=8, frameon=False)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()[drawn.getvalue().index("<svg") :]


def _pairs(outcome: Outcome) -> Iterator[tuple[Ask, list[Measurement], tuple[Measurement, ...]]]:
    found: dict[Ask, list[Measurement]] = {}
    for reading in (*outcome.readings, *outcome.held):
        for each in reading.measurements:
            if each.ask is not None:
                found.setdefault(each.ask, []).append(each)
    for ask, runs in found.items():
        yield ask, runs, outcome.rebuilt.runs.get(ask, ())


def _over_time(axes: Axes, pairs: Pairs) -> None:
    for _, measured, rebuilt in pairs:
        for runs, colour in ((measured, MEASURED), (rebuilt[:1], REBUILT)):
            for run in runs:
                if run.transfer is not None and run.transfer.seconds:
                    times = [each.end_s for each in run.transfer.seconds]
                    rates = [each.rate_bps / 1e6 for each in run.transfer.seconds]
                    axes.plot(times, rates, color=colour, linewidth=1, alpha=0.7)
    axes.set_xlabel("s")
    axes.set_ylabel("Mbit/s")
    from_zero(axes)


def _over_flows(axes: Axes, pairs: Pairs) -> None:
    for ask, measured, rebuilt in pairs:
        for runs, colour, mark in ((measured, MEASURED, "o"), (rebuilt, REBUILT, "x")):
            values = [run.transfer.goodput_bps / 1e6 for run in runs if run.transfer is not None]
            if values and ask.protocol == "tcp":
                axes.plot([ask.flows] * len(values), values, mark, color=colour, markersize=6, fillstyle="none")
    axes.set_xlabel("flows")
    axes.set_ylabel("Mbit/s")
    from_zero(axes)


def from_zero(axes: Axes) -> None:
    """The axis begins at 0 and has room above the largest value, also where all values are alike."""
    top = axes.dataLim.y1 if axes.has_data() else 0.0
    axes.set_ylim(0, top * ROOM if top > 0 else 1)


def _quantiles(axes: Axes, pairs: Pairs) -> None:
    for _, measured, rebuilt in pairs:
        for runs, colour in ((measured, MEASURED), (rebuilt, REBUILT)):
            for run in runs:
                values = _rtts(run)
                if len(values) >= len(SHARES):
                    quantiles = [statistic.quantile(values, share) * 1e3 for share in SHARES]
                    line = "-" if run.pings is not None else "--"
                    axes.plot(quantiles, SHARES, line, color=colour, marker=".", linewidth=1, alpha=0.7)
    axes.set_xlabel("ms (solid: ping, dashed: TCP under load)")
    axes.set_ylabel("share")


def _rtts(run: Measurement) -> list[float]:
    if run.pings is not None:
        return list(run.pings.rtts_s)
    return [] if run.transfer is None else [rtt_s for each in run.transfer.seconds for rtt_s in each.rtts_s]


def _resent(axes: Axes, pairs: Pairs) -> None:
    names: list[str] = []
    for ask, measured, rebuilt in pairs:
        sides = [_shares(measured), _shares(rebuilt)]
        if not any(sides):
            continue
        at = len(names)
        names.append(harmless(ask.said()))
        for values, colour, off in zip(sides, (MEASURED, REBUILT), (-0.15, 0.15), strict=True):
            if values:
                axes.bar(at + off, statistic.mean(values) * 100, 0.3, color=colour)
    axes.set_xticks(range(len(names)), names, fontsize=6, rotation=15, ha="right")
    axes.set_ylabel("% of segments")


def _shares(runs: Sequence[Measurement]) -> list[float]:
    found = []
    for run in runs:
        transfer = run.transfer
        if transfer is not None and transfer.retransmits is not None and transfer.segments:
            found.append(transfer.retransmits / transfer.segments)
    return found


PANELS: tuple[tuple[str, Callable[[Axes, Pairs], None]], ...] = (
    ("throughput over time", _over_time),
    ("throughput over flows", _over_flows),
    ("quantiles of round-trip times", _quantiles),
    ("segments sent again", _resent),
)
