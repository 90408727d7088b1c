"""Figures of a run, with matplotlib. Writes the file it is asked for; returns nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .error import UserError
from .result import TrialResult

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which colour-blind people can tell apart."""

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
    """Goodput over RTT: one line through the means of each combination of the other parameters, a mark for a trial."""
    series = _series(results)
    for number, (label, members) in enumerate(series.items()):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        by_rtt: dict[float, list[float]] = {}
        for each in members:
            by_rtt.setdefault(each.data["asked"]["rtt_s"] * 1e3, []).append(each.data["goodput_bps"] / 1e6)
        points = sorted((rtt, sum(values) / len(values)) for rtt, values in by_rtt.items())
        style = "-" if number < len(COLOURS) else "--"
        axes.plot(*zip(*points, strict=True), style, color=colour, label=label, linewidth=1.5)
        for each in members:
            at = each.data["asked"]["rtt_s"] * 1e3, each.data["goodput_bps"] / 1e6
            face = colour if each.verdict == "valid" else "white"
            axes.plot(*at, marker, color=colour, markerfacecolor=face, markersize=6)
    rates = {each.data["asked"]["rate_bps"] for each in results} - {None}
    if len(rates) == 1:
        axes.axhline(rates.pop() / 1e6, color="0.6", linewidth=1, linestyle=":", label="link rate")
    axes.set_xlabel("round-trip time (ms)")
    axes.set_ylabel("goodput at the receiver (Mbit/s)")
    axes.set_yscale("log")
    axes.grid(True, which="major", color="0.9")
    if min(each.data["asked"]["rtt_s"] for each in results) > 0:
        axes.set_xscale("log")
        ticks = sorted({each.data["asked"]["rtt_s"] * 1e3 for each in results})
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _series(results: Sequence[TrialResult]) -> Mapping[str, list[TrialResult]]:
    """Trials that differ in RTT and seed only. The label names the parameters that differ between series."""
    keys = list(dict.fromkeys(key for each in results for key in each.data["params"] if not key.endswith(".rtt")))
    varied = [key for key in keys if len({each.data["params"].get(key) for each in results}) > 1]
    found: dict[str, list[TrialResult]] = {}
    for each in results:
        words = [_word(key, each.data["params"].get(key, "")) for key in varied]
        found.setdefault(", ".join(words) or "goodput", []).append(each)
    return found


def _word(key: str, value: str) -> str:
    name = key.rsplit(".", 1)[-1]
    if name == "flows":
        return f"{value} flow{'s' if value != '1' else ''}"
    return f"{name} {value}" if name in ("window", "loss", "rate", "buffer") else value


KINDS: dict[str, Callable[[Axes, Sequence[TrialResult]], None]] = {"profile": _profile}
