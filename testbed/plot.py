"""Figures of a run, with matplotlib. Writes the file it is asked for; returns nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from .error import UserError
from .result import TrialResult

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which colour-blind people can tell apart."""

LINES = ("-", "--", "-.", ":")
MARKERS = "osD^vP*X"
WIDE, HIGH = 7.0, 4.5


def draw(kind: str, results: Sequence[TrialResult], title: str, path: Path) -> None:
    """Draws a figure of the results that are not invalid. The ending of `path` says the format.

    Raises UserError for an unknown kind, for results that the kind cannot show, and for a path that cannot be written.
    """
    if kind not in KINDS:
        raise UserError(f"unknown kind of figure {kind!r}; allowed: {', '.join(KINDS)}")
    usable = [each for each in results if each.verdict != "invalid" and each.data["goodput_bps"] is not None]
    if not usable:
        raise UserError("there is no trial with a goodput that is not invalid; allowed: results with at least one")
    figure = Figure(figsize=(WIDE, HIGH), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    KINDS[kind](axes, usable)
    axes.set_title(title, fontsize=11, loc="left")
    left_out = len(results) - len(usable)
    note = "; ".join(
        [
            f"{len(usable)} trials, kernel {', '.join(sorted({each.data['kernel_release'] for each in usable}))}",
            *([f"{left_out} invalid or without goodput left out"] if left_out else []),
            *(["open marks: suspect"] if any(each.verdict == "suspect" for each in usable) else []),
        ]
    )
    figure.supxlabel(note, fontsize=8, color="0.35")
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise UserError(f"the figure {path} cannot be written: {error}") from None


def _profile(axes: Axes, results: Sequence[TrialResult]) -> None:
    """Goodput over RTT: one line through the means of each combination of the other parameters, a mark for a trial.

    The first parameter that varies has the colour, the second the line, the third the mark.
    """
    keys = [key for key in _varied(results) if not key.endswith(".rtt")]
    series: dict[tuple[str, ...], list[TrialResult]] = {}
    for each in results:
        series.setdefault(tuple(each.data["params"].get(key, "") for key in keys), []).append(each)
    for values, members in series.items():
        colour, line, mark = _style(values, list(series))
        by_rtt: dict[float, list[float]] = {}
        for each in members:
            by_rtt.setdefault(_point(each)[0], []).append(_point(each)[1])
        points = sorted((rtt, sum(found) / len(found)) for rtt, found in by_rtt.items())
        axes.plot(*zip(*points, strict=True), line, color=colour, linewidth=1.5)
        for each in members:
            face = colour if each.verdict == "valid" else "white"
            axes.plot(*_point(each), mark, color=colour, markerfacecolor=face, markersize=6)
        words = ", ".join(_word(key, value) for key, value in zip(keys, values, strict=True))
        axes.plot([], [], line, color=colour, marker=mark, linewidth=1.5, label=words or "goodput")
    rates = {each.data["asked"]["rate_bps"] for each in results} - {None}
    if len(rates) == 1:
        axes.axhline(rates.pop() / 1e6, color="0.6", linewidth=1, linestyle=":", label="link rate")
    axes.set_xlabel("round-trip time (ms)")
    axes.set_ylabel("goodput at the receiver (Mbit/s)")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(True, which="major", color="0.9")
    ticks = sorted({_point(each)[0] for each in results})
    if ticks[0] > 0:
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _point(each: TrialResult) -> tuple[float, float]:
    """RTT in ms, goodput in Mbit/s."""
    return each.data["asked"]["rtt_s"] * 1e3, each.data["goodput_bps"] / 1e6


def _varied(results: Sequence[TrialResult]) -> list[str]:
    """The parameters that have more than one value."""
    keys = dict.fromkeys(key for each in results for key in each.data["params"])
    return [key for key in keys if len({each.data["params"].get(key) for each in results}) > 1]


def _style(values: tuple[str, ...], all_values: Sequence[tuple[str, ...]]) -> tuple[str, str, str]:
    """Colour, line and mark: what a value's number among the values of its parameter says."""
    places = [list(dict.fromkeys(each[i] for each in all_values)).index(value) for i, value in enumerate(values)]
    colour, line, mark = (*places, 0, 0, 0)[:3]
    return COLOURS[colour % len(COLOURS)], LINES[line % len(LINES)], MARKERS[mark % len(MARKERS)]


def _word(key: str, value: str) -> str:
    name = key.rsplit(".", 1)[-1]
    if name == "flows":
        return f"{value} flow{'s' if value != '1' else ''}"
    return f"{name} {value}" if name in ("window", "loss", "rate", "buffer") else value


KINDS: dict[str, Callable[[Axes, Sequence[TrialResult]], None]] = {"profile": _profile}
