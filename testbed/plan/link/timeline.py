"""The timeline: when which emulators are told what while a workload runs. Pure, no I/O."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ...error import UserError
from ...model.topology import Link
from ...model.workload import Workload
from ..command import Command
from ..script import script
from . import emulator as emulation
from .stage import Emulator

UNKNOWN_NS, UNKNOWN_CHANGES = 3600 * 10**9, 1000
"""How far a schedule is followed, and for how many changes of a link, under a workload that does not say how long it
takes. One that goes on for longer is invalid."""

LEEWAY_NS, LEEWAY_ROUND_TRIPS = 5 * 10**9, 20
"""And this much beyond the duration of one that does: tools negotiate before they start, and wait for what is late."""

SHOWN_NS = 60 * 10**9
"""And this far without any workload: just to be shown."""

CHANGES_MAX = 10_000


@dataclass(frozen=True)
class Moment:
    """Commands of one instant, `at_ns` after the start of the workload."""

    at_ns: int
    commands: tuple[Command, ...]


def until_ns(workload: Workload | None, links: Iterable[Link]) -> int:
    """How long after its start a workload can still be running."""
    if workload is None:
        return SHOWN_NS
    links = tuple(links)
    own_ns = workload.length_ns
    if own_ns is None:
        return min((_followed_ns(link) for link in links), default=UNKNOWN_NS)
    return own_ns + LEEWAY_NS + LEEWAY_ROUND_TRIPS * sum(link.rtt_ns for link in links)


def _followed_ns(link: Link) -> int:
    """The longest time, in whole milliseconds, with few enough changes."""
    times_ms = range(UNKNOWN_NS // 10**6 + 1)
    fits = bisect_right(times_ms, UNKNOWN_CHANGES, key=lambda ms: _changes(link, ms * 10**6))
    return max(0, fits - 1) * 10**6


def _changes(link: Link, end_ns: int) -> int:
    return sum(change.count(end_ns) for change in link.schedule)


def check(links: Iterable[Link], end_ns: int) -> None:
    """Raises UserError for schedules of more changes than anybody wants to wait for."""
    for link in links:
        count = _changes(link, end_ns)
        if count > CHANGES_MAX:
            raise UserError(
                f"the schedule of the link {link.name} comes to {count} changes in {end_ns / 1e9:g} s; allowed: up to "
                f"{CHANGES_MAX}: a longer 'every', or a workload with a shorter duration"
            )


def timeline(
    emulators: Iterable[Emulator], others: Iterable[tuple[int, Command]] = (), *, real_time: bool
) -> tuple[Moment, ...]:
    """All changes of all emulators, in the order of time; those of one instant together, in the order of the file, and
    `others`, each with its time, before them.
    """
    found: dict[int, list[Command]] = {}
    for at_ns, command in others:
        found.setdefault(at_ns, []).append(command)
    for emulator in emulators:
        for stage in emulator.stages:
            for before, state in pairwise(stage.history):
                changed = emulation.change(emulator, stage, before, state, real_time=real_time)
                found.setdefault(state.at_ns, []).extend(changed)
    return tuple(Moment(at_ns, _together(found[at_ns])) for at_ns in sorted(found))


def _together(commands: list[Command]) -> tuple[Command, ...]:
    """One batch for each tool and namespace."""
    order = {key: n for n, key in enumerate(dict.fromkeys((c.tool, c.netns) for c in commands))}
    return tuple(sorted(commands, key=lambda c: order[c.tool, c.netns]))


def comments(moments: Iterable[Moment]) -> str:
    """For a script: what would have to be typed when."""
    lines = (f"# {moment.at_ns / 1e9:g} s:\n{_commented(moment.commands)}" for moment in moments)
    return "".join(lines)


def _commented(commands: tuple[Command, ...]) -> str:
    return "".join(f"#   {line}\n" for line in script(commands).splitlines())
