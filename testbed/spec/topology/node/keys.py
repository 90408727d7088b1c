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
from ...syntax.field import Addresses, EcnField, Ip, Mac, Prefix, Sysctls
from ...syntax.file_model import FileModel


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
    addresses: Addresses = Field((), description="The addresses on its only link; a link can set them too.")
    mac: Mac | None = Field(None, description="The MAC address on its only link; default: the plan chooses one.")
    sysctls: Sysctls = Field({}, description="Kernel settings of this host.")
    ecn: EcnField = Field(
        None, description="Whether TCP uses ECN: off, on (RFC 3168) or accurate; default: the kernel's."
    )
    routes: list[RouteFile] | None = Field(None, description="Routes in addition to those that the plan computes.")

    def node(self, name: str) -> Node:
        sysctls, routes = tuple(self.sysctls.items()), tuple(each.route() for each in self.routes or ())
        node = Node(
            name, self.type, nic=self.nic, addresses=self.addresses, sysctls=sysctls, routes=routes, ecn=self.ecn
        )
        return replace(node, mac=self.mac)

    @classmethod
    def of(cls, node: Node) -> HostFile:
        return cls.model_construct(
            type="host",
            nic=node.nic,
            addresses=node.addresses,
            mac=node.mac,
            sysctls=dict(node.sysctls),
            ecn=node.ecn,
            routes=[RouteFile.of(route) for route in node.routes] or None,
        )


def nodes_that(topology: Any, can: Callable[[NodeType], bool]) -> dict[str, Any]:
    """The nodes, by name, of a topology as it is written, whose types are known and can do something."""
    nodes = {name: mapping(node) for name, node in mapping(mapping(topology).get("nodes")).items()}
    kinds = {name: NODE_TYPES.get(str(node.get("type"))) for name, node in nodes.items()}
    return {name: nodes[name] for name, kind in kinds.items() if kind is not None and can(kind)}
