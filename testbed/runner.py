"""Runs one trial on the kernel it asks for, and writes everything to a folder."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from . import __version__, evidence, gate, here, nic, package, process
from .background import Constant
from .error import MachineError, UserError
from .kernels import host, lab
from .kernels.cache import KernelImage, find
from .kernels.guest import Ending, Progress
from .native import Tools, tools
from .result import TrialResult, result
from .scenario import Trial
from .setting import Kernel
from .store import HOST, PROVENANCE, RESULT, TRIAL, write_json, write_samples
from .trial import SAMPLES, Orders
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


def kernel_key(kernel: Kernel) -> str | None:
    """What the lab kernel that a trial would run on was built from; None for this machine's, or if there is none."""
    try:
        image = place(kernel).image
    except MachineError:
        return None
    return None if image is None else image.key


def check(trial: Trial, made: Orders) -> None:
    """Raises UserError or MachineError for what the trial's kernel lacks, before anything runs."""
    there = place(trial.kernel)
    if there.image is None:
        _check_host(made)
    here.refuse(trial.topology, trial.kernel.place, made.plan)
    for program in PROGRAMS.get(type(trial.workload), ()):
        if package.which(program) is None:
            raise MachineError(
                f"the program {program!r} is missing, which this workload needs", package.fix_for(program)
            )
    wanted = set(controls(trial.workload))
    wanted |= {each.congestion for _, each in trial.background if not isinstance(each, Constant)}
    available = there.congestion_controls
    for name in sorted(wanted - available):
        known = ", ".join(sorted(available))
        if there.image is None:
            fix = f"sudo modprobe tcp_{name}, or kernel: lab"
            raise MachineError(f"this machine's kernel has no congestion control {name} (it has {known})", fix)
        raise UserError(f"the lab kernel {there.image.name} has no congestion control {name}; allowed: {known}")


def _check_host(made: Orders) -> None:
    if os.geteuid() != 0:
        raise MachineError("kernel: host needs root", "sudo testbed run …, or kernel: lab, which does not")
    words = {word for command in made.commands for word in command.words}
    needed = {name for name in host.PROBES if name in words or any(command.tool == name for command in made.commands)}
    lacking = host.missing(needed)
    if lacking:
        modules = " ".join(host.PROBES[name][1] for name in lacking)
        raise MachineError(
            f"this machine's kernel has no {', '.join(lacking)}, which the plan needs",
            f"sudo modprobe -a {modules} (where the kernel has no such modules, use kernel: lab, which has them)",
        )


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
    write_json(folder / PROVENANCE, _provenance(there))
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    ending = _carry_out(trial, made, there, folder, progress, cancelled)
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
    if there.image is None:
        with ExitStack() as stack:
            for wanted in made.plan.real_nics:
                stack.enter_context(nic.attached(wanted, owner=f"the trial {trial.id}"))
            return host.run(
                made.steps,
                folder,
                tools=there.tools,
                wall_limit_s=wall_limit_s,
                progress=progress,
                cancelled=cancelled,
            )
    return lab.run(
        there.image,
        made.steps,
        folder,
        tools=there.tools,
        seed=trial.seed,
        memory_bytes=made.memory_bytes,
        virtual_time=trial.kernel.is_virtual_time,
        wall_limit_s=wall_limit_s,
        progress=progress,
        cancelled=cancelled,
    )


def _provenance(there: Place) -> dict[str, object]:
    image = there.image
    return {
        "testbed": __version__,
        "programs": there.tools.digest,
        "kernel": None
        if image is None
        else {"name": image.name, "release": image.release, "config_hash": image.config_hash, "key": image.key},
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
