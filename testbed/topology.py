"""A topology: nodes, and links between them, as values. Pure, no I/O."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from .impairment import UNIMPAIRED, Direction, Loss, Policy
from .schedule import Change

Nic: TypeAlias = Literal["offload", "plain"]
"""How a host's interfaces behave: `offload` segments and merges as real NICs do, `plain` does neither."""

FORWARDING = frozenset({"switch", "router"})
"""The node types that pass on packets meant for others."""

ELSEWHERE = frozenset({"vm", "machine"})
"""The node types whose TCP stack is in another kernel than the network around them."""

MTU_MIN, MTU_MAX, MTU_DEFAULT = 576, 9216, 1500


@dataclass(frozen=True)
class Route:
    """Packets to the prefix `to` (or "default") go to the neighbour `via`."""

    to: str
    via: str


@dataclass(frozen=True)
class Node:
    """One node. What a type has no use for stays at its default.

    `type` is one of the node types of a topology file. `nic` None is the topology's. `addresses` are
    "ip/prefix" for the node's only link; empty leaves them to the link or the plan. `routes` are beyond those
    the plan works out itself. `stp` says whether a switch runs the spanning tree protocol; `real_nic` is a NIC of this
    computer that is one of its ports.
    """

    name: str
    type: str
    nic: Nic | None = None
    addresses: tuple[str, ...] = ()
    sysctls: tuple[tuple[str, str], ...] = ()
    routes: tuple[Route, ...] = ()
    stp: bool = False
    real_nic: str | None = None


@dataclass(frozen=True)
class Link:
    """A link between two different nodes; `forward` is from the first end to the second.

    `data_loss` is loss for the direction in which the workload's data crosses the link, whichever that is
    (forward if nothing crosses it); a link has either it or losses in its directions. `addresses` holds,
    for ends that say so, the node's name with its "ip/prefix" texts. `data_policy` is to the policies of the directions
    what `data_loss` is to their losses. `schedule` is what changes while the workload runs, in file order.
    """

    name: str
    ends: tuple[str, str]
    forward: Direction = UNIMPAIRED
    backward: Direction = UNIMPAIRED
    data_loss: Loss | None = None
    mtu_bytes: int = MTU_DEFAULT
    addresses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    data_policy: Policy | None = None
    schedule: tuple[Change, ...] = ()

    @property
    def is_emulated(self) -> bool:
        """Whether an emulator must stand in the middle: any impairment, now or later."""
        of_data = self.data_loss is not None or self.data_policy is not None
        return self.forward.is_emulated or self.backward.is_emulated or of_data or bool(self.schedule)

    @property
    def rtt_ns(self) -> int:
        """There and back, without serialisation, queues and jitter."""
        return self.forward.delay_ns + self.backward.delay_ns

    def other_end(self, node: str) -> str:
        first, second = self.ends
        assert node in self.ends, f"BUG: {node} is no end of {self.name}"
        return second if node == first else first


@dataclass(frozen=True)
class Topology:
    """Nodes and links in file order. `nic` is for hosts that do not say; None leaves it to the plan."""

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    nic: Nic | None = None
    description: str = ""

    def node(self, name: str) -> Node:
        """Raises KeyError."""
        return self._nodes[name]

    def link(self, name: str) -> Link:
        """Raises KeyError."""
        return self._links[name]

    def links_of(self, name: str) -> tuple[Link, ...]:
        """The links that end at a node, in file order; none if there is no such node."""
        return self._links_of.get(name, ())

    def path(self, start: str, end: str) -> tuple[Link, ...] | None:
        """The links of a shortest path, through nodes that forward only; None if there is no path.

        Of several shortest paths it is the one whose links stand first in the file.
        """
        reached: dict[str, tuple[Link, ...]] = {start: ()}
        waiting = deque([start])
        while waiting and end not in reached:
            here = waiting.popleft()
            if here != start and self.node(here).type not in FORWARDING:
                continue
            for link in self.links_of(here):
                there = link.other_end(here)
                if there not in reached:
                    reached[there] = (*reached[here], link)
                    waiting.append(there)
        return reached.get(end)

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def _links(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _links_of(self) -> dict[str, tuple[Link, ...]]:
        found: dict[str, list[Link]] = {}
        for link in self.links:
            for end in link.ends:
                found.setdefault(end, []).append(link)
        return {name: tuple(links) for name, links in found.items()}
