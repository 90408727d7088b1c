"""The round trip in which a rule counts: that which the topology asks of the path of the workload's flows, without
serialisation, queues and jitter. Pure, no I/O.

It is known before anything runs, is the same for all seeds and controls, and is that of a `bdp` and of `leave_out`. The
gate holds what pings measured against it.
"""

from __future__ import annotations

from dataclasses import replace

from ..error import ValueRefused
from ..units import format_time
from .address import address_book
from .data_path import DataPath, data_path_between, detours, goes_down
from .forwarding import switches_around
from .topology import Link, Topology
from .workload import Workload

ALLOWED = "between with times, as [10 s, 20 s]"


def round_trip_ns(topology: Topology, workload: Workload) -> int:
    """More than 0. Raises ValueRefused where it is not known, is 0, is not that of all flows, or does not stay."""
    book = address_book(topology)
    paths = [data_path_between(topology, book, *pair) for pair in workload.pairs]
    for link in (hop.link for path in paths for hop in (*path.path, *path.answers)):
        if _is_elsewhere(topology, link):
            what = (
                f"the round trip is not known: the link {link.name} is between real computers, and has one of its own"
            )
            raise ValueRefused(what, ALLOWED)
        if link.wander is not None or _changes(link):
            raise ValueRefused(f"the round trip does not stay: that of the link {link.name} changes", ALLOWED)
        if goes_down(link) and _is_of_ring(topology, link):
            what = f"the round trip does not stay: when the link {link.name} is down, switches may find another way"
            raise ValueRefused(what, ALLOWED)
    others = (detour.rtt_ns for path in paths for detour in detours(topology, book, path))
    found = sorted({*(path.rtt_ns for path in paths), *others})
    if len(found) > 1:
        said = " and ".join(map(format_time, found))
        raise ValueRefused(f"paths of its flows have round trips of {said}, and it is not said which counts", ALLOWED)
    if not found[0]:
        raise ValueRefused(f"the path has no round trip to count in: {_links(paths[0])}", f"an rtt, or {ALLOWED}")
    return found[0]


def _is_elsewhere(topology: Topology, link: Link) -> bool:
    ends = (topology.node(name) for name in link.ends)
    return link.emulator is not None or any(end.kind.runs_in == "computer" or end.real_nic for end in ends)


def _changes(link: Link) -> bool:
    return any(name == "delay_ns" for each in link.schedule for name, _ in each.all_pairs)


def _is_of_ring(topology: Topology, link: Link) -> bool:
    """Whether switches join its ends without it, too."""
    first, second = link.ends
    left = replace(topology, links=tuple(each for each in topology.links if each.name != link.name))
    return second in switches_around(left, first)


def _links(path: DataPath) -> str:
    return ", ".join(hop.link.name for hop in path.path)
