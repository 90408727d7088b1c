"""How often comparisons that add seeds until they can tell err, and how many seeds they take, over made-up pairs:
`python -m benchmarks power until-decided`.

A procedure is a whole comparison of `testbed compare --extend` with its budget of 40 seeds, made with its own looks:
several cells with one primary metric, whose pairs differ by the true change and normal noise of a known sd. A verdict
is wrong if it claims what is not so: better or worse where nothing changed; better or the same where there is a drop
of more than the tolerance. At most 5 % of procedures have one, also where each trial is on one of two levels by chance.

`python -m benchmarks power time` does so with a budget of time, which ends somewhere: it is drawn before, and a trial
takes longer the more it sends, so that neither the clock nor how many cells are undecided is independent of what was
measured. Its end is the last look, at all cells together. `twice` has a second budget after the first. The adversary
ends when the last look would be wrong, which no clock does: it shows what that would cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from testbed.analysis.statistic import FloatArray
from testbed.commands.sequential.budget import SEEDS
from testbed.compare.look import LEAST, CellData, CellLooks, Looks, advance, close
from testbed.compare.pairing import Cell
from testbed.compare.run import TOLERANCE

CELLS, CHANGES, NOISES = 4, (0.0, -0.05, -0.10), (0.03, 0.06, 0.10)
LEVELS, LEVEL_CELLS, LEVEL_NOISE = (0.1, 0.3), (1, 4, 18), 0.001
MANY = 10
TIMES = (
    *((4, 0.0, noise, 0.0) for noise in (0.01, 0.03, 0.06, 0.10)),
    *((MANY, 0.0, noise, 0.0) for noise in (0.03, 0.10)),
    *((cells, 0.0, LEVEL_NOISE, levels) for cells in (1, 4, MANY) for levels in LEVELS),
    *((cells, -0.10, 0.03, 0.0) for cells in (4, MANY)),
    *((cells, -0.30, 0.03, 0.0) for cells in (4, MANY)),
)
"""Cells, the true change of all of them, the sd of the pairs, and how far two levels are apart."""
Pairs = Mapping[int, tuple[FloatArray, FloatArray]]


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
    return looked_at(drawn(chance, cells, change, noise, most, levels), most)


def drawn(
    chance: np.random.Generator, cells: int, change: float, noise: float, most: int = SEEDS, levels: float = 0.0
) -> Pairs:
    drawn = [change + noise * chance.standard_normal(most) for _ in range(cells)]
    usual = np.full((2, most), 100.0) if levels else np.tile(100.0 + np.arange(most), (2, 1))
    bases = [usual * (1 - levels * chance.integers(2, size=(2, most))) if levels else usual for _ in range(cells)]
    return {cell: (base[:1], base[1:] * (1 + each)) for cell, (base, each) in enumerate(zip(bases, drawn, strict=True))}


def looked_at(pairs: Pairs, most: int = SEEDS, rare: float = 1.0) -> Looks:
    """A whole comparison of cells, of which base and candidate are there for so many seeds."""
    places = {Cell("", (("cell", str(number)),)): both for number, both in pairs.items()}
    looks, done = Looks("a", "b", TOLERANCE, ("goodput",), len(places)), dict.fromkeys(places, LEAST)
    while True:
        data = {cell: _seen(places[cell], count, rare) for cell, count in done.items()}
        looks, wanted = advance(looks, data, most)
        if not wanted:
            return looks
        done |= wanted


def in_time(pairs: Pairs, budgets: Sequence[float], most: int = SEEDS, adversary: bool = False) -> Looks:
    """A whole comparison with budgets of time, one after another, beyond the first seeds: a trial of the base's first
    mean takes half a unit. A round that does not fit in what is left, by the trials so far, is made smaller.
    """
    places = {Cell("", (("cell", str(number)),)): both for number, both in pairs.items()}
    usual = float(np.mean([base[0, 0] + other[0, 0] for base, other in pairs.values()]))
    takes = {cell: (base.ravel() + other.ravel()) / usual for cell, (base, other) in places.items()}
    looks, done = Looks("a", "b", TOLERANCE, ("goodput",), len(places)), dict.fromkeys(places, LEAST)
    for budget in budgets:
        left = budget
        while True:
            data = {cell: _seen(places[cell], count, 1.0) for cell, count in done.items()}
            looks, wanted = advance(looks, data, most)
            if not wanted:
                break
            last = close(looks, data)
            if adversary and any(each.verdict in ("better", "worse") for each in last.cells):
                return last
            means = {cell: float(takes[cell][: done[cell]].mean()) for cell in wanted}
            taken = _fitting(wanted, done, means, left)
            if not taken:
                looks = last
                break
            left -= sum(float(takes[cell][done[cell] : count].sum()) for cell, count in taken.items())
            done |= taken
    return looks


def _fitting(
    wanted: Mapping[Cell, int], done: Mapping[Cell, int], means: Mapping[Cell, float], left: float
) -> dict[Cell, int]:
    """The round, or the largest smaller one for which there is time; empty if there is none."""
    for most in range(max(wanted.values()), min(done[cell] for cell in wanted), -1):
        taken = {cell: min(count, most) for cell, count in wanted.items() if done[cell] < most}
        if sum(means[cell] * (count - done[cell]) for cell, count in taken.items()) <= left:
            return taken
    return {}


def in_times(
    cells: int,
    change: float,
    noise: float,
    procedures: int,
    levels: float = 0.0,
    calls: int = 1,
    adversary: bool = False,
) -> Found:
    """Of so many procedures whose time ends anywhere between the first seeds and about half of what all would take."""
    chance = np.random.default_rng(1)
    found = []
    for _ in range(procedures):
        budgets = [cells * SEEDS * 0.5 * chance.uniform() ** 2 for _ in range(calls)]
        found.append(in_time(drawn(chance, cells, change, noise, levels=levels), budgets, adversary=adversary).cells)
    return _found(found, change)


def _seen(both: tuple[FloatArray, FloatArray], count: int, rare: float) -> CellData:
    base, candidate = (each.ravel() for each in both)
    known = {seed: (float(base[seed]), float(candidate[seed])) for seed in range(count)}
    return CellData(count, LEAST, {"goodput": known}, rare=rare)


def simulated(cells: int, change: float, noise: float, procedures: int, seed: int = 1, levels: float = 0.0) -> Found:
    """Of so many procedures, in each cell of which the candidate differs by `change`, a share of the base."""
    chance = np.random.default_rng(seed)
    return _found([procedure(chance, cells, change, noise, levels=levels).cells for _ in range(procedures)], change)


def _found(found: Sequence[tuple[CellLooks, ...]], change: float) -> Found:
    procedures = len(found)
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


def time_lines(procedures: int) -> Iterator[str]:
    yield "| true change | noise | cells | any wrong verdict | twice | adversary | right | undecided | mean seeds |"
    yield "|---" * 9 + "|"
    for cells, change, noise, levels in TIMES:
        found = in_times(cells, change, noise, procedures, levels)
        said = f"{100 * change:+g} %" if change else "none"
        kind = f"levels {100 * levels:g} % apart" if levels else f"sd {100 * noise:g} %"
        others = [in_times(cells, change, noise, procedures, levels, 2).wrong]
        others += [] if change else [in_times(cells, change, noise, procedures, levels, adversary=True).wrong]
        texts = [f"{100 * each:.1f} %" for each in (found.wrong, *others)] + ["-"] * (2 - len(others))
        rest = f"{100 * found.right:.1f} % | {100 * found.undecided:.1f} % | {found.seeds:.1f}"
        yield f"| {said} | {kind} | {cells} | {' | '.join(texts)} | {rest} |"
