"""Rows of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance. Pure, no I/O.

TCP, UDP and RTT between four regions of Amazon and Azure. `interdatacenter_policy` judges the policy on volume,
`interdatacenter_path` levels, `interdatacenter_rtt` RTTs, and `interdatacenter_degradation` degradations.
"""

from __future__ import annotations

from functools import partial

from testbed.api import Claim

from ..row import Criterion, Judge, Publication, Row
from . import interdatacenter_degradation as worse
from . import interdatacenter_path as path
from . import interdatacenter_policy as policy
from . import interdatacenter_rtt as rtt

SOURCE = "amazon-azure-2015"

NO_CLOUD = (
    "this is not a cloud: one shaped link stands for each pair of regions; the cloud's load, routing and times of day "
    "are not known"
)
OUR_RATES = "we chose the rates of the pairs so that the printed quantiles over all pairs come out"
OUR_RTTS = "only the RTT of EU-AP and the mean over the pairs are printed; we chose the other RTTs and the jitter"
OUR_EVENT = (
    "when, how far and why the path degrades is shown in a figure only, so we chose the level, the rates and the "
    "compressed clock"
)
UNEVEN = "Azure's three pairs of larger variation, and Amazon's smallest run of 1 Mbit/s, are not modelled"
TRIGGER = (
    "the authors suspect a policy on volume; we draw the volume from a uniform distribution, and chose the RTT and the "
    "rate of the path"
)
SCALED = "quick size: a hundredth of the rates and volumes"


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
    criterion: Criterion,
) -> Row:
    return Row(id, SOURCE, where, what, expected, claim, limits, facts, scenarios, judge, criterion=criterion)


_policy = partial(_row, limits=f"{TRIGGER}; {SCALED}")


_data = Publication(SOURCE).data

ROWS: tuple[Row, ...] = (
    _row("S0-SYS", "III.A, Fig. 1", "VM, datacenter, wide area, datacenter, VM", "the wide area is the bottleneck",
         path.bottleneck, path.PAIRS,
         criterion=Criterion("no packet lost at access links; every run has 95 % or more of what the wide area "
                             "carries",
                             "III.A: the wide area is assumed to be the bottleneck")),
    _row("S0-E1", "III.B", "The campaign: ordered pairs of four regions, runs of 5 min",
         "12 pairs at each provider, more than 300 h in all", path.campaign, path.PAIRS,
         facts=("region-pairs", "run-length", "traffic-total"),
         limits="the number of runs is not printed; our runs follow one another and are not spread over the day; "
                "quick size: runs of 60 s and two seeds",
         criterion=Criterion("12 ordered pairs at each provider, runs of 300 s, more than 300 h in all", "III.B")),
    _row("S0-F2", "Fig. 2, IV.A", "TCP throughput by provider",
         "mean 77.8 (Amazon) and 118.2 Mbit/s (Azure, +52 %); largest 171.6 and 284.5; p75 99 (Amazon), p5 57 (Azure); "
         "IQR smaller for Amazon; CoV within a run about 0.2 at p95", path.tcp_levels, path.PAIRS,
         limits=f"{OUR_RATES}; {UNEVEN}",
         facts=("tcp-mean-amazon", "tcp-mean-azure", "tcp-mean-gain", "tcp-max-amazon", "tcp-max-azure",
                "tcp-p75-amazon", "tcp-p5-azure", "tcp-min-amazon", "tcp-min-azure", "tcp-cov-p95",
                "iqr-amazon-smaller", "steady-within-a-run"),
         criterion=Criterion("means 77.8 ± 0.05 and 118.2 ± 0.05 Mbit/s, +52 ± 0.5 %; largest 171.6 ± 0.05 and "
                             "284.5 ± 0.05; p75 of Amazon 99 ± 0.5, p5 of Azure 57 ± 0.5; smallest of Amazon 1 ± "
                             "0.5, of Azure 13 or more; IQR of Amazon the smaller; p95 of the CoV within a run 0.2 "
                             "± 0.05",
                             "IV.A, numbers as printed")),
    _row("S0-F3", "Fig. 3, IV.A", "TCP throughput by pair of regions",
         "up to about 80 % apart; the same ranking but for US-AP and EU-AP; US-EU best, AP and SA worst", path.ranking,
         path.PAIRS, limits=f"{OUR_RATES}; we also chose the part of the ranking that is not printed; {UNEVEN}",
         facts=("tcp-region-gap", "tcp-pair-means", "pair-ranking", "best-pair", "worst-regions", "larger-sd"),
         criterion=Criterion("the larger gap between pairs 80 ± 5 %; the same ranking, but US-AP above EU-AP for "
                             "Azure only; US-EU best, SA-AP worst; for Azure the runs of SA-US, US-SA and SA-EU "
                             "vary more than the others",
                             "IV.A and Fig. 3, numbers and orders as printed")),
    _row("S0-F4", "Fig. 4, IV.A", "Degradation of one direction, SA and EU, Azure",
         "repeatedly below 10 Mbit/s, the other direction unaffected", worse.one_direction, worse.ASYMMETRY,
         limits=OUR_EVENT, facts=("tcp-degraded", "mostly-symmetric"),
         criterion=Criterion("below 10 Mbit/s in each of several degradations of a run; the other direction "
                             "meanwhile within 5 % of its usual level",
                             "IV.A: below 10 Mbit/s, intermittently, in one direction")),
    _row("S0-F5", "Fig. 5, IV.A", "UDP and TCP on one path, US to EU", "UDP far above TCP; UDP above 800 Mbit/s",
         path.udp_above_tcp, path.UDP, path.TCP, claim="shape",
         limits="we chose the other traffic: heavy-tailed TCP flows; quick size: a tenth of the rates",
         facts=("udp-us-eu", "udp-us-eu-mean", "udp-above-tcp"),
         criterion=Criterion("UDP above 800/850 of the path, and above TCP by 800/284.5 or more",
                             "IV.A: UDP above 800 Mbit/s, the largest TCP 284.5 Mbit/s, the path's UDP level about "
                             "850")),
    _row("S0-F6", "Fig. 6, IV.B", "RTT by pair of regions",
         "mean 193.94 (Amazon) and 214.61 ms (Azure); EU-AP 201 and 315 ms, the other five pairs similar", rtt.rtts,
         rtt.RTTS, limits=OUR_RTTS,
         facts=("rtt-mean-amazon", "rtt-mean-azure", "rtt-eu-ap-amazon", "rtt-eu-ap-azure", "rtt-other-pairs",
                "rtt-similar-pairs"),
         criterion=Criterion("means 193.94 ± 0.005 and 214.61 ± 0.005 ms; EU-AP 201 ± 0.5 and 315 ± 0.5 ms; the "
                             "other five pairs within 5 % of one another, EU-AP not",
                             "IV.B, numbers as printed")),
    _row("S0-E5", "IV.B", "EU to AP through US", "RTT nearly the sum of EU-US and US-AP", rtt.detour, rtt.DETOUR,
         limits="that the path leads through US is an input, and the RTTs of the two parts are not printed",
         facts=("path-through-us",),
         criterion=Criterion("the RTT of EU-AP within 1.5 ms of the sum of its parts",
                             "IV.B: almost the sum; three RTTs are printed or shown in whole ms")),
    _row("S0-F7", "Fig. 7, IV.B", "Variation of RTT within a run",
         "CoV above 0.05 in less than 15 % of the runs; SA-AP slowest and steadiest", rtt.rtt_variation, rtt.RTTS,
         limits=f"{OUR_RTTS}; the jitter does not reorder packets", facts=("rtt-cov-tail", "stable-worst-pair"),
         criterion=Criterion("CoV above 0.05 in less than 15 % of the runs; SA-AP has the longest RTT and the "
                             "lowest CoV at both providers",
                             "IV.B, bound and order as printed")),
    _row("S0-E6", "IV.B", "RTT while throughput is low", "no longer than otherwise", worse.rtt_in_degradation,
         worse.PROBES,
         claim="shape", limits=f"{OUR_EVENT}; the loss is an input; a queue is shown for comparison",
         facts=("rtt-not-tied-to-rate",),
         criterion=Criterion("with loss less than half the usual throughput, and an RTT at most 5 % longer; behind "
                             "a queue, as a control, it is more than 5 % longer",
                             "IV.B: low throughput does not imply high latency")),
    _row("S0-MET1", "footnote 3", "CoV", "sigma over mu", rtt.cov_formula, claim="reproduced",
         limits="whether sigma is of a sample or of a population is not printed; we use the population's",
         criterion=Criterion("sigma / mu of samples of known CoV within 1e-12", "footnote 3, the formula")),
    _row("S0-MET2", "footnote 4", "CV_RMSE", "root mean square difference over the mean of both means",
         rtt.cv_rmse_formula, claim="reproduced", facts=("zones-cv-rmse",),
         limits="how samples are paired is not printed; we pair them by position in the series",
         criterion=Criterion("CV_RMSE of samples where it is known within 1e-12", "footnote 4, the formula")),
    _row("S0-F8a", "Fig. 8a, IV.C", "Zone pairs that degrade together, AP to EU",
         "below 5 Mbit/s on all paths from 14:00 to 20:00", worse.degrade_together, worse.SHARED, limits=OUR_EVENT,
         facts=("zones-degraded", "zones-hardly-matter", "zones-cv-rmse"),
         criterion=Criterion("both zone pairs below 5 Mbit/s in the degraded hours and above it in the others; "
                             "their CV_RMSE below 0.2",
                             "IV.C: below 5 Mbit/s on all paths; CV_RMSE below 0.2 for 90 % of the samples")),
    _row("S0-F8b", "Fig. 8b, IV.C", "A zone pair that is lower all day, AP to SA", "ac below bb for 24 h",
         worse.lower_all_day, worse.LOWER,
         limits="the size of the gap is shown in a figure only; we chose the rates, and an hour is 10 s",
         facts=("zones-lower",),
         criterion=Criterion("ac below bb in each of the 24 hours of each day", "IV.C: during the entire 24 h")),
    _row("S0-E7", "IV.C", "RTT by zone pair", "slightly different, consistently", worse.zones_differ, worse.SHARED,
         limits="the values are not printed; we chose 1 and 2 ms at each end",
         criterion=Criterion("the RTTs of zone pairs differ in the same direction in every run, by at most 5 %",
                             "IV.C: consistently but slightly distinct")),
    _policy("S0-F9a", "Fig. 9a, IV.D", "A step inside a run of UDP, US to EU, Azure",
            "about 850 to about 400 Mbit/s; loss rises in proportion; CoV almost halved; same rate of the sender",
            policy.inside_a_run, policy.POLICY,
            facts=("step-high", "step-low", "step-drop", "step-cov-ratio", "step-in-every-run"),
            criterion=Criterion("every run steps from 850 ± 5 to 400 ± 50 Mbit/s, by more than half; loss after it "
                                "is what is not delivered, within 1 point; the sender's rate stays; CoV after it "
                                "0.5 ± 0.05 of that before",
                                "IV.D and Fig. 9a: about 850, about 400, more than -50 %, almost halved")),
    _policy("S0-F9b", "Fig. 9b, IV.D", "When the step comes",
            "at about 100 s in over 75 % of the runs; after 8000 to 10000 MB in about 75 %", policy.when_it_comes,
            policy.POLICY, facts=("step-time", "step-time-share", "step-volume", "step-volume-at-850"),
            criterion=Criterion("step at 100 ± 50 s in more than 75 % of the runs; after 8 to 10 GB in 70 to 80 % "
                                "of them",
                                "IV.D and Fig. 9b: about 100 s in more than 75 %, 8000 to 10000 MB in about 75 %")),
    _policy("S0-E8", "IV.D", "How long a run must be", "shorter than 100 s it cannot show the step",
            policy.needs_long_runs, policy.LENGTHS, facts=("step-visible-from",),
            criterion=Criterion("no run shorter than 100 s shows a step, every longer one does", "IV.D")),
    _data("S0-CMP", "II, IV.A", "Comparison with earlier work",
          "medians above 200 Mbit/s; 9.6 to 545.1 Mbit/s, RTT 349.1 ms on average, below 587.3 ms for 90 % of paths",
          "cited numbers of other publications", "cited-us-median", "cited-feng-tcp", "cited-feng-rtt-mean",
          "cited-feng-rtt-p90"),
    _data("S0-COST", "IV.A", "Prices of data from AP and SA, over EU and US",
          "8 and 4.5 times (Amazon), up to 3.2 and 2.3 times (Azure)", "prices cannot be measured",
          "cost-ap-amazon", "cost-sa-amazon", "cost-ap-azure", "cost-sa-azure"),
    _policy("K14", "IV.D", "Detection of the step",
            "850 to 400 Mbit/s found after 8 to 10 GB, and not in runs that are too short", policy.detector,
            policy.POLICY, policy.LENGTHS, facts=("step-high", "step-low", "step-volume", "step-visible-from"),
            criterion=Criterion("levels 850 ± 5 and 400 ± 50 Mbit/s, after 8 to 10 GB in every run; no step in a "
                                "run shorter than 100 s, one in every longer run",
                                "IV.D",
                                "S0-F9a")),
)  # fmt: skip
