"""What has a network stand, for a trial as for `testbed up`: commands of the plan, and the order of the steps.

Machines are looked at before anything is touched; virtual machines start when all around them is there.
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
"""For the whole guest: TCP's memory is bounded by the guest's, and no socket buffer by anything else. The input queue
of the kernel, 1000 packets, would lose what superpackets are cut into."""


def datapath(kernel: Kernel) -> Datapath:
    """Of Open vSwitches that do not say: the kernel's where it has one."""
    return "kernel" if kernel.kind != "host" or package.has_module("openvswitch") else "user"


def commands(planned: Plan, kernel: Kernel) -> tuple[Command, ...]:
    """The plan's, and before them what the whole of a lab kernel is told."""
    return (*_prelude(kernel), *planned.commands)


def steps(topology: Topology, planned: Plan, kernel: Kernel, reach_machines: Iterable[Step]) -> tuple[Step, ...]:
    """`reach_machines` are the steps that reach computers of which nodes are made."""
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
