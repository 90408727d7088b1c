"""The series of a run as the page draws them: points with intervals, overlays, coefficients, limits. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis import statistic
from ..analysis.limit.limitation import Limit
from ..analysis.series import Series
from ..analysis.theory_curve import overlays

GRID = 40
"""So many round-trip times an overlay is drawn at."""


def curves(series: Sequence[Series], place: Mapping[str, int], limited: Mapping[str, Limit]) -> list[dict[str, Any]]:
    """One for each series, without any trial too. By the id of a trial, `place` is its number, and `limited` what
    limited it.
    """
    rtts = sorted({each.asked.rtt_s for one in series for each in one.trials})
    return [_curve(each, _grid(rtts), place, limited) for each in series]


def _grid(rtts: Sequence[float]) -> list[float]:
    """From the shortest RTT to the longest, in equal ratios; those above 0, at which overlays are defined."""
    known = [rtt for rtt in rtts if rtt > 0]
    if len(known) < 2:
        return list(known)
    return sorted({*known, *np.geomspace(known[0], known[-1], GRID).tolist()})


def _curve(
    each: Series, grid: Sequence[float], place: Mapping[str, int], limited: Mapping[str, Limit]
) -> dict[str, Any]:
    about = each.conditions
    return {
        "label": each.label,
        "params": dict(each.params),
        "points": _points(each, place, limited),
        "capacity": each.capacity_bps,
        "overlays": {
            found.kind: [[rtt, rate] for rtt, rate in zip(found.rtt_s, found.goodput_bps, strict=True)]
            for found in (overlays(about, grid) if about is not None and grid else ())
        },
        "flows": about.flows if about else None,
        "loss": about.loss if about else None,
        "coefficients": _coefficients(each),
        "stretches": [[part.from_rtt_s, part.to_rtt_s, part.bend] for part in each.stretches()],
        "left_out": len(each.left_out),
    }


def _points(each: Series, place: Mapping[str, int], limited: Mapping[str, Limit]) -> list[dict[str, Any]]:
    """At each RTT the mean, its 95 % t interval where repetitions differ, its trials, and what limited them."""
    profile = each.profile()
    if profile is None:
        return []
    points = []
    for rtt, mean, samples in zip(profile.rtt_s, profile.mean_bps, profile.samples_bps, strict=True):
        members = [trial for trial in each.trials if trial.asked.rtt_s == rtt]
        found = statistic.estimate(samples).interval()
        interval = None if found is None else statistic.above_zero(found)
        limits = [limited[trial.id] for trial in members]
        points.append(
            {
                "rtt": rtt,
                "mean": mean,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "trials": [place[trial.id] for trial in members],
                "limits": {limit: limits.count(limit) for limit in dict.fromkeys(limits)},
            }
        )
    return points


def _coefficients(each: Series) -> dict[str, Any] | None:
    found = each.coefficients()
    if found is None:
        return None
    interval = found.c_uc_interval
    return {
        "c_uc": found.c_uc,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "c_u": found.c_u,
        "c_cc": found.c_cc,
    }
