"""Records: frozen values as JSON objects and back, by the types of their fields. Pure, no I/O.

A field is written under its own name, or under the `key` of its metadata, such as `from`; a tuple becomes a list. A
field with a default may be missing in what is read. A field with the metadata ABSENT_IF_EMPTY is not written if it is
None or empty. Keys without a field, such as those of a later version, are kept and written after the fields. Numbers
are finite, and 0 or more; a field with the metadata SIGNED may be negative, one with POSITIVE may not be 0.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

Sign: TypeAlias = Literal["any", "0 or more", "above 0"]
Faults: TypeAlias = list[str]
Reader: TypeAlias = Callable[[Any, str, Faults], Any]
"""Takes a JSON value and the name of its position; returns the value as a record's field has it, or adds to the faults.
"""

ABSENT_IF_EMPTY = types.MappingProxyType({"absent": True})
SIGNED = types.MappingProxyType({"sign": "any"})
POSITIVE = types.MappingProxyType({"sign": "above 0"})

MOST = 2.0**64
"""No number is as large: counters of the kernel have 64 bits. What is larger could not be squared either."""

UNKNOWN = "_unknown"
"""The attribute of a record that was read with keys for which it has no field: these keys. It takes no part in
comparisons, and a changed copy does not have it.
"""

_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


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
    hint: Any = kind
    value = _reader(hint)(data, "", faults)
    if faults:
        raise RecordError(faults)
    return cast(T, value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping | tuple) and not value)


@cache
def _keys(kind: Any) -> tuple[tuple[str, Field[Any]], ...]:
    return tuple((each.metadata.get("key", each.name), each) for each in fields(kind))


@cache
def _reader(hint: Any, sign: Sign = "0 or more") -> Reader:
    if hint in (Any, object):
        return lambda value, at, faults: value
    if is_dataclass(hint):
        return _record(cast(type, hint))
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (_reader(part, sign) for part in parts if part is not type(None))
        return lambda value, at, faults: None if value is None else inner(value, at, faults)
    if origin is tuple:
        return _list(_reader(parts[0], sign))
    if origin is Literal:
        return _choice(parts)
    if origin is Mapping:
        return _mapping(_reader(parts[1], sign))
    return _scalar(hint, sign)


def _record(kind: type) -> Reader:
    hints = get_type_hints(kind)
    members = [
        (key, each, _reader(hints[each.name], each.metadata.get("sign", "0 or more"))) for key, each in _keys(kind)
    ]
    names = {key for key, _, _ in members}

    def read(value: Any, at: str, faults: Faults) -> Any:
        if not _is(dict, value, at, faults):
            return None
        known, before = {}, len(faults)
        for key, each, reader in members:
            place = f"{at}.{key}" if at else key
            if key in value:
                known[each.name] = reader(value[key], place, faults)
            elif each.default is MISSING and each.default_factory is MISSING:
                faults.append(f"it has no {place}")
        if len(faults) != before:
            return None
        made = kind(**known)
        if unknown := {key: each for key, each in value.items() if key not in names}:
            object.__setattr__(made, UNKNOWN, unknown)
        return made

    return read


def _list(inner: Reader) -> Reader:
    def read(value: Any, at: str, faults: Faults) -> Any:
        if not _is(list, value, at, faults):
            return ()
        return tuple(inner(each, f"{at}[{number}]", faults) for number, each in enumerate(value))

    return read


def _mapping(inner: Reader) -> Reader:
    def read(value: Any, at: str, faults: Faults) -> Any:
        if not _is(dict, value, at, faults):
            return {}
        return {key: inner(each, f"{at}.{key}", faults) for key, each in value.items()}

    return read


def _choice(allowed: tuple[Any, ...]) -> Reader:
    def read(value: Any, at: str, faults: Faults) -> Any:
        if value not in allowed:
            faults.append(f"{at} is {value!r}; allowed: {', '.join(map(str, allowed))}")
        return value

    return read


def _scalar(kind: type, sign: Sign) -> Reader:
    def read(value: Any, at: str, faults: Faults) -> Any:
        if _is(kind, value, at, faults) and kind in (int, float):
            allowed = _unmet(value, sign)
            faults += [f"{at} is {value!r:.40}; allowed: {allowed}"] if allowed else []
        return value

    return read


def _unmet(number: float, sign: Sign) -> str | None:
    """What a number should be and is not; None if it can be one."""
    if isinstance(number, float) and not math.isfinite(number):
        return "a finite number"
    if abs(number) >= MOST:
        return "less than 2^64"
    is_one = {"any": True, "0 or more": number >= 0, "above 0": number > 0}[sign]
    return None if is_one else sign


def _is(kind: type, value: Any, at: str, faults: Faults) -> bool:
    """Whether a value has a JSON type; true and false are no numbers. Adds to the faults if not."""
    allowed = (int, float) if kind is float else kind
    if isinstance(value, allowed) and (kind is bool or not isinstance(value, bool)):
        return True
    faults.append(f"{at or 'it'} is {value!r:.40}, not {_WORDS[kind]}")
    return False
