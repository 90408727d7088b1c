"""Findings of the gate in a few lines: what many trials have in common is said once. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..trial.stored_result import TrialResult

NUMBER = re.compile(r"\d+(?:\.\d+)?")
VALUES_MAX = 4
"""More values of an axis than that are written as the first, three dots and the last."""

Key = tuple[str, str, str, str]


def finding_lines(found: Sequence[TrialResult]) -> list[tuple[str, str]]:
    """(verdict, text) of each group of findings that differ in nothing but the trial and the numbers."""
    groups: dict[Key, list[tuple[TrialResult, str]]] = {}
    for each in found:
        for finding in each.findings:
            pattern = NUMBER.sub("#", finding.text)
            key = (finding.verdict, finding.check, pattern, finding.hint)
            groups.setdefault(key, []).append((each, finding.text))
    return [(key[0], _text(key, group, found)) for key, group in groups.items()]


def _text(key: Key, group: Sequence[tuple[TrialResult, str]], found: Sequence[TrialResult]) -> str:
    _, check, _, hint = key
    trials = list({each.id: each for each, _ in group}.values())
    return f"{_which(trials, found)}: {check}: {_merged([text for _, text in group])} ({hint})"


def _merged(texts: Sequence[str]) -> str:
    """One text with ranges in place of the numbers in which they differ."""
    columns = zip(*(NUMBER.findall(text) for text in texts), strict=True)
    ranges = iter([_range(numbers) for numbers in columns])
    return NUMBER.sub(lambda _: next(ranges), texts[0])


def _range(numbers: Iterable[str]) -> str:
    ordered = sorted(set(numbers), key=float)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"


def _which(trials: Sequence[TrialResult], found: Sequence[TrialResult]) -> str:
    """Which trials of all that were found: the id of one; or how many, and the values that set them apart."""
    if len(trials) == 1:
        return trials[0].id
    if len(trials) == len(found):
        return f"all {len(found)} trials"
    common = [text for key in _values(found) if (text := _apart(key, trials, found))]
    return f"{len(trials)} of {len(found)} trials" + (f" ({'; '.join(common)})" if common else "")


def _apart(key: str, trials: Sequence[TrialResult], found: Sequence[TrialResult]) -> str:
    """The values that the trials have for an axis, if others have others."""
    have, all_values = _values(trials).get(key, []), _values(found)[key]
    if len(have) == len(all_values):
        return ""
    listed = have if len(have) <= VALUES_MAX else [have[0], "…", have[-1]]
    return f"{key.rsplit('.', 1)[-1]} {', '.join(listed)}"


def _values(found: Sequence[TrialResult]) -> Mapping[str, list[str]]:
    """The values of each axis, in the order of the trials."""
    values: dict[str, dict[str, Any]] = {}
    for each in found:
        for key, value in each.params.items():
            values.setdefault(key, {})[value] = None
    return {key: list(those) for key, those in values.items()}
