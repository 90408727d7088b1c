"""Node types: what the nodes of each can do, and what they need, as values. Pure, no I/O.

A new node type is a value in NODE_TYPES here, its keys in `spec.topology.node` and its commands in
`plan.node.make`; `docs/extending.md` shows one. No fact has a default: whoever adds a type states them all.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...codec.frozen import dataclass

RunsIn: TypeAlias = Literal["kernel", "virtual machine", "computer"]
"""Where a node's network stack is: in the kernel that the plan runs in, in a virtual machine, on another computer."""

MininetClass: TypeAlias = Literal["host", "node", "bridge", "ovs"]
"""What Mininet makes a node of: its Host, its Node, its Linux bridge, its Open vSwitch."""

Colour: TypeAlias = Literal["blue", "vermilion", "green", "purple", "orange", "sky", "neutral"]
"""Of Okabe and Ito's palette; neutral is grey in figures and the colour of text on the page."""
Shape: TypeAlias = Literal["square", "diamond", "circle", "hexagon"]


@dataclass(frozen=True)
class Mark:
    """How the report draws a node."""

    shape: Shape
    colour: Colour


@dataclass(frozen=True, kw_only=True)
class NodeType:
    """What the nodes of one type can do.

    `name` is the word after `type:` in a topology file, `noun` what messages call such a node. `runs_workloads` says
    whether a workload can start or end there, `has_offloads` whether its interfaces behave as the key `nic` says,
    `has_addresses` whether its interfaces have IP addresses. `switches_frames` joins its links into one segment;
    `forwards_packets` routes between them, always (a machine does so if its own key `forward` is set). `takes_trunks`
    says whether a trunk can end there. `openflow` is its part in OpenFlow, None for no part. `mininet` is what Mininet
    makes of it, None if `engine: mininet` cannot have it.

    `lab_needs` and `host_needs` are names of `kernel.ready.probe.PROBES`, beyond what every node needs of this computer
    for a lab kernel and for `kernel: host`; another computer is never in a lab kernel.
    `programs_bytes` is the memory that its own programs take in a lab kernel, 0 if it has none.
    """

    name: str
    noun: str
    runs_in: RunsIn
    runs_workloads: bool
    has_offloads: bool
    has_addresses: bool
    switches_frames: bool
    forwards_packets: bool
    takes_trunks: bool
    openflow: Literal["switch", "controller"] | None
    mininet: MininetClass | None
    lab_needs: tuple[str, ...]
    host_needs: tuple[str, ...]
    programs_bytes: int
    mark: Mark

    @property
    def has_own_kernel(self) -> bool:
        """Whether its network stack is in another kernel than the network around it."""
        return self.runs_in != "kernel"

    @property
    def is_local_host(self) -> bool:
        """Whether it runs workloads in the kernel of the network around it."""
        return self.runs_workloads and not self.has_own_kernel


HOST = NodeType(
    name="host",
    noun="host",
    runs_in="kernel",
    runs_workloads=True,
    has_offloads=True,
    has_addresses=True,
    switches_frames=False,
    forwards_packets=False,
    takes_trunks=True,
    openflow=None,
    mininet="host",
    lab_needs=(),
    host_needs=(),
    programs_bytes=0,
    mark=Mark("square", "sky"),
)

SWITCH = NodeType(
    name="switch",
    noun="switch",
    runs_in="kernel",
    runs_workloads=False,
    has_offloads=False,
    has_addresses=False,
    switches_frames=True,
    forwards_packets=False,
    takes_trunks=True,
    openflow=None,
    mininet="bridge",
    lab_needs=(),
    host_needs=("bridge",),
    programs_bytes=0,
    mark=Mark("diamond", "orange"),
)

ROUTER = NodeType(
    name="router",
    noun="router",
    runs_in="kernel",
    runs_workloads=False,
    has_offloads=False,
    has_addresses=True,
    switches_frames=False,
    forwards_packets=True,
    takes_trunks=True,
    openflow=None,
    mininet="node",
    lab_needs=(),
    host_needs=(),
    programs_bytes=0,
    mark=Mark("circle", "orange"),
)

OVS = NodeType(
    name="ovs",
    noun="switch",
    runs_in="kernel",
    runs_workloads=False,
    has_offloads=False,
    has_addresses=False,
    switches_frames=True,
    forwards_packets=False,
    takes_trunks=True,
    openflow="switch",
    mininet="ovs",
    lab_needs=("Open vSwitch",),
    host_needs=("Open vSwitch",),
    programs_bytes=48 << 20,  # two daemons
    mark=Mark("diamond", "green"),
)

CONTROLLER = NodeType(
    name="controller",
    noun="controller",
    runs_in="kernel",
    runs_workloads=False,
    has_offloads=False,
    has_addresses=False,
    switches_frames=False,
    forwards_packets=False,
    takes_trunks=False,
    openflow="controller",
    mininet="node",
    lab_needs=("controllers in a lab kernel",),
    host_needs=("controllers",),
    programs_bytes=160 << 20,  # an interpreter with os-ken
    mark=Mark("hexagon", "purple"),
)

VM = NodeType(
    name="vm",
    noun="virtual machine",
    runs_in="virtual machine",
    runs_workloads=True,
    has_offloads=True,
    has_addresses=True,
    switches_frames=False,
    forwards_packets=False,
    takes_trunks=False,
    openflow=None,
    mininet="node",
    lab_needs=("QEMU in a lab kernel", "kernel for virtual machines"),
    host_needs=("bridge", "QEMU", "taps", "kernel for virtual machines"),
    programs_bytes=0,
    mark=Mark("square", "green"),
)

MACHINE = NodeType(
    name="machine",
    noun="machine",
    runs_in="computer",
    runs_workloads=True,
    has_offloads=True,
    has_addresses=True,
    switches_frames=False,
    forwards_packets=False,
    takes_trunks=False,
    openflow=None,
    mininet="node",
    lab_needs=(),
    host_needs=(),
    programs_bytes=0,
    mark=Mark("square", "neutral"),
)

NODE_TYPES: dict[str, NodeType] = {each.name: each for each in (HOST, SWITCH, ROUTER, OVS, CONTROLLER, VM, MACHINE)}
"""By the word after `type:`, in the order in which messages list them."""


def register(kind: NodeType) -> None:
    """Takes in a type from outside, before `spec.topology.file` takes in its keys and `plan.node.make` its commands."""
    assert kind.name not in NODE_TYPES, f"BUG: two node types with the name {kind.name!r}"
    NODE_TYPES[kind.name] = kind
