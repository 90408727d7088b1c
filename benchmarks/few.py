"""What `testbed compare` says of one to eight cells with two to ten seeds, over made-up runs: `python -m benchmarks
power few`.

A run has so many cells, each with a primary metric and another one, which has the share of the error that all others
have together. A trial's value is its level, times 1 plus noise of a known CV. The base and the candidate are
independent, and so are the metrics, but a level is a trial's: both of its metrics are on it.

The criteria are older than the rule that is measured, and than all figures:

- errors: where nothing changed, at most 5 % of runs have any "worse", for each noise of NULLS, each number of cells
  and each number of seeds; with three standard errors of so many runs
- power: of three seeds, a drop by half or by 90 % in one cell is found in 95 % of runs, if the CV is 1 or 3 %. No other
  drop of DROPS is found less often than by the method before, by more than chance
- what two seeds can show is at most what the first criterion leaves: trials on two levels tell four samples apart in
  one direction by a chance of 1/16, which is more than 5 %. So a drop in one cell alone is not found, and one that all
  of several cells have is

The oracle is a two-sided z-test of the pairs' mean difference that knows its sd, at 0.05 over the number of cells; it
asks for an estimate beyond the tolerance too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from testbed.analysis import paired

Array: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = tuple[int, int, int]
"""Cells, seeds, metrics."""
Chance: TypeAlias = np.random.Generator

TOLERANCE, ALPHA, METRICS = 0.03, 0.05, 2
CELLS, SEEDS = (1, 2, 4, 8), (2, 3, 5, 10)
CVS, DROPS = (0.01, 0.03, 0.10), (0.05, 0.10, 0.20, 0.50, 0.90)
FEW_CELLS, FEW_SEEDS = CELLS[:3], SEEDS[:2]


def normal(cv: float | Sequence[float]) -> Callable[[Chance, Shape], Array]:
    """Normal noise: the same CV in all cells, or that of the first cell and that of all others."""

    def draw(rng: Chance, shape: Shape) -> Array:
        cvs = [cv] * shape[0] if isinstance(cv, float) else [cv[0], *[cv[1]] * (shape[0] - 1)]
        return 1 + np.array(cvs)[:, None, None] * rng.normal(size=shape)

    return draw


def levels(low: float, share: float, cv: float, cells: int | None = None) -> Callable[[Chance, Shape], Array]:
    """A share of trials is on the lower level; in so many cells, all if None."""

    def draw(rng: Chance, shape: Shape) -> Array:
        is_low = rng.random((*shape[:2], 1)) < share
        is_low[shape[0] if cells is None else cells :] = False
        return np.asarray(np.where(is_low, low, 1.0) * (1 + cv * rng.normal(size=shape)))

    return draw


NULLS: Mapping[str, Callable[[Chance, Shape], Array]] = {
    "normal, CV 1 %": normal(0.01),
    "normal, CV 10 %": normal(0.1),
    "log-normal, CV 10 %": lambda rng, shape: 1 + 0.1 * (np.exp(0.8 * rng.normal(size=shape)) - 1.377) / 1.304,
    "heavy tails: t, 3 degrees, CV 10 %": lambda rng, shape: 1 + 0.1 * rng.standard_t(3, size=shape) / math.sqrt(3),
    "two levels 30 % apart, CV 0.1 %": levels(0.7, 0.5, 0.001),
    "two levels 10 % apart, CV 0.1 %": levels(0.9, 0.5, 0.001),
    "two levels 73 % apart, CV 1 %": levels(0.27, 0.5, 0.01),
    "one cell on two levels 30 % apart, CV 0.1 %": levels(0.7, 0.5, 0.001, cells=1),
    "two cells on two levels 30 % apart, CV 0.1 %": levels(0.7, 0.5, 0.001, cells=2),
    "one cell of CV 30 %, others of 1 %": normal((0.3, 0.01)),
    "1 trial in 10 loses half, CV 1 %": levels(0.5, 0.1, 0.01),
}


@dataclass(frozen=True)
class Rates:
    """Shares of runs with any "worse", and with any "better" or "worse"."""

    worse: float
    either: float


def verdicts(base: Array, candidate: Array) -> dict[tuple[int, int], paired.Verdict]:
    """By cell and metric; the metric 0 is primary."""
    cells, _, metrics = base.shape
    samples = {
        (cell, metric): (base[cell, :, metric], candidate[cell, :, metric])
        for cell, metric in product(range(cells), range(metrics))
    }
    found = paired.compare(samples, TOLERANCE, is_primary=lambda key: key[1] == 0, kind=lambda key: key[1])
    return {each.key: each.verdict for each in found}


def errors(name: str, cells: int, seeds: int, runs: int, seed: int = 1) -> Rates:
    """Of so many runs in which nothing changed. Both metrics are worse if they fall."""
    rng, shape = np.random.default_rng(seed), (cells, seeds, METRICS)
    draw, words = NULLS[name], {"worse", "better"}
    found = [{*verdicts(draw(rng, shape), draw(rng, shape)).values()} & words for _ in range(runs)]
    return Rates(sum("worse" in each for each in found) / runs, sum(map(bool, found)) / runs)


def power(
    cv: float, drop: float, cells: int, seeds: int, runs: int, *, everywhere: bool = False, seed: int = 1
) -> float:
    """How often a drop of the first cell is found, in one cell or in all of them. Both metrics drop."""
    rng, shape, found = np.random.default_rng(seed), (cells, seeds, METRICS), 0
    for _ in range(runs):
        base, candidate = normal(cv)(rng, shape), normal(cv)(rng, shape)
        candidate[: cells if everywhere else 1] *= 1 - drop
        found += verdicts(base, candidate)[0, 0] == "worse"
    return found / runs


def oracle(cv: float, drop: float, cells: int, seeds: int) -> float:
    se = cv * math.sqrt((1 + (1 - drop) ** 2) / seeds)
    least = max(float(stats.norm.isf(ALPHA / 2 / cells)) * se, TOLERANCE)
    return float(stats.norm.cdf((drop - least) / se))


def lines(runs: int) -> Iterator[str]:
    yield 'Any "worse" (any "better" or "worse") where nothing changed, in percent.\n'
    yield from error_lines(runs)
    yield "\nDrops of one cell that are found, of the same drop in all cells, and by the oracle, in percent.\n"
    yield from power_lines(runs)


def error_lines(runs: int) -> Iterator[str]:
    yield "| noise | cells | " + " | ".join(f"{seeds} seeds" for seeds in SEEDS) + " |"
    yield "|---" * (len(SEEDS) + 2) + "|"
    for name, cells in product(NULLS, CELLS):
        rates = [errors(name, cells, seeds, runs) for seeds in SEEDS]
        texts = " | ".join(f"{100 * each.worse:.1f} ({100 * each.either:.1f})" for each in rates)
        yield f"| {name} | {cells} | {texts} |"


def power_lines(runs: int) -> Iterator[str]:
    columns = [*product(FEW_SEEDS, FEW_CELLS)]
    heads = [f"{seeds} seeds, {cells} cell{'s' if cells > 1 else ''}" for seeds, cells in columns]
    yield f"| CV | drop | {' | '.join(heads)} |"
    yield "|---" * (len(columns) + 2) + "|"
    for cv, drop in product(CVS, DROPS):
        texts = []
        for seeds, cells in columns:
            shares = [power(cv, drop, cells, seeds, runs, everywhere=each) for each in (False, True)[: 1 + (cells > 1)]]
            shares = [*shares, oracle(cv, drop, cells, seeds)]
            texts.append(" / ".join(f"{100 * each:.0f}" for each in shares))
        yield f"| {100 * cv:g} % | −{100 * drop:g} % | {' | '.join(texts)} |"
