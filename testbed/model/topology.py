"""A topology: nodes, and links between them, as values. Pure, no I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, TypeAlias

from ..codec.frozen import dataclass
from ..codec.keyed import Keyed, key, keyed
from ..codec.kind import IP, PREFIX, word
from .link.impairment import UNIMPAIRED, Direction, Way
from .link.wander import Wander
from .node.machine import Machine
from .node.router import Router
from .node.service import Dhcp, Dns
from .node.type import NODE_TYPES, NodeType
from .node.vm import Vm
from .openflow import Controller, Neighbours, Ovs
from .schedule import Change
from .vlan import Membership, Tag

Nic: TypeAlias = Literal["offload", "plain"]
"""How a host's NICs behave: `offload` segments and merges as real NICs do, `plain` does neither."""

Engine: TypeAlias = Literal["netns", "mininet"]
"""What builds the network: commands of our own, or the real Mininet."""

IpVersions: TypeAlias = Literal["4", "6", "both"]
"""Which automatic addresses there are."""

Lane: TypeAlias = tuple[str, Tag]
"""A link, and the tag of the frames on it."""

Room: TypeAlias = tuple[str, Tag]
"""A node, and for a switch the VLAN inside it."""

MTU_MIN, MTU_MAX, MTU_DEFAULT = 576, 9216, 1500


NIC = word("offload", "plain")
ENGINE = word("netns", "mininet")


@keyed
class Route(Keyed):
    """One route of a host or router.

    Packets to the prefix `to` (or "default") go to the neighbour `via`.
    """

    to: str = key("to", PREFIX)
    via: str = key("via", IP)


Ecn: TypeAlias = Literal["off", "on", "accurate"]
"""Explicit congestion notification of TCP: none, RFC 3168, AccECN (RFC 9768)."""


@dataclass(frozen=True)
class Node:
    """One node. Fields that its type does not use stay at their defaults.

    `type` is a name of NODE_TYPES, and `kind` what nodes of that type can do. `nic` None is the topology's.
    `addresses` are "ip/prefix" for the node's only link; empty leaves them to the link or the plan. `mac` is that of
    the device on its only link; None leaves it to the plan. `routes` are in addition to those of the plan. `stp`
    says whether a switch runs the spanning tree protocol; `real_nic` is a NIC of this computer that is one of its
    ports. `ecn` is the variant of ECN that its TCP asks for and accepts; None leaves it to its kernel. `vlans` has
    every port of a switch that keeps VLANs apart; a switch without any passes frames on with whatever tag they have.
    `ovs`, `controller`, `vm` and `machine` are there for nodes of those types, `router` for
    routers that do more than forward. `dhcp` and `dns` are servers of a host or router; a host that `takes_lease` has
    on its only link the address that a DHCP server gives it.
    """

    name: str
    type: str
    nic: Nic | None = None
    addresses: tuple[str, ...] = ()
    sysctls: tuple[tuple[str, str], ...] = ()
    routes: tuple[Route, ...] = ()
    stp: bool = False
    ovs: Ovs | None = None
    controller: Controller | None = None
    vlans: tuple[Membership, ...] = ()
    vm: Vm | None = None
    machine: Machine | None = None
    real_nic: str | None = None
    mac: str | None = None
    ecn: Ecn | None = None
    router: Router | None = None
    dhcp: Dhcp | None = None
    dns: Dns | None = None
    takes_lease: bool = False

    @property
    def kind(self) -> NodeType:
        """What nodes of its type can do. Raises KeyError for a type that NODE_TYPES does not have."""
        return NODE_TYPES[self.type]

    @property
    def is_router(self) -> bool:
        """Whether it forwards by addresses."""
        return self.kind.forwards_packets or (self.machine is not None and self.machine.forward)

    @property
    def forwards(self) -> bool:
        """Whether it passes on packets meant for others."""
        return self.kind.switches_frames or self.is_router

    @property
    def serves(self) -> bool:
        """Whether it has a server for DHCP or DNS."""
        return self.dhcp is not None or self.dns is not None

    @property
    def finds_routes(self) -> bool:
        """Whether routing daemons find its routes."""
        return self.router is not None and self.router.frr is not None

    def membership(self, link: str) -> Membership | None:
        return next((each for each in self.vlans if each.link == link), None)


@dataclass(frozen=True)
class Link:
    """A link between two different nodes; `forward` is from the first end to the second.

    `data` has impairments of the direction in which the workload's data crosses the link, whichever that is (forward
    if nothing crosses it); those with `Impairment.is_of_answers` apply to the other direction. They are added to the
    impairments of `forward` and `backward`; a link has each impairment either in `data` or in its directions.
    `addresses` holds, for ends that say so, the node's name (on a trunk "NAME.VLAN") with its "ip/prefix" texts.
    `schedule` is what changes while the workload runs, in file order, and `wander` how its RTT does.
    `emulator` is the machine that impairs it, None a namespace of this computer.
    """

    name: str
    ends: tuple[str, str]
    forward: Direction = UNIMPAIRED
    backward: Direction = UNIMPAIRED
    data: Direction = UNIMPAIRED
    mtu_bytes: int = MTU_DEFAULT
    addresses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    schedule: tuple[Change, ...] = ()
    wander: Wander | None = None
    emulator: str | None = None

    @property
    def is_emulated(self) -> bool:
        """Whether the link needs an emulator: any impairment, now or later."""
        asked = any(each.is_emulated for each in (self.forward, self.backward, self.data))
        return asked or self.emulator is not None or bool(self.schedule) or self.wander is not None

    @property
    def directions(self) -> tuple[tuple[Way, Direction], tuple[Way, Direction]]:
        """Each with its name, without what the link says of data."""
        return ("forward", self.forward), ("backward", self.backward)

    @property
    def rtt_ns(self) -> int:
        """Of a round trip, without serialisation, queues and jitter."""
        return self.forward.delay_ns + self.backward.delay_ns

    def asked(self, way: Way, *, is_data: bool) -> Direction:
        """What one direction does; `is_data` says whether that is the data's."""
        return self.own(way).completed(self.data, is_data=is_data)

    def own(self, way: Way) -> Direction:
        """What one direction does, but for what the link says of data."""
        return self.forward if way == "forward" else self.backward

    def leads_to(self, way: Way) -> str:
        """The node at the end of a direction."""
        return self.ends[1 if way == "forward" else 0]

    def other_end(self, node: str) -> str:
        first, second = self.ends
        assert node in self.ends, f"BUG: {node} is no end of {self.name}"
        return second if node == first else first


@dataclass(frozen=True)
class Topology:
    """Nodes and links in file order. `nic` is for hosts without their own; None leaves it to the plan. `ip` is for
    segments without a given address. `neighbours` says whether hosts and routers know each other's MAC addresses
    from the start, `engine` what builds the network.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    nic: Nic | None = None
    description: str = ""
    ip: IpVersions = "4"
    neighbours: Neighbours = "static"
    engine: Engine = "netns"

    def node(self, name: str) -> Node:
        """Raises KeyError."""
        return self._nodes[name]

    def link(self, name: str) -> Link:
        """Raises KeyError."""
        return self._links[name]

    def links_of(self, name: str) -> tuple[Link, ...]:
        """The links that end at a node, in file order; none if there is no such node."""
        return self._links_of.get(name, ())

    def tags(self, name: str, link: Link) -> tuple[Tag, ...]:
        """The tags that an end of a link, other than a switch, uses there: those of the trunk at the other end, or
        none.
        """
        met = self.node(link.other_end(name)).membership(link.name)
        return (None,) if met is None else met.tags

    def arrivals(self, lane: Lane, name: str) -> tuple[Room, ...]:
        """The rooms that a frame enters when it reaches a node over a lane; empty if the node drops it."""
        node, link = self.node(name), self.link(lane[0])
        if not node.kind.switches_frames:
            return ((name, None),) if lane[1] in self.tags(name, link) else ()
        met = node.membership(link.name)
        return tuple((name, vlan) for vlan in ((lane[1],) if met is None else met.inside(lane[1])))

    def departures(self, room: Room) -> Iterator[Lane]:
        """The lanes on which frames leave a room: those of one VLAN for a switch, all for other nodes."""
        name, vlan = room
        node = self.node(name)
        for link in self.links_of(name):
            met = node.membership(link.name)
            own = (vlan,) if met is None else met.outside(vlan)
            yield from ((link.name, tag) for tag in (own if node.kind.switches_frames else self.tags(name, link)))

    def path(self, start: str, end: str) -> tuple[Link, ...] | None:
        """The links of a shortest path, through nodes that forward only; None if there is no path.

        Of several shortest paths it is the one whose links come first in the file.
        """
        found = self.lanes(start, end)
        return None if found is None else tuple(self.link(name) for name, _ in found)

    def lanes(self, start: str, end: str) -> tuple[Lane, ...] | None:
        """The same as `path`, with the tag on each link."""
        reached: dict[Room, tuple[Lane, ...]] = {(start, None): ()}
        waiting = deque(reached)
        while waiting:
            room = waiting.popleft()
            here = room[0]
            if here == end:
                return reached[room]
            if here != start and not self.node(here).forwards:
                continue
            for lane in self.departures(room):
                for there in self.arrivals(lane, self.link(lane[0]).other_end(here)):
                    if there not in reached:
                        reached[there] = (*reached[room], lane)
                        waiting.append(there)
        return None

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
