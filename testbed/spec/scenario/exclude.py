"""Exclude rules: which combinations of axis values are left out. Pure, no I/O.

A rule is a mapping from axes to one value or a list of values; a cell that matches it in all of them is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...codec.fault import Fault, Path
from ...error import one_of
from ..syntax.document import Document, mapping
from .axis import AxisKey, Change, Names, canonical, members, read_value
from .dimension import Dimension

SHOWN = 20
"""How many values an error lists."""


@dataclass(frozen=True)
class Rule:
    """The canonical texts of the values that a rule names, by axis."""

    texts: Mapping[str, frozenset[str]]

    def covers(self, own: Mapping[str, str]) -> bool:
        """Whether a combination, as the text of each axis, is left out."""
        return all(own.get(key) in texts for key, texts in self.texts.items())


def excluded(changes: Sequence[Change], rules: Sequence[Rule]) -> bool:
    """Whether any rule leaves a combination of one value of each axis out."""
    own = {change.key.text: change.text for change in changes} if rules else {}
    return any(rule.covers(own) for rule in rules)


def rules(
    document: Document, dimensions: Sequence[Dimension], names: Names, *, strict: bool
) -> tuple[list[Rule], list[Fault]]:
    """The rules of a scenario document that can be read, and the faults of the others.

    Not `strict` is for axes that options changed: a rule about what is gone then leaves out nothing.
    """
    unread = unread_axes(document, dimensions)
    found: list[Rule] = []
    faults: list[Fault] = []
    written = mapping(document.data).get("exclude")
    for index, rule in enumerate(written if isinstance(written, list) else ()):
        path: Path = ("exclude", index)
        if not mapping(rule) or unread & set(map(canonical, rule)):
            continue
        texts, wrong = texts_of(rule, path, dimensions, names, strict=strict)
        found.append(Rule(texts))
        faults += wrong
        if strict and not wrong and not _matches(found[-1], dimensions):
            faults.append(Fault(path, "this rule excludes no cell", "values that occur together in a cell"))
    return found, faults


def unread_axes(document: Document, dimensions: Sequence[Dimension]) -> set[str]:
    """The axes that the sweep names and whose values could not be read."""
    named = {axis for text in mapping(mapping(document.data).get("sweep")) for axis in members(text)}
    return named - {key.text for each in dimensions for key in each.keys}


def texts_of(
    choice: Mapping[str, Any], path: Path, dimensions: Sequence[Dimension], names: Names, *, strict: bool
) -> tuple[dict[str, frozenset[str]], list[Fault]]:
    """The canonical texts of the values that a mapping from axes to values names, by axis, and its faults. Not `strict`
    is for axes that options changed: one that is gone has no value, and nothing is a fault.
    """
    keys = {key.text: (key, each.texts(key)) for each in dimensions for key in each.keys}
    wrong: list[Fault] = []
    texts: dict[str, frozenset[str]] = {}
    for axis, data in choice.items():
        if canonical(axis) not in keys:
            wrong += [Fault((*path, axis), f"{axis!r} is not varied", one_of([*keys], axis))] if strict else []
            texts[axis] = frozenset[str]()
            continue
        key, known = keys[canonical(axis)]
        if key.text in texts:
            wrong.append(Fault((*path, axis), f"{key.text} is named twice", "each axis once", named=True))
        texts[key.text], faulty = _texts(key, data, (*path, axis), names, known)
        wrong += faulty if strict else []
    return texts, wrong


def _texts(
    key: AxisKey, data: Any, path: Path, names: Names, known: tuple[str, ...]
) -> tuple[frozenset[str], list[Fault]]:
    """The canonical texts of the values of one axis; one that is not known is a fault."""
    texts: set[str] = set()
    faults = []
    if data == []:
        faults.append(Fault(path, "this is empty", "a value, or a list of values", named=True))
    for position, each in _values(data, path):
        _, text, unread = read_value(key, each, names)
        faults += [fault.under(*position) for fault in unread]
        if not unread and text not in known:
            listed = ", ".join(known[:SHOWN]) + (", …" if len(known) > SHOWN else "")
            faults.append(Fault(position, f"the axis has no {text!r}", listed, named=True))
        texts.add(text)
    return frozenset(texts), faults


def _values(data: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(data, list):
        yield from (((*path, index), each) for index, each in enumerate(data))
    else:
        yield path, data


def _matches(rule: Rule, dimensions: Sequence[Dimension]) -> bool:
    """Whether any cell is left out: dimensions vary independently, so a step of each that fits is enough."""
    return all(any(_fits(rule, step) for step in each.steps) for each in dimensions)


def _fits(rule: Rule, step: Sequence[Change]) -> bool:
    return all(change.text in rule.texts.get(change.key.text, (change.text,)) for change in step)
