"""A topology as its file writes it: the shape, and the way to values and back. Pure, no I/O.

The keys of a new node type are a line in NODE_FILES; what must hold between nodes and links is in `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from ...model.impairment import Direction
from ...model.openflow import Neighbours
from ...model.topology import MTU_DEFAULT, Engine, Link, Nic, Topology
from ..syntax.field import (
    Addresses,
    EndName,
    Ends,
    IpVersionsField,
    Mtu,
    Name,
    PerDirection,
    Rate,
    Text,
    Time,
)
from ..syntax.file_model import Shape
from ..syntax.variant import Variant
from .impairment import BufferField, JitterField, LinkLoss, LossField
from .node.keys import HostFile, NodeKeys, RouterFile
from .node.machine import MachineFile
from .node.openflow import ControllerNodeFile, OvsNodeFile
from .node.switch import SwitchFile
from .node.vm import VmFile
from .policy import LinkPolicy, PolicyField
from .schedule import ChangeFile, Schedule

WAYS: tuple[Literal["forward"], Literal["backward"]] = ("forward", "backward")
"""From the first end, and from the second."""


NODE_FILES: dict[str, type[NodeKeys]] = {
    "host": HostFile,
    "switch": SwitchFile,
    "router": RouterFile,
    "ovs": OvsNodeFile,
    "controller": ControllerNodeFile,
    "vm": VmFile,
    "machine": MachineFile,
}
"""By the names of NODE_TYPES."""

NodeFile: TypeAlias = Annotated[NodeKeys, Variant("type", NODE_FILES)]


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
            nodes={node.name: NODE_FILES[node.type].of(node) for node in topology.nodes},
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


def _without_port_rate(node: NodeKeys) -> NodeKeys:
    return node.model_copy(update={"port_rate": None}) if isinstance(node, SwitchFile) else node


def _of(pair: PerDirection[Any] | None, way: Literal["forward", "backward"]) -> Any:
    return None if pair is None else getattr(pair, way)


def _both(kind: Any, forward: Any, backward: Any) -> Any:
    if forward is None and backward is None:
        return None
    return PerDirection[kind].model_construct(forward=forward, backward=backward)
