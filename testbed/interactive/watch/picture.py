"""The drawing of a running network: nodes with their places, links, control channels. Reads its folder."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...browser import placement
from ...browser.placement import EMULATED, PLAIN
from ...model.address import AddressBook, address_book
from ...model.topology import Topology
from ...spec.topology.file import TopologyFile
from ..link_change import topology_of
from ..running_network import RunningNetwork


def picture(network: RunningNetwork) -> dict[str, Any]:
    """JSON: `spots` with x and y in lengths of a plain link (y points down), `lines`, `controls`. The same network is
    drawn the same way every time. A line has the numbers of its ports at Open vSwitches.
    """
    return drawn(topology_of(network))


def drawn(topology: Topology) -> dict[str, Any]:
    """Of a topology, as `picture` of its network."""
    book = address_book(topology)
    written = TopologyFile.of(topology).written()["nodes"]
    channels = placement.channels(topology, written)
    lengths = {link.name: EMULATED if link.is_emulated else PLAIN for link in topology.links}
    places = placement.places(topology, lengths, _ends(topology), channels)
    return {
        "spots": [
            {"name": node.name, "type": node.type, "x": places[node.name][0], "y": places[node.name][1]}
            | {"address": _address(book, node.name)}
            | {"mark": None if (mark := placement.mark(node.type)) is None else asdict(mark)}
            for node in topology.nodes
        ],
        "lines": [
            {"name": link.name, "ends": list(link.ends), "bend": bend, "is_emulated": link.is_emulated}
            | {"ports": [_number(topology, book, end, link.name) for end in link.ends]}
            for link, bend in zip(topology.links, placement.bends(topology), strict=True)
        ],
        "controls": [asdict(each) for each in channels],
    }


def _address(book: AddressBook, node: str) -> str | None:
    """The only address of a node; None if it has several, or none."""
    found = [str(address) for port in book.interfaces_of(node) for address in port.addresses]
    return found[0] if len(found) == 1 else None


def _number(topology: Topology, book: AddressBook, node: str, link: str) -> int | None:
    """Of the port of an Open vSwitch; None for other nodes."""
    ports = [port.link for port in book.ports_of(node)]
    return 1 + ports.index(link) if topology.node(node).kind.openflow == "switch" else None


def _ends(topology: Topology) -> tuple[str, str]:
    """The leftmost node and the rightmost one: the first and the last host with a link."""
    linked = [node for node in topology.nodes if topology.links_of(node.name)] or list(topology.nodes)
    hosts = [node.name for node in linked if node.kind.runs_workloads] or [node.name for node in linked]
    return hosts[0], hosts[-1]
