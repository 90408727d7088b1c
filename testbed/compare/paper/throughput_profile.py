"""Rows of Phanekham et al., Throughput Analytics of Cloud Networks: the throughput profile over RTT. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis import concavity, distance, statistic
from ...analysis.concavity import Curve
from .. import published
from ..published import Claim
from ..reproduction.measured import Measured, gbit, known
from ..reproduction.row import Judge, Judgement, Publication, Row
from . import throughput_profile_check as check

SOURCE = "google-cloud-emulated"
CORE, NOISY, BUFFERS, OUTLIER = check.SCENARIO, "noisy-profile", "buffer-ceiling", "equal-rtt-outlier"

OUR_LINUX = "one Linux kernel in virtual time in place of two workstations and an IXIA emulator"
QUEUE = "the bottleneck's queue is not printed; ours holds one BDP"
SCALED = (
    "quick size: 1 Gbit/s and a tenth of the buffers; loss does not scale with the rate, so the same X bends the "
    "profile less"
)
NO_CLOUD = (
    "this is not a cloud: background flows, jitter and random loss of 1 in 100000, which we chose, stand in for it"
)


def network_was_as_asked(runs: Mapping[str, Measured]) -> Judgement:
    """S3-SYS-T: every trial of the sweep is valid and has the RTT asked for."""
    core = check.sweep(runs)
    off_s = max(core.numbers(lambda result: known(result.rtt_off_s)))
    wrong = sum(
        1 for each in core.results for stage in each.stages if stage.expected_drops not in (None, stage.dropped_packets)
    )
    ours = (
        f"{len(core.results)} usable and {core.invalid} invalid trials; RTT within {off_s * 1e6:.1f} µs of the RTT "
        f"asked for, drops other than ⌊packets/X⌋ in {wrong} cases"
    )
    return Judgement(ours, not core.invalid and off_s < 1e-5 and not wrong)


def one_and_ten_flows(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2d-f: at the shortest RTT any number of flows fills the link; at the longest, few flows reach less."""
    cubic = check.lossless(runs).only(congestion="cubic")
    near, far = cubic.values_of("rtt")[0], cubic.values_of("rtt")[-1]
    words, shares = [], {}
    for flows, part in cubic.split("flows").items():
        ends = [part.only(rtt=rtt).mean_bps / part.line_rate_bps for rtt in (near, far)]
        shares[flows] = ends
        words.append(f"{flows}: {ends[0]:.1%} to {ends[1]:.1%}")
    is_met = min(ends[0] for ends in shares.values()) > check.NEAR_FULL and shares["1"][1] < shares["10"][1]
    ours = f"share of the line rate at {near} and {far}, by flows: {'; '.join(words)}"
    return Judgement(ours, is_met and shares["5"][1] > shares["1"][1], "the mean includes the ramp")


def bbr_profile(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3b: the profile of 10 BBR flows is smooth and concave."""
    bbr = check.lossless(runs).only(congestion="bbr", flows=check.MANY)
    ours = f"C_CC {bbr.c_cc:+.3f}, C_UC {bbr.c_uc:.3f}"
    return Judgement(ours, bbr.c_cc > 0, "BBR is version 1, as in mainline Linux")


def alike_without_loss(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 5: CUBIC, HTCP and Scalable TCP are nearly the same without loss."""
    apart = {
        flows: check.spread([part.only(congestion=each) for each in ("cubic", "htcp", "scalable")])
        for flows, part in check.lossless(runs).split("flows").items()
    }
    ours = "apart by " + ", ".join(f"{value:.1%} with {flows}" for flows, value in apart.items()) + " flows"
    return Judgement(ours, statistic.mean(list(apart.values())) <= check.ALIKE)


def under_500_mbit(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 7: at 1 in 500 no RTT above 1 ms reaches 500 Mbit/s, with one flow; more flows gain under loss too."""
    cubic = check.sweep(runs).only(congestion="cubic", loss=check.losses(check.sweep(runs))[-1])
    by_rtt = {rtt: part.mean_bps for rtt, part in cubic.only(flows=check.FEW).split("rtt").items()}
    near, *rest = by_rtt
    worst = max(rest, key=lambda rtt: by_rtt[rtt])
    far = rest[-1]
    gain = cubic.only(rtt=far, flows=check.MANY).mean_bps / by_rtt[far]
    ours = f"1 flow: {by_rtt[near] / 1e6:.0f} Mbit/s at {near}, {by_rtt[worst] / 1e6:.1f} at {worst}; "
    ours += f"10 flows gain × {gain:.1f} at {far}"
    is_met = by_rtt[worst] < 500e6 and gain > 2
    return Judgement(ours, is_met, "the bound does not depend on the rate; the number of flows is not printed")


def variants_under_loss(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9, emulated: with several flows every congestion control is near its best."""
    words, is_met = [], True
    for name, part in check.series(check.lossless(runs), "congestion"):
        by_flows = {flows: each.c_uc for flows, each in part.split("flows").items()}
        words.append(f"{name} {by_flows['1']:.2f} to {by_flows['10']:.2f}")
        is_met = is_met and 0.6 <= by_flows["10"] <= 0.8
    return Judgement(f"C_UC of 1 to 10 flows: {', '.join(words)}", is_met, "passes from 0.6 to 0.8 with 10 flows")


def noisy_cubic(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2a-c: with noise, 10 flows stay above 1 flow, and the longest RTT is below the shortest."""
    cubic = runs[NOISY].only(congestion="cubic")
    one, ten = (cubic.only(flows=flows).profile.mean_bps for flows in ("1", "10"))
    capacity = cubic.line_rate_bps
    ours = f"1 flow {one[0] / capacity:.0%} to {one[-1] / capacity:.0%}, 10 flows {ten[0] / capacity:.0%} to "
    ours += f"{ten[-1] / capacity:.0%} of the line rate"
    return Judgement(ours, one[-1] < one[0] and ten[-1] > one[-1])


def noisy_variants(runs: Mapping[str, Measured]) -> Judgement:
    """Figures 3a, 4 and 9, cloud: BBR's mean profile is the highest under noise."""
    noisy = runs[NOISY]
    means = {
        cc: statistic.mean([part.only(congestion=cc).curve.mean for part in noisy.split("flows").values()])
        for cc in noisy.values_of("congestion")
    }
    ours = "mean share of the line rate: " + ", ".join(f"{cc} {mean:.2f}" for cc, mean in means.items())
    return Judgement(ours, means["bbr"] >= max(means.values()) - check.MARGIN)


def noisy_spread(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3a: 10 BBR flows vary from run to run, at every RTT."""
    bbr = runs[NOISY].only(congestion="bbr", flows=check.MANY)
    spreads = [statistic.sample_cov(part.goodputs_bps) for part in bbr.split("rtt").values()]
    ours = f"coefficient of variation over seeds {min(spreads):.2%} to {max(spreads):.2%}"
    return Judgement(ours, min(spreads) > 0, "the emulated path without loss gives the same result for every seed")


def noisy_flows(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9, cloud: C_UC grows with the number of flows, and most for BBR."""
    gains, words = {}, []
    for name, part in check.series(runs[NOISY], "congestion"):
        by_flows = [each.c_uc for each in part.split("flows").values()]
        words.append(f"{name} {by_flows[0]:.2f} to {by_flows[-1]:.2f}")
        gains[name] = by_flows[-1] - by_flows[0]
    most = max(gains, key=lambda name: gains[name])
    why = "" if most == "bbr" else f"{most} gains the most: our random loss holds back one such flow, but not several"
    return Judgement(f"C_UC of 1 to 10 flows: {', '.join(words)}", min(gains.values()) > 0 and not why, why)


def buffer_ceiling(runs: Mapping[str, Measured]) -> Judgement:
    """A flow cannot have more than its socket buffer in flight: W / RTT, in proportion to W."""
    by_buffer = {text: part.goodputs_bps for text, part in runs[BUFFERS].split("net.ipv4.tcp_rmem").items()}
    rtt_s = runs[BUFFERS].results[0].asked.rtt_s
    words, is_met = [], True
    for text, goodputs_bps in by_buffer.items():
        ceiling = 8 * int(text.split()[-1]) / rtt_s
        words.append(f"{gbit(goodputs_bps)} of at most {ceiling / 1e9:.3g}")
        is_met = is_met and max(goodputs_bps) < ceiling
    small, large, *_ = [statistic.mean(goodputs_bps) for goodputs_bps in by_buffer.values()]
    ours = "; ".join(words)
    is_met = is_met and large > 1.5 * small
    return Judgement(ours, is_met, "the kernel announces a window smaller than the buffer: it subtracts overhead")


def outlier(runs: Mapping[str, Measured]) -> Judgement:
    """Two paths of nearly the same RTT, one of them shared with other traffic."""
    parts = runs[OUTLIER].split("to")
    words = ", ".join(f"{name} {gbit(part.goodputs_bps)}" for name, part in parts.items())
    means = [part.mean_bps for part in parts.values()]
    return Judgement(words, min(means) < 0.9 * max(means))


def nearest_to_the_cloud(runs: Mapping[str, Measured]) -> Judgement:
    """S3-E3: which of our losses explains the cloud's profile of one CUBIC flow best."""
    series = published.find(SOURCE)[0].series["cloud-cubic-1-flow"]
    assert series.capacity is not None, "BUG: a series over RTT that has no capacity"
    ours = check.sweep(runs).only(congestion="cubic", flows=check.FEW)
    ranking = distance.best_match(
        series.throughput_profile(),
        {loss: part.profile for loss, part in ours.split("loss").items()},
        series.capacity.value,
        ours.capacity_bps,
        seed=1,
    )
    words = ", ".join(f"{check.in_words(each.key)} {each.rms.value:.2f}" for each in ranking)
    text = f"distance (RMS, of the capacity) by loss, nearest first: {words}"
    why = "two points of the cloud's profile are printed; up to 1 in 100000 counts as low loss"
    return Judgement(text, check.chance(ranking[0].key) <= 1e-5, why)


def anchors(runs: Mapping[str, Measured]) -> Judgement:
    """C_UC of the four profiles whose C_UC follows from the definition."""
    shapes = {
        "flat": (Curve((0, 1), (1, 1)), 0.75),
        "straight": (Curve((0, 1), (1, 0)), 0.5),
        "step at the far end": (Curve((0, 1, 1), (1, 1, 0)), 1.0),
        "step at the near end": (Curve((0, 0, 1), (1, 0, 0)), 0.0),
    }
    off = max(abs(concavity.utilization_concavity(curve) - value) for curve, value in shapes.values())
    return Judgement(f"largest error {off:.1e}", off < 1e-12, "with the corrected formulas of docs/concavity.md")


def _core(id: str, where: str, what: str, expected: str, claim: Claim, judge: Judge, *facts: str) -> Row:
    return Row(id, SOURCE, where, what, expected, claim, "; ".join([OUR_LINUX, QUEUE, SCALED]), facts, (CORE,), judge)


def _noisy(id: str, where: str, what: str, expected: str, judge: Judge, *facts: str) -> Row:
    return Row(id, SOURCE, where, what, expected, "shape", NO_CLOUD, facts, (NOISY,), judge)


_data = Publication(SOURCE).data

ROWS: tuple[Row, ...] = (
    _data("S3-SYS-C", "III.A, Fig. 1", "The cloud's network and hosts", "10 Gbit/s, RTT 1 to 350 ms, buffers of 250 MB",
          "there is no cloud here; its numbers are kept in a published profile", "rate", "cloud-buffer",
          "cloud-rtt-range"),
    _core("S3-SYS-T", "III.A", "The emulated network: rate, RTT, periodic loss", "10 Gbit/s, RTT to 376 ms, 1 in X",
          "reproduced", network_was_as_asked, "rate", "emulated-rtt-max", "loss-largest"),
    Row("S3-EQ4", SOURCE, "V, eqs. (2) to (4)", "C_U, C_CC and C_UC", "0.75, 0.5, 1 and 0 for the four anchors",
        "reproduced", "", (), (), anchors),
    _noisy("S3-F2a-c", "Fig. 2a-c", "Cloud, CUBIC, 1, 5 and 10 flows",
           "1 flow from 10 to just above 4 Gbit/s at 340 ms; 10 flows about 8 at 300 ms", noisy_cubic,
           "cloud-cubic-1-flow", "cloud-cubic-10-flows"),
    Row("S3-E1", SOURCE, "IV.A", "Two connections of equal RTT", "7.96 Gbit/s at 80 ms and 9.72 at 81 ms", "calibrated",
        "why the first is slower is not printed; here other traffic shares its path", ("cloud-80ms", "cloud-81ms"),
        (OUTLIER,), outlier),
    _core("S3-F2d-f", "Fig. 2d-f", "Emulated, CUBIC, 1, 5 and 10 flows",
          "full rate at 1 ms; at 376 ms 1.40 (largest 3.22) Gbit/s with 1 flow, 2.85 (6.44) with 10; 5 like 10",
          "shape", one_and_ten_flows, "emulated-1-flow-max", "emulated-10-flows-max"),
    Row("S3-E2", SOURCE, "III.A", "The ceiling of the socket buffer", "5.32 Gbit/s for 250 MB at 376 ms (derived)",
        "reproduced", OUR_LINUX, ("cloud-window-limit-376", "iperf-window"), (BUFFERS,), buffer_ceiling),
    _noisy("S3-F3a", "Fig. 3a", "Cloud, BBR, 10 flows", "varies more than the emulated path", noisy_spread),
    _core("S3-F3b", "Fig. 3b", "Emulated, BBR, 10 flows", "smooth and concave", "shape", bbr_profile),
    _noisy("S3-F4", "Fig. 4", "Cloud, CUBIC, HTCP and BBR", "BBR the highest on the mean; 7, 7, 8 Gbit/s at 300 ms",
           noisy_variants, "bbr-highest", "cloud-bbr-10-flows", "cloud-htcp-10-flows"),
    _core("S3-F5", "Fig. 5", "Emulated without loss, CUBIC, HTCP and Scalable TCP", "nearly the same", "shape",
          alike_without_loss, "alike-without-loss"),
    _core("S3-F6", "Fig. 6", "Emulated, 1 in 100000, CUBIC and HTCP", "they differ from this loss on", "shape",
          check.loss_separates, "loss-noticeable"),
    _core("S3-F7", "Fig. 7", "Emulated, CUBIC, loss from none to 1 in 500",
          "concave to convex; at 1 in 500 below 500 Mbit/s beyond 1 ms; flows help under loss too", "reproduced",
          under_500_mbit, "emulated-1in500", "loss-makes-convex", "flows-help-under-loss"),
    _core("S3-F8", "Fig. 8", "C_UC by flows and loss, CUBIC", "grows with the flows, falls with loss", "shape",
          check.falls_with_loss, "c-uc-by-loss", "c-uc-flows-loss"),
    _core("S3-F9", "Fig. 9", "C_UC by congestion control, emulated", "about 0.7 with several flows", "shape",
          variants_under_loss, "c-uc-near-optimal", "c-uc-first-step"),
    _noisy("S3-F9-C", "Fig. 9", "C_UC by congestion control, cloud", "grows with the flows, for BBR the most",
           noisy_flows, "c-uc-bbr-cloud"),
    _core("K1", "IV.A, IV.B", "Throughput at the lowest RTT without loss", "the line rate, for any flows and control",
          "shape", check.full_at_the_shortest_rtt, "full-at-1ms"),
    _core("K2", "IV", "The profile without loss", "falls with RTT, concave with 10 flows", "shape",
          check.falls_and_is_concave, "falls-with-rtt", "flows-make-concave"),
    _core("K3", "V.A", "C_UC over loss", "does not grow; convex at 1 in 500", "shape", check.falls_with_loss),
    _core("K4", "V.B", "C_UC over flows", "the largest step is from 1 to 2; 5 are close to 10", "shape",
          check.grows_most_from_one_to_two, "c-uc-first-step", "5-like-10-flows"),
    _core("K5", "IV.B.1", "Differences between congestion controls", "alike without loss, but not from 1 in 100000 on",
          "shape", check.loss_separates, "alike-without-loss"),
    _core("K6", "IV.A.1, VI", "BBR under loss", "its mean profile not below CUBIC's and HTCP's", "shape",
          check.bbr_is_highest_under_loss, "bbr-highest"),
    _core("K7", "IV.B", "1 to 10 flows at the longest RTT without loss", "× 2 to 2.8", "shape", check.ten_flows_double,
          "flows-gain", "emulated-10-flows-fig7"),
    Row("K17", SOURCE, "V", "Anchors of C_UC", "0.75, 0.5, 1, 0 exactly", "reproduced", "", (), (), anchors),
    _core("S3-E3", "IV.B, IV.C", "The cloud's profile among the emulated ones",
          "like those of low loss; with 1 flow like the one without", "shape", nearest_to_the_cloud,
          "cloud-like-low-loss", "cloud-1-flow-like-emulated", "cloud-cubic-1-flow"),
    _data("S3-E4", "III.A", "Time of one set of measurements", "1 to 2 days",
          "it depends on the computers; each run records its own time", "set-duration"),
)  # fmt: skip
