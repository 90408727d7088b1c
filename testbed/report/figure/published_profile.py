"""The figure of a run against a published profile, with matplotlib. Writes the file it is asked for, nothing else."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...analysis.profile import ThroughputProfile
from ...analysis.series import Series, Span
from ...analysis.statistic import Estimate
from ...compare.profile import Match, ProfileComparison, Target, TargetComparison
from ...compare.profile_text import WORDS
from ...compare.quantity import RATE, SHOWN, Quantity
from ...error import UserError
from ...trial.folder import write_named
from . import unwritable
from .style import COLOURS, HIGH, LINES, MARKERS, WIDE

PUBLISHED = "0.15"
"""Published points are dark grey, the line between them dotted: nobody measured there."""
GREYS = (PUBLISHED, "0.45", "0.7")
"""One for as many published series as there are marks."""
ARROWS = {"at least": "^", "at most": "v", None: "o"}
"""The side of a limit on which ours should be."""
MBIT = 1e6


def draw(found: ProfileComparison, path: Path, span: Span = "steady") -> None:
    """Ours as lines with 95 % intervals, what was published as open marks with how far it may be off.

    Throughputs in Mbit/s; as shares of each side's rate if rates differ. Raises UserError for a path that cannot be
    written, and for numbers of several units.
    """
    quantities = {each.target.quantity.base_unit: each.target.quantity for each in found.targets}
    if len(quantities) > 1:
        names = ", ".join(each.target.name for each in found.targets)
        raise UserError(f"a figure has one unit, and these have {len(quantities)}: {names}; allowed: PROFILE#ONE")
    (shown,) = quantities.values()
    figure = Figure(figsize=(WIDE, HIGH), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    matches = [match for each in found.targets for match in each.matches]
    is_share = any(match.is_share for match in matches)
    ours = list({id(match.ours): match.ours for match in matches}.values())
    axis = _common_axis(found)
    if axis is None:
        _ours(axes, ours, span, shown, is_share)
        for number, each in enumerate(found.targets):
            mark, grey = MARKERS[(number + 3) % len(MARKERS)], GREYS[number // len(MARKERS) % len(GREYS)]
            _published(axes, each.target, mark, grey, shown, is_share)
        axes.set_xlabel("round-trip time (ms)")
        axes.set_xlim(left=0)  # linear, for on a logarithmic axis concave looks convex
    else:
        _over(axes, found.targets, span, shown)
        axes.set_xlabel(axis)
    axes.set_ylabel("throughput (% of the rate)" if is_share else value_label(shown))
    axes.set_ylim(bottom=0)
    axes.grid(True, which="major", color="0.9")
    axes.set_title(f"{found.profile.name}: {WORDS[found.verdict]}", fontsize=11, loc="left")
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    cite = found.profile.citation
    figure.supxlabel(f"published: {_authors(cite.authors)}, {cite.title}", fontsize=8, color="0.35")
    try:
        drawn = io.BytesIO()
        figure.savefig(drawn, format=path.suffix[1:] or "png", dpi=150)
        write_named(path if path.suffix else path.with_name(f"{path.name}.png"), drawn.getvalue())
    except OSError as error:
        raise unwritable(path, error) from None
    except ValueError as error:
        raise UserError(f"the figure {path} cannot be written: {error}; allowed: .png, .svg, .pdf") from None


def _authors(authors: Sequence[str]) -> str:
    return authors[0] if len(authors) == 1 else f"{authors[0]} et al."


def _common_axis(found: ProfileComparison) -> str | None:
    """What the points of one published series are over, if nothing else is shown, and each at one RTT."""
    groups = {(each.target.about.group, each.target.about.axis) for each in found.targets}
    rtts = [len(match.distance.points) for each in found.targets for match in each.matches]
    ((_, axis), *others) = groups
    return None if others or set(rtts) != {1} else axis


def _over(axes: Axes, targets: Sequence[TargetComparison], span: Span, shown: Quantity) -> None:
    """Points at equal distances, in the order in which they are published."""
    unit, said = _unit(shown, None, False), set()
    for at, each in enumerate(targets):
        for match in each.matches:
            ours = "ours" if match.fits else "ours, under other conditions"
            theirs, point = f"published: {each.target.about.group}", match.distance.points[0]
            value, half = _measured(match, span)
            off = (point.share_off + point.share_by_chance) * point.published_bps / unit
            axes.errorbar(
                [at], [value / unit], yerr=[half / unit], fmt="o", capsize=2, markersize=5,
                color=COLOURS[0 if match.fits else 1], label=None if ours in said else ours,
            )  # fmt: skip
            axes.errorbar(
                [at], [point.published_bps / unit], yerr=[off], fmt=ARROWS[point.limit], color=PUBLISHED, capsize=4,
                markersize=9, markerfacecolor="none", label=None if theirs in said else theirs,
            )  # fmt: skip
            said |= {ours, theirs}
    names = [each.target.name.removeprefix(f"{each.target.about.group} at ") for each in targets]
    axes.set_xticks(range(len(names)), names)


def _measured(match: Match, span: Span) -> tuple[float, float]:
    """Ours at the one RTT, and half of its interval."""
    profile, rtt = match.ours.profile(span), match.distance.points[0].rtt_s
    assert profile is not None, "BUG: a compared series without a profile"
    place = min(range(len(profile.rtt_s)), key=lambda number: abs(profile.rtt_s[number] - rtt))
    return profile.mean_bps[place], _half(profile.estimates[place])


def value_label(shown: Quantity) -> str:
    """Of the axis of values."""
    if shown.base_unit == RATE:
        return "throughput (Mbit/s)"
    return f"{shown.what.partition(':')[0]} ({SHOWN.get(shown.base_unit, (shown.base_unit, 1.0))[0]})"


def _unit(shown: Quantity, rate_bps: float | None, is_share: bool) -> float:
    """What is divided by; a rate that nobody knows is no share of anything, and is not drawn."""
    if is_share:
        return (rate_bps or float("nan")) / 100
    return MBIT if shown.base_unit == RATE else 1 / SHOWN.get(shown.base_unit, ("", 1.0))[1]


def _published(axes: Axes, target: Target, mark: str, grey: str, shown: Quantity, is_share: bool) -> None:
    unit = _unit(shown, target.capacity_bps, is_share)
    x = [rtt * 1e3 for rtt in target.published]
    y = [each.mean.value / unit for each in target.published.values()]
    halves = [(each.off_bps + _half(each.mean)) / unit for each in target.published.values()]
    axes.plot(x, y, ":", color=grey, linewidth=1)
    for rtt, each in target.limits:
        axes.plot(rtt * 1e3, each.mean.value / unit, ARROWS[each.limit], color=grey, markersize=9)
    axes.errorbar(
        x,
        y,
        yerr=halves,
        fmt=mark,
        color=grey,
        markersize=9,
        markerfacecolor="none",
        markeredgewidth=1.8,
        linewidth=1,
        capsize=4,
        label=f"published: {target.name}",
    )


def _ours(axes: Axes, ours: Sequence[Series], span: Span, shown: Quantity, is_share: bool) -> None:
    for number, each in enumerate(ours):
        profile: ThroughputProfile | None = each.profile(span)
        assert profile is not None, "BUG: a compared series without a profile"
        unit = _unit(shown, each.capacity_bps, is_share)
        axes.errorbar(
            [rtt * 1e3 for rtt in profile.rtt_s],
            [mean / unit for mean in profile.mean_bps],
            yerr=[_half(mean) / unit for mean in profile.estimates],
            color=COLOURS[number % len(COLOURS)],
            linestyle=LINES[number // len(COLOURS) % len(LINES)],
            marker="o",
            markersize=4,
            linewidth=1.5,
            capsize=2,
            label=f"ours: {each.label}" + (" (suspect)" if each.suspect else ""),
        )


def _half(mean: Estimate) -> float:
    """Half of the interval of a mean; 0 where it has none."""
    interval = mean.interval()
    return 0.0 if interval is None else (interval.high - interval.low) / 2
