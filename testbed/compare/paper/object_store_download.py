"""Checks of downloads: by size, by home, and the metrics of each; goodput is in KiB/s. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from ...analysis import statistic
from ...trial.measured import Download, HttpResult, need
from ...trial.stored_result import TrialResult
from ..reproduction.measured import Measured, known
from ..reproduction.row import Judgement

SIZES, ACCESS = "object-sizes", "access-limited"
KIB = 2**10
MIB = 2**20
LARGEST = 100 * MIB
ORDERS = {1: 6, KIB: 3, MIB: 1}
"""Orders of magnitude below 100 MiB, by size in bytes."""
HALF_AN_ORDER = 0.5
FLAT, NOT_FLAT = 1.1, 2.0
"""Goodput from the best store over that from the worst."""


def kib_s(goodput_bps: float) -> float:
    return goodput_bps / 8 / KIB


def downloads(measured: Measured) -> list[Download]:
    return [each for result in measured.results for each in need(HttpResult, result.measured).downloads]


def by_size(measured: Measured) -> dict[int, float]:
    """Mean goodput in KiB/s of the downloads of each size, the smallest first."""
    goodputs: dict[int, list[float]] = {}
    for each in downloads(measured):
        goodputs.setdefault(each.object_bytes, []).append(kib_s(each.goodput_bps))
    return {size: statistic.mean(goodputs[size]) for size in sorted(goodputs)}


def by_home(measured: Measured) -> dict[str, Measured]:
    """One part for each combination of axes other than those of the workload."""
    groups: dict[str, list[TrialResult]] = {}
    for each in measured.results:
        home = ", ".join(f"{key} {text}" for key, text in each.params.items() if key.split(".")[0] != "workload")
        groups.setdefault(home, []).append(each)
    return {home: replace(measured, results=tuple(members)) for home, members in groups.items()}


def size_name(size_bytes: int) -> str:
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:g} {name}"
    return f"{size_bytes} B"


def asked_rtt_s(measured: Measured) -> float:
    """Between the client and its server."""
    return measured.results[0].asked.rtt_s


def grows_with_size(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 1: goodput grows with the size of the object, by about `ORDERS` orders of magnitude."""
    homes = [by_size(part) for part in by_home(runs[SIZES]).values()]
    falling = sum(any(b <= a for a, b in pairwise(home.values())) for home in homes)
    below = {
        size: statistic.mean([math.log10(home[LARGEST] / home[size]) for home in homes])
        for size in homes[0]
        if size != LARGEST
    }
    errors = {
        size: statistic.mean([1 - home[size] / home[LARGEST] for home in homes])
        for size in homes[0]
        if MIB <= size < LARGEST
    }
    ours = "below 100 MiB by " + ", ".join(f"{below[size]:.1f} ({size_name(size)})" for size in sorted(ORDERS))
    ours += " orders; error " + ", ".join(f"{errors[size]:.0%} at {size_name(size)}" for size in sorted(errors))
    is_close = all(abs(below[size] - orders) <= HALF_AN_ORDER for size, orders in ORDERS.items())
    why = f"goodput does not grow at {falling} of {len(homes)} homes" if falling else ""
    return Judgement(ours, not falling and is_close, why or f"passes within {HALF_AN_ORDER} orders of magnitude")


def flat_or_not(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 3: a home limited by its access line gets the same from all stores, one limited by RTT does not."""
    spreads = {}
    for rate, part in runs[ACCESS].split("rate").items():
        means = [statistic.mean([d.goodput_bps for d in downloads(each)]) for each in part.split("rtt").values()]
        spreads[rate] = max(means) / min(means)
    slow, fast = (spreads[rate] for rate in sorted(spreads, key=lambda rate: runs[ACCESS].only(rate=rate).capacity_bps))
    ours = "best over worst store: " + ", ".join(f"{spread:.2f} at {rate}" for rate, spread in spreads.items())
    why = f"a ratio up to {FLAT} counts as flat, from {NOT_FLAT:g} on as not flat"
    return Judgement(ours, slow <= FLAT and fast >= NOT_FLAT, why)


def campaign(runs: Mapping[str, Measured]) -> Judgement:
    """III.B: each cycle downloads each object once, in random order, with a pause between two downloads."""
    is_met, pauses_s, cycles, orders = True, [], 0, 0
    for result in runs[SIZES].results:
        numbered = sorted(need(HttpResult, result.measured).downloads, key=lambda each: each.number)
        sizes = [each.object_bytes for each in numbered]
        kinds = len(set(sizes))
        rounds = [tuple(sizes[n : n + kinds]) for n in range(0, len(sizes), kinds)]
        is_met = is_met and all(len(set(each)) == kinds for each in rounds)
        cycles, orders = max(cycles, len(rounds)), max(orders, len(set(rounds)))
        spent_s = sum(each.elapsed_s for each in numbered)
        pauses_s.append((known(result.workload_s) - spent_s) / (len(numbered) - 1))
    pause_s = statistic.mean(pauses_s)
    ours = f"{cycles} cycles of {kinds} sizes in {orders} orders, {pause_s:.2f} s between two downloads"
    is_met = is_met and (orders > 1 or cycles == 1) and abs(pause_s - 10) < 0.5
    why = "cycles follow one another; what would change in the 2 h between them is not emulated"
    return Judgement(ours, is_met, why)


def handshake_rtt(runs: Mapping[str, Measured]) -> Judgement:
    """III.B: the RTT that TCP's handshake measures in each download."""
    off = [
        each.connect_s / asked_rtt_s(part) - 1
        for part in by_home(runs[SIZES]).values()
        for each in downloads(part)
        if each.connect_s is not None
    ]
    ours = f"SYN to SYN-ACK {min(off):+.2%} to {max(off):+.2%} off the RTT asked for, {len(off)} downloads"
    return Judgement(ours, max(map(abs, off)) < 0.02, "TCP's handshake in place of a traceroute after the download")


def goodput_counts_from_the_request(runs: Mapping[str, Measured]) -> Judgement:
    """The metric: size over elapsed time, which begins with the connect, so 1 B takes two round trips."""
    trips, off = [], 0.0
    for part in by_home(runs[SIZES]).values():
        members = downloads(part)
        trips += [each.elapsed_s / asked_rtt_s(part) for each in members if each.object_bytes == 1]
        off = max(off, *(abs(each.goodput_bps * each.elapsed_s / 8 / each.object_bytes - 1) for each in members))
    ours = f"1 B takes {statistic.mean(trips):.3f} RTT; goodput × time is the size within {off:.0e}"
    return Judgement(
        ours, abs(statistic.mean(trips) - 2) < 0.05 and off < 1e-9, "the time includes TCP's connect, but no DNS or TLS"
    )


def variation(runs: Mapping[str, Measured]) -> Judgement:
    """The metric: sigma / mu, of samples whose CoV follows from the definition."""
    anchors = (((5.0, 5.0, 5.0), 0.0), ((1.0, 3.0), 0.5), ((1000.0, 3000.0), 0.5), ((0.0, 0.0, 3.0), math.sqrt(2)))
    off = max(abs(statistic.population_cov(values) - wanted) for values, wanted in anchors)
    return Judgement(f"largest error {off:.0e}; 0.26 for 0.38 is {0.26 / 0.38 - 1:+.1%}", off < 1e-12, "")
