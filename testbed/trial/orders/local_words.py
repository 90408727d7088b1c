"""Fills into the steps what depends on this computer: how controllers and virtual machines start. Looks for files, and
tries KVM once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...kernel import lab
from ...kernel.native_program import Tools
from ...kernel.ready import controller_program, controller_runtime
from ...kernel.vm import hypervisor
from ...kernel.vm.hypervisor import Accelerator
from ...model.topology import Topology
from ...plan.step import Run, Step
from ..workload.command import FILES


def substituted(
    topology: Topology, steps: Sequence[Step], tools: Tools, *, is_lab: bool, files: Path | None = None
) -> tuple[tuple[Step, ...], Accelerator | None]:
    """The steps as this computer can carry them out, and the accelerator of its virtual machines (None without any).
    `files` is the folder with the workload's files; None if it has none.
    """
    place = f"hostfs:{lab.HERE}/{lab.FILES}" if is_lab else str(files)
    steps = controller_program.with_files(steps, topology, is_lab=is_lab)
    done = tuple(_with_files(step, place) for step in controller_runtime.with_interpreter(steps, is_lab=is_lab))
    machines = [node.vm for node in topology.nodes if node.vm is not None]
    if not machines:
        return done, None
    accelerator, known = hypervisor.words(machines, tools)
    return hypervisor.filled(done, known), accelerator


def _with_files(step: Step, place: str) -> Step:
    if not isinstance(step, Run) or str(FILES) not in step.words:
        return step
    return replace(step, words=tuple(place if word == str(FILES) else word for word in step.words))
