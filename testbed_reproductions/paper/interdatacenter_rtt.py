"""RTTs between regions: their levels, their variation and a detour; and the formulas of CoV and CV_RMSE. Pure, no I/O.

Judges of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance, section IV.B and footnotes.
"""

from __future__ import annotations

from collections.abc import Mapping

from testbed.api import PingResult, TrialResult, need, statistic

from ..check import Holds, Part, Share, Values, Within, above, alike, apart, average, below, minus, near
from ..check import estimate as mean_of
from ..measured import Measured, known
from ..row import Judgement
from .interdatacenter_path import CLOSE, one_of, parts_of, providers_of

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
        every = [None if None in each else statistic.mean(each) for each in zip(*found.values(), strict=True)]
        parts.append(near(f"{name}'s mean", every, RTT_MEAN_MS[name], RTT_MEAN_OFF_MS))
        parts.append(near(f"{name}'s EU-AP", found["eu", "ap"], FAR_RTT_MS[name], FAR_OFF_MS))
        words.append(f"{name} {average(every):.2f} ms, EU-AP {average(found['eu', 'ap']):.1f}")
    for pair, amazon in by_pair["Amazon"].items():
        compare, says = (apart, "apart") if pair == ("eu", "ap") else (alike, "alike")
        parts.append(compare(f"{'-'.join(pair)} is {says} at both", by_pair["Azure"][pair], amazon, CLOSE))
    return Judgement("; ".join(words), tuple(parts), "the mean is printed to 0.01 ms, which the jitter hides")


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
