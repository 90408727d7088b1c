"""Inputs of reproductions that are fitted to what is printed: `python -m benchmarks inputs [ROUNDS]`.

The rate of each path of `topologies/object-store.yaml` is such that a download of 100 MiB, slow start included, gives
the printed means of Persico et al. (S1): those of homes near each store, and those over all homes. Which far path has
how much of what is left is not printed, so far paths of a store keep their ratios.

Each round runs the twenty downloads of `object-regions` (quick, one seed) in `results/inputs`; those that are there do
not run again, as long as the topology is as it was. The time of a download is `a + 8 size / b`
with the rate b; `a` is taken from the last round. The rates are written to the topology, to 1 kbit/s, once every
printed mean is met within half a unit (0.5 KiB/s). Ends with 1, and writes nothing, if ROUNDS (6) are too few.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from testbed.analysis import statistic
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


def main(rounds: int = 6) -> int:
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
