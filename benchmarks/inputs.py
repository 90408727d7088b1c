"""Inputs of reproductions, fitted to what is printed or drawn: `python -m benchmarks inputs [rates|homes|others]`.

**rates** (the default). The rate of each path of `topologies/object-store.yaml` is such that a download of 100 MiB,
slow start included, gives the printed means of Persico et al. (S1): those of homes near each store, and those over all
homes. Which far path has how much of what is left is not printed, so far paths of a store keep their ratios.

Each round runs the twenty downloads of `object-regions` (quick, one seed) in `results/inputs`; those that are there do
not run again, as long as the topology is as it was. The time of a download is `a + 8 size / b`
with the rate b; `a` is taken from the last round. The rates are written to the topology, to 1 kbit/s, once every
printed mean is met within half a unit (0.5 KiB/s). Ends with 1, and writes nothing, if `--rounds` (6) are too few.

**homes**. As many homes in each region as are printed, drawn with `--seed` into `scenarios/object-homes.yaml`. An
access line has a rate around 25 Mbit/s and a round trip around 10 ms, and the edge is around 6 ms away, but for one
home in ten it is as far as the store in the US (served from there). The rate of a way from a store is around that of
its region in `topologies/object-store.yaml`, and its round trip is that of the region. All but the last are log-normal;
the scales are ours.

**others**. What others leave of the long way and of the way to the edge, such that downloads have the printed CoV (0.38
and 0.26, S1-F7): 8 Mbit/s and a share of it at night, that share less in the evening, 8 Mbit/s in between. The days of
both sizes are written to `scenarios/cdn-steadiness.yaml`, and those of the quick size to `scenarios/cdn-load.yaml`,
which is judged by other numbers.

It runs one point after the other of each size in `results/inputs`, with seed 101, by which no row is judged, and halves
the interval in which the share lies until the printed number is met. Ends with 1, and writes nothing, if `--rounds` are
too few.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeAlias

from rich.console import Console

from testbed.analysis import statistic
from testbed.api import HttpResult, need
from testbed.commands.measure.run import carry_out
from testbed.spec.load import files_of, load_scenario
from testbed.sweep.store import Store
from testbed_reproductions.paper.object_store_check import (
    HOMES,
    KIB,
    LARGEST,
    LEVEL_OFF_KIB,
    MEAN_KIB,
    NEAR,
    NEAR_KIB,
    STORES,
    kib_s,
)

TOPOLOGY, SCENARIO = Path("topologies/object-store.yaml"), Path("scenarios/object-regions.yaml")
RESULTS = Path("results/inputs")
RATE = re.compile(r"^(  (\w+)-(\w+): \{ends: \[store-\w+, isp-\w+\], rate: )([\d.]+)( Mbit/s)", re.MULTILINE)

Cells = dict[tuple[str, str], float]
"""A number for each store and region of homes."""


def rates(text: str) -> Cells:
    """In Mbit/s, of a topology's paths."""
    return {(store, home): float(rate) for _, store, home, rate, _ in RATE.findall(text)}


def with_rates(text: str, asked: Mapping[tuple[str, str], float]) -> str:
    return RATE.sub(lambda each: f"{each[1]}{asked[each[2], each[3]]:.3f}{each[5]}", text)


def wanted(start: Mapping[tuple[str, str], float]) -> Cells:
    """Goodput in KiB/s: near paths as printed; far ones in the ratios of `start`, so that the mean is as printed."""
    made: Cells = {}
    for store, mean in MEAN_KIB.items():
        near = NEAR[store]
        far = {home: start[store, home] for home in HOMES if home != near}
        rest = mean * sum(HOMES.values()) - NEAR_KIB[store] * HOMES[near]
        share = rest / sum(HOMES[home] * each for home, each in far.items())
        made |= {(store, near): float(NEAR_KIB[store])} | {(store, home): each * share for home, each in far.items()}
    return made


def measured(asked: Mapping[tuple[str, str], float], folder: Path) -> Cells:
    """Goodput in KiB/s with these rates in Mbit/s."""
    settings = [f"{store}-{home}.rate={rate:.3f} Mbit/s" for (store, home), rate in asked.items()]
    settings.append("repetitions=1")
    scenario, store = load_scenario(SCENARIO, settings, quick=True), Store(folder)
    carry_out(scenario, store, files_of(SCENARIO, settings, quick=True), 2, Console(stderr=True))
    found = {}
    for each in store.results():
        at = (each.params["workload.from"].removeprefix("store-"), each.params["workload.to"].removeprefix("home-"))
        found[at] = statistic.mean([kib_s(download["goodput_bps"]) for download in each.measured["http"]["downloads"]])
    return found


def next_rate(rate: float, goodput: float, target: float) -> float:
    """By time = a + size / rate, all in KiB and seconds; `a` is what this rate did not explain."""
    size = LARGEST / KIB
    payload = rate * 1e6 / 8 / KIB
    spare_s = size / goodput - size / payload
    return size / (size / target - spare_s) * 8 * KIB / 1e6


def off(found: Mapping[tuple[str, str], float]) -> float:
    """How far the worst printed mean is away, in KiB/s."""
    over_all = {
        store: sum(HOMES[home] * found[store, home] for home in HOMES) / sum(HOMES.values()) for store in MEAN_KIB
    }
    near = {store: found[store, NEAR[store]] for store in MEAN_KIB}
    return max(
        *(abs(over_all[store] - mean) for store, mean in MEAN_KIB.items()),
        *(abs(near[store] - level) for store, level in NEAR_KIB.items()),
    )


def fit_rates(rounds: int) -> int:
    text = TOPOLOGY.read_text()
    asked = rates(text)
    target = wanted(asked)
    for number in range(1, rounds + 1):
        found = measured(asked, RESULTS / str(number))
        worst = off(found)
        print(f"round {number}: the worst printed mean is off by {worst:.2f} KiB/s", flush=True)
        if worst < LEVEL_OFF_KIB:
            TOPOLOGY.write_text(with_rates(text, asked))
            return 0
        asked = {at: round(next_rate(rate, found[at], target[at]), 3) for at, rate in asked.items()}
    return 1


HOMES_SCENARIO = Path("scenarios/object-homes.yaml")
HOME_ROWS = re.compile(r"(?<=ap\.rtt:\n)(?:    - \[.*\]\n)+")
WAY = re.compile(
    r"^  (\w+)-(\w+): \{ends: \[store-\w+, isp-\w+\], rate: ([\d.]+) Mbit/s, rtt: (\d+) ms\}", re.MULTILINE
)
ACCESS_MBIT, ACCESS_SPREAD, ACCESS_MOST_MBIT = 25.0, 0.8, 500.0
LINE_MS, LINE_SPREAD = 10.0, 0.6
EDGE_MS, EDGE_SPREAD, FAR_EDGE = 6.0, 0.5, 0.1
WAY_SPREAD = 0.5
"""Medians, and standard deviations of the logarithm; the share of homes whose edge is in the US."""


def ways_of(text: str) -> dict[tuple[str, str], tuple[float, int]]:
    """Rate in Mbit/s and round trip in ms, by store and region of homes, of a topology."""
    return {(store, home): (float(rate), int(rtt)) for store, home, rate, rtt in WAY.findall(text)}


def drawn_homes(ways: Mapping[tuple[str, str], tuple[float, int]], seed: int) -> list[str]:
    """A row of the scenario for each home, from the (Mbit/s, ms) of each store and region."""
    draw = random.Random(seed)
    rows = []
    for region, count in HOMES.items():
        for _ in range(count):
            access = min(draw.lognormvariate(0, ACCESS_SPREAD) * ACCESS_MBIT, ACCESS_MOST_MBIT)
            line_ms = draw.lognormvariate(0, LINE_SPREAD) * LINE_MS
            edge_ms = draw.lognormvariate(0, EDGE_SPREAD) * EDGE_MS
            if draw.random() < FAR_EDGE:
                edge_ms = float(ways["us", region][1])
            cells = [f"{access:.3f} Mbit/s", f"{line_ms:.3f} ms", f"{edge_ms:.3f} ms"]
            for store in STORES:
                rate, rtt_ms = ways[store, region]
                cells += [f"{rate * draw.lognormvariate(0, WAY_SPREAD):.3f} Mbit/s", f"{rtt_ms} ms"]
            rows.append(f"    - [{', '.join(cells)}]\n")
    return rows


def draw_homes(seed: int) -> int:
    text, ways = HOMES_SCENARIO.read_text(), ways_of(TOPOLOGY.read_text())
    HOMES_SCENARIO.write_text(HOME_ROWS.sub("".join(drawn_homes(ways, seed)), text))
    return 0


STEADINESS, LOADED = Path("scenarios/cdn-steadiness.yaml"), Path("scenarios/cdn-load.yaml")
PRINTED_COV = {"wan": ("none", 0.38), "peering": ("edge", 0.26)}
"""By way: how it is asked for, and the CoV of downloads over it."""
COV_OFF = 0.004
USUAL_MBIT = 8.0
SHARES = {"full": (0.3, 0.95), "quick": (0.3, 0.8)}
"""By size, between which a day's share is looked for."""
FIT_SEED = 101
STEP_S = {"full": 240, "quick": 60}
"""By size, in the order of a scenario's file."""
Shares: TypeAlias = Mapping[str, Mapping[str, float]]
"""By size and way."""

DAYS = re.compile(r"(?m)^ +(?:wan\.rtt\+)?(wan|peering)\.rate\+\1\.schedule:\n(?: +- \[.*\n)+")
DAY, ALONE = re.compile(r"[\d.]+ Mbit/s, \[\{.*\}\]"), re.compile(r"[\d.]+ Mbit/s(?=, none)")


def day(share: float, step_s: int) -> str:
    """The rate at night, and a schedule of the rest of the day: morning, evening, and the hours between."""
    night, evening = (f"{USUAL_MBIT * (1 + by):.2f} Mbit/s" for by in (share, -share))
    rates = (f"{USUAL_MBIT:g} Mbit/s", evening, f"{USUAL_MBIT:g} Mbit/s")
    steps = (
        f"{{at: {number * step_s} s, for: {step_s} s, every: {4 * step_s} s, rate: {rate}}}"
        for number, rate in enumerate(rates, 1)
    )
    return f"{night}, [{', '.join(steps)}]"


def found_share(
    measure: Callable[[float], float], wanted: float, off: float, between: tuple[float, float], rounds: int
) -> float | None:
    """Where what is measured, which rises with it, is as wanted; to three digits. None if no round comes near."""
    low, high = between
    for _ in range(rounds):
        share = float(f"{(low * high) ** 0.5:.3g}")
        found = measure(share)
        print(f"{share:g}: {found:.3f}, wanted {wanted:g}", flush=True)
        if abs(found - wanted) <= off:
            return share
        low, high = (share, high) if found < wanted else (low, share)
    return None


def cov_of_downloads(size: str, way: str, share: float) -> float:
    """The CoV of downloads over a way with such days. Nothing is drawn, so one seed tells it."""
    cache, _ = PRINTED_COV[way]
    settings = [
        f"seed={FIT_SEED}",
        "repetitions=1",
        f"workload.cache+workload.warm=[[{cache}, {str(cache == 'edge').lower()}]]",
        f"{way}.rate+{way}.schedule=[[{day(share, STEP_S[size])}]]",
    ]
    quick, store = size == "quick", Store(RESULTS / f"{size}-{way}-{share:g}")
    scenario, files = load_scenario(STEADINESS, settings, quick=quick), files_of(STEADINESS, settings, quick=quick)
    carry_out(scenario, store, files, 1, Console(stderr=True))
    (result,) = store.results()
    return statistic.population_cov([each.goodput_bps for each in need(HttpResult, result.measured).downloads])


def with_days(text: str, shares: Shares) -> str:
    """A scenario with the days of these ways. A way that others leave alone has no
    schedule: it has the rate of the edge's way at night all day.
    """
    sizes = {way: iter(STEP_S) for way in PRINTED_COV}

    def block(found: re.Match[str]) -> str:
        size = next(sizes[found[1]])
        alone, _, _ = day(shares[size]["peering"], STEP_S[size]).partition(", ")
        return ALONE.sub(alone, DAY.sub(day(shares[size][found[1]], STEP_S[size]), found[0]))

    return DAYS.sub(block, text)


def fit_others(rounds: int) -> int:
    shares: dict[str, dict[str, float]] = {size: {} for size in STEP_S}
    for size, (way, (_, wanted)) in product(STEP_S, PRINTED_COV.items()):
        share = found_share(partial(cov_of_downloads, size, way), wanted, COV_OFF, SHARES[size], rounds)
        if share is None:
            return 1
        shares[size][way] = share
    STEADINESS.write_text(with_days(STEADINESS.read_text(), shares))
    LOADED.write_text(with_days(LOADED.read_text(), dict.fromkeys(STEP_S, shares["quick"])))
    return 0


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, prog="python -m benchmarks inputs", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=("rates", "homes", "others"), default="rates")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1, help="for the homes (1)")
    asked = parser.parse_args(words)
    fits: Mapping[str, Callable[[], int]] = {
        "rates": lambda: fit_rates(asked.rounds),
        "homes": lambda: draw_homes(asked.seed),
        "others": lambda: fit_others(asked.rounds),
    }
    return fits[asked.what]()
