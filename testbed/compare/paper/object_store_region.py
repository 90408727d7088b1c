"""Checks of downloads from stores in some regions to homes in others; goodput is in KiB/s. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ...analysis import statistic
from ..reproduction.check import Holds, Values, above, average, below, minus, near, over
from ..reproduction.measured import Measured, known
from ..reproduction.row import Judgement
from .object_store_download import downloads, kib_s, size_name

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
