"""Runs one trial on the kernel it asks for, and writes everything to a folder."""

from __future__ import annotations

import datetime
import json
import platform
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path

from . import (
    __version__,
    evidence,
    far,
    flowtable,
    gate,
    here,
    nic,
    package,
    process,
    relay,
)
from .agent.elsewhere import WAYS
from .agent.kernel import StepError
from .background import Constant
from .error import MachineError, UserError
from .kernels import host, lab, vmkernel
from .kernels.cache import KernelImage, find
from .kernels.guest import Ending, Progress, TrialError
from .machine import Machine
from .native import Tools, tools
from .result import TrialResult, result
from .scenario import Trial
from .setting import Kernel
from .store import HOST, PROVENANCE, RESULT, TRIAL, write_json, write_samples
from .substitution import substituted
from .trial import AFTER, HYPERVISOR, READ_BACK, SAMPLES, Orders
from .workload import controls
from .workloads import PROGRAMS

VERSIONS = {
    "iproute2": ("ip", "-V"),
    "nftables": ("nft", "--version"),
    "ethtool": ("ethtool", "--version"),
    "iperf3": ("iperf3", "--version"),
    "ping": ("ping", "-V"),
    "tcpdump": ("tcpdump", "--version"),
    "nginx": ("nginx", "-v"),
    "curl": ("curl", "--version"),
    "Open vSwitch": ("ovs-vswitchd", "--version"),
    "qemu": ("qemu-system-x86_64", "--version"),
}


@dataclass(frozen=True)
class Place:
    """A kernel that is ready: our compiled programs, and the image of a lab kernel (None: this machine's kernel)."""

    kernel: Kernel
    tools: Tools
    image: KernelImage | None

    @cached_property
    def congestion_controls(self) -> frozenset[str]:
        """What flows can use there."""
        if self.image is None:
            path = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
            return frozenset(path.read_text().split())
        config = (self.image.folder / "config").read_text().splitlines()
        prefix, built_in = "CONFIG_TCP_CONG_", "=y"
        names = [
            line[len(prefix) : -len(built_in)] for line in config if line.startswith(prefix) and line.endswith(built_in)
        ]
        return frozenset({"reno", *(name.lower() for name in names)} - {"advanced"})


@cache
def place(kernel: Kernel) -> Place:
    """Raises MachineError with the command that fixes it if there is no such kernel."""
    image = None if kernel.place == "host" else find(kernel.name)
    return Place(kernel, tools(), image)


def kernel_key(trial: Trial) -> str | None:
    """What the lab kernel that a trial would run on was built from, or the kernels of its virtual machines; None for
    this machine's, or if one is missing.
    """
    try:
        image = place(trial.kernel).image
        return _machine_kernels(trial) if image is None else image.key
    except MachineError:
        return None


def _machine_kernels(trial: Trial) -> str | None:
    """Where those come from that we hand to virtual machines."""
    given = [node.vm for node in trial.topology.nodes if node.vm is not None and not node.vm.boots_itself]
    return "; ".join(vmkernel.find(vm.kernel).source for vm in given) or None


def check(trial: Trial, made: Orders) -> None:
    """Raises UserError or MachineError for what the trial's kernel lacks, before anything runs."""
    there = place(trial.kernel)
    here.refuse(trial.topology, trial.kernel.place, made.plan)
    if there.image is None:
        _check_machines(trial, made)
    for program in PROGRAMS.get(type(trial.workload), ()):
        if package.which(program) is None:
            raise MachineError(
                f"the program {program!r} is missing, which this workload needs", package.fix_for(program)
            )
    _check_openflow(made, there)
    is_elsewhere = trial.workload.source in made.plan.elsewhere  # whose kernel says itself what it has not
    wanted = set() if is_elsewhere else set(controls(trial.workload))
    wanted |= {each.congestion for _, each in trial.background if not isinstance(each, Constant)}
    available = there.congestion_controls
    for name in sorted(wanted - available):
        known = ", ".join(sorted(available))
        if there.image is None:
            fix = f"sudo modprobe tcp_{name}, or kernel: lab"
            raise MachineError(f"this machine's kernel has no congestion control {name} (it has {known})", fix)
        raise UserError(f"the lab kernel {there.image.name} has no congestion control {name}; allowed: {known}")


def _check_openflow(made: Orders, there: Place) -> None:
    """The datapath that an Open vSwitch is to have must be in the kernel that it gets."""
    for switch, datapath in made.plan.datapaths:
        if datapath == "kernel" and not (package.has_module("openvswitch") if there.image is None else _in_lab(there)):
            what = f"{switch} has datapath: kernel, and the kernel has no Open vSwitch"
            raise MachineError(what, "sudo modprobe openvswitch, or datapath: user, or kernel: lab")


def _in_lab(there: Place) -> bool:
    assert there.image is not None, "BUG: a lab kernel without an image"
    return "CONFIG_OPENVSWITCH=y" in (there.image.folder / "config").read_text().splitlines()


def _check_machines(trial: Trial, made: Orders) -> None:
    """Whether all of them can be reached, and have what they need."""
    steps = [step for step in made.steps if "needs" in step]
    _look_at(tuple(machines(trial).items()), json.dumps(steps))


@cache
def _look_at(found: tuple[tuple[str, Machine], ...], steps: str) -> None:
    with tempfile.TemporaryDirectory(prefix="testbed-") as folder, relay.opened(dict(found), Path(folder)):
        for step in json.loads(steps):
            looked = {key: step[key] for key in ("machine", "needs")}
            try:
                WAYS[step["by"]](step["reach"], looked, folder).close()
            except StepError as error:
                fix = "testbed machines prepare TOPOLOGY, or change what the topology asks for"
                raise MachineError(str(error), fix) from None


def machines(trial: Trial) -> dict[str, Machine]:
    """Those of its topology, by node."""
    return {node.name: node.machine for node in trial.topology.nodes if node.machine is not None}


def run(
    trial: Trial,
    made: Orders,
    folder: Path,
    *,
    progress: Progress = lambda lab_s: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> TrialResult:
    """Carries out a trial. Afterwards `folder` has all that is needed to repeat it and to analyse it again.

    Raises TrialError if it could not be carried out, Cancelled when `cancelled` says so.
    """
    there = place(trial.kernel)
    write_json(folder / TRIAL, trial.to_dict())
    (folder / "plan.sh").write_text(made.script)
    write_json(folder / PROVENANCE, _provenance(trial, there))
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    try:
        with relay.opened(machines(trial), folder):
            ending = _carry_out(trial, made, there, folder, progress, cancelled)
    except TrialError as error:
        said = flowtable.failures(folder)
        raise TrialError(f"{said}\nThen {error}" if said else str(error)) from None
    far.gather(folder, made.plan, {READ_BACK: made.observed, AFTER: made.observed, SAMPLES: made.sampled})
    seen = evidence.read(trial, made, folder)
    findings = gate.judge(trial, made.plan, seen)
    write_samples(folder, seen)
    (folder / SAMPLES).unlink()
    done = result(trial, made.plan, seen, findings, ending)
    write_json(folder / HOST, {"wall_s": ending.wall_s, "started": started})
    write_json(folder / RESULT, dict(done.data))
    return done


def _carry_out(
    trial: Trial, made: Orders, there: Place, folder: Path, progress: Progress, cancelled: Callable[[], bool]
) -> Ending:
    wall_limit_s = trial.limits.wall_ns / 1e9 if trial.limits.wall_ns is not None else None
    steps, accelerator = substituted(trial.topology, made.steps, there.tools, is_lab=there.image is not None)
    if accelerator is not None:
        write_json(folder / HYPERVISOR, asdict(accelerator))
    if there.image is None:
        with ExitStack() as stack:
            for wanted in made.plan.real_nics:
                stack.enter_context(nic.attached(wanted, owner=f"the trial {trial.id}"))
            return host.run(
                steps,
                folder,
                tools=there.tools,
                wall_limit_s=wall_limit_s,
                progress=progress,
                cancelled=cancelled,
            )
    return lab.run(
        there.image,
        steps,
        folder,
        tools=there.tools,
        seed=trial.seed,
        memory_bytes=made.memory_bytes,
        virtual_time=trial.kernel.is_virtual_time,
        wall_limit_s=wall_limit_s,
        progress=progress,
        cancelled=cancelled,
    )


def _provenance(trial: Trial, there: Place) -> dict[str, object]:
    image = there.image
    return {
        "testbed": __version__,
        "programs": there.tools.digest,
        "kernel": None
        if image is None
        else {"name": image.name, "release": image.release, "config_hash": image.config_hash, "key": image.key},
        "machine_kernels": _machine_kernels(trial),
        "versions": _versions(),
    }


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}  # the agent's too
    for name, words in VERSIONS.items():
        try:
            done = process.run(words)
        except (process.CommandError, MachineError):
            continue
        found[name] = (done.stdout or done.stderr).splitlines()[0].strip()
    return found
