"""Digests of what a virtual machine starts from: its kernel with the modules, and its disk.

Reads these files once, until their size or time changes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ...error import MachineError
from ...model.node.vm import Vm
from . import kernel_cache
from .kernel_cache import VmKernel

LENGTH = 16
FIRMWARE = (
    *(Path("/usr/share/seabios", name) for name in ("bios-256k.bin", "vgabios-stdvga.bin")),
    *(Path("/usr/share/qemu", name) for name in ("pvh.bin", "linuxboot_dma.bin", "kvmvapic.bin")),
)
"""What QEMU loads by itself, before the kernel."""


def of(vm: Vm) -> str:
    """The source and digest of a machine's kernel, and the digest of its disk. Raises MachineError if one is missing or
    cannot be read. The file behind a disk image (its backing file) is not read.
    """
    said = []
    if not vm.boots_itself:
        kernel = kernel_cache.find(vm.kernel)
        said.append(f"{kernel.source} {of_kernel(kernel)}")
    if vm.image is not None:
        said.append(f"image {of_files((Path(vm.image),), Path(vm.image))}")
    return ", ".join(said)


def of_kernel(kernel: VmKernel) -> str:
    """Of its image and all its modules, whatever it says that it was made from."""
    below = (Path(folder, name) for folder, _, names in os.walk(kernel.modules) for name in names)
    modules = (path for path in below if path.is_file())  # not links to where it was built
    return of_files((kernel.image, *modules), kernel.folder)


def of_firmware() -> str:
    """Of the files that are here."""
    return of_files((path for path in FIRMWARE if path.exists()), Path("/usr/share"))


def of_files(paths: Iterable[Path], home: Path) -> str:
    """Of these files and their places below `home`. MachineError if one cannot be read."""
    try:
        found = sorted((path, path.stat()) for path in paths)
        return _read(home, tuple((path, about.st_size, about.st_mtime_ns, about.st_ino) for path, about in found))
    except OSError as error:
        raise MachineError(f"{error.filename} cannot be read ({error.strerror})", f"ls -l {error.filename}") from error


@cache
def _read(home: Path, files: tuple[tuple[Path, int, int, int], ...]) -> str:
    whole = hashlib.sha256()
    for path, *_ in files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
        whole.update(os.fsencode(path.relative_to(home)) + b"\0" + digest)
    return whole.hexdigest()[:LENGTH]
