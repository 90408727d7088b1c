"""What the looks of a sequential comparison have seen of its two sides. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .look import Looks
from .side import Measured, Run, Side


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
