"""Laws at fields, and the one walk that holds values against them, by the types of the fields. Pure, no I/O.

A field has its laws in its metadata, joined by `|`. So whoever adds a counter says there that it only rises, and every
check that looks at two of its values, one after the other, knows it. What the walk meets is JSON (`record`) or what was
read of a trial (`gate.consistency.ranges`): a form says how values are laid out there, and what a number may be.
"""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

Laws: TypeAlias = Mapping[str, Any]
"""The metadata of a field."""

NONE: Laws = MappingProxyType({})
RISES, SAME, NEVER_ZERO, RAW, SIGNED, POSITIVE, ASKED = (
    MappingProxyType({name: True}) for name in ("rises", "same", "never_zero", "raw", "signed", "positive", "asked")
)
"""From one look to the next it gets no less; stays as it is; where told, it is not 0; is a number as the kernel has it,
with 64 bits and a sign; may be negative; is above 0; is what was asked for, beside what was seen.
"""

Faults: TypeAlias = list[str]
Walk: TypeAlias = Callable[[Any, str, Faults], Any]
"""Takes a value and the name of its place, adds to the faults, and returns the value as a record's field has it."""

WORDS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    Mapping: "a mapping",
    tuple: "a row",
}


@cache
def under(law: str, kind: Any) -> tuple[str, ...]:
    """The fields with a law, in their order."""
    return tuple(each.name for each in fields(kind) if each.metadata.get(law))


def broken_between(one: Any, later: Any) -> Iterator[str]:
    """What differs from one look at something to a later one, and cannot."""
    kind: Any = type(one)
    for each in fields(kind):
        before, after = getattr(one, each.name), getattr(later, each.name)
        is_less = each.metadata.get("rises") and after < before
        if is_less or (each.metadata.get("same") and after != before):
            yield f"{each.name} went from {before} to {after}"


def zeros(value: Any) -> Iterator[str]:
    """The fields that are 0 and cannot be."""
    kind: Any = type(value)
    return (name for name in under("never_zero", kind) if getattr(value, name) == 0)


class Form(ABC):
    """How values are laid out."""

    row: ClassVar[type]
    mapping: ClassVar[Any]
    most: ClassVar[float]
    """A number above 0 and below this meets every law."""

    @abstractmethod
    def record(self, kind: Any, parts: list[tuple[Field[Any], Walk]]) -> Walk:
        """The walk through a record of this kind, whose fields have these."""

    @abstractmethod
    def unmet(self, number: float, at: str, laws: Laws) -> str | None:
        """What is wrong with a number, to be said behind it; None if nothing is."""

    @cache  # noqa: B019  (there are two forms)
    def of_record(self, kind: Any) -> Walk:
        hints = get_type_hints(kind)
        return self.record(kind, [(each, self.walk(hints[each.name], each.metadata)) for each in fields(kind)])

    def walk(self, hint: Any, laws: Laws = NONE) -> Walk:
        """The walk through values of a type. What has a type that no law speaks of, is fine."""
        if is_dataclass(hint):
            return self.of_record(cast(Any, hint))
        origin, parts = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            several = [self.walk(part, laws) for part in parts if part is not type(None)]
            return _or_none(several[0] if len(several) == 1 else _either(several))
        if origin is tuple:
            return self._row([self.walk(part, laws) for part in parts if part is not Ellipsis], Ellipsis in parts)
        if origin in (Mapping, dict):
            return self._mapping(self.walk(parts[1], laws))
        if origin is Literal:
            return _choice(parts)
        return self._scalar(hint, laws) if hint in WORDS else _any

    def _row(self, inner: list[Walk], is_series: bool) -> Walk:
        def walk(value: Any, at: str, faults: Faults) -> Any:
            if not is_of(self.row, value, at, faults):
                return ()
            if not is_series and len(value) != len(inner):
                faults.append(f"{at} is {value!r:.40}, not {WORDS[self.row]} of {len(inner)}")
                return ()
            return tuple(inner[0 if is_series else n](part, f"{at}[{n}]", faults) for n, part in enumerate(value))

        return walk

    def _mapping(self, inner: Walk) -> Walk:
        def walk(value: Any, at: str, faults: Faults) -> Any:
            if not is_of(self.mapping, value, at, faults):
                return {}
            return {key: inner(each, f"{at}.{key}", faults) for key, each in value.items()}

        return walk

    def _scalar(self, kind: Any, laws: Laws) -> Walk:
        is_number = kind in (int, float)

        kinds = (int, float) if kind is float else (kind,)
        most = self.most

        def walk(value: Any, at: str, faults: Faults) -> Any:
            if type(value) in kinds and (not is_number or 0 < value < most):
                return value
            if is_of(kind, value, at, faults) and is_number and (what := self.unmet(value, at, laws)):
                faults.append(f"{at} is {value!r:.40}{what}")
            return value

        return walk


def is_of(kind: Any, value: Any, at: str, faults: Faults) -> bool:
    """Whether a value has a type; true and false are no numbers. Adds to the faults if not."""
    allowed = (int, float) if kind is float else kind
    if isinstance(value, allowed) and (kind is bool or not isinstance(value, bool)):
        return True
    faults.append(f"{at or 'it'} is {value!r:.40}, not {WORDS.get(kind) or f'a {kind.__name__}'}")
    return False


def _any(value: Any, at: str, faults: Faults) -> Any:
    return value


def _or_none(inner: Walk) -> Walk:
    return lambda value, at, faults: None if value is None else inner(value, at, faults)


def _either(walks: list[Walk]) -> Walk:
    """What one of the walks takes; else the faults of the one with the fewest."""

    def walk(value: Any, at: str, faults: Faults) -> Any:
        tried: list[Faults] = [[] for _ in walks]
        found = [each(value, at, told) for each, told in zip(walks, tried, strict=True)]
        best = min(range(len(walks)), key=lambda n: len(tried[n]))
        faults += tried[best]
        return found[best]

    return walk


def _choice(allowed: tuple[Any, ...]) -> Walk:
    def walk(value: Any, at: str, faults: Faults) -> Any:
        if value not in allowed:
            faults.append(f"{at} is {value!r:.40}; allowed: {', '.join(map(str, allowed))}")
        return value

    return walk
