"""How often `testbed compare` errs and what it finds, over made-up suites: `python -m benchmarks power`.

A suite is ten scenarios of scenarios/regression: their cells, one primary metric and five others. A trial's value is 1
plus noise of a known sd (its CV). The two sides are independent unless pairs are correlated. The figures are shares of
suites:

- errors: any "worse", or any "better" or "worse", although both sides are draws of the same
- power: a primary cell whose true value drops is called worse, in a suite whose other cells do not change
- oracle: the best test that holds 5 % over as many primary cells and knows the distribution: a two-sided z-test of the
  pairs' mean difference, with its true sd, at 0.05 over the number of primary cells. "Worse" needs an estimate beyond
  the tolerance here too.
- before: the method that this one replaced: a t-test of each cell's pairs, Holm's correction in each scenario on its
  own, and a difference above the noise floor with 2n - 2 degrees of freedom
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from testbed.analysis import paired
from testbed.analysis.metric import METRICS
from testbed.analysis.significance.multiple import holm
from testbed.spec.load import load_scenario

from . import across, claims, few, looks

Array: TypeAlias = NDArray[np.float64]
Key: TypeAlias = tuple[str, int, int]
"""The scenario, its cell, the metric: 0 is the primary one."""

TOLERANCE, ALPHA = 0.03, 0.05
SEEDS, CVS, DROPS = (3, 5, 10), (0.02, 0.10, 0.30), (0.02, 0.05, 0.10, 0.20)
FOLDER = Path(__file__).parents[1] / "scenarios" / "regression"
NAMES = (
    *("bufferbloat", "bulk", "coexistence", "idle", "random-loss", "rate-step", "rtt-unfairness", "shallow-buffer"),
    *("start-stop", "timeout"),
)
"""The scenarios of which the published figures are."""


@dataclass(frozen=True)
class Case:
    """Noise of a suite: unit draws of a shape, times the CV of each cell in turn, with the correlation of the pairs."""

    name: str
    cvs: tuple[float, ...]
    draw: Callable[[np.random.Generator, tuple[int, ...]], Array] = lambda rng, shape: rng.normal(size=shape)
    correlation: float = 0.0


@dataclass(frozen=True)
class Rates:
    """Shares of suites with any "worse", and with any "better" or "worse"."""

    worse: float
    either: float


@cache
def sizes() -> dict[str, int]:
    """How many cells each scenario of the suite has."""
    found = {name: load_scenario(FOLDER / f"{name}.yaml") for name in NAMES}
    return {name: len({trial.params for trial in scenario.trials()}) for name, scenario in found.items()}


@cache
def keys(metrics: int = len(METRICS)) -> tuple[Key, ...]:
    """The cells of the suite for so many metrics."""
    return tuple(
        (name, cell, each) for name, count in sizes().items() for cell in range(count) for each in range(metrics)
    )


def draw(case: Case, rng: np.random.Generator, cells: int, seeds: int) -> tuple[Array, Array]:
    """Base and candidate: a row for each cell, a column for each seed."""
    common, one, other = (case.draw(rng, (cells, seeds)) for _ in range(3))
    shared, alone = math.sqrt(case.correlation), math.sqrt(1 - case.correlation)
    cv = np.resize(case.cvs, cells)[:, None]
    return 1 + cv * (shared * common + alone * one), 1 + cv * (shared * common + alone * other)


def now(cells: Sequence[Key], base: Array, candidate: Array) -> list[paired.Verdict]:
    found = paired.compare(
        dict(zip(cells, zip(base, candidate, strict=True), strict=True)),
        TOLERANCE, is_primary=lambda key: key[2] == 0, kind=lambda key: key[2],
    )  # fmt: skip
    return [each.verdict for each in found]


def before(cells: Sequence[Key], base: Array, candidate: Array) -> list[paired.Verdict]:
    """As it was: written anew, for the old code is gone."""
    difference, n = candidate - base, base.shape[1]
    effect, sd = difference.mean(axis=1), difference.std(axis=1, ddof=1)
    t, mean = stats.t.ppf(1 - ALPHA / 2, n - 1), np.abs(base.mean(axis=1))
    p = 2 * stats.t.sf(np.abs(effect) / (sd / math.sqrt(n)), n - 1)
    adjusted = np.ones(len(cells))
    for name in dict.fromkeys(key[0] for key in cells):
        mine = [index for index, key in enumerate(cells) if key[0] == name]
        adjusted[mine] = holm(p[mine].tolist())
    floor = stats.t.ppf(1 - ALPHA / 2, 2 * n - 2) * base.std(axis=1, ddof=1) * math.sqrt(2 / n)
    is_small = np.abs(effect) + t * sd / math.sqrt(n) <= TOLERANCE * mean
    is_found = (adjusted < ALPHA) & (np.abs(effect) > np.maximum(TOLERANCE * mean, floor))
    words: list[paired.Verdict] = ["worse" if each < 0 else "better" for each in effect]
    return [
        "same" if small else word if found else "cannot tell"
        for small, found, word in zip(is_small, is_found, words, strict=True)
    ]


METHODS = {"before": before, "now": now}


def errors(case: Case, seeds: int, suites: int, seed: int = 1) -> dict[str, Rates]:
    """The errors of each method over so many suites in which nothing changed."""
    rng, cells = np.random.default_rng(seed), keys()
    found: dict[str, list[set[paired.Verdict]]] = {name: [] for name in METHODS}
    for _ in range(suites):
        both = draw(case, rng, len(cells), seeds)
        for name, method in METHODS.items():
            found[name].append(set(method(cells, *both)))
    return {
        name: Rates(
            sum("worse" in each for each in sets) / suites,
            sum("worse" in each or "better" in each for each in sets) / suites,
        )
        for name, sets in found.items()
    }


def power(case: Case, seeds: int, drop: float, suites: int, seed: int = 1) -> dict[str, float]:
    """How often each method, and the oracle, find a drop of the first cell. That of the oracle is exact; those of the
    methods are told from it on the same draws, which takes out most of the chance.

    To be fast, the new method gets one other metric for all: together they have the same share of the error.
    """
    rng, cells = np.random.default_rng(seed), keys()
    primary = sum(key[2] == 0 for key in cells)
    few = [index for index, key in enumerate(cells) if key[2] < 2]
    se = case.cvs[0] * math.sqrt(2 * (1 - case.correlation) / seeds)
    least = max(float(stats.norm.isf(ALPHA / 2 / primary)) * se, TOLERANCE)
    found = dict.fromkeys(METHODS, 0)
    seen = 0
    for _ in range(suites):
        base, candidate = draw(case, rng, len(cells), seeds)
        candidate[0] -= drop
        seen += float((candidate - base)[0].mean()) < -least
        found["before"] += before(cells, base, candidate)[0] == "worse"
        found["now"] += now([cells[index] for index in few], base[few], candidate[few])[0] == "worse"
    oracle = float(stats.norm.cdf((drop - least) / se))
    told = {name: min(max(oracle + (count - seen) / suites, 0.0), 1.0) for name, count in found.items()}
    return {**told, "oracle": oracle}


def normal(cv: float, correlation: float = 0.0) -> Case:
    return Case(f"normal, CV {100 * cv:g} %", (cv,), correlation=correlation)


ALIKE = tuple(normal(cv) for cv in CVS)
OTHERS = (
    Case("log-normal", (0.1,), lambda rng, shape: (np.exp(0.8 * rng.normal(size=shape)) - 1.377) / 1.304),
    Case("heavy tails: t, 3 degrees", (0.1,), lambda rng, shape: rng.standard_t(3, size=shape) / math.sqrt(3)),
    Case("two levels", (0.1,), lambda rng, shape: rng.choice([-1, 1], shape) + 0.02 * rng.normal(size=shape)),
    Case("one in ten far off", (0.1,), lambda rng, shape: 3 * (rng.random(shape) < 0.1) + 0.1 * rng.normal(size=shape)),
    Case("cells of CV 2, 10, 30 %", CVS),
    Case("cells of CV 5 and 10 %", (0.05, 0.1)),
    Case("one cell of 18 with three times the noise", (0.3, *(0.1,) * 17)),
    Case("two levels, cells of CV 2, 10, 30 %", CVS,
         lambda rng, shape: rng.choice([-1, 1], shape) + 0.02 * rng.normal(size=shape)),
    Case("pairs correlated by 0.5", (0.1,), correlation=0.5),
)  # fmt: skip


def error_lines(cases: Sequence[Case], suites: int) -> Iterator[str]:
    yield '| noise | seeds | any "worse", before | now | any "better" or "worse", before | now |'
    yield "|---|---|---|---|---|---|"
    for case, seeds in product(cases, SEEDS):
        found = errors(case, seeds, suites)
        old, new = found["before"], found["now"]
        rates = (old.worse, new.worse, old.either, new.either)
        yield f"| {case.name} | {seeds} | " + " | ".join(f"{100 * rate:.1f} %" for rate in rates) + " |"


def power_lines(suites: int, correlation: float = 0.0) -> Iterator[str]:
    """Each figure as before / now / oracle, in percent."""
    yield "| CV | drop | " + " | ".join(f"{seeds} seeds" for seeds in SEEDS) + " |"
    yield "|---" * (len(SEEDS) + 2) + "|"
    for cv, drop in product(CVS, DROPS):
        cells = [power(normal(cv, correlation), seeds, drop, suites) for seeds in SEEDS]
        texts = [" / ".join(f"{100 * each[name]:.0f}" for name in ("before", "now", "oracle")) for each in cells]
        yield f"| {100 * cv:g} % | {100 * drop:g} % | " + " | ".join(texts) + " |"


PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "errors": lambda suites: error_lines(ALIKE, suites),
    "shapes": lambda suites: error_lines(OTHERS, suites),
    "power": power_lines,
    "pairs": lambda suites: power_lines(suites, correlation=0.9),
    "few": few.lines,
    "claims": claims.lines,
    "until-decided": looks.lines,
    "time": looks.time_lines,
    "across": across.lines,
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks power")
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS) + "; all of them if left out")
    parser.add_argument("--suites", type=int, default=1000, help="made-up suites for each figure (default: 1000)")
    options = parser.parse_args(arguments)
    for part in options.parts or PARTS:
        print(f"\n{part}, of {options.suites} suites each\n", flush=True)
        for line in PARTS[part](options.suites):
            print(line, flush=True)
    return 0
