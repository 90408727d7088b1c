"""A comparison with a published profile as text: rows of a table, notes, Markdown, JSON. Pure, no I/O."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..analysis.distance import Figure
from .profile import Match, ProfileComparison, TargetComparison
from .run_text import Row, interval_text, markdown

HEADERS = ("published", "ours", "RTT", "published share", "ours share", "difference", "95 % interval", "certainty")
SUMMARY_HEADERS = ("published", "ours", "RMS", "95 % interval", "C_UC difference", "shape", "verdict", "claim")


def point_rows(comparison: ProfileComparison) -> list[Row]:
    """A row for each published point of each match: shares of the capacity, and their relative difference."""
    return [
        (
            target.target.name,
            match.ours.label,
            f"{point.rtt_s * 1e3:g} ms",
            f"{100 * point.published_bps:.1f} %",
            f"{100 * point.measured_bps:.1f} %",
            f"{100 * point.relative.value:+.1f} %",
            interval_text(point.relative.interval),
            target.target.certainties[point.rtt_s],
        )
        for target in comparison.targets
        for match in target.matches
        for point in match.distance.points
    ]


def summary_rows(comparison: ProfileComparison) -> list[Row]:
    """A row for each match, the nearest first; the verdict of the match that decides is in capitals."""
    return [
        (
            target.target.name,
            match.ours.label,
            f"{100 * match.distance.rms.value:.1f} %",
            _interval(match.distance.rms),
            _c_uc(match),
            _shape(match),
            _verdict(target, match),
            match.claim,
        )
        for target in comparison.targets
        for match in target.matches
    ]


def notes(comparison: ProfileComparison) -> list[str]:
    """Which of our series explains each published series best, and the cautions."""
    lines = []
    for target in comparison.targets:
        first = target.ranking[0]
        wins = "" if first.wins is None else f", the nearest in {100 * first.wins:.0f} % of bootstrap draws"
        lines.append(
            f"{target.target.name} is explained best by: {first.key} "
            f"(RMS {100 * first.rms.value:.1f} % of capacity{wins})"
        )
    judged = [target.judged for target in comparison.targets]
    for text in dict.fromkeys(text for match in judged for text in match.cautions):
        about = [f"{match.target.name} with {match.ours.label}" for match in judged if text in match.cautions]
        lines.append(f"{text} ({'all' if len(about) == len(judged) > 1 else '; '.join(about)})")
    return lines + [f"not compared: {text}" for text in comparison.not_compared]


def summary(comparison: ProfileComparison) -> str:
    agreeing = sum(each.agrees for each in comparison.targets)
    word = "agrees" if comparison.agrees else "differs"
    within = f"within {100 * comparison.tolerance:g} % RMS of capacity"
    return f"overall: {word} ({agreeing} of {len(comparison.targets)} published series {within})"


def to_markdown(comparison: ProfileComparison) -> str:
    cite = comparison.profile.citation
    head = [
        f"Published: {', '.join(cite.authors)}: *{cite.title}*{f', {cite.year}' if cite.year else ''}.",
        summary(comparison),
    ]
    return (
        markdown(SUMMARY_HEADERS, summary_rows(comparison), head)
        + "\n"
        + markdown(HEADERS, point_rows(comparison), (), notes(comparison))
    )


def to_json(comparison: ProfileComparison) -> str:
    whole = {
        "profile": comparison.profile.name,
        "tolerance": comparison.tolerance,
        "verdict": "agree" if comparison.agrees else "differ",
        "series": [_target(each) for each in comparison.targets],
        "notes": notes(comparison),
        "not_compared": list(comparison.not_compared),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _target(comparison: TargetComparison) -> dict[str, Any]:
    return {
        "published": comparison.target.name,
        "of": dict(comparison.target.series.of),
        "where": comparison.target.series.where,
        "capacity_bps": comparison.target.capacity_bps,
        "agrees": comparison.agrees,
        "best": [asdict(each) for each in comparison.ranking],
        "matches": [_match(each) for each in comparison.matches],
    }


def _match(match: Match) -> dict[str, Any]:
    return {
        "ours": match.ours.label,
        "params": dict(match.ours.params),
        "capacity_bps": match.ours.capacity_bps,
        "agrees": match.agrees,
        "fits": match.fits,
        "claim": match.claim,
        "cautions": list(match.cautions),
        "rms": asdict(match.distance.rms),
        "shape": None if match.distance.shape is None else asdict(match.distance.shape),
        "points": [
            {
                "rtt_s": point.rtt_s,
                "published_share": point.published_bps,
                "measured_share": point.measured_bps,
                "relative": asdict(point.relative),
                "certainty": match.target.certainties[point.rtt_s],
            }
            for point in match.distance.points
        ],
        "left_out_rtt_s": list(match.distance.left_out_rtt_s),
    }


def _verdict(target: TargetComparison, match: Match) -> str:
    word = "agree" if match.agrees else "differ"
    return word.upper() if match is target.judged else word


def _interval(figure: Figure) -> str:
    return "-" if figure.interval is None else f"{100 * figure.interval.low:.1f} … {100 * figure.interval.high:.1f} %"


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
    return f"{shape.measured_bend}" if shape.is_same else f"{shape.measured_bend}, published {shape.published_bend}"
