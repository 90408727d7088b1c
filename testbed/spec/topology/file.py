"""A topology as its file writes it: the shape, and the way to values and back. Pure, no I/O.

A new node type is a class here and a line in NODE_TYPES; what must hold between nodes and links is in
`topologycheck`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from ...model.impairment import Direction
from ...model.openflow import Neighbours
from ...model.topology import MTU_DEFAULT, Engine, Link, Nic, Node, Route, Topology
from ..syntax.field import (
    Addresses,
    EndName,
    Ends,
    Ip,
    IpVersionsField,
    Mac,
    Mtu,
    Name,
    PerDirection,
    Prefix,
    Rate,
    Sysctls,
    Text,
    Time,
)
from ..syntax.file_model import Shape
from ..syntax.scalar import tagged
from .impairment import BufferField, JitterField, LinkLoss, LossField
from .machine import MachineFile
from .openflow import ControllerFile, OvsFile
from .policy import LinkPolicy, PolicyField
from .schedule import ChangeFile, Schedule
from .switch import SwitchFile
from .vm import VmKeys

WAYS: tuple[Literal["forward"], Literal["backward"]] = ("forward", "backward")
"""From the first end, and from the second."""


class RouteFile(Shape):
    """One route of a host or router."""

    to: Prefix
    via: Ip

    def route(self) -> Route:
        return Route(self.to, self.via)

    @classmethod
    def of(cls, route: Route) -> RouteFile:
        return cls.model_construct(to=route.to, via=route.via)


class HostFile(Shape):
    """A host: a network namespace with a TCP stack of its own."""

    type: Literal["host"]
    nic: Nic | None = Field(None, description="Its interfaces; left out, those of the topology.")
    addresses: Addresses = Field((), description="For its only link; a link can say them too.")
    mac: Mac | None = Field(None, description="For its only link; left out, the plan's.")
    sysctls: Sysctls = Field({}, description="Kernel settings of this host.")
    routes: list[RouteFile] | None = Field(None, description="Beyond those the plan works out itself.")

    def node(self, name: str) -> Node:
        sysctls, routes = tuple(self.sysctls.items()), tuple(each.route() for each in self.routes or ())
        node = Node(name, self.type, nic=self.nic, addresses=self.addresses, sysctls=sysctls, routes=routes)
        return replace(node, mac=self.mac)

    @classmethod
    def of(cls, node: Node) -> HostFile:
        return cls.model_construct(
            type="host",
            nic=node.nic,
            addresses=node.addresses,
            mac=node.mac,
            sysctls=dict(node.sysctls),
            routes=[RouteFile.of(route) for route in node.routes] or None,
        )


class RouterFile(Shape):
    """A router: a network namespace that forwards."""

    type: Literal["router"]
    routes: list[RouteFile] = Field([], description="Beyond those the plan works out itself.")

    def node(self, name: str) -> Node:
        return Node(name, self.type, routes=tuple(each.route() for each in self.routes))

    @classmethod
    def of(cls, node: Node) -> RouterFile:
        return cls.model_construct(type="router", routes=[RouteFile.of(route) for route in node.routes])


class OvsNodeFile(OvsFile):
    """A switch: Open vSwitch, with its own daemons."""

    def node(self, name: str) -> Node:
        return Node(name, self.type, ovs=self.ovs())

    @classmethod
    def of(cls, node: Node) -> OvsNodeFile:
        assert node.ovs is not None, "BUG: an ovs without its values"
        return cls.of_ovs(node.ovs)


class ControllerNodeFile(ControllerFile):
    """An OpenFlow controller, in a namespace of its own and on a channel apart from the network."""

    def node(self, name: str) -> Node:
        return Node(name, self.type, controller=self.controller())

    @classmethod
    def of(cls, node: Node) -> ControllerNodeFile:
        assert node.controller is not None, "BUG: a controller without its values"
        return cls.of_controller(node.controller)


class VmFile(VmKeys):
    """A virtual machine: QEMU, with a kernel of its own."""

    def node(self, name: str) -> Node:
        sysctls = tuple(self.sysctls.items())
        return Node(name, self.type, nic=self.nic, addresses=self.addresses, sysctls=sysctls, vm=self.vm())

    @classmethod
    def of(cls, node: Node) -> VmFile:
        assert node.vm is not None, "BUG: a virtual machine without its values"
        shared = {"type": "vm", "nic": node.nic, "addresses": node.addresses, "sysctls": dict(node.sysctls)}
        return cls.model_construct(None, **shared, **cls.keys_of(node.vm))


AnyNodeFile: TypeAlias = HostFile | SwitchFile | RouterFile | OvsNodeFile | ControllerNodeFile | VmFile | MachineFile

NODE_TYPES: dict[str, type[AnyNodeFile]] = {
    "host": HostFile,
    "switch": SwitchFile,
    "router": RouterFile,
    "ovs": OvsNodeFile,
    "controller": ControllerNodeFile,
    "vm": VmFile,
    "machine": MachineFile,
}

NodeFile: TypeAlias = Annotated[
    AnyNodeFile,
    Field(discriminator="type"),
    tagged("type", NODE_TYPES),
]


class LinkFile(Shape):
    """A link between two nodes, and what the emulator in its middle does."""

    ends: Ends
    rate: PerDirection[Rate] | None = None
    rtt: Time | None = Field(None, description="Round trip, split evenly; instead of delay.")
    delay: PerDirection[Time] | None = Field(None, description="One way; instead of rtt.")
    loss: LinkLoss = None
    buffer: PerDirection[BufferField] | None = None
    jitter: PerDirection[JitterField] | None = None
    mtu: Mtu = MTU_DEFAULT
    addresses: dict[EndName, Addresses] = Field({}, description="For each end that needs to say its own.")
    schedule: Schedule = None
    policy: LinkPolicy = None
    emulator: Name | None = Field(None, description="The machine that impairs it; left out, this computer.")

    def link(self, name: str) -> Link:
        return Link(
            name=name,
            ends=self.ends,
            forward=self.direction("forward"),
            backward=self.direction("backward"),
            data_loss=None if isinstance(self.loss, PerDirection) else self.loss,
            mtu_bytes=self.mtu,
            addresses=tuple(self.addresses.items()),
            data_policy=None if isinstance(self.policy, PerDirection) else self.policy,
            schedule=tuple(entry.change() for entry in self.schedule or ()),
            emulator=self.emulator,
        )

    def direction(self, way: Literal["forward", "backward"]) -> Direction:
        return Direction(
            rate_bps=_of(self.rate, way),
            delay_ns=self._delay_ns(way),
            jitter=_of(self.jitter, way),
            loss=_of(self.loss if isinstance(self.loss, PerDirection) else None, way),
            buffer=_of(self.buffer, way),
            policy=_of(self.policy if isinstance(self.policy, PerDirection) else None, way),
        )

    def _delay_ns(self, way: Literal["forward", "backward"]) -> int:
        if self.rtt is not None:
            return self.rtt // 2 if way == "forward" else self.rtt - self.rtt // 2
        return _of(self.delay, way) or 0

    @classmethod
    def of(cls, link: Link) -> LinkFile:
        forward, backward = link.forward, link.backward
        is_even = backward.delay_ns - forward.delay_ns in (0, 1)
        losses = _both(LossField, forward.loss, backward.loss)
        return cls.model_construct(
            ends=link.ends,
            rate=_both(Rate, forward.rate_bps, backward.rate_bps),
            rtt=link.rtt_ns if is_even and link.rtt_ns else None,
            delay=None if is_even else _both(Time, forward.delay_ns, backward.delay_ns),
            loss=link.data_loss if losses is None else losses,
            buffer=_both(BufferField, forward.buffer, backward.buffer),
            jitter=_both(JitterField, forward.jitter, backward.jitter),
            mtu=link.mtu_bytes,
            addresses=dict(link.addresses),
            schedule=[ChangeFile.of(change) for change in link.schedule] or None,
            policy=_both(PolicyField, forward.policy, backward.policy) or link.data_policy,
            emulator=link.emulator,
        )


class TopologyFile(Shape):
    """A network: nodes, and the links between them."""

    name: Name
    description: Text = ""
    engine: Engine = Field("netns", description="What builds it: our own commands, or the real Mininet.")
    nic: Nic | None = Field(None, description="The interfaces of hosts that do not say themselves.")
    neighbours: Neighbours | None = Field(None, description="MAC addresses known (static, the default) or asked for.")
    ip: IpVersionsField | None = Field(None, description="Of automatic addresses: 4 (if left out), 6 or both.")
    nodes: dict[Name, NodeFile] = Field(min_length=1)
    links: dict[Name, LinkFile] = Field({}, description="By name; one between two nodes.")

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """With `topo`, in whose place there are nodes and links by now."""
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
        return self.model_copy(update={"nodes": nodes, "links": with_port_rates(self.nodes, self.links)})

    @classmethod
    def of(cls, topology: Topology) -> TopologyFile:
        return cls.model_construct(
            name=topology.name,
            description=topology.description,
            nic=topology.nic,
            neighbours=None if topology.neighbours == "static" else topology.neighbours,
            engine=topology.engine,
            ip=None if topology.ip == "4" else topology.ip,
            nodes={node.name: NODE_TYPES[node.type].of(node) for node in topology.nodes},
            links={link.name: LinkFile.of(link) for link in topology.links},
        )


def with_port_rates(nodes: Mapping[str, Any], links: Mapping[str, LinkFile]) -> dict[str, LinkFile]:
    """The links with the rates at which the ports of switches send into them, where they say none themselves."""
    return {name: _with_port_rates(link, name, nodes) for name, link in links.items()}


def _with_port_rates(link: LinkFile, name: str, nodes: Mapping[str, Any]) -> LinkFile:
    said = [_of(link.rate, way) for way in WAYS]
    switches = [node if isinstance(node, SwitchFile) else None for node in map(nodes.get, link.ends)]
    rates = [own or (switch and switch.sends_at(name)) for own, switch in zip(said, switches, strict=True)]
    return link if rates == said else link.model_copy(update={"rate": _both(Rate, *rates)})


def _without_port_rate(node: NodeFile) -> NodeFile:
    return node.model_copy(update={"port_rate": None}) if isinstance(node, SwitchFile) else node


def _of(pair: PerDirection[Any] | None, way: Literal["forward", "backward"]) -> Any:
    return None if pair is None else getattr(pair, way)


def _both(kind: Any, forward: Any, backward: Any) -> Any:
    if forward is None and backward is None:
        return None
    return PerDirection[kind].model_construct(forward=forward, backward=backward)
