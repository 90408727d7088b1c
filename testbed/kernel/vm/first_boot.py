"""Boots a kernel for virtual machines once, without KVM, to check that it runs and to ask which congestion controls it
has, built in or as modules. Keeps the answer beside it.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ... import native_program
from ...error import MachineError
from ..image import feature
from ..image.feature import Features
from . import hypervisor, kernel_cache
from .kernel_cache import VmKernel

LIMIT_S = 60.0
"""Limit of the first boot, which takes some seconds without KVM on an idle computer."""


def ask(image: Path, modules: Iterable[tuple[str, bytes]] = ()) -> Features:
    """What the kernel in a file says with these modules. MachineError, with the end of its console, if it does not run
    here or does not say.
    """
    program = (native_program.tools().folder / "vminit").read_bytes()
    with tempfile.TemporaryDirectory(prefix="testbed-") as folder:
        archive = Path(folder, "initramfs")
        archive.write_bytes(kernel_cache.initramfs(program, modules))
        said = hypervisor.boot("tcg", image, archive, LIMIT_S, "features")
    answers = [line.partition(feature.SAID)[2] for line in said.splitlines() if feature.SAID in line]
    if hypervisor.MARK not in said or not answers:
        last = "\n".join(said.splitlines()[-15:]) or "(it wrote nothing)"
        what = f"the kernel does not run in a virtual machine; its console ends with:\n{last}\n"
        raise MachineError(what, "testbed doctor")
    return feature.of_controls(answers[-1])


def features(kernel: VmKernel) -> Features:
    """What is kept of a kernel, or else its answer, which is then kept. MachineError as `ask`."""
    known = feature.read(kernel.folder)
    if known is not None:
        return known
    found = ask(kernel.image, kernel_cache.module_files(kernel, _congestion_controls(kernel)))
    with contextlib.suppress(OSError):  # a cache that others own
        feature.write(kernel.folder, found)
    return found


def _congestion_controls(kernel: VmKernel) -> Iterator[str]:
    """The names of its modules among which its congestion controls are. `tcp_diag` is none, and does no harm."""
    for line in kernel_cache.dependencies(kernel).splitlines():
        file = line.partition(":")[0]
        if "/net/ipv4/tcp_" in file:
            yield kernel_cache.module_name(file)
