"""looks.json: the looks that sequential comparisons made at a run. Reads and writes that file in the candidate's
folder.

A comparison is known again by the results that its first look saw on both sides, not by names of folders: measured
anew, they are other data, and the looks begin anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from ..analysis.metric import METRICS
from ..codec.frozen import dataclass
from ..compare.look import FEWEST, UNDECIDED, VERDICTS, Look, Looks
from ..compare.side import Side
from ..error import UserError
from ..spec.syntax import input_file
from ..sweep.run_file import LOOKS
from ..trial import record, strict_folder
from ..trial.folder import RESULT, read_json, replace_json, unwritable

NAME = LOOKS
SCHEMA = 1


@dataclass(frozen=True)
class Seen:
    """The trials of a side at the first look, as folders below the side's, and a hash of their results."""

    trials: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, folder: Path, side: Side) -> Seen:
        trials = tuple(
            str(Path(scenario, "trials", each.result.id)) for scenario, run in side.runs.items() for each in run.trials
        )
        return cls(trials, _digest(folder, trials) or "")

    def is_in(self, folder: Path) -> bool:
        """Whether the same results are in this folder."""
        return _digest(folder, self.trials) == self.digest


@dataclass(frozen=True)
class Comparison:
    """A comparison and what it saw first."""

    base_seen: Seen
    candidate_seen: Seen
    looks: Looks

    @property
    def question(self) -> tuple[object, ...]:
        """What makes it another comparison."""
        return self.base_seen, self.candidate_seen, self.looks.metrics


@dataclass(frozen=True)
class _File:
    schema: int
    comparisons: tuple[Comparison, ...] = ()


def find(
    base: Path, candidate: Path, sides: tuple[Side, Side], metrics: Sequence[str] | None = None
) -> Comparison | None:
    """The comparison of these sides that has begun; None if none has. With `metrics`, one in which these decide.

    Raises UserError for a file that cannot be read.
    """
    ids = [{each.result.id for each in side.trials} for side in sides]
    for each in _read(candidate).comparisons:
        seen = ((each.base_seen, base, ids[0]), (each.candidate_seen, candidate, ids[1]))
        is_of_sides = all({Path(name).name for name in one.trials} <= known for one, _, known in seen)
        is_wanted = metrics is None or set(metrics) == set(each.looks.metrics)
        if is_wanted and is_of_sides and all(one.is_in(folder) for one, folder, _ in seen):
            return each
    return None


def write(candidate: Path, comparison: Comparison) -> None:
    """Puts it in place of what the file has of this comparison. Raises UserError if it cannot be written."""
    file = _read(candidate)
    others = tuple(each for each in file.comparisons if each.question != comparison.question)
    try:
        replace_json(candidate / NAME, record.write(_File(SCHEMA, (*others, comparison))))
    except OSError as error:
        raise unwritable(candidate, error) from None


def _read(folder: Path) -> _File:
    path = folder / NAME
    if not path.exists():
        return _File(SCHEMA)
    data: dict[str, Any] = read_json(path)
    if data.get("schema") != SCHEMA:
        raise UserError(f"{path} has schema version {data.get('schema')}; allowed: {SCHEMA}")
    try:
        found = record.read(_File, data)
        faults = [fault for number, each in enumerate(found.comparisons) for fault in _faults(each.looks, number)]
        if faults:
            raise record.RecordError(faults)
    except record.RecordError as error:
        anew = f"without it the comparison begins anew, and so does its error: rm {quote(str(path))}"
        raise UserError(f"{path} is damaged: {error}; {anew}") from None
    return found


def _faults(looks: Looks, number: int) -> Iterator[str]:
    """What no comparison writes, each with its place and what is allowed."""
    at, metrics = f"comparisons[{number}].looks", f"allowed: {', '.join(METRICS)}"
    least = max(1, len(looks.cells))
    yield from _unless(0 < looks.level < 1, f"{at}.level", looks.level, "between 0 and 1")
    yield from _unless(looks.tolerance < 1, f"{at}.tolerance", looks.tolerance, "from 0 to below 1")
    yield from _unless(looks.keys >= least, f"{at}.keys", looks.keys, f"{least} or more")
    if not looks.metrics:
        yield f"{at}.metrics is empty; {metrics}"
    for name in looks.metrics:
        if name not in METRICS and name not in looks.ahead:
            yield f"{at}.metrics has {name!r}; {metrics}"
    for place, cell in enumerate(looks.cells):
        yield from _unless(cell.metric in METRICS, f"{at}.cells[{place}].metric", cell.metric, ", ".join(METRICS))
        before = None
        for which, each in enumerate(cell.looks):
            yield from _look_faults(each, before, f"{at}.cells[{place}].looks[{which}]", 1 - looks.level)
            before = each


def _look_faults(each: Look, before: Look | None, at: str, may_err: float) -> Iterator[str]:
    least = 0 if before is None else before.repetitions
    is_after = before is None or before.fraction < each.fraction
    above = f"above {0 if before is None else before.fraction:g}, and below 1"
    yield from _unless(is_after and 0 < each.fraction < 1, f"{at}.fraction", each.fraction, above)
    seen = 0 if before is None else before.pairs + before.is_joint
    is_again = before is not None and each.is_joint and seen <= each.pairs <= each.repetitions
    least += not is_again
    yield from _unless(each.repetitions >= least, f"{at}.repetitions", each.repetitions, f"{least} or more")
    pairs = f"{FEWEST} to {each.repetitions}"
    yield from _unless(FEWEST <= each.pairs <= each.repetitions, f"{at}.pairs", each.pairs, pairs)
    is_error = 0 < each.error <= may_err * (1 + 1e-9)
    yield from _unless(is_error, f"{at}.error", each.error, f"above 0 and at most {may_err:g}")
    yield from _unless(each.spent <= 1, f"{at}.spent", each.spent, "0 to 1")
    yield from _unless(each.p is None or each.p <= 1, f"{at}.p", each.p, "0 to 1")
    yield from _unless(each.verdict in VERDICTS, f"{at}.verdict", each.verdict, ", ".join(VERDICTS))
    if before is not None:
        ended = f"{at.rpartition('[')[0]}[…].verdict"
        yield from _unless(before.verdict == UNDECIDED, ended, before.verdict, f"{UNDECIDED}, before a later look")


def _unless(is_right: bool, at: str, value: object, allowed: str) -> Iterator[str]:
    if not is_right:
        yield f"{at} is {value!r}; allowed: {allowed}"


def _digest(folder: Path, trials: Sequence[str]) -> str | None:
    """None if a result is not there, or cannot be read."""
    text = hashlib.sha256()
    for name in trials:
        parts = Path(name).parts
        if not all(map(strict_folder.is_name, parts)):
            return None
        try:
            text.update(input_file.read(folder / name / RESULT, input_file.RECORD_BYTES, by_link=False))
        except OSError:
            return None
    return text.hexdigest()
