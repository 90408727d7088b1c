"""Levels, spread and RTTs of paths between regions. Pure, no I/O.

Judges of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance, sections IV.A to IV.C.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis import statistic
from ...trial.measured import PingResult, TcpResult, need
from ...trial.stored_result import TrialResult
from ..reproduction.measured import Measured, known, mbit
from ..reproduction.row import Judgement

PAIRS, RTTS, DETOUR = "region-pairs", "rtt-variation", "path-inflation"
UDP, TCP = "udp-among-others", "tcp-among-others"

PROVIDERS = {"Amazon": "regions-amazon", "Azure": "regions-azure"}
REGIONS = ("eu", "us", "sa", "ap")
MEAN_BPS = {"Amazon": 77.8e6, "Azure": 118.2e6}
LARGEST_BPS = {"Amazon": 171.6e6, "Azure": 284.5e6}
GAIN = 0.52
QUANTILE_BPS = {"Amazon": (0.75, 99e6), "Azure": (0.05, 57e6)}
RTT_MEAN_S = {"Amazon": 0.19394, "Azure": 0.21461}
FAR_RTT_S = {"Amazon": 0.201, "Azure": 0.315}
"""Between EU and AP."""


CLOSE = 0.05
"""Relative: how close a level must be to the printed one, and two RTTs to count as similar."""
RAMP_S = 8.0
"""Left out of levels and of the variation within a run: slow start and the recovery from its overshoot."""

COV_FROM_S = 100.0
"""Runs of this length or longer can be judged by their variation: in shorter ones, one recovery from loss dominates."""

Second = tuple[float, float]
"""(seconds from the start, bit/s in the second that begins then)."""


def seconds(result: TrialResult) -> list[Second]:
    """The goodput at the receiver in each whole second."""
    return [(each.time_s, each.goodput_bps) for each in need(TcpResult, result.measured).series]


def steady(result: TrialResult) -> list[float]:
    return [bps for at_s, bps in seconds(result) if at_s >= RAMP_S]


def rtt_mean_s(result: TrialResult) -> float:
    return known(need(PingResult, result.measured).rtt_mean_s)


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
    shares = [statistic.mean(steady(each)) / (known(each.asked.rate_bps) * 1448 / 1514)
              for each in pairs.results]  # fmt: skip
    ours = f"{len(shares)} usable and {pairs.invalid} invalid runs: {lost} packets lost at access links, "
    ours += f"{min(shares):.1%} to {max(shares):.1%} of what the wide area carries"
    return Judgement(ours, not pairs.invalid and not lost and min(shares) > 0.9)


def campaign(runs: Mapping[str, Measured]) -> Judgement:
    """Section III.B: every ordered pair, at both providers."""
    pairs = runs[PAIRS]
    wanted = len(REGIONS) * (len(REGIONS) - 1)
    counts = {name: len(by_ends(part)) for name, part in _providers(pairs).items()}
    lengths_s = pairs.numbers(lambda result: result.workload_s)
    ours = f"{' and '.join(f'{count} pairs ({name})' for name, count in counts.items())}, {len(pairs.results)} runs of "
    ours += f"{max(lengths_s):.0f} s, {sum(lengths_s) / 3600:.2g} h"
    return Judgement(ours, set(counts.values()) == {wanted} and not pairs.invalid)


def tcp_levels(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2: mean, largest and quantiles over all runs of a provider; and the variation within a run."""
    runs_bps = {name: [statistic.mean(steady(each)) for each in part.results]
                for name, part in _providers(runs[PAIRS]).items()}  # fmt: skip
    covs = [statistic.population_cov(steady(each)) for each in runs[PAIRS].results]
    cov = statistic.quantile(covs, 0.95)
    wrong, words = [], []
    for name, means_bps in runs_bps.items():
        share, quantile_bps = QUANTILE_BPS[name]
        for what, value, expected in (
            ("mean", statistic.mean(means_bps), MEAN_BPS[name]),
            ("largest", max(means_bps), LARGEST_BPS[name]),
            (f"p{share * 100:.0f}", statistic.quantile(means_bps, share), quantile_bps),
        ):
            words.append(f"{name} {what} {value / 1e6:.1f}")
            wrong += [f"{name}'s {what} is off by {value / expected - 1:+.0%}"] if _off(value, expected) > CLOSE else []
        words.append(f"smallest {min(means_bps) / 1e6:.1f}")
    gain = statistic.mean(runs_bps["Azure"]) / statistic.mean(runs_bps["Amazon"]) - 1
    iqrs = {name: statistic.iqr(means_bps) for name, means_bps in runs_bps.items()}
    wrong += [f"Azure is {gain:+.0%} above Amazon"] if abs(gain - GAIN) > CLOSE else []
    wrong += ["Amazon's IQR is not the smaller one"] if iqrs["Amazon"] >= iqrs["Azure"] else []
    is_long = min(runs[PAIRS].numbers(lambda result: result.workload_s)) >= COV_FROM_S
    wrong += ["CoV within a run is above 0.2"] if is_long and cov > 0.2 * (1 + CLOSE) else []
    ours = f"{', '.join(words)} Mbit/s; Azure {gain:+.0%}; IQR {iqrs['Amazon'] / 1e6:.0f} and {iqrs['Azure'] / 1e6:.0f}"
    why = f"the first {RAMP_S:g} s of each run are left out"
    if not is_long:
        why += (
            f", and CoV is not judged in runs shorter than {COV_FROM_S:g} s, where one recovery from loss dominates it"
        )
    return Judgement(f"{ours}; CoV within a run {cov:.2g} at p95", not wrong, "; ".join([*wrong, why]))


def ranking(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3: pairs of regions, both directions together."""
    orders, gaps = {}, {}
    for name, part in _providers(runs[PAIRS]).items():
        means = _pair_means(part)
        orders[name] = sorted(means, key=lambda pair: -means[pair])
        gaps[name] = 1 - min(means.values()) / max(means.values())
    swapped = [{"us-ap": "eu-ap", "eu-ap": "us-ap"}.get(pair, pair) for pair in orders["Amazon"]]
    wrong = []
    if orders["Azure"] != swapped or orders["Azure"].index("us-ap") > orders["Azure"].index("eu-ap"):
        wrong.append("the rankings differ in more than the order of US-AP and EU-AP")
    if any(order[0] != "eu-us" or order[-1] != "sa-ap" for order in orders.values()):
        wrong.append("US-EU is not the best, or SA-AP not the worst")
    if not 0.7 <= max(gaps.values()) <= 0.9:
        wrong.append("the gap is not about 80 %")
    ours = "; ".join(f"{name} {' > '.join(order)}, {gaps[name]:.0%} apart" for name, order in orders.items())
    return Judgement(ours, not wrong, "; ".join(wrong))


def udp_above_tcp(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 5: UDP and TCP on the same path, with the same other traffic."""
    tcp, udp = runs[TCP].goodputs_bps, runs[UDP].goodputs_bps
    capacity_bps = runs[UDP].capacity_bps
    ratio = statistic.mean(udp) / statistic.mean(tcp)
    share = statistic.mean(udp) / capacity_bps
    ours = f"UDP {mbit(udp)}, TCP {mbit(tcp)}, × {ratio:.1f}; UDP has {share:.0%} of {capacity_bps / 1e6:.0f} Mbit/s"
    why = (
        f"passes if UDP has more than twice the goodput of TCP; the printed bound is {800 / 850:.0%} of 850 Mbit/s, "
        "while our UDP shares its queue with other traffic"
    )
    return Judgement(ours, ratio > 2, why)


def rtts(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 6: the mean over the pairs, EU-AP, and the number of pairs that are similar at both providers."""
    means = {name: {pair: statistic.mean([rtt_mean_s(each) for each in members])
                    for pair, members in by_ends(part).items()}
             for name, part in _providers(runs[RTTS]).items()}  # fmt: skip
    wrong, words = [], []
    for name, by_pair in means.items():
        mean, far = statistic.mean(list(by_pair.values())), by_pair["eu", "ap"]
        words.append(f"{name} {mean * 1e3:.2f} ms, EU-AP {far * 1e3:.1f}")
        wrong += [f"{name}'s mean is off"] if _off(mean, RTT_MEAN_S[name]) > 0.01 else []
        wrong += [f"{name}'s EU-AP is off"] if _off(far, FAR_RTT_S[name]) > 0.02 else []
    alike = [pair for pair, rtt in means["Amazon"].items() if _off(means["Azure"][pair], rtt) <= CLOSE]
    wrong += [f"{len(alike)} pairs are alike"] if len(alike) != 5 or ("eu", "ap") in alike else []
    return Judgement(f"{'; '.join(words)}; {len(alike)} of 6 pairs alike", not wrong, "; ".join(wrong))


def rtt_variation(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 7: the CoV of the RTT in each run, and which pair has the smallest."""
    covs, wrong = [], []
    for name, part in _providers(runs[RTTS]).items():
        results = by_ends(part)
        by_pair = {pair: [_rtt_cov(each) for each in members] for pair, members in results.items()}
        covs += [cov for values in by_pair.values() for cov in values]
        steadiest = min(by_pair, key=lambda pair: statistic.mean(by_pair[pair]))
        means_s = {pair: statistic.mean(list(map(rtt_mean_s, members))) for pair, members in results.items()}
        slowest = max(means_s, key=lambda pair: means_s[pair])
        if not set(steadiest) == set(slowest) == {"sa", "ap"}:
            wrong.append(f"{name}: the slowest is {'-'.join(slowest)}, the steadiest {'-'.join(steadiest)}")
    above = sum(cov > 0.05 for cov in covs) / len(covs)
    wrong += ["too many runs have a CoV above 0.05"] if above >= 0.15 else []
    ours = f"CoV {min(covs):.4f} to {max(covs):.4f}, above 0.05 in {above:.0%} of {len(covs)} runs"
    return Judgement(ours, not wrong, "; ".join(wrong))


def detour(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.B: the RTT through US is the sum of the RTTs of both parts."""
    means = {pair: statistic.mean([rtt_mean_s(each) for each in members])
             for pair, members in by_ends(runs[DETOUR]).items()}  # fmt: skip
    parts_s, whole_s = means["eu", "us"] + means["us", "ap"], means["eu", "ap"]
    ours = f"EU-AP {whole_s * 1e3:.2f} ms, EU-US and US-AP together {parts_s * 1e3:.2f} ms"
    return Judgement(ours, _off(whole_s, parts_s) < 0.01)


def cov_formula(runs: Mapping[str, Measured]) -> Judgement:
    """Footnote 3, on samples of known CoV: 1 and 3 have 1/2, equal samples 0, and scaling does not change it."""
    cases = (
        ((1.0, 3.0), 0.5),
        ((7.0, 7.0, 7.0), 0.0),
        ((1e8, 3e8), 0.5),
        ((2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0), 0.4),
    )
    off = max(abs(statistic.population_cov(samples) - value) for samples, value in cases)
    return Judgement(f"largest error {off:.1e}", off < 1e-12)


def cv_rmse_formula(runs: Mapping[str, Measured]) -> Judgement:
    """Footnote 4, on pairs of known CV_RMSE: a constant distance d around a mean m has d / m."""
    cases = (((1.0, 2.0, 3.0), (2.0, 3.0, 4.0), 0.4), ((5.0, 6.0), (5.0, 6.0), 0.0), ((3.0, 1.0), (1.0, 3.0), 1.0))
    results = [(statistic.cv_rmse(one, other), statistic.cv_rmse(other, one), value) for one, other, value in cases]
    off = max(abs(each - value) for *both, value in results for each in both)
    return Judgement(f"largest error {off:.1e}, in either order", off < 1e-12)


def _providers(measured: Measured) -> dict[str, Measured]:
    return {name: measured.only(topology=topology) for name, topology in PROVIDERS.items()}


def _pair_means(measured: Measured) -> dict[str, float]:
    """The mean over both directions and all runs of each pair, by name ("eu-us")."""
    goodputs_bps: dict[str, list[float]] = {}
    for (source, target), members in by_ends(measured).items():
        pair = "-".join(sorted((source, target), key=lambda region: ("eu", "us", "sa", "ap").index(region)))
        goodputs_bps.setdefault(pair, []).extend(statistic.mean(steady(each)) for each in members)
    return {pair: statistic.mean(values) for pair, values in goodputs_bps.items()}


def _rtt_cov(result: TrialResult) -> float:
    ping = need(PingResult, result.measured)
    return known(ping.rtt_sd_s) / known(ping.rtt_mean_s)


def _off(ours: float, expected: float) -> float:
    return abs(ours / expected - 1)
