"""How often a metric looks worse over all cells together, over made-up runs: `python -m benchmarks power across`.

A run has so many cells, each with the secondary METRICS, of which the lower value is the better one. Noise is that of
`benchmarks.few`; the base and the candidate are independent, and so are metrics, but a level is a trial's.

The criterion: where nothing changed, any metric looks worse over all cells in at most 1 % of runs, with each noise,
number of cells and of seeds, by three standard errors of so many runs. Of a metric that rose in all cells the lines say
how often it is seen so, and how often by what a cell shows by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from testbed.analysis import paired
from testbed.compare import across

from .few import NULLS, TOLERANCE, Array, normal

METRICS = ("retransmits", "rtt", "rtt-p95", "rtt-p99", "ping-p50", "ping-p95", "fct", "fct-p95")
CELLS, SEEDS = (5, 10, 30), (3, 8)
RISES = ((0.1, 0.1), (0.2, 0.1), (0.3, 0.2), (1.0, 0.2))
"""By how much a metric rises, and the CV of a trial."""


def seen(base: Array, candidate: Array) -> tuple[bool, bool]:
    """Whether any metric looks worse over all cells; and whether one is worse in a cell, or looks so."""
    cells, _, metrics = base.shape
    samples = {
        (METRICS[metric], cell): (base[cell, :, metric], candidate[cell, :, metric])
        for cell, metric in product(range(cells), range(metrics))
    }
    found = paired.compare(
        samples, TOLERANCE, is_more_better=False, is_primary=lambda key: False, kind=lambda key: key[0]
    )
    over = across.look_worse(((each.key[0], each) for each in found), TOLERANCE)
    return bool(over), any("worse" in (each.verdict, each.by_test) for each in found)


def error(name: str, cells: int, seeds: int, runs: int, seed: int = 1) -> float:
    """The share of so many runs in which nothing changed."""
    rng, shape, draw = np.random.default_rng(seed), (cells, seeds, len(METRICS)), NULLS[name]
    return sum(seen(draw(rng, shape), draw(rng, shape))[0] for _ in range(runs)) / runs


def power(rise: float, cv: float, cells: int, seeds: int, runs: int, seed: int = 1) -> tuple[float, float]:
    """The share of so many runs in which a rise of one metric in all cells is seen: over all of them, and in one."""
    rng, shape, draw = np.random.default_rng(seed), (cells, seeds, len(METRICS)), normal(cv)
    factors = np.array([1 + rise, *[1.0] * (len(METRICS) - 1)])
    found = [seen(draw(rng, shape), draw(rng, shape) * factors) for _ in range(runs)]
    return sum(over for over, _ in found) / runs, sum(one for _, one in found) / runs


def lines(runs: int) -> Iterator[str]:
    heads = [f"{cells} cells, {seeds} seeds" for cells, seeds in product(CELLS, SEEDS)]
    yield "| nothing changed | " + " | ".join(heads) + " |"
    yield "|---" * (len(heads) + 1) + "|"
    most = across.ERROR + 3 * math.sqrt(across.ERROR * (1 - across.ERROR) / runs)
    broken = 0
    for name in NULLS:
        rates = [error(name, cells, seeds, runs) for cells, seeds in product(CELLS, SEEDS)]
        broken += sum(each > most for each in rates)
        yield f"| {name} | " + " | ".join(f"{100 * each:.1f} %" for each in rates) + " |"
    yield f"\n{broken} shares are above {100 * most:.1f} %\n"
    yield "| one metric rises in all cells | " + " | ".join(heads) + " |"
    yield "|---" * (len(heads) + 1) + "|"
    for rise, cv in RISES:
        found = [power(rise, cv, cells, seeds, runs) for cells, seeds in product(CELLS, SEEDS)]
        texts = " | ".join(f"{100 * over:.0f} % ({100 * one:.0f} %)" for over, one in found)
        yield f"| {100 * rise:g} %, CV {100 * cv:g} % | {texts} |"
