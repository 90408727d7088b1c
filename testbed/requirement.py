"""What each part of a topology needs of the machine, for each kernel that can carry it. Pure, no I/O.

A new node type is a line in NODES, with probes of its own in `probe.PROBES` where it needs something new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .plan import Plan
from .setting import KernelPlace
from .topology import Topology


@dataclass(frozen=True)
class Never:
    """It cannot be on this kernel, on no machine; `allowed` is what can be."""

    what: str
    allowed: str


@dataclass(frozen=True)
class Need:
    """A part of a topology ("node left", "link path", "engine mininet") needs what a probe looks for, or cannot be."""

    part: str
    needed: str | Never


Needed = tuple[str, ...] | Never

LAB_BASE = ("lab kernel", "ip", "nft", "ethtool")
HOST_BASE = ("root", "network namespaces", "veth", "ip", "nft", "ethtool")

NODES: Mapping[str, Mapping[KernelPlace, Needed]] = {
    "host": {"lab": LAB_BASE, "host": HOST_BASE},
    "router": {"lab": LAB_BASE, "host": HOST_BASE},
    "switch": {"lab": LAB_BASE, "host": (*HOST_BASE, "bridge")},
    "ovs": {"lab": (*LAB_BASE, "open vswitch"), "host": (*HOST_BASE, "open vswitch", "tun")},
    "controller": {"lab": (*LAB_BASE, "controller"), "host": (*HOST_BASE, "controller")},
    "vm": {
        "lab": Never("a virtual machine has a kernel of its own, and cannot be part of a lab kernel", "kernel: host"),
        "host": (*HOST_BASE, "bridge", "tun", "qemu", "vm kernel", "guest agent"),
    },
    "machine": {
        "lab": Never("a machine has a kernel of its own, and cannot be part of a lab kernel", "kernel: host"),
        "host": ("root", "network namespaces", "asyncssh"),
    },
}
"""For `lab` (in either time) and `host`."""

ENGINES: Mapping[str, Mapping[KernelPlace, Needed]] = {
    "netns": {"lab": LAB_BASE, "host": HOST_BASE},
    "mininet": {"lab": (*LAB_BASE, "mininet"), "host": (*HOST_BASE, "mininet")},
}

REAL_NIC: Mapping[KernelPlace, Needed] = {
    "lab": Never("a lab kernel has no way to a real NIC", "kernel: host, or a switch without nic"),
    "host": ("nft",),
}

IMPAIRMENTS = ("netem", "tbf", "quota")
"""What an emulator needs of this machine's kernel where its commands use it: names of probes, and words of commands. A
lab kernel has them all.
"""


def needs(topology: Topology, planned: Plan, place: KernelPlace) -> Iterator[Need]:
    """All that a topology needs, node by node; twice what two nodes need."""
    kind: KernelPlace = "host" if place == "host" else "lab"
    yield from _of(f"engine {topology.engine}", ENGINES[topology.engine].get(kind, ()))
    for node in topology.nodes:
        yield from _of(f"node {node.name} ({node.type})", NODES[node.type].get(kind, ()))
        if node.real_nic is not None:
            yield from _of(f"node {node.name} (nic {node.real_nic})", REAL_NIC[kind])
    if kind == "host":
        for emulator in planned.emulators:
            words = {word for each in planned.commands if each.netns == emulator.netns for word in each.words}
            yield from _of(f"link {emulator.link}", tuple(name for name in IMPAIRMENTS if name in words))
            yield from _of(f"link {emulator.link}", ("periodic loss",))


def _of(part: str, needed: Needed) -> Iterator[Need]:
    if isinstance(needed, Never):
        yield Need(part, needed)
    else:
        yield from (Need(part, name) for name in needed)
