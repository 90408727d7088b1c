"""Judges of Persico et al., On the Network Performance of Amazon S3 Cloud-storage Service. Pure, no I/O.

They are of downloads by size and by home, and by where they come from: a store in some region, or the edge of a
CDN. Goodput is in KiB/s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from operator import mul
from typing import TypeAlias

from testbed.api import CommandResult, Download, HttpResult, TrialResult, need, statistic

from ..check import (
    ERROR,
    AnyOf,
    Counted,
    Decision,
    Holds,
    Part,
    Values,
    Within,
    above,
    alike,
    apart,
    average,
    below,
    by_seed,
    classify,
    gain,
    grown,
    minus,
    near,
    over,
)
from ..check import estimate as mean_of
from ..measured import Measured, known
from ..row import Judgement

SIZES, ACCESS, CAMPAIGN = "object-sizes", "access-limited", "download-campaign"
KIB = 2**10
MIB = 2**20
LARGEST = 100 * MIB
SIZES_BYTES = (1, KIB, MIB, 16 * MIB, LARGEST)
ORDERS = {1: 6, KIB: 3, MIB: 1}
"""Orders of magnitude below 100 MiB, by size in bytes."""
HALF_AN_ORDER = 0.5
FLAT = 0.05
"""How far apart goodput from two stores may be that counts as little change."""
PER_CYCLE, CYCLES = 40, 84
PAUSE_S, PAUSE_OFF_S, PERIOD_S, PERIOD_OFF_S = 10.0, 0.5, 7200.0, 1800.0
HANDSHAKE, TRIPS_OFF = 0.01, 0.05


def kib_s(goodput_bps: float) -> float:
    return goodput_bps / 8 / KIB


def downloads(measured: Measured) -> list[Download]:
    return [each for result in measured.results for each in need(HttpResult, result.measured).downloads]


def by_size(measured: Measured) -> dict[int, Values]:
    """Goodput in KiB/s of the downloads of each size, the mean of each seed; the smallest size first."""
    sizes = sorted({each.object_bytes for each in downloads(measured)})
    return {size: measured.each_seed(partial(_mean_of_size, size=size)) for size in sizes}


def _mean_of_size(part: Measured, size: int) -> float:
    return statistic.mean([kib_s(each.goodput_bps) for each in downloads(part) if each.object_bytes == size])


def by_home(measured: Measured) -> dict[str, Measured]:
    """One part for each combination of axes other than those of the workload."""
    homes = dict.fromkeys(_home(each) for each in (*measured.results, *measured.left_out))
    return {
        home: replace(
            measured,
            results=tuple(each for each in measured.results if _home(each) == home),
            left_out=tuple(each for each in measured.left_out if _home(each) == home),
        )
        for home in homes
    }


def _home(result: TrialResult) -> str:
    return ", ".join(f"{key} {text}" for key, text in result.params.items() if key.split(".")[0] != "workload")


def size_name(size_bytes: int) -> str:
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:g} {name}"
    return f"{size_bytes} B"


def asked_rtt_s(measured: Measured) -> float:
    """Between the client and its server."""
    return measured.results[0].asked.rtt_s


def each_grows(home: str, sizes: Mapping[int, Values]) -> list[Part]:
    """Goodput is higher for each larger size."""
    return [
        above(f"{home}: {size_name(more)} is above {size_name(less)}", minus(sizes[more], sizes[less]))
        for less, more in pairwise(sizes)
    ]


def grows_with_size(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 1: goodput grows with the size of the object, by about `ORDERS` orders of magnitude."""
    homes = {home: by_size(part) for home, part in by_home(runs[SIZES]).items()}
    orders = {size: _over_homes(homes, size, math.log10) for size in ORDERS}
    errors = {size: _over_homes(homes, size, lambda ratio: 1 - 1 / ratio) for size in (MIB, 16 * MIB)}
    ours = "below 100 MiB by " + ", ".join(
        f"{average(orders[size]):.1f} ({size_name(size)})" for size in sorted(ORDERS)
    )
    ours += " orders; error " + ", ".join(f"{average(each):.0%} at {size_name(size)}" for size, each in errors.items())
    parts = [part for home, sizes in homes.items() for part in each_grows(home, sizes)]
    parts += [
        near(f"orders at {size_name(size)}", orders[size], whole, HALF_AN_ORDER) for size, whole in ORDERS.items()
    ]
    parts.append(above("error at 1 MiB above that at 16 MiB", minus(errors[MIB], errors[16 * MIB])))
    parts.append(above("error at 16 MiB above 0", mean_of((1, errors[16 * MIB]))))
    return Judgement(ours, tuple(parts))


def _over_homes(
    homes: Mapping[str, Mapping[int, Values]], size: int, read: Callable[[float], float]
) -> list[float | None]:
    """The mean over homes of what `read` makes of goodput at 100 MiB over that at this size, by seed."""
    ratios = [over(home.get(LARGEST, ()), home.get(size, ())) for home in homes.values()]
    return by_seed(lambda each: statistic.mean(list(map(read, each))), *ratios)


def flat_or_not(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3: a home limited by its access line gets the same from all stores, one limited by RTT does not."""
    access = runs[ACCESS]
    lines = sorted(access.values_of("rate"), key=lambda rate: access.only(rate=rate).capacity_bps)
    levels = {rate: {rtt: _every(part) for rtt, part in access.only(rate=rate).split("rtt").items()} for rate in lines}
    spreads = {rate: max(map(average, by_rtt.values())) / min(map(average, by_rtt.values()))
               for rate, by_rtt in levels.items()}  # fmt: skip
    slow, fast = levels[lines[0]], levels[lines[-1]]
    parts: list[Part] = [
        alike(f"{lines[0]}: alike at {one} and {other}", slow[one], slow[other], FLAT)
        for one, other in combinations(slow, 2)
    ]
    ends = [apart(f"{one} and {other}", fast[one], fast[other], FLAT) for one, other in combinations(fast, 2)]
    parts.append(AnyOf(f"{lines[-1]}: apart at some of its stores", tuple(ends)))
    ours = "best over worst store: " + ", ".join(f"{spread:.2f} at {rate}" for rate, spread in spreads.items())
    return Judgement(ours, tuple(parts))


def _every(part: Measured) -> Values:
    """The mean goodput of all downloads of each seed, in KiB/s."""
    return part.each_seed(lambda each: statistic.mean([kib_s(d.goodput_bps) for d in downloads(each)]))


def campaign(runs: Mapping[str, Measured]) -> Judgement:
    """III.B: each cycle downloads each object once, in random order, with a pause between two downloads. A run of the
    program is a cycle: it tells its downloads and pauses, and the testbed when it began.
    """
    told = [need(CommandResult, each.measured) for each in runs[CAMPAIGN].results]

    def all_of(*names: str) -> list[float]:
        return [known(value) for each in told for name in names for value in each.values[name].values]

    counts, pauses_s = all_of("downloads", "objects"), all_of("pause-min", "pause-max")
    cycles = min(len(each.runs) for each in told)
    orders = min(len(set(each.values["order"].values)) for each in told)
    periods_s = [later.begin_s - one.begin_s for each in told for one, later in pairwise(each.runs)]
    spans = _span(counts, 0), _span(pauses_s), _span([each / 3600 for each in periods_s])
    ours = (
        f"{cycles} cycles of {spans[0]} downloads in {orders} orders, {spans[1]} s between two of them; cycles "
        f"{spans[2]} h apart"
    )
    parts = (
        Holds("40 downloads a cycle", set(counts) == {PER_CYCLE}, spans[0]),
        Holds("in random order", orders == cycles > 1, f"{orders} orders in {cycles} cycles"),
        Holds("10 s apart", _all_near(pauses_s, PAUSE_S, PAUSE_OFF_S), f"{spans[1]} s"),
        Holds("84 cycles", cycles >= CYCLES, f"{cycles}"),
        Holds("2 h apart", _all_near(periods_s, PERIOD_S, PERIOD_OFF_S), f"{spans[2]} h"),
    )
    return Judgement(ours, parts, "what would change in the 2 h between cycles is not emulated")


def _all_near(values: Sequence[float], wanted: float, off: float) -> bool:
    return bool(values) and all(abs(each - wanted) <= off for each in values)


def _span(values: Sequence[float], digits: int = 2) -> str:
    """The least and the largest value."""
    if not values:
        return "none"
    least, most = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return least if least == most else f"{least} to {most}"


def handshake_rtt(runs: Mapping[str, Measured]) -> Judgement:
    """III.B: the RTT that TCP's handshake measures in each download."""
    parts_of_homes = by_home(runs[SIZES]).values()
    seen = [(each.connect_s, asked_rtt_s(part)) for part in parts_of_homes for each in downloads(part)]
    off = [connect_s / rtt_s - 1 for connect_s, rtt_s in seen if connect_s is not None]
    ours = (
        f"SYN to SYN-ACK {min(off):+.2%} to {max(off):+.2%} off the RTT asked for, {len(off)} of {len(seen)} downloads"
    )
    parts = (
        Holds("an RTT for each download", len(off) == len(seen) > 0),
        Holds("within 1 %", max(map(abs, off)) <= HANDSHAKE),
    )
    return Judgement(ours, parts, "TCP's handshake in place of a traceroute after the download")


def goodput_counts_from_the_request(runs: Mapping[str, Measured]) -> Judgement:
    """The metric: size over elapsed time, which begins with the connect, so 1 B takes two round trips."""
    trips, off = [], 0.0
    for part in by_home(runs[SIZES]).values():
        members = downloads(part)
        trips += [each.elapsed_s / asked_rtt_s(part) for each in members if each.object_bytes == 1]
        off = max(off, *(abs(each.goodput_bps * each.elapsed_s / 8 / each.object_bytes - 1) for each in members))
    ours = f"1 B takes {statistic.mean(trips):.3f} RTT; goodput × time is the size within {off:.0e}"
    parts = (
        Holds("1 B takes 2 RTT", max(abs(each - 2) for each in trips) <= TRIPS_OFF),
        Holds("goodput × time is the size", off < 1e-9),
    )
    return Judgement(ours, parts, "the time includes TCP's connect, but no DNS or TLS")


def variation(runs: Mapping[str, Measured]) -> Judgement:
    """The metric: sigma / mu, of samples whose CoV follows from the definition."""
    anchors = (((5.0, 5.0, 5.0), 0.0), ((1.0, 3.0), 0.5), ((1000.0, 3000.0), 0.5), ((0.0, 0.0, 3.0), math.sqrt(2)))
    off = max(abs(statistic.population_cov(values) - wanted) for values, wanted in anchors)
    ours = f"largest error {off:.0e}; 0.26 for 0.38 is {0.26 / 0.38 - 1:+.1%}"
    return Judgement(ours, (Holds("the formula", off < 1e-12),))


REGIONS, ALL = "object-regions", "object-homes"
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
    many = [HOMES[home] for home in by_region]
    return by_seed(lambda each: sum(map(mul, many, each)) / sum(HOMES.values()), *by_region.values())


def limit_of_size(runs: Mapping[str, Measured]) -> str:
    size = size_name(downloads(runs[REGIONS])[0].object_bytes)
    return f"measured with objects of {size}, whose time includes slow start"


def by_store(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 2: the mean over all homes, by store."""
    means = {store: over_all_homes(by_region) for store, by_region in cells(runs).items()}
    ratios = by_seed(lambda each: (each[0] + each[1]) / (each[2] + each[3]), *(means[store] for store in STORES))
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
    gains = {store: gain(close[store], over_all_homes(goodputs[store])) for store in STORES}
    mean = by_seed(statistic.mean, *gains.values())
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
    every = runs[ALL]
    off_s = [each.rtt_off_s for each in every.results]
    most_s = None if None in off_s else max(map(known, off_s), default=None)
    stores, homes, regions = len(every.values_of("from")), len(by_home(every)), len(regions_of(every))
    ours = f"{homes} homes in {regions} regions, {stores} stores, {len(every.results)} runs, {every.invalid} invalid; "
    ours += "RTT not seen" if most_s is None else f"RTT within {most_s * 1e6:.1f} µs of the RTT asked for"
    parts = (
        Holds("77 homes", homes == ALL_HOMES, f"{homes}"),
        Holds("5 regions", regions == len(HOMES), f"{regions}"),
        Holds("4 stores", stores == ALL_STORES, f"{stores}"),
        Holds("every RTT as asked", None if most_s is None else most_s < RTT_OFF_S),
        Holds("no invalid run", not every.invalid),
    )
    return Judgement(ours, parts)


def regions_of(measured: Measured) -> dict[tuple[str, ...], int]:
    """The number of homes of each region: homes are of one region if they are as far from every store."""
    distances = [
        tuple(part.results[0].params[f"{store}.rtt"] for store in STORES)
        for part in by_home(measured).values()
        if part.results
    ]
    return {each: distances.count(each) for each in dict.fromkeys(distances)}


EDGE, STEADY, LOADED = "cdn-edge", "cdn-steadiness", "cdn-load"
NEGLIGIBLE_KIB, NEGLIGIBLE_SHARE = 100, 0.3
SMALL_MOST_KIB = 7630
NEAR_RTT_S = 0.05
"""Of a home in the region of the store, with its access line."""
WORST, NEAR_SHARE = -0.4359, 0.7
COV_ORIGIN, COV_EDGE = (0.38, 0.005), (0.26, 0.005)
"""As printed, with half a unit of the last digit."""
STEADIER = (0.275, 0.338)
"""By how much the CoV is smaller: -28 % in one place, one third in another."""

Gains: TypeAlias = Mapping[str, Mapping[int, tuple[Values, Values]]]


def goodputs_of_homes(measured: Measured) -> Gains:
    """Goodput in KiB/s from the origin and from the edge, by home and size in bytes."""
    return {home: _goodputs(part) for home, part in by_home(measured).items()}


def _goodputs(home: Measured) -> dict[int, tuple[Values, Values]]:
    origin, edge = by_size(home.only(cache="none")), by_size(home.only(cache="edge"))
    lost: Values = [None] * max(map(len, (*origin.values(), *edge.values())), default=0)
    return {size: (origin.get(size, lost), edge.get(size, lost)) for size in sorted({*origin, *edge})}


def relative_gain(runs: Mapping[str, Measured], size_bytes: int) -> Values:
    """The relative gain from the edge, as the mean over the homes, by seed."""
    by_home = [over(home[size_bytes][1], home[size_bytes][0]) for home in goodputs_of_homes(runs[EDGE]).values()]
    return by_seed(lambda each: statistic.mean(each) - 1, *by_home)


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
    return Judgement(f"{words}, means over {len(goodputs_of_homes(runs[EDGE]))} homes", parts, why)


def edge_is_steadier(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 7: downloads vary less from the edge than from the origin, but they do vary."""
    origin, edge = (
        runs[STEADY].only(cache=cache).each_seed(lambda each: statistic.population_cov(goodputs_of(each)))
        for cache in ("none", "edge")
    )
    ours = f"CoV {average(origin):.2f} from the origin, {average(edge):.2f} from the edge"
    less = mean_of((1, [None if each is None else 1 - each for each in over(edge, origin)]))
    parts = (
        near("CoV from the origin", origin, *COV_ORIGIN),
        near("CoV from the edge", edge, *COV_EDGE),
        Within("the reduction from the edge", less, *STEADIER),
    )
    return Judgement(ours, parts)


def goodputs_of(part: Measured) -> list[float]:
    return [each.goodput_bps for each in downloads(part)]


def edge_gain_by_size(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9a: the gain in KiB/s is largest for the largest object, and negligible in many cases."""
    cases = _cases(goodputs_of_homes(runs[EDGE]))
    sizes = sorted({size for _, size in cases})
    most = {size: by_seed(max, *(cases[at] for at in cases if at[1] == size)) for size in sizes}
    every = by_seed(statistic.mean, *cases.values())
    few = by_seed(lambda each: sum(more < NEGLIGIBLE_KIB for more in each) / len(each), *cases.values())
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
        (home, size): grown(origin, edge)
        for home, by_size in goodputs.items()
        for size, (origin, edge) in by_size.items()
    }


def edge_can_be_worse(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9b: in some cases the edge is worse, most with the store in the region of the home."""
    homes = {(name, home): part for name in (EDGE, LOADED) for home, part in by_home(runs[name]).items()}
    close_by = {at for at, part in homes.items() if asked_rtt_s(part.only(cache="none")) <= NEAR_RTT_S}
    changes = {
        (at, size): gain(edge, origin) for at, part in homes.items() for size, (origin, edge) in _goodputs(part).items()
    }
    cases = tuple(below("worse", mean_of((1, each))) for each in changes.values())
    worst_at = min(changes, key=lambda at: average(changes[at]), default=None)
    worst = average(changes[worst_at]) if worst_at else 0.0
    is_close = tuple(home in close_by for home, _ in changes)
    parts = (
        Counted("the edge is worse in some cases", cases, lambda found: _Worse.of(found, is_close).is_any),
        Counted("in less than half of them", cases, lambda found: _Worse.of(found, is_close).is_under_half),
        Counted(
            f"more than {NEAR_SHARE:.0%} of those with a near store",
            cases,
            lambda found: _Worse.of(found, is_close).is_mostly_close,
        ),
        Within("the worst", mean_of((1, changes[worst_at] if worst_at else ())), low=WORST),
    )
    found = _Worse.of(classify(cases, ERROR), is_close)
    ours = f"{found.worse} of {len(changes)} cases, {found.close} with a near store, {found.maybe} undecided"
    ours += f"; worst {worst:+.0%} at {size_name(worst_at[1])}" if worst_at else ""
    return Judgement(ours, parts)


@dataclass(frozen=True)
class _Worse:
    """How many cases there are, in how many the edge is worse, or may be, and how many of these have a near store."""

    cases: int
    worse: int
    close: int
    maybe: int
    maybe_close: int

    @classmethod
    def of(cls, found: Sequence[Decision], is_close: Sequence[bool]) -> _Worse:
        worse, maybe = (
            [near for each, near in zip(found, is_close, strict=True) if each.verdict == kind]
            for kind in ("met", "cannot tell")
        )
        return cls(len(found), len(worse), sum(worse), len(maybe), sum(maybe))

    @property
    def is_any(self) -> bool | None:
        return _sure(self.worse > 0, self.worse + self.maybe > 0)

    @property
    def is_under_half(self) -> bool | None:
        return _sure(self.worse + self.maybe < self.cases / 2, self.worse < self.cases / 2)

    @property
    def is_mostly_close(self) -> bool | None:
        """None, too, if there may be no such case."""
        if not self.worse:
            return None
        far, doubtful = self.worse - self.close, self.maybe - self.maybe_close
        at_worst = self.close > NEAR_SHARE * (self.worse + doubtful)
        return _sure(at_worst, self.close + self.maybe_close > NEAR_SHARE * (self.close + self.maybe_close + far))


def _sure(at_worst: bool, at_best: bool) -> bool | None:
    """Whether something holds however the undecided cases are; None if it depends on them."""
    return True if at_worst else None if at_best else False


def factors(runs: Mapping[str, Measured]) -> Judgement:
    """Table I: the factors that are varied, and whether each home runs all combinations of them."""
    every = runs[ALL]
    homes = [combinations_of(part) for part in by_home(every).values()]
    every_one = set().union(*homes)
    stores, sizes, classes = (len({each[n] for each in every_one}) for n in range(3))
    whole, regions = sum(len(each) == PER_CYCLE for each in homes), len(regions_of(every))
    ours = f"{stores} stores × {sizes} sizes × {classes} classes; {regions} regions of homes; "
    ours += f"{whole} of {len(homes)} homes run all {PER_CYCLE} combinations"
    parts = (
        Holds("4 stores, 5 sizes, 2 classes, 5 regions", (stores, sizes, classes, regions) == (4, 5, 2, 5)),
        Holds("each home runs all 40 combinations", whole == len(homes) > 0, f"{whole} of {len(homes)}"),
    )
    return Judgement(ours, parts)


def combinations_of(home: Measured) -> set[tuple[str, int, str]]:
    """Store, size and class of the downloads of a home that are usable."""
    return {
        (result.params["workload.from"], each.object_bytes, result.params["workload.cache"])
        for result in home.results
        for each in need(HttpResult, result.measured).downloads
    }


def size_and_edge(runs: Mapping[str, Measured]) -> Judgement:
    """K15: goodput grows with the size, and the CDN gains more for the smaller object."""
    homes = {home: by_size(part) for home, part in by_home(runs[SIZES]).items()}
    words, parts = gains_more_for_small(runs)
    grows = [part for home, sizes in homes.items() for part in each_grows(home, sizes)]
    return Judgement(f"{len(homes)} homes; gain {words}", (*grows, *parts))
