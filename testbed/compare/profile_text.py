"""A comparison with a published profile as text: rows of a table, notes, Markdown, JSON. Pure, no I/O."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..analysis.point import Figure, PointDifference, Verdict
from ..analysis.profile import Limit
from ..codec.markup import escaped
from .profile import Match, ProfileComparison, TargetComparison
from .quantity import RATE
from .run_text import Row, interval_text, markdown

HEADERS = (
    "published", "ours", "RTT", "published value", "known to", "our value", "difference", "95 % interval", "verdict",
)  # fmt: skip
SUMMARY_HEADERS = (
    "published", "ours", "RTTs", "RMS", "95 % interval", "C_UC difference", "shape", "verdict", "claim",
)  # fmt: skip
LIMITS: dict[Limit | None, str] = {"at least": "≥ ", "at most": "≤ ", None: ""}
WORDS: dict[Verdict, str] = {"agree": "agrees", "differ": "differs", "cannot tell": "cannot tell"}


def point_rows(comparison: ProfileComparison) -> list[Row]:
    """A row for each published point of each match."""
    return [
        (
            target.target.name,
            match.ours.label,
            f"{point.rtt_s * 1e3:g} ms" + ("" if match.target.about.has_rtt else " (ours)"),
            LIMITS[point.limit] + _value(point.published_bps, match),
            _known_to(point, target.target.certainty(point.rtt_s)),
            _value(point.measured_bps, match),
            f"{100 * point.relative.value:+.1f} %",
            interval_text(point.relative.interval),
            point.verdict(comparison.choice.tolerance),
        )
        for target in comparison.targets
        for match in target.matches
        for point in match.distance.points
    ]


def _known_to(point: PointDifference, certainty: str) -> str:
    """The digits of a number that was measured say how it is printed, not how well it is known."""
    if point.is_of_one:
        return "one run: noise unknown"
    off = f"±{_percent(point.share_off + point.share_by_chance)}"
    if not point.share_by_chance:
        return f"{off}, {certainty}"
    return f"{off}, mean of several runs" + ("" if certainty == "exact" else f", {certainty}")


def summary_rows(comparison: ProfileComparison) -> list[Row]:
    """A row for each match, the nearest first; the verdicts that decide are in capitals."""
    return [
        (
            target.target.name,
            match.ours.label,
            _covered(match),
            _percent(match.distance.rms.value) if match.distance.rms else "-",
            _interval(match.distance.rms),
            _c_uc(match),
            _shape(match),
            match.verdict.upper() if match.fits else match.verdict,
            match.claim,
        )
        for target in comparison.targets
        for match in target.matches
    ]


def notes(comparison: ProfileComparison) -> list[str]:
    """Which of our series explains each published series best, and the cautions."""
    lines = [_explained(target) for target in comparison.targets if target.ranking]
    lines += [
        f"{target.target.name}: none of our series fits its conditions, so none decides"
        for target in comparison.targets
        if not target.judged
    ]
    shown = [match for target in comparison.targets for match in target.matches]
    for text in dict.fromkeys(text for match in shown for text in match.cautions):
        about = [f"{match.target.name} with {match.ours.label}" for match in shown if text in match.cautions]
        lines.append(f"{text} ({'all' if len(about) == len(shown) > 1 else '; '.join(about)})")
    lines += [f"lost, so nothing is shown to agree: {text}" for text in comparison.lost]
    return lines + [f"not compared: {text}" for text in comparison.not_compared if text not in comparison.lost]


def summary(comparison: ProfileComparison) -> str:
    verdicts = [each.verdict for each in comparison.targets]
    counts = {words: verdicts.count(verdict) for verdict, words in WORDS.items()}
    counted = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
    is_rate = all(each.target.quantity.base_unit == RATE for each in comparison.targets)
    of = "shares of the rate" if comparison.choice.as_shares else "each throughput" if is_rate else "each number"
    within = f"within {_percent(comparison.choice.tolerance)} of {of}"
    return f"overall: {WORDS[comparison.verdict]} ({len(verdicts)} published series, {within}: {counted})"


def to_markdown(comparison: ProfileComparison) -> str:
    cite = comparison.profile.citation
    year = f", {cite.year}" if cite.year else ""
    head = [
        f"Published: {escaped(', '.join(cite.authors))}: *{escaped(cite.title)}*{year}.",
        escaped(summary(comparison)),
    ]
    return (
        markdown(SUMMARY_HEADERS, summary_rows(comparison), head)
        + "\n"
        + markdown(HEADERS, point_rows(comparison), (), notes(comparison))
    )


def to_json(comparison: ProfileComparison) -> str:
    whole = {
        "profile": comparison.profile.name,
        "tolerance": comparison.choice.tolerance,
        "as_shares": comparison.choice.as_shares,
        "verdict": comparison.verdict,
        "series": [_target(each) for each in comparison.targets],
        "notes": notes(comparison),
        "not_compared": list(comparison.not_compared),
        "lost": list(comparison.lost),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _target(comparison: TargetComparison) -> dict[str, Any]:
    return {
        "published": comparison.target.name,
        "of": dict(comparison.target.series.of),
        "where": comparison.target.series.where,
        "metric": comparison.target.quantity.name,
        "states_rtt": comparison.target.about.has_rtt,
        "capacity_bps": comparison.target.capacity_bps,
        "agrees": comparison.verdict == "agree",
        "verdict": comparison.verdict,
        "best": [asdict(each) for each in comparison.ranking],
        "matches": [_match(each) for each in comparison.matches],
    }


def _match(match: Match) -> dict[str, Any]:
    return {
        "ours": match.ours.label,
        "params": dict(match.ours.params),
        "capacity_bps": match.ours.capacity_bps,
        "agrees": match.verdict == "agree",
        "verdict": match.verdict,
        "fits": match.fits,
        "unit": "share" if match.is_share else match.target.quantity.base_unit,
        "conditions": [asdict(each) for each in match.conditions],
        "claim": match.claim,
        "cautions": list(match.cautions),
        "rms": None if match.distance.rms is None else asdict(match.distance.rms),
        "shape": None if match.distance.shape is None else asdict(match.distance.shape),
        "points": [_point(point, match) for point in match.distance.points],
        "left_out_rtt_s": list(match.distance.left_out_rtt_s),
    }


def _point(point: PointDifference, match: Match) -> dict[str, Any]:
    """Shares are of each side's rate, and None where it is not known; values are in the unit of the match, and in
    bit/s, too, if they are rates.
    """
    ours, theirs = match.ours.capacity_bps, match.target.capacity_bps
    by_own = (point.published_bps, point.measured_bps)
    published_bps, measured_bps = (
        (value * (rate or 1) for value, rate in zip(by_own, (theirs, ours), strict=True)) if match.is_share else by_own
    )
    is_rate = match.target.quantity.base_unit == RATE
    return {
        "rtt_s": point.rtt_s,
        "published": point.published_bps,
        "measured": point.measured_bps,
        "published_bps": published_bps if is_rate else None,
        "measured_bps": measured_bps if is_rate else None,
        "published_share": None if theirs is None else published_bps / theirs,
        "measured_share": None if ours is None else measured_bps / ours,
        "relative": asdict(point.relative),
        "family_interval": None if point.family is None else asdict(point.family),
        "published_off": point.share_off,
        "published_by_chance": point.share_by_chance,
        "is_between": point.is_between,
        "limit": point.limit,
        "is_exact": point.is_exact,
        "is_within_trial": point.is_apart,
        "is_of_one_run": point.is_of_one,
        "verdict": point.verdict(match.choice.tolerance),
        "certainty": match.target.certainty(point.rtt_s),
    }


def _explained(target: TargetComparison) -> str:
    first = target.ranking[0]
    clear = {True: "; its RMS is below that of all others", False: "; the next one may be as near", None: ""}
    return (
        f"{target.target.name} is explained best by: {first.key} "
        f"(RMS {_percent(first.rms.value)}{clear[first.is_apart]})"
    )


def _covered(match: Match) -> str:
    here, all = len(match.distance.points), len(match.distance.points) + len(match.distance.left_out_rtt_s)
    return str(all) if here == all else f"{here} of {all}"


def _value(value: float, match: Match) -> str:
    if match.is_share:
        return f"{100 * value:.3g} %"
    return match.target.quantity.text(value)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.01 else f"{100 * share:.3g} %"


def _interval(figure: Figure | None) -> str:
    return (
        "-"
        if figure is None or figure.interval is None
        else f"{100 * figure.interval.low:.1f} … {100 * figure.interval.high:.1f} %"
    )


def _c_uc(match: Match) -> str:
    shape = match.distance.shape
    if shape is None:
        return "-"
    interval = shape.c_uc.interval
    return f"{shape.c_uc.value:+.3f}" + (f" ({interval.low:+.3f} … {interval.high:+.3f})" if interval else "")


def _shape(match: Match) -> str:
    shape = match.distance.shape
    if shape is None:
        return "-"
    ours, theirs = (bend or "cannot tell" for bend in (shape.measured_bend, shape.published_bend))
    return ours if shape.is_same else f"{ours}, published {theirs}"
