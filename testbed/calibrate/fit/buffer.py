"""The buffer of one direction, from how far the round-trip time rises under load. Pure, no I/O."""

from __future__ import annotations

import math
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
STANDING = 0.5
LEAST_S, LEAST_SHARE = 0.0005, 0.05


def fit(loads: Sequence[Load], pings: Sequence[Measurement], rate_bps: float | None, rtt_s: float | None) -> Found:
    """The largest queue that a round-trip time shows, times the rate; and the median queue, as `queue`."""
    if rate_bps is None or rtt_s is None:
        why = "the rate or the round-trip time is not known"
        return Found((unknown("buffer", "B", why, NEXT), unknown("queue", "s", why, NEXT)))
    chosen = _chosen(loads)
    queue = _queue(chosen, rtt_s)
    direct = [rtt for each in pings if each.pings for rtt in (each.pings.rtts_s or (each.pings.max_s or 0.0,))]
    sampled_s = _top(chosen[0]) - rtt_s if chosen else None
    files = unique([*(each.file for each in pings), *(chosen[0].group.files if chosen else ())])
    if len(direct) >= ENOUGH_PINGS:
        delay_s, high, how = max(direct) - rtt_s, PINGED_HIGH, f"the largest of {len(direct)} pings under load"
    elif sampled_s is not None:
        delay_s, high, how = sampled_s, SAMPLED_HIGH, f"the largest smoothed round-trip time of {chosen[0].group.said}"
    else:
        why = "no load: nothing tells how long a full queue takes"
        return Found((unknown("buffer", "B", why, NEXT), queue))
    if delay_s <= LEAST_S + LEAST_SHARE * rtt_s:
        return Found((unknown("buffer", "B", "no queue stood under load", NEXT, files), queue))
    value = delay_s * rate_bps / 8
    rule = f"{how} is {delay_s * 1e3:.4g} ms above the base, at the rate of the link"
    if not _was_full(chosen or loads):
        rule += "; nothing shows that it was full (no drops, or a control that does not fill it): at least that"
        return Found((Fitted("buffer", "B", "bound", rule, value, value * 0.95, None, files, NEXT), queue))
    return Found((Fitted("buffer", "B", "identified", rule, value, value * 0.95, value * high, files), queue))


def _chosen(loads: Sequence[Load]) -> list[Load]:
    """Those with the fewest and the most flows, of controls that fill a buffer and had a queue standing if there are
    any. The first one counts: with many flows and drops, smoothed round-trip times are above those of a full queue.
    """
    told = [each for each in loads if any(second.rtts_s for second in _all(each))]
    standing = [each for each in told if _fills(each) and (each.standing or 0.0) >= STANDING]
    found = sorted(standing or [each for each in told if _fills(each)] or told, key=lambda each: each.group.flows)
    return [found[0], found[-1]] if len(found) > 1 else found


def _top(load: Load) -> float:
    return max(max(second.rtts_s) for second in _all(load) if second.rtts_s)


def _queue(chosen: Sequence[Load], rtt_s: float) -> Fitted:
    """The median queue of the chosen loads: their geometric mean."""
    delays = [median_delay(each, rtt_s) for each in chosen]
    known = [each for each in delays if each is not None and each > 0]
    if not known or len(known) < len(delays):
        return unknown("queue", "s", "no queue stood under load", NEXT)
    value = math.exp(sum(map(math.log, known)) / len(known))
    rule = f"how far the median round-trip time under load is above the base ({', '.join(_names(chosen))})"
    return Fitted("queue", "s", "identified", rule, value, sources=unique([f for e in chosen for f in e.group.files]))


def _names(chosen: Sequence[Load]) -> list[str]:
    return [f"{each.group.flows} flow{'' if each.group.flows == 1 else 's'}" for each in chosen]


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
