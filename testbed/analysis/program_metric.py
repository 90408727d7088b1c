"""Metrics that programs of `tool: command` say themselves: those that a workload measures. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ..error import UserError
from ..model.run_setting import METRIC_UNITS
from ..model.workload import Workload
from ..model.workload.command import GOODPUT, CommandWorkload, Measure
from ..trial.measured import find
from ..trial.result import TrialResult
from ..trial.workload.command import CommandResult
from .metric import METRICS, FlowSamples, Metric

LEAST = {"s": 1e-6, "ratio": 0.0005}
"""A difference that does not matter, by base unit."""


def learn(workload: Workload) -> tuple[str, ...]:
    """The names of the metrics that this workload measures besides the goodput. Comparisons, results, figures and the
    report have them from now on, as if they had been registered, as the scenario says that was learned last;
    those of the testbed itself stay.
    """
    own = _measured(workload)
    for each in own:
        if each.name not in METRIC_UNITS:
            METRICS[each.name] = metric(each)
    return tuple(each.name for each in own)


def learn_all(workloads: Mapping[str, Workload]) -> tuple[str, ...]:
    """The same of several runs, by their folders, that are looked at together. Raises UserError for a name that means
    different things in two of them.
    """
    said: dict[str, tuple[str, str]] = {}
    for where, workload in workloads.items():
        for each in _measured(workload):
            mine = _meaning(each)
            first, known = said.setdefault(each.name, (where, mine))
            if mine != known:
                what = f"{each.name} is {known} in {first}, and {mine} in {where}"
                raise UserError(f"{what}; allowed: runs in which a name means one thing")
    for workload in reversed([*workloads.values()]):  # the first one says in which unit it is shown
        learn(workload)
    return tuple(said)


def _measured(workload: Workload) -> Sequence[Measure]:
    if not isinstance(workload, CommandWorkload):
        return []
    return [each for each in workload.measures if each.name != GOODPUT]


def _meaning(measure: Measure) -> str:
    better = "more" if measure.is_more_better else "less"
    return f"{f'in {measure.base_unit}' if measure.base_unit else 'without a unit'}, {better} is better,"


def metric(measure: Measure) -> Metric:
    """Of all runs of a trial, the mean; None if one of them did not say it."""
    is_share = measure.base_unit == "ratio"
    return Metric(
        name=measure.name,
        what=f"{measure.name}, as the programs say",
        base_unit=measure.base_unit,
        unit=measure.unit,
        scale=1 / measure.scale,
        is_more_better=measure.is_more_better,
        least=LEAST.get(measure.base_unit, 0.0),
        needs_samples=False,
        of=partial(_mean, measure.name),
        is_relative=not is_share,
    )


def _mean(name: str, result: TrialResult, samples: tuple[FlowSamples, ...]) -> float | None:
    found = find(CommandResult, result.measured)
    value = None if found is None else found.values.get(name)
    return None if value is None else value.mean
