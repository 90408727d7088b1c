"""Records: frozen values as JSON objects and back, by the types of their fields. Pure, no I/O.

A field is written under its own name, or under the `key` of its metadata, such as `from`; a tuple becomes a list. A
field with a default may be missing in what is read. A field with the metadata ABSENT_IF_EMPTY is not written if it is
None or empty, one with NOT_STORED never. Keys without a field, such as those of a later version, are kept and written
after the fields. Numbers are finite, and 0 or more; by its law a field may be negative (SIGNED), or not 0 (POSITIVE).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar, cast

from .law import Faults, Form, Laws, Walk, is_of

T = TypeVar("T")

ABSENT_IF_EMPTY = MappingProxyType({"absent": True})
NOT_STORED = MappingProxyType({"inside": True})
"""Such a field has a default and takes no part in comparisons, so that what is stored is the same when it is read."""

MOST = 2.0**64
"""No number is as large: counters of the kernel have 64 bits. What is larger could not be squared either."""

UNKNOWN = "_unknown"
"""The attribute of a record that was read with keys for which it has no field: these keys. It takes no part in
comparisons, and a changed copy does not have it.
"""


class RecordError(ValueError):
    """The faults of JSON that should be a record, each with its position, such as `flows[0].port`."""

    def __init__(self, faults: Faults) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


def write(value: Any) -> Any:
    """A record, or the value of a field, as json.dumps takes it; fields in their order."""
    if is_dataclass(value):
        kind: Any = type(value)
        return {
            key: write(content)
            for key, each in _keys(kind)
            if not (_is_empty(content := getattr(value, each.name)) and each.metadata.get("absent"))
        } | getattr(value, UNKNOWN, {})
    if isinstance(value, Mapping):
        return {key: write(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [write(each) for each in value]
    return value


def read(kind: type[T], data: object) -> T:
    """The record that JSON holds. Numbers stay as they are written: a 1 in place of a float stays an int, so that
    writing it again gives the same text. Raises RecordError with all faults.
    """
    faults: Faults = []
    value = JSON.walk(kind)(data, "", faults)
    if faults:
        raise RecordError(faults)
    return cast(T, value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping | tuple) and not value)


@cache
def _keys(kind: Any) -> tuple[tuple[str, Field[Any]], ...]:
    return tuple(
        (each.metadata.get("key", each.name), each) for each in fields(kind) if not each.metadata.get("inside")
    )


class _Json(Form):
    row, mapping, most = list, dict, MOST

    def record(self, kind: Any, parts: list[tuple[Field[Any], Walk]]) -> Walk:
        walks = {each.name: walk for each, walk in parts}
        members = [(key, each, walks[each.name]) for key, each in _keys(kind)]
        names = {key for key, _, _ in members}

        def walk(value: Any, at: str, faults: Faults) -> Any:
            if not is_of(dict, value, at, faults):
                return None
            known, before = {}, len(faults)
            for key, each, inner in members:
                place = f"{at}.{key}" if at else key
                if key in value:
                    known[each.name] = inner(value[key], place, faults)
                elif each.default is MISSING and each.default_factory is MISSING:
                    faults.append(f"it has no {place}")
            if len(faults) != before:
                return None
            made = kind(**known)
            if unknown := {key: each for key, each in value.items() if key not in names}:
                object.__setattr__(made, UNKNOWN, unknown)
            return made

        return walk

    def unmet(self, number: float, at: str, laws: Laws) -> str | None:
        if isinstance(number, float) and not math.isfinite(number):
            return "; allowed: a finite number"
        if abs(number) >= MOST:
            return "; allowed: less than 2^64"
        if laws.get("positive"):
            return None if number > 0 else "; allowed: above 0"
        return None if number >= 0 or laws.get("signed") else "; allowed: 0 or more"


JSON = _Json()
