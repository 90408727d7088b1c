"""Metrics that programs of `tool: command` say themselves: those that a workload measures. Pure, no I/O."""

from __future__ import annotations

from functools import partial

from ..error import UserError
from ..model.workload import Workload
from ..model.workload.command import GOODPUT, CommandWorkload, Measure
from ..trial.measured import find
from ..trial.result import TrialResult
from ..trial.workload.command import CommandResult
from .metric import METRICS, FlowSamples, Metric

LEAST = {"s": 1e-6, "ratio": 0.0005}
"""A difference that does not matter, by base unit."""


def learn(workload: Workload, where: str = "a scenario") -> tuple[str, ...]:
    """The names of the metrics that this workload measures besides the goodput. Comparisons, results, figures and the
    report have them from now on, as if they had been registered. Raises UserError for a name that exists and has
    another meaning.
    """
    if not isinstance(workload, CommandWorkload):
        return ()
    own = [each for each in workload.measures if each.name != GOODPUT]
    for each in own:
        mine, known = _meaning(metric(each)), _meaning(METRICS.setdefault(each.name, metric(each)))
        if mine != known:
            raise UserError(
                f"{where} measures {each.name} as: {mine}; another scenario or the testbed itself as: {known}; "
                "allowed: one meaning for a name"
            )
    return tuple(each.name for each in own)


def _meaning(metric: Metric) -> str:
    return f"{metric.unit or 'no unit'}, {'more' if metric.is_more_better else 'less'} is better"


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
