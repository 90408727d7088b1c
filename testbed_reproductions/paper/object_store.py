"""Rows of Persico et al., On the Network Performance of Amazon S3 Cloud-storage Service. Pure, no I/O."""

from __future__ import annotations

from ..row import Criterion, Publication, Row
from . import object_store_check as check

SOURCE = "s3-cloudfront-2016"

OUR_HOMES = "RTT, rate and loss of the homes are not printed; we chose them"
INPUT = "the rates of the paths are fitted to the printed means; Internet, homes and stores are emulated"
DRAWN = (
    "how many homes, in which regions, and the combinations are inputs; rates and distances of the homes are drawn "
    "from distributions of ours; Internet, homes and stores are emulated; each combination is downloaded twice, not in "
    "84 cycles (S1-E1 has them): those of one home took the same time within 0.04 %"
)
OUR_DAYS = (
    "other traffic takes a part of each way that changes with the time of day, in four steps of ours, whose size is "
    "fitted to both printed CoVs of S1-F7"
)
OUR_EDGE = f"nginx as a caching proxy stands in for the edge; {OUR_HOMES}"

_row = Publication(SOURCE).row

ROWS: tuple[Row, ...] = (
    _row("S1-SYS", "III.A, Fig. 1", "Homes, stores and the paths between them", "77 homes, 4 regions with a store",
         "calibrated", check.network_was_as_asked, (check.ALL,), DRAWN, "clients",
         criterion=Criterion("77 homes in 5 regions, 4 stores; RTT of every path within 10 µs of that asked for",
                             "III.A")),
    _row("S1-T1", "Table I", "Factors", "4 regions × 5 sizes × 2 classes = 40 downloads; homes in 5 regions",
         "calibrated", check.factors, (check.ALL,), DRAWN, "downloads-per-cycle",
         criterion=Criterion("4 regions of stores, 5 sizes, 2 classes and 5 regions of homes, and each home runs "
                             "all 40 combinations",
                             "Table I, III.B")),
    _row("S1-E1", "III.B", "The campaign", "40 downloads in random order, 10 s apart, every 2 h for 7 days",
         "calibrated", check.campaign, (check.CAMPAIGN,),
         "one home; all that is judged is an input: the row shows that a program can run for a week of lab time",
         "download-spacing", "cycle-period", "campaign", "cycles-per-client",
         criterion=Criterion("cycles of 40 downloads in random order, 10 ± 0.5 s apart; 84 cycles, 2 h apart",
                             "III.B")),
    _row("S1-E2", "III.B", "RTT and path after each download", "no values printed", "calibrated",
         check.handshake_rtt,
         (check.SIZES,), "no path is traced, as its hops are those of the topology",
         criterion=Criterion("the handshake of every download within 1 % of the RTT asked for; that bound is ours",
                             "III.B: an RTT after each download; no value is printed")),
    _row("S1-MET1", "IV", "Metric: goodput of a download", "when the time begins is not printed", "calibrated",
         check.goodput_counts_from_the_request, (check.SIZES,), "",
         criterion=Criterion("goodput × time is the size within 1e-9; 1 B takes 2 ± 0.05 RTT; those bounds are ours",
                             "IV: goodput of a download; when its time begins is not printed")),
    Row("S1-MET2", SOURCE, "IV, footnote 2", "Metric: CoV", "sigma / mu; 0.38 to 0.26 is printed as -28 %",
        "reproduced", "we use the population sd; which one the publication uses is not printed",
        ("cov-s3", "cov-cloudfront", "cov-change"), (),
        check.variation,
        criterion=Criterion("sigma / mu of samples of known CoV within 1e-12", "IV, footnote 2, the formula")),
    _row("S1-F1", "Fig. 1", "Goodput by size", "1 MiB, 1 KiB and 1 B are 1, 3 and 6 orders of magnitude below 100 MiB; "
         "error 33.6 % at 16 MiB, 79.5 % at 1 MiB", "shape", check.grows_with_size, (check.SIZES,), OUR_HOMES,
         "grows-with-size",
         "size-1mib", "size-1kib", "size-1b", "size-16mib-error", "size-1mib-error",
         criterion=Criterion("goodput grows from size to size at every home; 1 MiB, 1 KiB and 1 B are 1, 3 and 6 ± "
                             "0.5 orders of magnitude below 100 MiB; error at 1 MiB > at 16 MiB > 0",
                             "IV and Fig. 1: whole orders are printed")),
    _row("S1-F2", "Fig. 2", "Mean goodput by store, 100 MiB",
         "US 3562, EU 2791, SA 1445, AP 2018 KiB/s; US and EU 45.5 % better", "calibrated", check.by_store,
         (check.REGIONS,), f"{INPUT}; 45.5 % is printed, and the printed means give 83 %",
         "goodput-us", "goodput-eu", "goodput-sa", "goodput-ap", "us-eu-over-sa-ap-ratio",
         criterion=Criterion("US 3562, EU 2791, SA 1445, AP 2018 ± 0.5 KiB/s; US and EU over SA and AP 1.83 ± 0.005",
                             "IV and Fig. 2, means as printed; their ratio is derived")),
    _row("S1-F3", "Fig. 3", "Homes by store", "some are flat over the stores, some are not", "shape",
         check.flat_or_not,
         (check.ACCESS,), f"the cells are shown in a figure only; {OUR_HOMES}", "flat-clients",
         criterion=Criterion("over the stores one home is within 5 %, another more than 5 % apart",
                             "IV: little change for some homes, a change that is not negligible for others")),
    _row("S1-F4", "Fig. 4", "Regions of homes by store",
         "the near store is best, but US for CSA; largest US from US, smallest AP from SA and CSA from AP",
         "calibrated", check.near_is_best, (check.REGIONS,), f"the cells are shown in a figure only; {INPUT}",
         "near-best",
         "best-cell",
         criterion=Criterion("US, EU and AP are best from their own store, CSA from US; largest US from US; lowest "
                             "AP from SA and CSA from AP",
                             "IV and Fig. 4, orders as printed")),
    _row("S1-F5", "Fig. 5", "Homes in the region of the store",
         "US 5453, EU 4046, SA 1464, AP 3573 KiB/s; gain 44.36 %, AP 77.30 %, SA 1.79 %", "calibrated",
         check.gain_of_the_near_store, (check.REGIONS,), INPUT, "goodput-us-from-us", "goodput-eu-from-eu",
         "goodput-sa-from-csa",
         "goodput-ap-from-ap", "near-gain-mean", "near-gain-ap", "near-gain-sa",
         criterion=Criterion("US 5453, EU 4046, SA 1464, AP 3573 ± 0.5 KiB/s; gain 44.36 on the mean, AP 77.30, SA "
                             "1.79, each ± 0.5 points; AP the largest, SA the smallest",
                             "IV and Fig. 5, means as printed; they give other gains than those printed, by up to 0.48 "
                             "points")),
    _row("S1-F6", "Fig. 6", "Gain of the CDN", "+274.69 % at 1 MiB, +104.65 % at 100 MiB", "shape",
         check.edge_gains_more_for_small, (check.EDGE,), OUR_EDGE, "cdn-gain-1mib", "cdn-gain-100mib",
         "cdn-gain-smaller-object",
         criterion=Criterion("gain at 1 MiB > gain at 100 MiB > 0", "IV and Fig. 6: +274.69 % and +104.65 %")),
    _row("S1-F7", "Fig. 7", "CoV of downloads", "0.38 from S3, 0.26 from CloudFront", "calibrated",
         check.edge_is_steadier, (check.STEADY,), f"{OUR_DAYS}; {OUR_EDGE}", "cov-s3", "cov-cloudfront",
         "cdn-steadier",
         criterion=Criterion("CoV 0.38 ± 0.005 from the origin and 0.26 ± 0.005 from the edge, which is 27.5 to 33.8 % "
                             "less",
                             "Fig. 7, numbers as printed; -28 % in the caption, one third in the text")),
    Row("S1-F8", SOURCE, "Fig. 8", "Which edge serves which home",
        "38 of 54 edges; the best is the most frequent for 18 of 48",
        "data only", "how the provider chooses an edge is not known", ("edges-seen", "edge-best-most-often")),
    _row("S1-F9a", "Fig. 9a", "Gain of the CDN by size",
         "mean 2215 KiB/s, at most 20371 at 100 MiB and 7630 at 1 MiB; below 100 KiB/s in more than 30 %", "calibrated",
         check.edge_gain_by_size, (check.EDGE,),
         f"half of the cases with a small gain are of a home whose edge is far, and are losses; {OUR_EDGE}",
         "cdn-gain-mean", "cdn-gain-max", "cdn-gain-max-1mib",
         "cdn-gain-negligible",
         criterion=Criterion("the largest gain at 100 MiB above that at 1 MiB, which is below 7630 KiB/s; mean "
                             "gain above 0; gain below 100 KiB/s in more than 30 % of the cases",
                             "IV and Fig. 9a, bounds and orders as printed")),
    _row("S1-F9b", "Fig. 9b", "Cases in which the CDN is worse",
         "119 of 924, most with the store in the region of the home; worst -43.59 %", "calibrated",
         check.edge_can_be_worse, (check.EDGE, check.LOADED),
         "how far the farthest edge is was fitted to the worst case; one edge is under a load that the publication "
         f"only suspects: {OUR_DAYS}; one home, four stores, no other traffic on the way to the near one; {OUR_EDGE}",
         "cdn-worse", "cdn-cases", "cdn-worse-same-region", "cdn-worst",
         criterion=Criterion("the edge is worse in some cases and in less than half of them; more than 70 % of "
                             "those have the store in the home's region; none is worse by more than 43.59 %",
                             "IV and Fig. 9b: 119 of 924, more than 70 %, worst -43.59 %")),
    _row("K15", "Figs. 1, 6", "Size of the object, and the CDN", "grows with size; gain at 1 MiB > at 100 MiB > 0",
         "shape", check.size_and_edge, (check.SIZES, check.EDGE), OUR_EDGE, "grows-with-size",
         "cdn-gain-smaller-object",
         criterion=Criterion("goodput grows with size at every home; gain at 1 MiB > at 100 MiB > 0",
                             "Figs. 1, 6",
                             "S1-F6")),
)  # fmt: skip
