"""A question to two runs, or to two values of an axis of one run: how to read both sides, and the answer. Reads results
folders.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ..analysis.metric import METRICS
from ..codec.frozen import dataclass
from ..compare import run
from ..compare.look import Looks
from ..compare.pairing import Pairing, pair
from ..compare.run import RunComparison, apart
from ..compare.side import Measured, Run, Side, axis_keys, primary_of, split
from ..error import UserError
from ..sweep import run_file
from . import compared_run, look_file

Load: TypeAlias = Callable[[Sequence[str]], tuple[Side, Side]]
"""Reads both sides, with these metrics of their trials."""


@dataclass(frozen=True)
class Question:
    """What to compare: the folders of both sides, which are one for two values of an axis, whose keys `axis` then has.
    `metrics` were asked for; None leaves it to the scenarios which one decides. `ignored` are settings that may differ.
    `tolerance` and `sds` are those of `compare.look.Terms`.
    """

    base: Path
    candidate: Path
    load: Load
    tolerance: float
    axis: tuple[str, ...] = ()
    metrics: tuple[str, ...] | None = None
    ignored: tuple[str, ...] = ()
    sds: float = 0.0

    def paired(self, base: Side, candidate: Side) -> Pairing:
        return pair(base, candidate, self.axis or apart(base, candidate))


def of_runs(
    base: Path, candidate: Path, tolerance: float, metrics: tuple[str, ...] | None, ignored: Sequence[str] = ()
) -> Question:
    """Two runs, or two folders of runs."""

    def load(names: Sequence[str]) -> tuple[Side, Side]:
        return compared_run.sides(base, candidate, names)

    return Question(base, candidate, load, tolerance, (), metrics, tuple(ignored))


def without(question: Question, scenarios: Collection[str]) -> Question:
    """The question to all other scenarios of two suites."""

    def load(names: Sequence[str]) -> tuple[Side, Side]:
        first, second = (
            replace(side, runs={name: run for name, run in side.runs.items() if name not in scenarios})
            for side in question.load(names)
        )
        return first, second

    return replace(question, load=load) if scenarios else question


def of_values(
    folder: Path, axis: str, values: tuple[str, str], tolerance: float, metrics: tuple[str, ...] | None
) -> Question:
    """Two values of an axis of one run. Raises UserError for an unknown axis, and for a folder of several runs."""
    if not run_file.is_run(folder) and run_file.suite(folder):
        raise UserError(f"{folder} holds several runs; allowed with --axis: the folder of one run")

    def load(names: Sequence[str]) -> tuple[Side, Side]:
        return split(compared_run.run(folder, names), axis, *values)

    return Question(folder, folder, load, tolerance, axis_keys(compared_run.run(folder, ()), axis), metrics)


def deciding(base: Side, candidate: Side, metrics: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    """The metrics that decide about each scenario: the primary one, or all that were asked for if it is not among
    them.
    """
    primary = {scenario: primary_of(base, candidate, scenario) for scenario in {**base.runs, **candidate.runs}}
    return {name: (each,) if metrics is None or each in metrics else tuple(metrics) for name, each in primary.items()}


def answer(question: Question) -> RunComparison:
    """The comparison of all there is; or, if looks have begun, of what they saw.

    Raises UserError if none can be made.
    """
    names = question.metrics or tuple(METRICS)
    sides = question.load(names)
    wanted = deciding(*sides, question.metrics)
    folders, metrics = (question.base, question.candidate), [name for each in wanted.values() for name in each]
    begun = look_file.find(*folders, sides, metrics) or look_file.find(*folders, sides)
    if begun is not None:
        sides = looked_at(*sides, begun.looks)
    return run.compare(
        *sides,
        question.tolerance,
        names,
        axis=question.axis,
        ignored=question.ignored,
        looks=None if begun is None else begun.looks,
        is_named=question.metrics is not None,
        sds=question.sds,
    )


def looked_at(base: Side, candidate: Side, looks: Looks) -> tuple[Side, Side]:
    """Both sides with those trials only that a look has seen, and cells without a look as they are. What the candidate
    lost afterwards stays lost.
    """
    lost = {
        _seed_of(looks, scenario, each.result.params, each.result.seed)
        for scenario, run in candidate.runs.items()
        for each in run.trials
        if each.result.verdict == "invalid" or any(each.metrics.get(name, 0.0) is None for name in looks.metrics)
    }
    gone = {scenario: {each.id for each in run.missing} for scenario, run in candidate.runs.items()}
    lost |= {
        _seed_of(looks, scenario, each.params, each.seed)
        for scenario, run in candidate.runs.items()
        for each in run.missing
        if each.params is not None and each.seed is not None
    }
    lost |= {  # what failed before it could say what it was
        _seed_of(looks, scenario, each.result.params, each.result.seed)
        for scenario, run in base.runs.items()
        for each in run.trials
        if each.result.id in gone.get(scenario, ())
    }

    def is_kept(scenario: str, each: Measured) -> bool:
        last = looks.last(scenario, each.result.params)
        is_seen = last is None or each.result.repetition < last.repetitions
        return is_seen or _seed_of(looks, scenario, each.result.params, each.result.seed) in lost

    def kept(scenario: str, run: Run) -> Run:
        return replace(run, trials=tuple(each for each in run.trials if is_kept(scenario, each)))

    first, second = (
        replace(side, runs={scenario: kept(scenario, run) for scenario, run in side.runs.items()})
        for side in (base, candidate)
    )
    return first, second


def _seed_of(looks: Looks, scenario: str, params: Mapping[str, str], seed: int) -> object:
    """What says that trials of both sides belong together."""
    mine = next((each.params for each in looks.cells if each.is_of(scenario, params)), {})
    return scenario, frozenset(mine.items()), seed
