"""What each part of a topology needs of the computer, for each kernel that can run it. Pure, no I/O.

What a node type needs is said in `model.node.type`, by the names of `probe.PROBES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...codec.frozen import dataclass
from ...model.node.type import NodeType
from ...model.run_setting import KernelKind
from ...model.topology import Topology
from ...plan.linux import Qdisc
from ...plan.network import Plan
from ...plan.node.namespace import HOST_ALLOWED, node_netns, refused_by_host, written_sysctls
from ..image.feature import QUEUES


@dataclass(frozen=True)
class Never:
    """No computer can have it on this kernel; `allowed` says what can."""

    what: str
    allowed: str


@dataclass(frozen=True)
class Sysctl:
    """Each network namespace must have this sysctl for itself, such as net/ipv4/tcp_ecn."""

    path: str


@dataclass(frozen=True)
class Need:
    """A part of a topology ("node left", "link path", "engine mininet") needs what a probe looks for, or cannot be."""

    part: str
    needed: str | Never | Sysctl


Needed = tuple[str, ...] | Never

NETWORK = ("ip", "tc", "nft", "ethtool", "ping")
"""The programs that every network is set up or checked with."""

LAB_BASE = ("lab kernel", *(f"{name} in a lab kernel" for name in NETWORK))
HOST_BASE = ("root", "network namespaces", "veth", *NETWORK)

COMPUTER = Never("it is another computer, and cannot be part of a lab kernel", "kernel: host")

ENGINES: Mapping[str, Mapping[KernelKind, Needed]] = {
    "netns": {"lab": LAB_BASE, "host": HOST_BASE},
    "mininet": {"lab": (*LAB_BASE, "Mininet"), "host": (*HOST_BASE, "Mininet")},
}

OWN_QDISC = Never(
    "shapers, policers, caps of flows and traces are queueing disciplines of ours, which only the lab kernel has",
    "kernel: lab",
)

REAL_NIC: Mapping[KernelKind, Needed] = {
    "lab": Never("a lab kernel cannot use a real NIC", "kernel: host, or a switch without nic"),
    "host": ("nft",),
}

PROBED = ("netem", "tbf", "quota", "vlan_filtering", "802.1Q", "nat", "ct", *QUEUES)
"""Features of commands that are also names of probes."""


def of_type(kind: NodeType, place: KernelKind) -> Needed:
    """What a node type needs for a lab kernel (in either time) or for `host`."""
    if place == "host":
        return (*HOST_BASE, *kind.host_needs)
    return COMPUTER if kind.runs_in == "computer" else (*LAB_BASE, *kind.lab_needs)


def needs(topology: Topology, planned: Plan, place: KernelKind) -> Iterator[Need]:
    """All that a topology needs, node by node; a need of two nodes appears twice."""
    kind: KernelKind = "host" if place == "host" else "lab"
    yield from _of(f"engine {topology.engine}", ENGINES[topology.engine][kind])
    for node in topology.nodes:
        yield from _of(f"node {node.name} ({node.type})", of_type(node.kind, kind))
        if node.real_nic is not None:
            yield from _of(f"node {node.name} (nic {node.real_nic})", REAL_NIC[kind])
    if kind == "host":
        yield from _of_kernel(topology, planned)


def _of_kernel(topology: Topology, planned: Plan) -> Iterator[Need]:
    """What the commands of a plan need of the host's kernel; a lab kernel has it all."""
    parts = {node_netns(node.name): f"node {node.name}" for node in topology.nodes}
    parts |= {emulator.netns: f"link {emulator.link}" for emulator in planned.emulators}
    for command in planned.commands:
        if isinstance(command, Qdisc) and command.is_own:
            yield Need(parts.get(command.netns or "", "the network"), OWN_QDISC)
        elif command.on is None and command.netns in parts:
            part = parts[command.netns]
            yield from (Need(part, name) for name in PROBED if name in command.features)
            yield from (Need(part, "periodic loss") for _ in range("nft" in command.features))
    for path, netns in written_sysctls(planned.commands):
        why = refused_by_host(path)
        yield Need(parts.get(netns or "", "the network"), Sysctl(path) if why is None else Never(why, HOST_ALLOWED))
    for port in planned.tc_ports:
        yield from _of(f"node {port.node}", ("netem", *(("htb",) if port.rate_bps else ())))


def _of(part: str, needed: Needed) -> Iterator[Need]:
    if isinstance(needed, Never):
        yield Need(part, needed)
    else:
        yield from (Need(part, name) for name in needed)
