"""The two sides of a comparison: runs by scenario, with their trials and those that they lack. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from ..analysis.series import all_keys
from ..codec.frozen import dataclass
from ..error import UserError, one_of
from ..model.run_setting import PRIMARY
from ..model.scenario import trial_ids
from ..trial.result import TrialResult


@dataclass(frozen=True)
class Measured:
    """A trial to compare. `settings` is its trial.json; `metrics` are in base units, None where there is no value.

    `is_drawn`: something in it may depend on its seed. `parts` is what it brought in each of many parts of the same
    length, in bit/s; empty where that is not known or not asked for.
    """

    result: TrialResult
    settings: Mapping[str, Any]
    metrics: Mapping[str, float | None]
    is_drawn: bool = True
    parts: tuple[float, ...] = ()


@dataclass(frozen=True)
class Missing:
    """A trial of a run without a result, and `why`. `params` and `seed` are None where nothing was stored of it."""

    id: str
    why: str
    params: Mapping[str, str] | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Run:
    """One run of a side: what it measured, what it should have measured and has not; its primary metric, and the share
    of trials that may differ (None: it says none). `added` are the ids of trials that the scenario does not ask for.
    `is_open`: a cell got as many seeds as it needed, so it may have fewer than in another run.
    """

    trials: tuple[Measured, ...]
    missing: tuple[Missing, ...] = ()
    primary: str | None = None
    rare: float | None = None
    added: frozenset[str] = frozenset()
    is_open: bool = False


@dataclass(frozen=True)
class Side:
    """The base or the candidate: its runs by the scenario that a suite has them under; a single run is under ""."""

    name: str
    runs: Mapping[str, Run] = field(default_factory=dict)

    @property
    def trials(self) -> tuple[Measured, ...]:
        return tuple(each for run in self.runs.values() for each in run.trials)


def single(name: str, trials: Sequence[Measured]) -> Side:
    """A side of one run that has all its trials."""
    return Side(name, {"": Run(tuple(trials))})


def primary_of(base: Side, candidate: Side, scenario: str) -> str:
    """The metric that decides about a scenario: what the base says, else what the candidate says, else goodput."""
    runs = [side.runs[scenario] for side in (base, candidate) if scenario in side.runs]
    return next((run.primary for run in runs if run.primary is not None), PRIMARY)


def rare_of(base: Side, candidate: Side, scenario: str) -> float:
    """The largest share of trials that may differ where a cell is the same: the least that a side says, 1 if none."""
    runs = [side.runs[scenario] for side in (base, candidate) if scenario in side.runs]
    return min((run.rare for run in runs if run.rare is not None), default=1.0)


def split(run: Run, axis: str, base: str, candidate: str) -> tuple[Side, Side]:
    """The trials of one run with each of two values of an axis, given in full or by a word that only this value has.

    A grouped axis, "rmem+wmem", has its values joined by commas. A trial that did not run is on the side that its
    parameters or its name tell, on neither if it has a third value, on both if nothing tells. Raises UserError for an
    unknown axis or value.
    """
    keys = axis_keys(run, axis)
    options = (("--base", base), ("--candidate", candidate))
    wanted = [_row(run, keys, written, option) for option, written in options]
    if wanted[0] == wanted[1]:
        raise UserError(
            f"--base and --candidate are both {', '.join(wanted[0])}; allowed: two of {_rows_text(run, keys)}"
        )
    sides = []
    for row, (_, written) in zip(wanted, options, strict=True):
        mine = dict(zip(keys, row, strict=True)).items()
        trials = tuple(each for each in run.trials if mine <= each.result.params.items())
        missing = tuple(each for each in run.missing if _may_have(each, mine))
        sides.append(Side(f"{'+'.join(keys)} {written}", {"": replace(run, trials=trials, missing=missing)}))
    return sides[0], sides[1]


def _may_have(missing: Missing, values: Collection[tuple[str, str]]) -> bool:
    """Whether a trial without a result may have these values: by its parameters, or else by a name in full, such as
    "rtt=10ms,congestion=reno,seed=1".
    """
    if missing.params is not None:
        return all(missing.params.get(key) == text for key, text in values)
    *words, last = (f".{word}" for word in missing.id.split(","))
    names = [f".{name}" for pair in values for name in trial_ids([(pair,)])]
    return not last.startswith(".seed=") or all(any(word.endswith(name) for word in words) for name in names)


def axis_keys(run: Run, axis: str) -> tuple[str, ...]:
    """The parameters that `axis` names: "path.rtt" for "rtt", more for a group. Raises UserError unless it is one."""
    keys = all_keys([each.result for each in run.trials])
    found = []
    for part in (each.strip() for each in axis.split("+")):
        fitting = [key for key in keys if key == part] or [key for key in keys if key.endswith(f".{part}")]
        if len(fitting) != 1:
            allowed = one_of(keys, part, "none, it has no axes")
            raise UserError(f"--axis {axis}: the run has no such axis; allowed: {allowed}")
        found += fitting
    return tuple(found)


def _rows(run: Run, keys: Sequence[str]) -> list[tuple[str, ...]]:
    """The values that the axis has in the run, one for each of its keys."""
    params = [each.result.params for each in run.trials]
    return list(dict.fromkeys(tuple(each[key] for key in keys) for each in params if all(key in each for key in keys)))


def _rows_text(run: Run, keys: Sequence[str]) -> str:
    return (", " if len(keys) == 1 else "; ").join(", ".join(row) for row in _rows(run, keys))


def _row(run: Run, keys: Sequence[str], written: str, option: str) -> tuple[str, ...]:
    rows = _rows(run, keys)
    parts = [written] if len(keys) == 1 else [each.strip() for each in written.split(",")]
    fitting = [row for row in rows if ", ".join(row) == written] or [
        row for row in rows if len(row) == len(parts) and all(map(_is_meant, row, parts))
    ]
    if len(fitting) != 1:
        allowed = one_of([row[0] for row in rows], written) if len(keys) == 1 else _rows_text(run, keys)
        raise UserError(f"{option} {written}: {'+'.join(keys)} has no such value; allowed: {allowed}")
    return fitting[0]


def _is_meant(value: str, wanted: str) -> bool:
    return value == wanted or wanted in re.findall(r"[\w.+-]+", value)
