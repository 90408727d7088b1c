"""A token bucket: a rate that holds until a credit is used up, and a lower one from then on. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis import changepoint, statistic
from ..measurement import Second
from .fitted import Explanation, Fitted, Found, mean_interval, unknown
from .steady import Group, above_s, is_standing, share, total

NEXT = "run `iperf3 --json -P 8 -t 600` after an hour without traffic, until the rate falls"
FALL = 0.9
"""A level that is lower than this share of the one before is a fall."""
STEADY_CV = 0.1
LEVEL_LEAST_S = 4.0
"""So long each level lasts; what is shorter may be flows that begin and end."""
RAMP_SHARE = 0.5
"""Intervals at the start below this share of the first level are the ramp."""


def fit(groups: Sequence[Group], rtt_s: float | None) -> Found:
    """From the run in which the rate fell once and stayed there."""
    for group in sorted(groups, key=lambda each: -_length(each)):
        if group.ask is not None and not group.ask.is_bulk:
            continue
        for run in group.transfers:
            found = _fall(run.seconds)
            if found is not None:
                return _fitted(group, run.seconds, *found, rtt_s)
    longest = max(map(_length, groups), default=0.0)
    rule = f"the rate never falls to a second level in {longest:g} s" if longest else "no transfer in this direction"
    names = (("bucket_rate", "bit/s"), ("bucket_burst", "B"), ("bucket_refill", "bit/s"))
    return Found(tuple(unknown(name, unit, rule, NEXT if longest else None) for name, unit in names))


def _length(group: Group) -> float:
    return max(
        (each.seconds[-1].end_s - each.seconds[0].start_s for each in group.transfers if each.seconds), default=0.0
    )


def _fall(seconds: Sequence[Second]) -> tuple[int, int] | None:
    """The first interval after the ramp, and the first of the lower level; None without exactly one fall."""
    rates = [each.rate_bps for each in seconds]
    if len(rates) < 2 * changepoint.SHORTEST + 2:
        return None
    middle = statistic.median(rates[: max(3, len(rates) // 4)])
    begin = next((n for n, value in enumerate(rates) if value >= RAMP_SHARE * middle), 0)
    begin = max(begin, 1)
    if len(rates) - begin < 2 * changepoint.SHORTEST:
        return None
    step_s = (seconds[-1].end_s - seconds[begin].start_s) / (len(rates) - begin)
    shifts = changepoint.levels(rates[begin:], step_s).shifts
    if len(shifts) != 1 or shifts[0].ratio >= FALL:
        return None
    knee = begin + round(shifts[0].at_s / step_s)
    if min(knee - begin, len(rates) - knee) * step_s < LEVEL_LEAST_S:
        return None
    parts = rates[begin : knee - 1], rates[knee + 1 :]
    return (begin, knee) if all(statistic.population_cov(part) < STEADY_CV for part in parts) else None


def _fitted(group: Group, seconds: Sequence[Second], begin: int, knee: int, rtt_s: float | None) -> Found:
    scale, files = group.framing, group.files
    high_part, low_part = seconds[begin : knee - 1], seconds[knee + 1 :]  # the fall is inside one of the two between
    high, low = (_level(part) for part in (high_part, low_part))
    counted = seconds[: knee + 2]
    credit = sum(max(0.0, each.octets - low[0] / 8 * (each.end_s - each.start_s)) for each in counted[:begin])
    credit += sum(each.octets - low[0] / 8 * (each.end_s - each.start_s) for each in counted[begin:])
    step_s = seconds[knee].end_s - seconds[knee].start_s
    knee_s = seconds[knee].start_s
    off = (high[0] - low[0]) / 8 * step_s / 4 + (low[2] - low[1]) / 2 / 8 * knee_s
    rule = f"the rate of {group.said} falls once, at {knee_s:g} s (change point, confidence 95 %)"
    burst = (credit, max(0.0, credit - off), credit + off)

    def made(name: str, unit: str, what: str, numbers: tuple[float, float, float]) -> Fitted:
        value, least, most = (each * scale for each in numbers)
        return Fitted(name, unit, "identified", f"{rule}: {what}, in frames", value, least, most, files)

    found = (
        made("bucket_rate", "bit/s", "its first level", high),
        made("bucket_burst", "B", "what came above the second level until then", burst),
        made("bucket_refill", "bit/s", "its second level", low),
    )
    return Found(found, _kinds(low_part, rtt_s))


def _level(part: Sequence[Second]) -> tuple[float, float, float]:
    """The mean rate of a level and its interval."""
    rates = [each.rate_bps for each in part]
    value = statistic.mean(rates)
    low, high = mean_interval(rates) or (value * 0.95, value * 1.05)
    off = value * 0.005
    return value, max(0.0, low - off), high + off


def _kinds(low_part: Sequence[Second], rtt_s: float | None) -> tuple[Explanation, ...]:
    """A shaper delays, a policer drops."""
    low_bps = total(low_part)
    from_s = above_s(rtt_s, low_bps) if rtt_s is not None and low_bps else None
    standing = None if from_s is None else share(is_standing(each, from_s) for each in low_part)
    apart = "run `ping -D -i 0.2` beside the transfer, after the fall"
    if standing is None:
        why = "no round-trip time under load is told"
        return (
            Explanation("bucket", "a shaper, which delays", True, why, apart),
            Explanation("bucket", "a policer, which drops", True, why, apart),
        )
    why = f"a queue stood in {standing:.0%} of the intervals after the fall"
    return (
        Explanation("bucket", "a shaper, which delays", standing > 0.5, why),
        Explanation("bucket", "a policer, which drops", standing <= 0.5, why),
    )
