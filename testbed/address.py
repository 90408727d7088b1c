"""Addresses of nodes: the user's where given, else automatic and stable. Pure, no I/O.

Links joined by switches are one segment. Segments are numbered in the order of the file's links, and each gets the
next free block of 10.0.0.0/8 that holds its nodes (a /24, or larger) and meets no given network; its nodes get the
addresses from .1 on, in the order in which the links name them. MAC addresses are 02:54:42 (locally administered) and
a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, ip_interface

from .error import UserError
from .topology import SWITCHING, Link, Topology

AUTOMATIC = IPv4Network("10.0.0.0/8")


@dataclass(frozen=True)
class Port:
    """Where a link meets a node: the device there, and what it answers to.

    `segment` is the number of the port's segment. Ports of switches have no addresses.
    """

    node: str
    link: str
    device: str
    mac: str
    segment: int
    addresses: tuple[IPv4Interface | IPv6Interface, ...] = ()


@dataclass(frozen=True)
class AddressBook:
    """Every port of a topology."""

    ports: tuple[Port, ...]

    def ports_of(self, node: str) -> tuple[Port, ...]:
        return self._by_node.get(node, ())

    def port(self, node: str, link: str) -> Port:
        return next(port for port in self.ports_of(node) if port.link == link)

    def segment(self, number: int) -> tuple[Port, ...]:
        """All ports of a segment, those of switches too."""
        return self._all_by_segment.get(number, ())

    def members(self, segment: int) -> tuple[Port, ...]:
        """The ports of a segment that have addresses."""
        return self._by_segment.get(segment, ())

    @cached_property
    def _by_node(self) -> Mapping[str, tuple[Port, ...]]:
        found: dict[str, list[Port]] = {}
        for port in self.ports:
            found.setdefault(port.node, []).append(port)
        return {node: tuple(ports) for node, ports in found.items()}

    @cached_property
    def _all_by_segment(self) -> Mapping[int, tuple[Port, ...]]:
        found: dict[int, list[Port]] = {}
        for port in self.ports:
            found.setdefault(port.segment, []).append(port)
        return {segment: tuple(ports) for segment, ports in found.items()}

    @cached_property
    def _by_segment(self) -> Mapping[int, tuple[Port, ...]]:
        found: dict[int, list[Port]] = {}
        for port in self.ports:
            if port.addresses:
                found.setdefault(port.segment, []).append(port)
        return {segment: tuple(ports) for segment, ports in found.items()}


def address_book(topology: Topology) -> AddressBook:
    """Raises UserError if two ports have the same address."""
    segments = _segments(topology)
    members: dict[int, list[tuple[str, Link]]] = {}
    for link in topology.links:
        for end in link.ends:
            if topology.node(end).type not in SWITCHING:
                members.setdefault(segments[link.name], []).append((end, link))
    given = {(end, link.name): _given(topology, end, link) for link in topology.links for end in link.ends}
    automatic = _automatic(members, given)
    ports: list[Port] = []
    counts: dict[str, int] = {}
    for link in topology.links:
        for end in link.ends:
            number = counts.setdefault(end, 0)
            counts[end] += 1
            addresses = given[end, link.name] or automatic.get((end, link.name), ())
            mac = f"02:54:42:{len(ports) >> 16:02x}:{len(ports) >> 8 & 255:02x}:{len(ports) & 255:02x}"
            ports.append(Port(end, link.name, f"eth{number}", mac, segments[link.name], addresses))
    _refuse_twins(ports)
    return AddressBook(tuple(ports))


def _segments(topology: Topology) -> dict[str, int]:
    """Link name to segment number: flood from each link through the switches."""
    found: dict[str, int] = {}
    count = 0
    for first in topology.links:
        if first.name in found:
            continue
        waiting = [first]
        while waiting:
            link = waiting.pop()
            if link.name in found:
                continue
            found[link.name] = count
            for end in link.ends:
                if topology.node(end).type in SWITCHING:
                    waiting.extend(topology.links_of(end))
        count += 1
    return found


def _given(topology: Topology, end: str, link: Link) -> tuple[IPv4Interface | IPv6Interface, ...]:
    node = topology.node(end)
    texts = dict(link.addresses).get(end) or (node.addresses if topology.links_of(end) == (link,) else ())
    return tuple(ip_interface(text) for text in texts)


def _automatic(
    members: Mapping[int, list[tuple[str, Link]]],
    given: Mapping[tuple[str, str], tuple[IPv4Interface | IPv6Interface, ...]],
) -> dict[tuple[str, str], tuple[IPv4Interface, ...]]:
    """Addresses of the ports that were given none; a segment with given IPv4 addresses shares their network."""
    found: dict[tuple[str, str], tuple[IPv4Interface, ...]] = {}
    reserved = {a.network for each in given.values() for a in each if isinstance(a, IPv4Interface)}
    next_free = int(AUTOMATIC.network_address)
    for ends in members.values():
        taken = [a for end, link in ends for a in given[end, link.name] if isinstance(a, IPv4Interface)]
        missing = [(end, link.name) for end, link in ends if not given[end, link.name]]
        if taken:
            network = taken[0].network
        else:
            bits = max(8, (len(ends) + 1).bit_length())
            size = 1 << bits
            next_free = -(-next_free // size) * size
            network = IPv4Network((next_free, 32 - bits))
            while any(network.overlaps(other) for other in reserved):
                network = IPv4Network((int(network.network_address) + size, 32 - bits))
            if not network.subnet_of(AUTOMATIC):
                raise UserError(f"{AUTOMATIC} has no network left for {ends[0][0]}; allowed: addresses of your own")
            next_free = int(network.network_address) + size
        used = {a.ip for a in taken}
        free = (ip for ip in network.hosts() if ip not in used)
        for port in missing:
            ip = next(free, None)
            if ip is None:
                raise UserError(f"the network {network} has no address left for {port[0]} on link {port[1]}")
            found[port] = (IPv4Interface((ip, network.prefixlen)),)
    return found


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
