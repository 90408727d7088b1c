"""Looks of a sequential comparison: how many repetitions a cell gets next, which error a look may spend, and what it
shows. Pure, no I/O.

A comparison that adds repetitions until it can tell looks at its data again and again, and each look may err. Each look
at a cell spends a part of the error (analysis.significance.sequential); a verdict that was reached stays. A budget that
is used up has not spent all of the error, so that a larger one can follow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from math import ceil
from typing import Protocol, TypeVar, get_args

from ..analysis import paired
from ..analysis.metric import METRICS
from ..analysis.paired import PRIMARY_SHARE, CellComparison, Verdict
from ..analysis.significance import sequential
from ..analysis.significance.noise import PAIRS_MIN
from ..analysis.statistic import LEVEL, Values
from ..codec.frozen import dataclass
from ..model.scenario import Params
from .pairing import Cell

FEWEST = 2
"""A look needs as many pairs."""
LEAST = 3
"""A cell has as many repetitions at its first look."""
GROWTH = 1.5
"""The repetitions of a cell grow by this factor from one look to the next."""
END = 0.9
"""How far along the way to all of its error a comparison is when a budget is used up, of seeds, trials or time; the
next goes as far of the rest.
"""
MOST = 1 - 1e-9
"""It never goes further: what is left of the error then shows nothing."""
UNDECIDED: Verdict = "cannot tell"
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Terms:
    """What does not matter: a share, or so many standard deviations of the base's own trials of the cell, whichever is
    more. `rare` is the share of trials that may differ where a cell is the same, by scenario (1: any); in the `exact`
    cells nothing is random.
    """

    tolerance: float
    sds: float = 0.0
    rare: Mapping[str, float] = field(default_factory=dict)
    exact: frozenset[Cell] = frozenset()

    def rare_of(self, key: Key) -> float:
        return self.rare.get(key.scenario, 1.0)

    def is_exact(self, key: Key) -> bool:
        return Cell(key.scenario, key.params) in self.exact


class Key(Protocol):
    """A metric of a cell."""

    @property
    def scenario(self) -> str: ...

    @property
    def params(self) -> Params: ...

    @property
    def metric(self) -> str: ...


K = TypeVar("K", bound=Key)


@dataclass(frozen=True)
class Look:
    """One look at a metric of a cell: at its first `repetitions`, which gave so many pairs. `fraction` is how far along
    the way to all of its error the cell is, `spent` the share of the error that it has spent, with all earlier looks,
    and `error` what this look may err for all cells together. `p` is adjusted for the number of tests, None without
    one. `is_random` is False if the pairs are copies of one another. `is_joint`: it is the last one of a budget, at all
    cells together, and may see no more than the one before it.
    """

    repetitions: int
    pairs: int
    fraction: float
    spent: float
    error: float
    p: float | None
    verdict: str
    is_random: bool = True
    is_joint: bool = False


@dataclass(frozen=True)
class CellLooks:
    """All looks at a metric of a cell, the first one first."""

    scenario: str
    params: Mapping[str, str]
    metric: str
    looks: tuple[Look, ...] = ()

    @property
    def verdict(self) -> str:
        return self.looks[-1].verdict if self.looks else UNDECIDED

    @property
    def is_ended(self) -> bool:
        """Whether more repetitions change nothing: it is decided, or they are many copies of one another."""
        last = self.looks[-1] if self.looks else None
        return self.verdict != UNDECIDED or (last is not None and not last.is_random and last.pairs >= PAIRS_MIN)

    @property
    def repetitions(self) -> int:
        """How many have been looked at; 0 without a look."""
        return self.looks[-1].repetitions if self.looks else 0

    @property
    def fraction(self) -> float:
        return self.looks[-1].fraction if self.looks else 0.0

    @property
    def spent(self) -> float:
        return self.looks[-1].spent if self.looks else 0.0

    def is_of(self, scenario: str, params: Mapping[str, str]) -> bool:
        """Whether it is of the cell of a trial with these parameters, of which some may not belong to the cell."""
        return self.scenario == scenario and self.params.items() <= params.items()


@dataclass(frozen=True)
class Looks:
    """The looks of one comparison: of the sides `base` and `candidate`, as they were named at the first look. `metrics`
    decide, of which those that are `ahead` are of cells without a trial at the first look; `keys` is how many metrics
    of cells do. `tolerance` and `sds` are those of its terms.
    """

    base: str
    candidate: str
    tolerance: float
    metrics: tuple[str, ...]
    keys: int
    level: float = LEVEL
    cells: tuple[CellLooks, ...] = ()
    sds: float = 0.0
    ahead: tuple[str, ...] = ()

    def of(self, cell: Cell, metric: str) -> CellLooks:
        """Those of a metric of a cell; without a look where there was none yet."""
        new = CellLooks(cell.scenario, dict(cell.params or ()), metric)
        mine = (each for each in self.cells if replace(each, looks=()) == new)
        return next(mine, new)

    def last(self, scenario: str, params: Mapping[str, str]) -> Look | None:
        """The last look at any metric of the cell of such a trial; None if there is none."""
        looks = [each.looks[-1] for each in self.cells if each.looks and each.is_of(scenario, params)]
        return max(looks, key=lambda each: each.repetitions, default=None)

    def tests(self, *, decides: bool) -> float:
        """By how many the error of a look is divided for one test: the `keys` metrics of cells that decide share
        PRIMARY_SHARE of it; all others, of which each cell has fewer than there are metrics, share the rest.
        """
        return self.keys / PRIMARY_SHARE if decides else self.keys * (len(METRICS) - 1) / (1 - PRIMARY_SHARE)

    def with_look(self, cell: CellLooks, new: Look) -> Looks:
        others = tuple(each for each in self.cells if each is not cell)
        return replace(self, cells=(*others, replace(cell, looks=(*cell.looks, new))))


@dataclass(frozen=True)
class CellData:
    """What there is to look at in a cell. `done` is how many repetitions, from the first without a gap, were tried on
    both sides, `listed` how many both runs should have. `samples` has the base's and the candidate's value of each
    repetition that has both, for each metric that decides; `lost` are those of which the candidate lacks a value that
    the base has. `rare` is the share of trials that may differ where it is the same; nothing is random in a cell that
    `is_exact`.
    """

    done: int
    listed: int
    samples: Mapping[str, Mapping[int, tuple[float, float]]]
    lost: frozenset[str] = frozenset()
    rare: float = 1.0
    is_exact: bool = False


def advance(looks: Looks, cells: Mapping[Cell, CellData], most: int) -> tuple[Looks, dict[Cell, int]]:
    """Looks at every metric that is not decided and has the repetitions for it; the looks afterwards, and how many
    repetitions the cells need for their next one. A cell that lost something gets no more. Which looks there are
    depends on nothing but the numbers: not on when a run was interrupted. So each cell is looked at by itself, except
    at the end of the budget: that look is at all cells together, once all that are not decided have its repetitions. If
    time or trials end before, `close` makes it.
    """
    wanted: dict[Cell, int] = {}
    last: set[_Key] = set()
    for place, data in cells.items():
        for metric in data.samples:
            cell = looks.of(place, metric)
            if cell.is_ended or metric in data.lost:
                continue
            least = following(cell.repetitions, most) if cell.looks else max(LEAST, data.listed)
            new = _look(looks, cell, data, most) if data.done >= least else None
            if new is not None and data.done >= most:
                last.add(_Key(place.scenario, place.params or (), metric))
            elif data.done >= least:
                looks = looks if new is None else looks.with_look(cell, new)
                least = following(data.done, most)
            if not looks.of(place, metric).is_ended and data.done < least:
                wanted[place] = max(least, wanted.get(place, 0))
    return (looks if wanted else _with_last(looks, cells, last)), wanted


def close(looks: Looks, cells: Mapping[Cell, CellData]) -> Looks:
    """With the last look of a budget of which time or trials ended before its repetitions: at all cells together, with
    what is left of the error that a budget may spend. It is made at what there is, also where the look before saw as
    much. Whether a look is the last one must not depend on what it shows: here it depends on the clock, and on how many
    cells are undecided. Nothing changes if nothing came since the last look of another budget.
    """
    last = set()
    for place, data in cells.items():
        for metric in data.samples:
            cell = looks.of(place, metric)
            pairs = len(_samples(data, metric, data.done)[0])
            seen = cell.looks[-1] if cell.looks else None
            is_new = seen is None or (pairs > seen.pairs and data.done > seen.repetitions)
            is_new = is_new or (seen is not None and pairs == seen.pairs and not seen.is_joint)
            if is_new and not cell.is_ended and metric not in data.lost and data.done >= LEAST and pairs >= FEWEST:
                last.add(_Key(place.scenario, place.params or (), metric))
    return _with_last(looks, cells, last)


def _look(looks: Looks, cell: CellLooks, data: CellData, most: int) -> Look | None:
    """At this cell by itself. None if it would not see more than the last one, or has no error left to spend."""
    samples = _samples(data, cell.metric, data.done)
    pairs = len(samples[0])
    if pairs < (cell.looks[-1].pairs + 1 if cell.looks else FEWEST):
        return None
    fraction = reached(cell, data.done, most)
    if fraction <= cell.fraction:
        return None
    may_err = sequential.levels([*(each.fraction for each in cell.looks), fraction], looks.level)[-1]
    place = Cell(cell.scenario, ())
    (found,) = judged(looks, {_Key(cell.scenario, (), cell.metric): samples}, _terms(looks, {place: data}), may_err)
    spent = sequential.spent(fraction)
    return Look(data.done, pairs, fraction, spent, may_err, found.p, found.verdict, found.is_random)


def _terms(looks: Looks, cells: Mapping[Cell, CellData]) -> Terms:
    rare = {place.scenario: data.rare for place, data in cells.items()}
    return Terms(looks.tolerance, looks.sds, rare, frozenset(place for place, data in cells.items() if data.is_exact))


def _with_last(looks: Looks, cells: Mapping[Cell, CellData], last: Collection[_Key]) -> Looks:
    """With the last looks that the budget allows, at the cells that are `last`. Those that have spent the same of their
    error are judged together, as a plain comparison does. If nobody has spent more, decided cells take part with what
    their last look saw: so a cell takes part in no more looks than it has error for.
    """
    groups: dict[float, list[_Key]] = {}
    for key in sorted(last, key=lambda key: (key.scenario, key.params, key.metric)):
        groups.setdefault(looks.of(key.cell, key.metric).fraction, []).append(key)
    begun = looks
    for fraction, keys in groups.items():
        family = {key: _samples(cells[key.cell], key.metric, cells[key.cell].done) for key in keys}
        is_first = len(groups) == 1 and all(each.fraction <= fraction for each in begun.cells)
        for place, data in cells.items() if is_first else ():
            for metric in data.samples:
                cell, key = begun.of(place, metric), _Key(place.scenario, place.params or (), metric)
                if cell.looks and key not in family:
                    family[key] = _samples(data, metric, cell.repetitions)
        end = _end(fraction)
        if end > MOST:
            continue
        may_err = (1 - looks.level) * (sequential.spent(end) - sequential.spent(fraction))
        for found in judged(looks, family, _terms(looks, cells), may_err):
            if found.key in keys:
                place, metric = found.key.cell, found.key.metric
                new = Look(
                    *(cells[place].done, found.pairs, end, sequential.spent(end), may_err, found.p, found.verdict),
                    *(found.is_random, True),
                )
                looks = looks.with_look(looks.of(place, metric), new)
    return looks


def _samples(data: CellData, metric: str, repetitions: int) -> tuple[list[float], list[float]]:
    """The base's and the candidate's values of the first repetitions."""
    known = data.samples[metric]
    pairs = [known[number] for number in sorted(known) if number < repetitions]
    return [each for each, _ in pairs], [each for _, each in pairs]


@dataclass(frozen=True)
class _Key:
    scenario: str
    params: Params
    metric: str

    @property
    def cell(self) -> Cell:
        return Cell(self.scenario, self.params)


def following(looked_at: int, most: int) -> int:
    """How many repetitions the look after one at `looked_at` takes; at most `most`."""
    return min(max(LEAST, ceil(looked_at * GROWTH)), most)


def reached(cell: CellLooks, repetitions: int, most: int) -> float:
    """How far along the way to all of its error a cell is after a look at so many repetitions; the budget is `most`.

    It grows with the repetitions, to 0.9 at the first budget's end, to 0.99 at that of a second and larger one, and so
    on; a budget may be changed before its end.
    """
    end, before = _end(cell.fraction), cell.repetitions
    way = 1.0 if repetitions >= most else (repetitions - before) / (most - before)
    return min(cell.fraction + (end - cell.fraction) * way, MOST)


def _end(fraction: float) -> float:
    """How far along the way to all of its error a cell is at the end of a budget that begins there."""
    end = END
    while end < 1 and 1 - fraction < (1 - end) * (1 + 1e-6):
        end += (1 - end) * END
    return end


def judged(
    looks: Looks, samples: Mapping[K, tuple[Values, Values]], terms: Terms, may_err: float, *, decides: bool = True
) -> tuple[CellComparison[K], ...]:
    """Metrics of cells, at a look that may err by `may_err` for all cells together: a difference is significant if its
    p is below that. p is adjusted for these cells, and for their share of all tests of the comparison. "same" needs no
    share, for it claims no difference: its interval has 1 - `may_err`.
    """
    tests = looks.tests(decides=decides) / len(samples)
    return tuple(map(_shown, compared(samples, terms, 1 - may_err, lambda key: True, tests, looks.level)))


def compared(
    samples: Mapping[K, tuple[Values, Values]],
    terms: Terms,
    level: float,
    is_primary: Callable[[K], bool],
    tests: float = 1.0,
    shown: float | None = None,
) -> tuple[CellComparison[K], ...]:
    """Metrics of cells, by the facts of each metric."""
    return paired.compare(
        samples,
        lambda key: terms.tolerance if METRICS[key.metric].is_relative else 0.0,
        is_more_better=lambda key: METRICS[key.metric].is_more_better,
        absolute_tolerance=lambda key: METRICS[key.metric].least,
        level=level,
        is_primary=is_primary,
        kind=lambda key: key.metric,
        sds=lambda key: terms.sds if METRICS[key.metric].is_relative else 0.0,
        rare=terms.rare_of,
        exact=terms.is_exact,
        tests=tests,
        shown=shown,
    )


def _shown(found: CellComparison[K]) -> CellComparison[K]:
    """Without a verdict of what there should be more of, if there is nothing on both sides."""
    is_nothing = METRICS[found.key.metric].is_more_better and found.base == found.candidate == 0
    return replace(found, verdict=UNDECIDED) if is_nothing else found


def of_last(
    looks: Looks, samples: Mapping[K, tuple[Values, Values]], terms: Terms, decides: Callable[[K], bool]
) -> list[CellComparison[K]]:
    """Each metric of each cell by the last look at it, of which `samples` are. One that was not to be decided has that
    look's error too. Nothing is told apart where there was no look yet. A verdict that was reached stays, with its p,
    if the tolerance did.
    """
    made = {key: looks.of(Cell(key.scenario, key.params), key.metric) for key in samples}
    seen = {key: each.looks[-1] for key, each in made.items() if each.looks}
    family = {key: each for key, each in samples.items() if key in seen}
    errors = {each.error for each in seen.values() if each.is_joint}
    joint = {(error, each.key): each for error in errors for each in judged(looks, family, terms, error)}

    def told(key: K) -> CellComparison[K]:
        last = seen.get(key) or looks.last(key.scenario, dict(key.params))
        may_err = last.error if last else 1 - looks.level
        together = joint.get((may_err, key)) if last and last.is_joint and key in seen else None
        alone = judged(looks, {key: samples[key]}, terms, may_err, decides=decides(key))
        found = together or alone[0]
        if last is None:
            return replace(found, verdict=UNDECIDED)
        verdict = next((each for each in VERDICTS if each == made[key].verdict), UNDECIDED)
        is_kept = key in seen and (terms.tolerance, terms.sds) == (looks.tolerance, looks.sds)
        return replace(found, verdict=verdict, p=last.p) if is_kept else found

    return [told(key) for key in samples]
