"""The kernel that a trial runs on, with our programs for it. Reads files of the kernel's image and of /proc."""

from __future__ import annotations

from functools import cache, cached_property

from ..codec.frozen import dataclass
from ..error import MachineError
from ..kernel.image import feature, first_boot
from ..kernel.image.cache import KernelImage, find
from ..kernel.image.feature import Features
from ..kernel.vm import content
from ..model.run_setting import Kernel
from ..model.scenario import Trial
from ..native_program import Tools, tools


@dataclass(frozen=True)
class ReadyKernel:
    """A kernel that is ready: our compiled programs, and the image of a lab kernel (None: this machine's kernel)."""

    kernel: Kernel
    tools: Tools
    image: KernelImage | None

    @cached_property
    def features(self) -> Features:
        """What the kernel has, by its own account. A lab kernel that has not been asked yet boots once."""
        if self.image is None:
            return feature.of_controls(feature.CONTROLS.read_text())
        return first_boot.features(self.image.path)


@cache
def ready_kernel(kernel: Kernel) -> ReadyKernel:
    """Raises MachineError, with the command that fixes it, if there is no such kernel."""
    image = None if kernel.kind == "host" else find(kernel.name)
    return ReadyKernel(kernel, tools(), image)


def kernel_key(trial: Trial) -> str | None:
    """Identifies what the trial's lab kernel, and the kernels of its virtual machines, were built from; None if the
    trial uses only this computer's kernel, or if a kernel is missing.
    """
    try:
        image = ready_kernel(trial.kernel).image
        keys = (None if image is None else image.key, machine_kernels(trial))
        return "; ".join(key for key in keys if key) or None
    except MachineError:
        return None


def machine_kernels(trial: Trial) -> str | None:
    """What the trial's virtual machines start from: the sources of their kernels, with digests of these and of disks.
    None without such machines. MachineError if a file is missing.
    """
    return "; ".join(content.of(node.vm) for node in trial.topology.nodes if node.vm is not None) or None
