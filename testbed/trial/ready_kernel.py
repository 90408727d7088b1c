"""The kernel that a trial runs on, with our programs for it. Reads files of the kernel's image and of /proc."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from ..error import MachineError
from ..kernel.image.cache import KernelImage, find
from ..kernel.native_program import Tools, tools
from ..kernel.vm import kernel_cache
from ..model.run_setting import Kernel
from ..model.scenario import Trial


@dataclass(frozen=True)
class ReadyKernel:
    """A kernel that is ready: our compiled programs, and the image of a lab kernel (None: this machine's kernel)."""

    kernel: Kernel
    tools: Tools
    image: KernelImage | None

    @cached_property
    def congestion_controls(self) -> frozenset[str]:
        """The congestion controls that the kernel has."""
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
def ready_kernel(kernel: Kernel) -> ReadyKernel:
    """Raises MachineError, with the command that fixes it, if there is no such kernel."""
    image = None if kernel.kind == "host" else find(kernel.name)
    return ReadyKernel(kernel, tools(), image)


def kernel_key(trial: Trial) -> str | None:
    """Identifies what the trial's lab kernel, or the kernels of its virtual machines, were built from; None if the
    trial uses only this computer's kernel, or if a kernel is missing.
    """
    try:
        image = ready_kernel(trial.kernel).image
        return machine_kernels(trial) if image is None else image.key
    except MachineError:
        return None


def machine_kernels(trial: Trial) -> str | None:
    """The sources of the kernels that we give to virtual machines; None without such machines."""
    given = [node.vm for node in trial.topology.nodes if node.vm is not None and not node.vm.boots_itself]
    return "; ".join(kernel_cache.find(vm.kernel).source for vm in given) or None
