"""What a link does, in words: rate, round-trip time by direction, loss, buffer. Pure, no I/O.

Over the trials of a run each fact has the values that it had in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ..model.link.impairment import IMPAIRMENTS, Direction, Impairment, Way
from ..model.topology import MTU_DEFAULT, Link
from ..spec.topology.link.impairment import FILE_FIELDS

MANY = 4
"""With more values than this the first and the last are named."""
THERE, BACK = "→", "←"


@dataclass(frozen=True)
class Fact:
    """`values` are what it was in the trials, in their order; arrows point from the link's first end to its second."""

    name: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        if len(self.values) > MANY:
            return f"{self.values[0]} … {self.values[-1]} ({len(self.values)} values)"
        return " | ".join(self.values)

    def turned(self) -> Fact:
        """The same, drawn from right to left."""
        swap = str.maketrans({THERE: BACK, BACK: THERE})
        return Fact(self.name.translate(swap), tuple(each.translate(swap) for each in self.values))


def facts(links: Sequence[Link]) -> tuple[Fact, ...]:
    """The facts of one link, as it was in several trials; those that no trial has are left out."""
    found = []
    for name, of in _facts():
        values = [of(link) for link in dict.fromkeys(links)]
        if any(value is not None for value in values):
            found.append(Fact(name, tuple(dict.fromkeys("none" if value is None else value for value in values))))
    return tuple(found)


def _facts() -> Iterator[tuple[str, Callable[[Link], str | None]]]:
    """(name, its value in a link) of each impairment, and of what else a link has."""
    for row in (IMPAIRMENTS[key] for key in FILE_FIELDS):
        label = row.label or row.key
        if row.total is not None:
            yield row.total.upper(), partial(_total, row)
        if row.is_apart:
            yield f"{label} {THERE}", partial(_one_way, row, "forward")
            yield f"{label} {BACK}", partial(_one_way, row, "backward")
        else:
            yield label, partial(_both, row)
    yield "MTU", lambda link: None if link.mtu_bytes == MTU_DEFAULT else f"{link.mtu_bytes} bytes"
    yield "changes while it runs", lambda link: str(len(link.schedule)) if link.schedule else None


def _words(row: Impairment, asked: Direction) -> str | None:
    """None for an impairment that is absent, or 0."""
    value = asked.value(row.name)
    return row.words(value) if value else None


def _one_way(row: Impairment, way: Way, link: Link) -> str | None:
    return _words(row, link.asked(way, is_data=False))


def _total(row: Impairment, link: Link) -> str | None:
    total = sum(each.value(row.name) or 0 for each in (link.forward, link.backward))
    return row.words(total) if total else None


def _both(row: Impairment, link: Link) -> str | None:
    """One value where both directions have the same, or where it is that of the data's."""
    of_data = _words(row, link.data)
    if of_data is not None:
        return f"{of_data}{row.of_data}"
    there, back = _words(row, link.forward), _words(row, link.backward)
    if there == back:
        return there
    return ", ".join(f"{arrow} {words}" for arrow, words in ((THERE, there), (BACK, back)) if words is not None)
