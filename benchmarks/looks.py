"""How often comparisons that add seeds until they can tell err, and how many seeds they take, over made-up pairs:
`python -m benchmarks power until-decided`.

A procedure is a whole comparison of `testbed compare --extend` with its budget of 40 seeds, made with its own looks:
several cells with one primary metric, whose pairs differ by the true change and normal noise of a known sd. A verdict
is wrong if it claims what is not so: better or worse where nothing changed; better or the same where there is a drop
of more than the tolerance. At most 5 % of procedures have one, also where each trial is on one of two levels by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from testbed.analysis.statistic import FloatArray
from testbed.commands.sequential.budget import SEEDS
from testbed.compare.look import LEAST, CellData, CellLooks, Looks, advance
from testbed.compare.pairing import Cell
from testbed.compare.run import TOLERANCE

CELLS, CHANGES, NOISES = 4, (0.0, -0.05, -0.10), (0.03, 0.06, 0.10)
LEVELS, LEVEL_CELLS, LEVEL_NOISE = (0.1, 0.3), (1, 4, 18), 0.001


@dataclass(frozen=True)
class Found:
    """Shares of procedures with any wrong verdict, and of cells with the right one and with none; the mean seeds of a
    cell.
    """

    wrong: float
    right: float
    undecided: float
    seeds: float


def procedure(
    chance: np.random.Generator, cells: int, change: float, noise: float, most: int = SEEDS, levels: float = 0.0
) -> Looks:
    """A whole comparison on paper, with the real looks: normal differences of pairs with this sd, as a share. The base
    grows with the seed; or each trial of either side is on one of two levels that are `levels` apart, a share too.
    """
    drawn = [change + noise * chance.standard_normal(most) for _ in range(cells)]
    usual = np.full((2, most), 100.0) if levels else np.tile(100.0 + np.arange(most), (2, 1))
    bases = [usual * (1 - levels * chance.integers(2, size=(2, most))) if levels else usual for _ in range(cells)]
    pairs = {
        cell: (base[:1], base[1:] * (1 + each)) for cell, (base, each) in enumerate(zip(bases, drawn, strict=True))
    }
    return looked_at(pairs, most)


def looked_at(pairs: Mapping[int, tuple[FloatArray, FloatArray]], most: int = SEEDS, rare: float = 1.0) -> Looks:
    """A whole comparison of cells, of which base and candidate are there for so many seeds."""
    places = {Cell("", (("cell", str(number)),)): both for number, both in pairs.items()}
    looks, done = Looks("a", "b", TOLERANCE, ("goodput",), len(places)), dict.fromkeys(places, LEAST)
    while True:
        data = {cell: _seen(places[cell], count, rare) for cell, count in done.items()}
        looks, wanted = advance(looks, data, most)
        if not wanted:
            return looks
        done |= wanted


def _seen(both: tuple[FloatArray, FloatArray], count: int, rare: float) -> CellData:
    base, candidate = (each.ravel() for each in both)
    known = {seed: (float(base[seed]), float(candidate[seed])) for seed in range(count)}
    return CellData(count, LEAST, {"goodput": known}, rare=rare)


def simulated(cells: int, change: float, noise: float, procedures: int, seed: int = 1, levels: float = 0.0) -> Found:
    """Of so many procedures, in each cell of which the candidate differs by `change`, a share of the base."""
    chance = np.random.default_rng(seed)
    found = [procedure(chance, cells, change, noise, levels=levels).cells for _ in range(procedures)]
    every = [cell for each in found for cell in each]
    wrong = sum(any(_is_wrong(cell, change) for cell in each) for each in found)
    right = sum(cell.verdict == _truth(change) for cell in every)
    undecided = sum(cell.verdict == "cannot tell" for cell in every)
    seeds = sum(cell.repetitions for cell in every)
    return Found(wrong / procedures, right / len(every), undecided / len(every), seeds / len(every))


def _truth(change: float) -> str:
    return "same" if abs(change) <= TOLERANCE else "worse" if change < 0 else "better"


def _is_wrong(cell: CellLooks, change: float) -> bool:
    return cell.verdict not in (_truth(change), "cannot tell")


def lines(procedures: int) -> Iterator[str]:
    yield "| true change | sd of the pairs | any wrong verdict | right | undecided | mean seeds |"
    yield "|---|---|---|---|---|---|"
    for change, noise in product(CHANGES, NOISES):
        found = simulated(CELLS, change, noise, procedures)
        said = f"{100 * change:+g} %" if change else "none"
        shares = (found.wrong, found.right, found.undecided)
        texts = " | ".join(f"{100 * each:.1f} %" for each in shares)
        yield f"| {said} | {100 * noise:g} % | {texts} | {found.seeds:.1f} |"
    yield "\nTwo levels that switch by chance, and no change:\n"
    yield "| levels apart | cells | any wrong verdict | undecided | mean seeds |"
    yield "|---|---|---|---|---|"
    for levels, cells in product(LEVELS, LEVEL_CELLS):
        found = simulated(cells, 0.0, LEVEL_NOISE, procedures, levels=levels)
        texts = f"{100 * found.wrong:.1f} % | {100 * found.undecided:.1f} % | {found.seeds:.1f}"
        yield f"| {100 * levels:g} % | {cells} | {texts} |"
