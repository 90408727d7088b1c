"""Checks of the shape of a throughput profile over RTT, flows, loss and congestion control. Pure, no I/O.

They judge the scenarios `throughput-profile`, without loss, and `throughput-profile-loss`, whose axes are rtt, loss,
congestion and flows; and the profile of a cloud (IV.A), on a path that other traffic, jitter and random loss disturb.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np

from testbed.api import parse_one_in, published

from ..check import (
    FULL,
    AnyOf,
    Estimate,
    MoreSpread,
    Part,
    Values,
    Within,
    above,
    alike,
    apart,
    average,
    below,
    by_seed,
    combined,
    grown,
    minus,
    near,
    over,
)
from ..check import estimate as mean_of
from ..measured import Measured, both, gbit
from ..row import Judgement

LOSSLESS, LOSSY = "throughput-profile", "throughput-profile-loss"
NONE = "none"
MARGIN = 0.02
"""Of the line rate: a profile that rises by no more from one RTT to the next does not rise."""
ALIKE = 0.05
LOW_LOSS = 1e-6
"""The largest loss at which congestion controls are alike, of those that are printed."""
FEW, MANY = "1", "10"
NEAR_OPTIMAL = (0.7, 0.05)
"""The printed C_UC, and half a unit of its last digit."""
OTHERS = ("cubic", "htcp")
"""With which BBR is compared."""


def sweep(runs: Mapping[str, Measured]) -> Measured:
    """Both scenarios, or the one of them that the row has."""
    found = [runs[name] for name in (LOSSLESS, LOSSY) if name in runs]
    return found[0] if len(found) == 1 else both(*found)


def lossless(runs: Mapping[str, Measured]) -> Measured:
    return runs[LOSSLESS].only(loss=NONE)


def losses(measured: Measured) -> list[str]:
    """The losses in ascending order, none first."""
    return sorted(measured.values_of("loss"), key=chance)


def chance(loss: str) -> float:
    """The share of packets that a loss drops."""
    if loss == NONE:
        return 0.0
    return 1 / parse_one_in(loss) if loss.startswith("1 in") else 1 / int(loss.split()[1].rstrip(","))


def in_words(loss: str) -> str:
    """The loss without the phase, which each seed draws anew."""
    return NONE if loss == NONE else f"1 in {round(1 / chance(loss))}"


def series(measured: Measured, *axes: str) -> Iterator[tuple[str, Measured]]:
    """Yields each part of a sweep with one value of each of these axes, and its name."""
    if not axes:
        yield "", measured
        return
    for text, part in measured.split(axes[0]).items():
        for name, inner in series(part, *axes[1:]):
            word = f"{text} flow{'s' if text != FEW else ''}" if axes[0] == "flows" else text
            yield f"{word} {name}".strip(), inner


def rates(part: Measured) -> Values:
    """The goodput of each seed in bit/s."""
    return part.each_seed(lambda each: each.mean_bps)


def shares(part: Measured) -> Values:
    """The share of the line rate of each seed."""
    return part.each_seed(lambda each: each.mean_bps / each.line_rate_bps)


def c_ucs(part: Measured) -> Values:
    return part.each_seed(lambda each: each.c_uc)


def c_ccs(part: Measured) -> Values:
    return part.each_seed(lambda each: each.c_cc)


def means_of(part: Measured) -> Values:
    """The mean of each seed's profile, as a share of the line rate."""
    return part.each_seed(lambda each: each.curve.mean)


def falls(name: str, part: Measured) -> Iterator[Part]:
    """Throughput is lower at the longest RTT than at the shortest, and no step rises by more than the margin."""
    by_rtt = {rtt: shares(each) for rtt, each in part.split("rtt").items()}
    close, *_, longest = by_rtt
    yield below(f"{name} is lower at {longest} than at {close}", minus(by_rtt[longest], by_rtt[close]))
    for nearer, far in pairwise(by_rtt):
        says = f"{name} does not rise from {nearer} to {far}"
        yield Within(says, minus(by_rtt[far], by_rtt[nearer]), high=MARGIN)


def concave(name: str, part: Measured) -> Part:
    return above(f"{name} is concave", mean_of((1, c_ccs(part))))


def convex(name: str, part: Measured) -> Part:
    return below(f"{name} is convex", mean_of((1, c_ccs(part))))


def few_like_many(part: Measured) -> Iterator[Part]:
    """5 flows are like 10 at every RTT."""
    for rtt, each in part.split("rtt").items():
        five, ten = (shares(each.only(flows=flows)) for flows in ("5", "10"))
        yield Within(f"5 flows are like 10 at {rtt}", minus(ten, five), -ALIKE, ALIKE)


def full_at_the_shortest_rtt(runs: Mapping[str, Measured]) -> Judgement:
    """K1: without loss the lowest RTT has the line rate, for any number of flows and congestion control."""
    first = lossless(runs)
    rtt = first.values_of("rtt")[0]
    by_name = {name: shares(part.only(rtt=rtt)) for name, part in series(first, "congestion", "flows")}
    low = min(by_name, key=lambda name: average(by_name[name]))
    most = max(map(average, by_name.values()))
    ours = f"{rtt}: {average(by_name[low]):.1%} ({low}) to {most:.1%} of the line rate in {len(by_name)} series"
    parts = tuple(Within(f"{name} is full", mean_of((1, values)), FULL) for name, values in by_name.items())
    return Judgement(ours, parts, "slow start is included")


def falls_and_is_concave(runs: Mapping[str, Measured]) -> Judgement:
    """K2: without loss throughput falls with RTT, and with 10 flows the profile is concave."""
    parts = [part for name, each in series(lossless(runs), "congestion", "flows") for part in falls(name, each)]
    many = dict(series(lossless(runs).only(flows=MANY), "congestion"))
    parts += [concave(f"{name} with 10 flows", each) for name, each in many.items()]
    words = ", ".join(f"{name} {average(c_ccs(each)):+.3f}" for name, each in many.items())
    return Judgement(f"C_CC of 10 flows: {words}", tuple(parts), "the ramp is included, and its share grows with RTT")


def c_uc_over_loss(runs: Mapping[str, Measured]) -> tuple[str, dict[str, dict[str, Values]], tuple[str, ...]]:
    """In words, and C_UC by flows and by loss, for CUBIC; with the losses in order."""
    cubic = sweep(runs).only(congestion="cubic")
    order = tuple(losses(cubic))
    both_sizes = [flows for flows in cubic.values_of("flows") if runs[LOSSY].has(flows=flows)]
    found = {flows: {loss: c_ucs(cubic.only(flows=flows, loss=loss)) for loss in order} for flows in both_sizes}
    words = "; ".join(f"{n}: {' '.join(f'{average(v):.2f}' for v in by.values())}" for n, by in found.items())
    return f"C_UC over loss {', '.join(map(in_words, order))} by flows: {words}", found, order


def trend(steps: Sequence[Values]) -> Estimate | None:
    """The slope of a straight line through the means of the steps, by least squares over 0, 1, 2 …: per step."""
    places = np.arange(len(steps)) - (len(steps) - 1) / 2
    factors = (places / (places @ places)).tolist()
    return combined(*zip(factors, steps, strict=True))


def falls_over_loss(found: Mapping[str, Mapping[str, Values]]) -> Iterator[Part]:
    """Over the losses in order C_UC falls on the whole, for each number of flows."""
    for flows, by_loss in found.items():
        yield below(f"C_UC of {flows} falls over loss", trend(list(by_loss.values())))


FLAT_IS_A_QUARTER = (
    "a profile that is low at every RTT has a C_UC of 1/4, more than one that is high at the first RTT only, so C_UC "
    "rises again once the loss holds back the first RTT too"
)


def grows_and_falls(runs: Mapping[str, Measured]) -> Judgement:
    """S3-F8: the two overall trends, C_UC grows with the number of flows and falls with loss."""
    ours, found, order = c_uc_over_loss(runs)
    gains = (average(grown(found[FEW][loss], found[MANY][loss])) for loss in order)
    ours += f"; from 1 to 10 flows, by loss: {' '.join(f'{gained:+.2f}' for gained in gains)}"
    parts = [*falls_over_loss(found)]
    for flows, by_loss in found.items():
        says = f"C_UC of {flows} is lower at {in_words(order[-1])} than without loss"
        parts.append(below(says, minus(by_loss[order[-1]], by_loss[order[0]])))
    share = 1 / len(order)
    gain = combined(*((sign * share, found[flows][loss]) for flows, sign in ((MANY, 1), (FEW, -1)) for loss in order))
    parts.append(above("C_UC grows from 1 to 10 flows in the mean over the losses", gain))
    return Judgement(ours, tuple(parts), FLAT_IS_A_QUARTER)


def mean_of_all(steps: Sequence[Values]) -> Values:
    """Of each seed the mean of its values."""
    return by_seed(lambda each: sum(each) / len(each), *steps)


def falls_with_loss(runs: Mapping[str, Measured]) -> Judgement:
    """K3: for fixed flows C_UC falls over loss, and at the largest loss the profile is convex."""
    ours, found, order = c_uc_over_loss(runs)
    worst = runs[LOSSY].only(congestion="cubic", loss=order[-1])
    bends = [convex(f"{flows} at {in_words(order[-1])}", worst.only(flows=flows)) for flows in found]
    return Judgement(ours, (*falls_over_loss(found), *bends), FLAT_IS_A_QUARTER)


def grows_most_from_one_to_two(runs: Mapping[str, Measured]) -> Judgement:
    """K4: C_UC grows most from 1 to 2 flows, and 5 flows are like 10."""
    parts: list[Part] = []
    words = []
    for name, part in series(lossless(runs), "congestion"):
        by_flows = {flows: c_ucs(part.only(flows=flows)) for flows in sorted(part.values_of("flows"), key=int)}
        words.append(f"{name}: {' '.join(f'{average(values):.2f}' for values in by_flows.values())}")
        first, *later = [grown(by_flows[a], by_flows[b]) for a, b in pairwise(by_flows)]
        parts += [
            above(f"{name}'s first step is above step {n}", minus(first, step)) for n, step in enumerate(later, 2)
        ]
        parts += few_like_many(part)
    return Judgement(f"C_UC over {', '.join(by_flows)} flows: {'; '.join(words)}", tuple(parts))


def apart_by(pair: tuple[Values, ...]) -> float:
    """For words: how far apart two means are, as a share of the larger; 0 if both are 0."""
    one, other = map(average, pair)
    return abs(one - other) / max(one, other) if max(one, other) > 0 else 0.0


def loss_separates(runs: Mapping[str, Measured]) -> Judgement:
    """S3-F6: CUBIC and HTCP are alike without loss and at 1 in 1000000, and apart at each larger loss."""
    parts: list[Part] = []
    words = []
    for loss in losses(sweep(runs)):
        pairs = {
            name: tuple(rates(part.only(congestion=each)) for each in ("cubic", "htcp"))
            for name, part in series(sweep(runs).only(loss=loss), "flows", "rtt")
        }
        most = max(map(apart_by, pairs.values()))
        words.append(f"{in_words(loss)} {most:.1%}")
        at = in_words(loss) if loss != NONE else "no loss"
        if chance(loss) <= LOW_LOSS:
            parts += [alike(f"alike at {at} with {name}", a, b, ALIKE) for name, (a, b) in pairs.items()]
        else:
            anywhere = tuple(apart(name, a, b, ALIKE) for name, (a, b) in pairs.items())
            parts.append(AnyOf(f"apart at {at}", anywhere))
    ours = f"CUBIC and HTCP are apart by up to, by loss: {', '.join(words)}"
    return Judgement(ours, tuple(parts), "the loss from which on they differ depends on the rate")


def bbr_is_the_best(runs: Mapping[str, Measured]) -> Judgement:
    """K6: on the path with noise BBR's profile is in the mean above CUBIC's and HTCP's, for each number of flows."""
    parts: list[Part] = []
    words = []
    for name, part in series(runs[NOISY], "flows"):
        found = {control: means_of(part.only(congestion=control)) for control in ("bbr", "cubic", "htcp")}
        words.append(f"{name} {'/'.join(f'{average(values):.2f}' for values in found.values())}")
        parts += [above(f"BBR is above {other} with {name}", minus(found["bbr"], found[other])) for other in OTHERS]
    return Judgement(f"BBR/CUBIC/HTCP, mean share of the line rate: {'; '.join(words)}", tuple(parts))


def ten_flows_double(runs: Mapping[str, Measured]) -> Judgement:
    """K7: from 1 to 10 flows at the longest RTT, without loss, CUBIC gains a factor of 2 to 2.79."""
    cubic = lossless(runs).only(congestion="cubic")
    far = cubic.only(rtt=cubic.values_of("rtt")[-1])
    one, ten = (rates(far.only(flows=flows)) for flows in (FEW, MANY))
    gains = over(ten, one)
    ours = f"{far.values_of('rtt')[0]}: {average(one) / 1e6:.0f} to {average(ten) / 1e6:.0f} Mbit/s, "
    ours += f"× {average(gains):.2f}"
    part = printed_gain("the gain is within what is printed", gains)
    return Judgement(ours, (part,), "the publication's own numbers give 2.00, 2.04 and 2.79")


def printed_gain(says: str, gains: Values) -> Part:
    """From 1 to 10 flows at the longest RTT: 2.00, 2.04 and 2.79 times are printed, without loss."""
    return Within(says, mean_of((1, gains)), 1.995, 2.795)


COMPARABLE = 0.1
"""Of the line rate: 7, 7 and 8 of 10 Gbit/s are printed."""
SOURCE = "google-cloud-emulated"
NOISY, OUTLIER = "noisy-profile", "equal-rtt-outlier"
OUTLIER_SHARES = {"busy": 0.796, "idle": 0.972}
"""Of the capacity, as printed: 7.96 and 9.72 of 10 Gbit/s."""


def noisy_cubic(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2a-c: with noise, 1 flow falls and is convex; 10 flows stay above it and are more concave."""
    cubic = runs[NOISY].only(congestion="cubic")
    one, ten = (cubic.only(flows=flows) for flows in (FEW, MANY))
    close, far = cubic.values_of("rtt")[0], cubic.values_of("rtt")[-1]
    ends = [shares(part.only(rtt=rtt)) for part in (one, ten) for rtt in (close, far)]
    bends = [c_ccs(part) for part in (one, ten)]
    ours = f"1 flow {average(ends[0]):.0%} to {average(ends[1]):.0%}, 10 flows {average(ends[2]):.0%} to "
    ours += f"{average(ends[3]):.0%} of the line rate; C_CC {average(bends[0]):+.3f} and {average(bends[1]):+.3f}"
    parts = (
        below("1 flow falls", minus(ends[1], ends[0])),
        convex("1 flow", one),
        above(f"10 flows are above 1 at {far}", minus(ends[3], ends[1])),
        above("10 flows are more concave than 1", minus(bends[1], bends[0])),
    )
    return Judgement(ours, parts)


def noisy_variants(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 4: BBR's mean profile is the highest, and with 10 flows all are comparable."""
    noisy = runs[NOISY]
    means = {cc: _mean_of_flows(noisy.only(congestion=cc)) for cc in noisy.values_of("congestion")}
    many = {cc: means_of(noisy.only(congestion=cc, flows=MANY)) for cc in means}
    parts = [above(f"BBR is above {cc} on the mean", minus(means["bbr"], means[cc])) for cc in OTHERS]
    parts += [
        Within(
            f"{one} and {other} are comparable with 10 flows", minus(many[one], many[other]), -COMPARABLE, COMPARABLE
        )
        for one, other in combinations(many, 2)
    ]
    ours = "mean share of the line rate: " + ", ".join(f"{cc} {average(mean):.2f}" for cc, mean in means.items())
    ours += "; with 10 flows " + ", ".join(f"{cc} {average(mean):.2f}" for cc, mean in many.items())
    why = "that BBR varies less, and falls less with RTT, is printed, too, and not judged: around 300 ms CUBIC has more"
    return Judgement(ours, tuple(parts), why)


def _mean_of_flows(part: Measured) -> Values:
    """The mean of each seed's profiles over all numbers of flows."""
    return mean_of_all([means_of(each) for each in part.split("flows").values()])


def noisy_spread(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3a: 10 BBR flows vary more from run to run than on the emulated path without noise, at like RTTs."""
    noisy, quiet = (
        {
            each.results[0].asked.rtt_s: rates(each)
            for each in part.only(congestion="bbr", flows=MANY).split("rtt").values()
        }
        for part in (runs[NOISY], lossless(runs))
    )
    nearest = [min(quiet, key=lambda each: abs(each - rtt_s)) for rtt_s in noisy]
    part = MoreSpread("the noisy path varies more", list(noisy.values()), [quiet[rtt_s] for rtt_s in nearest])
    pairs = ", ".join(f"{a * 1e3:g} and {b * 1e3:g}" for a, b in zip(noisy, nearest, strict=True))
    return Judgement(f"{part.decide().found} with and without noise, over seeds at {pairs} ms", (part,))


def noisy_flows(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9, cloud: C_UC grows with the number of flows, most for BBR, and is about 0.7 with 10."""
    gains, words, parts = {}, [], []
    for name, part in series(runs[NOISY], "congestion"):
        one, ten = (c_ucs(part.only(flows=flows)) for flows in (FEW, MANY))
        words.append(f"{name} {average(one):.2f} to {average(ten):.2f}")
        gains[name] = grown(one, ten)
        parts.append(near(f"{name} with 10 flows", ten, *NEAR_OPTIMAL))
    parts += [above(f"{name}'s C_UC grows", mean_of((1, gain))) for name, gain in gains.items()]
    parts += [above(f"BBR gains more than {cc}", minus(gains["bbr"], gains[cc])) for cc in OTHERS]
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
    return Judgement(
        words,
        checks,
        "both values were fitted, by the length of a run and the others' rate; frames of 9014 bytes, "
        "as those of 1514 carry at most 95.6 % of a link's rate, less than the larger value",
    )


def _of_capacity(part: Measured, capacity_bps: float) -> Values:
    return part.each_seed(lambda each: each.mean_bps / capacity_bps)


def nearest_to_the_cloud(runs: Mapping[str, Measured]) -> Judgement:
    """S3-E3: which of our losses explains the cloud's profile of one CUBIC flow best."""
    ours = sweep(runs).only(congestion="cubic", flows=FEW)
    apart = {loss: ours.only(loss=loss).each_seed(_distance) for loss in losses(ours)}
    low = [loss for loss in apart if chance(loss) <= LOW_LOSS]
    nearest = min(low, key=lambda loss: average(apart[loss]))
    words = ", ".join(f"{in_words(loss)} {average(values):.2f}" for loss, values in apart.items())
    text = f"distance (RMS, of the capacity) by loss: {words}"
    parts = tuple(
        above(f"{in_words(nearest)} is nearer than {in_words(loss)}", minus(values, apart[nearest]))
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
