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
MANY_SERIES = 8
LINK_RATE = "link rate"


def draw(kind: str, results: Sequence[TrialResult], title: str, path: Path) -> None:
    """Draws a figure of the results that are not invalid. The ending of `path` says the format.

    Raises UserError for an unknown kind, for results that the kind cannot show, and for a path that cannot be written.
    """
    if kind not in KINDS:
        raise UserError(f"unknown kind of figure {kind!r}; allowed: {', '.join(KINDS)}")
    usable = [each for each in results if each.verdict != "invalid" and each.data["goodput_bps"] is not None]
    if not usable:
        raise UserError("there is no trial with a goodput that is not invalid; allowed: results with at least one")
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    KINDS[kind](figure, usable)
    figure.suptitle(title, fontsize=11, x=0.01, horizontalalignment="left")
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


def _profile(figure: Figure, results: Sequence[TrialResult]) -> None:
    """Goodput over RTT. More series than one can tell apart are shared out over panels, one for each value of the first
    parameter that varies.
    """
    keys = [key for key in _varied(results) if not _follows_rtt(key, results)]
    series = list(dict.fromkeys(_values(each, keys) for each in results))
    several = len(series) > MANY_SERIES
    shown = list(dict.fromkeys(values[several:] for values in series))
    panels: dict[str, list[TrialResult]] = {}
    for each in results:
        panels.setdefault(each.data["params"].get(keys[0], "") if several else "", []).append(each)
    figure.set_size_inches(WIDE * (1 + 0.55 * (len(panels) - 1)), HIGH)
    row = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for number, (axes, (value, members)) in enumerate(zip(row, panels.items(), strict=True)):
        _panel(axes, members, keys[several:], shown)
        axes.set_title(_word(keys[0], value) if several else "", fontsize=10)
        if number == 0:
            axes.set_ylabel("goodput at the receiver (Mbit/s)")
    words = {word: handle for axes in row for handle, word in zip(*axes.get_legend_handles_labels(), strict=True)}
    words |= {LINK_RATE: words.pop(LINK_RATE)} if LINK_RATE in words else {}
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    row[-1].legend(words.values(), words.keys(), fontsize=8, frameon=False, **place)


def _panel(
    axes: Axes, results: Sequence[TrialResult], keys: Sequence[str], all_values: Sequence[tuple[str, ...]]
) -> None:
    """One line through the means of each combination of these parameters, a mark for a trial.

    The first parameter has the colour, the second the line, the third the mark.
    """
    series: dict[tuple[str, ...], list[TrialResult]] = {}
    for each in results:
        series.setdefault(_values(each, keys), []).append(each)
    for values, members in series.items():
        colour, line, mark = _style(values, all_values)
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
        axes.axhline(rates.pop() / 1e6, color="0.6", linewidth=1, linestyle=":", label=LINK_RATE)
    axes.set_xlabel("round-trip time (ms)")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(True, which="major", color="0.9")
    ticks = sorted({_point(each)[0] for each in results})
    if ticks[0] > 0:
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _point(each: TrialResult) -> tuple[float, float]:
    """RTT in ms, goodput in Mbit/s."""
    return each.data["asked"]["rtt_s"] * 1e3, each.data["goodput_bps"] / 1e6


def _varied(results: Sequence[TrialResult]) -> list[str]:
    """The parameters that have more than one value."""
    keys = dict.fromkeys(key for each in results for key in each.data["params"])
    return [key for key in keys if len({each.data["params"].get(key) for each in results}) > 1]


def _values(each: TrialResult, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(each.data["params"].get(key, "") for key in keys)


def _follows_rtt(key: str, results: Sequence[TrialResult]) -> bool:
    """Whether a parameter tells no series from another: it is the RTT, or goes with it, as in a group of axes."""
    by_rtt: dict[float, set[str]] = {}
    for each in results:
        by_rtt.setdefault(_point(each)[0], set()).add(each.data["params"].get(key, ""))
    return len(by_rtt) > 1 and all(len(values) == 1 for values in by_rtt.values())


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


KINDS: dict[str, Callable[[Figure, Sequence[TrialResult]], None]] = {"profile": _profile}
