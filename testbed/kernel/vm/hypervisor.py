"""QEMU on this computer: whether KVM works, and the values of the placeholders in its command lines.

Boots a kernel once to try KVM, and keeps the answer in `$XDG_CACHE_HOME/testbed/vm`.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Literal

from ... import package, process
from ...cache_folder import make
from ...codec.frozen import dataclass
from ...error import MachineError
from ...model.node.vm import Vm
from ...native_program import Tools
from ...plan.node import vm as qemu
from ...plan.step import Placeholder, StartVm, Step
from . import kernel_cache
from .guest_agent import agent
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


KVM = Path("/dev/kvm")
VHOST = Path("/dev/vhost-net")
TUN = Path("/dev/net/tun")
MARK = "testbed-vm: boots"
PROBE_LIMIT_S = 60.0
"""What is found is remembered, so a computer that is busy for a while must not be taken for one without KVM."""
PROBE_MEMORY = "256M"
CPUS = {"kvm": "host", "tcg": "max"}
"""The processor that a machine sees: all features of the accelerator."""


COUNTED = "tcg, counted instructions"
IN_LAB = "a lab kernel has no KVM"


@dataclass(frozen=True)
class Accelerator:
    """How machines run: `kvm`, or `tcg`, which translates every instruction, or COUNTED, the same in virtual time; and
    why not KVM (empty with it).

    `version` is QEMU's.
    """

    name: Literal["kvm", "tcg", "tcg, counted instructions"]
    why: str
    version: str


def accelerator(tools: Tools) -> Accelerator:
    """Boots a kernel, once on each computer: /dev/kvm may exist and not work."""
    about = _about()
    remembered = kernel_cache.folder() / "accelerator.json"
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(remembered.read_text())
        if known.pop("about") == about:
            return Accelerator(**known)
    found = _tried(tools)
    make(remembered.parent)
    fresh = remembered.with_name(f"accelerator-{os.getpid()}")
    fresh.write_text(json.dumps({"about": about, **asdict(found)}, indent=2) + "\n")
    fresh.replace(remembered)
    return found


@cache
def version() -> str:
    """QEMU's. MachineError with the command that installs it."""
    if package.which(qemu.PROGRAM) is None:
        raise MachineError("QEMU is missing, which virtual machines need", package.fix_for(qemu.PROGRAM))
    return process.run([qemu.PROGRAM, "--version"]).stdout.split()[3].partition("(")[0]


def check(machines: Sequence[tuple[str, Vm]], free_bytes: int, reserve_bytes: int, *, is_lab: bool = False) -> None:
    """Raises MachineError for the first thing that these nodes lack here; starts nothing."""
    version()
    for node, vm in machines:
        if not vm.boots_itself:
            check_kernel(node, _kernel_of(node, vm))
        if vm.image is not None:
            check_disk(node, Path(vm.image), boots_itself=vm.boots_itself)
        if vm.vhost and not VHOST.exists():
            fix = "sudo modprobe vhost_net, or vhost: false"
            raise MachineError(f"{node}: this computer's kernel has no vhost-net ({VHOST})", fix)
    if not is_lab and not TUN.exists():
        raise MachineError(f"this computer's kernel has no taps ({TUN})", "sudo modprobe tun")
    if any(vm.image is None for _, vm in machines):
        agent()
    wanted = sum(vm.memory_bytes for _, vm in machines)
    if wanted + reserve_bytes > free_bytes:
        raise MachineError(
            f"the virtual machines have {wanted >> 20} MiB together, and {free_bytes >> 20} MiB are free",
            "a smaller memory: for each, or end other programs",
        )


def how(tools: Tools, *, is_lab: bool, is_virtual_time: bool) -> Accelerator:
    """How machines run there."""
    if is_lab:
        return Accelerator("tcg, counted instructions" if is_virtual_time else "tcg", IN_LAB, version())
    return accelerator(tools)


def words(wanted: Sequence[Vm], tools: Tools, how: Accelerator) -> dict[Placeholder, str]:
    """The value of each placeholder in the command lines of these machines."""
    name = "kvm" if how.name == "kvm" else "tcg"
    filled: dict[Placeholder, str] = {qemu.ACCELERATOR: name, qemu.CPU: CPUS[name], qemu.ROOT: "/"}
    if any(vm.image is None for vm in wanted):
        filled[qemu.AGENT] = str(agent())
    for vm in wanted:
        if not vm.boots_itself:
            kernel = kernel_cache.find(vm.kernel)
            image = kernel_cache.unpacked_of(kernel) if how.name == COUNTED else kernel.image
            filled[qemu.kernel_word(vm, qemu.KERNEL)] = str(image)
            filled[qemu.kernel_word(vm, qemu.MODULES)] = str(kernel.modules).replace(",", ",,")
            filled[qemu.initramfs_word(vm)] = str(
                kernel_cache.initramfs_of(kernel, tools.folder / "vminit", qemu.root_of(vm), vm.model)
            )
    return filled


def filled(steps: Sequence[Step], known: Mapping[Placeholder, str]) -> tuple[Step, ...]:
    """The steps, with text in place of the placeholders where virtual machines start."""

    def of(word: str) -> str:
        for placeholder, text in known.items():
            word = word.replace(str(placeholder), text)
        return word

    return tuple(
        replace(step, words=tuple(map(of, step.words))) if isinstance(step, StartVm) else step for step in steps
    )


def _kernel_of(node: str, vm: Vm) -> VmKernel:
    try:
        return kernel_cache.find(vm.kernel)
    except MachineError as error:
        raise MachineError(f"{node}: {error.what}", error.fix) from None


def _about() -> list[str]:
    """What the answer depends on."""
    return [platform.release(), version(), str(KVM.exists()), str(os.access(KVM, os.R_OK | os.W_OK))]


def _tried(tools: Tools) -> Accelerator:
    if not KVM.exists():
        return Accelerator("tcg", f"there is no {KVM}", version())
    if not os.access(KVM, os.R_OK | os.W_OK):
        return Accelerator("tcg", f"{KVM} is not open to this user", version())
    kernel = kernel_cache.find(None)
    said = boot("kvm", kernel.image, kernel_cache.initramfs_of(kernel, tools.folder / "vminit"), PROBE_LIMIT_S)
    if MARK in said:
        return Accelerator("kvm", "", version())
    return Accelerator("tcg", f"{KVM} is there, and no kernel boots with it ({_reason(said)})", version())


def _reason(said: str) -> str:
    """The most telling line of what QEMU and a kernel wrote before they gave up."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line or "panic" in line]
    return (telling or lines[-1:] or ["it says nothing"])[0][:120]


def boot(name: str, image: Path, archive: Path, limit_s: float, root: str = "probe") -> str:
    """The output of QEMU and of a kernel with this initramfs until it powers off, or the limit is over. `root` is a
    word of vminit: "probe", or "features", which also has it say what it has.
    """
    argv = (
        *(qemu.PROGRAM, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-machine", f"q35,accel={name}", "-cpu", CPUS[name], "-m", f"{PROBE_MEMORY}"),
        *("-kernel", image, "-initrd", archive, "-append", f"{qemu.BOOT_WORDS} testbed.root={root}"),
    )
    with tempfile.TemporaryFile() as console:
        with process.start(argv, stdout=console, stderr=console) as machine, contextlib.suppress(process.CommandError):
            machine.wait(limit_s)  # its output decides
        console.seek(0)
        return console.read().decode(errors="replace")
