"""The timeline: the commands that change emulators and controllers while a workload runs. Pure, no I/O."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from ...codec.frozen import dataclass
from ...error import UserError
from ...model.schedule import Change
from ...model.topology import Link, Topology
from ...model.workload import Workload
from ..command import Command, script
from . import emulator as emulation
from .setting import TC_NS
from .stage import Emulator

UNKNOWN_NS, UNKNOWN_CHANGES = 3600 * 10**9, 1000
"""How long a plan follows a schedule, and for how many changes of a link, if the workload does not say how long it
takes. A trial whose workload runs longer is invalid."""

LEEWAY_NS, LEEWAY_ROUND_TRIPS = 5 * 10**9, 20
"""How long a plan follows a schedule beyond the workload's duration: tools negotiate before they start, and wait for
late packets."""

SHOWN_NS = 60 * 10**9
"""How long a plan without a workload follows a schedule, just to show it."""

CHANGES_MAX = 10_000


@dataclass(frozen=True)
class Moment:
    """The commands of one instant, `at_ns` after the start of the workload."""

    at_ns: int
    commands: tuple[Command, ...]


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


def check(links: Iterable[Link], end_ns: int) -> None:
    """Raises UserError for schedules of more than CHANGES_MAX changes."""
    for link in links:
        count = _changes(link, end_ns)
        if count > CHANGES_MAX:
            raise UserError(
                f"the schedule of the link {link.name} has {count} changes in {end_ns / 1e9:g} s; allowed: up to "
                f"{CHANGES_MAX}: a longer 'every' or 'step', or a workload with a shorter duration"
            )


def timeline(
    emulators: Iterable[Emulator], others: Iterable[tuple[int, Command]] = (), *, real_time: bool
) -> tuple[Moment, ...]:
    """All changes of all emulators in the order of time. A moment has first `others`, each given with its time, then
    the changes in the order of the file.
    """
    by_time: dict[int, list[Command]] = {}
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


def comments(moments: Iterable[Moment]) -> str:
    """Comments for a script: which commands to type at which time."""
    lines = (f"# {moment.at_ns / 1e9:g} s:\n{_commented(moment.commands)}" for moment in moments)
    return "".join(lines)


def _commented(commands: tuple[Command, ...]) -> str:
    return "".join(f"#   {line}\n" for line in script(commands).splitlines())
