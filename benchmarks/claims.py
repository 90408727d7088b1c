"""What "same" and the other verdicts of `testbed compare` claim, held against made-up suites: `python -m benchmarks
power claims`. Each row says what is claimed; one that does not keep it, by more than three standard errors of so many
runs, says so.

The criteria are older than the rules that are measured, and than all figures:

- rare: 1 trial in 10 of the candidate loses half (−5 % of the mean), in one cell with a CV of 0.1 %. With `rare: 10 %`
  "same" comes out in at most 5 % of comparisons, with any number of seeds and by `--until-decided`. Without the key
  "same" is a claim about means that holds for normal noise, so nothing is claimed here; the rows say what comes out
- just above: a true −3.01 % in a cell of CV 2 % beside 17 of 1 % is "same" in at most 2.5 %
- blind: 23 cells of CV 1 % and one of 30 or 100 %. Of 5 seeds or more, −10 % in one of the quiet cells is found in at
  least 95 %, as by the oracle (100 %); any "worse" elsewhere in at most 5 %. Of 3 seeds nothing is claimed: the noisy
  cell may be on two levels, and two such cells are told apart by chance in 6 %
- levels: trials on two levels and no change, by `--until-decided`: a wrong verdict in at most 5 % of comparisons, for
  levels 10 and 30 % apart, both as likely or one in 5 trials, in all cells or in one, of 4 and of 18 cells
- two seeds: one cell of 18 on two levels 50 % apart, the others of CV 1 %: "worse" in at most 5 %. This is older than
  the question whether −50 % in one cell can be found with two seeds. It cannot: with two pairs, one such cell falls by
  chance in 1/16 = 6.25 % of cases, and what the 17 others do has no part in it
- within: one pair of trials, each made of parts that depend on one another (AR(1) with 0, 0.5 and 0.9, a sawtooth), no
  change, 18 cells, parts that vary by 50 %: "worse" by the variation within the trials in at most 1 % of runs. A drop
  by 79 % where parts vary by 5 % is found in at least 95 %, and nothing is ever "same" or "better" by it
- own tolerance: 192 cells of CV 3 %, no change, 10 seeds, `--tolerance "3 % or 3 sd"`: all cells "same" in at least
  80 % of comparisons; a true difference just above what the row says is "same" in at most 2.5 %
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from testbed.analysis import paired
from testbed.analysis.significance import noise, within
from testbed.commands.sequential.budget import SEEDS

from . import looks

RARE, TOLERANCE = 0.1, 0.03
KEYS = {"no key": 1.0, "rare: 10 %": RARE}


@dataclass(frozen=True)
class Row:
    """A share of so many runs. `most` and `least` are what is claimed of it, None where nothing is."""

    name: str
    share: float
    runs: int
    most: float | None = None
    least: float | None = None

    @property
    def is_kept(self) -> bool:
        """Beyond what chance explains, it is not."""
        return not any(
            claim is not None and sign * (self.share - claim) > 3 * math.sqrt(claim * (1 - claim) / self.runs)
            for claim, sign in ((self.most, 1), (self.least, -1))
        )

    @property
    def text(self) -> str:
        claimed = [f"at most {100 * self.most:g} %"] if self.most is not None else []
        claimed += [f"at least {100 * self.least:g} %"] if self.least is not None else []
        error = 100 * math.sqrt(self.share * (1 - self.share) / self.runs)
        kept = ("yes" if self.is_kept else "NO") if claimed else "-"
        share = f"{100 * self.share:.1f} % ± {error:.1f}"
        return f"| {self.name} | {self.runs} | {share} | {' and '.join(claimed) or 'nothing'} | {kept} |"


Sides = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Base and candidate: a row for each cell, a column for each seed."""


def verdicts(sides: Sides, rare: float = 1.0, sds: float = 0.0) -> list[paired.Verdict]:
    """Of cells of one metric."""
    cells = dict(enumerate(zip(*sides, strict=True)))
    return [each.verdict for each in paired.compare(cells, TOLERANCE, kind=lambda key: 0, rare=rare, sds=sds)]


def normal(chance: np.random.Generator, cv: NDArray[np.float64], seeds: int) -> Sides:
    one, other = 1 + cv[:, None] * chance.normal(size=(2, len(cv), seeds))
    return one, other


def share(runs: int, one: Callable[[np.random.Generator], bool]) -> float:
    chance = np.random.default_rng(1)
    return sum(one(chance) for _ in range(runs)) / runs


def loses_half(chance: np.random.Generator, seeds: int) -> Sides:
    one, other = normal(chance, np.array([0.001]), seeds)
    return one, np.where(chance.random((1, seeds)) < 0.1, 0.5, 1.0) * other


def rare_rows(runs: int) -> Iterator[Row]:
    def one(chance: np.random.Generator, seeds: int, rare: float) -> bool:
        return verdicts(loses_half(chance, seeds), rare=rare) == ["same"]

    def many(chance: np.random.Generator, rare: float) -> bool:
        return looks.looked_at({0: loses_half(chance, SEEDS)}, rare=rare).cells[0].verdict == "same"

    for seeds, (name, rare) in product((3, 5, 10, 29), KEYS.items()):
        found = share(runs, partial(one, seeds=seeds, rare=rare))
        yield Row(f"rare, {seeds} seeds, {name}", found, runs, most=None if rare == 1 else 0.05)
    for name, rare in KEYS.items():
        found = share(runs, partial(many, rare=rare))
        yield Row(f"rare, until decided, {name}", found, runs, most=None if rare == 1 else 0.05)


def above_rows(runs: int) -> Iterator[Row]:
    cv = np.array([0.01] * 17 + [0.02])

    def one(chance: np.random.Generator, seeds: int) -> bool:
        base, candidate = normal(chance, cv, seeds)
        candidate[17] -= 0.0301
        return verdicts((base, candidate))[17] == "same"

    for seeds in (3, 5, 10):
        yield Row(f"just above, {seeds} seeds", share(runs, partial(one, seeds=seeds)), runs, most=0.025)


def blind_rows(runs: int) -> Iterator[Row]:
    def found(chance: np.random.Generator, seeds: int, noisy: float, cells: slice) -> bool:
        base, candidate = normal(chance, np.array([0.01] * 23 + [noisy]), seeds)
        candidate[0] *= 0.9
        return "worse" in verdicts((base, candidate))[cells]

    for seeds, noisy in product((3, 5, 10), (0.3, 1.0)):
        name, one = f"blind, a cell of {100 * noisy:g} %, {seeds} seeds", partial(found, seeds=seeds, noisy=noisy)
        yield Row(f"{name}: found", share(runs, partial(one, cells=slice(1))), runs, least=None if seeds < 5 else 0.95)
        yield Row(f"{name}: worse elsewhere", share(runs, partial(one, cells=slice(1, None))), runs, most=0.05)


def on_levels(chance: np.random.Generator, seeds: int, apart: float, low: float, cv: float = 0.001) -> Sides:
    levels = np.where(chance.random((2, 1, seeds)) < low, 1 - apart, 1.0)
    one, other = levels * (1 + cv * chance.normal(size=(2, 1, seeds)))
    return one, other


def level_rows(runs: int) -> Iterator[Row]:
    def one(chance: np.random.Generator, cells: int, apart: float, low: float, many: int) -> bool:
        drawn = {n: on_levels(chance, SEEDS, apart if n < many else 0.0, low) for n in range(cells)}
        return bool({each.verdict for each in looks.looked_at(drawn).cells} & {"better", "worse"})

    for cells, apart, low in product((4, 18), (0.1, 0.3), (0.5, 0.2)):
        for many in (cells, 1) if (apart, low) == (0.3, 0.5) else (cells,):
            found = share(runs, partial(one, cells=cells, apart=apart, low=low, many=many))
            name = f"levels {100 * apart:g} % apart, {100 * low:g} % low, in {many} of {cells} cells, until decided"
            yield Row(name, found, runs, most=0.05)


def two_seed_rows(runs: int) -> Iterator[Row]:
    def one(chance: np.random.Generator, drop: float) -> bool:
        base, candidate = normal(chance, np.full(18, 0.01), 2)
        if drop:
            candidate[0] *= 1 - drop
        else:
            base[:1], candidate[:1] = on_levels(chance, 2, 0.5, 0.5, cv=0.01)
        return "worse" in verdicts((base, candidate))

    yield Row("two seeds, one of 18 cells on two levels", share(runs, partial(one, drop=0.0)), runs, most=0.05)
    yield Row("two seeds, one of 18 cells at −50 %", share(runs, partial(one, drop=0.5)), runs)


def parts(chance: np.random.Generator, kind: str, cv: float) -> NDArray[np.float64]:
    """A trial of 10 s in tenths of a second."""
    if kind == "sawtooth":
        period, phase = chance.uniform(5, 60), chance.uniform()
        return np.asarray(1 + cv * np.sqrt(3) * (2 * ((np.arange(100) / period + phase) % 1) - 1))
    memory = float(kind)
    drawn = signal.lfilter([math.sqrt(1 - memory**2)], [1, -memory], chance.normal(size=300))[200:]
    return np.asarray(np.maximum(1 + cv * drawn, 0.0))


def within_rows(runs: int) -> Iterator[Row]:
    def one(chance: np.random.Generator, kind: str, drop: float, cv: float, cells: int) -> bool:
        pairs = [(parts(chance, kind, cv), (1 - drop) * parts(chance, kind, cv)) for _ in range(cells)]
        return any(within.p(*each) < within.ERROR / 18 for each in pairs)

    for kind in ("0", "0.5", "0.9", "sawtooth"):
        found = share(runs, partial(one, kind=kind, drop=0.0, cv=0.5, cells=18))
        yield Row(f"within, {kind}, no change, 18 cells", found, runs, most=within.ERROR)
        found = share(runs, partial(one, kind=kind, drop=0.79, cv=0.05, cells=1))
        yield Row(f"within, {kind}, −79 %, one cell of 18", found, runs, least=0.95)


def own_rows(runs: int) -> Iterator[Row]:
    few, seeds = max(runs // 10, 20), 10

    def every(chance: np.random.Generator, sds: float) -> bool:
        return {*verdicts(normal(chance, np.full(192, 0.03), seeds), sds=sds)} == {"same"}

    def above(chance: np.random.Generator) -> bool:
        base, candidate = normal(chance, np.full(5, 0.03), seeds)
        candidate[0] -= 1.001 * max(TOLERANCE * base[0].mean(), 3 * noise.typical([*base])[0])
        return verdicts((base, candidate), sds=3.0)[0] == "same"

    yield Row("192 cells, 10 seeds, 3 %: all the same", share(few, partial(every, sds=0.0)), few)
    yield Row("192 cells, 10 seeds, 3 % or 3 sd: all the same", share(few, partial(every, sds=3.0)), few, least=0.8)
    yield Row("3 % or 3 sd, just above what is said", share(runs, above), runs, most=0.025)


def rows(runs: int) -> Iterator[Row]:
    for part in (rare_rows, above_rows, blind_rows, two_seed_rows, within_rows, own_rows, level_rows):
        yield from part(runs)


def lines(runs: int) -> Iterator[str]:
    yield "| case | runs | share | claimed | kept |"
    yield "|---|---|---|---|---|"
    broken = 0
    for each in rows(runs):
        broken += not each.is_kept
        yield each.text
    yield f"\n{broken} rows do not keep what is claimed"
