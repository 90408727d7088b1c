"""Trials of two sides paired by scenario, cell and seed, and what one side lacks. Pure, no I/O.

What the candidate lacks and the base has is lost. What is missing is never a pass, so nothing is left out in silence:
each trial of either side is in a pair or in a gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ..analysis.series import all_keys, varied_keys
from ..codec.frozen import dataclass
from ..error import UserError
from ..model.scenario import Params
from ..units import counted
from .side import Measured, Missing, Run, Side

GapKind: TypeAlias = Literal["lost", "new", "absent", "spare"]
NEVER, NO_RUN = "there is no such trial", "there is no such run"


@dataclass(frozen=True)
class Cell:
    """A cell of a scenario; `params` None is all of a scenario that a side lacks."""

    scenario: str
    params: Params | None


@dataclass(frozen=True)
class Gap:
    """Trials, or the values of a metric, that a side lacks: lost (the candidate), new (the base), absent (both). Trials
    of a cell with pairs that a side did not need, since its repetitions end when a mean is known, are spare.

    `metric` None is whole trials. `seeds` are those of the gap, `why` says for whole trials what became of them, each
    reason once. `base` and `candidate` count what each side has in the cell. `is_whole`: the cell has no pair at all.
    `is_due`: the base should have what is new, so that nothing shows what became of it.
    """

    kind: GapKind
    cell: Cell
    metric: str | None
    seeds: tuple[int, ...]
    base: int
    candidate: int
    why: tuple[str, ...] = ()
    is_whole: bool = False
    is_due: bool = False

    @property
    def is_undecided(self) -> bool:
        """Whether nothing can be told for want of it: there is no pair, and the base had to have its part."""
        return self.is_whole and (self.kind == "absent" or (self.kind == "new" and self.is_due))


Pair: TypeAlias = tuple[Measured, Measured]


@dataclass(frozen=True)
class Pairing:
    """The pairs of each cell, and the gaps. `asked` is how many seeds of a cell are known on either side."""

    cells: Mapping[Cell, tuple[Pair, ...]]
    asked: Mapping[Cell, int]
    gaps: tuple[Gap, ...]


_Key: TypeAlias = tuple[frozenset[tuple[str, str]], int]


@dataclass(frozen=True)
class _Known:
    """What is known of a side of a scenario: usable trials, what became of the others, and the params of each cell.
    `added` are trials that the scenario does not ask for: those that the other side does not know are no gap.
    """

    usable: Mapping[_Key, Measured]
    unusable: Mapping[_Key, str]
    params: Mapping[frozenset[tuple[str, str]], Params]
    otherwise: str
    added: frozenset[_Key]
    is_open: bool

    def knows(self, key: _Key) -> bool:
        return key in self.usable or key in self.unusable


def pair(base: Side, candidate: Side, apart_from: Sequence[str] = ()) -> Pairing:
    """Pairs trials by scenario, by all parameters but `apart_from`, and by the seed. Invalid trials have no partner.

    Raises UserError if the sides have nothing in common.
    """
    cells: dict[Cell, tuple[Pair, ...]] = {}
    asked: dict[Cell, int] = {}
    gaps: list[Gap] = []
    for scenario in dict.fromkeys([*base.runs, *candidate.runs]):
        sides = [each.runs.get(scenario) for each in (base, candidate)]
        first, second = (_known(run, [*filter(None, sides)], apart_from) for run in sides)
        named = {**second.params, **first.params}
        for params in dict.fromkeys([*first.params, *second.params]):
            cell = Cell(scenario, named[params])
            pairs, missed = _pairs(cell, params, first, second)
            asked[cell] = len(pairs) + sum(len(each.seeds) for each in missed)
            gaps += missed
            if pairs:
                cells[cell] = pairs
        gaps += _unknown(scenario, *sides)
    _refuse_strangers(base, candidate, cells, gaps)
    return Pairing(cells, asked, tuple(gaps))


def _pairs(
    cell: Cell, params: frozenset[tuple[str, str]], first: _Known, second: _Known
) -> tuple[tuple[Pair, ...], list[Gap]]:
    keys = [*first.usable, *first.unusable, *second.usable, *second.unusable]
    alone = {key for one, other in ((first, second), (second, first)) for key in one.added if not other.knows(key)}
    seeds = list(dict.fromkeys(seed for each, seed in keys if each == params and (each, seed) not in alone))
    groups: dict[tuple[bool, bool], list[int]] = {}
    for seed in seeds:
        groups.setdefault(((params, seed) in first.usable, (params, seed) in second.usable), []).append(seed)
    both = groups.get((True, True), [])
    pairs = tuple((first.usable[params, seed], second.usable[params, seed]) for seed in both)
    kinds: tuple[tuple[GapKind, tuple[bool, bool], _Known], ...] = (
        ("lost", (True, False), second),
        ("new", (False, True), first),
        ("absent", (False, False), second),
    )
    of_base, of_candidate = (sum(len(group) for has, group in groups.items() if has[side]) for side in (0, 1))
    gaps = []
    for kind, has, lacking in kinds:
        missed = groups.get(has, [])
        spare = [seed for seed in missed if pairs and lacking.is_open and (params, seed) not in lacking.unusable]
        if spare and kind != "absent":
            gaps.append(Gap("spare", cell, None, tuple(spare), of_base, of_candidate))
            missed = [seed for seed in missed if seed not in spare]
        if missed:
            why = dict.fromkeys(lacking.unusable.get((params, seed), lacking.otherwise) for seed in missed)
            is_due = bool({*why} - {NEVER, NO_RUN})
            gaps.append(Gap(kind, cell, None, tuple(missed), of_base, of_candidate, tuple(why), not pairs, is_due))
    return pairs, gaps


def _known(run: Run | None, both: Sequence[Run], apart_from: Sequence[str]) -> _Known:
    usable: dict[_Key, Measured] = {}
    unusable: dict[_Key, str] = {}
    cells: dict[frozenset[tuple[str, str]], Params] = {}
    placed = {each.result.id: (each.result.params, each.result.seed) for one in both for each in one.trials}
    placed |= {
        each.id: (each.params, each.seed)
        for one in both
        for each in one.missing
        if each.params is not None and each.seed is not None
    }

    def key(params: Mapping[str, str], seed: int) -> _Key:
        cell = tuple((name, text) for name, text in params.items() if name not in apart_from)
        cells.setdefault(frozenset(cell), cell)
        return frozenset(cell), seed

    for each in run.trials if run else ():
        at = key(each.result.params, each.result.seed)
        if each.result.verdict == "invalid":
            unusable[at] = "invalid"
        else:
            usable[at] = each
    for lacking in run.missing if run else ():
        if lacking.id in placed:
            at = key(*placed[lacking.id])
            if at not in usable:
                unusable[at] = lacking.why
    added = frozenset(key(*placed[id]) for id in (run.added if run else ()) if id in placed)
    return _Known(usable, unusable, cells, NEVER if run else NO_RUN, added, bool(run and run.is_open))


def _unknown(scenario: str, *sides: Run | None) -> list[Gap]:
    """Trials without a result on either side, of which nothing is known but the name."""
    known = {each.result.id for run in sides if run for each in run.trials}
    missing: dict[str, Missing] = {each.id: each for run in sides if run for each in run.missing}
    lost = [each for id, each in missing.items() if id not in known and each.params is None]
    names = {_cell_name(id) for id in known}
    gaps = []
    for is_whole in (False, True):
        mine = [each for each in lost if (_cell_name(each.id) not in names) == is_whole]
        if mine:
            why = tuple(dict.fromkeys(f"{each.id}: {each.why}" for each in mine))
            gaps.append(Gap("absent", Cell(scenario, None), None, (0,) * len(mine), 0, 0, why, is_whole))
    return gaps


def _cell_name(id: str) -> str:
    """A trial's name without its seed, which is the same for all trials of a cell; a hashed name is of no cell."""
    return id.rpartition("seed=")[0] or id


def _refuse_strangers(base: Side, candidate: Side, cells: Mapping[Cell, object], gaps: Sequence[Gap]) -> None:
    """Raises UserError for a base without a usable trial, and for sides that measured different things."""
    usable = [[each for each in side.trials if each.result.verdict != "invalid"] for side in (base, candidate)]
    if not usable[0]:
        raise UserError(
            f"nothing to compare: {base.name} has no usable trial ({_about(base)}); allowed: a run with results"
        )
    is_stranger = bool(usable[1]) and all({NEVER, NO_RUN} & {*gap.why} for gap in gaps if gap.kind == "lost")
    if not cells and is_stranger:
        raise UserError(
            f"nothing to compare: no trial of {base.name} has the parameters and the seed of one of {candidate.name} "
            f"({_about(base)}; {_about(candidate)}); allowed: two runs of the same scenario"
        )


def _about(side: Side) -> str:
    results = [each.result for each in side.trials]
    keys = varied_keys(results) or all_keys(results)
    seeds = sorted({each.seed for each in results})
    return (
        f"{counted(len(results), 'trial')} over {', '.join(keys) or 'no axis'} with seeds {seeds[0]}–{seeds[-1]}"
        if results
        else "no trials"
    )
