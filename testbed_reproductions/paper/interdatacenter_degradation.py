"""Degradation of paths between regions and zones: where, how far, and its effect on the RTT. Pure, no I/O.

Judges of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance, sections IV.A to IV.C.
"""

from __future__ import annotations

from collections.abc import Mapping

from testbed.api import TrialResult, UdpResult, backgrounds, need, statistic

from ..check import Holds, Part, Within, above, alike, average, below, over
from ..check import estimate as mean_of
from ..measured import Measured, known, mbit
from ..row import Judgement
from .interdatacenter_path import CLOSE, RAMP_S, one_of, parts_of, seconds

ASYMMETRY, PROBES, SHARED, LOWER = "asymmetric-degradation", "rtt-in-degradation", "shared-degradation", "lower-zone"

CONDITIONS = ("850 Mbit/s|random 0.001 %", "850 Mbit/s|random 0.5 %", "8 Mbit/s|none")
"""Not degraded, degraded by loss, and degraded behind a queue."""

SETTLE_S, RECOVER_S = 10.0, 20.0
"""How long a flow takes to adapt when a path gets worse, and when it recovers."""
DEGRADED_BPS, ZONES_DEGRADED_BPS = 10e6, 5e6
CV_RMSE, MUCH, HOURS = 0.2, 0.5, 24
HOUR_S = 10.0
"""On the compressed clock of the scenarios that show a day."""


def one_direction(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 4: while one direction is degraded, again and again, the other is not."""
    parts_by_pair = dict(parts_of(runs[ASYMMETRY]))
    there, back = parts_by_pair["sa", "eu"], parts_by_pair["eu", "sa"]
    counts = [len(degraded(each)) for each in there.results]
    bad, usual = back.each_seed(_while_degraded), back.each_seed(_otherwise)
    low, high = there.each_seed(_worst), there.each_seed(_otherwise)
    parts = (
        Holds("a run has several degradations", min(counts) > 1 if counts else None, f"{min(counts, default=0)}"),
        below("SA to EU is below 10 Mbit/s in each", mean_of((1, low)), DEGRADED_BPS),
        above("SA to EU is above 10 Mbit/s otherwise", mean_of((1, high)), DEGRADED_BPS),
        alike("EU to SA is as usual meanwhile", bad, usual, CLOSE),
    )
    ours = f"SA to EU at most {average(low) / 1e6:.2f} Mbit/s while degraded, {average(high) / 1e6:.1f} otherwise; "
    ours += f"EU to SA {average(bad) / 1e6:.1f} then, {average(usual) / 1e6:.1f} otherwise"
    return Judgement(ours, parts)


def _worst(part: Measured) -> float:
    """The highest mean of any degradation of a run."""
    return max(statistic.mean(each) for each in degraded(one_of(part)))


def _while_degraded(part: Measured) -> float:
    return statistic.mean([bps for each in degraded(one_of(part)) for bps in each])


def _otherwise(part: Measured) -> float:
    return statistic.mean(undisturbed(one_of(part)))


def rtt_in_degradation(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.B: with loss, throughput drops and the RTT does not rise; with a queue, it rises."""
    probes = runs[PROBES]
    cases = [
        probes.only(**{"path.rate": rate, "path.loss": loss}) for rate, loss in (each.split("|") for each in CONDITIONS)
    ]
    rtts_s, got_bytes = ([part.each_seed(read) for part in cases] for read in (_rtt_s, _bulk_bytes))
    ours = ", ".join(f"{name} {average(rtt) * 1e3:.1f} ms and {average(got) / 1e6:.0f} MB"
                     for name, rtt, got in zip(("normal", "lossy", "behind a queue"), rtts_s, got_bytes,
                                               strict=True))  # fmt: skip
    lossy, queued = over(rtts_s[1], rtts_s[0]), over(rtts_s[2], rtts_s[0])
    parts = (
        below("loss halves the throughput", mean_of((1, over(got_bytes[1], got_bytes[0]))), MUCH),
        Within("with loss the RTT is at most 5 % longer", mean_of((1, lossy)), high=1 + CLOSE),
        above("behind a queue it is more than 5 % longer", mean_of((1, queued)), 1 + CLOSE),
    )
    return Judgement(ours, parts)


def _rtt_s(part: Measured) -> float:
    result = one_of(part)
    return known(need(UdpResult, result.measured).delay_mean_s) + known(result.seen.rtt_s) / 2


def _bulk_bytes(part: Measured) -> float:
    return float(backgrounds(one_of(part).measured)["bulk"].received_bytes)


def degrade_together(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8a: both zone pairs are slow in the same hours, and similar in all hours."""
    shared = {"-".join(pair): part for pair, part in parts_of(runs[SHARED])}
    inside = {name: part.each_seed(_worst) for name, part in shared.items()}
    outside = {name: part.each_seed(lambda each: min(undisturbed_hours(one_of(each)))) for name, part in shared.items()}
    apart = runs[SHARED].each_seed(lambda each: statistic.cv_rmse(*(hours(result) for result in each.results)))
    ours = f"{len(shared)} zone pairs: at most {max(map(average, inside.values())) / 1e6:.2f} Mbit/s in the degraded "
    ours += f"hours, at least {min(map(average, outside.values())) / 1e6:.1f} in the others; CV_RMSE of hours "
    ours += f"{average(apart):.3f}"
    parts: list[Part] = [Holds("two zone pairs", len(shared) == 2), below("CV_RMSE", mean_of((1, apart)), CV_RMSE)]
    parts += [below(f"{name} degraded", mean_of((1, each)), ZONES_DEGRADED_BPS) for name, each in inside.items()]
    parts += [above(f"{name} otherwise", mean_of((1, each)), ZONES_DEGRADED_BPS) for name, each in outside.items()]
    return Judgement(ours, tuple(parts))


def lower_all_day(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8b: ac is below bb in every hour."""
    lower, higher = (
        [hour for result in part.results for hour in hours(result, first=0)] for _, part in parts_of(runs[LOWER])
    )
    days = [len(hours(result, first=0)) for result in runs[LOWER].results]
    below_it = sum(low < high for low, high in zip(lower, higher, strict=True))
    ours = f"ac {mbit(lower)}, bb {mbit(higher)}; below in {below_it} of {len(lower)} hours"
    parts = (
        Holds("24 hours a day", set(days) == {HOURS}, ", ".join(map(str, sorted(set(days))))),
        Holds("below in every hour", below_it == len(lower) if lower and not runs[LOWER].invalid else None),
    )
    return Judgement(ours, parts)


def zones_differ(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.C: a small constant offset."""
    (one, first), (other, second) = (
        ("-".join(pair), part.each_seed(lambda each: one_of(each).seen.rtt_s)) for pair, part in parts_of(runs[SHARED])
    )
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    is_same_way = len({a < b for a, b in pairs}) == 1 and all(a != b for a, b in pairs)
    small = average(second) / average(first) - 1
    ours = f"{one} {average(first) * 1e3:.3f} ms, {other} {average(second) * 1e3:.3f} ms, {abs(small):.1%} apart"
    parts = (
        Holds("the same direction in every run", is_same_way if len(pairs) == len(first) > 1 else None),
        alike("at most 5 %", first, second, CLOSE),
    )
    return Judgement(ours, parts)


def intervals(result: TrialResult) -> list[tuple[float, float]]:
    """(from, to) in seconds: when a link was worse than at the start, by its schedule."""
    return [
        (state.from_s, state.to_s)
        for stage in result.stages
        for state in stage.intervals[1:]
        if (state.asked_rate_bps, state.asked_loss)
        != (stage.intervals[0].asked_rate_bps, stage.intervals[0].asked_loss)
    ]


def degraded(result: TrialResult) -> list[list[float]]:
    """The seconds within each interval of a degradation, after the flow has adapted."""
    parts = (
        [bps for at, bps in seconds(result) if begin + SETTLE_S <= at <= end - 1] for begin, end in intervals(result)
    )
    return [each for each in parts if each]


def undisturbed(result: TrialResult) -> list[float]:
    """The seconds outside degradations, after the flow has recovered from them."""
    spans = intervals(result)
    return [bps for at_s, bps in seconds(result)
            if at_s >= RAMP_S and not any(begin - 1 <= at_s < end + RECOVER_S for begin, end in spans)]  # fmt: skip


def hours(result: TrialResult, first: int = 1) -> list[float]:
    """Means of the hours of a day on the compressed clock, from the `first` on: in hour 0 the flow starts."""
    return [mean for _, mean in _by_hour(result, first)]


def undisturbed_hours(result: TrialResult) -> list[float]:
    """The hours in which no degradation is, nor the recovery from one."""
    spans = intervals(result)
    return [
        mean
        for begin, mean in _by_hour(result, 1)
        if not any(begin < end + RECOVER_S and start < begin + HOUR_S for start, end in spans)
    ]


def _by_hour(result: TrialResult, first: int) -> list[tuple[float, float]]:
    by_hour: dict[int, list[float]] = {}
    for at_s, bps in seconds(result):
        by_hour.setdefault(int(at_s // HOUR_S), []).append(bps)
    return [(hour * HOUR_S, statistic.mean(by_hour[hour])) for hour in sorted(by_hour) if hour >= first]
