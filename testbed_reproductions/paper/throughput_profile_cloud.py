"""Checks of the cloud's throughput profile, on a path that other traffic, jitter and random loss disturb. Pure, no I/O.

Judges of Phanekham et al., Throughput Analytics of Cloud Networks, IV.A.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from testbed.api import published

from ..check import MoreSpread, Values, above, average, below, minus, near
from ..check import estimate as mean_of
from ..measured import Measured, gbit, known
from ..row import Judgement
from . import throughput_profile_check as check
from .throughput_profile_check import FEW, MANY

SOURCE = "google-cloud-emulated"
NOISY, OUTLIER = "noisy-profile", "equal-rtt-outlier"
OUTLIER_SHARES = {"busy": 0.796, "idle": 0.972}
"""Of the capacity, as printed: 7.96 and 9.72 of 10 Gbit/s."""


def noisy_cubic(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2a-c: with noise, 1 flow falls and is convex; 10 flows stay above it and are more concave."""
    cubic = runs[NOISY].only(congestion="cubic")
    one, ten = (cubic.only(flows=flows) for flows in (FEW, MANY))
    close, far = cubic.values_of("rtt")[0], cubic.values_of("rtt")[-1]
    ends = [check.shares(part.only(rtt=rtt)) for part in (one, ten) for rtt in (close, far)]
    bends = [check.c_ccs(part) for part in (one, ten)]
    ours = f"1 flow {average(ends[0]):.0%} to {average(ends[1]):.0%}, 10 flows {average(ends[2]):.0%} to "
    ours += f"{average(ends[3]):.0%} of the line rate; C_CC {average(bends[0]):+.3f} and {average(bends[1]):+.3f}"
    parts = (
        below("1 flow falls", minus(ends[1], ends[0])),
        check.convex("1 flow", one),
        above(f"10 flows are above 1 at {far}", minus(ends[3], ends[1])),
        above("10 flows are more concave than 1", minus(bends[1], bends[0])),
    )
    return Judgement(ours, parts)


def noisy_variants(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 4: BBR's mean profile is the highest; with 10 flows at the longest RTT CUBIC is."""
    noisy = runs[NOISY]
    means = {cc: _mean_of_flows(noisy.only(congestion=cc)) for cc in noisy.values_of("congestion")}
    far = noisy.only(flows=MANY, rtt=noisy.values_of("rtt")[-1])
    ends = {cc: check.shares(far.only(congestion=cc)) for cc in means}
    parts = [above(f"BBR is above {cc} on the mean", minus(means["bbr"], means[cc])) for cc in ("cubic", "htcp")]
    parts += [
        above(f"CUBIC is above {cc} with 10 flows at {far.values_of('rtt')[0]}", minus(ends["cubic"], ends[cc]))
        for cc in ("bbr", "htcp")
    ]
    ours = "mean share of the line rate: " + ", ".join(f"{cc} {average(mean):.2f}" for cc, mean in means.items())
    ours += "; 10 flows at the longest RTT: " + ", ".join(f"{cc} {average(end):.2f}" for cc, end in ends.items())
    return Judgement(
        ours, tuple(parts), "the publication prints both, that BBR is the highest and CUBIC's 8 to BBR's 7"
    )


def _mean_of_flows(part: Measured) -> Values:
    """The mean of each seed's profiles over all numbers of flows."""
    by_flows = [check.means(each) for each in part.split("flows").values()]
    return [None if None in each else sum(map(known, each)) / len(each) for each in zip(*by_flows, strict=True)]


def noisy_spread(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3a: 10 BBR flows vary more from run to run than on the emulated path without noise."""
    parts = [runs[NOISY], check.lossless(runs)]
    noisy, quiet = (
        [check.rates(each) for each in part.only(congestion="bbr", flows=MANY).split("rtt").values()] for part in parts
    )
    part = MoreSpread("the noisy path varies more", noisy, quiet)
    return Judgement(f"{part.decide(0.05).found} with and without noise, over seeds at each RTT", (part,))


def noisy_flows(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9, cloud: C_UC grows with the number of flows, and most for BBR."""
    gains, words = {}, []
    for name, part in check.series(runs[NOISY], "congestion"):
        one, ten = (check.c_ucs(part.only(flows=flows)) for flows in (FEW, MANY))
        words.append(f"{name} {average(one):.2f} to {average(ten):.2f}")
        gains[name] = [None if a is None or b is None else b - a for a, b in zip(one, ten, strict=True)]
    parts = [above(f"{name}'s C_UC grows", mean_of((1, gain))) for name, gain in gains.items()]
    parts += [above(f"BBR gains more than {cc}", minus(gains["bbr"], gains[cc])) for cc in ("cubic", "htcp")]
    why = "our random loss holds back one flow of CUBIC and HTCP, but not several"
    return Judgement(f"C_UC of 1 to 10 flows: {', '.join(words)}", tuple(parts), why)


def outlier(runs: Mapping[str, Measured]) -> Judgement:
    """Two paths of nearly the same RTT, one of them shared with other traffic."""
    parts = runs[OUTLIER].split("to")
    words = ", ".join(f"{name} {gbit(part.goodputs_bps)}" for name, part in parts.items())
    capacity_bps = runs[OUTLIER].capacity_bps
    checks = tuple(
        near(f"{name} has {share:.1%} of the rate", _of_capacity(parts[name], capacity_bps), share, 0.0005)
        for name, share in OUTLIER_SHARES.items()
    )
    why = "standard frames carry at most 95.6 % of a link's rate, less than the larger printed value"
    return Judgement(words, checks, why)


def _of_capacity(part: Measured, capacity_bps: float) -> Values:
    return part.each_seed(lambda each: each.mean_bps / capacity_bps)


def nearest_to_the_cloud(runs: Mapping[str, Measured]) -> Judgement:
    """S3-E3: which of our losses explains the cloud's profile of one CUBIC flow best."""
    ours = check.sweep(runs).only(congestion="cubic", flows=FEW)
    apart = {loss: ours.only(loss=loss).each_seed(_distance) for loss in check.losses(ours)}
    low = [loss for loss in apart if check.chance(loss) <= check.LOW_LOSS]
    nearest = min(low, key=lambda loss: average(apart[loss]))
    words = ", ".join(f"{check.in_words(loss)} {average(values):.2f}" for loss, values in apart.items())
    text = f"distance (RMS, of the capacity) by loss: {words}"
    parts = tuple(
        above(f"{check.in_words(nearest)} is nearer than {check.in_words(loss)}", minus(values, apart[nearest]))
        for loss, values in apart.items()
        if loss not in low
    )
    return Judgement(text, parts, "two points of the cloud's profile are printed")


def _distance(ours: Measured) -> float:
    """The root mean square distance from the cloud's profile of one CUBIC flow, each as a share of its capacity."""
    cloud = published.find(SOURCE)[0].series["cloud-cubic-1-flow"]
    assert cloud.capacity is not None, "BUG: a series over RTT that has no capacity"
    theirs, mine = cloud.throughput_profile(), ours.profile
    points = zip(theirs.rtt_s, theirs.mean_bps, strict=True)
    found = [np.interp(rtt, mine.rtt_s, mine.mean_bps) / ours.capacity_bps - bps / cloud.capacity.value
             for rtt, bps in points if mine.rtt_s[0] <= rtt <= mine.rtt_s[-1]]  # fmt: skip
    return float(np.sqrt(np.mean(np.square(found))))
