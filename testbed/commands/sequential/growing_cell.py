"""A cell of a comparison that can get more repetitions: what its two sides have, and where. Reads results folders."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ...codec.frozen import dataclass
from ...compare.look import CellData
from ...compare.pairing import Cell
from ...compare.run import apart, exact_cells
from ...compare.side import Measured, Side, rare_of
from ...error import UserError
from ...model.scenario import Params
from ...sweep import extension
from ...sweep.extension import Stem
from ...sweep.store import Store
from ..question import Question, deciding


@dataclass(frozen=True)
class Half:
    """One side of a cell."""

    folder: Path
    stem: Stem

    def missing(self, repetitions: int) -> int:
        """How many trials it lacks for so many repetitions."""
        return len(self._gone(repetitions))

    def lacks_added(self, most: int) -> bool:
        """Whether one of the first `most` trials failed that the scenario does not ask for, which no run of it tries
        again, in a folder that we may write.
        """
        added = Store(self.folder).added
        return any(id in added for id in self._gone(most)) and os.access(self.folder, os.W_OK)

    def _gone(self, repetitions: int) -> list[str]:
        return [each.id for each in self.stem.trials(repetitions) if not (self.folder / "trials" / each.id).exists()]


@dataclass(frozen=True, eq=False)
class GrowingCell:
    """Both sides of a cell, and what they measured."""

    sides: tuple[Half, Half]
    data: CellData

    def missing(self, repetitions: int) -> int:
        """How many trials both sides lack for so many repetitions."""
        return sum(side.missing(repetitions) for side in self.sides)


def cells(question: Question, metrics: Sequence[str]) -> dict[Cell, GrowingCell]:
    """Those that have a finished trial on both sides, with these metrics of their trials.

    Raises UserError for folders that cannot be extended.
    """
    sides = question.load(metrics)
    wanted = deciding(*sides, question.metrics)
    paired = question.paired(*sides)
    apart_from = question.axis or apart(*sides)
    exact = exact_cells(paired, sides, apart_from)
    roots = (question.base, question.candidate)
    halves = [_halves(root, side, apart_from) for root, side in zip(roots, sides, strict=True)]
    values = [_values(side, apart_from) for side in sides]
    found = {}
    for cell in paired.asked:
        place = (cell.scenario, frozenset(cell.params or ()))
        if place in halves[0] and place in halves[1]:
            both = (halves[0][place], halves[1][place])
            _refuse_other_numbers(both)
            one, other = (each.get(place, {}) for each in values)
            data = _data(both, one, other, wanted[cell.scenario])
            data = replace(data, rare=rare_of(*sides, cell.scenario), is_exact=cell in exact)
            found[cell] = GrowingCell(both, data)
    return found


_Place: TypeAlias = tuple[str, frozenset[tuple[str, str]]]


def _place(scenario: str, params: Mapping[str, str] | Params, apart_from: Sequence[str]) -> _Place:
    return scenario, frozenset((key, text) for key, text in dict(params).items() if key not in apart_from)


def _halves(root: Path, side: Side, apart_from: Sequence[str]) -> dict[_Place, Half]:
    found = {}
    for scenario, run in side.runs.items():
        mine = {frozenset(each.result.params.items()) for each in run.trials}
        for params, stem in extension.stems(Store(root / scenario)).items():
            if frozenset(params) in mine:
                found[_place(scenario, params, apart_from)] = Half(root / scenario, stem)
    return found


def _values(side: Side, apart_from: Sequence[str]) -> dict[_Place, dict[int, Measured]]:
    """The trials that can be used of each cell, by repetition."""
    found: dict[_Place, dict[int, Measured]] = {}
    for scenario, run in side.runs.items():
        for each in run.trials:
            if each.result.verdict != "invalid":
                found.setdefault(_place(scenario, each.result.params, apart_from), {})[each.result.repetition] = each
    return found


def _data(
    both: tuple[Half, Half], base: Mapping[int, Measured], candidate: Mapping[int, Measured], metrics: Sequence[str]
) -> CellData:
    done = min(half.stem.tried for half in both)
    samples: dict[str, dict[int, tuple[float, float]]] = {}
    lost = set()
    for metric in metrics:
        samples[metric] = {}
        for number, one in base.items():
            first = one.metrics[metric]
            second = candidate[number].metrics[metric] if number in candidate else None
            if first is not None and second is not None:
                samples[metric][number] = (first, second)
            elif first is not None and number < done:
                lost.add(metric)
    return CellData(done, min(half.stem.listed for half in both), samples, frozenset(lost))


def _refuse_other_numbers(both: tuple[Half, Half]) -> None:
    """Repetition i must have the same seed on both sides. Raises UserError."""
    first = [half.stem.trial.seed - half.stem.trial.repetition for half in both]
    if first[0] != first[1]:
        raise UserError(
            f"the seeds of {both[0].folder} begin at {first[0]}, those of {both[1].folder} at {first[1]}; allowed for "
            "runs that are extended: the same seed"
        )
