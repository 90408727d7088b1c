"""Starts a network, for a trial or for `testbed up`: the commands of the plan, and the order of the steps.

The machines are examined before anything is changed. Virtual machines start after the network around them is built.
Looks for a kernel module on this computer, and asks the lab kernel what it has.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from ... import package
from ...error import MachineError
from ...kernel.image import cache, first_boot
from ...model.openflow import Datapath
from ...model.run_setting import Kernel
from ...model.topology import Topology
from ...plan import batch
from ...plan.command import Command
from ...plan.linux import Write
from ...plan.network import Plan
from ...plan.node import vm
from ...plan.step import Step
from . import remote

TCP_MEMORY_PAGES = 2**31 // 4096 * 64

LAB_SYSCTLS = (
    ("net/ipv4/tcp_mem", " ".join([str(TCP_MEMORY_PAGES)] * 3)),
    ("net/core/rmem_max", "2147483647"),
    ("net/core/wmem_max", "2147483647"),
    ("net/core/netdev_max_backlog", "2147483647"),
)
"""For the whole guest: only the guest's memory limits TCP and its socket buffers. With its default of 1000 packets, the
kernel's input queue would lose packets when a superpacket is cut."""

VIRTUAL_TIME_SYSCTLS = (
    ("net/core/netdev_budget", "1000000"),
    ("net/core/dev_weight", "1000000"),
)
"""In virtual time besides. With its default the kernel takes 64 packets that came at one time, then lets other devices
and processes have their turn: so what happens in between would depend on how many of them are still one superpacket."""


def datapath(kernel: Kernel) -> Datapath:
    """The datapath of Open vSwitches that name none: the kernel's, if the kernel has one."""
    return "kernel" if kernel.kind != "host" or package.has_module("openvswitch") else "user"


def cuts_late(kernel: Kernel) -> bool:
    """Whether the kernel's token buckets hold superpackets uncut, in virtual time. A lab kernel that is not there yet
    would be built with our patches, so it does.
    """
    if not kernel.is_virtual_time:
        return False
    try:
        return _holds_superpackets(cache.find(kernel.name).path)
    except MachineError:
        return True


@functools.cache
def _holds_superpackets(linux: Path) -> bool:
    return first_boot.features(linux).cuts_late


def commands(planned: Plan, kernel: Kernel) -> tuple[Command, ...]:
    """The commands for a whole lab kernel, then those of the plan."""
    return (*prelude(kernel), *planned.commands)


def steps(topology: Topology, planned: Plan, kernel: Kernel, reach_machines: Iterable[Step]) -> tuple[Step, ...]:
    """`reach_machines` are the steps that connect to the real machines."""
    virtual = {node.name for node in topology.nodes if node.kind.runs_in == "virtual machine"}
    outside, inside = (
        [each for each in commands(planned, kernel) if (each.on in virtual) == is_inside] for is_inside in (False, True)
    )
    return (
        *reach_machines,
        *batch.steps(outside),
        *remote.ready_steps(planned),
        *vm.reach_steps(topology, planned.book, counted=kernel.is_virtual_time),
        *batch.steps(inside),
        *vm.link_steps(topology, planned.book),
    )


def prelude(kernel: Kernel) -> tuple[Command, ...]:
    """The commands for a whole lab kernel."""
    if kernel.kind == "host":
        return ()
    sysctls = (*LAB_SYSCTLS, *(VIRTUAL_TIME_SYSCTLS if kernel.is_virtual_time else ()))
    return tuple(Write(f"/proc/sys/{key}", value) for key, value in sysctls)
