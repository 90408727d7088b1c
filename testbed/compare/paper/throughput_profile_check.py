"""Checks of the shape of a throughput profile over RTT, flows, loss and congestion control. Pure, no I/O.

All of them judge the scenario `throughput-profile`, whose axes are rtt, loss, congestion and flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ...analysis import statistic
from ...units import parse_one_in
from ..reproduction.measured import Measured, gbit
from ..reproduction.row import Judgement

SCENARIO = "throughput-profile"
NONE = "none"
MARGIN = 0.02
"""Of C_UC, C_CC and shares of the line rate: a smaller difference between two of them is ignored."""
NEAR_FULL = 0.9
ALIKE = 0.05
FEW, MANY = "1", "10"


def sweep(runs: Mapping[str, Measured]) -> Measured:
    return runs[SCENARIO]


def lossless(runs: Mapping[str, Measured]) -> Measured:
    return sweep(runs).only(loss=NONE)


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


def full_at_the_shortest_rtt(runs: Mapping[str, Measured]) -> Judgement:
    """K1: without loss the lowest RTT has nearly the line rate, for any number of flows and congestion control."""
    first = lossless(runs)
    rtt = first.values_of("rtt")[0]
    shares = {
        name: part.only(rtt=rtt).mean_bps / first.line_rate_bps for name, part in series(first, "congestion", "flows")
    }
    low = min(shares, key=lambda name: shares[name])
    ours = f"{rtt}: {shares[low]:.1%} ({low}) to {max(shares.values()):.1%} of the line rate in {len(shares)} series"
    return Judgement(ours, shares[low] >= NEAR_FULL, f"passes from {NEAR_FULL:.0%}; slow start is included")


def falls_and_is_concave(runs: Mapping[str, Measured]) -> Judgement:
    """K2: without loss throughput falls with RTT, and with 10 flows the profile is not convex."""
    rising, convex, lowest = [], [], 1.0
    for name, part in series(lossless(runs), "congestion", "flows"):
        means = part.profile.mean_bps
        if any(b > a + MARGIN * part.line_rate_bps for a, b in pairwise(means)):
            rising.append(name)
    for name, part in series(lossless(runs).only(flows=MANY), "congestion"):
        lowest = min(lowest, part.c_cc)
        if part.c_cc < -MARGIN:
            convex.append(name)
    ours = f"rising: {', '.join(rising) or 'none'}; C_CC of 10 flows at least {lowest:+.3f}"
    return Judgement(ours, not rising and not convex, "the ramp is included, and its share grows with RTT")


def falls_with_loss(runs: Mapping[str, Measured]) -> Judgement:
    """K3: for fixed flows C_UC does not grow with loss, and at the largest loss the profile is convex.

    A profile that is low everywhere has a C_UC of 1/4, more than one that is full at the first RTT only. So C_UC is
    compared only while the link is full at the first RTT; the mean share of the line rate is compared for all losses.
    """
    cubic = sweep(runs).only(congestion="cubic")
    order = losses(cubic)
    grows, bends, words = [], [], []
    for name, part in series(cubic, "flows"):
        parts = [part.only(loss=loss) for loss in order]
        curves = [each.curve for each in parts]
        full = [each.c_uc for each, curve in zip(parts, curves, strict=True) if curve.y[0] >= NEAR_FULL]
        words.append(f"{name}: {' '.join(f'{each.c_uc:.2f}' for each in parts)}")
        if any(b > a + MARGIN for a, b in [*pairwise(full), *pairwise(curve.mean for curve in curves)]):
            grows.append(name)
        if parts[-1].c_cc >= 0:
            bends.append(name)
    why = "; ".join(
        [
            *([f"it grows with loss for {', '.join(grows)}"] if grows else []),
            *([f"C_CC is not below 0 at {in_words(order[-1])} for {', '.join(bends)}"] if bends else []),
        ]
    )
    ours = f"C_UC over loss {', '.join(map(in_words, order))}: {'; '.join(words)}"
    limit = "compared while the link is full at the first RTT, as a profile that is low everywhere has a C_UC of 1/4"
    return Judgement(ours, not why, why or limit)


def grows_most_from_one_to_two(runs: Mapping[str, Measured]) -> Judgement:
    """K4: C_UC grows most from 1 to 2 flows, and 5 flows are close to 10."""
    steps, apart, words = [], [], []
    for name, part in series(lossless(runs), "congestion"):
        by_flows = {int(flows): each.c_uc for flows, each in part.split("flows").items()}
        order = sorted(by_flows)
        words.append(f"{name}: {' '.join(f'{by_flows[n]:.2f}' for n in order)}")
        rise = [by_flows[b] - by_flows[a] for a, b in pairwise(order)]
        if max(rise) > rise[0] + MARGIN:
            steps.append(name)
        if by_flows[10] - by_flows[5] > ALIKE:
            apart.append(name)
    why = "; ".join(
        [
            *([f"a later step is larger for {', '.join(steps)}"] if steps else []),
            *([f"10 flows are more than {ALIKE} above 5 for {', '.join(apart)}"] if apart else []),
        ]
    )
    return Judgement(f"C_UC over {', '.join(map(str, order))} flows: {'; '.join(words)}", not why, why)


def spread(parts: Sequence[Measured]) -> float:
    """The difference between congestion controls: the mean over RTT of (highest - lowest) / line rate."""
    profiles = [part.profile.mean_bps for part in parts]
    ranges = [max(at) - min(at) for at in zip(*profiles, strict=True)]
    return statistic.mean(ranges) / parts[0].line_rate_bps


def loss_separates(runs: Mapping[str, Measured]) -> Judgement:
    """K5: CUBIC and HTCP are nearly alike without loss and differ under loss."""
    both = {
        loss: statistic.mean(
            [
                spread([part.only(congestion="cubic"), part.only(congestion="htcp")])
                for part in sweep(runs).only(loss=loss).split("flows").values()
            ]
        )
        for loss in losses(sweep(runs))
    }
    without = both.pop(NONE)
    words = ", ".join(f"{in_words(loss)} {value:.1%}" for loss, value in both.items())
    ours = f"apart by {without:.1%} of the line rate without loss; {words}"
    is_met = without <= ALIKE and max(both.values()) > max(2 * without, MARGIN)
    return Judgement(ours, is_met, "the loss from which on they differ depends on the rate")


def bbr_is_highest_under_loss(runs: Mapping[str, Measured]) -> Judgement:
    """K6: under loss the mean of BBR's profile is not below those of CUBIC and HTCP, over all losses and flows.

    Single points may be lower: where the loss slows down none of them, probing costs BBR a few per cent.
    """
    shares: dict[str, dict[str, list[float]]] = {}
    below: dict[str, float] = {}
    for loss in (each for each in losses(sweep(runs)) if each != NONE):
        for flows, part in series(sweep(runs).only(loss=loss), "flows"):
            means = {name: part.only(congestion=name).curve.mean for name in ("bbr", "cubic", "htcp")}
            for name, mean in means.items():
                shares.setdefault(in_words(loss), {}).setdefault(name, []).append(mean)
            if means["bbr"] < max(means.values()) - MARGIN:
                below[f"{in_words(loss)} with {flows}"] = max(means.values()) - means["bbr"]
    by_loss = {loss: [statistic.mean(values) for values in each.values()] for loss, each in shares.items()}
    overall = [statistic.mean(each) for each in zip(*by_loss.values(), strict=True)]
    words = [
        f"{loss} {'/'.join(f'{mean:.2f}' for mean in means)}" for loss, means in {"all": overall, **by_loss}.items()
    ]
    why = f"BBR is lower by up to {max(below.values()):.2f} at {', '.join(below)}" if below else ""
    return Judgement(f"BBR/CUBIC/HTCP, share of the line rate: {'; '.join(words)}", overall[0] >= max(overall), why)


def ten_flows_double(runs: Mapping[str, Measured]) -> Judgement:
    """K7: from 1 to 10 flows at the longest RTT, without loss, CUBIC gains a factor of 2 to 2.8."""
    cubic = lossless(runs).only(congestion="cubic")
    far = cubic.only(rtt=cubic.values_of("rtt")[-1])
    one, ten = far.only(flows=FEW), far.only(flows=MANY)
    gain = ten.mean_bps / one.mean_bps
    ours = f"{far.values_of('rtt')[0]}: {gbit(one.goodputs_bps)} to {gbit(ten.goodputs_bps)}, × {gain:.2f}"
    return Judgement(ours, 2.0 - 0.1 <= gain <= 2.8 + 0.1, "the publication's own numbers give 2.00, 2.04 and 2.79")
