"""Dimensions: what a sweep makes of its axes, each by itself or zipped in a group with others. Pure, no I/O.

path.rtt: [1 ms, 10 ms]                          an axis with a list of values
path.rtt: {from: 1 ms, to: 366 ms, points: 8}    an axis with a range
path.rtt+flows: [[1 ms, 1], [100 ms, 4]]         a group: a row is one value of each of its axes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...codec.fault import Fault, Path
from ...codec.frozen import dataclass
from ...error import ValueRefused
from ..syntax.document import Document, mapping
from .axis import AxisKey, Change, Names, axis_key, is_range, members, read_range, read_value

Step = tuple[Change, ...]


@dataclass(frozen=True)
class Dimension:
    """What varies by itself: a step has one value of every axis of a group, or of the one axis there is."""

    keys: tuple[AxisKey, ...]
    steps: tuple[Step, ...]

    @property
    def is_shown(self) -> bool:
        return all(change.shown for step in self.steps for change in step)

    def texts(self, key: AxisKey) -> tuple[str, ...]:
        """The values of one of its axes, each once, in the order of the file."""
        return tuple(self.values(key))

    def values(self, key: AxisKey) -> dict[str, Any]:
        """The same with what each text stands for."""
        return {change.text: change.value for step in self.steps for change in step if change.key == key}


def dimensions(document: Document, names: Names, unshown: frozenset[str]) -> tuple[list[Dimension], list[Fault]]:
    """All of a scenario document that can be read, and the faults of the others.

    `unshown` are the keys of the sweep that stand for a fixed value rather than for an axis.
    """
    found: list[Dimension] = []
    faults: list[Fault] = []
    for text, values in mapping(mapping(document.data).get("sweep")).items():
        path: Path = ("sweep", text)
        keys, unknown = _keys(text, path, names)
        faults += unknown
        if unknown or None in keys:
            continue
        own = tuple(key for key in keys if key is not None)
        faults += _excluded(own, path, [key for each in found for key in each.keys])
        steps, unread = _steps(own, values, path, names, text not in unshown)
        faults += [*unread, *_repeated(steps)]
        found += [Dimension(own, tuple(steps))] if steps else []
    return found, faults


def _keys(text: str, path: Path, names: Names) -> tuple[list[AxisKey | None], list[Fault]]:
    keys: list[AxisKey | None] = []
    faults = []
    for member in members(text):
        try:
            keys.append(axis_key(member, names))
        except ValueRefused as refused:
            faults.append(Fault(path, refused.what, refused.allowed))
    return keys, faults


def _steps(
    keys: tuple[AxisKey, ...], values: Any, path: Path, names: Names, shown: bool
) -> tuple[list[Step], list[Fault]]:
    if len(keys) > 1:
        return _rows(keys, values, path, names, shown)
    key = keys[0]
    if is_range(values):
        read, faults = read_range(values, lambda data: read_value(key, data, names))
        steps: list[Step] = [(Change(key, *each[:2], (*path, n), shown, derived=True),) for n, each in enumerate(read)]
        return ([] if faults else steps), [fault.under(*path) for fault in faults]
    return _read([((key, (*path, n), data),) for n, data in enumerate(_listed(values))], names, shown)


def _rows(
    keys: tuple[AxisKey, ...], values: Any, path: Path, names: Names, shown: bool
) -> tuple[list[Step], list[Fault]]:
    row = f"[{', '.join(key.text for key in keys)}]"
    if isinstance(values, dict):
        return [], [Fault(path, "a group of axes cannot have a range", f"a list of rows, each {row}", named=True)]
    good, faults = [], []
    for n, data in enumerate(_listed(values)):
        if isinstance(data, list) and len(data) == len(keys):
            good.append(tuple((key, (*path, n, column), data[column]) for column, key in enumerate(keys)))
            continue
        what = f"this row has {len(data)} of {len(keys)} values" if isinstance(data, list) else "this is not a row"
        faults.append(Fault((*path, n), what, row, named=True))
    steps, unread = _read(good, names, shown)
    return steps, [*faults, *unread]


def _read(
    rows: Sequence[tuple[tuple[AxisKey, Path, Any], ...]], names: Names, shown: bool
) -> tuple[list[Step], list[Fault]]:
    """The steps of which every value can be read."""
    steps, faults = [], []
    for row in rows:
        step = []
        for key, path, data in row:
            value, text, unread = read_value(key, data, names)
            faults += [fault.under(*path) for fault in unread]
            if not unread and (key.key != "topology" or value is not None):
                step.append(Change(key, value, text, path, shown))
        steps += [tuple(step)] if len(step) == len(row) else []
    return steps, faults


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def _excluded(keys: tuple[AxisKey, ...], path: Path, others: list[AxisKey]) -> Iterator[Fault]:
    for n, key in enumerate(keys):
        for other in (each for each in (*others, *keys[:n]) if each.excludes(key)):
            same = other.text == key.text
            what = f"the axis {key.text} appears twice"
            yield Fault(
                path, what if same else f"the axes {other.text} and {key.text} exclude each other", "one of the two"
            )


def _repeated(steps: Sequence[Step]) -> Iterator[Fault]:
    seen: dict[tuple[str, ...], Step] = {}
    for step in steps:
        texts = tuple(change.text for change in step)
        if seen.setdefault(texts, step) is step:
            continue
        path = step[0].path if len(step) == 1 else step[0].path[:-1]
        if len(step) == 1 and step[0].key.key == "topology":
            yield Fault(path, f"two topologies are named {texts[0]!r}", "a name of its own for each", named=True)
        else:
            what = f"the {'value' if len(step) == 1 else 'row'} {', '.join(texts)!r} appears twice"
            yield Fault(path, what, "each value once" if len(step) == 1 else "each row once", named=True)
