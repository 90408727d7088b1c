"""run.json, the file of a run: where there is one, what it must have, and its `until`. Looks for it, and reads none."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..codec.frozen import dataclass
from ..codec.scalar import CONTROL
from ..error import UserError, visible
from ..model.expectation import Expectation
from ..model.run_setting import Until
from ..trial import record
from ..trial.strict_folder import is_name

NAME = "run.json"
LOOKS = "looks.json"
"""The file beside it with the looks of sequential comparisons, which `commands.look_file` reads."""
LATER = ("since", "between_rtts")
"""Keys of a rule that came later, and are left out where they are empty."""
SHARE = re.compile(r"\d{1,18}(/\d{1,18})?")


@dataclass(frozen=True)
class _About:
    """As far as nobody else checks it."""

    scenario: str
    axes: tuple[str, ...] = ()
    primary: str | None = None
    rare: float | None = None
    expect: tuple[Expectation, ...] = ()


def is_run(folder: Path) -> bool:
    return (folder / NAME).is_file()


def suite(folder: Path) -> tuple[Path, ...]:
    """The runs in a folder, at any depth and behind links; empty if there is none. Raises UserError for a folder that
    cannot be read, for the trials of a run without its run.json, and for a link to a folder that it is in.
    """
    found = []
    for at, folders, files in os.walk(folder, followlinks=True, onerror=_refuse):
        if NAME in files:
            found.append(Path(at))
            folders.clear()
        elif "trials" in folders and not any((Path(at) / "trials").rglob(NAME)):
            raise UserError(
                f"{at} has trials and no {NAME}; allowed: what `testbed run -o` wrote, or a suite without it"
            )
        for name in folders:
            if Path(os.path.realpath(at)).is_relative_to(os.path.realpath(Path(at) / name)):
                raise UserError(f"{Path(at) / name} is a link to a folder that it is in; allowed: a suite without it")
        folders.sort()
    return tuple(found)


def _refuse(error: OSError) -> None:
    raise UserError(f"{error.filename} cannot be read: {error.strerror}; allowed: a folder that can be") from None


def check(about: Mapping[str, Any], path: Path) -> None:
    """Raises UserError, which names the file, unless it is what a run wrote."""
    trials = about.get("trials")
    if not isinstance(trials, list) or not all(isinstance(id, str) and is_name(id) for id in trials):
        raise UserError(f"{path} has no list of trials; allowed: what `testbed run -o` wrote")
    until_of(about.get("until"), path)
    try:
        said = record.read(_About, about)
    except record.RecordError as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if said.rare is not None and not 0 < said.rare < 1:
        raise UserError(f"{path} is damaged: rare is {said.rare:g}; allowed: a share between 0 and 1")
    rules_of(about, path)
    for text in (*trials, said.scenario, *said.axes, said.primary or ""):
        if CONTROL.search(text) is not None:
            raise UserError(f"{path} is damaged: it has a name with a control character: {visible(text)[:200]}")


def rules_of(about: Mapping[str, Any], path: Path) -> tuple[Expectation, ...]:
    """The rules of `expect`. Raises UserError, which names the file, for what `rules_data` did not write."""
    try:
        rules = record.read(_About, about).expect
        for rule in rules:
            _ = rule.between_s, rule.round_trips, rule.event, rule.since_s
            if rule.bound(rule.least) is None and rule.bound(rule.most) is None:
                raise UserError(f"the rule {visible(rule.name)} has no bound")
    except (record.RecordError, UserError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if any(CONTROL.search(text) is not None for text in _texts(json.loads(json.dumps(rules_data(rules))))):
        raise UserError(f"{path} is damaged: its 'expect' has a control character")
    return rules


def _texts(data: Any) -> Iterator[str]:
    """All texts in JSON, but for messages, which may have several lines."""
    if isinstance(data, dict):
        for key, each in data.items():
            yield from (key, *_texts(each)) if key != "message" else ()
    elif isinstance(data, list):
        for each in data:
            yield from _texts(each)
    elif isinstance(data, str):
        yield data


def rules_data(rules: Sequence[Expectation]) -> list[Any]:
    """As JSON; without what a rule does not count from or in, so that runs stay what they were."""
    found = (record.write(rule) for rule in rules)
    return [{key: value for key, value in each.items() if key not in LATER or value} for each in found]


def until_of(written: Any, path: Path) -> Until | None:
    """Raises UserError, which names the file, for what `until_data` did not write."""
    if written is None:
        return None
    try:
        ci, most, least = written["ci"], int(written["max"]), int(written["min"])
        if SHARE.fullmatch(ci) is None or not 0 < least <= most:
            raise ValueError(ci)
        return Until(Fraction(ci), most, least)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise UserError(f"{path} is damaged: its 'until' cannot be read") from None


def until_data(until: Until | None) -> dict[str, Any] | None:
    return None if until is None else {"ci": str(until.ci), "min": until.least, "max": until.most}
