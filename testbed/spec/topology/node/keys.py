"""What a topology file says of a node: the base of all node types, and hosts. Pure, no I/O."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from ....model.node.type import NODE_TYPES, NodeType
from ....model.topology import Nic, Node, Route
from ...syntax.document import mapping
from ...syntax.field import EcnField, Ip, Mac, Prefix, Sysctls
from ...syntax.file_model import FileModel
from .service import LEASE, DhcpFile, DnsFile, HostAddresses


class NodeKeys(FileModel, ABC):
    """The keys of one node type. `varied` are those that an axis can vary."""

    varied: ClassVar[tuple[str, ...]] = ()
    type: str

    @property
    def kind(self) -> NodeType:
        return NODE_TYPES[self.type]

    @abstractmethod
    def node(self, name: str) -> Node:
        """The value that the file describes."""

    @classmethod
    @abstractmethod
    def of(cls, node: Node) -> NodeKeys:
        """The way back."""


class RouteFile(FileModel):
    """One route of a host or router."""

    to: Prefix
    via: Ip

    def route(self) -> Route:
        return Route(self.to, self.via)

    @classmethod
    def of(cls, route: Route) -> RouteFile:
        return cls.model_construct(to=route.to, via=route.via)


class HostFile(NodeKeys):
    """A host: a network namespace with a TCP stack of its own."""

    varied = ("nic", "ecn")
    type: Literal["host"]
    nic: Nic | None = Field(None, description="How its NICs behave; default: as the topology says.")
    addresses: HostAddresses = Field(
        (), description="The addresses on its only link, which a link can set too; or dhcp: a server leases it one."
    )
    mac: Mac | None = Field(None, description="The MAC address on its only link; default: the plan chooses one.")
    sysctls: Sysctls = Field({}, description="Kernel settings of this host.")
    ecn: EcnField = Field(
        None, description="Whether TCP uses ECN: off, on (RFC 3168) or accurate; default: the kernel's."
    )
    routes: list[RouteFile] | None = Field(None, description="Routes in addition to those that the plan computes.")
    dhcp: DhcpFile | None = Field(None, description="A DHCP server; default: none.")
    dns: DnsFile | None = Field(None, description="A DNS server; default: none.")

    def node(self, name: str) -> Node:
        sysctls, routes = tuple(self.sysctls.items()), tuple(each.route() for each in self.routes or ())
        leases = self.addresses == LEASE
        node = Node(name, self.type, nic=self.nic, sysctls=sysctls, routes=routes, ecn=self.ecn, mac=self.mac)
        node = replace(node, addresses=() if leases else self.addresses, takes_lease=leases)
        return with_servers(node, self.dhcp, self.dns)

    @classmethod
    def of(cls, node: Node) -> HostFile:
        return cls.model_construct(
            type="host",
            nic=node.nic,
            addresses=LEASE if node.takes_lease else node.addresses,
            mac=node.mac,
            sysctls=dict(node.sysctls),
            ecn=node.ecn,
            routes=[RouteFile.of(route) for route in node.routes] or None,
            **servers_of(node),
        )


def with_servers(node: Node, dhcp: DhcpFile | None, dns: DnsFile | None) -> Node:
    return replace(node, dhcp=None if dhcp is None else dhcp.dhcp(), dns=None if dns is None else dns.dns())


def servers_of(node: Node) -> dict[str, Any]:
    """The way back, by key."""
    dhcp = None if node.dhcp is None else DhcpFile.of(node.dhcp)
    return {"dhcp": dhcp, "dns": None if node.dns is None else DnsFile.of(node.dns)}


def nodes_that(topology: Any, can: Callable[[NodeType], bool]) -> dict[str, Any]:
    """The nodes, by name, of a topology as it is written, whose types are known and can do something."""
    nodes = {name: mapping(node) for name, node in mapping(mapping(topology).get("nodes")).items()}
    kinds = {name: NODE_TYPES.get(str(node.get("type"))) for name, node in nodes.items()}
    return {name: nodes[name] for name, kind in kinds.items() if kind is not None and can(kind)}
