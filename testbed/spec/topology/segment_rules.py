"""What must hold on each segment of a topology, once all its parts are well-formed. Pure, no I/O.

Paths of faults begin at the topology.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import combinations

from ...codec.fault import Fault, Path
from ...error import one_of
from ...model.address import AddressBook, AddressRefused, Network, Port, address_book
from ...model.node.router import Frr
from ...model.route import remote_networks
from ...model.routing_protocol import RIP_ROUTERS_MAX, unlearnt
from ...model.topology import Link, Node, Route, Topology
from ...model.vlan import Membership
from .node_rules import range_faults, upstream_faults

IPV6_MTU_MIN = 1280
"""RFC 8200, section 5: below it a link carries no IPv6."""
SHOWN = 5


def segment_faults(topology: Topology) -> Iterator[Fault]:
    """Trunks, MTUs, addresses and routes that do not fit what is around them."""
    yield from engine_faults(topology)
    yield from _trunks(topology)
    yield from one_way_faults(topology)
    try:
        book = address_book(topology)
    except AddressRefused as error:
        yield Fault(("links", error.link), str(error))
        return
    yield from mtu_faults(topology, book)
    yield from _lonely(topology, book)
    yield from range_faults(topology, book)
    yield from upstream_faults(topology, book)
    yield from overlap_faults(topology, book)
    yield from hello_faults(topology, book)
    yield from _unlearnt(topology, book)
    yield from nat_faults(topology, book)
    yield from _void_rules(topology, book)
    for node in topology.nodes:
        yield from (fault.under("nodes", node.name, "routes") for fault in _twice(node.routes))
        for index, route in enumerate(node.routes):
            yield from (fault.under("nodes", node.name, "routes", index) for fault in _route(node, route, book))


def engine_faults(topology: Topology) -> Iterator[Fault]:
    """Nodes that the engine cannot build."""
    for node in topology.nodes:
        if topology.engine == "mininet" and node.kind.mininet is None:
            yield Fault(
                ("nodes", node.name), f"{node.name!r} is a {node.type}, which Mininet cannot build", "engine: netns"
            )
        if topology.engine == "mininet" and node.router is not None:
            what = f"{node.name!r} does more than forward (frr, nat, firewall), which Mininet's nodes do not"
            yield Fault(("nodes", node.name), what, "engine: netns")
        if topology.engine == "mininet" and (node.serves or node.takes_lease):
            key = "addresses" if node.takes_lease else "dns" if node.dhcp is None else "dhcp"
            what = f"{node.name!r} has a DHCP or DNS server or takes a lease, which Mininet's nodes do not"
            yield Fault(("nodes", node.name, key), what, "engine: netns")


def _trunks(topology: Topology) -> Iterator[Fault]:
    for switch in topology.nodes:
        for member in switch.vlans:
            other = topology.node(topology.link(member.link).other_end(switch.name))
            if member.is_trunk and not other.kind.takes_trunks:
                what = f"{other.name!r} is a {other.type}, which has no devices for the VLANs of a trunk"
                yield Fault(("nodes", switch.name, "vlans", member.link), what, "one VLAN, or a host or router there")


def one_way_faults(topology: Topology) -> Iterator[Fault]:
    """Access ports that trunks reach: a Linux bridge lets a frame in that has the tag of the port's own VLAN, and sends
    none out, so that broadcasts and all that follows would cross in one direction only.
    """
    for switch in topology.nodes:
        for member in switch.vlans:
            trunk = None if member.is_trunk else _trunk_before(topology, switch, member)
            if trunk is not None:
                other, link = trunk
                what = (
                    f"this port has no tags, and frames of VLAN {member.vlans[0]} come to it with one from {other!r} "
                    f"(link {link!r}): they would go one way only"
                )
                yield Fault(("nodes", switch.name, "vlans", member.link), what, "a trunk at both ends, or at none")


def _trunk_before(topology: Topology, switch: Node, access: Membership) -> tuple[str, str] | None:
    """The switch, and its link, of a trunk port that sends frames of an access port's VLAN to it; None without one."""
    vlan, seen = access.vlans[0], {access.link}
    waiting = deque([(access.link, switch.name)])
    while waiting:
        link, here = waiting.popleft()
        there = topology.node(topology.link(link).other_end(here))
        if not there.kind.switches_frames:
            continue
        met = there.membership(link)
        if met is not None:
            if met.is_trunk and vlan in met.vlans:
                return there.name, link
            continue
        onward = [each.name for each in topology.links_of(there.name) if each.name not in seen]
        seen.update(onward)
        waiting.extend((each, there.name) for each in onward)
    return None


def mtu_faults(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """All ends of a segment send packets of one size, and every link between its switches carries them."""
    sizes: dict[int, Link] = {}
    for port in _ends(book):
        link = topology.link(port.link)
        first = sizes.setdefault(port.segment, link)
        if link.mtu_bytes != first.mtu_bytes:
            what = (
                f"switches join the links {first.name!r} and {link.name!r}, and their MTUs are {first.mtu_bytes} and "
                f"{link.mtu_bytes}: longer packets would be dropped in silence"
            )
            yield Fault(("links", link.name, "mtu"), what, f"an MTU of {first.mtu_bytes}, or a router between them")
    for link in topology.links:
        ends = [each for each in _ends(book) if each.link == link.name] if link.mtu_bytes < IPV6_MTU_MIN else []
        who = next((port.node for port in ends if any(address.version == 6 for address in port.addresses)), None)
        if who is not None:
            what = f"no IPv6 crosses a link with an MTU of {link.mtu_bytes}, and {who!r} has an IPv6 address there"
            yield Fault(("links", link.name, "mtu"), what, f"{IPV6_MTU_MIN} or more")
    for port in book.ports:
        link, end = topology.link(port.link), sizes.get(port.segment)
        between = all(topology.node(name).kind.switches_frames for name in link.ends)
        if between and end is not None and link.mtu_bytes < end.mtu_bytes and port.node == link.ends[0]:
            what = f"it joins ends with an MTU of {end.mtu_bytes} ({end.name}), and its own is {link.mtu_bytes}"
            yield Fault(("links", link.name, "mtu"), what, f"{end.mtu_bytes} or more")


def _ends(book: AddressBook) -> Iterator[Port]:
    """The interfaces with addresses, in the order of the links."""
    for node in dict.fromkeys(port.node for port in book.ports):
        yield from (port for port in book.interfaces_of(node) if port.addresses)


def _lonely(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Interfaces that share no network with anybody else on their segment."""
    for segment in dict.fromkeys(port.segment for port in _ends(book)):
        members = book.members(segment)
        first = members[0]
        if len(members) < 2 or all(set(_networks(each)) == set(_networks(first)) for each in members):
            continue
        alone = [each for each in members if not any(_meet(each, other) for other in members if other is not each)]
        for port in alone[1:] if len(alone) == len(members) else alone:
            others = [each for each in members if each is not port]
            names = ", ".join(each.node for each in others[:SHOWN]) + (", …" if len(others) > SHOWN else "")
            has = ", ".join(map(str, port.addresses))
            what = f"{port.node!r} has {has}, and nobody else on its segment ({names}) is in that network"
            networks = dict.fromkeys(str(network) for each in others for network in _networks(each))
            yield Fault(_position(topology, port), what, f"addresses of {', '.join(list(networks)[:SHOWN])}")


def overlap_faults(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Networks of two segments that overlap so that a node can reach only one of them."""
    segments: dict[Network, set[int]] = {}
    for port in _ends(book):
        for network in _networks(port):
            segments.setdefault(network, set()).add(port.segment)
    twice = {network for network, several in segments.items() if len(several) > 1 and not network.is_link_local}
    for node in topology.nodes:
        shadowed = _shadowed(topology, book, node)
        if shadowed is not None:
            yield shadowed
        elif twice and node.is_router and not node.finds_routes:
            found = _ambiguous(topology, book, node, twice)
            if found is not None:
                yield found
                return


def _shadowed(topology: Topology, book: AddressBook, node: Node) -> Fault | None:
    """A neighbour for whose address a node takes another of its links: that with the longest prefix, then the first."""
    own = [(port, network) for port in book.interfaces_of(node.name) for network in _networks(port)]
    if not any(_clash(n, m) for (p, n), (q, m) in combinations(own, 2) if p.segment != q.segment):
        return None
    for port, whole in own:
        for member in book.members(port.segment):
            for ip in (each.ip for each in member.addresses if member.node != node.name and each.ip in whole):
                taken, network = max((each for each in own if ip in each[1]), key=lambda each: each[1].prefixlen)
                if taken.segment != port.segment and not _is_routed(node, ip_network(ip)):
                    what = (
                        f"{node.name!r} cannot reach {ip} of {member.node!r} over {port.link!r}: it has {network} "
                        f"over {taken.link!r}"
                    )
                    return Fault(_position(topology, port), what, "networks that do not overlap")
    return None


def _ambiguous(topology: Topology, book: AddressBook, node: Node, twice: set[Network]) -> Fault | None:
    """A network that a router meets in two directions."""
    known: dict[Network, tuple[Port, object]] = {}
    for port in book.interfaces_of(node.name):
        known |= {network: (port, None) for network in _networks(port)}
    for network, there, first in remote_networks(topology, book, node.name):
        other, way = known.setdefault(network, (there, first))
        if network in twice and way != first and not _is_routed(node, network):
            what = (
                f"{network} is on the links {other.link!r} and {there.link!r}, and {node.name!r} finds one of the two"
            )
            return Fault(_position(topology, there), what, "a network for each segment")
    return None


def _clash(one: Network, other: Network) -> bool:
    return one.version == other.version and one.overlaps(other) and not one.is_link_local


def _is_routed(node: Node, network: Network) -> bool:
    """Whether a route of the file's, which comes before all others of its length, leads into a network."""
    return any(each.to != "default" and _clash(ip_network(each.to), network) for each in node.routes)


def _unlearnt(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Routers whose trial waits for a route that nobody can tell them."""
    for node, protocol, network, other in unlearnt(topology, book):
        frr = None if node.router is None else node.router.frr
        if frr is None or frr.within_ns is None:
            continue
        what = f"{node.name!r} never learns a route to {network} of {other!r}: "
        if protocol == "rip":
            what += f"RIP leads over {RIP_ROUTERS_MAX} other routers at most"
            allowed = "fewer routers in a row, or ospf"
        else:
            what += "within an AS no router passes on what it learnt there, and none takes a route that was in its AS"
            allowed = "links between all routers of an AS, or an AS of its own for each"
        yield Fault(
            ("nodes", node.name, "frr", protocol), what, f"{allowed}; or 'within: none', which waits for no route"
        )


def _twice(routes: Sequence[Route]) -> Iterator[Fault]:
    """Routes of which the later one takes the place of an earlier one."""
    known: dict[Network, int] = {}
    for index, route in enumerate(routes):
        version = ip_address(route.via).version
        to = ip_network(route.to if route.to != "default" else "0.0.0.0/0" if version == 4 else "::/0")
        if to.version == version and known.setdefault(to, index) != index:
            yield Fault((index, "to"), f"a route to {route.to} is in this list already", "each network once")


def nat_faults(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Translated addresses that lead nobody back, and ports that are passed on to nobody."""
    for node in topology.nodes:
        nat = None if node.router is None else node.router.nat
        if nat is None:
            continue
        where = ("nodes", node.name, "nat")
        ports = [port for port in book.interfaces_of(node.name) if port.link == nat.out]
        if any(port.tag is not None for port in ports):
            what = f"{nat.out!r} is a trunk, and what leaves by it has a tag: nothing would be translated"
            yield Fault((*where, "out"), what, "a link whose port at the switch has one VLAN")
            continue
        own = [address for port in ports for address in port.addresses if address.version == 4]
        if nat.source is not None:
            source = ip_address(nat.source)
            owner = book.owners.get(source)
            if owner not in (None, node.name) or (owner is None and any(source in each.network for each in own)):
                whose = "nobody" if owner is None else repr(owner)
                what = f"answers would not come back: {nat.source} is the address of {whose}"
                yield Fault((*where, "source"), what, ", ".join(str(each.ip) for each in own) or None)
        for number, forward in enumerate(nat.forwards):
            if ip_address(forward.to) not in book.owners and not any(each.real_nic for each in topology.nodes):
                inside = [str(ip) for ip, who in book.owners.items() if ip.version == 4 and who != node.name]
                what = f"nobody has the address {forward.to}"
                yield Fault((*where, "forward", number, "to"), what, ", ".join(inside[:SHOWN]) or None)


def _void_rules(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Rules of firewalls about nodes without addresses, which fit no packet."""
    having = list(dict.fromkeys(port.node for port in _ends(book)))
    for node in topology.nodes:
        for number, rule in enumerate(() if node.router is None else node.router.firewall or ()):
            for key, name in (("from", rule.source), ("to", rule.destination)):
                if name is not None and name not in having:
                    what = f"{name!r} is a {topology.node(name).type} without an address, so no packet fits this rule"
                    yield Fault(("nodes", node.name, "firewall", number, key), what, one_of(having, name))


def hello_faults(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Routers on one segment whose Hellos name other times: none becomes the other's neighbour (RFC 2328, 10.5)."""
    first: dict[int, tuple[str, Frr]] = {}
    for port in _ends(book):
        router = topology.node(port.node).router
        if router is None or router.frr is None or router.frr.ospf is None:
            continue
        other, theirs = first.setdefault(port.segment, (port.node, router.frr))
        assert theirs.ospf is not None, "BUG: a neighbour without OSPF"
        if router.frr.within_ns is None and theirs.within_ns is None:
            continue
        for key, own, meant in (
            ("hello", router.frr.ospf.hello_s, theirs.ospf.hello_s),
            ("dead", router.frr.ospf.dead_s, theirs.ospf.dead_s),
        ):
            if own != meant:
                what = f"{key} is {own} s here and {meant} s at {other!r}, so the two never become neighbours"
                allowed = f"{meant} s; or 'within: none' for both, which waits for no neighbour"
                yield Fault(("nodes", port.node, "frr", "ospf", key), what, allowed)


def _networks(port: Port) -> Iterator[Network]:
    return (address.network for address in port.addresses)


def _meet(one: Port, other: Port) -> bool:
    return any(
        theirs.ip in own.network and own.ip in theirs.network for own in one.addresses for theirs in other.addresses
    )


def _position(topology: Topology, port: Port) -> Path:
    """Where the addresses of an interface are written."""
    end = port.node if port.tag is None else f"{port.node}.{port.tag}"
    if end in dict(topology.link(port.link).addresses):
        return ("links", port.link, "addresses", end)
    return ("nodes", port.node, "addresses")


def _route(node: Node, route: Route, book: AddressBook) -> Iterator[Fault]:
    via = ip_address(route.via)
    if route.to != "default" and ip_network(route.to).version != via.version:
        what = f"a route to {route.to} cannot go through {route.via}, which has another version of IP"
        yield Fault(("via",), what, f"an IPv{ip_network(route.to).version} address")
        return
    ports = book.interfaces_of(node.name)
    own = [port for port in ports if any(via in address.network for address in port.addresses)]
    if not own:
        networks = [str(address.network) for port in ports for address in port.addresses]
        yield Fault(("via",), f"{node.name!r} is on no network of {route.via}", f"addresses of {', '.join(networks)}")
    elif not any(
        _has(member, via) for port in own for member in book.members(port.segment) if member.node != node.name
    ):
        near = [
            str(a.ip)
            for port in own
            for each in book.members(port.segment)
            if each.node != node.name
            for a in each.addresses
        ]
        yield Fault(
            ("via",), f"no neighbour of {node.name!r} has the address {route.via}", ", ".join(near[:SHOWN]) or None
        )


def _has(port: Port, ip: IPv4Address | IPv6Address) -> bool:
    return any(address.ip == ip for address in port.addresses)
