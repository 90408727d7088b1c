"""Routes: how each node reaches the segments that it is not on, over the fewest routers. Pure, no I/O."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from .address import AddressBook, Port
from .topology import Topology


@dataclass(frozen=True)
class Hop:
    """Packets for `to` leave by `port` towards the neighbour `via`; `to` None is everything (the default route)."""

    to: IPv4Network | IPv6Network | None
    port: Port
    via: Port


def routes(topology: Topology, book: AddressBook, node: str) -> tuple[Hop, ...]:
    """The routes of a host or router, one for each network it is not on; a single default route where all of them
    leave over the same neighbour. Ties go to the port that stands first in the file.
    """
    first_hops = _first_hops(topology, book, node)
    if not first_hops:
        return ()
    if len({(port, via) for port, via in first_hops.values()}) == 1:
        port, via = next(iter(first_hops.values()))
        return (Hop(None, port, via),)
    hops: list[Hop] = []
    for segment, (port, via) in first_hops.items():
        networks = dict.fromkeys(a.network for member in book.members(segment) for a in member.addresses)
        hops.extend(Hop(network, port, via) for network in networks)
    return tuple(hops)


def _first_hops(topology: Topology, book: AddressBook, node: str) -> dict[int, tuple[Port, Port]]:
    """Remote segment to (own port, neighbour's port), by breadth-first search through routers."""
    own = {port.segment: port for port in reversed(book.ports_of(node))}
    found: dict[int, tuple[Port, Port]] = {}
    waiting: deque[tuple[int, tuple[Port, Port] | None]] = deque((port.segment, None) for port in book.ports_of(node))
    crossed = {node}
    while waiting:
        segment, hop = waiting.popleft()
        for member in book.members(segment):
            if member.node in crossed or topology.node(member.node).type != "router":
                continue
            crossed.add(member.node)
            first = hop or (own[segment], member)
            for port in book.ports_of(member.node):
                if port.segment not in own and port.segment not in found:
                    found[port.segment] = first
                    waiting.append((port.segment, first))
    return found
