"""Rows of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance. Pure, no I/O.

TCP, UDP and RTT between four regions of Amazon and Azure. The policy on volume is judged in `interdatacenter_policy`,
levels and RTTs in `interdatacenter_path`, and
what gets worse in `interdatacenter_degradation`.
"""

from __future__ import annotations

from functools import partial

from ..published import Claim
from ..reproduction.row import Judge, Publication, Row
from . import interdatacenter_degradation as worse
from . import interdatacenter_path as path
from . import interdatacenter_policy as policy

SOURCE = "amazon-azure-2015"

NO_CLOUD = "no cloud: one shaped link for each pair of regions; its load, routing and times of day are not known"
OUR_RATES = "the rates of pairs are inputs of ours, chosen so that the printed quantiles over all pairs come out"
OUR_RTTS = "of RTTs only EU-AP and the mean over pairs are printed; the others, and the jitter, are ours"
OUR_EVENT = "when, how deep and why it degrades is in a figure only, so level, rates and the compressed clock are ours"
UNEVEN = "Azure's three pairs of larger variation, and Amazon's smallest run of 1 Mbit/s, are not built in"
TRIGGER = "a policy on volume is what the authors suspect; the volume is drawn evenly, the path's RTT and rate are ours"
SCALED = "quick: rates and volumes a tenth as large"


def _row(
    id: str,
    where: str,
    what: str,
    expected: str,
    judge: Judge,
    *scenarios: str,
    claim: Claim = "calibrated",
    limits: str = NO_CLOUD,
    facts: tuple[str, ...] = (),
) -> Row:
    return Row(id, SOURCE, where, what, expected, claim, limits, facts, scenarios, judge)


_policy = partial(_row, limits=f"{TRIGGER}; {SCALED}")


_data = Publication(SOURCE).data

ROWS: tuple[Row, ...] = (
    _row("S0-SYS", "III.A, Fig. 1", "VM, datacenter, wide area, datacenter, VM", "the wide area is the bottleneck",
         path.bottleneck, path.PAIRS),
    _row("S0-E1", "III.B", "The campaign: ordered pairs of four regions, runs of 5 min",
         "12 pairs at each provider, more than 300 h in all", path.campaign, path.PAIRS,
         facts=("region-pairs", "run-length", "traffic-total"),
         limits="how many runs is not said; ours are one after another, not spread over the day; quick: runs of 20 s"),
    _row("S0-F2", "Fig. 2, IV.A", "TCP throughput by provider",
         "mean 77.8 (Amazon) and 118.2 Mbit/s (Azure, +52 %); largest 171.6 and 284.5; p75 99 (Amazon), p5 57 (Azure); "
         "IQR smaller for Amazon; CoV within a run about 0.2 at p95", path.tcp_levels, path.PAIRS,
         limits=f"{OUR_RATES}; {UNEVEN}",
         facts=("tcp-mean-amazon", "tcp-mean-azure", "tcp-mean-gain", "tcp-max-amazon", "tcp-max-azure",
                "tcp-p75-amazon", "tcp-p5-azure", "tcp-min-amazon", "tcp-min-azure", "tcp-cov-p95",
                "iqr-amazon-smaller", "steady-within-a-run")),
    _row("S0-F3", "Fig. 3, IV.A", "TCP throughput by pair of regions",
         "up to about 80 % apart; the same ranking but for US-AP and EU-AP; US-EU best, AP and SA worst", path.ranking,
         path.PAIRS, limits=f"{OUR_RATES}; so is all of the ranking that is not printed; {UNEVEN}",
         facts=("tcp-region-gap", "tcp-pair-means", "pair-ranking", "best-pair", "worst-regions", "larger-sd")),
    _row("S0-F4", "Fig. 4, IV.A", "Degradation of one direction, SA and EU, Azure",
         "below 10 Mbit/s again and again, the other direction unaffected", worse.one_direction, worse.ASYMMETRY,
         limits=OUR_EVENT, facts=("tcp-degraded", "mostly-symmetric")),
    _row("S0-F5", "Fig. 5, IV.A", "UDP and TCP on one path, US to EU", "UDP far above TCP; UDP above 800 Mbit/s",
         path.udp_above_tcp, path.UDP, path.TCP, claim="shape",
         limits="the load of others is ours: heavy-tailed TCP flows; quick: rates a tenth as large",
         facts=("udp-us-eu", "udp-us-eu-mean", "udp-above-tcp")),
    _row("S0-F6", "Fig. 6, IV.B", "RTT by pair of regions",
         "mean 193.94 (Amazon) and 214.61 ms (Azure); EU-AP 201 and 315 ms, the other five pairs similar", path.rtts,
         path.RTTS, limits=OUR_RTTS,
         facts=("rtt-mean-amazon", "rtt-mean-azure", "rtt-eu-ap-amazon", "rtt-eu-ap-azure", "rtt-other-pairs",
                "rtt-similar-pairs")),
    _row("S0-E5", "IV.B", "EU to AP through US", "RTT nearly the sum of EU-US and US-AP", path.detour, path.DETOUR,
         claim="reproduced", limits="additivity is reproduced, the values are calibrated: the legs are not printed",
         facts=("path-through-us",)),
    _row("S0-F7", "Fig. 7, IV.B", "Variation of RTT within a run",
         "CoV above 0.05 in less than 15 % of the runs; SA-AP slowest and steadiest", path.rtt_variation, path.RTTS,
         limits=f"{OUR_RTTS}; it keeps packets in order", facts=("rtt-cov-tail", "stable-worst-pair")),
    _row("S0-E6", "IV.B", "RTT while throughput is low", "no longer than otherwise", worse.rtt_in_degradation,
         worse.PROBES,
         claim="shape", limits=f"{OUR_EVENT}; loss is imposed, and a queue shown beside it",
         facts=("rtt-not-tied-to-rate",)),
    _row("S0-MET1", "footnote 3", "CoV", "sigma over mu", path.cov_formula, claim="reproduced",
         limits="whether sigma is that of a sample or of a population is not said: here the population's"),
    _row("S0-MET2", "footnote 4", "CV_RMSE", "root mean square difference over the mean of both means",
         path.cv_rmse_formula, claim="reproduced", facts=("zones-cv-rmse",),
         limits="how samples are paired is not said: here by their place in the series"),
    _row("S0-F8a", "Fig. 8a, IV.C", "Zone pairs that degrade together, AP to EU",
         "below 5 Mbit/s on all paths from 14:00 to 20:00", worse.degrade_together, worse.SHARED, limits=OUR_EVENT,
         facts=("zones-degraded", "zones-hardly-matter", "zones-cv-rmse")),
    _row("S0-F8b", "Fig. 8b, IV.C", "A zone pair that is lower all day, AP to SA", "ac below bb for 24 h",
         worse.lower_all_day, worse.LOWER, limits="the size of the gap is in a figure only: rates are ours",
         facts=("zones-lower",)),
    _row("S0-E7", "IV.C", "RTT by zone pair", "slightly different, consistently", worse.zones_differ, worse.SHARED,
         limits="the values are not printed: 1 and 2 ms at each end are ours"),
    _policy("S0-F9a", "Fig. 9a, IV.D", "A step inside a run of UDP, US to EU, Azure",
            "about 850 to about 400 Mbit/s; loss rises in proportion; CoV almost halved; the sender goes on as before",
            policy.inside_a_run, policy.POLICY,
            facts=("step-high", "step-low", "step-drop", "step-cov-ratio", "step-in-every-run")),
    _policy("S0-F9b", "Fig. 9b, IV.D", "When the step comes",
            "at about 100 s in over 75 % of the runs; after 8000 to 10000 MB in about 75 %", policy.when_it_comes,
            policy.POLICY, facts=("step-time", "step-time-share", "step-volume", "step-volume-at-850")),
    _policy("S0-E8", "IV.D", "How long a run must be", "shorter than 100 s it cannot show the step",
            policy.needs_long_runs, policy.LENGTHS, claim="reproduced", facts=("step-visible-from",)),
    _data("S0-CMP", "II, IV.A", "Comparison with earlier work",
          "medians above 200 Mbit/s; 9.6 to 545.1 Mbit/s, RTT 349.1 ms on average, below 587.3 ms for 90 % of paths",
          "numbers of others, cited", "cited-us-median", "cited-feng-tcp", "cited-feng-rtt-mean", "cited-feng-rtt-p90"),
    _data("S0-COST", "IV.A", "Prices of data from AP and SA, over EU and US",
          "8 and 4.5 times (Amazon), up to 3.2 and 2.3 times (Azure)", "prices are nothing to be run",
          "cost-ap-amazon", "cost-sa-amazon", "cost-ap-azure", "cost-sa-azure"),
    _policy("K14", "IV.D", "Detection of the step",
            "850 to 400 Mbit/s found after 8 to 10 GB, and not in runs too short for it", policy.detector,
            policy.POLICY, policy.LENGTHS, facts=("step-high", "step-low", "step-volume", "step-visible-from")),
)  # fmt: skip
