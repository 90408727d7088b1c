"""What must hold between the parts of a topology file, beyond each being well-formed. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_address, ip_interface
from typing import Any

from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Kind, check
from ...codec.kind import record
from ...error import SpecError, one_of
from ...model.node.service import LEASE
from ...model.topology import Node, Room, Topology
from ..syntax.document import Document, mapping
from .file import NODE, LinkFile, TopologyFile, with_port_rates
from .link.impairment import FILE_FIELDS
from .node import NodeKeys, SwitchFile
from .node_rules import machine_faults, openflow_faults, router_faults, service_faults
from .schedule import schedule_faults, wander_faults
from .segment_rules import segment_faults

RESERVED = (
    *("workload", "sweep", "samples", "limits", "sysctls", "topology", "kernel", "capture", "nic", "ip"),
    *("engine", "exclude", "expect", "until", "quick", "neighbours"),
)
"""Names that an axis or an option of a scenario would mistake for one of its own keys."""


@dataclass(frozen=True)
class Parts:
    """What could be read of a topology: all names, and those nodes and links that are well-formed."""

    names: tuple[str, ...]
    link_names: tuple[str, ...]
    nodes: dict[str, NodeKeys]
    links: dict[str, LinkFile]
    line: Callable[[str, str], str]


def check_topology(document: Document) -> tuple[TopologyFile | None, list[Fault]]:
    """The topology file, None if it has any fault; and its faults."""
    file, faults = check(TopologyFile, document.data)
    parts = _parts(document)
    faults += [fault for each in CHECKS for fault in each(parts)]
    if file is None or faults or document.faults:
        return None, faults
    faults += segment_faults(file.topology())
    return (None if faults else file.spread()), faults


def topology_of(document: Document) -> Topology:
    """Raises SpecError with all that is wrong with it."""
    file, faults = check_topology(document)
    if file is None:
        raise SpecError(document.problems(faults))
    return file.topology()


def link_faults(link: LinkFile) -> Iterator[Fault]:
    """What is wrong between the keys of one link; paths begin at the link."""
    conflicts = [*link.conflicts()]
    yield from conflicts
    if conflicts:
        return
    resolved = link.link("")
    for field in FILE_FIELDS.values():
        yield from field.faults(resolved)
    yield from (fault.under("schedule") for fault in schedule_faults(link.schedule or (), resolved))
    if link.wander is not None:
        yield from wander_faults(resolved)


def _names(parts: Parts) -> Iterator[Fault]:
    for kind, names in (("nodes", parts.names), ("links", parts.link_names)):
        for name in names:
            if name in RESERVED:
                yield Fault((kind, name), f"the name {name!r} is taken by a key of scenario files", "another name")
    for name in parts.link_names:
        if name in parts.names:
            what = f"link {name!r} has the name of the node in line {parts.line('nodes', name)}"
            yield Fault(("links", name), what, "a name of its own")


def _ends(parts: Parts) -> Iterator[Fault]:
    seen: dict[frozenset[str], str] = {}
    for name, link in parts.links.items():
        first, second = link.ends
        for index, end in enumerate(link.ends):
            if end not in parts.names:
                yield Fault(("links", name, "ends", index), f"there is no node {end!r}", one_of(parts.names, end))
        if first == second:
            yield Fault(("links", name, "ends"), f"both ends are {first!r}", "two different nodes")
            continue
        other = seen.setdefault(frozenset(link.ends), name)
        if other != name:
            what = f"link {other!r} in line {parts.line('links', other)} has the same ends"
            yield Fault(("links", name, "ends"), what, "one link between two nodes")


def _links(parts: Parts) -> Iterator[Fault]:
    for name, link in with_port_rates(parts.nodes, parts.links).items():
        yield from (fault.under("links", name) for fault in link_faults(link))


def _addresses(parts: Parts) -> Iterator[Fault]:
    owners: dict[str, tuple[str | int, ...]] = {}
    for path, end, addresses in _all_addresses(parts):
        name = end.partition(".")[0]
        if addresses and name in parts.nodes and not parts.nodes[name].kind.has_addresses:
            what = f"{name!r} is a {parts.nodes[name].kind.noun} and has no address"
            yield Fault(path, what, "addresses of hosts and routers")
        for address in addresses:
            ip = address.partition("/")[0]
            first = owners.setdefault(ip, path)
            if first != path:
                yield Fault(path, f"the address {ip} is also that of {first[1]!r}", "each address once")
            network = ip_interface(address).network
            if network.version == 4 and network.prefixlen < 31 and ip_address(ip) in (network[0], network[-1]):
                what = f"{ip} is the network's own or its broadcast address, which no host can have"
                yield Fault(path, what, f"from {network[1]} to {network[-2]}")
    for name, node in parts.nodes.items():
        links = [link for link in parts.links if name in parts.links[link].ends]
        if getattr(node, "addresses", ()) and len(links) > 1:
            what = f"{name!r} has {len(links)} links, and the file does not say which of them has these addresses"
            yield Fault(("nodes", name, "addresses"), what, "the addresses on the links")


def _macs(parts: Parts) -> Iterator[Fault]:
    owners: dict[str, str] = {}
    for name, node in parts.nodes.items():
        mac = getattr(node, "mac", None)
        links = [link for link in parts.links if name in parts.links[link].ends]
        if mac is None:
            continue
        if len(links) > 1:
            what = f"{name!r} has {len(links)} links, and the file does not say which of them has this MAC address"
            yield Fault(("nodes", name, "mac"), what, "a host with one link, or no such line")
        if owners.setdefault(mac, name) != name:
            what = f"the MAC address {mac} is also that of {owners[mac]!r}"
            yield Fault(("nodes", name, "mac"), what, "each MAC address once")


def _all_addresses(parts: Parts) -> Iterator[tuple[tuple[str | int, ...], str, tuple[str, ...]]]:
    for name, node in parts.nodes.items():
        own = getattr(node, "addresses", ())
        yield ("nodes", name, "addresses"), name, () if own == LEASE else own
    for name, link in parts.links.items():
        for end, addresses in link.addresses:
            yield ("links", name, "addresses", end), end, addresses


def _address_ends(parts: Parts) -> Iterator[Fault]:
    for name, link in parts.links.items():
        for end, _ in link.addresses:
            node, _, vlan = end.partition(".")
            tags = _tags(parts, name, link, node)
            where = ("links", name, "addresses", end)
            if node not in link.ends:
                yield Fault(where, f"{end!r} is not an end of this link", one_of(link.ends, end))
            elif tags and vlan not in tags:
                what = f"{node!r} meets a trunk here" + (f", which has no VLAN {vlan}" if vlan else "")
                yield Fault(where, what, one_of([f"{node}.{tag}" for tag in tags], end))
            elif vlan and not tags:
                yield Fault(where, f"{node!r} meets no trunk here", node)


def _tags(parts: Parts, name: str, link: LinkFile, node: str) -> tuple[str, ...]:
    """The VLANs of the trunk that a node meets on a link; none where it meets no trunk."""
    other = next((parts.nodes.get(end) for end in link.ends if end != node), None)
    said = dict(other.vlans or ()).get(name) if isinstance(other, SwitchFile) else None
    return tuple(map(str, said)) if isinstance(said, tuple) else ()


def _ports(parts: Parts) -> Iterator[Fault]:
    """What a switch says of its ports is about links of its own; of VLANs, about all of them."""
    for name, node in parts.nodes.items():
        if not isinstance(node, SwitchFile):
            continue
        own = [link for link in parts.link_names if link not in parts.links or name in parts.links[link].ends]
        rates = node.port_rate if isinstance(node.port_rate, dict) else {}
        for key, links in (("vlans", dict(node.vlans or ())), ("port_rate", rates)):
            for link in links:
                if link not in own:
                    yield Fault(("nodes", name, key, link), f"{name!r} has no link {link!r}", one_of(own, link))
        for link in own if node.vlans is not None else ():
            if link not in dict(node.vlans or ()) and link in parts.links:
                yield Fault(("nodes", name, "vlans"), f"the port to {link!r} is in no VLAN", f"all of {', '.join(own)}")
        for link in rates:
            if link in parts.links and _says_rate(parts.links[link], name):
                what = f"link {link!r} sets a rate itself, in line {parts.line('links', link)}"
                yield Fault(("nodes", name, "port_rate", link), what, "one of the two")


def _says_rate(link: LinkFile, node: str) -> bool:
    """Whether a link has a rate of its own for what a node sends into it."""
    return link.direction("forward" if link.ends[0] == node else "backward").rate_bps is not None


def _real_nics(parts: Parts) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for name, node in parts.nodes.items():
        nic = node.nic if isinstance(node, SwitchFile) else None
        if nic is not None and seen.setdefault(nic, name) != name:
            what = f"the NIC {nic} is already a port of {seen[nic]!r} in line {parts.line('nodes', seen[nic])}"
            yield Fault(("nodes", name, "nic"), what, "each NIC once")
        if nic is not None and isinstance(node, SwitchFile) and node.vlans is not None:
            what = f"{name!r} keeps VLANs apart, and a file cannot say in which of them {nic} is"
            yield Fault(("nodes", name, "nic"), what, "a switch of its own for the NIC, without vlans")


def _switch_loops(parts: Parts) -> Iterator[Fault]:
    """A ring of switches without the spanning tree protocol sends a broadcast round for ever, in each VLAN apart."""
    nodes = {name: node.node(name) for name, node in parts.nodes.items() if node.kind.switches_frames}
    plain = {name: node for name, node in nodes.items() if node.kind.openflow is None and not node.stp}
    leader: dict[Room, Room] = {}
    for name, link in parts.links.items():
        if link.ends[0] == link.ends[1] or not plain.keys() >= set(link.ends):
            continue
        first, second = (plain[end] for end in link.ends)
        rings = []
        for one, other in _joined(first, second, name):
            here, there = (_leader(leader, room) for room in (one, other))
            rings += [one[1]] if here == there else []
            leader[here] = there
        if rings:
            vlan = "" if rings[0] is None else f" in VLAN {rings[0]}"
            what = f"link {name!r} closes a ring of switches{vlan}, in which a broadcast never ends"
            yield Fault(("links", name, "ends"), what, "switches with 'stp: true', or no ring")


def _machines(parts: Parts) -> Iterator[Fault]:
    yield from machine_faults(parts.nodes, parts.links)


def _openflow(parts: Parts) -> Iterator[Fault]:
    yield from openflow_faults(parts.nodes, parts.links)


def _routers(parts: Parts) -> Iterator[Fault]:
    yield from router_faults(parts.nodes, parts.links, parts.names)


def _services(parts: Parts) -> Iterator[Fault]:
    yield from service_faults(parts.nodes, parts.links, parts.names)


def _joined(first: Node, second: Node, link: str) -> Iterator[tuple[Room, Room]]:
    """The VLANs inside two switches that a link between them joins."""
    met = [each.membership(link) for each in (first, second)]
    tags = {tag for each in met if each for tag in each.tags} or {None}
    for tag in sorted(tags, key=lambda tag: tag or 0):
        one, other = ((tag,) if each is None else each.inside(tag) for each in met)
        yield from (((first.name, a), (second.name, b)) for a in one for b in other)


def _leader(leader: dict[Room, Room], room: Room) -> Room:
    while (above := leader.get(room, room)) != room:
        room = above
    return room


def _parts(document: Document) -> Parts:
    data = mapping(document.data)
    nodes, links = mapping(data.get("nodes")), mapping(data.get("links"))

    def line(kind: str, name: str) -> str:
        return str(document.positions[document.written((kind, name))].line or "?")

    good_nodes = dict(_well_formed(NODE, nodes))
    good_links = dict(_well_formed(record(LinkFile), links))
    return Parts(tuple(nodes), tuple(links), good_nodes, good_links, line)


def _well_formed(kind: Kind, items: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Those entries of a mapping that are fine by themselves, whatever their neighbours are."""
    for name, item in items.items():
        found, faults = kind.checked(item)
        if not faults:
            yield name, found


CHECKS: tuple[Callable[[Parts], Iterator[Fault]], ...] = (
    _names,
    _ends,
    _links,
    _addresses,
    _address_ends,
    _macs,
    _ports,
    _switch_loops,
    _real_nics,
    _machines,
    _openflow,
    _routers,
    _services,
)
