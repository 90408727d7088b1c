"""A router as a topology file writes it. Pure, no I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from ....codec.keyed import inline, key, named
from ....codec.kind import record
from ....model.node.router import PLAIN, Router
from ....model.node.service import Dhcp, Dns
from ....model.topology import Node, Route
from .keys import ROUTES, NodeKeys


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
