"""The keys that a link, a channel or an entry of a schedule gets of each impairment, and their values. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, create_model

from ....model.link.impairment import IMPAIRMENTS, UNIMPAIRED, Direction, Impairment
from ...syntax.document import Fault
from ...syntax.field import PerDirection
from ...syntax.file_model import FileModel
from .impairment import FILE_FIELDS, FileField

WAYS: tuple[Literal["forward"], Literal["backward"]] = ("forward", "backward")
"""From the first end, and from the second."""

TOTALS = {row.total: row.key for row in IMPAIRMENTS.values() if row.total is not None}
"""A key of both directions together to that of each."""
EITHER_OR = {**TOTALS, **{key: total for total, key in TOTALS.items()}}

_PAIR: Any = PerDirection
"""For fields that are not known before the program runs."""

S = TypeVar("S", bound=FileModel)


def rows(is_wanted: Callable[[Impairment], bool]) -> tuple[Impairment, ...]:
    """The impairments that are wanted, in the order in which files write them."""
    unwritten = IMPAIRMENTS.keys() - FILE_FIELDS.keys()
    assert not unwritten, f"BUG: FILE_FIELDS lacks {', '.join(sorted(unwritten))}"
    return tuple(IMPAIRMENTS[key] for key in FILE_FIELDS if is_wanted(IMPAIRMENTS[key]))


Definitions = Mapping[str, tuple[Any, Any]]
"""Key to its annotation and its pydantic Field."""


def link_keys(wanted: Iterable[Impairment]) -> Definitions:
    """Those of a link: of each impairment its own and, before it, that of its total."""
    return _keys(wanted, lambda row, field: field.of_link or _PAIR[field.one] | None)


def channel_keys(wanted: Iterable[Impairment]) -> Definitions:
    """Those of a channel, where no direction is that of the data."""
    return _keys(wanted, lambda row, field: _PAIR[field.one] | None)


def _keys(wanted: Iterable[Impairment], kind: Callable[[Impairment, FileField], Any]) -> Definitions:
    found: dict[str, tuple[Any, Any]] = {}
    for row in wanted:
        field = FILE_FIELDS[row.key]
        if row.total is not None:
            found[row.total] = field.one | None, Field(None, description=field.total_description)
        found[row.key] = kind(row, field), Field(None, description=field.description)
    return found


def with_keys(definitions: Definitions, behind: str | None = None) -> Callable[[type[S]], type[S]]:
    """Decorates a file model: adds keys `behind` one of its own, or (None) before all of them."""

    def added(file_model: type[S]) -> type[S]:
        keys: dict[str, Any] = dict(definitions)
        new, own = create_model("Keys", **keys).model_fields, [*file_model.model_fields.items()]
        at = [name for name, _ in own].index(behind) + 1 if behind else 0
        file_model.model_fields.clear()
        file_model.model_fields.update([*own[:at], *new.items(), *own[at:]])
        file_model.model_rebuild(force=True)
        return file_model

    return added


class Impaired(FileModel):
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
        """What is said of one direction, or of that of the data, whichever that is."""
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
            return self.model_copy(update={key: value} | ({EITHER_OR[key]: None} if key in EITHER_OR else {}))
        total, pair = IMPAIRMENTS[key].total, self.said(key) or _PAIR[Any].model_construct()
        update: dict[str, Any] = {}
        if total is not None and self.said(total) is not None:
            pair, update = _PAIR[Any].model_construct(**halves(self.said(total))), {total: None}
        return self.model_copy(update={**update, key: pair.model_copy(update={way: value})})

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
            found[row.key] = None if is_even else both(row.key, there, back)
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


def conflicts(file: FileModel, wanted: Iterable[Impairment]) -> Iterator[Fault]:
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


def both(key: str, forward: Any, backward: Any) -> Any:
    """The value of a key from those of the directions; None if neither has one."""
    if forward is None and backward is None:
        return None
    return _PAIR[FILE_FIELDS[key].one].model_construct(forward=forward, backward=backward)
