"""What routers with daemons can learn from one another by OSPF, RIP and BGP. Pure, no I/O.

These carry IPv4 here, and no protocol passes on what another one found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address

from .address import AddressBook, Port
from .node.router import PROTOCOLS, Protocol
from .topology import Node, Topology

RIP_ROUTERS_MAX = 14
"""Over so many other routers RIP leads: a router's own networks have the metric 1, and each other router adds 1, up to
15 (RFC 2453, section 3.4.2)."""


def speaks(node: Node, protocol: Protocol) -> bool:
    frr = None if node.router is None else node.router.frr
    return frr is not None and getattr(frr, protocol) is not None


def says_anything(node: Node) -> bool:
    """Whether its daemons have a configuration of the user's, which may say anything."""
    return node.router is not None and node.router.frr is not None and node.router.frr.config is not None


def autonomous_system(node: Node) -> int:
    """The number of that of a speaker of BGP."""
    assert node.router is not None, "BUG: a speaker of BGP without a router"
    assert node.router.frr is not None, "BUG: a speaker of BGP without FRR"
    assert node.router.frr.bgp is not None, "BUG: a speaker of BGP without BGP"
    return node.router.frr.bgp.asn


def understand(router: Node, other: Node) -> bool:
    """Whether the daemons of two routers may tell each other routes."""
    if says_anything(router):
        return True
    return says_anything(other) or any(speaks(router, each) and speaks(other, each) for each in PROTOCOLS)


def others(
    protocol: Protocol, port: Port, topology: Topology, book: AddressBook
) -> tuple[tuple[str, IPv4Interface], ...]:
    """The other routers on a port's segment that have a protocol, each with its address there."""
    return tuple(
        (other.node, address)
        for other in book.members(port.segment)
        if other.node != port.node and speaks(topology.node(other.node), protocol)
        for address in other.addresses
        if isinstance(address, IPv4Interface)
    )


def domain(start: str, protocol: Protocol, topology: Topology, book: AddressBook) -> dict[str, int]:
    """The routers that speak a protocol and are joined to one by others that do, with how far away they are; with
    itself.
    """
    found = {start: 0}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        for other in _peers(here, protocol, topology, book):
            if other not in found:
                found[other] = found[here] + 1
                waiting.append(other)
    return found


def networks(router: str, book: AddressBook) -> tuple[IPv4Network, ...]:
    """Those that a router is on."""
    own = (address for port in book.interfaces_of(router) for address in port.addresses)
    return tuple(dict.fromkeys(each.network for each in own if isinstance(each, IPv4Interface)))


def learns(topology: Topology, book: AddressBook, node: Node, ip: IPv4Address | IPv6Address) -> bool:
    """Whether a router's daemons can come to know a route to an address."""
    return _is_open(topology, node) or any(
        ip in network for protocol in PROTOCOLS for network in _learnt(node, protocol, topology, book)
    )


def unlearnt(topology: Topology, book: AddressBook) -> Iterator[tuple[Node, Protocol, IPv4Network, str]]:
    """Routers with a network that they cannot come to know though those that they reach by RIP or BGP are on it, with
    the protocol and one who is; the first such network of each router. What is not here may still not work.
    """
    for node in topology.nodes:
        spoken = [] if _is_open(topology, node) else [each for each in PROTOCOLS if speaks(node, each)]
        missing: dict[IPv4Network, tuple[Protocol, str]] = {}
        for protocol in spoken if "ospf" not in spoken or len(spoken) > 1 else ():
            for other in domain(node.name, protocol, topology, book):
                for network in networks(other, book):
                    missing.setdefault(network, (protocol, other))
        known = {network for protocol in spoken if missing for network in _learnt(node, protocol, topology, book)}
        routed = {each.to for each in node.routes}
        for network, (protocol, other) in missing.items():
            if network not in known and str(network) not in routed:
                yield node, protocol, network, other
                break


def _is_open(topology: Topology, node: Node) -> bool:
    """Whether nobody can tell what a router learns: it has no daemons, or one has a configuration of the user's."""
    return not node.finds_routes or any(map(says_anything, topology.nodes))


def _learnt(node: Node, protocol: Protocol, topology: Topology, book: AddressBook) -> set[IPv4Network]:
    """The networks to which a protocol can lead a router; those that it is on are among them."""
    if not speaks(node, protocol):
        return set()
    if protocol == "bgp":
        return _learnt_by_bgp(node, topology, book)
    most = RIP_ROUTERS_MAX if protocol == "rip" else len(topology.nodes)
    reached = domain(node.name, protocol, topology, book)
    return {network for other, away in reached.items() if away <= most for network in networks(other, book)}


def _learnt_by_bgp(node: Node, topology: Topology, book: AddressBook) -> set[IPv4Network]:
    """A router takes no route on whose path its own AS is, and passes on nothing to its own AS that it learnt there
    (RFC 4271, section 9). That other systems heed the former, too, is left out.
    """
    reached = domain(node.name, "bgp", topology, book)
    asn = {name: autonomous_system(topology.node(name)) for name in reached}
    own = asn[node.name]
    peers = {name: _peers(name, "bgp", topology, book) for name in reached}
    if Counter(asn.values()).most_common(1)[0][1] == 1:
        return {network for name in reached for network in networks(name, book)}
    outside = _passed_on({name: peers[name] for name in reached if asn[name] != own}, asn, book)

    def of_others(name: str) -> set[IPv4Network]:
        return set(networks(name, book)).union(*(outside[each] for each in peers[name] if asn[each] != own))

    inside = (each for each in peers[node.name] if asn[each] == own)
    return of_others(node.name).union(*(of_others(each) for each in inside))


def _passed_on(
    peers: Mapping[str, tuple[str, ...]], asn: Mapping[str, int], book: AddressBook
) -> dict[str, set[IPv4Network]]:
    """What each of these routers can know of the networks of all, if nobody else passes anything on."""
    to_all = {name: set(networks(name, book)) for name in peers}
    from_own = {name: set[IPv4Network]() for name in peers}
    waiting = [*peers]
    while waiting:
        here = waiting.pop(0)
        for other in peers[here]:
            if other in peers:
                is_own = asn[other] == asn[here]
                kept = from_own[other] if is_own else to_all[other]
                more = to_all[here] if is_own else to_all[here] | from_own[here]
                if not more <= kept:
                    kept |= more
                    waiting.append(other)
    return {name: to_all[name] | from_own[name] for name in peers}


def _peers(router: str, protocol: Protocol, topology: Topology, book: AddressBook) -> tuple[str, ...]:
    found = (others(protocol, port, topology, book) for port in book.interfaces_of(router))
    return tuple(dict.fromkeys(name for several in found for name, _ in several))
