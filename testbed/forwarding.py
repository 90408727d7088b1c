"""Forwarding: shortest ways through the switches of a segment, and a tree for what goes to everybody. Pure, no I/O.

Of several shortest ways to a port, a switch takes the one whose number, in the order of the file's links, is that of
the port among those of its segment, counted around (every other switch counts on by one after each round): ports share
the ways, and the same file always gives the same ones.
"""

from __future__ import annotations

from collections import deque

from .address import AddressBook, Port
from .topology import SWITCHING, Link, Topology


def towards(topology: Topology, book: AddressBook, port: Port) -> dict[str, Link]:
    """For each switch of a port's segment the link on which it sends what is for the port."""
    first = topology.link(port.link).other_end(port.node)
    found = {first: topology.link(port.link)} if topology.node(first).type in SWITCHING else {}
    steps = _steps(topology, [*found])
    number = book.members(port.segment).index(port)
    for switch in steps:
        nearer = [link for link in topology.links_of(switch) if steps.get(link.other_end(switch)) == steps[switch] - 1]
        if nearer:
            turned = number + number // len(nearer) * (steps[switch] % 2)
            found[switch] = nearer[turned % len(nearer)]
    return found


def tree(topology: Topology, switch: str) -> frozenset[str]:
    """The names of links that join all switches of a switch's segment without a ring, the same from every switch; links
    to hosts and routers are in it.
    """
    switches = _steps(topology, [switch])
    root = next(node.name for node in topology.nodes if node.name in switches)
    reached, kept = {root}, set()
    waiting = deque([root])
    while waiting:
        here = waiting.popleft()
        for link in topology.links_of(here):
            there = link.other_end(here)
            if there not in switches:
                kept.add(link.name)
            elif there not in reached:
                reached.add(there)
                kept.add(link.name)
                waiting.append(there)
    return frozenset(kept)


def _steps(topology: Topology, start: list[str]) -> dict[str, int]:
    """How many links away from the start each switch is."""
    found = dict.fromkeys(start, 0)
    waiting = deque(start)
    while waiting:
        here = waiting.popleft()
        for link in topology.links_of(here):
            there = link.other_end(here)
            if there not in found and topology.node(there).type in SWITCHING:
                found[there] = found[here] + 1
                waiting.append(there)
    return found
