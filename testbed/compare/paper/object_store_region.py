"""Checks of downloads from stores in some regions to homes in others; goodput is in KiB/s. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis import statistic
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
NEAR_GAIN = {"us": 0.5309, "eu": 0.4497, "sa": 0.0179, "ap": 0.7730}
"""SA and AP as printed, US and EU from the printed means."""
LEVEL, POINTS = 0.1, 0.08
"""How far a mean may be off (relative), and a gain (in points)."""


def cells(runs: Mapping[str, Measured]) -> dict[str, dict[str, float]]:
    """Mean goodput in KiB/s by store and by the region of the homes."""
    return {
        store: {
            home: statistic.mean(
                [kib_s(d.goodput_bps) for d in downloads(part.only(**{"from": f"store-{store}"}))],
            )
            for home in HOMES
            for part in [runs[REGIONS].only(to=f"home-{home}")]
        }
        for store in STORES
    }


def over_all_homes(by_region: Mapping[str, float]) -> float:
    return sum(HOMES[home] * value for home, value in by_region.items()) / sum(HOMES.values())


def limit_of_size(runs: Mapping[str, Measured]) -> str:
    """What limits the levels: a smaller object, as in the quick size, is slower."""
    size = size_name(downloads(runs[REGIONS])[0].object_bytes)
    return f"passes within {LEVEL:.0%}; measured with objects of {size}, whose time includes slow start"


def by_store(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2: the mean over all homes, by store."""
    means = {store: over_all_homes(by_region) for store, by_region in cells(runs).items()}
    ratio = (means["us"] + means["eu"]) / (means["sa"] + means["ap"])
    printed = (MEAN_KIB["us"] + MEAN_KIB["eu"]) / (MEAN_KIB["sa"] + MEAN_KIB["ap"])
    is_met = means["us"] > means["eu"] > means["ap"] > means["sa"] and abs(ratio / printed - 1) <= LEVEL
    is_met = is_met and all(abs(means[store] / MEAN_KIB[store] - 1) <= LEVEL for store in STORES)
    ours = ", ".join(f"{store.upper()} {mean:.0f}" for store, mean in means.items())
    return Judgement(f"{ours} KiB/s; US and EU × {ratio:.2f}", is_met, limit_of_size(runs))


def near_is_best(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 4: the store in the home's region is the best, but US for CSA; and the best and worst cells."""
    goodputs = cells(runs)
    best = {home: max(STORES, key=lambda store: goodputs[store][home]) for home in NEAR.values()}
    order = sorted(
        ((store, home) for store in STORES for home in NEAR.values()),
        key=lambda at: goodputs[at[0]][at[1]],
        reverse=True,
    )
    ours = "best store: " + ", ".join(f"{home.upper()} from {store.upper()}" for home, store in best.items())
    worst = " and ".join(f"{home.upper()} from {store.upper()}" for store, home in order[-2:])
    ours += f"; largest {order[0][1].upper()} from {order[0][0].upper()}, smallest {worst}"
    wanted = {home: store for store, home in NEAR.items()} | {"csa": "us"}
    is_met = best == wanted and order[0] == ("us", "us") and set(order[-2:]) == {("sa", "ap"), ("ap", "csa")}
    return Judgement(ours, is_met, "our inputs decide which cell is best")


def gain_of_the_near_store(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 5: homes in the region of the store, and their gain over the mean of all homes."""
    goodputs = cells(runs)
    near = {store: goodputs[store][NEAR[store]] for store in STORES}
    gains = {store: near[store] / over_all_homes(goodputs[store]) - 1 for store in STORES}
    ours = ", ".join(f"{store.upper()} {near[store]:.0f} ({gains[store]:+.0%})" for store in STORES)
    ours += f" KiB/s; gain {statistic.mean(list(gains.values())):.1%} on the mean"
    is_met = all(abs(near[store] / NEAR_KIB[store] - 1) <= LEVEL for store in STORES)
    is_met = is_met and all(abs(gains[store] - NEAR_GAIN[store]) <= POINTS for store in STORES)
    is_met = is_met and max(gains, key=lambda store: gains[store]) == "ap"
    return Judgement(ours, is_met and min(gains, key=lambda store: gains[store]) == "sa", limit_of_size(runs))


def network_was_as_asked(runs: Mapping[str, Measured]) -> Judgement:
    """S1-SYS: every path between a store and a home has the RTT asked for."""
    regions = runs[REGIONS]
    off_s = max(regions.numbers(lambda result: known(result.rtt_off_s)))
    stores, homes = len(regions.values_of("from")), len(regions.values_of("to"))
    ours = f"{homes} homes, {stores} stores, {len(regions.results)} paths, {regions.invalid} invalid; "
    ours += f"RTT within {off_s * 1e6:.1f} µs of the RTT asked for"
    is_met = not regions.invalid and off_s < 1e-5 and len(regions.results) >= stores * homes
    return Judgement(ours, is_met, "one home for each region in place of 77")
