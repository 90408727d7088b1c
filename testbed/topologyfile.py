"""A topology as its file writes it: the shape, and the way to values and back. Pure, no I/O.

A new node type is a class here and a line in NODE_TYPES; what must hold between nodes and links is in
`topologycheck`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from .field import Addresses, Ends, Flag, Ip, Mtu, Name, PerDirection, Prefix, Rate, RealNic, Sysctls, Text, Time
from .impairment import Direction
from .impairmentfile import BufferField, JitterField, LinkLoss, LossField
from .policyfile import LinkPolicy, PolicyField
from .reader import tagged
from .schedulefile import ChangeFile, Schedule
from .shape import Shape
from .topology import MTU_DEFAULT, Link, Nic, Node, Route, Topology


class HostFile(Shape):
    """A host: a network namespace with a TCP stack of its own."""

    type: Literal["host"]
    nic: Nic | None = Field(None, description="Its interfaces; left out, those of the topology.")
    addresses: Addresses = Field((), description="For its only link; a link can say them too.")
    sysctls: Sysctls = Field({}, description="Kernel settings of this host.")

    def node(self, name: str) -> Node:
        return Node(name, self.type, nic=self.nic, addresses=self.addresses, sysctls=tuple(self.sysctls.items()))

    @classmethod
    def of(cls, node: Node) -> HostFile:
        return cls.model_construct(type="host", nic=node.nic, addresses=node.addresses, sysctls=dict(node.sysctls))


class SwitchFile(Shape):
    """A switch: a Linux bridge."""

    type: Literal["switch"]
    stp: Flag = Field(False, description="Whether it runs the spanning tree protocol.")
    nic: RealNic | None = Field(None, description="A NIC of this computer as one more port, on kernel: host.")

    def node(self, name: str) -> Node:
        return Node(name, self.type, stp=self.stp, real_nic=self.nic)

    @classmethod
    def of(cls, node: Node) -> SwitchFile:
        return cls.model_construct(type="switch", stp=node.stp, nic=node.real_nic)


class RouteFile(Shape):
    """One route of a router."""

    to: Prefix
    via: Ip


class RouterFile(Shape):
    """A router: a network namespace that forwards."""

    type: Literal["router"]
    routes: list[RouteFile] = Field([], description="Beyond those the plan works out itself.")

    def node(self, name: str) -> Node:
        return Node(name, self.type, routes=tuple(Route(route.to, route.via) for route in self.routes))

    @classmethod
    def of(cls, node: Node) -> RouterFile:
        routes = [RouteFile.model_construct(to=route.to, via=route.via) for route in node.routes]
        return cls.model_construct(type="router", routes=routes)


NODE_TYPES: dict[str, type[HostFile] | type[SwitchFile] | type[RouterFile]] = {
    "host": HostFile,
    "switch": SwitchFile,
    "router": RouterFile,
}

NodeFile: TypeAlias = Annotated[
    HostFile | SwitchFile | RouterFile,
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
    addresses: dict[Name, Addresses] = Field({}, description="For each end that needs to say its own.")
    schedule: Schedule = None
    policy: LinkPolicy = None

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
        )


class TopologyFile(Shape):
    """A network: nodes, and the links between them."""

    name: Name
    description: Text = ""
    nic: Nic | None = Field(None, description="The interfaces of hosts that do not say themselves.")
    nodes: dict[Name, NodeFile] = Field(min_length=1)
    links: dict[Name, LinkFile] = Field({}, description="By name; one between two nodes.")

    def topology(self) -> Topology:
        return Topology(
            name=self.name,
            description=self.description,
            nic=self.nic,
            nodes=tuple(node.node(name) for name, node in self.nodes.items()),
            links=tuple(link.link(name) for name, link in self.links.items()),
        )

    @classmethod
    def of(cls, topology: Topology) -> TopologyFile:
        return cls.model_construct(
            name=topology.name,
            description=topology.description,
            nic=topology.nic,
            nodes={node.name: NODE_TYPES[node.type].of(node) for node in topology.nodes},
            links={link.name: LinkFile.of(link) for link in topology.links},
        )


def _of(pair: PerDirection[Any] | None, way: Literal["forward", "backward"]) -> Any:
    return None if pair is None else getattr(pair, way)


def _both(kind: Any, forward: Any, backward: Any) -> Any:
    if forward is None and backward is None:
        return None
    return PerDirection[kind].model_construct(forward=forward, backward=backward)
