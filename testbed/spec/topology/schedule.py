"""A link's schedule as a topology file writes it, and what is wrong with one. Pure, no I/O."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from ... import units
from ...codec.fault import Fault, Faulty
from ...codec.keyed import Keyed, Kind, Schema, key, named
from ...codec.kind import SPAN, TIME, listed, record, sound
from ...error import ValueRefused, one_of
from ...model.event import When
from ...model.link.impairment import IMPAIRMENTS, Impairment
from ...model.link.wander import LEAST_SDS
from ...model.schedule import Change
from ...model.topology import Link
from .link.direction import WAYS, is_directional
from .link.impaired import conflicts, halves, keys_of, rows, with_keys
from .link.impairment import FileField, Read
from .link.queue import later_faults


def _ways(read: Read, scalar: tuple[str, ...] = WAYS) -> Read:
    """A reader of one value, for all of `scalar`, or {forward: …, backward: …}, where one left out is not changed."""

    def ways(value: Any) -> dict[str, Any]:
        if not is_directional(value):
            found = read(value)
            return dict.fromkeys(scalar, found)
        if not value:
            raise ValueRefused("the mapping is empty", ", ".join(WAYS))
        return {way: _one_way(read, way, each) for way, each in value.items()}

    return ways


def _one_way(read: Read, way: str, value: Any) -> Any:
    if way not in WAYS:
        raise ValueRefused(f"unknown key {way!r}", one_of(WAYS, way), (way,))
    try:
        return read(value)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, refused.allowed, (way, *refused.at)) from None
    except Faulty as faulty:
        raise Faulty(fault.under(way) for fault in faulty.faults) from None


def _written(write: Read) -> Read:
    """Back to one value where there is one for both ways, or for the data."""

    def ways(found: dict[str, Any] | None) -> Any:
        if found is None:
            return None
        values = {way: write(each) for way, each in found.items()}
        if "data" in values:
            return values["data"]
        return values["forward"] if len(values) == 2 and values["forward"] == values["backward"] else values

    return ways


def _schema(one: Schema) -> Schema:
    """JSON Schema of one value or of one for each direction, from that of one."""
    both = {
        "type": "object",
        "properties": dict.fromkeys(WAYS, one),
        "additionalProperties": False,
        "minProperties": 1,
    }
    return {"anyOf": [one, both]}


def _kind(row: Impairment, field: FileField) -> Kind:
    ways = ("data",) if row.is_of_data else WAYS
    schema = _schema(field.one.described())
    return Kind(_ways(field.read_later or field.one.read, ways), _written(field.one.write), schema, none="none")


WHEN = Kind(lambda value: sound(When, value), lambda value: value.written(), {"$ref": When})
CHANGING = rows(lambda row: row.in_schedule)
KEYS = tuple(row.key for row in CHANGING)
CHANGEABLE = tuple(key for row in CHANGING for key in row.keys)


FIXED = {
    "policy": "its meter runs from the start",
    "policer": "its bucket would be full again",
    "shaper": "its credit would be full again",
    "per_flow": "the buckets of all flows would be full again",
    "jitter": "how packets keep their order follows from it",
    "trace": "its opportunities count from the beginning of the workload",
    "aggregate": "its bursts follow from when it began, and a change would begin them anew",
}
"""Why impairments stay as they are while a workload runs."""


@named
@with_keys(keys_of(CHANGING, _kind, lambda field: field.later_description), behind="holds")
class ChangeFile(Keyed):
    """One entry of a schedule; what it does not name stays as it is."""

    refused_keys: ClassVar[Mapping[str, tuple[str, str]]] = {
        row.key: (
            f"a schedule cannot change {row.key!r}: {FIXED.get(row.key, 'it is set up once')}",
            ", ".join(CHANGEABLE),
        )
        for row in IMPAIRMENTS.values()
        if not row.in_schedule
    }
    at: int | None = key("at", TIME, "When it begins, after the start of the workload.", default=None)
    when: When | None = key("when", WHEN, "The state of a flow in which it begins, in place of a time.", default=None)
    after: int | None = key("after", TIME, "With `when`: not before this time.", default=None)
    every: int | None = key(
        "every", SPAN, "The time from one beginning to the next, if it repeats; needs `for`.", default=None
    )
    holds: int | None = key("for", SPAN, "How long it lasts; then the earlier value applies again.", default=None)

    def faults(self) -> Iterator[Fault]:
        if (self.at is None) == (self.when is None):
            what = "nothing says when it begins" if self.at is None else "it begins at a time, and at an event"
            yield Fault((), what, "at, or when", named=True)
        elif self.after is not None and self.when is None:
            yield Fault(("after",), "it begins at a time", "after with when", named=True)

    def change(self) -> Change:
        found: dict[str, list[tuple[str, Any]]] = {"forward": [], "backward": [], "data": []}
        for row in CHANGING:
            for way, value in self.ways(row.key).items():
                found[way].append((row.name, value))
        at_ns = (self.at if self.when is None else self.after) or 0
        ways = {way: tuple(found[way]) for way in (*WAYS, "data")}
        return Change(at_ns, self.every, self.holds, **ways, when=self.when)

    def said(self, key: str) -> Any:
        """What an impairment's key has; None if it is left out."""
        return getattr(self, key)

    def ways(self, key: str) -> dict[str, Any]:
        """What a key changes in which direction; a total is a half for each."""
        total = IMPAIRMENTS[key].total
        if total is not None and self.said(total) is not None:
            return dict(halves(self.said(total)))
        return self.said(key) or {}

    @classmethod
    def of(cls, change: Change) -> ChangeFile:
        keys: dict[str, Any] = {}
        for row in CHANGING:
            values = {way: value for way in (*WAYS, "data") for name, value in getattr(change, way) if name == row.name}
            if row.total is not None and len(values) == 2 and values["backward"] - values["forward"] in (0, 1):
                keys[row.total] = sum(values.values())
            elif values:
                keys[row.key] = values
        if change.when is None:
            keys["at"] = change.at_ns
        else:
            keys |= {"when": change.when, "after": change.at_ns or None}
        keys |= {"every": change.every_ns, "holds": change.for_ns}
        return cls(**keys)


_ENTRIES = listed(Kind(partial(sound, ChangeFile), record(ChangeFile).write, record(ChangeFile).schema))
SCHEDULE = Kind(
    lambda value: None if value == "none" else _ENTRIES.read(value),
    _ENTRIES.write,
    {
        "anyOf": [{"const": "none"}, {"type": "array", "items": {"$ref": ChangeFile}, "minItems": 1}],
        "description": "What changes while the workload runs.",
    },
)


def schedule_faults(schedule: Sequence[ChangeFile], link: Link) -> Iterator[Fault]:
    """What is wrong within a schedule, and between it and the link's own keys; paths begin at the schedule.

    An entry that changes what earlier ones change at the same time is named once, with the first of them.
    """
    for index, file in enumerate(schedule):
        for fault in (*_own_faults(file), *_event_faults(file, link), *_link_faults(file, link)):
            yield fault.under(index)
    seen: dict[tuple[int, str, str], int] = {}
    for index, file in enumerate(schedule):
        if file.holds is not None or file.at is None:
            continue
        places = {key: [(file.at, key, way) for way in file_sets(file, key)] for key in KEYS}
        same = [(seen[place], key) for key, all in places.items() for place in all if place in seen]
        if same:
            first, key = min(same)
            what = f"entry {first + 1} changes the {key} at {units.format_time(file.at)} too"
            yield Fault((index, "at"), what, "one change of a key at a time")
        for place in itertools.chain(*places.values()):
            seen.setdefault(place, index)


def file_sets(file: ChangeFile, key: str) -> set[str]:
    """The directions in which an entry changes a key; a scalar loss is for one of the two."""
    ways = set(file.ways(key))
    return set(WAYS) if "data" in ways else ways


def _own_faults(file: ChangeFile) -> Iterator[Fault]:
    yield from conflicts(file, CHANGING)
    if all(file.said(key) is None for key in CHANGEABLE):
        yield Fault((), "this entry changes nothing", f"{', '.join(CHANGEABLE)}")
    if file.every is not None and file.holds is None:
        yield Fault(("every",), "a change that repeats must end before it repeats", "for: how long it holds each time")
    if file.every is not None and file.holds is not None and file.holds >= file.every:
        what = f"it would last {units.format_time(file.holds)} of every {units.format_time(file.every)}"
        yield Fault(("for",), what, "less than 'every'")


def _event_faults(file: ChangeFile, link: Link) -> Iterator[Fault]:
    if file.when is None:
        return
    if file.every is not None:
        what = "an event comes when the flow does"
        yield Fault(("every",), what, "several entries, one for each time that it comes", named=True)
    if any(change.when is None for change in link.schedule) or link.wander is not None:
        what = "other changes of this link have times, and nobody knows which comes first"
        yield Fault(("when",), what, "events alone, or times alone; another link for the other", named=True)
    for name in KEYS:
        values = file.ways(name).values()
        picks = (getattr(value, "pick", value) for value in values)
        if any(getattr(pick, "phase", None) == "seeded" for pick in picks):
            what = "a seeded phase is drawn for the time of its change, which nobody knows beforehand"
            yield Fault((name,), what, "a phase that is a number", named=True)


def _link_faults(file: ChangeFile, link: Link) -> Iterator[Fault]:
    for way in WAYS:
        direction = link.own(way)
        if direction.rate_bps is None:
            for key in ("rate", "buffer", "queue"):
                if way in file.ways(key):
                    yield Fault(
                        (key, way), f"the link has no rate {way}, and a schedule cannot add one", "a rate on the link"
                    )
            later = file.ways("reorder").get(way)
            if later is not None and later.by_packets is not None:
                yield Fault(("reorder", way), "packets are counted as time, and the link has no rate", "a time")
            continue
        if way in file.ways("rate") and (direction.shaper or direction.trace):
            what = "the link has a shaper or a trace, and a schedule cannot change the rate that it brings"
            yield Fault(("rate", way), what, "a rate on the link instead")
        buffer = file.ways("buffer").get(way)
        unit = "packets" if direction.buffer is not None and direction.buffer.unit == "packets" else "bytes"
        if buffer is not None and buffer.unit != unit:
            what = f"the link's buffer is in {unit}, and this is in {buffer.unit}"
            yield Fault(("buffer", way), what, f"a number of {unit}")
        before = direction.queue
        if buffer is not None and before is not None:
            what = f"a {before.type} that gets a smaller limit drops what it holds beyond it"
            yield Fault(("buffer", way), what, "a change of the buffer of a fifo")
        if way in file.ways("queue") and (why := later_faults(file.ways("queue")[way], before)) is not None:
            yield Fault(("queue", way), why, "another parameter of the queue that the link has")
        delay_ns = file.ways("delay").get(way)
        if delay_ns is not None and direction.jitter is not None and direction.jitter.is_more_than(delay_ns):
            what = "the link's jitter is more than this one-way delay, and no packet can arrive before it is sent"
            yield Fault(("delay" if file.said("rtt") is None else "rtt", way), what, "a delay of the jitter or more")


def wander_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between an RTT that wanders and the rest of its link; paths begin at the link."""
    wander = link.wander
    assert wander is not None, "BUG: nothing wanders"
    if any(name == "delay_ns" for each in link.schedule for name, _ in each.all_pairs):
        what = "the RTT wanders, and the schedule sets it"
        yield Fault(("wander",), what, "one of the two")
    if any(direction.jitter is not None for _, direction in link.directions):
        what = "the RTT wanders, and jitter gives each packet another one"
        yield Fault(("wander",), what, "one of the two")
    if not link.rtt_ns:
        yield Fault(("wander",), "the link has no RTT before the workload, or without a wander", "an rtt on the link")
    elif wander.sd_ns is not None and wander.sd_ns * LEAST_SDS > link.rtt_ns:
        what = f"an RTT of {units.format_time(link.rtt_ns)} would become negative"
        yield Fault(("wander", "sd"), what, f"up to a quarter of it: {units.format_time(link.rtt_ns // LEAST_SDS)}")
