"""The timeline: the commands that change emulators and controllers while a workload runs, at times and at events. Pure,
no I/O.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from ...codec.frozen import dataclass
from ...error import UserError
from ...model.event import LOOK_NS, When
from ...model.schedule import Came, Change, placed
from ...model.topology import Link, Topology
from ...model.workload import Workload
from ..command import Command, script
from . import emulator as emulation
from .setting import TC_NS
from .stage import Emulator

UNKNOWN_NS, UNKNOWN_CHANGES = 6 * 3600 * 10**9, 1000
"""How long a plan follows a schedule, and for how many changes of a link, if the workload does not say how long it
takes. A trial whose workload runs longer is invalid."""

LEEWAY_NS, LEEWAY_ROUND_TRIPS = 5 * 10**9, 20
"""How long a plan follows a schedule beyond the workload's duration: tools negotiate before they start, and wait for
late packets."""

SHOWN_NS = 60 * 10**9
"""How long a plan without a workload follows a schedule, just to show it."""

CHANGES_MAX = 10_000
WAIT_S = 1.0
"""How long an event is waited for, as a forecast has it."""


@dataclass(frozen=True)
class Moment:
    """The commands of one instant, `at_ns` after the start of the workload."""

    at_ns: int
    commands: tuple[Command, ...]


@dataclass(frozen=True)
class Event:
    """The commands of an event of a link, and those of its end; a change that lasts has none of these.

    `place` is that of the `change` in the link's schedule, from 0. Those of a link come one after the other. `came_ns`
    is when it came; None before the trial, and if it never did.
    """

    link: str
    place: int
    change: Change
    commands: tuple[Command, ...]
    ending: tuple[Command, ...]
    came_ns: int | None = None

    @property
    def when(self) -> When:
        assert self.change.when is not None, "BUG: a change at a time is no event"
        return self.change.when


def until_ns(workload: Workload | None, links: Iterable[Link]) -> int:
    """How long after its start a workload can still run, at most."""
    links = tuple(links)
    if workload is None:
        return SHOWN_NS
    own_ns = workload.length_ns
    if own_ns is None:
        return followed_ns(links)
    return own_ns + LEEWAY_NS + LEEWAY_ROUND_TRIPS * sum(link.rtt_ns for link in links)


def followed_ns(links: Iterable[Link]) -> int:
    """How long a plan follows schedules if nobody knows when the end is."""
    return min(map(_followed_ns, links), default=UNKNOWN_NS)


def _followed_ns(link: Link) -> int:
    """The longest time, in whole milliseconds, within UNKNOWN_CHANGES changes."""
    times_ms = range(UNKNOWN_NS // 10**6 + 1)
    fits = bisect_right(times_ms, UNKNOWN_CHANGES, key=lambda ms: _changes(link, ms * 10**6))
    return max(0, fits - 1) * 10**6


def _changes(link: Link, end_ns: int) -> int:
    own = 0 if link.wander is None else link.wander.count(end_ns)
    return sum(change.count(end_ns) for change in link.schedule) + own


def wandered(topology: Topology, seed: int, end_ns: int) -> Topology:
    """The topology with the values of RTTs that wander as entries of schedules, up to `end_ns`. Each link draws its own
    from the seed. What an RTT is longer than that of the link, or shorter, is split evenly between the directions.
    """
    if not any(link.wander for link in topology.links):
        return topology
    return replace(topology, links=tuple(_wandered(link, seed, end_ns) for link in topology.links))


def _wandered(link: Link, seed: int, end_ns: int) -> Link:
    if link.wander is None:
        return link
    found = []
    for at_ns, rtt_ns in link.wander.values(link.rtt_ns, f"{seed}/{link.name}/wander", end_ns):
        forward_ns, rest_ns = link.forward.delay_ns, rtt_ns - link.rtt_ns
        forward_ns = min(rtt_ns, max(0, forward_ns + rest_ns // 2 // TC_NS * TC_NS))
        delays = (("delay_ns", forward_ns),), (("delay_ns", rtt_ns - forward_ns),)
        found.append(Change(at_ns, None, None, *delays))
    return replace(link, wander=None, schedule=(*link.schedule, *found))


def has_events(link: Link) -> bool:
    return any(change.when is not None for change in link.schedule)


def with_events(topology: Topology, came: Mapping[str, Came] | None, end_ns: int) -> Topology:
    """The topology with times in the place of events, as `placed` has them."""
    if not any(map(has_events, topology.links)):
        return topology
    links = (
        replace(link, schedule=placed(link.schedule, None if came is None else came.get(link.name, {}), end_ns))
        if has_events(link)
        else link
        for link in topology.links
    )
    return replace(topology, links=tuple(links))


def events(
    asked: Topology, timed: Topology, emulators: Iterable[Emulator], came: Mapping[str, Came] | None, *, real_time: bool
) -> Iterator[Event]:
    """The events of a topology `asked`, from that with times in their place and its emulators."""
    for emulator in emulators:
        if not has_events(timed.link(emulator.link)):
            continue
        changes = asked.link(emulator.link).schedule, timed.link(emulator.link).schedule
        for place, (change, at) in enumerate(zip(*changes, strict=True)):
            end_ns = None if at.for_ns is None else at.at_ns + at.for_ns
            begin, end = (
                () if at_ns is None else _together(_commands(emulator, at_ns, real_time=real_time))
                for at_ns in (at.at_ns, end_ns)
            )
            at_ns = None if came is None else came.get(emulator.link, {}).get(place)
            yield Event(emulator.link, place, change, begin, end, at_ns)


def _commands(emulator: Emulator, at_ns: int, *, real_time: bool) -> list[Command]:
    return [
        command
        for stage in emulator.stages
        for before, state in pairwise(stage.history)
        if state.at_ns == at_ns
        for command in emulation.change(emulator, stage, before, state, real_time=real_time)
    ]


def looks(events: Iterable[Event], length_s: float) -> float:
    """About how often senders are looked at while a workload runs, if each event comes after WAIT_S of waiting."""
    waits_s = (min(WAIT_S, max(0.0, length_s - each.change.at_ns / 1e9)) for each in events)
    return sum(waits_s) / (LOOK_NS / 1e9)


def check(links: Iterable[Link], end_ns: int) -> None:
    """Raises UserError for schedules of more than CHANGES_MAX changes."""
    for link in links:
        count = _changes(link, end_ns)
        if count > CHANGES_MAX:
            raise UserError(
                f"the schedule of the link {link.name} has {count} changes in {end_ns / 1e9:g} s; allowed: up to "
                f"{CHANGES_MAX}: a longer 'every' or 'step', or a workload with a shorter duration"
            )


def came_ns(topology: Topology, end_ns: int) -> Iterator[int]:
    """The times at which events of a topology came and were over, also of those that change nothing."""
    for link in filter(has_events, topology.links):
        yield from (at_ns for change in link.schedule for at_ns in change.instants(end_ns))


def timeline(
    emulators: Iterable[Emulator],
    others: Iterable[tuple[int, Command]] = (),
    events_ns: Iterable[int] = (),
    *,
    real_time: bool,
) -> tuple[Moment, ...]:
    """All changes of all emulators in the order of time, and a moment at each of `events_ns`. A moment has first
    `others`, each given with its time, then the changes in the order of the file.
    """
    by_time: dict[int, list[Command]] = {at_ns: [] for at_ns in events_ns}
    for at_ns, command in others:
        by_time.setdefault(at_ns, []).append(command)
    for emulator in emulators:
        for stage in emulator.stages:
            for before, state in pairwise(stage.history):
                changed = emulation.change(emulator, stage, before, state, real_time=real_time)
                by_time.setdefault(state.at_ns, []).extend(changed)
    return tuple(Moment(at_ns, _together(by_time[at_ns])) for at_ns in sorted(by_time))


def _together(commands: list[Command]) -> tuple[Command, ...]:
    """The commands sorted into one batch for each tool and namespace."""
    order = {key: n for n, key in enumerate(dict.fromkeys((c.tool, c.netns) for c in commands))}
    return tuple(sorted(commands, key=lambda c: order[c.tool, c.netns]))


def event_comments(events: Iterable[Event]) -> str:
    """The same for events."""
    return "".join(map(_event_comment, events))


NOTHING = "#   (nothing changes)\n"


def _event_comment(event: Event) -> str:
    after = f", {event.change.at_ns / 1e9:g} s after the start or later" if event.change.at_ns else ""
    said = f"# As soon as {event.when.words}{after}:\n{_commented(event.commands) or NOTHING}"
    if event.change.for_ns is not None:
        said += f"# {event.change.for_ns / 1e9:g} s later:\n{_commented(event.ending) or NOTHING}"
    return said


def comments(moments: Iterable[Moment]) -> str:
    """Comments for a script: which commands to type at which time."""
    lines = (f"# {moment.at_ns / 1e9:g} s:\n{_commented(moment.commands)}" for moment in moments)
    return "".join(lines)


def _commented(commands: tuple[Command, ...]) -> str:
    return "".join(f"#   {line}\n" for line in script(commands).splitlines())
