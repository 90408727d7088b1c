"""What a topology file says of a node: the base of all node types, and hosts. Pure, no I/O."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

from ....codec.keyed import Keyed, key, keyed
from ....codec.kind import ECN, MAC, SYSCTLS, listed, record
from ....model.node.service import HOST_ADDRESSES, LEASE, Dhcp, Dns
from ....model.node.type import NODE_TYPES, NodeType
from ....model.topology import NIC, Ecn, Nic, Node, Route
from ...syntax.document import mapping

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
