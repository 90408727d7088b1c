"""A shard: one of several equal shares of a scenario's trials, for computers that know nothing of each other. Pure, no
I/O.

A hash of what a trial is decides about its shard, so that another cell in the scenario moves no trial elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..codec.frozen import dataclass
from ..error import UserError
from ..model.scenario import Scenario, Trial
from ..spec.scenario.trial import trial_data
from . import run_file

COUNT_MAX = 100_000
OF_ONE_TRIAL = ("id", "seed", "repetition")
"""What repetitions of a cell differ in."""


@dataclass(frozen=True, order=True)
class Shard:
    """Share `number` of `count`, from 1. With `by_cell`, all repetitions of a cell are in the same one."""

    count: int
    number: int
    by_cell: bool = False

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def has(self, trial: Trial) -> bool:
        """Whether the trial is in this share."""
        return int(trial_key(trial, by_cell=self.by_cell), 16) % self.count == self.number - 1


def parse(text: str, *, by_cell: bool = False) -> Shard:
    """Reads "3/64". Raises UserError for what is no share."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", text)
    number, count = (int(each) for each in found.groups()) if found else (0, 0)
    if not 1 <= number <= count <= COUNT_MAX:
        raise UserError(f"{text!r} is no shard; allowed: NUMBER/COUNT such as 3/64, from 1/64 to 64/64")
    return Shard(count, number, by_cell)


def trial_key(trial: Trial, *, by_cell: bool = False) -> str:
    """A hash, in hexadecimal, of all that trial.json says; `by_cell`, of what is the same for all its repetitions."""
    said = trial_data(trial)
    return _sha({key: each for key, each in said.items() if not (by_cell and key in OF_ONE_TRIAL)})


def scenario_key(scenario: Scenario) -> str:
    """A hash, in hexadecimal, of all trials that a scenario may have, and of when there are enough."""
    firsts = [trial_key(trial) for trial in scenario.trials() if trial.repetition == 0]
    until = None if scenario.until is None else [str(scenario.until.ci), scenario.until.least, scenario.until.most]
    expected = [run_file.rules_data(scenario.expect)] if scenario.expect else []
    rare = [] if scenario.rare is None else [str(scenario.rare)]
    return _sha([firsts, scenario.repetitions, until, scenario.primary, *expected, *rare])


def share(scenario: Scenario, shard: Shard | None, before: Sequence[str], of: str | None) -> dict[str, Any]:
    """What run.json says of the scenario's identity, and of the shards in the folder. `before` are those of earlier
    runs of the scenario with the key `of`: they count only if that is the same, as a changed one has other trials.
    """
    key = scenario_key(scenario)
    shards = {} if shard is None else {"shards": list(dict.fromkeys((*(before if of == key else ()), str(shard))))}
    return {"key": key} | shards


def in_words(shards: Sequence[str]) -> str:
    """Such as "shard 1/3" or "shards 1/3, 2/3"; empty without any."""
    return f"shard{'s' if len(shards) > 1 else ''} {', '.join(shards)}" if shards else ""


def absent(shards: Iterable[str]) -> list[str]:
    """The shards that are missing beside these, where all have the same count; nothing else can be said."""
    known = sorted({parse(each) for each in shards})
    counts = {each.count for each in known}
    if len(counts) != 1:
        return []
    (count,) = counts
    have = {each.number for each in known}
    return [f"{number}/{count}" for number in range(1, count + 1) if number not in have]


def _sha(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
