"""Degradation of paths between regions and zones: where, how far, and its effect on the RTT. Pure, no I/O.

Judges of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance, sections IV.A to IV.C.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from ...analysis import statistic
from ...trial.measured import UdpResult, backgrounds, need
from ...trial.stored_result import TrialResult
from ..reproduction.measured import Measured, known, mbit
from ..reproduction.row import Judgement
from .interdatacenter_path import CLOSE, RAMP_S, by_ends, seconds

ASYMMETRY, PROBES, SHARED, LOWER = "asymmetric-degradation", "rtt-in-degradation", "shared-degradation", "lower-zone"

CONDITIONS = ("850 Mbit/s random 0.001 %", "850 Mbit/s random 0.5 %", "8 Mbit/s none")
"""Not degraded, degraded by loss, and degraded behind a queue."""

SETTLE_S, RECOVER_S = 10.0, 20.0
"""How long a flow takes to adapt when a path gets worse, and when it recovers."""
DEGRADED_BPS, ZONES_DEGRADED_BPS = 10e6, 5e6
HOUR_S = 10.0
"""On the compressed clock of the scenarios that show a day."""


def one_direction(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 4: while one direction is degraded, the other is not."""
    by_pair = by_ends(runs[ASYMMETRY])
    bad = {
        pair: [statistic.mean(part) for result in each for part in degraded(result)] for pair, each in by_pair.items()
    }
    good = {
        pair: statistic.mean([bps for result in each for bps in undisturbed(result)]) for pair, each in by_pair.items()
    }
    forward, backward = ("sa", "eu"), ("eu", "sa")
    wrong = []
    if max(bad[forward]) >= DEGRADED_BPS or max(bad[forward]) > good[forward] / 5:
        wrong.append("the degraded direction has too much throughput")
    if min(bad[backward]) < 0.9 * good[backward]:
        wrong.append("the other direction degrades too")
    ours = f"SA to EU at most {max(bad[forward]) / 1e6:.2f} Mbit/s while degraded, "
    ours += f"{good[forward] / 1e6:.1f} otherwise; "
    ours += f"EU to SA at least {min(bad[backward]) / 1e6:.1f} then, {good[backward] / 1e6:.1f} otherwise"
    return Judgement(ours, not wrong, "; ".join(wrong))


def rtt_in_degradation(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.B: with loss, throughput drops and the RTT does not rise; with a queue, it rises."""
    by_condition: dict[str, list[tuple[float, float]]] = {}
    for each in runs[PROBES].results:
        udp, bulk = need(UdpResult, each.measured), backgrounds(each.measured)["bulk"]
        name = f"{each.params['path.rate']} {each.params['path.loss']}"
        delay_and_bytes = (known(udp.delay_mean_s) + known(each.seen.rtt_s) / 2, float(bulk.received_bytes))
        by_condition.setdefault(name, []).append(delay_and_bytes)
    normal, lossy, queued = (
        [statistic.mean(list(values)) for values in zip(*by_condition[name], strict=True)] for name in CONDITIONS
    )
    names = ("normal", "lossy", "behind a queue")
    ours = ", ".join(f"{name} {rtt * 1e3:.1f} ms and {got / 1e6:.0f} MB"
                     for name, (rtt, got) in zip(names, (normal, lossy, queued), strict=True))  # fmt: skip
    drops = lossy[1] < normal[1] / 5
    is_met = drops and lossy[0] < normal[0] * (1 + CLOSE) < queued[0]
    return Judgement(ours, is_met, "" if drops else "throughput did not drop")


def degrade_together(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8a: both zone pairs are slow in the same hours, and similar in all hours."""
    shared = by_ends(runs[SHARED])
    inside = [statistic.mean(bad) for results in shared.values() for result in results for bad in degraded(result)]
    outside = [statistic.mean(undisturbed(result)) for results in shared.values() for result in results]
    first, second = ([bps for result in results for bps in hours(result)] for results in shared.values())
    apart = statistic.cv_rmse(first, second)
    ours = f"{len(shared)} zone pairs: at most {max(inside) / 1e6:.2f} Mbit/s in the degraded hours, at least "
    ours += f"{min(outside) / 1e6:.1f} in the others; CV_RMSE of hours {apart:.3f}"
    is_met = len(shared) == 2 and max(inside) < ZONES_DEGRADED_BPS < min(outside) and apart < 0.2
    return Judgement(ours, is_met)


def lower_all_day(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8b: ac is below bb in every hour."""
    by_pair = by_ends(runs[LOWER])
    lower, higher = ([hour for result in results for hour in hours(result)] for results in by_pair.values())
    below = sum(low < high for low, high in zip(lower, higher, strict=True))
    ours = f"ac {mbit(lower)}, bb {mbit(higher)}; below in {below} of {len(lower)} hours"
    return Judgement(ours, below == len(lower), "the first hour, in which the flows start, is left out")


def zones_differ(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.C: a small constant offset."""
    rtts_s = {pair: [known(result.seen.rtt_s) for result in each] for pair, each in by_ends(runs[SHARED]).items()}
    apart = all(max(one) < min(other) or max(other) < min(one) for one, other in combinations(rtts_s.values(), 2))
    means = [statistic.mean(each) for each in rtts_s.values()]
    small = max(means) / min(means) - 1
    ours = ", ".join(f"{'-'.join(pair)} {statistic.mean(each) * 1e3:.3f} ms" for pair, each in rtts_s.items())
    return Judgement(ours, apart and 0 < small < CLOSE, f"the RTTs are {small:.1%} apart")


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


def hours(result: TrialResult) -> list[float]:
    """Means of the hours of a day on the compressed clock, without the first."""
    by_hour: dict[int, list[float]] = {}
    for at_s, bps in seconds(result):
        by_hour.setdefault(int(at_s // HOUR_S), []).append(bps)
    return [statistic.mean(by_hour[hour]) for hour in sorted(by_hour) if hour > 0]
