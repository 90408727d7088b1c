"""Fills into the steps what depends on this computer: how controllers and virtual machines start. Looks for files, and
tries KVM once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...kernel.native_program import Tools
from ...kernel.ready import controller_runtime
from ...kernel.vm import hypervisor
from ...kernel.vm.hypervisor import Accelerator
from ...model.topology import Topology
from ...plan.step import Step


def substituted(
    topology: Topology, steps: Sequence[Step], tools: Tools, *, is_lab: bool
) -> tuple[tuple[Step, ...], Accelerator | None]:
    """The steps as this computer can carry them out, and the accelerator of its virtual machines (None without any)."""
    done = controller_runtime.with_interpreter(steps, is_lab=is_lab)
    machines = [node.vm for node in topology.nodes if node.vm is not None]
    if not machines:
        return done, None
    accelerator, known = hypervisor.words(machines, tools)
    return hypervisor.filled(done, known), accelerator
