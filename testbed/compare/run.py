"""A comparison of two runs: trials paired by parameters and seed, each metric of each cell judged. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..analysis import paired as comparison
from ..analysis.metric import METRICS
from ..analysis.paired import CellComparison, Verdict
from ..analysis.series import all_keys, label, varied_keys
from ..error import UserError, one_of
from ..model.scenario import Params
from ..trial.stored_result import TrialResult

TOLERANCE = 0.03
SUBJECTS = ("kernel", "sysctls", "workload.congestion")
"""Settings of a trial that people compare: two runs may differ in them, and the comparison reports it."""

NOT_SETTINGS = ("id", "params", "seed", "repetition", "limits", "capture")


@dataclass(frozen=True)
class Measured:
    """A trial to compare. `settings` is its trial.json; `metrics` are in base units, None where there is no value."""

    result: TrialResult
    settings: Mapping[str, Any]
    metrics: Mapping[str, float | None]


@dataclass(frozen=True)
class CellKey:
    """A metric of a cell."""

    params: Params
    metric: str


@dataclass(frozen=True)
class Pairing:
    """The pairs of trials of each cell; `left_over` names the trials without a partner, with the reason."""

    cells: Mapping[Params, tuple[tuple[Measured, Measured], ...]]
    left_over: tuple[str, ...]


@dataclass(frozen=True)
class RunComparison:
    """`cells` are in the order of the base, one metric after another; `labels` name each cell by what varies.

    `differences` are the settings in which the sides differ, as text. `without_noise` are the cells in which all seeds
    of the base give the same result, `unmeasured` the metrics for which no pair has a value. `unpaired` are the cells
    of the base for which the candidate has no trial: their verdict is "cannot tell".
    """

    base: str
    candidate: str
    tolerance: float
    cells: tuple[CellComparison[CellKey], ...]
    labels: Mapping[Params, str]
    left_over: tuple[str, ...]
    differences: tuple[str, ...]
    without_noise: tuple[str, ...]
    unmeasured: tuple[str, ...]
    suspect: tuple[str, ...]
    unpaired: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        undecided: list[Verdict] = ["cannot tell"] * len(self.unpaired)
        return comparison.overall([*(each.verdict for each in self.cells), *undecided])


def compare(
    base: Sequence[Measured],
    candidate: Sequence[Measured],
    names: tuple[str, str],
    tolerance: float = TOLERANCE,
    metrics: Sequence[str] | None = None,
    axis: str | None = None,
    ignored: Sequence[str] = (),
) -> RunComparison:
    """Judge each metric of each cell. `axis` is the parameter in which the two sides differ; cells do not have it.

    `ignored` are settings that may differ. Raises UserError if nothing can be paired, or if the sides differ in a
    setting that is neither in `SUBJECTS` nor in `ignored`.
    """
    metrics = tuple(METRICS) if metrics is None else metrics
    apart_from = [axis] if axis else _constant_kernel(base, candidate)
    paired = pair(base, candidate, names, apart_from)
    differences = () if axis else _differences(paired, names, ignored)
    samples: dict[CellKey, tuple[list[float], list[float]]] = {}
    for params, pairs in paired.cells.items():
        for metric in metrics:
            both = [(one.metrics[metric], other.metrics[metric]) for one, other in pairs]
            known = [(a, b) for a, b in both if a is not None and b is not None]
            if known:
                samples[CellKey(params, metric)] = ([a for a, _ in known], [b for _, b in known])
    if not samples:
        raise UserError(f"no pair of trials has a value of {', '.join(metrics)}; allowed: {one_of([*METRICS], '')}")
    cells = comparison.compare(
        samples,
        tolerance,
        is_more_better=lambda key: METRICS[key.metric].is_more_better,
        absolute_tolerance=lambda key: METRICS[key.metric].least,
    )
    labels = _labels([*paired.cells])
    return RunComparison(
        base=names[0],
        candidate=names[1],
        tolerance=tolerance,
        cells=cells,
        labels=labels,
        left_over=paired.left_over,
        differences=differences,
        without_noise=tuple(labels[params] for params in paired.cells if _is_without_noise(params, samples)),
        unmeasured=tuple(name for name in metrics if not any(key.metric == name for key in samples)),
        suspect=tuple(
            each.result.id for side in (base, candidate) for each in side if each.result.verdict == "suspect"
        ),
        unpaired=_unpaired(base, paired, apart_from),
    )


def pair(
    base: Sequence[Measured], candidate: Sequence[Measured], names: tuple[str, str], apart_from: Sequence[str] = ()
) -> Pairing:
    """Pair trials by all parameters but `apart_from`, and by the seed. Invalid trials have no partner.

    Raises UserError if there is no pair.
    """
    left_over = []
    sides: list[dict[tuple[frozenset[tuple[str, str]], int], tuple[Params, Measured]]] = []
    for side, name in zip((base, candidate), names, strict=True):
        by_key = {}
        for each in side:
            if each.result.verdict == "invalid":
                left_over.append(f"{name}: {each.result.id} is invalid")
                continue
            params = tuple((k, v) for k, v in each.result.params.items() if k not in apart_from)
            by_key[frozenset(params), each.result.seed] = (params, each)
        sides.append(by_key)
    first, second = sides
    cells: dict[Params, list[tuple[Measured, Measured]]] = {}
    for key, (params, one) in first.items():
        if key in second:
            cells.setdefault(params, []).append((one, second[key][1]))
    left_over += [
        f"{names[0]}: {each.result.id} has no partner" for key, (_, each) in first.items() if key not in second
    ]
    left_over += [
        f"{names[1]}: {each.result.id} has no partner" for key, (_, each) in second.items() if key not in first
    ]
    if not cells:
        raise UserError(
            f"nothing to compare: no trial of {names[0]} has the parameters and the seed of one of {names[1]} "
            f"({_about(base)}; {_about(candidate)}); allowed: two runs of the same scenario"
        )
    return Pairing({params: tuple(pairs) for params, pairs in cells.items()}, tuple(left_over))


def _unpaired(base: Sequence[Measured], paired: Pairing, apart_from: Sequence[str]) -> tuple[str, ...]:
    known = {frozenset(params) for params in paired.cells}
    cells = (tuple((k, v) for k, v in each.result.params.items() if k not in apart_from) for each in base)
    return tuple(dict.fromkeys(label(params) for params in cells if frozenset(params) not in known))


def split(measured: Sequence[Measured], axis: str, base: str, candidate: str) -> tuple[list[Measured], list[Measured]]:
    """The trials of one run with each of two values of an axis, given in full or by a word that only this value has.

    Raises UserError for an unknown axis or value.
    """
    results = [each.result for each in measured]
    key = _axis_key(results, axis)
    values = list(dict.fromkeys(each.params[key] for each in results if key in each.params))
    first, second = (
        _value(values, wanted, option, key) for wanted, option in ((base, "--base"), (candidate, "--candidate"))
    )
    if first == second:
        raise UserError(f"--base and --candidate are both {first}; allowed: two of {', '.join(values)}")
    sides = [[each for each in measured if each.result.params.get(key) == value] for value in (first, second)]
    return sides[0], sides[1]


def _axis_key(results: Sequence[TrialResult], axis: str) -> str:
    keys = all_keys(results)
    fitting = [key for key in keys if key == axis] or [key for key in keys if key.endswith(f".{axis}")]
    if len(fitting) != 1:
        raise UserError(
            f"--axis {axis}: the run has no such axis; allowed: {one_of(keys, axis) or 'none, it has no axes'}"
        )
    return fitting[0]


def axis_key(measured: Sequence[Measured], axis: str) -> str:
    """The parameter that `axis` names: "path.rtt" for "rtt". Raises UserError if there is none, or several."""
    return _axis_key([each.result for each in measured], axis)


def _value(values: Sequence[str], wanted: str, option: str, key: str) -> str:
    fitting = [each for each in values if each == wanted] or [
        each for each in values if wanted in re.findall(r"[\w.+-]+", each)
    ]
    if len(fitting) != 1:
        raise UserError(f"{option} {wanted}: {key} has no such value; allowed: {one_of(values, wanted)}")
    return fitting[0]


def _constant_kernel(*sides: Sequence[Measured]) -> list[str]:
    """The kernel axis, if each side has a single kernel: then it tells the sides apart, not the cells."""
    values = [{each.result.params.get("kernel") for each in side} for side in sides]
    return ["kernel"] if all(len(kernels) == 1 for kernels in values) else []


def _differences(paired: Pairing, names: tuple[str, str], ignored: Sequence[str]) -> tuple[str, ...]:
    """The settings in which paired trials differ, each once. Raises UserError for one that may not differ."""
    differences: dict[str, tuple[Any, Any]] = {}
    for pairs in paired.cells.values():
        for one, other in pairs:
            for key, values in _setting_differences(one.settings, other.settings).items():
                differences.setdefault(key, values)
    refused = {key: values for key, values in differences.items() if not _is_under(key, (*SUBJECTS, *ignored))}
    if refused:
        listed = "; ".join(_difference(key, values) for key, values in refused.items())
        options = " ".join(f"--ignore {key}" for key in refused)
        raise UserError(
            f"{names[0]} and {names[1]} are not of the same scenario: {listed}; allowed: two runs that differ in "
            f"{', '.join(SUBJECTS)} only, or {options} to compare them all the same"
        )
    return tuple(_difference(key, values) for key, values in differences.items())


def _difference(key: str, values: tuple[Any, Any]) -> str:
    first, second = ("not set" if value is None else str(value) for value in values)
    return f"{key}: {first} → {second}"


def _setting_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    flat = [dict(_flat({**each, "kernel": _kernel(each.get("kernel"))})) for each in (one, other)]
    keys = [key for key in dict.fromkeys([*flat[0], *flat[1]]) if not _is_under(key, NOT_SETTINGS)]
    return {key: (flat[0].get(key), flat[1].get(key)) for key in keys if flat[0].get(key) != flat[1].get(key)}


def _kernel(written: Any) -> str | None:
    """A kernel in one or two words: "lab" for the default kernel, "lab mine" for a named one."""
    return " ".join(*written.items()) if isinstance(written, Mapping) else written


def _flat(value: Mapping[str, Any], under: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, each in value.items():
        rows += _flat(each, f"{under}{key}.") if isinstance(each, Mapping) else [(f"{under}{key}", each)]
    return rows


def _is_under(key: str, parents: Sequence[str]) -> bool:
    return any(key == parent or key.startswith(f"{parent}.") for parent in parents)


_Samples: TypeAlias = Mapping[CellKey, tuple[list[float], list[float]]]


def _is_without_noise(params: Params, samples: _Samples) -> bool:
    """Whether the base has several seeds, and all of them give the same value of every metric."""
    mine = [base for key, (base, _) in samples.items() if key.params == params]
    return any(len(base) > 1 for base in mine) and all(np.ptp(base) == 0 for base in mine)


def _labels(cells: Sequence[Params]) -> dict[Params, str]:
    keys = list(dict.fromkeys(key for params in cells for key, _ in params))
    varied = [key for key in keys if len({dict(params).get(key) for params in cells}) > 1]
    return {params: label(params, varied) for params in cells}


def _about(side: Sequence[Measured]) -> str:
    results = [each.result for each in side]
    keys = varied_keys(results) or all_keys(results)
    seeds = sorted({each.seed for each in results})
    return (
        f"{len(side)} trials over {', '.join(keys) or 'no axis'} with seeds {seeds[0]}–{seeds[-1]}"
        if side
        else "no trials"
    )
