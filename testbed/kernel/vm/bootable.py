"""Whether a file can be what a virtual machine starts from, by its first bytes. Reads them, and starts nothing.

QEMU says nothing about a disk that does not boot, or about a kernel for another processor: the machine is silent until
the trial gives up.
"""

from __future__ import annotations

import struct
from pathlib import Path

from ...error import MachineError
from .kernel_cache import FETCH_COMMAND, VmKernel

HEAD_BYTES = 4096
ELF, X86_64 = b"\x7fELF\x02\x01", 62
ARM64 = b"ARMd"
"""At byte 56: Documentation/arch/arm64/booting.rst of Linux."""

VERSION_MIN, IS_64_BIT = 0x20C, 1
"""Of the boot protocol, the first with the flag of 64-bit kernels: Documentation/arch/x86/boot.rst."""

SIGNED = b"\x55\xaa"
"""At byte 510 of what a BIOS starts."""

FORMATS = (b"QFI\xfb", b"KDMV", b"COWD", b"vhdxfile", b"conectix", b"<<< ", b"QED\0", b"Without", b"Bochs", b"LUKS")
"""How disks begin that are no plain ones: where their boot sector is, QEMU knows."""


def check_kernel(node: str, kernel: VmKernel) -> None:
    """Raises MachineError unless it is a Linux kernel for x86-64, with a list of its modules."""
    fix = f"testbed kernel build --for vm --name {kernel.name}, or {FETCH_COMMAND} --name {kernel.name}"
    if (wrong := _wrong_kernel(_head(node, "kernel", kernel.image))) is not None:
        raise MachineError(f"{node}: the kernel {kernel.name} ({kernel.image}) {wrong}", fix)
    modules = kernel.modules / kernel.release / "modules.dep"
    if not modules.is_file():
        raise MachineError(f"{node}: the kernel {kernel.name} has no list of its modules ({modules})", fix)


def check_disk(node: str, image: Path, *, boots_itself: bool) -> None:
    """Raises MachineError if it cannot be read, is empty, or has to boot and has no boot sector."""
    head = _head(node, "image", image)
    if not head:
        raise MachineError(f"{node}: the image {image} is empty", f"ls -l {image}")
    if boots_itself and not head.startswith(FORMATS) and head[510:512] != SIGNED:
        what = f"{node}: the image {image} has no boot sector (55 aa at byte 510), and shall boot itself"
        raise MachineError(what, "kernel: NAME beside the image, or a disk that a BIOS can start")


def _head(node: str, kind: str, path: Path) -> bytes:
    if path.exists() and not (path.is_file() or path.is_block_device()):
        raise MachineError(f"{node}: the {kind} {path} is no file and no disk", f"ls -ld {path}")
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        what = f"{node}: the {kind} {path} cannot be read ({error.strerror})"
        raise MachineError(what, f"ls -l {path}") from error


def _wrong_kernel(head: bytes) -> str | None:
    """What is wrong with it, if anything is."""
    if head.startswith(b"\x7fELF") and len(head) >= 20:
        (processor,) = struct.unpack_from("<H", head, 18)
        return None if head.startswith(ELF) and processor == X86_64 else "is for another processor than x86-64"
    if head[56:60] == ARM64:
        return "is for ARM; allowed: one for x86-64"
    if len(head) < 0x264 or head[0x202:0x206] != b"HdrS":
        return "is no kernel of Linux for x86-64"
    version, flags = (struct.unpack_from("<H", head, at)[0] for at in (0x206, 0x236))
    return None if version >= VERSION_MIN and flags & IS_64_BIT else "is for 32 bits; allowed: one for x86-64"
