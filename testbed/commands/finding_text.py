"""Findings of the gate in a few lines: what many trials have in common is said once. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..error import visible
from ..trial.result import TrialResult

NUMBER = re.compile(r"\d+(?:\.\d+)?")
WAY = re.compile(r" (forward|backward)\b")
FLOW = re.compile(r"\bflow (\d+[–,][\d–, ]*\d)")
BYTES = re.compile(r"\b(\d{5,})(?:–(\d{5,}))? bytes")
LONG = re.compile(r"(?<![\d.])\d{5,}(?![\d.])")
VALUES_MAX = 4
"""More values of an axis than that are written as the first, three dots and the last."""
ID_MAX = 50
"""A single trial is named by its id up to this length."""
TIED = "\u00a0"
"""Between the parts of a long number; `text_table.paragraph` keeps them on one line."""
SEVERITY = ("invalid", "suspect", "valid")

Key = tuple[str, str, str, str]


def finding_lines(found: Sequence[TrialResult]) -> list[tuple[str, str]]:
    """(verdict, text) of each group of findings that differ in nothing but the trial, the direction and the numbers:
    the worst first, and of equal ones those of the most trials.
    """
    groups: dict[Key, list[tuple[TrialResult, str, str]]] = {}
    for each in found:
        for finding in each.findings:
            check, text, hint = map(visible, (finding.check, finding.text, finding.hint))
            key = (finding.verdict, check, _pattern(text), _pattern(hint))
            groups.setdefault(key, []).append((each, text, hint))
    ordered = sorted(groups.items(), key=lambda each: (SEVERITY.index(each[0][0]), -len({t.id for t, *_ in each[1]})))
    return [(key[0], _text(key[1], group, found)) for key, group in ordered]


def _pattern(text: str) -> str:
    return NUMBER.sub("#", WAY.sub(" #", text))


def _text(check: str, group: Sequence[tuple[TrialResult, str, str]], found: Sequence[TrialResult]) -> str:
    trials = list({each.id: each for each, *_ in group}.values())
    text, hint = (_readable(_merged(texts)) for texts in ([row[1] for row in group], [row[2] for row in group]))
    return f"{_which(trials, found)}: {check}: {text} ({hint})"


def _merged(texts: Sequence[str]) -> str:
    """One text with ranges in place of the numbers in which they differ, and both directions if they have both."""
    ways = list(dict.fromkeys(" and ".join(WAY.findall(text)) for text in texts))
    plain = [WAY.sub("", text) for text in texts]
    columns = zip(*(NUMBER.findall(text) for text in plain), strict=True)
    ranges = iter([_range(numbers) for numbers in columns])
    found = WAY.findall(texts[0])
    both = iter([" forward and backward" if len(ways) > 1 else f" {way}" for way in found])
    marked = WAY.sub("\0", texts[0])
    numbered = NUMBER.sub(lambda _: next(ranges), marked)
    return re.sub("\0", lambda _: next(both), numbered)


def _readable(text: str) -> str:
    """With units for people: flows 1–8, 12.5 kB, 108 370."""
    text = FLOW.sub(r"flows \1", text)
    text = BYTES.sub(lambda match: "–".join(_size(int(each)) for each in match.groups() if each), text)
    return LONG.sub(lambda match: f"{int(match[0]):,}".replace(",", TIED), text)


def _size(count: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.4g} {unit}"
    raise AssertionError(f"BUG: {count} bytes are few")


def _range(numbers: Iterable[str]) -> str:
    ordered = sorted(set(numbers), key=float)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"


def _which(trials: Sequence[TrialResult], found: Sequence[TrialResult]) -> str:
    """Which trials of all that were found: the id of one; or how many, and the values that set them apart."""
    if len(trials) == 1 and len(trials[0].id) <= ID_MAX:
        return trials[0].id
    if len(trials) == len(found):
        return f"all {len(found)} trials"
    common = [text for key in _values(found) if (text := _apart(key, trials, found))]
    return f"{len(trials)} of {len(found)} trials" + (f" ({'; '.join(common)})" if common else "")


def _apart(key: str, trials: Sequence[TrialResult], found: Sequence[TrialResult]) -> str:
    """The values that the trials have for an axis, if others have others."""
    all_values = _values(found)[key]
    have = [value for value in all_values if value in _values(trials).get(key, [])]
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
