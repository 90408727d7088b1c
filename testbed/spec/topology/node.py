"""The keys of each node type in a topology file, and their base; those of OpenFlow are in `openflow`. Pure, no I/O."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

from ... import units
from ...codec.fault import Path
from ...codec.keyed import Keyed, Kind, inline, key, keyed, named
from ...codec.kind import ADDRESSES, ECN, FLAG, MAC, NAME, REAL_NIC, SYSCTLS, listed, mapped, matching, number, record
from ...codec.scalar import name as read_name
from ...codec.scalar import quantity, whole
from ...error import ValueRefused
from ...model.node.machine import Machine
from ...model.node.router import PLAIN, Router
from ...model.node.service import HOST_ADDRESSES, LEASE, Dhcp, Dns
from ...model.node.type import NODE_TYPES, NodeType
from ...model.node.vm import IMAGE_ALLOWED, Vm
from ...model.topology import NIC, Ecn, Nic, Node, Route
from ...model.vlan import VLAN_MAX, VLAN_MIN, Membership
from ..syntax.attachment import Folder, unread
from ..syntax.document import Document, mapping

NIC_ABOUT = "How its NICs behave; default: as the topology says."
ECN_ABOUT = "Whether TCP uses ECN: off, on (RFC 3168) or accurate; default: the kernel's."
ROUTES = listed(record(Route))


@keyed
class NodeKeys(Keyed, ABC):
    """The keys of one node type: those fields of a Node that it has, under the same names, each with its key.

    `type` is its name, `varied` are the keys that an axis can vary.
    """

    TAG = "type"
    type: ClassVar[str]
    varied: ClassVar[tuple[str, ...]] = ()

    @property
    def kind(self) -> NodeType:
        return NODE_TYPES[self.type]

    def node(self, name: str) -> Node:
        """The value that the file describes."""
        return Node(name, self.type, **{each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def of(cls, node: Node) -> Self:
        """The way back."""
        return cls(**{each.name: getattr(node, each.name) for each in fields(cls)})


@keyed
class HostFile(NodeKeys):
    """A host: a network namespace with a TCP stack of its own."""

    type = "host"
    varied = ("nic", "ecn")

    nic: Nic | None = key("nic", NIC, NIC_ABOUT, default=None)
    addresses: Any = key(
        "addresses",
        HOST_ADDRESSES,
        "The addresses on its only link, which a link can set too; or dhcp: a server leases it one.",
        default=(),
    )
    mac: str | None = key("mac", MAC, "The MAC address on its only link; default: the plan chooses one.", default=None)
    sysctls: tuple[tuple[str, str], ...] = key("sysctls", SYSCTLS, "Kernel settings of this host.", default=())
    ecn: Ecn | None = key("ecn", ECN, ECN_ABOUT, default=None)
    routes: tuple[Route, ...] | None = key(
        "routes", ROUTES, "Routes in addition to those that the plan computes.", default=None
    )
    dhcp: Dhcp | None = key("dhcp", record(Dhcp), "A DHCP server; default: none.", default=None)
    dns: Dns | None = key("dns", record(Dns), "A DNS server; default: none.", default=None)

    def node(self, name: str) -> Node:
        """A lease is no address of the file."""
        leases = self.addresses == LEASE
        own = replace(self, addresses=() if leases else self.addresses, routes=self.routes or ())
        return replace(super(HostFile, own).node(name), takes_lease=leases)

    @classmethod
    def of(cls, node: Node) -> Self:
        found = super().of(node)
        return replace(found, addresses=LEASE if node.takes_lease else node.addresses, routes=node.routes or None)


def nodes_that(topology: Any, can: Callable[[NodeType], bool]) -> dict[str, Any]:
    """The nodes, by name, of a topology as it is written, whose types are known and can do something."""
    nodes = {name: mapping(node) for name, node in mapping(mapping(topology).get("nodes")).items()}
    kinds = {name: NODE_TYPES.get(str(node.get("type"))) for name, node in nodes.items()}
    return {name: nodes[name] for name, kind in kinds.items() if kind is not None and can(kind)}


@keyed
class MachineFile(NodeKeys):
    """A machine: a real computer, reached over SSH."""

    type = "machine"
    varied = ("nic",)
    ORDER = ("host", "nics", "nic", "addresses", "sysctls", "ecn", "forward", "ssh")

    machine: Machine = inline(Machine)
    nic: Nic | None = key("nic", NIC, NIC_ABOUT, default=None)
    addresses: tuple[str, ...] = key(
        "addresses", ADDRESSES, "The addresses on its only link; a link can set them too.", default=()
    )
    sysctls: tuple[tuple[str, str], ...] = key(
        "sysctls", SYSCTLS, "Kernel settings in the network namespace that it uses.", default=()
    )
    ecn: Ecn | None = key("ecn", ECN, ECN_ABOUT, default=None)


@named
class RouterFile(NodeKeys):
    """A router: a network namespace that forwards."""

    type = "router"

    routes: tuple[Route, ...] = key("routes", ROUTES, "Routes in addition to those that the plan computes.", default=())
    router: Router = inline(Router)
    dhcp: Dhcp | None = key("dhcp", record(Dhcp), "A DHCP server; default: none.", default=None)
    dns: Dns | None = key("dns", record(Dns), "A DNS server; default: none.", default=None)

    def node(self, name: str) -> Node:
        """A router that only forwards has nothing of its own."""
        node = super().node(name)
        return replace(node, router=None) if self.router == PLAIN else node

    @classmethod
    def of(cls, node: Node) -> Self:
        return super().of(replace(node, router=node.router or PLAIN))


VLANS_ALLOWED = f"{VLAN_MIN} to {VLAN_MAX} for an access port, or a list such as [10, 20] for a trunk"

_read_vlan = whole(VLAN_MIN, VLAN_MAX)
_read_rate = quantity(units.parse_rate, units.RATE.allowed, low=1)


def read_vlans(value: object) -> int | tuple[int, ...]:
    """One for an access port, several for a trunk."""
    if isinstance(value, dict):
        raise ValueRefused("this is a mapping", VLANS_ALLOWED)
    if not isinstance(value, list | tuple):
        return _read_vlan(value)
    if not value:
        raise ValueRefused("this is empty", VLANS_ALLOWED)
    found = tuple(map(_read_vlan, value))
    twice = next((vlan for vlan in found if found.count(vlan) > 1), None)
    if twice is not None:
        raise ValueRefused(f"VLAN {twice} appears twice", "each once")
    return found


def read_port_rate(value: object) -> Any:
    """One rate for all ports, or one for each of some ports, by their links."""
    if not isinstance(value, dict):
        return _read_rate(value)
    if not value:
        raise ValueRefused("the mapping is empty", "a rate, or {LINK: RATE, …}")
    return {read_name(link): _rate_of(rate, link) for link, rate in value.items()}


def _rate_of(value: object, link: str) -> int | None:
    try:
        return _read_rate(value)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, refused.allowed, (link,)) from None


_VLAN_SCHEMA = number(VLAN_MIN, VLAN_MAX, "A VLAN.")
_RATE_SCHEMA = matching(units.RATE.pattern, "A rate in bits per second.", "1 Gbit/s")

VLANS = Kind(
    read_vlans,
    lambda value: list(value) if isinstance(value, tuple) else value,
    {"anyOf": [_VLAN_SCHEMA, {"type": "array", "items": _VLAN_SCHEMA, "minItems": 1}]},
)
PORT_RATE = Kind(
    read_port_rate,
    schema={"anyOf": [_RATE_SCHEMA, {"type": "object", "additionalProperties": _RATE_SCHEMA, "minProperties": 1}]},
)


@keyed
class SwitchFile(NodeKeys):
    """A switch: a Linux bridge."""

    type = "switch"

    stp: bool = key("stp", FLAG, "Whether it runs the spanning tree protocol.", default=False)
    nic: str | None = key(
        "nic", REAL_NIC, "A NIC of this computer as an additional port; needs kernel: host.", default=None
    )
    vlans: tuple[tuple[str, Any], ...] | None = key(
        "vlans",
        mapped(NAME, VLANS),
        "For each of its links: one VLAN for an access port, or a list of VLANs for a trunk.",
        default=None,
    )
    port_rate: Any = key(
        "port_rate",
        PORT_RATE,
        "How fast its ports send: one rate for all whose links set none, or a rate for each link.",
        default=None,
    )

    def node(self, name: str) -> Node:
        vlans = tuple(_member(link, said) for link, said in self.vlans or ())
        return Node(name, self.type, stp=self.stp, real_nic=self.nic, vlans=vlans)

    @classmethod
    def of(cls, node: Node) -> SwitchFile:
        vlans = tuple((each.link, each.vlans if each.is_trunk else each.vlans[0]) for each in node.vlans)
        return cls(stp=node.stp, nic=node.real_nic, vlans=vlans or None)

    def sends_at(self, link: str) -> int | None:
        """The rate of the port to a link; None if the switch does not say."""
        if isinstance(self.port_rate, Mapping):
            return self.port_rate.get(link)
        rate: int | None = self.port_rate
        return rate


def _member(link: str, said: int | tuple[int, ...]) -> Membership:
    return Membership(link, said, True) if isinstance(said, tuple) else Membership(link, (said,), False)


@named
class VmFile(NodeKeys):
    """A virtual machine: QEMU, with a kernel of its own."""

    type = "vm"
    varied = ("nic", "ecn", "memory", "cpus", "model", "kernel", "vhost", "cpu")

    nic: Nic | None = key("nic", NIC, NIC_ABOUT, default=None)
    addresses: tuple[str, ...] = key(
        "addresses", ADDRESSES, "The addresses on its only link; a link can set them too.", default=()
    )
    sysctls: tuple[tuple[str, str], ...] = key("sysctls", SYSCTLS, "Kernel settings of this machine.", default=())
    ecn: Ecn | None = key("ecn", ECN, ECN_ABOUT, default=None)
    vm: Vm = inline(Vm)


def anchored(topology: Document, folder: Folder) -> Document:
    """The same document, in which images are named by the path that was judged: from the root, and without links."""
    for name, node in nodes_that(topology.data, lambda kind: kind.runs_in == "virtual machine").items():
        if isinstance(node.get("image"), str):
            place: Path = ("nodes", name, "image")
            said = node["image"]
            try:
                image = folder.find(topology, place, os.path.expanduser(said))
            except OSError as error:
                topology = replace(topology, faults=(*topology.faults, unread(place, said, error, IMAGE_ALLOWED)))
                continue
            nodes = {**topology.data["nodes"], name: {**node, "image": image}}
            topology = replace(topology, data={**topology.data, "nodes": nodes})
    return topology


NODES: tuple[type[NodeKeys], ...] = (HostFile, SwitchFile, RouterFile, VmFile, MachineFile)
"""All of this module; a new node type has its line here."""
