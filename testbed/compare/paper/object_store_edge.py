"""Checks of downloads from the edge of a CDN compared with the origin; goodput is in KiB/s. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ...analysis import statistic
from ..reproduction.check import Holds, Part, Values, Within, above, average, below, minus, over
from ..reproduction.check import estimate as mean_of
from ..reproduction.measured import Measured, known
from ..reproduction.row import Judgement
from .object_store_download import LARGEST, MIB, asked_rtt_s, by_home, by_size, downloads, size_name

EDGE, STEADY = "cdn-edge", "cdn-steadiness"
NEGLIGIBLE_KIB, NEGLIGIBLE_SHARE = 100, 0.3
SMALL_MOST_KIB = 7630
NEAR_RTT_S = 0.05
"""Of a home in the region of the store, with its access line."""
WORST, NEAR_SHARE = -0.4359, 0.7
STEADIER = (0.275, 0.338)
"""By how much the CoV is smaller: -28 % in one place, one third in another."""

Gains: TypeAlias = Mapping[str, Mapping[int, tuple[Values, Values]]]


def gains(runs: Mapping[str, Measured]) -> Gains:
    """Goodput in KiB/s from the origin and from the edge, by home and size in bytes."""
    goodputs = {}
    for home, part in by_home(runs[EDGE]).items():
        origin, edge = by_size(part.only(cache="none")), by_size(part.only(cache="edge"))
        goodputs[home] = {size: (origin[size], edge.get(size, ())) for size in origin}
    return goodputs


def relative_gain(runs: Mapping[str, Measured], size_bytes: int) -> Values:
    """The relative gain from the edge, as the mean over the homes, by seed."""
    by_home = [over(home[size_bytes][1], home[size_bytes][0]) for home in gains(runs).values()]
    return [None if None in each else statistic.mean(each) - 1 for each in zip(*by_home, strict=True)]


def gains_more_for_small(runs: Mapping[str, Measured]) -> tuple[str, tuple[Part, ...]]:
    """In words, and as parts: gain at 1 MiB > gain at 100 MiB > 0."""
    small, large = (relative_gain(runs, size) for size in (MIB, LARGEST))
    parts = (
        above("gain at 1 MiB above that at 100 MiB", minus(small, large)),
        above("gain at 100 MiB above 0", mean_of((1, large))),
    )
    return f"{average(small):+.0%} at 1 MiB, {average(large):+.0%} at 100 MiB", parts


def edge_gains_more_for_small(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 6: the edge is faster than the origin, and gains more at 1 MiB than at 100 MiB."""
    words, parts = gains_more_for_small(runs)
    why = "the size of the gain depends on the homes that we chose; the cache is warm, and each request is a hit"
    return Judgement(f"{words}, means over {len(gains(runs))} homes", parts, why)


def edge_is_steadier(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 7: downloads vary less from the edge than from the origin, but they do vary."""
    origin, edge = (
        runs[STEADY].only(cache=cache).each_seed(lambda each: statistic.population_cov(goodputs_of(each)))
        for cache in ("none", "edge")
    )
    ours = f"CoV {average(origin):.2f} from the origin, {average(edge):.2f} from the edge"
    less = mean_of((1, [None if each is None else 1 - each for each in over(edge, origin)]))
    part = Within("the reduction from the edge", less, *STEADIER)
    return Judgement(
        ours, (part,), "only the path to the origin has other traffic, so downloads from the edge do not vary"
    )


def goodputs_of(part: Measured) -> list[float]:
    return [each.goodput_bps for each in downloads(part)]


def edge_gain_by_size(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9a: the gain in KiB/s is largest for the largest object, and negligible in many cases."""
    cases = _cases(gains(runs))
    sizes = sorted({size for _, size in cases})
    most = {size: _of_homes([cases[at] for at in cases if at[1] == size], max) for size in sizes}
    every = _of_homes(list(cases.values()), statistic.mean)
    few = _of_homes(list(cases.values()), lambda each: sum(gain < NEGLIGIBLE_KIB for gain in each) / len(each))
    parts = (
        above("the largest gain at 100 MiB above that at 1 MiB", minus(most.get(LARGEST, []), most.get(MIB, []))),
        below("the largest gain at 1 MiB below 7630 KiB/s", mean_of((1, most.get(MIB, []))), SMALL_MOST_KIB),
        above("mean gain above 0", mean_of((1, every))),
        above("below 100 KiB/s in more than 30 %", mean_of((1, few)), NEGLIGIBLE_SHARE),
    )
    ours = "most " + ", ".join(f"{average(gain):.0f} at {size_name(size)}" for size, gain in most.items())
    ours += (
        f", mean {average(every):.0f} KiB/s; below {NEGLIGIBLE_KIB} KiB/s in {average(few):.0%} of {len(cases)} cases"
    )
    return Judgement(ours, parts, "the share of cases depends on the homes")


def _cases(goodputs: Gains) -> dict[tuple[str, int], Values]:
    """The gain in KiB/s of each home and size, by seed."""
    return {
        (home, size): [None if a is None or b is None else b - a for a, b in zip(origin, edge, strict=True)]
        for home, by_size in goodputs.items()
        for size, (origin, edge) in by_size.items()
    }


def _of_homes(cases: Sequence[Values], read: Callable[[list[float]], float]) -> Values:
    """What `read` gets from all cases of each seed."""
    return [None if None in each else read(list(map(known, each))) for each in zip(*cases, strict=True)]


def edge_can_be_worse(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9b: in some cases the edge is worse, most with the store in the region of the home."""
    near = {home for home, part in by_home(runs[EDGE]).items() if asked_rtt_s(part.only(cache="none")) <= NEAR_RTT_S}
    changes = {
        (home, size): [None if each is None else each - 1 for each in over(edge, origin)]
        for home, by_size in gains(runs).items()
        for size, (origin, edge) in by_size.items()
    }
    is_known = bool(changes) and not any(None in each for each in changes.values())
    worse = {at: average(each) for at, each in changes.items() if average(each) < 0}
    (worst_at, worst) = min(worse.items(), key=lambda item: item[1], default=(None, 0.0))
    close = sum(home in near for home, _ in worse)
    parts = (
        Holds("the edge is worse in some cases", bool(worse) if is_known else None),
        Holds("in less than half of them", len(worse) < len(changes) / 2 if is_known else None),
        Holds("more than 70 % of those with a near store", close > NEAR_SHARE * len(worse) if worse else None),
        Within("the worst", mean_of((1, changes[worst_at] if worst_at else ())), low=WORST),
    )
    ours = f"{len(worse)} of {len(changes)} cases, {close} with a near store"
    ours += f"; worst {worst:+.0%} at {size_name(worst_at[1])}" if worst_at else ""
    return Judgement(ours, parts)
