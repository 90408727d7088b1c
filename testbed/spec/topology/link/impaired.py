"""The keys that a link, a channel or an entry of a schedule gets of each impairment, and their values. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar

from ....codec.fault import Fault
from ....codec.keyed import Keyed, Kind, key
from ....model.link.impairment import IMPAIRMENTS, UNIMPAIRED, Direction, Impairment
from .direction import PerDirection, per_direction
from .impairment import FILE_FIELDS, FileField, titled

TOTALS = {row.total: row.key for row in IMPAIRMENTS.values() if row.total is not None}
"""A key of both directions together to that of each."""
EITHER_OR = {**TOTALS, **{key: total for total, key in TOTALS.items()}}

S = TypeVar("S", bound=type)
Definitions = dict[str, Any]
"""Keys to the fields that they are."""

_BOTH = {name: per_direction(field.one, f"{titled(name)}ByDirection") for name, field in FILE_FIELDS.items()}
"""One value for both directions, or one for each, by the key of an impairment."""


def rows(is_wanted: Callable[[Impairment], bool]) -> tuple[Impairment, ...]:
    """The impairments that are wanted, in the order in which files write them."""
    unwritten = IMPAIRMENTS.keys() - FILE_FIELDS.keys()
    assert not unwritten, f"BUG: FILE_FIELDS lacks {', '.join(sorted(unwritten))}"
    return tuple(IMPAIRMENTS[key] for key in FILE_FIELDS if is_wanted(IMPAIRMENTS[key]))


def link_keys(wanted: Iterable[Impairment]) -> Definitions:
    """Those of a link: of each impairment its own and, before it, that of its total."""
    return keys_of(wanted, lambda row, field: field.of_link or _BOTH[row.key])


def channel_keys(wanted: Iterable[Impairment]) -> Definitions:
    """Those of a channel, where no direction is that of the data."""
    return keys_of(wanted, lambda row, field: _BOTH[row.key])


def keys_of(
    wanted: Iterable[Impairment],
    kind: Callable[[Impairment, FileField], Kind],
    about: Callable[[FileField], str] = lambda field: field.description,
) -> Definitions:
    """A field for each key, by its name."""
    found: Definitions = {}
    for row in wanted:
        field = FILE_FIELDS[row.key]
        if row.total is not None:
            found[row.total] = key(row.total, field.one, field.total_description, default=None)
        found[row.key] = key(row.key, kind(row, field), about(field), default=None)
    return found


def with_keys(definitions: Definitions, behind: str | None = None) -> Callable[[S], S]:
    """Decorates a class of keys before it is one: adds keys `behind` one of its own, or (None) before all of them."""

    def added(cls: S) -> S:
        own = list(cls.__annotations__.items())
        at = [name for name, _ in own].index(behind) + 1 if behind else 0
        new = [(name, "Any") for name in definitions]
        cls.__annotations__ = dict([*own[:at], *new, *own[at:]])
        for name, field in definitions.items():
            setattr(cls, name, field)
        return cls

    return added


class Impaired(Keyed):
    """What with_keys() gave the keys of impairments."""

    @classmethod
    def rows(cls) -> tuple[Impairment, ...]:
        """The impairments whose keys it has."""
        raise NotImplementedError

    def said(self, key: str) -> Any:
        """What an impairment's key has; None if it is left out."""
        found = getattr(self, key, self)
        assert found is not self, f"BUG: {key} came to FILE_FIELDS after {type(self).__name__} was made"
        return found

    def conflicts(self) -> Iterator[Fault]:
        return conflicts(self, self.rows())

    def direction(self, way: Literal["forward", "backward", "data"]) -> Direction:
        """The impairments of one direction, or (way "data") of the direction of the data, whichever that is."""
        found = UNIMPAIRED
        for row in self.rows():
            value = self._value(row, way)
            if value is not None:
                found = found.with_value(row.name, value)
        brought = brought_rate_bps(found)
        return found if found.rate_bps is not None or brought is None else found.with_value("rate_bps", brought)

    def _value(self, row: Impairment, way: Literal["forward", "backward", "data"]) -> Any:
        if row.total is not None and self.said(row.total) is not None:
            return halves(self.said(row.total)).get(way)
        said = self.said(row.key)
        if isinstance(said, PerDirection):
            return None if way == "data" else getattr(said, way)
        return said if way == "data" else None

    def varied(self, key: str, way: str, value: Any) -> Self:
        """The same with another value of a key, in one direction or ("") in both.

        A key takes away its total, and a total its key; a total that one direction replaces is split evenly first.
        """
        if not way:
            return self.changed({key: value} | ({EITHER_OR[key]: None} if key in EITHER_OR else {}))
        total, pair = IMPAIRMENTS[key].total, self.said(key) or PerDirection()
        update: dict[str, Any] = {}
        if total is not None and self.said(total) is not None:
            pair, update = PerDirection(**halves(self.said(total))), {total: None}
        return self.changed({**update, key: replace(pair, **{way: value})})

    @classmethod
    def written_of(cls, forward: Direction, backward: Direction, data: Direction = UNIMPAIRED) -> dict[str, Any]:
        """The keys that say so."""
        found: dict[str, Any] = {}
        forward, backward = map(_without_brought_rate, (forward, backward))
        for row in cls.rows():
            there, back = forward.value(row.name), backward.value(row.name)
            is_even = row.total is not None and back - there in (0, 1)
            if row.total is not None:
                found[row.total] = (there + back or None) if is_even else None
            found[row.key] = None if is_even else both(there, back)
            if found[row.key] is None and row.is_of_data:
                found[row.key] = data.value(row.name)
        return found


def brought_rate_bps(direction: Direction) -> int | None:
    """The rate that a shaper or another value brings with it; None without one."""
    found = ((row, direction.value(row.name)) for row in IMPAIRMENTS.values() if row.rate_bps is not None)
    return next((row.rate_bps(value) for row, value in found if row.rate_bps and value is not None), None)


def _without_brought_rate(direction: Direction) -> Direction:
    is_brought = direction.rate_bps is not None and direction.rate_bps == brought_rate_bps(direction)
    return direction.with_value("rate_bps", None) if is_brought else direction


def conflicts(file: Keyed, wanted: Iterable[Impairment]) -> Iterator[Fault]:
    """A total beside the key that says it for each direction."""
    for row in wanted:
        if row.total is not None and getattr(file, row.total) is not None and getattr(file, row.key) is not None:
            what = f"{row.total} and {row.key} exclude each other"
            yield Fault((row.key,), what, f"{row.total} for both ways together, or {row.key} for each")


def halves(total: int) -> dict[str, int]:
    """What each direction has of both together, in ns: whole µs if the total is, since tc cuts off what is less."""
    unit = 1000 if total % 1000 == 0 else 1
    forward = total // (2 * unit) * unit
    return {"forward": forward, "backward": total - forward}


def both(forward: Any, backward: Any) -> PerDirection | None:
    """The value of a key from those of the directions; None if neither has one."""
    if forward is None and backward is None:
        return None
    return PerDirection(forward, backward)
