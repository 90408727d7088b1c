"""What this computer has for virtual machines. The first time, it boots a kernel to see whether KVM works."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...error import MachineError
from ..native_program import tools
from ..vm import guest_agent, hypervisor, kernel_cache
from .examination import VM, Examination


def examine() -> Iterator[Examination]:
    """In order of dependency; leaves out what it cannot examine."""
    works = True
    for what, look in LOOKS:
        if not works and what == "virtual machines run":
            return
        try:
            yield Examination(what, True, look(), needed_for=VM)
        except MachineError as error:
            works = False
            yield Examination(what, False, error.what, error.fix, VM)


def _kernel() -> str:
    found = kernel_cache.find(None)
    others = [f"{each.name} ({each.release})" for each in kernel_cache.installed() if each.name != found.name]
    also = f"; also {', '.join(others)}" if others else ""
    return f"{found.name} ({found.release}) {found.folder}{also}"


def _how() -> str:
    found = hypervisor.accelerator(tools())
    return "with KVM" if found.name == "kvm" else f"emulated, exact only in virtual time (`kernel: lab`): {found.why}"


def _taps() -> str:
    if not hypervisor.TUN.exists():
        raise MachineError(f"there is no {hypervisor.TUN}", "sudo modprobe tun")
    return f"{hypervisor.TUN}, and {'also' if hypervisor.VHOST.exists() else 'no'} {hypervisor.VHOST}"


LOOKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("QEMU", hypervisor.version),
    ("taps", _taps),
    ("kernel for virtual machines", _kernel),
    ("guest agent", lambda: str(guest_agent.agent())),
    ("virtual machines run", _how),
)
