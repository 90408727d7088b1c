"""Fills into the steps what depends on this computer: how controllers and virtual machines start. Looks for files, and
tries KVM once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...kernel import controller, lab
from ...kernel.image.cache import KernelImage
from ...kernel.lab import Programs
from ...kernel.vm import hypervisor, runtime, snapshot
from ...kernel.vm.hypervisor import Accelerator
from ...model.node.vm import Vm
from ...model.topology import Topology
from ...native_program import Tools
from ...plan.step import Bring, Run, Step
from ..workload.command import FILES


def substituted(
    topology: Topology,
    steps: Sequence[Step],
    tools: Tools,
    *,
    is_lab: bool,
    is_virtual_time: bool = False,
    files: Path | None = None,
    image: KernelImage | None = None,
    software: snapshot.Software | None = None,
) -> tuple[tuple[Step, ...], Accelerator | None]:
    """The steps as this computer can carry them out, and the accelerator of its virtual machines (None without any).
    `files` is the folder with the workload's files; None if it has none. `image` is the lab kernel, and `software`
    tells that of this computer: which snapshots machines start from depends on both (without them that stays open).
    """
    place = f"hostfs:{lab.HERE}/{lab.FILES}" if is_lab else str(files)
    steps = controller.with_files(steps, topology, is_lab=is_lab)
    done = tuple(_with_files(step, place) for step in controller.with_interpreter(steps, is_lab=is_lab))
    machines = _machines(topology)
    if not machines:
        return done, None
    how = hypervisor.how(tools, is_lab=is_lab, is_virtual_time=is_virtual_time)
    known = hypervisor.words(machines, tools, how)
    if not is_lab:
        return hypervisor.filled(done, known), how
    filled = hypervisor.filled(runtime.with_files(done, machines), runtime.in_lab(known))
    if image is None or software is None:
        return filled, how
    return snapshot.with_folders(filled, image, tools, software), how


def programs(topology: Topology) -> Programs:
    """What a lab kernel reads for the controllers and virtual machines of a topology."""
    controllers, machines = controller.programs(topology), runtime.programs(_machines(topology))
    folders, reads = {**controllers.folders, **machines.folders}, (*controllers.reads, *machines.reads)
    return Programs(folders, reads, machines.places)


def _machines(topology: Topology) -> list[Vm]:
    return [node.vm for node in topology.nodes if node.vm is not None]


def _with_files(step: Step, place: str) -> Step:
    if isinstance(step, Bring):
        return replace(step, files=tuple((name, place if path == str(FILES) else path) for name, path in step.files))
    return step.with_word(str(FILES), place) if isinstance(step, Run) else step
