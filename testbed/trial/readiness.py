"""Whether this computer can run a trial, checked before it starts."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .. import package
from ..agent.remote import REACH
from ..agent.syscall import StepError
from ..error import MachineError, UserError
from ..kernel import controller
from ..kernel.image.feature import ATTEMPTS
from ..kernel.machine import connected
from ..kernel.ready import feasibility
from ..kernel.ready.probe import lacking_program
from ..kernel.vm import first_boot as vm_first_boot
from ..kernel.vm import kernel_cache
from ..model.node.machine import Machine
from ..model.scenario import Trial
from ..model.workload import Workload
from ..plan.step import ReachMachine, data
from ..spec import program_store
from .orders.sequence import Orders
from .ready_kernel import ReadyKernel, ready_kernel
from .subject import bpf


def check(trial: Trial, made: Orders) -> None:
    """Raises UserError or MachineError for what the trial's kernel lacks, before anything runs."""
    ready = ready_kernel(trial.kernel)
    feasibility.refuse(trial.topology, trial.kernel.kind, made.plan)
    if ready.image is None:
        _check_machines(trial, made)
    local = [host for host in trial.workload.hosts if host not in made.plan.remote]
    check_programs(trial.workload, is_lab=ready.image is not None, hosts=local)
    program_store.find(trial.workload.needed_files)
    controller.programs(trial.topology)
    feasibility.refuse_programs(made.steps, trial.kernel.kind)
    _check_openflow(made, ready)
    check_features(trial, made, ready)


def check_programs(workload: Workload, *, is_lab: bool, hosts: Sequence[str] | None = None) -> None:
    """Raises MachineError, with its package if that is known, for a program that these hosts (None:
    all) cannot start here.
    """
    wanted = {program for host in hosts or () for program in workload.needed_at(host)}
    for program in workload.needed_programs:
        if hosts is not None and program not in wanted:
            continue
        lacks = lacking_program(program.name, is_lab=is_lab)
        if lacks is not None:
            fix = package.install_command([program.package]) if program.package else lacks.fix
            raise MachineError(f"{lacks.what}, which this workload needs", fix)


def check_features(trial: Trial, made: Orders, ready: ReadyKernel) -> None:
    """Raises UserError or MachineError for what the kernels lack of what was asked, by their own account."""
    is_remote = trial.workload.source in made.plan.remote  # a real computer says itself what it lacks
    if is_remote:
        _check_machine_controls(trial)
        check_bpf(trial, is_lab=ready.image is not None)
    for name in () if is_remote else sorted(trial.controls):
        lacks = ready.features.lacks_control(name)
        if lacks is not None and ready.image is None:
            fix = f"sudo modprobe tcp_{name}, or kernel: lab"
            raise MachineError(f"this machine's kernel has {lacks.replace('allowed:', 'it has')}", fix)
        if lacks is not None and ready.image is not None:
            raise UserError(f"the lab kernel {ready.image.name} has {lacks}")
    if trial.acks and ready.image is not None and not ready.features.records_acks:
        what = (
            f"the lab kernel {ready.image.name} cannot record ACKs (samples: acks): it lacks our patch 0018-tcp-testbed"
        )
        raise MachineError(what, "testbed kernel build, or testbed run … --set samples='{interval: 100 ms}'")
    for name, said in ready.features.refusals.items() if ready.image is not None else ():
        if any(name in command.features for command in made.plan.commands):
            assert ready.image is not None, "BUG: this machine's kernel was not asked"
            what = f"the lab kernel {ready.image.name} refused {' '.join(ATTEMPTS[name])} ({said})"
            raise MachineError(f"{what}, and the network needs {name}", "testbed kernel build")


def _check_machine_controls(trial: Trial) -> None:
    """Raises UserError if the kernel that we give to the sending virtual machine lacks a congestion control."""
    vm = trial.topology.node(trial.workload.source).vm
    if vm is None or vm.boots_itself:
        return
    kernel = kernel_cache.find(vm.kernel)
    for name in sorted(trial.controls & set(trial.workload.controls)):
        if (lacks := vm_first_boot.features(kernel).lacks_control(name)) is not None:
            raise UserError(f"the kernel {kernel.name} for virtual machines has {lacks}")


def check_bpf(trial: Trial, *, is_lab: bool) -> None:
    """Raises UserError or MachineError for what a machine of ours lacks to load the controls in BPF of its sockets. A
    disk with a kernel of its own says so in the trial.
    """
    vm = trial.topology.node(trial.workload.source).vm
    if vm is None or not trial.workload.bpf_controls:
        return
    if vm.image is None and (lacks := lacking_program(bpf.LOADER.name, is_lab=is_lab)) is not None:
        fix = package.install_command([bpf.LOADER.package])
        raise MachineError(f"{lacks.what}, which loads a congestion control in BPF", fix)
    if vm.boots_itself:
        return
    kernel = kernel_cache.find(vm.kernel)
    for name in (each.name for each in trial.workload.bpf_controls):
        if name in vm_first_boot.features(kernel).congestion_controls:
            what = f"the kernel {kernel.name} for virtual machines has a congestion control {name} already"
            raise UserError(f"{what}; allowed: another .name in the object file's tcp_congestion_ops")
    if kernel_cache.has_types(kernel) is False:
        what = f"the kernel {kernel.name} for virtual machines tells no types (BTF), without which it loads no control"
        raise MachineError(f"{what} in BPF", f"{kernel_cache.FETCH_COMMAND} (Debian's kernels have them)")


def _check_openflow(made: Orders, ready: ReadyKernel) -> None:
    """Raises MachineError if a kernel lacks the datapath that an Open vSwitch needs."""
    for switch, datapath in made.plan.datapaths:
        if datapath == "kernel" and not (package.has_module("openvswitch") if ready.image is None else _in_lab(ready)):
            what = f"{switch} has datapath: kernel, but the kernel has no Open vSwitch"
            raise MachineError(what, "sudo modprobe openvswitch, or datapath: user, or kernel: lab")


def _in_lab(ready: ReadyKernel) -> bool:
    assert ready.image is not None, "BUG: a lab kernel without an image"
    return "CONFIG_OPENVSWITCH=y" in (ready.image.folder / "config").read_text().splitlines()


def _check_machines(trial: Trial, made: Orders) -> None:
    """Raises MachineError if a machine cannot be reached, or lacks something."""
    steps = tuple(step for step in made.steps if isinstance(step, ReachMachine))
    _examine(tuple(machines(trial).items()), steps)


@cache
def _examine(named: tuple[tuple[str, Machine], ...], steps: tuple[ReachMachine, ...]) -> None:
    with tempfile.TemporaryDirectory(prefix="testbed-") as folder, connected(dict(named), Path(folder)):
        for step in map(data, steps):
            needs = {key: step[key] for key in ("machine", "needs")}
            try:
                REACH[step["by"]](step["reach"], needs, folder).close()
            except StepError as error:
                fix = "testbed machines prepare TOPOLOGY, or change what the topology asks for"
                raise MachineError(str(error), fix) from None


def machines(trial: Trial) -> dict[str, Machine]:
    """The machines of its topology, by node."""
    return {node.name: node.machine for node in trial.topology.nodes if node.machine is not None}
