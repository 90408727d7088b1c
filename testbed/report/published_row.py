"""The run against what was published, row by row with the kind of claim; and published profiles as curves. No I/O."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..analysis.series import Series
from ..compare import profile, profile_text
from ..compare.profile import ProfileComparison
from ..compare.published import PublishedProfile
from ..compare.quantity import Value, measured
from ..error import UserError
from .window_table import MB, WindowTable

SERIES_NAMED = 3
"""So many series are named that have the same reason; more are counted."""


def comparisons(
    series: Sequence[Series],
    known: Sequence[PublishedProfile],
    asked: Sequence[tuple[PublishedProfile, str | None]] = (),
    lost: Sequence[str] = (),
    parts: Mapping[str, Sequence[float]] = types.MappingProxyType({}),
    value: Value = measured,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """For each publication that something of this run can be compared with: rows, notes and the overall verdict. And
    the names of the others, each with the reasons: the same reason of several series once. Those of which other RTTs
    could be compared come first.

    `asked` are profiles, each with the one series to compare (None: all), that the user wants compared: they come
    first. `lost` is what the run was asked for and has not; `parts` and `value` are those of `profile.compare`. Raises
    UserError if one of `asked` cannot be compared.
    """
    found = [_comparison(profile.compare(series, each, only, parts=parts, value=value), lost) for each, only in asked]
    refused = []
    for each in known:
        try:
            found.append(_comparison(profile.compare(series, each, parts=parts, value=value), lost))
        except profile.NothingToCompare as error:
            refused.append(error)
    refused.sort(key=lambda error: not any(each.is_of_rtts for each in error.reasons))
    return found, [{"name": error.profile, "why": _why(error.profile, error.reasons)} for error in refused]


def _why(name: str, reasons: Sequence[profile.Reason]) -> list[str]:
    by_text: dict[str, list[str]] = {}
    for each in [one for one in reasons if one.side == "published" and not one.is_part] or reasons:
        by_text.setdefault(each.text, []).extend([each.series] if each.series != name else [])
    return [text + _named(names) for text, names in by_text.items()]


def _named(names: Sequence[str]) -> str:
    words = f"{len(names)} series" if len(names) > SERIES_NAMED else ", ".join(names)
    return f" ({words})" if words else ""


def _comparison(found: ProfileComparison, lost: Sequence[str]) -> dict[str, Any]:
    made = replace(found, lost=(*lost, *found.lost))
    return {
        "name": made.profile.name,
        "citation": citation(made.profile),
        "summary": profile_text.summary(made),
        "headers": list(profile_text.SUMMARY_HEADERS),
        "rows": [list(row) for row in profile_text.summary_rows(made)],
        "point_headers": list(profile_text.HEADERS),
        "points": [list(row) for row in profile_text.point_rows(made)],
        "notes": profile_text.notes(made),
    }


def citation(each: PublishedProfile) -> str:
    cite = each.citation
    return f"{', '.join(cite.authors)}: {cite.title}" + (f", {cite.year}" if cite.year else "")


def curves(known: Sequence[PublishedProfile]) -> list[dict[str, Any]]:
    """Published throughput over RTT as shares of its capacity, to be laid over ours."""
    found = []
    for each in known:
        for name, series in each.series.items():
            try:
                throughput = series.throughput_profile()
            except UserError:
                continue
            if series.capacity is not None:
                share = [mean / series.capacity.value for mean in throughput.mean_bps]
                points = [list(pair) for pair in zip(throughput.rtt_s, share, strict=True)]
                found.append({"profile": each.name, "name": name, "claim": series.claim, "points": points})
    return found


def window_rows(table: WindowTable, known: Sequence[PublishedProfile]) -> dict[str, Any] | None:
    """Transfers by window against those published, a row for each window; None where no window is in both.

    A transfer of another duration is scaled to the 30 s of the publication.
    """
    rows = []
    for each in known:
        for name, series in each.series.items():
            if series.over != "window" or series.what != TRANSFER:
                continue
            values = {_size(point.at.text): point.value.value / MB for point in series.points if point.value}
            rows += [
                [
                    name,
                    ours.label,
                    window,
                    f"{published:.4g}",
                    f"{mean:.4g}",
                    f"{mean / published - 1:+.0%}",
                    series.claim,
                ]
                for ours in table.rows
                for window, mean in _means(ours.transfers, table.duration_s).items()
                if (published := values.get(_size(window)))
            ]
    if not rows:
        return None
    headers = ["published", "ours", "window", "published MB", "ours MB in 30 s", "difference", "claim"]
    scaled = table.duration_s is not None and abs(table.duration_s - SECONDS) > 0.5
    note = f"ours lasted {table.duration_s:g} s and is scaled to {SECONDS} s" if scaled else ""
    return {"headers": headers, "rows": rows, "notes": [note] if note else []}


TRANSFER, SECONDS = "Transfer in 30 s", 30


def _means(transfers: Sequence[Any], duration_s: float | None) -> Mapping[str, float]:
    factor = SECONDS / duration_s if duration_s else 1.0
    return {each.window: each.mean_mb * factor for each in transfers}


def _size(text: str) -> str:
    return text.replace(" ", "").lower()
