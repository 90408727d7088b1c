"""Checks of downloads: by size, by home, and the metrics of each; goodput is in KiB/s. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise

from testbed.api import Download, HttpResult, TrialResult, need, statistic

from ..check import AnyOf, Holds, Part, Values, above, alike, apart, average, minus, near, over
from ..check import estimate as mean_of
from ..measured import Measured, known
from ..row import Judgement

SIZES, ACCESS = "object-sizes", "access-limited"
KIB = 2**10
MIB = 2**20
LARGEST = 100 * MIB
ORDERS = {1: 6, KIB: 3, MIB: 1}
"""Orders of magnitude below 100 MiB, by size in bytes."""
HALF_AN_ORDER = 0.5
FLAT = 0.05
"""How far apart goodput from two stores may be that counts as little change."""
PER_CYCLE, CYCLES, PAUSE_S, PAUSE_OFF_S, PERIOD_S = 40, 84, 10.0, 0.5, 7200.0
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


def grows(home: str, sizes: Mapping[int, Values]) -> list[Part]:
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
    parts = [part for home, sizes in homes.items() for part in grows(home, sizes)]
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
    return [
        None if None in each else statistic.mean(list(map(read, map(known, each))))
        for each in zip(*ratios, strict=True)
    ]


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
    """III.B: each cycle downloads each object once, in random order, with a pause between two downloads."""
    is_whole, pauses_s, cycles, orders, kinds = True, [], 0, 0, 0
    for result in runs[SIZES].results:
        numbered = sorted(need(HttpResult, result.measured).downloads, key=lambda each: each.number)
        sizes = [each.object_bytes for each in numbered]
        kinds = len(set(sizes))
        rounds = [tuple(sizes[n : n + kinds]) for n in range(0, len(sizes), kinds)]
        is_whole = is_whole and all(len(set(each)) == kinds for each in rounds)
        cycles, orders = max(cycles, len(rounds)), max(orders, len(set(rounds)))
        spent_s = sum(each.elapsed_s for each in numbered)
        pauses_s.append((known(result.workload_s) - spent_s) / (len(numbered) - 1))
    pause_s = statistic.mean(pauses_s)
    ours = f"{cycles} cycles of {kinds} downloads in {orders} orders, {pause_s:.2f} s between two of them"
    parts = (
        Holds("40 downloads a cycle", is_whole and kinds == PER_CYCLE, f"{kinds}"),
        Holds("in random order", orders > 1),
        Holds("10 s apart", abs(pause_s - PAUSE_S) <= PAUSE_OFF_S, f"{pause_s:.2f} s"),
        Holds("84 cycles", cycles >= CYCLES, f"{cycles}"),
        Holds(f"{PERIOD_S / 3600:g} h apart", False, "one after the other"),
    )
    return Judgement(ours, parts, "what would change in the 2 h between cycles is not emulated")


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
