"""Checks of downloads by where they come from: a store in some region, or the edge of a CDN; in KiB/s. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from testbed.api import statistic

from ..check import Holds, Part, Values, Within, above, average, below, decide, minus, near, over
from ..check import estimate as mean_of
from ..measured import Measured, known
from ..row import Judgement
from .object_store_download import LARGEST, MIB, asked_rtt_s, by_home, by_size, downloads, kib_s, size_name

REGIONS = "object-regions"
HOMES = {"us": 36, "eu": 16, "csa": 4, "ap": 12, "za": 9}
"""The number of homes in each region: the weights of ours in the mean over all homes."""
STORES = ("us", "eu", "sa", "ap")
NEAR = {"us": "us", "eu": "eu", "sa": "csa", "ap": "ap"}
"""The homes in the region of a store."""
MEAN_KIB = {"us": 3562, "eu": 2791, "sa": 1445, "ap": 2018}
NEAR_KIB = {"us": 5453, "eu": 4046, "sa": 1464, "ap": 3573}
NEAR_GAIN, MEAN_GAIN = {"sa": 0.0179, "ap": 0.7730}, 0.4436
RATIO, RATIO_OFF = 1.83, 0.005
LEVEL_OFF_KIB, GAIN_OFF = 0.5, 0.005
"""Half a unit of the means; how far the printed means are from the printed gains."""
ALL_HOMES, ALL_STORES, RTT_OFF_S = 77, 4, 1e-5

Cells: TypeAlias = Mapping[str, Mapping[str, Values]]


def cells(runs: Mapping[str, Measured]) -> Cells:
    """Mean goodput in KiB/s by store and by the region of the homes, by seed."""
    return {
        store: {
            home: runs[REGIONS].only(**{"from": f"store-{store}"}, to=f"home-{home}").each_seed(_mean_kib)
            for home in HOMES
        }
        for store in STORES
    }


def _mean_kib(part: Measured) -> float:
    return statistic.mean([kib_s(each.goodput_bps) for each in downloads(part)])


def over_all_homes(by_region: Mapping[str, Values]) -> Values:
    """The mean over all homes, by seed."""
    return [
        None
        if None in each
        else sum(HOMES[home] * known(value) for home, value in zip(by_region, each, strict=True)) / sum(HOMES.values())
        for each in zip(*by_region.values(), strict=True)
    ]


def limit_of_size(runs: Mapping[str, Measured]) -> str:
    size = size_name(downloads(runs[REGIONS])[0].object_bytes)
    return f"measured with objects of {size}, whose time includes slow start"


def by_store(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2: the mean over all homes, by store."""
    means = {store: over_all_homes(by_region) for store, by_region in cells(runs).items()}
    ratios = [
        None if None in each else (known(each[0]) + known(each[1])) / (known(each[2]) + known(each[3]))
        for each in zip(*(means[store] for store in STORES), strict=True)
    ]
    parts = [near(store.upper(), means[store], kib, LEVEL_OFF_KIB) for store, kib in MEAN_KIB.items()]
    parts.append(near("US and EU over SA and AP", ratios, RATIO, RATIO_OFF))
    ours = ", ".join(f"{store.upper()} {average(mean):.0f}" for store, mean in means.items())
    return Judgement(f"{ours} KiB/s; US and EU × {average(ratios):.2f}", tuple(parts), limit_of_size(runs))


def near_is_best(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 4: the store in the home's region is the best, but US for CSA; and the best and worst cells."""
    goodputs = cells(runs)
    homes = tuple(NEAR.values())
    best = {home: max(STORES, key=lambda store: average(goodputs[store][home])) for home in homes}
    wanted = {home: store for store, home in NEAR.items()} | {"csa": "us"}
    every = {(store, home): goodputs[store][home] for store in STORES for home in homes}
    lowest = [("sa", "ap"), ("ap", "csa")]
    parts = [
        above(f"{home.upper()} is better from {store.upper()} than from {other.upper()}",
              minus(every[store, home], every[other, home]))
        for home, store in wanted.items() for other in STORES if other != store
    ]  # fmt: skip
    parts += [
        above(f"US from US is above {home.upper()} from {store.upper()}", minus(every["us", "us"], every[store, home]))
        for store, home in every
        if (store, home) != ("us", "us")
    ]
    parts += [
        below(f"{low[1].upper()} from {low[0].upper()} is below {home.upper()} from {store.upper()}",
              minus(every[low], every[store, home]))
        for low in lowest for store, home in every if (store, home) not in lowest
    ]  # fmt: skip
    order = sorted(every, key=lambda at: average(every[at]), reverse=True)
    ours = "best store: " + ", ".join(f"{home.upper()} from {store.upper()}" for home, store in best.items())
    worst = " and ".join(f"{home.upper()} from {store.upper()}" for store, home in order[-2:])
    ours += f"; largest {order[0][1].upper()} from {order[0][0].upper()}, smallest {worst}"
    return Judgement(ours, tuple(parts), "our inputs decide which cell is best")


def gain_of_the_near_store(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 5: homes in the region of the store, and their gain over the mean of all homes."""
    goodputs = cells(runs)
    close = {store: goodputs[store][NEAR[store]] for store in STORES}
    gains = {
        store: [None if each is None else each - 1 for each in over(close[store], over_all_homes(goodputs[store]))]
        for store in STORES
    }
    mean = [None if None in each else statistic.mean(each) for each in zip(*gains.values(), strict=True)]
    parts = [near(store.upper(), close[store], kib, LEVEL_OFF_KIB) for store, kib in NEAR_KIB.items()]
    parts += [near(f"gain of {store.upper()}", gains[store], gain, GAIN_OFF) for store, gain in NEAR_GAIN.items()]
    parts.append(near("gain on the mean", mean, MEAN_GAIN, GAIN_OFF))
    parts += [above(f"AP gains more than {store.upper()}", minus(gains["ap"], gains[store])) for store in ("us", "eu")]
    parts += [below(f"SA gains less than {store.upper()}", minus(gains["sa"], gains[store])) for store in ("us", "eu")]
    ours = ", ".join(f"{store.upper()} {average(close[store]):.0f} ({average(gains[store]):+.1%})" for store in STORES)
    ours += f" KiB/s; gain {average(mean):.1%} on the mean"
    return Judgement(ours, tuple(parts), limit_of_size(runs))


def network_was_as_asked(runs: Mapping[str, Measured]) -> Judgement:
    """S1-SYS: as many homes and stores, and every path between them has the RTT asked for."""
    regions = runs[REGIONS]
    off_s = [each.rtt_off_s for each in regions.results]
    most_s = None if None in off_s else max(map(known, off_s), default=None)
    stores, homes = len(regions.values_of("from")), len(regions.values_of("to"))
    ours = f"{homes} homes, {stores} stores, {len(regions.results)} runs, {regions.invalid} invalid; RTT "
    ours += "not seen" if most_s is None else f"within {most_s * 1e6:.1f} µs of the RTT asked for"
    parts = (
        Holds("77 homes", homes == ALL_HOMES, f"{homes}"),
        Holds("4 stores", stores == ALL_STORES, f"{stores}"),
        Holds("every RTT as asked", None if most_s is None else most_s < RTT_OFF_S),
        Holds("no invalid run", not regions.invalid),
    )
    return Judgement(ours, parts, "one home for each region in place of 77")


EDGE, STEADY = "cdn-edge", "cdn-steadiness"
NEGLIGIBLE_KIB, NEGLIGIBLE_SHARE = 100, 0.3
SMALL_MOST_KIB = 7630
NEAR_RTT_S = 0.05
"""Of a home in the region of the store, with its access line."""
WORST, NEAR_SHARE = -0.4359, 0.7
STEADIER = (0.275, 0.338)
"""By how much the CoV is smaller: -28 % in one place, one third in another."""

Gains: TypeAlias = Mapping[str, Mapping[int, tuple[Values, Values]]]


def goodputs_of_homes(runs: Mapping[str, Measured]) -> Gains:
    """Goodput in KiB/s from the origin and from the edge, by home and size in bytes."""
    goodputs = {}
    for home, part in by_home(runs[EDGE]).items():
        origin, edge = by_size(part.only(cache="none")), by_size(part.only(cache="edge"))
        goodputs[home] = {size: (origin[size], edge.get(size, ())) for size in origin}
    return goodputs


def relative_gain(runs: Mapping[str, Measured], size_bytes: int) -> Values:
    """The relative gain from the edge, as the mean over the homes, by seed."""
    by_home = [over(home[size_bytes][1], home[size_bytes][0]) for home in goodputs_of_homes(runs).values()]
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
    return Judgement(f"{words}, means over {len(goodputs_of_homes(runs))} homes", parts, why)


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
    cases = _cases(goodputs_of_homes(runs))
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
    close_by = {
        home for home, part in by_home(runs[EDGE]).items() if asked_rtt_s(part.only(cache="none")) <= NEAR_RTT_S
    }
    changes = {
        (home, size): [None if each is None else each - 1 for each in over(edge, origin)]
        for home, by_size in goodputs_of_homes(runs).items()
        for size, (origin, edge) in by_size.items()
    }
    kinds = dict(zip(changes, decide(below("worse", mean_of((1, each))) for each in changes.values()), strict=True))
    worse = [at for at, each in kinds.items() if each.verdict == "met"]
    maybe = [at for at, each in kinds.items() if each.verdict == "cannot tell"]
    worst_at = min(changes, key=lambda at: average(changes[at]), default=None)
    worst = average(changes[worst_at]) if worst_at else 0.0
    close, far = (sum((home in close_by) is is_close for home, _ in worse) for is_close in (True, False))
    doubtful = sum(home not in close_by for home, _ in maybe)
    hoped = close + len(maybe) - doubtful
    parts = (
        Holds("the edge is worse in some cases", True if worse else None if maybe else False),
        Holds(
            "in less than half of them",
            _sure(len(worse) + len(maybe) < len(changes) / 2, len(worse) < len(changes) / 2),
        ),
        Holds(
            "more than 70 % of those with a near store",
            _sure(close > NEAR_SHARE * (close + far + doubtful), hoped > NEAR_SHARE * (hoped + far)) if worse else None,
        ),
        Within("the worst", mean_of((1, changes[worst_at] if worst_at else ())), low=WORST),
    )
    ours = f"{len(worse)} of {len(changes)} cases, {close} with a near store, {len(maybe)} undecided"
    ours += f"; worst {worst:+.0%} at {size_name(worst_at[1])}" if worst_at else ""
    return Judgement(ours, parts)


def _sure(at_worst: bool, at_best: bool) -> bool | None:
    """Whether something holds however the undecided cases are; None if it depends on them."""
    return True if at_worst else None if at_best else False
