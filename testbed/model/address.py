"""Addresses of nodes: the user's where given, else automatic and stable. Pure, no I/O.

Switches join links into one segment, separately for each VLAN. Segments are numbered in the order of the file's links,
on a trunk by VLAN number. Each gets the next free block that holds its nodes and overlaps no given network: of
10.0.0.0/8, a /24 or larger; of fd54:42::/48, a /64. Its nodes get the addresses from .1 (::1) on, in the order in which
the links name them. A node that takes a lease gets the next free address of the range of its segment's DHCP server. MAC
addresses that are not given are 02:54:42 (locally administered) and a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_interface,
    ip_network,
)
from typing import TypeAlias, TypeVar

from ..codec.frozen import dataclass
from ..error import UserError
from .node.service import Dhcp
from .topology import Lane, Link, Topology
from .vlan import Tag

K = TypeVar("K")

Interface: TypeAlias = IPv4Interface | IPv6Interface
Network: TypeAlias = IPv4Network | IPv6Network
End: TypeAlias = tuple[str, str, Tag]
"""A node, one of its links, and the tag of its frames there."""

AUTOMATIC = IPv4Network("10.0.0.0/8")
AUTOMATIC_6 = IPv6Network("fd54:42::/48")
VERSIONS = {"4": (4,), "6": (6,), "both": (4, 6)}


@dataclass(frozen=True)
class Port:
    """The end of a link at a node: its device and its addresses.

    `segment` is the number of the port's segment. Ports of switches have no addresses. On a trunk a host or router has
    none either, but a VLAN device for each `tag`, which is a port too.
    """

    node: str
    link: str
    device: str
    mac: str
    segment: int
    addresses: tuple[Interface, ...] = ()
    tag: Tag = None


@dataclass(frozen=True)
class AddressBook:
    """Every port of a topology, and every VLAN device on one."""

    ports: tuple[Port, ...]
    tagged: tuple[Port, ...] = ()

    def ports_of(self, node: str) -> tuple[Port, ...]:
        """The ports of a node without VLAN devices: one for each link."""
        return self._by_node.get(node, ())

    def interfaces_of(self, node: str) -> tuple[Port, ...]:
        """The ports of a node, each followed by its VLAN devices."""
        return self._interfaces.get(node, ())

    def addresses_of(self, node: str | None, version: int | None) -> list[str | None]:
        """The addresses of a node of one version of IP; without a node None alone."""
        if node is None:
            return [None]
        return [str(each.ip) for port in self.interfaces_of(node) for each in port.addresses if each.version == version]

    def port(self, node: str, link: str, tag: Tag = None) -> Port:
        return next(port for port in self.interfaces_of(node) if (port.link, port.tag) == (link, tag))

    def members(self, segment: int) -> tuple[Port, ...]:
        """The ports of a segment that have addresses."""
        return self._by_segment.get(segment, ())

    @cached_property
    def owners(self) -> Mapping[IPv4Address | IPv6Address, str]:
        """The node that has an address."""
        return {address.ip: port.node for port in self._all for address in port.addresses}

    @cached_property
    def _by_node(self) -> Mapping[str, tuple[Port, ...]]:
        return _grouped((port.node, port) for port in self.ports)

    @cached_property
    def _interfaces(self) -> Mapping[str, tuple[Port, ...]]:
        return _grouped((port.node, port) for port in self._all)

    @cached_property
    def _by_segment(self) -> Mapping[int, tuple[Port, ...]]:
        return _grouped((port.segment, port) for port in self._all if port.addresses)

    @cached_property
    def _all(self) -> tuple[Port, ...]:
        on_top = _grouped(((port.node, port.link), port) for port in self.tagged)
        return tuple(each for port in self.ports for each in (port, *on_top.get((port.node, port.link), ())))


class AddressRefused(UserError):
    """A network has no address left for a node on a link."""

    def __init__(self, what: str, end: End) -> None:
        super().__init__(what)
        self.link = end[1]


def _grouped(pairs: Iterator[tuple[K, Port]]) -> Mapping[K, tuple[Port, ...]]:
    found: dict[K, list[Port]] = {}
    for key, port in pairs:
        found.setdefault(key, []).append(port)
    return {key: tuple(ports) for key, ports in found.items()}


def address_book(topology: Topology) -> AddressBook:
    """Raises UserError if two ports have the same address, or a network has too few."""
    segments = _segments(topology)
    members: dict[int, list[End]] = {}
    given: dict[End, tuple[Interface, ...]] = {}
    for link in topology.links:
        for end in link.ends:
            for tag in topology.tags(end, link) if topology.node(end).kind.has_addresses else ():
                members.setdefault(segments[link.name, tag], []).append((end, link.name, tag))
                given[end, link.name, tag] = _given(topology, end, link, tag)
    given |= _leases(topology, members, given)
    addresses = given | _automatic(topology, members, given)
    ports: list[Port] = []
    tagged: list[Port] = []
    counts: dict[str, int] = {}
    for link in topology.links:
        for end in link.ends:
            number = counts.setdefault(end, 0)
            counts[end] += 1
            mac = (
                topology.node(end).mac
                or f"02:54:42:{len(ports) >> 16:02x}:{len(ports) >> 8 & 255:02x}:{len(ports) & 255:02x}"
            )
            device, own = f"eth{number}", addresses.get((end, link.name, None), ())
            ports.append(Port(end, link.name, device, mac, segments[link.name, None], own))
            for tag in topology.tags(end, link) if topology.node(end).kind.has_addresses else ():
                if tag is not None:
                    lane, own = (link.name, tag), addresses[end, link.name, tag]
                    tagged.append(Port(end, link.name, f"{device}.{tag}", mac, segments[lane], own, tag))
    _refuse_twins([*ports, *tagged])
    return AddressBook(tuple(ports), tuple(tagged))


def _segments(topology: Topology) -> dict[Lane, int]:
    """Maps each lane to its segment number: floods from each lane through the switches."""
    found: dict[Lane, int] = {}
    count = 0
    for link in topology.links:
        for tag in _tags(topology, link):
            if (link.name, tag) not in found:
                _flood(topology, (link.name, tag), count, found)
                count += 1
    return found


def _tags(topology: Topology, link: Link) -> tuple[Tag, ...]:
    """Every tag that its ends allow a frame on a link: none, then the numbers in their order."""
    met = (topology.node(end).membership(link.name) for end in link.ends)
    return (None, *sorted({tag for each in met if each for tag in each.tags if tag is not None}))


def _flood(topology: Topology, first: Lane, number: int, found: dict[Lane, int]) -> None:
    waiting = [first]
    while waiting:
        lane = waiting.pop()
        if lane in found:
            continue
        found[lane] = number
        for end in topology.link(lane[0]).ends:
            if topology.node(end).kind.switches_frames:
                for room in topology.arrivals(lane, end):
                    waiting.extend(topology.departures(room))


def _given(topology: Topology, end: str, link: Link, tag: Tag) -> tuple[Interface, ...]:
    node = topology.node(end)
    texts = dict(link.addresses).get(end if tag is None else f"{end}.{tag}")
    alone = tag is None and topology.links_of(end) == (link,)
    return tuple(ip_interface(text) for text in texts or (node.addresses if alone else ()))


def lease_network(dhcp: Dhcp, addresses: tuple[Interface, ...]) -> Interface | None:
    """That of a DHCP server's addresses in whose network it leases others; None if no network has the whole range."""
    ends = (IPv4Address(dhcp.first), IPv4Address(dhcp.last))
    return next((a for a in addresses if a.version == 4 and all(end in a.network for end in ends)), None)


def _leases(
    topology: Topology, members: Mapping[int, list[End]], given: Mapping[End, tuple[Interface, ...]]
) -> dict[End, tuple[Interface, ...]]:
    found: dict[End, tuple[Interface, ...]] = {}
    for ends in members.values():
        clients = [end for end in ends if topology.node(end[0]).takes_lease]
        if not clients:
            continue
        free = _free(topology, ends, clients[0], given)
        for end in clients:
            if end[2] is not None:
                raise AddressRefused(f"{end[0]} takes a lease, and meets a trunk; allowed: a port of one VLAN", end)
            address = next(free, None)
            if address is None:
                raise AddressRefused(f"the range of the DHCP server has no address left for {end[0]}", end)
            found[end] = (address,)
    return found


def _free(
    topology: Topology, ends: list[End], client: End, given: Mapping[End, tuple[Interface, ...]]
) -> Iterator[Interface]:
    """The addresses that the one DHCP server of a segment can lease there."""
    servers: list[tuple[str, Dhcp, Interface]] = []
    for end in ends:
        dhcp = topology.node(end[0]).dhcp
        own = None if dhcp is None else lease_network(dhcp, given[end])
        if dhcp is not None and own is not None:
            servers.append((end[0], dhcp, own))
    if len(servers) != 1:
        names = " and ".join(name for name, _, _ in servers)
        others = " and ".join(end[0] for end in ends if topology.node(end[0]).dhcp is not None)
        what = "no node there has a DHCP server for it"
        if servers:
            what = f"{names} both have a DHCP server for it"
        elif others:
            what += f": the file gives {others} no address in the network of its range"
        raise AddressRefused(f"{client[0]} takes a lease, and on its segment {what}; allowed: one such server", client)
    ((_, dhcp, own),) = servers
    used = {address.ip for end in ends for address in given[end]}
    each = (IPv4Address(number) for number in range(int(IPv4Address(dhcp.first)), int(IPv4Address(dhcp.last)) + 1))
    return (ip_interface(f"{ip}/{own.network.prefixlen}") for ip in each if ip not in used)


@dataclass
class _Free:
    """The blocks of an automatic network, in order."""

    whole: Network
    bits_min: int
    reserved: set[Network]
    next: int = field(init=False)

    def __post_init__(self) -> None:
        self.next = int(self.whole.network_address)

    def take(self, ends: list[End]) -> Network:
        """The next block for so many addresses and the network's own two. Raises UserError if there is none left."""
        bits = max(self.bits_min, (len(ends) + 1).bit_length())
        size = 1 << bits
        at = -(-self.next // size) * size
        while (block := ip_network((at, self.whole.max_prefixlen - bits))).overlaps(self.whole):
            at += size
            if not any(block.overlaps(other) for other in self.reserved if other.version == block.version):
                self.next = at
                return block
        what = f"{self.whole} has no network left for {ends[0][0]}; allowed: addresses of your own"
        raise AddressRefused(what, ends[0])


def _automatic(
    topology: Topology, members: Mapping[int, list[End]], given: Mapping[End, tuple[Interface, ...]]
) -> dict[End, tuple[Interface, ...]]:
    """Addresses of the ends without a given one: from the first given network of each version on their segment, or else
    from free blocks.
    """
    found: dict[End, tuple[Interface, ...]] = {}
    reserved: set[Network] = {address.network for each in given.values() for address in each}
    free = {4: _Free(AUTOMATIC, 8, reserved), 6: _Free(AUTOMATIC_6, 64, reserved)}
    for ends in members.values():
        taken = [address for end in ends for address in given[end]]
        networks: dict[int, Network] = {address.version: address.network for address in reversed(taken)}
        if not taken:
            networks = {version: free[version].take(ends) for version in VERSIONS[topology.ip]}
        missing = [end for end in ends if not given[end]]
        for version in sorted(networks):
            used = {address.ip for address in taken}
            hosts = (ip for ip in networks[version].hosts() if ip not in used)
            for end in missing:
                found[end] = (*found.get(end, ()), _next(hosts, networks[version], end))
    return found


def _next(hosts: Iterator[object], network: Network, end: End) -> Interface:
    ip = next(hosts, None)
    if ip is None:
        raise AddressRefused(f"the network {network} has no address left for {end[0]} on link {end[1]}", end)
    return ip_interface(f"{ip}/{network.prefixlen}")


def _refuse_twins(ports: list[Port]) -> None:
    owners: dict[object, Port] = {}
    for port in ports:
        for address in port.addresses:
            other = owners.setdefault(address.ip, port)
            if other is not port:
                raise UserError(
                    f"{port.node} (link {port.link}) and {other.node} (link {other.link}) both have the address "
                    f"{address.ip}; allowed: each address once"
                )
    cards: dict[str, Port] = {}
    for port in (port for port in ports if port.tag is None):
        other = cards.setdefault(port.mac, port)
        if other is not port:
            what = f"{port.node} (link {port.link}) and {other.node} (link {other.link}) both have the MAC address"
            raise UserError(f"{what} {port.mac}; allowed: each MAC address once")
