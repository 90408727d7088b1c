"""What each row must meet, derived from what is printed and written before the runs that it judges. Pure, no I/O.

How a bound follows from what is printed:

A number x is met within half a unit of its last digit; one that is printed as approximate ("about x"), within half a
unit of its last digit other than 0. A bound is met beyond it, and an order by differences beyond 0.
"Alike", "close to", "no effect": at most 5 % apart, as rates are printed as whole Gbit/s of 10, and an effect of
memory that is called none is up to 4.65 %. "Apart", "noticeable", "matters": more than the same 5 %. "The line rate" is
95 % or more of a full link's goodput. "Much lower": less than half. A profile is concave or convex if its C_CC is more
than 0.02 above or below 0, the margin that comparisons use too; C_UC does not rise if it rises by at most 0.02.

Of a row that claims a shape, orders and bends are judged; numbers only where its criterion says so.
"""

from __future__ import annotations

from ..reproduction.row import Criterion

CRITERIA = {
    # Persico et al., inter-datacenter
    "S0-SYS": Criterion(
        "no packet lost at access links; every run has 95 % or more of what the wide area carries",
        "III.A: the wide area is assumed to be the bottleneck",
    ),
    "S0-E1": Criterion("12 ordered pairs at each provider, runs of 300 s, more than 300 h in all", "III.B"),
    "S0-F2": Criterion(
        "means 77.8 ± 0.05 and 118.2 ± 0.05 Mbit/s, +52 ± 0.5 %; largest 171.6 ± 0.05 and 284.5 ± 0.05; p75 "
        "of Amazon 99 ± 0.5, p5 of Azure 57 ± 0.5; smallest of Amazon 1 ± 0.5, of Azure 13 or more; IQR of "
        "Amazon the smaller; p95 of the CoV within a run 0.2 ± 0.05",
        "IV.A, numbers as printed",
    ),
    "S0-F3": Criterion(
        "the larger gap between pairs 80 ± 5 %; the same ranking, but US-AP above EU-AP for Azure only; US-EU "
        "best, SA-AP worst; for Azure the runs of SA-US, US-SA and SA-EU vary more than the others",
        "IV.A and Fig. 3, numbers and orders as printed",
    ),
    "S0-F4": Criterion(
        "below 10 Mbit/s in each of several degradations of a run; the other direction meanwhile within 5 % of "
        "its usual level",
        "IV.A: below 10 Mbit/s, intermittently, in one direction",
    ),
    "S0-F5": Criterion(
        "UDP above 800/850 of the path, and above TCP by 800/284.5 or more",
        "IV.A: UDP above 800 Mbit/s, the largest TCP 284.5 Mbit/s, the path's UDP level about 850",
    ),
    "S0-F6": Criterion(
        "means 193.94 ± 0.005 and 214.61 ± 0.005 ms; EU-AP 201 ± 0.5 and 315 ± 0.5 ms; the other five pairs "
        "within 5 % of one another, EU-AP not",
        "IV.B, numbers as printed",
    ),
    "S0-E5": Criterion(
        "the RTT of EU-AP within 1.5 ms of the sum of its parts",
        "IV.B: almost the sum; three RTTs are printed or shown in whole ms",
    ),
    "S0-F7": Criterion(
        "CoV above 0.05 in less than 15 % of the runs; SA-AP has the longest RTT and the lowest CoV at both providers",
        "IV.B, bound and order as printed",
    ),
    "S0-E6": Criterion(
        "with loss less than half the usual throughput, and an RTT at most 5 % longer; behind a queue, as a "
        "control, it is more than 5 % longer",
        "IV.B: low throughput does not imply high latency",
    ),
    "S0-MET1": Criterion("sigma / mu of samples of known CoV within 1e-12", "footnote 3, the formula"),
    "S0-MET2": Criterion("CV_RMSE of samples where it is known within 1e-12", "footnote 4, the formula"),
    "S0-F8a": Criterion(
        "both zone pairs below 5 Mbit/s in the degraded hours and above it in the others; their CV_RMSE below 0.2",
        "IV.C: below 5 Mbit/s on all paths; CV_RMSE below 0.2 for 90 % of the samples",
    ),
    "S0-F8b": Criterion("ac below bb in each of the 24 hours of each day", "IV.C: during the entire 24 h"),
    "S0-E7": Criterion(
        "the RTTs of zone pairs differ in the same direction in every run, by at most 5 %",
        "IV.C: consistently but slightly distinct",
    ),
    "S0-F9a": Criterion(
        "every run steps from 850 ± 5 to 400 ± 50 Mbit/s, by more than half; loss after it is what is not "
        "delivered, within 1 point; the sender's rate stays; CoV after it 0.5 ± 0.05 of that before",
        "IV.D and Fig. 9a: about 850, about 400, more than -50 %, almost halved",
    ),
    "S0-F9b": Criterion(
        "step at 100 ± 50 s in more than 75 % of the runs; after 8 to 10 GB in 70 to 80 % of them",
        "IV.D and Fig. 9b: about 100 s in more than 75 %, 8000 to 10000 MB in about 75 %",
    ),
    "S0-E8": Criterion("no run shorter than 100 s shows a step, every longer one does", "IV.D"),
    "K14": Criterion(
        "levels 850 ± 5 and 400 ± 50 Mbit/s, after 8 to 10 GB in every run; no step in a run shorter than 100 s, "
        "one in every longer run",
        "IV.D",
        "S0-F9a",
    ),
    # Persico et al., object store
    "S1-SYS": Criterion("77 homes in 5 regions, 4 stores; RTT of every path within 10 µs of that asked for", "III.A"),
    "S1-T1": Criterion(
        "4 regions of stores, 5 sizes, 2 classes and 5 regions of homes, and each home runs all 40 combinations",
        "Table I, III.B",
    ),
    "S1-E1": Criterion("cycles of 40 downloads in random order, 10 ± 0.5 s apart; 84 cycles, 2 h apart", "III.B"),
    "S1-E2": Criterion(
        "the handshake of every download within 1 % of the RTT asked for; that bound is ours",
        "III.B: an RTT after each download; no value is printed",
    ),
    "S1-MET1": Criterion(
        "goodput × time is the size within 1e-9; 1 B takes 2 ± 0.05 RTT; those bounds are ours",
        "IV: goodput of a download; when its time begins is not printed",
    ),
    "S1-MET2": Criterion("sigma / mu of samples of known CoV within 1e-12", "IV, footnote 2, the formula"),
    "S1-F1": Criterion(
        "goodput grows from size to size at every home; 1 MiB, 1 KiB and 1 B are 1, 3 and 6 ± 0.5 orders of "
        "magnitude below 100 MiB; error at 1 MiB > at 16 MiB > 0",
        "IV and Fig. 1: whole orders are printed",
    ),
    "S1-F2": Criterion(
        "US 3562, EU 2791, SA 1445, AP 2018 ± 0.5 KiB/s; US and EU over SA and AP 1.83 ± 0.005",
        "IV and Fig. 2, numbers as printed",
    ),
    "S1-F3": Criterion(
        "over the stores one home is within 5 %, another more than 5 % apart",
        "IV: little change for some homes, a change that is not negligible for others",
    ),
    "S1-F4": Criterion(
        "US, EU and AP are best from their own store, CSA from US; largest US from US; lowest AP from SA and CSA "
        "from AP",
        "IV and Fig. 4, orders as printed",
    ),
    "S1-F5": Criterion(
        "US 5453, EU 4046, SA 1464, AP 3573 ± 0.5 KiB/s; gain 44.36 on the mean, AP 77.30, SA 1.79, each "
        "± 0.5 points; AP the largest, SA the smallest",
        "IV and Fig. 5, numbers as printed; the printed means give other gains, by up to 0.48 points",
    ),
    "S1-F6": Criterion("gain at 1 MiB > gain at 100 MiB > 0", "IV and Fig. 6: +274.69 % and +104.65 %"),
    "S1-F7": Criterion(
        "CoV from the edge 27.5 to 33.8 % below that from the origin",
        "Fig. 7: -28 % in the caption, one third in the text",
    ),
    "S1-F9a": Criterion(
        "the largest gain at 100 MiB above that at 1 MiB, which is below 7630 KiB/s; mean gain above 0; gain "
        "below 100 KiB/s in more than 30 % of the cases",
        "IV and Fig. 9a, bounds and orders as printed",
    ),
    "S1-F9b": Criterion(
        "the edge is worse in some cases and in less than half of them; more than 70 % of those have the store "
        "in the home's region; none is worse by more than 43.59 %",
        "IV and Fig. 9b: 119 of 924, more than 70 %, worst -43.59 %",
    ),
    "K15": Criterion("goodput grows with size at every home; gain at 1 MiB > at 100 MiB > 0", "Figs. 1, 6", "S1-F6"),
    # CloudCmp
    "S2-F8b": Criterion(
        "2 or more clients together have 95 % or more of a full link's goodput",
        "5.2: for C1 and C2 close to the bandwidth within the datacenter",
    ),
    "S2-E1": Criterion("more than twice as much", "5.2, bound as printed"),
    "S2-E3": Criterion(
        "2 to 32 messages at once take at most 5 % longer than one",
        "5.2.3: no significant degradation up to 32 messages",
    ),
    "S2-F10": Criterion(
        "C1 and C4: 95 % or more of a full card's goodput, CoV at most 0.05; C2 less than half of that",
        "5.3.1 and Fig. 10: close to 1 Gbit/s, low variation; C2 much lower",
    ),
    "S2-E4": Criterion("below 2 ms in every run", "5.3.1, bound as printed"),
    "S2-F11": Criterion(
        "median of C1 and C4 above 200 Mbit/s, C2's less than half of it; both less than half of what is had "
        "within a datacenter; more variable than there",
        "5.3.2 and Fig. 11: above 200 Mbit/s, much lower, much smaller",
    ),
    "S2-E5": Criterion(
        "4 MB is slower than enough; a fixed window loses more than twice as much as 4 MB",
        "5.3.2: smaller with default windows, far worse without tuning",
    ),
    "K16": Criterion(
        "with 4 MB at most 640 Mbit/s, with enough more than that", "5.3.2: 4 MB against 5 MB at 50 ms (derived)"
    ),
    # Phanekham et al.
    "S3-SYS-T": Criterion(
        "10 Gbit/s; RTTs to 376 ms, each within 10 µs of that asked for; exactly 1 drop in X packets", "III.A, IV.B"
    ),
    "S3-EQ4": Criterion("0.75, 0.5, 1 and 0 for the four anchors within 1e-12", "V, eqs. (2) to (4), derived"),
    "S3-F2a-c": Criterion(
        "1 flow: the longest RTT below the shortest, convex; 10 flows: above 1 flow at the longest RTT, and a "
        "higher C_CC",
        "IV.A.1: 1 flow falls and is slightly convex, 10 flows are higher and more concave",
    ),
    "S3-E1": Criterion("7.96 ± 0.005 and 9.72 ± 0.005 of 10 Gbit/s", "IV.A, numbers as printed"),
    "S3-F2d-f": Criterion(
        "95 % or more at 1 ms for any number of flows; at 376 ms 10 flows above 1 flow; 5 and 10 flows at "
        "most 5 % of the line rate apart at every RTT",
        "IV.B and Figs. 2d-f",
    ),
    "S3-E2": Criterion(
        "at most buffer / RTT; twice the buffer gives twice the throughput within 5 %",
        "III.A: 250 MB at 376 ms are 5.32 Gbit/s (derived)",
    ),
    "S3-F3a": Criterion(
        "the CoV over seeds of 10 BBR flows is larger than that of the emulated path without noise",
        "IV.A.1, IV.C and Fig. 3: the cloud varies more",
    ),
    "S3-F3b": Criterion(
        "falls with RTT, rising at no step by more than 2 % of the line rate; C_CC above 0.02",
        "IV.A.1 and Fig. 3b: smooth and concave",
    ),
    "S3-F4": Criterion(
        "BBR's mean over all RTTs and flows above CUBIC's and HTCP's; with 10 flows at the longest RTT CUBIC "
        "above BBR and HTCP",
        "IV.A.1 and Fig. 4: BBR the highest; 7, 7 and 8 Gbit/s at 300 ms",
    ),
    "S3-F5": Criterion(
        "at every RTT and number of flows at most 5 % of the largest apart", "IV.B.1 and Fig. 5: nearly identical"
    ),
    "S3-F6": Criterion(
        "CUBIC and HTCP at most 5 % apart at every RTT and number of flows without loss and at 1 in 1000000; at "
        "each larger loss more than 5 % apart at some of them",
        "IV.B.1: differences become noticeable at 1/100000 and higher",
    ),
    "S3-F7": Criterion(
        "10 flows: concave without loss, convex at 1 in 500; at 1 in 500 any number of flows below 500 Mbit/s "
        "beyond 1 ms; 10 flows twice as much as 1 or more at the longest RTT, at every loss",
        "IV.B.2, IV.B.3 and Fig. 7: bound as printed; similar relative gains (+100 %) under loss",
    ),
    "S3-F8": Criterion(
        "for each number of flows C_UC rises from no loss to the next by at most 0.02, and is lower at the "
        "largest loss than without; for each loss 10 flows have a higher C_UC than 1",
        "V.A and Fig. 8",
    ),
    "S3-F9": Criterion(
        "C_UC 0.7 ± 0.05 for each congestion control with 2, 5 and 10 flows", "I, V.B and Fig. 9: about 0.7"
    ),
    "S3-F9-C": Criterion(
        "C_UC grows from 1 to 10 flows for each congestion control, and for BBR more than for the others",
        "V.B and Fig. 9",
    ),
    "K1": Criterion("95 % or more of the line rate at the lowest RTT for any flows and control", "IV.A, IV.B"),
    "K2": Criterion(
        "falls with RTT, rising at no step by more than 2 % of the line rate; C_CC of 10 flows above 0.02 for each "
        "control",
        "IV and Fig. 2",
    ),
    "K3": Criterion(
        "C_UC rises from no loss to the next by at most 0.02; C_CC below -0.02 at 1 in 500", "V.A", "S3-F8"
    ),
    "K4": Criterion(
        "for each control the largest step of C_UC is from 1 to 2 flows; 5 and 10 flows at most 5 % of the line "
        "rate apart at every RTT",
        "V.B and Fig. 9, IV.A.1",
    ),
    "K5": Criterion("as S3-F6", "IV.B.1", "S3-F6"),
    "K6": Criterion(
        "for each loss and number of flows BBR's mean profile not below CUBIC's or HTCP's", "IV.A.1, VI: generally best"
    ),
    "K7": Criterion("a gain of 1.995 to 2.795", "IV.B: 3.22 to 6.44, 1.40 to 2.85 and 1.407 to 3.923 Gbit/s"),
    "K17": Criterion("as S3-EQ4", "V", "S3-EQ4"),
    "S3-E3": Criterion(
        "the profile without loss or with 1 in 1000000 is nearest, and nearer than each with more loss",
        "IV.B, IV.C: 1 flow like the one without loss; like those of low loss",
    ),
    # Hartpence and Kwasinski
    "S4-T2": Criterion(
        "more at 8 than at 4 KiB, at 16 within 5 % of 8 KiB, more at 64 than at 16 KiB",
        "Table II: 792, 1814, 1829, 2773 MB on the mean",
    ),
    "S4-T3": Criterion(
        "above the baseline at 4, 16 and 64 KiB, below it at 8 KiB", "Tables III and V, orders as printed"
    ),
    "S4-T4": Criterion(
        "below virtual machines at every window; below the baseline at 4, 8 and 16 KiB, above it at 64 KiB",
        "Tables III to V, orders as printed",
    ),
    "S4-T5-BR": Criterion("above the baseline at 4 KiB, below it at 8, 16 and 64 KiB", "Table V, orders as printed"),
    "S4-T5-MN": Criterion("above the baseline at every window", "Table V, orders as printed"),
    "S4-E2": Criterion("jitter below 1 ms and loss below 1 % in every run", "II.A.2, bounds as printed"),
    "S4-E3": Criterion("twice the memory changes each transfer by less than 5 %", "Table III: 4.65 % at most"),
    "S4-TV": Criterion("at most 0.064 % apart", "III.E, derived from 13.589 and 13.598 Mbit/s"),
    "K8": Criterion(
        "no step to a larger window lowers the transfer by more than 1 %",
        "Tables II to V: equal pairs are equal within 1 %",
        "S4-T2",
    ),
    "K8-VM": Criterion(
        "no step to a larger window lowers the transfer by more than 1 %, on any kind of link", "Tables III to V"
    ),
    "K9": Criterion("as S4-T5-MN", "Table V", "S4-T5-MN"),
    "K10": Criterion("below virtual machines at every window", "Tables III, IV", "S4-T4"),
    "K11": Criterion("below the baseline at 8, 16 and 64 KiB", "Table V", "S4-T5-BR"),
    "K12": Criterion("as S4-E3", "Table III", "S4-E3"),
    "K13": Criterion("as S4-E2", "II.A.2", "S4-E2"),
    "K13-VM": Criterion("jitter below 1 ms and loss below 1 % in every run", "II.A.2, bounds as printed"),
    "K13-MN": Criterion("jitter below 1 ms and loss below 1 % in every run", "II.A.2, bounds as printed"),
}
"""By the id of the row. S2-F8a has none: its download times are shown in a figure only."""
