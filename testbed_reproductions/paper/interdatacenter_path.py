"""Levels and spread of the throughput between regions; RTTs, their variation and a detour. Pure, no I/O.

Judges of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance, sections IV.A, IV.B and
footnotes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

from testbed.api import PingResult, TcpResult, TrialResult, UdpResult, need, statistic

from ..check import (
    FULL,
    MUCH,
    Holds,
    MoreSpread,
    Part,
    Share,
    Values,
    Within,
    above,
    alike,
    apart,
    average,
    below,
    by_seed,
    combined,
    minus,
    near,
    over,
)
from ..check import estimate as mean_of
from ..measured import Measured, known, mbit
from ..row import Judgement

PAIRS, UDP, TCP = "region-pairs", "udp-among-others", "tcp-among-others"

PROVIDERS = {"Amazon": "regions-amazon", "Azure": "regions-azure"}
REGIONS = ("eu", "us", "sa", "ap")
RUN_S, ALL_S = 300.0, 300 * 3600.0
LEVELS_MBIT = (
    ("Amazon", "mean", 77.8, 0.05),
    ("Amazon", "largest", 171.6, 0.05),
    ("Amazon", "p75", 99.0, 0.5),
    ("Amazon", "smallest", 1.0, 0.5),
    ("Azure", "mean", 118.2, 0.05),
    ("Azure", "largest", 284.5, 0.05),
    ("Azure", "p5", 57.0, 0.5),
)
"""As printed, with half a unit of the last digit."""
AZURE_LEAST_MBIT = 13.0
GAIN, GAIN_OFF = 0.52, 0.005
COV, COV_OFF = 0.2, 0.05
GAP, GAP_OFF = 0.8, 0.05
UNEVEN = (("sa", "us"), ("us", "sa"), ("sa", "eu"))
"""The ordered pairs of Azure whose runs vary more than the others."""
UDP_SHARE = 800 / 850
CLOSE = 0.05
"""Relative: how far apart two levels or RTTs may be that count as alike."""
RAMP_S = 8.0
"""Left out of levels and of the variation within a run: slow start and the recovery from its overshoot."""

Second = tuple[float, float]
"""(seconds from the start, bit/s in the second that begins then)."""


def seconds(result: TrialResult) -> list[Second]:
    """The goodput at the receiver in each whole second."""
    return [(each.time_s, each.goodput_bps) for each in need(TcpResult, result.measured).series]


def steady(result: TrialResult) -> list[float]:
    return [bps for at_s, bps in seconds(result) if at_s >= RAMP_S]


def ends(result: TrialResult) -> tuple[str, str]:
    return result.params["workload.from"], result.params["workload.to"]


def by_ends(measured: Measured) -> dict[tuple[str, str], list[TrialResult]]:
    """The results by the pair of hosts between which the workload ran."""
    groups: dict[tuple[str, str], list[TrialResult]] = {}
    for each in measured.results:
        groups.setdefault(ends(each), []).append(each)
    return groups


def bottleneck(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 1: no packet is lost at an access link, and a flow gets the rate of the wide area."""
    pairs = runs[PAIRS]
    access = [stage for each in pairs.results for stage in each.stages if stage.link.endswith("-access")]
    lost = sum(stage.queue_drops for stage in access)
    full = {
        f"{name} {'-'.join(pair)}": _share(part)
        for name, part in providers_of(pairs).items()
        for pair, part in parts_of(part)
    }
    shares = [average(each) for each in full.values()]
    ours = f"{len(pairs.results)} usable and {pairs.invalid} invalid runs: {lost} packets lost at access links, "
    ours += f"{min(shares):.1%} to {max(shares):.1%} of what the wide area carries"
    parts = [Within(f"{name} is full", mean_of((1, values)), FULL) for name, values in full.items()]
    return Judgement(ours, (Holds("nothing is lost at access links", not lost if access else None), *parts))


def _share(part: Measured) -> Values:
    """Of the run of each seed that has the least of what the wide area carries."""
    return part.each_seed(
        lambda each: min(
            statistic.mean(steady(run)) / (known(run.asked.rate_bps) * 1448 / 1514) for run in each.results
        )
    )


def campaign(runs: Mapping[str, Measured]) -> Judgement:
    """Section III.B: every ordered pair, at both providers."""
    pairs = runs[PAIRS]
    wanted = len(REGIONS) * (len(REGIONS) - 1)
    counts = {name: len(by_ends(part)) for name, part in providers_of(pairs).items()}
    lengths_s = [known(each.workload_s) for each in pairs.results]
    ours = f"{' and '.join(f'{count} pairs ({name})' for name, count in counts.items())}, {len(pairs.results)} runs of "
    ours += f"{max(lengths_s):.0f} s, {sum(lengths_s) / 3600:.2g} h"
    parts = (
        Holds("12 pairs at each provider", set(counts.values()) == {wanted} and not pairs.invalid),
        Holds("runs of 300 s", min(lengths_s) >= RUN_S - 1, f"{min(lengths_s):.0f} s"),
        Holds("more than 300 h in all", sum(lengths_s) > ALL_S, f"{sum(lengths_s) / 3600:.2g} h"),
    )
    return Judgement(ours, parts)


def tcp_levels(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2: mean, largest and quantiles over all runs of a provider; and the variation within a run."""
    providers = providers_of(runs[PAIRS])
    found = {
        (name, what): part.each_seed(partial(_over_runs, read=read))
        for name, part in providers.items()
        for what, read in LEVELS.items()
    }
    covs = runs[PAIRS].each_seed(lambda each: statistic.quantile([_cov(run) for run in each.results], 0.95))
    gains = over(found["Azure", "mean"], found["Amazon", "mean"])
    parts = [near(f"{name}'s {what}", found[name, what], mbit, off) for name, what, mbit, off in LEVELS_MBIT]
    parts += [
        Within("Azure's smallest is 13 Mbit/s or more", mean_of((1, found["Azure", "smallest"])), AZURE_LEAST_MBIT),
        near("Azure over Amazon", gains, 1 + GAIN, GAIN_OFF),
        below("Amazon's IQR is the smaller", minus(found["Amazon", "IQR"], found["Azure", "IQR"])),
        near("p95 of the CoV within a run", covs, COV, COV_OFF),
    ]
    words = ", ".join(f"{name} {what} {average(values):.1f}" for (name, what), values in found.items())
    ours = f"{words} Mbit/s; Azure {average(gains) - 1:+.0%}; CoV within a run {average(covs):.2g} at p95"
    return Judgement(ours, tuple(parts), f"the first {RAMP_S:g} s of each run are left out")


def _over_runs(part: Measured, read: Callable[[list[float]], float]) -> float:
    return read([statistic.mean(steady(each)) / 1e6 for each in part.results])


LEVELS: Mapping[str, Callable[[list[float]], float]] = {
    "mean": statistic.mean,
    "largest": max,
    "smallest": min,
    "p75": partial(statistic.quantile, share=0.75),
    "p5": partial(statistic.quantile, share=0.05),
    "IQR": statistic.iqr,
}
"""In Mbit/s, over the runs of a provider."""


def _cov(result: TrialResult) -> float:
    return statistic.population_cov(steady(result))


def ranking(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3: pairs of regions, both directions together."""
    levels = {name: _pair_levels(part) for name, part in providers_of(runs[PAIRS]).items()}
    orders = {name: sorted(means, key=lambda pair: -average(means[pair])) for name, means in levels.items()}
    gaps = {
        name: [
            None if a is None or not b else 1 - a / b for a, b in zip(means[order[-1]], means[order[0]], strict=True)
        ]
        for (name, means), order in zip(levels.items(), orders.values(), strict=True)
    }
    wider = max(gaps, key=lambda name: average(gaps[name]))
    swapped = [{"us-ap": "eu-ap", "eu-ap": "us-ap"}.get(pair, pair) for pair in orders["Amazon"]]
    parts: list[Part] = [
        Holds("the same ranking but for US-AP and EU-AP", orders["Azure"] == swapped),
        above("US-AP is above EU-AP for Azure", minus(levels["Azure"]["us-ap"], levels["Azure"]["eu-ap"])),
        near(f"the gap of {wider}", gaps[wider], GAP, GAP_OFF),
    ]
    for name, order in orders.items():
        ends = order[0] == "eu-us" and order[-1] == "sa-ap"
        parts.append(Holds(f"{name}: US-EU is the best, SA-AP the worst", ends))
        parts += [
            above(f"{name}: {one} is above {other}", minus(levels[name][one], levels[name][other]))
            for one, other in pairwise(order)
        ]
    runs_bps = {pair: _runs(part) for pair, part in parts_of(providers_of(runs[PAIRS])["Azure"])}
    uneven, even = (
        [values for pair, values in runs_bps.items() if (pair in UNEVEN) is is_in] for is_in in (True, False)
    )
    parts.append(MoreSpread("Azure's SA-US, US-SA and SA-EU vary more than the others", uneven, even))
    ours = "; ".join(f"{name} {' > '.join(order)}, {average(gaps[name]):.0%} apart" for name, order in orders.items())
    return Judgement(ours, tuple(parts))


def udp_above_tcp(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 5: UDP and TCP on the same path, with the same other traffic."""
    tcp, udp = (runs[name].each_seed(lambda each: each.mean_bps) for name in (TCP, UDP))
    capacity_bps = runs[UDP].capacity_bps
    peaks = runs[UDP].each_seed(lambda each: max(map(_largest_bps, each.results)) / capacity_bps)
    ours = f"UDP {mbit(runs[UDP].goodputs_bps)}, TCP {mbit(runs[TCP].goodputs_bps)}, × {average(over(udp, tcp)):.1f}; "
    ours += f"in its best second UDP has {average(peaks):.1%} of {capacity_bps / 1e6:.0f} Mbit/s"
    parts = (
        above(f"UDP's largest is above {UDP_SHARE:.1%} of the path", mean_of((1, peaks)), UDP_SHARE),
        below("TCP is below half of UDP, in Mbit/s", combined((1e-6, tcp), (-MUCH * 1e-6, udp))),
    )
    return Judgement(ours, parts)


def _largest_bps(result: TrialResult) -> float:
    """What a run brings in its best second."""
    return max(each.goodput_bps for each in need(UdpResult, result.measured).series)


def providers_of(measured: Measured) -> dict[str, Measured]:
    return {name: measured.only(topology=topology) for name, topology in PROVIDERS.items()}


def parts_of(measured: Measured) -> list[tuple[tuple[str, str], Measured]]:
    """The results by the pair of hosts between which the workload ran, with those that are left out."""
    pairs = dict.fromkeys(ends(each) for each in (*measured.results, *measured.left_out))
    return [(pair, measured.only(**{"workload.from": pair[0], "workload.to": pair[1]})) for pair in pairs]


def one_of(part: Measured) -> TrialResult:
    """The only result of a seed. Raises ValueError if there is none, or more."""
    (result,) = part.results
    return result


def _level(part: Measured) -> float:
    """The mean over the times of day at which a pair ran."""
    return statistic.mean([statistic.mean(steady(each)) for each in part.results])


def _runs(pair: Measured) -> Values:
    """Each run of a pair: one a seed; with several times of day one a time, the mean over its seeds, as a seed repeats
    what the time of day decides.
    """
    times = list(dict.fromkeys(tuple(each.params.items()) for each in (*pair.results, *pair.left_out)))
    if len(times) == 1:
        return pair.each_seed(_level)
    by_time = [pair.only(**dict(each)).each_seed(_level) for each in times]
    return [None if None in each else statistic.mean(list(map(known, each))) for each in by_time]


def _pair_levels(measured: Measured) -> dict[str, Values]:
    """The mean over both directions of each pair, by name ("eu-us") and seed."""
    by_pair: dict[str, list[Values]] = {}
    for (source, target), part in parts_of(measured):
        pair = "-".join(sorted((source, target), key=lambda region: ("eu", "us", "sa", "ap").index(region)))
        by_pair.setdefault(pair, []).append(part.each_seed(_level))
    return {pair: by_seed(statistic.mean, *directions) for pair, directions in by_pair.items()}


RTTS, DETOUR = "rtt-variation", "path-inflation"

RTT_MEAN_MS = {"Amazon": 193.94, "Azure": 214.61}
FAR_RTT_MS = {"Amazon": 201.0, "Azure": 315.0}
"""Between EU and AP."""
RTT_MEAN_OFF_MS, FAR_OFF_MS, SUM_OFF_MS = 0.005, 0.5, 1.5
STEADY_COV, UNSTEADY = 0.05, 0.15


def rtt_mean_s(result: TrialResult) -> float:
    return known(need(PingResult, result.measured).rtt_mean_s)


def rtts(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 6: the mean over the pairs, EU-AP, and the number of pairs that are similar at both providers."""
    by_pair = {name: {pair: _rtts_ms(part) for pair, part in parts_of(each)}
               for name, each in providers_of(runs[RTTS]).items()}  # fmt: skip
    parts: list[Part] = []
    words = []
    for name, found in by_pair.items():
        every = by_seed(statistic.mean, *found.values())
        parts.append(near(f"{name}'s mean", every, RTT_MEAN_MS[name], RTT_MEAN_OFF_MS))
        parts.append(near(f"{name}'s EU-AP", found["eu", "ap"], FAR_RTT_MS[name], FAR_OFF_MS))
        words.append(f"{name} {average(every):.2f} ms, EU-AP {average(found['eu', 'ap']):.1f}")
    for pair, amazon in by_pair["Amazon"].items():
        compare, says = (apart, "apart") if pair == ("eu", "ap") else (alike, "alike")
        parts.append(compare(f"{'-'.join(pair)} is {says} at both", by_pair["Azure"][pair], amazon, CLOSE))
    return Judgement(
        "; ".join(words), tuple(parts), "there are enough pings, and little enough jitter, to tell a mean to 0.01 ms"
    )


def _rtts_ms(part: Measured) -> Values:
    return part.each_seed(lambda each: rtt_mean_s(one_of(each)) * 1e3)


def rtt_variation(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 7: the CoV of the RTT in each run, and which pair has the smallest."""
    covs = [_rtt_cov(each) for each in runs[RTTS].results]
    parts: list[Part] = [
        Share("CoV above 0.05 in less than 15 %", sum(cov > STEADY_COV for cov in covs), len(covs), 0.0, UNSTEADY)
    ]
    for name, each in providers_of(runs[RTTS]).items():
        long = {pair: _rtts_ms(part) for pair, part in parts_of(each)}
        cov = {pair: part.each_seed(lambda one: _rtt_cov(one_of(one))) for pair, part in parts_of(each)}
        others = [pair for pair in long if pair != ("sa", "ap")]
        for pair in others:
            word = f"{name}: SA-AP is %s than {'-'.join(pair)}"
            parts.append(above(word % "slower", minus(long["sa", "ap"], long[pair])))
            parts.append(below(word % "steadier", minus(cov["sa", "ap"], cov[pair])))
    many = sum(cov > STEADY_COV for cov in covs)
    ours = f"CoV {min(covs):.4f} to {max(covs):.4f}, above 0.05 in {many} of {len(covs)} runs"
    return Judgement(ours, tuple(parts))


def detour(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.B: the RTT through US is the sum of the RTTs of both parts."""
    means = {pair: _rtts_ms(part) for pair, part in parts_of(runs[DETOUR])}
    legs, whole = [means["eu", "us"], means["us", "ap"]], means["eu", "ap"]
    both_ms = sum(map(average, legs))
    ours = f"EU-AP {average(whole):.2f} ms, EU-US and US-AP together {both_ms:.2f} ms"
    rest = mean_of((1, whole), *((-1, leg) for leg in legs))
    seen = Holds(
        "every part has an RTT", all(value is not None and value > 0 for each in means.values() for value in each)
    )
    return Judgement(ours, (seen, Within("the difference", rest, -SUM_OFF_MS, SUM_OFF_MS)))


def cov_formula(runs: Mapping[str, Measured]) -> Judgement:
    """Footnote 3, on samples of known CoV: 1 and 3 have 1/2, equal samples 0, and scaling does not change it."""
    cases = (
        ((1.0, 3.0), 0.5),
        ((7.0, 7.0, 7.0), 0.0),
        ((1e8, 3e8), 0.5),
        ((2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0), 0.4),
    )
    off = max(abs(statistic.population_cov(samples) - value) for samples, value in cases)
    return Judgement(f"largest error {off:.1e}", (Holds("the formula", off < 1e-12),))


def cv_rmse_formula(runs: Mapping[str, Measured]) -> Judgement:
    """Footnote 4, on pairs of known CV_RMSE: a constant distance d around a mean m has d / m."""
    cases = (((1.0, 2.0, 3.0), (2.0, 3.0, 4.0), 0.4), ((5.0, 6.0), (5.0, 6.0), 0.0), ((3.0, 1.0), (1.0, 3.0), 1.0))
    results = [(statistic.cv_rmse(one, other), statistic.cv_rmse(other, one), value) for one, other, value in cases]
    off = max(abs(each - value) for *both, value in results for each in both)
    return Judgement(f"largest error {off:.1e}, in either order", (Holds("the formula", off < 1e-12),))


def _rtt_cov(result: TrialResult) -> float:
    ping = need(PingResult, result.measured)
    return known(ping.rtt_sd_s) / known(ping.rtt_mean_s)
