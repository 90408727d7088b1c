"""The repetitions of a cell: when there are enough, and their mean. Pure, no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from typing import Any, Literal, TypeAlias

from ..codec.frozen import dataclass
from ..model.run_setting import Until
from ..trial.result import TrialResult
from ..units import counted, percent

Reason: TypeAlias = Literal["narrow", "most", "failed", "invalid", "no goodput"]

Metrics: TypeAlias = Mapping[str, float | None]
"""Name to value in base units; None if the trial has no value."""

ALL_EQUAL = "all equal"
"""In place of an interval without a width."""

FEWEST = 2
"""An interval needs two trials, even if a scenario asks for fewer."""


@dataclass(frozen=True)
class Stop:
    """Why a cell gets no more repetitions.

    `half_width` is half of the 95 % t interval of its mean goodput, as a share of that mean; None without an interval.
    """

    reason: Reason
    half_width: float | None = None

    def in_words(self, until: Until) -> str:
        """The reason in words."""
        width = "" if self.half_width is None else f"±{percent(self.half_width)}" if self.half_width else ALL_EQUAL
        return {
            "narrow": f"narrow enough ({width})",
            "most": f"{counted(until.most, 'trial')} reached ({width or 'no interval'})",
            "failed": "a trial failed",
            "invalid": "a trial is invalid",
            "no goodput": "a trial has no goodput",
        }[self.reason]


def unfinished(cells: int) -> str:
    """Of cells that are not repeated as often as `until` asks for."""
    return f"{counted(cells, 'cell')} {'needs' if cells == 1 else 'need'} more repetitions (until)"


@dataclass(frozen=True)
class Mean:
    """The mean of a metric over the trials of a cell, with its 95 % t interval, in the metric's base unit; the ends are
    None for fewer than two trials. `half` is half of it. Where no trial is below 0, `low` is not below 0 either. Of
    the values, `never` are only least ones, as what they measure did not happen.
    """

    trials: int
    mean: float
    low: float | None
    high: float | None
    half: float | None = None
    never: int = 0

    @property
    def is_one_case(self) -> bool:
        """Whether several trials all gave the same value: the interval then says nothing. They may be copies of one
        case, or reach the same bound.
        """
        return self.trials > 1 and self.low == self.high

    @property
    def half_width(self) -> float | None:
        """Half of the interval as a share of the mean; 0 where all trials agree, None without an interval."""
        if self.half is None:
            return None
        return self.half / self.mean if self.mean else (0.0 if self.half == 0 else None)


@dataclass(frozen=True)
class CellResult:
    """The combined result of the trials of a cell. Invalid trials are counted, but never averaged. `metrics` has the
    mean of each metric that was asked for, None for one of which no trial has a value.
    """

    params: Mapping[str, str]
    goodput: Mean | None
    verdicts: Mapping[str, int]
    stop: Stop | None
    metrics: Mapping[str, Mean | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: base units, absent is None."""
        goodput, stop = self.goodput, self.stop
        found: dict[str, Any] = {
            "params": dict(self.params),
            "n": goodput.trials if goodput else 0,
            "goodput_mean_bps": goodput.mean if goodput else None,
            "goodput_low_bps": goodput.low if goodput else None,
            "goodput_high_bps": goodput.high if goodput else None,
            "all_equal": goodput.is_one_case if goodput else False,
            "verdicts": dict(self.verdicts),
            "stopped": None if stop is None else {"reason": stop.reason, "half_width": stop.half_width},
        }
        if self.metrics:
            found["metrics"] = {name: None if each is None else _data(each) for name, each in self.metrics.items()}
        return found


def _data(each: Mean) -> dict[str, Any]:
    """For JSON, with `never` only where there is one."""
    return {key: value for key, value in asdict(each).items() if key != "never" or value}


def stop(until: Until, results: Sequence[TrialResult | None]) -> Stop | None:
    """Why a cell gets no more repetitions; None if it needs another one. `results` are all its repetitions so far, in
    order; None stands for one that failed.
    """
    if len(results) < min(until.most, max(FEWEST, until.least)):
        return None
    for each in results:
        if each is None:
            return Stop("failed")
        if each.verdict == "invalid":
            return Stop("invalid")
        if each.goodput_bps is None:
            return Stop("no goodput")
    goodput = mean([each for each in results if each is not None])
    width = goodput.half_width if goodput else None
    if width is not None and width <= until.ci:
        return Stop("narrow", width)
    return Stop("most", width) if len(results) >= until.most else None


def mean(results: Iterable[TrialResult]) -> Mean | None:
    """The mean goodput of the valid and suspect trials that have one; None if there is none."""
    return mean_of([each.usable_goodput_bps for each in results if each.is_usable])


def mean_of(values: Sequence[float]) -> Mean | None:
    """None if there are no values."""
    from ..analysis import statistic  # importing SciPy takes a second, and most commands do not need it
    from ..analysis.metric import AtLeast

    never = sum(isinstance(value, AtLeast) for value in values)
    if not values:
        return None
    if len(values) < FEWEST:
        return Mean(1, float(values[0]), None, None, never=never)
    if len(set(values)) == 1:  # a mean of equal numbers may differ from them in its last digit
        same = float(values[0])
        return Mean(len(values), same, same, same, 0.0, never)
    interval = statistic.t_interval(values)
    shown = interval if min(values) < 0 else statistic.above_zero(interval)
    return Mean(len(values), statistic.mean(values), shown.low, shown.high, (interval.high - interval.low) / 2, never)


def cells(
    results: Iterable[TrialResult], until: Until | None = None, measured: Mapping[str, Metrics] | None = None
) -> list[CellResult]:
    """The result of each cell, in the order in which the cells occur first. `measured` maps the id of a trial to the
    metrics that were asked for.
    """
    groups: dict[tuple[tuple[str, str], ...], list[TrialResult]] = {}
    for each in results:
        groups.setdefault(tuple(each.params.items()), []).append(each)
    return [_cell(dict(params), members, until, measured or {}) for params, members in groups.items()]


def _cell(
    params: Mapping[str, str], members: Sequence[TrialResult], until: Until | None, measured: Mapping[str, Metrics]
) -> CellResult:
    counts = Counter(each.verdict for each in members)
    by_number = {each.repetition: each for each in members}
    missing = sorted(set(range(max(by_number) + 1)) - by_number.keys())
    whole = [by_number.get(number) for number in range(max(by_number) + 1)]
    reason = None if until is None or missing else stop(until, whole)
    known = [measured.get(each.id, {}) for each in members if each.verdict != "invalid"]
    names = dict.fromkeys(name for each in known for name in each)
    means = {name: mean_of([value for each in known if (value := each[name]) is not None]) for name in names}
    return CellResult(params, mean(members), dict(sorted(counts.items())), reason, means)
