"""The buffer of one direction, from how far the round-trip time rises under load. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis import statistic
from ..measurement import Measurement, Second
from .fitted import Fitted, Found, unique, unknown
from .rate import Load

NEXT = "run `iperf3 --json -P 8 -t 60 -C cubic` with `ping -D -i 0.2` beside it"
FILLING = ("cubic", "reno", "htcp", "scalable", "bic", "hybla", "illinois", "highspeed", "yeah")
"""Congestion controls that fill a buffer until it drops."""
SAMPLED_HIGH = 1.3
"""A smoothed round-trip time that is told once a second stays below that of a full queue."""
PINGED_HIGH = 1.1
ENOUGH_PINGS = 20
LEAST_S, LEAST_SHARE = 0.0005, 0.05


def fit(loads: Sequence[Load], pings: Sequence[Measurement], rate_bps: float | None, rtt_s: float | None) -> Found:
    """The largest queue that a round-trip time shows, times the rate."""
    if rate_bps is None or rtt_s is None:
        return Found((unknown("buffer", "B", "the rate or the round-trip time is not known", NEXT),))
    direct = [rtt for each in pings if each.pings for rtt in (each.pings.rtts_s or (each.pings.max_s or 0.0,))]
    sampled, where = _sampled(loads, rtt_s)
    files = unique([*(each.file for each in pings), *(each.file for load in where for each in load.group.runs)])
    if len(direct) >= ENOUGH_PINGS:
        delay_s, high = max(direct) - rtt_s, PINGED_HIGH
        how = f"the largest of {len(direct)} pings under load"
        if sampled is not None and sampled > delay_s:
            delay_s, how = sampled, "the largest smoothed round-trip time under load"
    elif sampled is not None:
        delay_s, high, how = sampled, SAMPLED_HIGH, "the largest smoothed round-trip time under load"
    else:
        return Found((unknown("buffer", "B", "no load: nothing tells how long a full queue takes", NEXT),))
    if delay_s <= LEAST_S + LEAST_SHARE * rtt_s:
        return Found((unknown("buffer", "B", "no queue stood under load", NEXT, files),))
    value = delay_s * rate_bps / 8
    rule = f"{how} is {delay_s * 1e3:.4g} ms above the base, at the rate of the link"
    if not _was_full(where or loads):
        rule += (
            "; nothing shows that it was full (no drops, or a congestion control that does not fill it): at least that"
        )
        return Found((Fitted("buffer", "B", "bound", rule, value, value * 0.95, None, files, NEXT),))
    return Found((Fitted("buffer", "B", "identified", rule, value, value * 0.95, value * high, files),))


def _sampled(loads: Sequence[Load], rtt_s: float) -> tuple[float | None, list[Load]]:
    """The largest queue in s of flows that fill it, or else of any; which loads have it."""
    filling = [each for each in loads if _fills(each)]
    chosen = [each for each in (filling or loads) if any(second.rtts_s for second in _all(each))]
    if not chosen:
        return None, []
    tops = {id(load): max(max(second.rtts_s) for second in _all(load) if second.rtts_s) - rtt_s for load in chosen}
    best = max(chosen, key=lambda load: tops[id(load)])
    return tops[id(best)], [best]


def _all(load: Load) -> list[Second]:
    return [second for each in load.group.transfers for second in each.seconds]


def _fills(load: Load) -> bool:
    ask = load.group.ask
    return ask is None or ask.congestion is None or ask.congestion in FILLING


def _was_full(loads: Sequence[Load]) -> bool:
    """Whether a flow that fills a buffer sent segments again."""
    return any(_fills(load) and (load.group.retransmits or 0) > 0 for load in loads)


def median_delay(load: Load, rtt_s: float) -> float | None:
    """The median queue of a load in s."""
    found = [value - rtt_s for each in load.seconds for value in each.rtts_s]
    return max(0.0, statistic.median(found)) if found else None
