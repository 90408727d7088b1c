"""The figure of a run against a published profile, with matplotlib. Writes the file it is asked for, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...analysis import statistic
from ...analysis.series import Series, Span
from ...compare.profile import ProfileComparison, scaled
from ...error import UserError
from .style import COLOURS, HIGH, LINES, MARKERS, WIDE

PUBLISHED = "0.15"
"""Published points are dark grey, the line between them dotted: nobody measured there."""


def draw(found: ProfileComparison, path: Path, span: Span = "steady") -> None:
    """Ours as lines with t intervals, what was published as open marks; both as shares of the capacity.

    Raises UserError for a path that cannot be written.
    """
    figure = Figure(figsize=(WIDE, HIGH), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    ours = list({id(match.ours): match.ours for each in found.targets for match in each.matches}.values())
    _ours(axes, ours, span)
    for number, each in enumerate(found.targets):
        profile, mark = each.target.profile, MARKERS[(number + 3) % len(MARKERS)]
        x, y = [rtt * 1e3 for rtt in profile.rtt_s], [100 * share for share in profile.mean_bps]
        axes.plot(x, y, ":", color=PUBLISHED, linewidth=1)
        word = f"published: {each.target.name}"
        axes.plot(x, y, mark, color=PUBLISHED, markersize=9, markerfacecolor="none", markeredgewidth=1.8, label=word)
    axes.set_xlabel("round-trip time (ms)")
    axes.set_ylabel("throughput (% of the capacity)")
    axes.set_xlim(left=0)  # linear, for on a logarithmic axis concave looks convex
    axes.set_ylim(bottom=0)
    axes.grid(True, which="major", color="0.9")
    axes.set_title(f"{found.profile.name}: {'agrees' if found.agrees else 'differs'}", fontsize=11, loc="left")
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    cite = found.profile.citation
    figure.supxlabel(f"published: {cite.authors[0]} et al., {cite.title}", fontsize=8, color="0.35")
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise UserError(f"the figure {path} cannot be written: {error}; allowed: .png, .svg, .pdf") from None


def _ours(axes: Axes, ours: Sequence[Series], span: Span) -> None:
    for number, each in enumerate(ours):
        profile, capacity = each.profile(span), each.capacity_bps
        assert profile is not None, "BUG: a compared series without a profile"
        assert capacity is not None, "BUG: a compared series without a capacity"
        share = scaled(profile, 100 / capacity)
        halves = [_half(samples) for samples in share.samples_bps]
        axes.errorbar(
            [rtt * 1e3 for rtt in share.rtt_s],
            share.mean_bps,
            yerr=halves,
            color=COLOURS[number % len(COLOURS)],
            linestyle=LINES[number // len(COLOURS) % len(LINES)],
            marker="o",
            markersize=4,
            linewidth=1.5,
            capsize=2,
            label=f"ours: {each.label}" + (" (suspect)" if each.suspect else ""),
        )


def _half(samples: Sequence[float]) -> float:
    """Half of the t interval of the mean; 0 for a single repetition."""
    if len(samples) < 2:
        return 0.0
    interval = statistic.t_interval(samples)
    return (interval.high - interval.low) / 2
