"""The keys of a topology and of its links, converted to and from values. Pure, no I/O.

The keys of node types are in `node` and `openflow`; what must hold between nodes and links is in `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...codec.keyed import Keyed, key, named
from ...codec.kind import (
    ADDRESSES,
    END_NAME,
    ENDS,
    IP_VERSIONS,
    LINES,
    NAME,
    byte_count,
    mapped,
    record,
    table,
    variant,
)
from ...model.link.impairment import IMPAIRMENTS, Impairment
from ...model.link.wander import WANDER, Wander
from ...model.node.type import NODE_TYPES
from ...model.openflow import NEIGHBOURS, Neighbours
from ...model.topology import ENGINE, MTU_DEFAULT, MTU_MAX, MTU_MIN, NIC, Engine, IpVersions, Link, Nic, Topology
from .link.direction import WAYS
from .link.fault import without_outages
from .link.impaired import Impaired, both, link_keys, rows, with_keys
from .node import NODES, NodeKeys, SwitchFile
from .openflow import NODES as OPENFLOW_NODES
from .schedule import SCHEDULE, ChangeFile

MTU = byte_count(MTU_MIN, MTU_MAX, "The largest IP packet, in bytes.")
_NODE_FILES = {each.type: each for each in (*NODES, *OPENFLOW_NODES)}
NODE_FILES: dict[str, type[NodeKeys]] = {name: _NODE_FILES[name] for name in NODE_TYPES}
"""By the names of NODE_TYPES, in its order."""


def register(file: type[NodeKeys]) -> None:
    """Takes in the keys of a node type from outside."""
    assert file.type in NODE_TYPES, f"BUG: {file.type!r} is no node type"
    assert file.type not in NODE_FILES, f"BUG: two node types with the name {file.type!r}"
    NODE_FILES[file.type] = file


NODE = variant("type", NODE_FILES)


@named
@with_keys(link_keys(rows(lambda row: not row.varies_by_direction)), behind="schedule")
@with_keys(link_keys(rows(lambda row: row.varies_by_direction)), behind="ends")
class LinkFile(Impaired):
    """A link between two nodes, and what the emulator in its middle does."""

    ends: tuple[str, str] = key("ends", ENDS)
    mtu: int = key("mtu", MTU, default=MTU_DEFAULT)
    addresses: tuple[tuple[str, tuple[str, ...]], ...] = key(
        "addresses",
        mapped(END_NAME, ADDRESSES),
        "The addresses of each end that does not get automatic ones.",
        default=(),
    )
    schedule: tuple[ChangeFile, ...] | None = key("schedule", SCHEDULE, default=None)
    wander: Wander | None = key("wander", WANDER, "How the RTT goes on while the workload runs.", default=None)
    emulator: str | None = key(
        "emulator", NAME, "The machine that impairs the link; default: this computer.", default=None
    )

    @classmethod
    def rows(cls) -> tuple[Impairment, ...]:
        return tuple(IMPAIRMENTS.values())

    def link(self, name: str) -> Link:
        forward, backward, outages = without_outages(self.direction("forward"), self.direction("backward"))
        return Link(
            name=name,
            ends=self.ends,
            forward=forward,
            backward=backward,
            data=self.direction("data"),
            mtu_bytes=self.mtu,
            addresses=self.addresses,
            schedule=(*(entry.change() for entry in self.schedule or ()), *outages),
            wander=self.wander,
            emulator=self.emulator,
        )

    @classmethod
    def of(cls, link: Link) -> LinkFile:
        return cls(
            ends=link.ends,
            mtu=link.mtu_bytes,
            addresses=link.addresses,
            schedule=tuple(map(ChangeFile.of, link.schedule)) or None,
            wander=link.wander,
            emulator=link.emulator,
            **cls.written_of(link.forward, link.backward, link.data),
        )


@named
class TopologyFile(Keyed):
    """A network: nodes, and the links between them."""

    name: str = key("name", NAME)
    description: str = key("description", LINES, "What it is for, for people.", default="")
    engine: Engine = key(
        "engine",
        ENGINE,
        "What builds the network: netns (commands of the testbed) or mininet (the real Mininet).",
        default="netns",
    )
    nic: Nic | None = key("nic", NIC, "How the NICs of hosts behave that do not set it themselves.", default=None)
    neighbours: Neighbours | None = key(
        "neighbours",
        NEIGHBOURS,
        "Whether hosts know MAC addresses (static, the default) or ask for them.",
        default=None,
    )
    ip: IpVersions | None = key(
        "ip", IP_VERSIONS, "The IP versions of automatic addresses: 4 (the default), 6 or both.", default=None
    )
    nodes: Mapping[str, NodeKeys] = key("nodes", table(NAME, NODE, least=1), "The nodes by name.")
    links: Mapping[str, LinkFile] = key(
        "links", table(NAME, record(LinkFile)), "The links by name; at most one between two nodes.", default={}
    )

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """With `topo`, in whose position there are nodes and links by now."""
        return (*super().known_keys(), "topo")

    def topology(self) -> Topology:
        return Topology(
            name=self.name,
            description=self.description,
            nic=self.nic,
            neighbours=self.neighbours or "static",
            engine=self.engine,
            nodes=tuple(node.node(name) for name, node in self.nodes.items()),
            links=tuple(link.link(name) for name, link in with_port_rates(self.nodes, self.links).items()),
            ip=self.ip or "4",
        )

    def spread(self) -> TopologyFile:
        """The same with the rates of ports at their links, where axes find them."""
        nodes = {name: _without_port_rate(node) for name, node in self.nodes.items()}
        return replace(self, nodes=nodes, links=with_port_rates(self.nodes, self.links))

    @classmethod
    def of(cls, topology: Topology) -> TopologyFile:
        return cls(
            name=topology.name,
            description=topology.description,
            nic=topology.nic,
            neighbours=None if topology.neighbours == "static" else topology.neighbours,
            engine=topology.engine,
            ip=None if topology.ip == "4" else topology.ip,
            nodes={node.name: NODE_FILES[node.type].of(node) for node in topology.nodes},
            links={link.name: LinkFile.of(link) for link in topology.links},
        )


def with_port_rates(nodes: Mapping[str, Any], links: Mapping[str, LinkFile]) -> dict[str, LinkFile]:
    """The links with the rates at which the ports of switches send into them, where they say none themselves."""
    return {name: _with_port_rates(link, name, nodes) for name, link in links.items()}


def _with_port_rates(link: LinkFile, name: str, nodes: Mapping[str, Any]) -> LinkFile:
    sent = [node.sends_at(name) if isinstance(node, SwitchFile) else None for node in map(nodes.get, link.ends)]
    if not any(sent):
        return link
    link_rates = [link.direction(way).rate_bps for way in WAYS]
    rates = [own or at_port for own, at_port in zip(link_rates, sent, strict=True)]
    return link if rates == link_rates else link.changed({"rate": both(*rates)})


def _without_port_rate(node: NodeKeys) -> NodeKeys:
    return replace(node, port_rate=None) if isinstance(node, SwitchFile) else node
