"""Rows of Phanekham et al., Throughput Analytics of Cloud Networks: the throughput profile over RTT. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from testbed.api import Claim, Curve, concavity

from ..check import FULL, Holds, Part, Within, above, alike, average, below, minus, near, over
from ..check import estimate as mean_of
from ..measured import Measured, known
from ..row import Criterion, Judge, Judgement, Publication, Row
from . import throughput_profile_check as check
from . import throughput_profile_check as cloud
from .throughput_profile_check import ALIKE, FEW, LOSSLESS, LOSSY, MANY

SOURCE = cloud.SOURCE
BUFFERS = "buffer-ceiling"
RATE_BPS = 10e9
FAR_RTT_S = 0.376
BOUND_BPS = 500e6
RTT_OFF_S = 1e-5

OUR_LINUX = "one Linux kernel in virtual time in place of two workstations and an IXIA emulator"
QUEUE = "the bottleneck's queue is not printed; ours holds one BDP, and ten at 1 ms"
SCALED = (
    "quick size: 1 Gbit/s, a tenth of the buffers, five RTTs; two seeds without loss; with loss three, and 1 and 10 "
    "flows only; loss does not scale with the rate, so the same X bends the profile less"
)
NO_CLOUD = (
    "this is not a cloud: background flows, jitter and random loss of 1 in 100000, which we chose, stand in for it; "
    "with 1 in 3300000, with which the few printed numbers come closer, four seeds did not tell S3-F2a-c, S3-F4, "
    "S3-F9-C and K6; "
    "quick size: four seeds, four RTTs, 1 and 10 flows"
)


def network_was_as_asked(runs: Mapping[str, Measured]) -> Judgement:
    """S3-SYS-T: rate, RTTs and losses are the publication's, and every trial had what it was asked for."""
    core = check.sweep(runs)
    off_s = [each.rtt_off_s for each in core.results]
    stages = [stage for each in core.results for stage in each.stages if stage.expected_drops is not None]
    wrong = sum(stage.expected_drops != stage.dropped_packets for stage in stages)
    most_s = None if None in off_s else max(map(known, off_s), default=None)
    ours = f"{core.capacity_bps / 1e9:g} Gbit/s; {len(core.results)} usable and {core.invalid} invalid trials; "
    ours += "RTT " + ("not seen" if most_s is None else f"within {most_s * 1e6:.1f} µs of the RTT asked for")
    ours += f", drops other than ⌊(packets + phase)/X⌋ in {wrong} of {len(stages)} cases"
    parts = (
        Holds("10 Gbit/s", core.capacity_bps == RATE_BPS, f"{core.capacity_bps / 1e9:g} Gbit/s"),
        Holds("RTTs to 376 ms", max(each.asked.rtt_s for each in core.results) == FAR_RTT_S),
        Holds("every RTT as asked", None if most_s is None else most_s < RTT_OFF_S),
        Holds("exactly 1 drop in X", not wrong if stages else None),
        Holds("no invalid trial", not core.invalid),
    )
    return Judgement(ours, parts)


def one_and_ten_flows(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2d-f: at the shortest RTT any number of flows fills the link; at the longest, few flows reach less."""
    cubic = check.lossless(runs).only(congestion="cubic")
    close, far = cubic.values_of("rtt")[0], cubic.values_of("rtt")[-1]
    ends = {
        flows: tuple(check.shares(part.only(rtt=rtt)) for rtt in (close, far))
        for flows, part in cubic.split("flows").items()
    }
    parts: list[Part] = [
        Within(f"{flows} flows are full at {close}", mean_of((1, first)), FULL) for flows, (first, _) in ends.items()
    ]
    parts.append(above(f"10 flows are above 1 at {far}", minus(ends[MANY][1], ends[FEW][1])))
    parts += check.few_like_many(cubic)
    words = "; ".join(f"{flows}: {average(one):.1%} to {average(last):.1%}" for flows, (one, last) in ends.items())
    ours = f"share of the line rate at {close} and {far}, by flows: {words}"
    return Judgement(ours, tuple(parts), "the mean includes the ramp")


def bbr_profile(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3b: the profile of 10 BBR flows falls, is smooth and concave."""
    bbr = check.lossless(runs).only(congestion="bbr", flows=MANY)
    ours = f"C_CC {average(check.c_ccs(bbr)):+.3f}, C_UC {average(check.c_ucs(bbr)):.3f}"
    parts = (*check.falls("BBR", bbr), check.concave("BBR", bbr))
    return Judgement(ours, parts, "a C_CC near 0 is nearly a straight line; BBR is version 1, as in mainline Linux")


def alike_without_loss(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 5: CUBIC, HTCP and Scalable TCP are nearly the same without loss."""
    parts, most = [], 0.0
    for name, part in check.series(check.lossless(runs), "flows", "rtt"):
        cubic, *others = (check.rates(part.only(congestion=each)) for each in ("cubic", "htcp", "scalable"))
        for word, (one, other) in {
            "CUBIC and HTCP": (cubic, others[0]),
            "CUBIC and Scalable TCP": (cubic, others[1]),
            "HTCP and Scalable TCP": (others[0], others[1]),
        }.items():
            parts.append(alike(f"{word} with {name}", one, other, ALIKE))
            most = max(most, check.apart_by((one, other)))
    return Judgement(f"apart by up to {most:.1%} at any RTT and number of flows", tuple(parts))


def under_500_mbit(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 7: concave to convex; at 1 in 500 no RTT above 1 ms reaches 500 Mbit/s; flows gain as without loss."""
    cubic = runs[LOSSY].only(congestion="cubic")
    order = check.losses(cubic)
    worst = cubic.only(loss=order[-1])
    free = check.lossless(runs).only(congestion="cubic", flows=MANY)
    close, *rest = worst.values_of("rtt")
    parts: list[Part] = [check.concave("10 flows without loss", free)]
    parts.append(check.convex(f"10 flows at {check.in_words(order[-1])}", worst.only(flows=MANY)))
    most = 0.0
    for name, part in check.series(worst, "flows", "rtt"):
        if part.values_of("rtt")[0] in rest:
            parts.append(below(f"{name} is below 500 Mbit/s", mean_of((1, check.rates(part))), BOUND_BPS))
            most = max(most, average(check.rates(part)))
    gains = {}
    for loss in order:
        one, ten = (check.rates(cubic.only(loss=loss, rtt=rest[-1], flows=flows)) for flows in (FEW, MANY))
        gains[check.in_words(loss)] = over(ten, one)
    parts += [check.printed_gain(f"10 flows gain as without loss at {loss}", each) for loss, each in gains.items()]
    bends = [f"{average(check.c_ccs(each)):+.3f}" for each in (free, worst.only(flows=MANY))]
    ours = f"10 flows: C_CC {bends[0]} without loss, {bends[1]} at {check.in_words(order[-1])}; there at most "
    ours += f"{most / 1e6:.0f} Mbit/s beyond {close}; 10 flows over 1 at {rest[-1]}: "
    ours += ", ".join(f"× {average(each):.1f} at {loss}" for loss, each in gains.items())
    why = "each flow is held back by its own losses, so flows help more than without; for how many of them the bound is"
    return Judgement(ours, tuple(parts), f"{why} printed is not said")


def variants_without_loss(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9, emulated: with several flows every congestion control has a C_UC of about 0.7."""
    parts, words = [], []
    for name, part in check.series(check.lossless(runs), "congestion"):
        by_flows = {flows: check.c_ucs(each) for flows, each in part.split("flows").items()}
        words.append(f"{name} {' '.join(f'{average(values):.2f}' for values in by_flows.values())}")
        parts += [
            near(f"{name} with {flows}", by_flows.get(flows, ()), *check.NEAR_OPTIMAL) for flows in ("2", "5", MANY)
        ]
    return Judgement(f"C_UC of {', '.join(by_flows)} flows: {'; '.join(words)}", tuple(parts))


def buffer_ceiling(runs: Mapping[str, Measured]) -> Judgement:
    """A flow cannot have more than its socket buffer in flight: W / RTT, in proportion to W."""
    by_buffer = {text: check.rates(part) for text, part in runs[BUFFERS].split("net.ipv4.tcp_rmem").items()}
    rtt_s = runs[BUFFERS].results[0].asked.rtt_s
    parts, words = [], []
    for text, rates_bps in by_buffer.items():
        ceiling_bps = 8 * int(text.split()[-1]) / rtt_s
        words.append(f"{average(rates_bps) / 1e9:.3g} Gbit/s of at most {ceiling_bps / 1e9:.3g}")
        parts.append(Within(f"at most {ceiling_bps / 1e9:.3g} Gbit/s", mean_of((1, rates_bps)), high=ceiling_bps))
    every = list(by_buffer.values())
    parts += [
        near("twice the buffer, twice the throughput", over(large, small), 2.0, 2.0 * ALIKE)
        for small, large in pairwise(every)
    ]
    why = "the kernel announces a window smaller than the buffer: it subtracts overhead"
    return Judgement("; ".join(words), tuple(parts), why)


def anchors(runs: Mapping[str, Measured]) -> Judgement:
    """C_UC of the four profiles whose C_UC follows from the definition."""
    shapes = {
        "flat": (Curve((0, 1), (1, 1)), 0.75),
        "straight": (Curve((0, 1), (1, 0)), 0.5),
        "step at the far end": (Curve((0, 1, 1), (1, 1, 0)), 1.0),
        "step at the near end": (Curve((0, 0, 1), (1, 0, 0)), 0.0),
    }
    off = max(abs(concavity.utilization_concavity(curve) - value) for curve, value in shapes.values())
    part = Holds("the four anchors", off < 1e-12, f"{off:.1e}")
    return Judgement(f"largest error {off:.1e}", (part,), "with the corrected formulas of docs/concavity.md")


_BOTH, _FREE = (LOSSLESS, LOSSY), (LOSSLESS,)
_EMULATED = "; ".join([OUR_LINUX, QUEUE, SCALED])


def _core(
    id: str,
    where: str,
    what: str,
    expected: str,
    judge: Judge,
    scenarios: tuple[str, ...],
    *facts: str,
    claim: Claim = "shape",
    criterion: Criterion,
) -> Row:
    return Row(id, SOURCE, where, what, expected, claim, _EMULATED, facts, scenarios, judge, criterion=criterion)


def _noisy(
    id: str,
    where: str,
    what: str,
    expected: str,
    judge: Judge,
    *facts: str,
    scenarios: tuple[str, ...] = (cloud.NOISY,),
    criterion: Criterion,
) -> Row:
    return Row(id, SOURCE, where, what, expected, "calibrated", NO_CLOUD, facts, scenarios, judge, criterion=criterion)


_data = Publication(SOURCE).data

ROWS: tuple[Row, ...] = (
    _data("S3-SYS-C", "III.A, Fig. 1", "The cloud's network and hosts", "10 Gbit/s, RTT 1 to 350 ms, buffers of 250 MB",
          "there is no cloud here; its numbers are kept in a published profile", "rate", "cloud-buffer",
          "cloud-rtt-range"),
    _core("S3-SYS-T", "III.A", "The emulated network: rate, RTT, periodic loss", "10 Gbit/s, RTT to 376 ms, 1 in X",
          network_was_as_asked, _BOTH, "rate", "emulated-rtt-max", "loss-largest", claim="calibrated",
          criterion=Criterion("10 Gbit/s; RTTs to 376 ms, each within 10 µs of that asked for; exactly 1 drop in X "
                              "packets",
                              "III.A, IV.B")),
    Row("S3-EQ4", SOURCE, "V, eqs. (2) to (4)", "C_U, C_CC and C_UC",
        "0.75, 0.5, 1 and 0 for the four anchors (derived)", "reproduced", "", (), (), anchors,
        criterion=Criterion("0.75, 0.5, 1 and 0 for the four anchors within 1e-12", "V, eqs. (2) to (4), derived")),
    _noisy("S3-F2a-c", "Fig. 2a-c", "Cloud, CUBIC, 1, 5 and 10 flows",
           "1 flow from 10 to just above 4 Gbit/s at 340 ms; 10 flows about 8 at 300 ms", cloud.noisy_cubic,
           "cloud-cubic-1-flow", "cloud-cubic-10-flows",
           criterion=Criterion("1 flow: the longest RTT below the shortest, convex; 10 flows: above 1 flow at the "
                               "longest RTT, and a higher C_CC",
                               "IV.A.1: 1 flow falls and is slightly convex, 10 flows are higher and more concave")),
    Row("S3-E1", SOURCE, "IV.A", "Two connections of equal RTT", "7.96 Gbit/s at 80 ms and 9.72 at 81 ms", "calibrated",
        "why the first is slower is not printed; here other traffic shares its path", ("cloud-80ms", "cloud-81ms"),
        (cloud.OUTLIER,), cloud.outlier,
        criterion=Criterion("7.96 ± 0.005 and 9.72 ± 0.005 of 10 Gbit/s", "IV.A, numbers as printed")),
    _core("S3-F2d-f", "Fig. 2d-f", "Emulated, CUBIC, 1, 5 and 10 flows",
          "full rate at 1 ms; at 376 ms 1.40 (largest 3.22) Gbit/s with 1 flow, 2.85 (6.44) with 10; 5 like 10",
          one_and_ten_flows, _FREE, "emulated-1-flow-max", "emulated-10-flows-max",
          criterion=Criterion("95 % or more at 1 ms for any number of flows; at 376 ms 10 flows above 1 flow; 5 "
                              "and 10 flows at most 5 % of the line rate apart at every RTT",
                              "IV.B and Figs. 2d-f")),
    Row("S3-E2", SOURCE, "III.A", "The ceiling of the socket buffer", "5.32 Gbit/s for 250 MB at 376 ms (derived)",
        "shape", OUR_LINUX, ("cloud-window-limit-376", "iperf-window"), (BUFFERS,), buffer_ceiling,
        criterion=Criterion("at most buffer / RTT; twice the buffer gives twice the throughput within 5 %",
                            "III.A: 250 MB at 376 ms are 5.32 Gbit/s (derived)")),
    _noisy("S3-F3a", "Fig. 3a", "Cloud, BBR, 10 flows", "varies more than the emulated path", cloud.noisy_spread,
           scenarios=(cloud.NOISY, LOSSLESS),
           criterion=Criterion("the CoV over seeds of 10 BBR flows is larger than that of the emulated path "
                               "without noise, at the nearest RTTs",
                               "IV.A.1, IV.C and Fig. 3: the cloud varies more")),
    _core("S3-F3b", "Fig. 3b", "Emulated, BBR, 10 flows", "smooth and concave", bbr_profile, _FREE,
          criterion=Criterion("falls with RTT: the longest is below the shortest, and no step rises by more than 2 % "
                              "of the line rate; C_CC above 0",
                              "IV.A.1 and Fig. 3b: smooth and concave; V: C_CC of what is concave is positive")),
    _noisy("S3-F4", "Fig. 4", "Cloud, CUBIC, HTCP and BBR", "BBR the highest on the mean; 7, 7, 8 Gbit/s at 300 ms",
           cloud.noisy_variants, "bbr-highest", "cloud-bbr-10-flows", "cloud-htcp-10-flows",
           criterion=Criterion("BBR's mean over all RTTs and flows above CUBIC's and HTCP's; with 10 flows their means "
                               "at most 10 % of the line rate apart",
                               "IV.A.1 and Fig. 4: BBR has higher throughput; with 10 flows they are comparable, and "
                               "7, 7 and 8 of 10 Gbit/s are printed")),
    _core("S3-F5", "Fig. 5", "Emulated without loss, CUBIC, HTCP and Scalable TCP", "nearly the same",
          alike_without_loss, _FREE, "alike-without-loss",
          criterion=Criterion("at every RTT and number of flows at most 5 % of the largest apart",
                              "IV.B.1 and Fig. 5: nearly identical")),
    _core("S3-F6", "Fig. 6", "Emulated, 1 in 100000, CUBIC and HTCP", "they differ from this loss on",
          check.loss_separates, _BOTH, "loss-noticeable",
          criterion=Criterion("CUBIC and HTCP at most 5 % apart at every RTT and number of flows without loss and "
                              "at 1 in 1000000; at each larger loss more than 5 % apart at some of them",
                              "IV.B.1: differences become noticeable at 1/100000 and higher")),
    _core("S3-F7", "Fig. 7", "Emulated, CUBIC, loss from none to 1 in 500",
          "concave to convex; at 1 in 500 below 500 Mbit/s beyond 1 ms; flows help under loss as without",
          under_500_mbit, _BOTH, "emulated-1in500", "loss-makes-convex", "flows-help-under-loss",
          criterion=Criterion("10 flows: concave without loss, convex at 1 in 500; at 1 in 500 any number of flows "
                              "below 500 Mbit/s beyond 1 ms; from 1 to 10 flows at the longest RTT a gain of "
                              "1.995 to 2.795, at every loss",
                              "IV.B.2, IV.B.3 and Fig. 7: bound as printed; relative gains under loss similar to "
                              "those without, which K7 has")),
    _core("S3-F8", "Fig. 8", "C_UC by flows and loss, CUBIC", "grows with the flows, falls with loss",
          check.grows_and_falls, _BOTH, "c-uc-by-loss", "c-uc-flows-loss",
          criterion=Criterion("for each number of flows C_UC falls over the losses in order (the slope of a line "
                              "through them is below 0), and is lower at the largest loss than without; from 1 to "
                              "10 flows it grows, in the mean over the losses",
                              "V.A and Fig. 8: two overall trends")),
    _core("S3-F9", "Fig. 9", "C_UC by congestion control, emulated", "about 0.7 with several flows",
          variants_without_loss, _FREE, "c-uc-near-optimal", "c-uc-first-step",
          criterion=Criterion("C_UC 0.7 ± 0.05 for each congestion control with 2, 5 and 10 flows",
                              "I, V.B and Fig. 9: about 0.7")),
    _noisy("S3-F9-C", "Fig. 9", "C_UC by congestion control, cloud",
           "grows with the flows, for BBR the most; about 0.7",
           cloud.noisy_flows, "c-uc-bbr-cloud", "c-uc-near-optimal",
           criterion=Criterion("C_UC grows from 1 to 10 flows for each congestion control, and for BBR more than "
                               "for the others; 0.7 ± 0.05 with 10 flows",
                               "I, V.B and Fig. 9: the cloud's is about 0.7")),
    _core("K1", "IV.A, IV.B", "Throughput at the lowest RTT without loss", "the line rate, for any flows and control",
          check.full_at_the_shortest_rtt, _FREE, "full-at-1ms",
          criterion=Criterion("95 % or more of the line rate at the lowest RTT for any flows and control",
                              "IV.A, IV.B")),
    _core("K2", "IV", "The profile without loss", "falls with RTT, concave with 10 flows",
          check.falls_and_is_concave, _FREE, "falls-with-rtt", "flows-make-concave",
          criterion=Criterion("falls with RTT: the longest is below the shortest, and no step rises by more than 2 % "
                              "of the line rate; C_CC of 10 flows above 0 for each control",
                              "IV and Fig. 2; V: C_CC of what is concave is positive")),
    _core("K3", "V.A", "C_UC over loss", "becomes lower; convex at 1 in 500", check.falls_with_loss,
          _BOTH,
          criterion=Criterion("for each number of flows C_UC falls over the losses in order (the slope of a line "
                              "through them is below 0); C_CC below 0 at 1 in 500",
                              "V.A: an overall trend; V: C_CC of what is convex is negative",
                              "S3-F8")),
    _core("K4", "V.B", "C_UC over flows", "the largest step is from 1 to 2; 5 are close to 10",
          check.grows_most_from_one_to_two, _FREE, "c-uc-first-step", "5-like-10-flows",
          criterion=Criterion("for each control the largest step of C_UC is from 1 to 2 flows; 5 and 10 flows at "
                              "most 5 % of the line rate apart at every RTT",
                              "V.B and Fig. 9, IV.A.1")),
    _core("K5", "IV.B.1", "Differences between congestion controls", "alike without loss, but not from 1 in 100000 on",
          check.loss_separates, _BOTH, "alike-without-loss",
          criterion=Criterion("as S3-F6", "IV.B.1", "S3-F6")),
    _noisy("K6", "IV.A.1, VI", "BBR in the cloud", "generally the best", check.bbr_is_the_best, "bbr-highest",
           criterion=Criterion("for each number of flows BBR's mean over all RTTs above CUBIC's and HTCP's",
                               "VI: on this type of network BBR generally has the best performance across all RTTs")),
    _core("K7", "IV.B", "1 to 10 flows at the longest RTT without loss", "× 2 to 2.8", check.ten_flows_double, _FREE,
          "flows-gain", "emulated-10-flows-fig7",
          criterion=Criterion("a gain of 1.995 to 2.795",
                              "IV.B: 3.22 to 6.44, 1.40 to 2.85 and 1.407 to 3.923 Gbit/s")),
    Row("K17", SOURCE, "V", "Anchors of C_UC", "0.75, 0.5, 1, 0 (derived)", "reproduced", "", (), (), anchors,
        criterion=Criterion("as S3-EQ4", "V", "S3-EQ4")),
    _core("S3-E3", "IV.B, IV.C", "The cloud's profile among the emulated ones",
          "like those of low loss; with 1 flow like the one without", cloud.nearest_to_the_cloud, _BOTH,
          "cloud-like-low-loss", "cloud-1-flow-like-emulated", "cloud-cubic-1-flow",
          criterion=Criterion("the profile without loss or with 1 in 1000000 is nearest, and nearer than each with "
                              "more loss",
                              "IV.B, IV.C: 1 flow like the one without loss; like those of low loss")),
    _data("S3-E4", "III.A", "Time of one set of measurements", "1 to 2 days",
          "it depends on the computers; each run records its own time", "set-duration"),
)  # fmt: skip
