"""The buffer of one direction, from how far the round-trip time rises under load. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis import statistic
from ...units import counted
from ..measurement import Measurement, Second
from .fitted import Fitted, Found, unique, unknown
from .rate import Load
from .steady import FRAME_BYTES

NEXT = "run `iperf3 --json -P 8 -t 60 -C cubic` with `ping -D -i 0.2` beside it"
FILLING = ("cubic", "reno", "htcp", "scalable", "bic", "hybla", "illinois", "highspeed", "yeah")
"""Congestion controls that fill a buffer until it drops."""
SAMPLED_HIGH = 1.3
"""A smoothed round-trip time that is told once a second stays below that of a full queue."""
PINGED_HIGH = 1.1
ENOUGH_PINGS = 20
STANDING = 0.5
LEAST_S, LEAST_SHARE = 0.0005, 0.05
LEAST_FRAMES = 2
"""A buffer that holds less carries next to nothing of TCP, which sends two segments for each acknowledgement."""


def fit(loads: Sequence[Load], pings: Sequence[Measurement], rate: Fitted, rtt_s: float | None) -> Found:
    """The largest queue that a round-trip time shows, times the rate; and the median queue, as `queue`. Of a rate that
    is a bound only a bound follows.
    """
    if rate.value is None or rtt_s is None:
        why = "the rate or the round-trip time is not known"
        return Found((unknown("buffer", "B", why, NEXT), unknown("queue", "s", why, NEXT)))
    chosen = _chosen(loads)
    queue = _queue(loads, rtt_s)
    direct = [rtt for each in pings if each.pings for rtt in (each.pings.rtts_s or (each.pings.max_s or 0.0,))]
    sampled_s = _top(chosen[0]) - rtt_s if chosen else None
    files = unique([*(each.file for each in pings), *(chosen[0].group.files if chosen else ())])
    if len(direct) >= ENOUGH_PINGS:
        delay_s, high, how = max(direct) - rtt_s, PINGED_HIGH, f"the largest of {len(direct)} pings under load"
    elif sampled_s is not None:
        delay_s, high, how = sampled_s, SAMPLED_HIGH, f"the largest smoothed round-trip time of {chosen[0].group.said}"
    else:
        why = "no load that fills the link: nothing tells how long a full queue takes"
        return Found((unknown("buffer", "B", why, NEXT), queue))
    if delay_s <= LEAST_S + LEAST_SHARE * rtt_s:
        return Found((unknown("buffer", "B", "no queue stood under load", NEXT, files), queue))
    value = max(delay_s * rate.value / 8, LEAST_FRAMES * FRAME_BYTES)
    most = value * high + FRAME_BYTES  # a queue of whole frames is full when the next one does not fit
    rule = f"{how} is {delay_s * 1e3:.4g} ms above the base, at the rate of the link"
    is_full = _was_full(chosen or loads)
    if not is_full:
        rule += "; nothing shows that it was full (no drops, or a control that does not fill it): at least that"
    elif not rate.is_known:
        rule += ", of which only the least is known: at least that"
    if not rate.is_known or not is_full:
        return Found((Fitted("buffer", "B", "bound", rule, value, value * 0.95, None, files, NEXT), queue))
    return Found((Fitted("buffer", "B", "identified", rule, value, value * 0.95, most, files), queue))


def _chosen(loads: Sequence[Load]) -> list[Load]:
    """Of controls that fill a buffer, if there are any: the load with the fewest flows that had a queue standing. With
    many flows and drops, smoothed round-trip times are above those of a full queue.
    """
    filling = _filling(loads)
    standing = [each for each in filling if _fills(each) and (each.standing or 0.0) >= STANDING]
    return sorted(standing or filling, key=lambda each: each.group.flows)[:1]


def _filling(loads: Sequence[Load]) -> list[Load]:
    """The loads that tell round-trip times, of controls that fill a buffer if there are any."""
    told = [each for each in loads if any(second.rtts_s for second in _all(each))]
    return [each for each in told if _fills(each)] or told


def _top(load: Load) -> float:
    return max(max(second.rtts_s) for second in _all(load) if second.rtts_s)


def _queue(loads: Sequence[Load], rtt_s: float) -> Fitted:
    """The median queue of the load with the most flows, which does not depend on what the loads showed: a rebuilt path
    is compared by the same one.
    """
    most = max(_filling(loads), key=lambda each: each.group.flows, default=None)
    value = None if most is None else median_delay(most, rtt_s)
    if most is None:
        return unknown("queue", "s", "no flow tells its round-trip times", NEXT)
    if not value:
        return unknown("queue", "s", "no queue stood under load", NEXT)
    flows = counted(most.group.flows, "flow")
    rule = f"how far the median round-trip time under load is above the base ({flows})"
    return Fitted("queue", "s", "identified", rule, value, sources=most.group.files)


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
