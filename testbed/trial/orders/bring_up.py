"""Starts a network, for a trial or for `testbed up`: the commands of the plan, and the order of the steps.

The machines are examined before anything is changed. Virtual machines start after the network around them is built.
Looks for a kernel module on this computer.
"""

from __future__ import annotations

from collections.abc import Iterable

from ... import package
from ...model.openflow import Datapath
from ...model.run_setting import Kernel
from ...model.topology import Topology
from ...plan import batch
from ...plan.command import Command
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


def datapath(kernel: Kernel) -> Datapath:
    """The datapath of Open vSwitches that name none: the kernel's, if the kernel has one."""
    return "kernel" if kernel.kind != "host" or package.has_module("openvswitch") else "user"


def commands(planned: Plan, kernel: Kernel) -> tuple[Command, ...]:
    """The commands for a whole lab kernel, then those of the plan."""
    return (*_prelude(kernel), *planned.commands)


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
        *vm.reach_steps(topology, planned.book),
        *batch.steps(inside),
    )


def _prelude(kernel: Kernel) -> tuple[Command, ...]:
    if kernel.kind == "host":
        return ()
    return tuple(Command("write", (f"/proc/sys/{key}", value)) for key, value in LAB_SYSCTLS)
