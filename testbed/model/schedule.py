"""A schedule: what changes on a link while a workload runs, as values. Pure, no I/O.

Times count from the start of the workload, in lab time. A change has a time, or an event in its place: a state of a
flow, of which nobody knows beforehand when it comes. Those of a link come in the order of the file, each once the one
before it is over; so the states of the link are known, and only their times are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from ..codec.frozen import dataclass
from .event import When
from .link.impairment import Direction, names_of

Pairs: TypeAlias = tuple[tuple[str, Any], ...]
"""Names that Direction.value() knows, with their new values."""


@dataclass(frozen=True)
class Change:
    """A change at `at_ns`.

    `for_ns` None holds for good; else what held before holds again after it. `every_ns` None happens once; else the
    change comes again so long after it began, and `for_ns` is less than that. `data` is for the direction in which the
    workload's data crosses the link, whichever that is. With `when` it comes at that event, and not before `at_ns`.
    """

    at_ns: int
    every_ns: int | None = None
    for_ns: int | None = None
    forward: Pairs = ()
    backward: Pairs = ()
    data: Pairs = ()
    when: When | None = None

    @property
    def all_pairs(self) -> Pairs:
        """All that it sets: in both directions, and in the direction of the data."""
        return (*self.forward, *self.backward, *self.data)

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
        names = names_of(is_data)
        return (*own, *(pair for pair in self.data if pair[0] in names))


Came: TypeAlias = Mapping[int, int]
"""When the events of a link came (ns), by their places in its schedule, from 0."""


def placed(changes: Sequence[Change], came: Came | None, until_ns: int) -> tuple[Change, ...]:
    """A schedule with times in the place of its events: when they came, and what did not come right before `until_ns`,
    in order. With None, for the states alone, at the first instants.
    """
    events = [place for place, change in enumerate(changes) if change.when is not None]
    found = list(changes)
    for number, place in enumerate(events):
        change = changes[place]
        last_ns = until_ns - 2 * (len(events) - number)
        begin_ns = 2 * number + 1 if came is None else came.get(place, last_ns)
        for_ns = change.for_ns
        if for_ns is not None:
            for_ns = 1 if came is None else max(1, min(for_ns, last_ns + 1 - begin_ns))
        found[place] = replace(change, at_ns=begin_ns, for_ns=for_ns)
    return tuple(found)


def course(
    start: Direction, changes: Sequence[Change], way: str, is_data: bool, until_ns: int
) -> Iterator[tuple[int, Direction]]:
    """The states of a direction after its `start`, each with the instant at which it begins.

    Lasting changes apply in the order of their times. Temporary changes override them; of several for the same key the
    last one in the file applies.
    """
    mine = [change for change in changes if change.pairs(way, is_data)]
    layers = [*sorted((c for c in mine if c.is_lasting), key=lambda c: c.at_ns), *(c for c in mine if not c.is_lasting)]
    values = [dict(change.pairs(way, is_data)) for change in layers]
    events = sorted({(time_ns, number) for number, each in enumerate(layers) for time_ns in each.instants(until_ns)})
    held = _Held(start, values)
    before = start
    for time_ns, group in groupby(events, key=itemgetter(0)):
        numbers = [number for _, number in group]
        for number in numbers:
            held.set(number, layers[number].holds(time_ns))
        now = before
        for name in dict.fromkeys(name for number in numbers for name in values[number]):
            now = now.with_value(name, held.value(name))
        if now != before:
            yield time_ns, now
        before = now


class _Held:
    """Which layers hold now. Of those that set a name the highest applies; it is found without a look at the others."""

    def __init__(self, start: Direction, values: Sequence[Mapping[str, Any]]) -> None:
        self._start, self._values = start, values
        self._numbers: set[int] = set()
        self._highest: dict[str, list[int]] = {}  # heaps of negative numbers; some no longer hold

    def set(self, number: int, holds: bool) -> None:
        if not holds:
            self._numbers.discard(number)
        elif number not in self._numbers:
            self._numbers.add(number)
            for name in self._values[number]:
                heappush(self._highest.setdefault(name, []), -number)

    def value(self, name: str) -> Any:
        heap = self._highest.get(name, [])
        while heap and -heap[0] not in self._numbers:
            heappop(heap)
        return self._values[-heap[0]][name] if heap else self._start.value(name)
