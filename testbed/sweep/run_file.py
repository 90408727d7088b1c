"""run.json, the file of a run: what it must have, and its `until`. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..error import UserError, visible
from ..model.run_setting import Until
from ..spec.syntax.scalar import CONTROL
from ..trial import record
from ..trial.strict_folder import is_name

NAME = "run.json"
LOOKS = "looks.json"
"""The file beside it with the looks of sequential comparisons, which `commands.look_file` reads."""
SHARE = re.compile(r"\d{1,18}(/\d{1,18})?")


@dataclass(frozen=True)
class _About:
    """As far as nobody else checks it."""

    scenario: str
    axes: tuple[str, ...] = ()
    primary: str | None = None


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
    for text in (*trials, said.scenario, *said.axes, said.primary or ""):
        if CONTROL.search(text) is not None:
            raise UserError(f"{path} is damaged: it has a name with a control character: {visible(text)[:200]}")


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
