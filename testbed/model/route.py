"""Routes: how each node reaches other segments, over the fewest routers. Pure, no I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import count, islice

from ..codec.frozen import dataclass
from ..error import UserError
from .address import AddressBook, Port
from .forwarding import is_told, towards
from .routing_protocol import learns, understand
from .topology import Lane, Link, Node, Room, Topology

OSPF_COST = 10
"""Of a link whose cost nobody set, on routers with FRR."""


@dataclass(frozen=True)
class Hop:
    """Packets for `to` leave by `port` towards the neighbour `via`; `to` None is everything (the default route)."""

    to: IPv4Network | IPv6Network | None
    port: Port
    via: Port


def routes(topology: Topology, book: AddressBook, node: str) -> tuple[Hop, ...]:
    """The routes of a host or router, one for each remote network; a single default route where all use the same
    neighbour. Ties go to the port that comes first in the file.
    """
    first_hops = _first_hops(topology, book, node, weighs=topology.node(node).finds_routes)
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


def remote_networks(
    topology: Topology, book: AddressBook, node: str
) -> Iterator[tuple[IPv4Network | IPv6Network, Port, tuple[Port, Port]]]:
    """The networks of segments that a node is not on, each with a port there, and with its own port and the neighbour's
    that lead there.
    """
    for segment, first in _first_hops(topology, book, node, weighs=topology.node(node).finds_routes).items():
        members = [(address.network, member) for member in book.members(segment) for address in member.addresses]
        yield from ((network, member, first) for network, member in dict(reversed(members)).items())


def _hides(topology: Topology, member: Port) -> bool:
    """Whether a router translates the addresses of all that lies behind it, seen from this port."""
    router = topology.node(member.node).router
    return router is not None and router.nat is not None and router.nat.out == member.link


def _costs(node: Node) -> dict[str, int]:
    """The costs of OSPF on the links of a router that are not OSPF_COST."""
    frr = None if node.router is None else node.router.frr
    return {} if frr is None or frr.ospf is None else dict(frr.ospf.costs)


def _first_hops(topology: Topology, book: AddressBook, node: str, *, weighs: bool) -> dict[int, tuple[Port, Port]]:
    """Remote segment to (own port, neighbour's port), over the fewest routers; or, if it `weighs` them, as OSPF finds
    them: by the least sum of the costs of the ports that a packet leaves by (RFC 2328, 16.1), over routers that speak
    what the node does.
    """

    def cost_of(port: Port) -> int:
        return _costs(topology.node(port.node)).get(port.link, OSPF_COST) if weighs else 1

    counter = count()
    waiting: list[tuple[int, int, int, tuple[Port, Port] | None]] = []
    own = {port.segment: port for port in reversed(book.interfaces_of(node))}
    for port in book.interfaces_of(node):
        heappush(waiting, (cost_of(port), next(counter), port.segment, None))
    found: dict[int, tuple[Port, Port]] = {}
    settled: set[int] = set()
    crossed = {node}
    while waiting:
        cost, _, segment, hop = heappop(waiting)
        if segment in settled:
            continue
        settled.add(segment)
        if hop is not None and segment not in own:
            found[segment] = hop
        for member in book.members(segment):
            if member.node in crossed or not topology.node(member.node).is_router:
                continue
            if weighs and not understand(topology.node(node), topology.node(member.node)):
                continue
            crossed.add(member.node)
            if _hides(topology, member):
                continue
            first = hop or (own[segment], member)
            for port in book.interfaces_of(member.node):
                heappush(waiting, (cost + cost_of(port), next(counter), port.segment, first))
    return found


def trace(
    topology: Topology, book: AddressBook, source: str, destination: IPv4Address | IPv6Address
) -> tuple[tuple[Link, str], ...] | None:
    """The links of a packet from a node to an address, by the routes of the plan and of the user, each with the end at
    which the packet enters it. None if it does not arrive.
    """
    found, end = _followed(topology, book, source, destination)
    return found if end is None else None


def _followed(
    topology: Topology,
    book: AddressBook,
    source: str,
    destination: IPv4Address | IPv6Address,
    receiver: str | None = None,
) -> tuple[tuple[tuple[Link, str], ...], str | None]:
    """The links of a packet as far as it comes, and the node at which it ends before it arrives: at the `receiver`,
    whatever its addresses, or at the node with this address.
    """
    found: list[tuple[Link, str]] = []
    here = source
    for _ in topology.nodes:
        port, via = next_hop(topology, book, here, destination)
        if port is None or via is None:
            break
        found += _through_switches(topology, book, port, via)
        here = via.node
        if here == receiver or any(a.ip == destination for own in book.interfaces_of(here) for a in own.addresses):
            return tuple(found), None
    return tuple(found), here


@dataclass(frozen=True)
class Way:
    """The links from one host's address to another's, and back, each with the end at which a packet enters it."""

    source_ip: IPv4Address | IPv6Address
    destination_ip: IPv4Address | IPv6Address
    there: tuple[tuple[Link, str], ...]
    back: tuple[tuple[Link, str], ...]


def way(topology: Topology, book: AddressBook, source: str, destination: str) -> Way:
    """To the receiver's address on the last link of a shortest path, and back to the sender's; takes the first address
    whose IP version the sender has too. Raises UserError if the addresses and routes allow neither.
    """
    lanes = topology.lanes(source, destination)
    assert lanes, "BUG: a workload without a path"
    known = {address.version for port in book.interfaces_of(source) for address in port.addresses}
    addresses = book.port(destination, *lanes[-1]).addresses
    to = next((address.ip for address in addresses if address.version in known), addresses[0].ip)
    if to.version not in known:
        raise _other_version(source, lanes[0][0], to)
    there, end = _followed(topology, book, source, to)
    sender, _ = next_hop(topology, book, source, to)
    if end is not None or sender is None:
        raise _no_way(topology, book, (source, destination), end or source, to)
    back_to = next((address.ip for address in sender.addresses if address.version == to.version), None)
    if back_to is None:
        raise _other_version(source, sender.link, to)
    back: tuple[tuple[Link, str], ...] = ()
    here = destination
    for router, seen_as in (*_translated(topology, book, there, to.version), (source, back_to)):
        found, end = _followed(topology, book, here, seen_as, router)
        if end is not None:
            raise _no_way(topology, book, (source, destination), end, seen_as)
        back, here = (*back, *found), router
    return Way(back_to, to, there, back)


def _translated(
    topology: Topology, book: AddressBook, there: tuple[tuple[Link, str], ...], version: int
) -> Iterator[tuple[str, IPv4Address | IPv6Address]]:
    """The routers on the way that translate the source, the last one first, each with the source that it says."""
    for link, entered in reversed(there) if version == 4 else ():
        router = topology.node(entered).router
        if router is not None and router.nat is not None and router.nat.out == link.name:
            outside = (a.ip for p in book.interfaces_of(entered) if p.link == link.name for a in p.addresses)
            said = (ip_address(router.nat.source),) if router.nat.source is not None else outside
            yield from ((entered, ip) for ip in islice((each for each in said if each.version == 4), 1))


def _other_version(source: str, link: str, to: IPv4Address | IPv6Address) -> UserError:
    what = f"{source} has no IPv{to.version} address on the link {link}, over which it would reach {to}"
    return UserError(f"{what}; allowed: addresses of the same kind at both ends")


def _no_way(
    topology: Topology, book: AddressBook, hosts: tuple[str, str], end: str, to: IPv4Address | IPv6Address
) -> UserError:
    """`end` is where packets to an address come to no further."""
    is_ring = next_hop(topology, book, end, to)[0] is not None
    why = f"packets for {to} go round in a ring" if is_ring else f"{end} has no way to {to}"
    what = f"the addresses and routes allow no path between {hosts[0]} and {hosts[1]}: {why}"
    allowed = "addresses of one network on each segment, or none, which makes them automatic"
    if not learns(topology, book, topology.node(end), to):
        what += ", as its protocols tell it of none"
        allowed = "a protocol in common with the routers there (they carry IPv4), or routes of its own"
    return UserError(f"{what}; allowed: {allowed}")


def next_hop(
    topology: Topology, book: AddressBook, node: str, destination: IPv4Address | IPv6Address
) -> tuple[Port, Port] | tuple[None, None]:
    """Own port and neighbour's port, by the longest prefix; a connected network before a route of the plan, the user's
    before both.
    """
    known: dict[IPv4Network | IPv6Network, tuple[Port, Port] | tuple[None, None]] = {}
    everything = ip_network("0.0.0.0/0" if destination.version == 4 else "::/0")
    for port in book.interfaces_of(node):
        for network in (address.network for address in port.addresses if destination in address.network):
            known.setdefault(network, _neighbour(book, port, destination))
    for hop in routes(topology, book, node) if learns(topology, book, topology.node(node), destination) else ():
        if any(address.version == destination.version for address in hop.via.addresses):
            known.setdefault(everything if hop.to is None else hop.to, (hop.port, hop.via))
    for route in topology.node(node).routes:
        to = everything if route.to == "default" else ip_network(route.to, strict=False)
        gateway = ip_address(route.via)
        for port in book.interfaces_of(node):
            if any(gateway in address.network for address in port.addresses):
                known[to] = _neighbour(book, port, gateway)
    fits = [network for network in known if destination in network]
    return known[max(fits, key=lambda network: network.prefixlen)] if fits else (None, None)


def _neighbour(book: AddressBook, port: Port, ip: IPv4Address | IPv6Address) -> tuple[Port, Port] | tuple[None, None]:
    for member in book.members(port.segment):
        if any(address.ip == ip for address in member.addresses):
            return port, member
    return None, None


def _through_switches(topology: Topology, book: AddressBook, port: Port, via: Port) -> tuple[tuple[Link, str], ...]:
    """The links between two ports of one segment, which has one path only (a ring of switches blocks all others), or
    the path on which controllers send packets to the second port: a ring with an Open vSwitch has no other switches.
    """
    told = towards(topology, book, via) if is_told(topology, port) else {}
    seen: set[Room] = set()
    waiting: deque[tuple[Lane, str, tuple[tuple[Link, str], ...]]] = deque([((port.link, port.tag), port.node, ())])
    while waiting:
        lane, here, before = waiting.popleft()
        link = topology.link(lane[0])
        there, found = link.other_end(here), (*before, (link, here))
        if (lane, there) == ((via.link, via.tag), via.node):
            return found
        if topology.node(there).kind.switches_frames:
            is_open = topology.node(there).kind.openflow == "switch"
            for room in topology.arrivals(lane, there):
                if room not in seen:
                    seen.add(room)
                    onward = topology.departures(room)
                    waiting.extend((out, there, found) for out in onward if not is_open or told[there].name == out[0])
    raise AssertionError(f"BUG: {port.node} and {via.node} are not on one segment")
