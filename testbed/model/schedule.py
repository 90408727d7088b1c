"""A schedule: what changes on a link while a workload runs, as values. Pure, no I/O.

Times count from the start of the workload, in lab time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .impairment import Direction

Pairs: TypeAlias = tuple[tuple[str, Any], ...]
"""Names that Direction.value() knows, with their new values."""


@dataclass(frozen=True)
class Change:
    """A change at `at_ns`.

    `for_ns` None holds for good; else what held before holds again after it. `every_ns` None happens once; else the
    change comes again so long after it began, and `for_ns` is less than that. `data` is for the direction in which the
    workload's data crosses the link, whichever that is.
    """

    at_ns: int
    every_ns: int | None = None
    for_ns: int | None = None
    forward: Pairs = ()
    backward: Pairs = ()
    data: Pairs = ()

    @property
    def is_lasting(self) -> bool:
        return self.for_ns is None

    def instants(self, until_ns: int) -> Iterator[int]:
        """Its starts and ends up to `until_ns`, in order."""
        begin_ns = self.at_ns
        while begin_ns <= until_ns:
            yield begin_ns
            if self.for_ns is not None and begin_ns + self.for_ns <= until_ns:
                yield begin_ns + self.for_ns
            if self.every_ns is None:
                return
            begin_ns += self.every_ns

    def count(self, until_ns: int) -> int:
        """An upper bound of the number of instants, without listing them."""
        if self.at_ns > until_ns:
            return 0
        times = 1 if self.every_ns is None else (until_ns - self.at_ns) // self.every_ns + 1
        return times if self.for_ns is None else 2 * times

    def holds(self, time_ns: int) -> bool:
        since_ns = time_ns - self.at_ns
        if since_ns < 0 or self.for_ns is None:
            return since_ns >= 0
        return (since_ns if self.every_ns is None else since_ns % self.every_ns) < self.for_ns

    def pairs(self, way: str, is_data: bool) -> Pairs:
        """The fields that it sets in one direction; `is_data` says whether that is the data's."""
        own = self.forward if way == "forward" else self.backward
        return (*own, *(self.data if is_data else ()))


def course(
    start: Direction, changes: Sequence[Change], way: str, is_data: bool, until_ns: int
) -> Iterator[tuple[int, Direction]]:
    """The states of a direction after its `start`, each with the instant at which it begins.

    Lasting changes apply in the order of their times. Temporary changes override them; of several for the same key the
    last one in the file applies.
    """
    mine = [change for change in changes if change.pairs(way, is_data)]
    layers = [*sorted((c for c in mine if c.is_lasting), key=lambda c: c.at_ns), *(c for c in mine if not c.is_lasting)]
    before = start
    for time_ns in sorted({instant for change in mine for instant in change.instants(until_ns)}):
        now = start
        for change in layers:
            if change.holds(time_ns):
                for name, value in change.pairs(way, is_data):
                    now = now.with_value(name, value)
        if now != before:
            yield time_ns, now
        before = now
