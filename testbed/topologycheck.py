"""What must hold between the parts of a topology file, beyond each being well-formed. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from .document import Document, Fault, mapping
from .error import one_of
from .policyfile import policy_faults
from .schedulefile import schedule_faults
from .shape import check, well_formed
from .topologyfile import HostFile, LinkFile, NodeFile, SwitchFile, TopologyFile

RESERVED = (
    *("workload", "sweep", "samples", "limits", "sysctls", "topology", "kernel", "capture", "nic"),
    *("exclude", "until", "quick"),
)
"""Names that an axis or an option of a scenario would mistake for one of its own keys."""


@dataclass(frozen=True)
class Parts:
    """What could be read of a topology: all names, and those nodes and links that are well-formed."""

    names: tuple[str, ...]
    link_names: tuple[str, ...]
    nodes: dict[str, Any]
    links: dict[str, LinkFile]
    line: Callable[[str, str], str]


def check_topology(document: Document) -> tuple[TopologyFile | None, list[Fault]]:
    """The topology file, None if it has any fault; and its faults."""
    file, faults = check(TypeAdapter(TopologyFile), document.data)
    parts = _parts(document)
    faults += [fault for each in CHECKS for fault in each(parts)]
    return (None if faults or document.faults else file), faults


def link_faults(link: LinkFile) -> Iterator[Fault]:
    """What is wrong between the keys of one link; paths begin at the link."""
    if link.rtt is not None and link.delay is not None:
        yield Fault(("delay",), "rtt and delay exclude each other", "rtt for both ways together, or delay for each")
        return
    rtt_ns = link.link("").rtt_ns
    for way in ("forward", "backward"):
        direction = link.direction(way)
        if direction.buffer is not None and direction.buffer.unit == "bdp":
            lacking = [key for key, value in (("rate", direction.rate_bps), ("rtt", rtt_ns)) if not value]
            if lacking:
                what = f"a buffer in bdp is rate × round-trip time, and there is no {' and no '.join(lacking)}"
                yield Fault(("buffer", way), what, "a rate and an rtt on the link, or a buffer in packets or bytes")
        if direction.jitter is not None and direction.jitter.sd_ns > direction.delay_ns:
            what = "the jitter is more than the one-way delay, and no packet arrives before it was sent"
            yield Fault(("jitter", way), what, "a jitter up to the delay of that direction")
    yield from (fault.under("schedule") for fault in schedule_faults(link.schedule or [], link.link("")))
    yield from policy_faults(link.link(""))


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
            what = f"two links with the same ends: {other!r} in line {parts.line('links', other)} is one too"
            yield Fault(("links", name, "ends"), what, "one link between two nodes")


def _links(parts: Parts) -> Iterator[Fault]:
    for name, link in parts.links.items():
        yield from (fault.under("links", name) for fault in link_faults(link))


def _addresses(parts: Parts) -> Iterator[Fault]:
    owners: dict[str, tuple[str | int, ...]] = {}
    for path, node, addresses in _all_addresses(parts):
        if addresses and isinstance(parts.nodes.get(node), SwitchFile):
            yield Fault(path, f"{node!r} is a switch and has no address", "addresses of hosts and routers")
        for address in addresses:
            ip = address.partition("/")[0]
            first = owners.setdefault(ip, path)
            if first != path:
                yield Fault(path, f"the address {ip} is that of {first[1]!r} too", "each address once")
    for name, node in parts.nodes.items():
        links = [link for link in parts.links if name in parts.links[link].ends]
        if isinstance(node, HostFile) and node.addresses and len(links) > 1:
            what = f"{name!r} has {len(links)} links, and which of them has these addresses is not said"
            yield Fault(("nodes", name, "addresses"), what, "the addresses on the links")


def _all_addresses(parts: Parts) -> Iterator[tuple[tuple[str | int, ...], str, tuple[str, ...]]]:
    for name, node in parts.nodes.items():
        yield ("nodes", name, "addresses"), name, getattr(node, "addresses", ())
    for name, link in parts.links.items():
        for end, addresses in link.addresses.items():
            yield ("links", name, "addresses", end), end, addresses


def _address_ends(parts: Parts) -> Iterator[Fault]:
    for name, link in parts.links.items():
        for end in link.addresses:
            if end not in link.ends:
                yield Fault(
                    ("links", name, "addresses", end),
                    f"{end!r} is no end of this link",
                    one_of(link.ends, end),
                )


def _real_nics(parts: Parts) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for name, node in parts.nodes.items():
        nic = node.nic if isinstance(node, SwitchFile) else None
        if nic is not None and seen.setdefault(nic, name) != name:
            what = f"the NIC {nic} is a port of {seen[nic]!r} in line {parts.line('nodes', seen[nic])} already"
            yield Fault(("nodes", name, "nic"), what, "each NIC once")


def _switch_loops(parts: Parts) -> Iterator[Fault]:
    """A ring of switches without the spanning tree protocol sends a broadcast round for ever."""
    plain = {name for name, node in parts.nodes.items() if isinstance(node, SwitchFile) and not node.stp}
    leader = {name: name for name in plain}
    for name, link in parts.links.items():
        if link.ends[0] == link.ends[1] or not plain.issuperset(link.ends):
            continue
        first, second = (_leader(leader, end) for end in link.ends)
        if first == second:
            what = f"link {name!r} closes a ring of switches, in which a broadcast never ends"
            yield Fault(("links", name, "ends"), what, "switches with 'stp: true', or no ring")
        leader[first] = second


def _leader(leader: dict[str, str], name: str) -> str:
    while leader[name] != name:
        name = leader[name]
    return name


def _parts(document: Document) -> Parts:
    data = mapping(document.data)
    nodes, links = mapping(data.get("nodes")), mapping(data.get("links"))

    def line(kind: str, name: str) -> str:
        return str(document.places[document.written((kind, name))].line or "?")

    good_nodes = dict(well_formed(TypeAdapter[Any](NodeFile), nodes))
    good_links = dict(well_formed(TypeAdapter(LinkFile), links))
    return Parts(tuple(nodes), tuple(links), good_nodes, good_links, line)


CHECKS: tuple[Callable[[Parts], Iterator[Fault]], ...] = (
    _names,
    _ends,
    _links,
    _addresses,
    _address_ends,
    _switch_loops,
    _real_nics,
)
