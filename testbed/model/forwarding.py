"""Forwarding: shortest paths through the switches of a segment, and a tree for broadcasts. Pure, no I/O.

Ports of hosts and routers are numbered, and so are the shortest paths from a switch to a port, in the order of the
file's links. The switch takes the path with the port's number, modulo the number of paths (every other switch adds one
after each round): ports share the paths, and the same file always gives the same ones.

VLANs play no part: a ring with an Open vSwitch has no other switches (`node_rules`), so there is one path around
each ring, which the VLANs of other switches allow or not.
"""

from __future__ import annotations

from collections import deque

from .address import AddressBook, Port
from .topology import Link, Topology


def is_told(topology: Topology, port: Port) -> bool:
    """Whether an Open vSwitch is among the switches around a port."""
    around = switches_around(topology, topology.link(port.link).other_end(port.node))
    return any(topology.node(name).kind.openflow == "switch" for name in around)


def switches_around(topology: Topology, switch: str) -> frozenset[str]:
    """A switch and all switches joined with it; empty for another node."""
    return frozenset(_steps(topology, [switch])) if topology.node(switch).kind.switches_frames else frozenset()


def towards(topology: Topology, book: AddressBook, port: Port) -> dict[str, Link]:
    """Maps each switch around a port to the link on which it sends frames for the port."""
    first = topology.link(port.link).other_end(port.node)
    found = {first: topology.link(port.link)} if topology.node(first).kind.switches_frames else {}
    steps = _steps(topology, [*found])
    number = next(n for n, each in enumerate(_ends(topology, book)) if (each.node, each.link) == (port.node, port.link))
    for switch in steps:
        nearer = [link for link in topology.links_of(switch) if steps.get(link.other_end(switch)) == steps[switch] - 1]
        if nearer:
            turned = number + number // len(nearer) * (steps[switch] % 2)
            found[switch] = nearer[turned % len(nearer)]
    return found


def _ends(topology: Topology, book: AddressBook) -> list[Port]:
    """The ports of all nodes except switches."""
    return [port for port in book.ports if not topology.node(port.node).kind.switches_frames]


def tree(topology: Topology, switch: str) -> frozenset[str]:
    """The names of links that join all switches of a switch's segment without a ring, the same from every switch, and
    of links to hosts and routers.
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
    """The distance of each switch from the start, in links."""
    found = dict.fromkeys(start, 0)
    waiting = deque(start)
    while waiting:
        here = waiting.popleft()
        for link in topology.links_of(here):
            there = link.other_end(here)
            if there not in found and topology.node(there).kind.switches_frames:
                found[there] = found[here] + 1
                waiting.append(there)
    return found
