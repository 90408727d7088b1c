"""What must hold between DHCP and DNS servers, those who take leases, and the rest of a topology file. Pure, no I/O.

Paths of faults begin at the topology.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network, ip_address

from ...codec.fault import Fault
from ...error import one_of
from ...model.address import AddressBook, lease_network
from ...model.node.service import LEASE
from ...model.topology import Topology
from .file import LinkFile
from .node.keys import HostFile, NodeKeys
from .node.router import RouterFile


def service_faults(
    nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile], names: tuple[str, ...]
) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed, `names` those of all nodes."""
    for name, node in nodes.items():
        if isinstance(node, HostFile) and node.addresses == LEASE:
            yield from (fault.under("nodes", name) for fault in _client(name, node, links))
        if isinstance(node, HostFile | RouterFile) and node.dns is not None:
            yield from (fault.under("nodes", name, "dns") for fault in _dns(name, node, nodes, names))


def _client(name: str, host: HostFile, links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    own = [link for link in links if name in links[link].ends]
    if len(own) != 1:
        yield Fault(("addresses",), f"{name!r} has {len(own)} links, and a lease is for one", "a host with one link")
    if any(name in dict(links[link].addresses) for link in own):
        yield Fault(("addresses",), f"the link {own[0]!r} gives {name!r} an address, too", "one of the two")
    if host.dhcp is not None:
        yield Fault(("dhcp",), "a DHCP server cannot take its own address from one", "an address of its own")
    if host.routes:
        yield Fault(("routes",), "its routes come with its lease", "no routes")


def _dns(
    name: str, node: HostFile | RouterFile, nodes: Mapping[str, NodeKeys], names: tuple[str, ...]
) -> Iterator[Fault]:
    assert node.dns is not None, "BUG: the names of a node without a DNS server"
    own = {f"{each.lower()}.{node.dns.domain}": each for each in names}
    for key, meant in node.dns.names:
        if own.get(key, meant) != meant:
            yield Fault(("names", key), "a node has this name already", "another name")
        if not _is_address(meant) and (meant not in names or (meant in nodes and not nodes[meant].kind.has_addresses)):
            what = f"{meant!r} is no address, and no node with one"
            yield Fault(("names", key), what, one_of(_with_addresses(nodes), meant))
    upstream = node.dns.upstream
    if upstream is None or _is_address(upstream):
        return
    other = nodes.get(upstream)
    if upstream == name or (upstream in nodes and getattr(other, "dns", None) is None) or upstream not in names:
        others = [each for each in nodes if each != name and getattr(nodes[each], "dns", None) is not None]
        yield Fault(("upstream",), f"{upstream!r} is no other node with dns", one_of(others, upstream))


def _is_address(text: str) -> bool:
    """Without a scope, which may be any text and means nothing to other nodes."""
    try:
        return getattr(ip_address(text), "scope_id", None) is None
    except ValueError:
        return False


def _with_addresses(nodes: Mapping[str, NodeKeys]) -> list[str]:
    return [name for name, node in nodes.items() if node.kind.has_addresses]


def range_faults(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Ranges outside of the server's networks, and addresses of others in them; servers without an address."""
    for node in topology.nodes:
        if node.dns is not None and not any(port.addresses for port in book.interfaces_of(node.name)):
            yield Fault(("nodes", node.name, "dns"), f"{node.name!r} has no address to answer at", "a host with a link")
        if node.dhcp is None:
            continue
        ports = book.interfaces_of(node.name)
        own = next((port for port in ports if lease_network(node.dhcp, port.addresses) is not None), None)
        where = ("nodes", node.name, "dhcp", "range")
        if own is None:
            networks = ", ".join(str(a.network) for port in ports for a in port.addresses if a.version == 4)
            yield Fault(where, f"{node.name!r} has no address in the network of this range", networks or None)
            continue
        first, last = IPv4Address(node.dhcp.first), IPv4Address(node.dhcp.last)
        server = lease_network(node.dhcp, own.addresses)
        network = None if server is None else server.network
        assert isinstance(network, IPv4Network), "BUG: a range of no network"
        ends = (network.network_address, network.broadcast_address) if network.prefixlen < 31 else ()
        for each in ends:
            if first <= each <= last:
                what = f"{each} is the network's own or its broadcast address, which no host can have"
                yield Fault(where, what, f"from {network[1]} to {network[-2]}")
        for port in book.members(own.segment):
            taken = [a.ip for a in port.addresses if isinstance(a.ip, IPv4Address) and first <= a.ip <= last]
            if taken and not topology.node(port.node).takes_lease:
                yield Fault(where, f"{taken[0]} is the address of {port.node!r}", "a range of free addresses")
        if any(other.dhcp is not None and other is not node and _meets(other.name, own.segment, topology, book)
               for other in topology.nodes):  # fmt: skip
            yield Fault(where, "another node has a DHCP server on this segment, too", "one of the two")


def _meets(name: str, segment: int, topology: Topology, book: AddressBook) -> bool:
    """Whether a node leases addresses on a segment."""
    dhcp = topology.node(name).dhcp
    return dhcp is not None and any(
        port.segment == segment and lease_network(dhcp, port.addresses) is not None for port in book.interfaces_of(name)
    )
