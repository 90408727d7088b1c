"""Probes: whether this computer has what a topology may need. Looks at it, and tries its kernel in temporary
namespaces.

A probe returns what is lacking and what to type, or None. Each looks once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

from ... import package, process
from ...codec.frozen import dataclass
from ...error import MachineError
from ...plan.node import open_vswitch, vm
from ...spec import mininet_import
from .. import confinement, controller, host
from ..image.cache import find
from ..image.feature import PROBES as PROBES_OF_KERNEL
from ..image.feature import QUEUES
from ..vm import hypervisor, kernel_cache
from .requirement import NETWORK

DEVICE = re.compile(r"((?:^|/)(?:conf|neigh))/(?!all/)[^/]+/")
"""The place of a device in the path of a sysctl."""
SYSCTL_FIX = "kernel: lab, or the file without this sysctl"


@dataclass(frozen=True)
class Lacking:
    """`what` is a clause such as "this machine's kernel has no netem"; `fix` what to type."""

    what: str
    fix: str


def lacking(name: str) -> Lacking | None:
    """What one of PROBES lacks; None if all is well."""
    return _looked(name, os.geteuid())


def lacking_sysctl(path: str) -> Lacking | None:
    """Why a network namespace of this computer's kernel cannot set a sysctl, such as net/ipv4/tcp_ecn, for itself; None
    if it can. A device that a trial adds has what `default` or `lo` has.
    """
    own = _own_sysctls(os.geteuid())
    if own is None or any(DEVICE.sub(rf"\1/{device}/", path) in own for device in ("default", "lo")):
        return None
    name = path.replace("/", ".")
    if Path("/proc/sys", path).exists():
        return Lacking(f"the sysctl {name} belongs to the whole computer, not to each network namespace", SYSCTL_FIX)
    return Lacking(f"this machine's kernel has no sysctl {name} in network namespaces", SYSCTL_FIX)


@cache
def _own_sysctls(user: int) -> frozenset[str] | None:
    """What a fresh network namespace has of its own and can set, by the kernel's own account: there what belongs to the
    whole computer is missing, or may only be read. None if we cannot make one; then `root` or a probe says so.
    """
    words = ("unshare", "--net", "--", "find", "/proc/sys/net", "-type", "f", "-perm", "/222")
    try:
        return frozenset(line.removeprefix("/proc/sys/") for line in process.run(words).stdout.splitlines())
    except (process.CommandError, MachineError):
        return None


@cache
def _looked(name: str, user: int) -> Lacking | None:
    return PROBES[name]()


def _root() -> Lacking | None:
    ours = Path(sys.executable).with_name("testbed")
    command = ours if ours.exists() else "testbed"
    return None if os.geteuid() == 0 else Lacking("the host's kernel needs root", f"sudo {command} …, or a lab kernel")


def lacking_program(name: str, *, is_lab: bool) -> Lacking | None:
    """Why a program cannot be started by the agent on this computer, or in a lab kernel; None if it can. A lab kernel
    does not look where the user's PATH leads, and its guest may not read everything.
    """
    found = package.which_in_guest(name) if is_lab else package.which(name)
    if found is not None and (not is_lab or confinement.may_run(found)):
        return None
    elsewhere, fix = found or package.which(name), package.fix_for(name)
    if elsewhere is None:
        return Lacking(f"the program {name!r} is missing", fix)
    return Lacking(f"the program {name!r} is only at {elsewhere}, where a lab kernel cannot run it", fix)


def _raised(look: Callable[[], object]) -> Lacking | None:
    """A probe found something missing."""
    try:
        look()
    except MachineError as error:
        return Lacking(error.what, error.fix)
    return None


def _tried(what: str, module: str, attempt: Callable[[], process.CommandError | None]) -> Lacking | None:
    """`attempt` returns how this computer's kernel refused."""
    if os.geteuid() != 0:
        return None  # `root` says so
    try:
        error = attempt()
    except MachineError as missing:
        return Lacking(missing.what, missing.fix)
    if error is None:
        return None
    said = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
    return Lacking(f"this machine's kernel has no {what} ({said})", _module(module))


def _command(what: str, module: str, *words: str) -> Lacking | None:
    """Tries a command in its own network namespace."""
    return _tried(what, module, partial(host.refusal, *words))


def _emulation(name: str) -> Lacking | None:
    """One of `image.feature.PROBES`, tried once."""
    return _tried(name, PROBES_OF_KERNEL[name][1], partial(host.tried, name))


def _module(names: str) -> str:
    return f"sudo modprobe -a {names} (where the kernel has no such modules, use a lab kernel, which has them)"


def missing_of_open_vswitch() -> list[str]:
    """Its missing programs and files."""
    programs = [name for name in package.OPEN_VSWITCH if package.which(name) is None]
    return programs + ([] if Path(open_vswitch.SCHEMA).exists() else [open_vswitch.SCHEMA])


def _open_vswitch() -> Lacking | None:
    missing = missing_of_open_vswitch()
    if not missing:
        return None
    return Lacking(f"Open vSwitch is not installed ({missing[0]} is missing)", package.install_command([OVS_PACKAGE]))


def _mininet() -> Lacking | None:
    error = mininet_import.missing()
    return None if error is None else Lacking(error.what, error.fix)


def _taps() -> Lacking | None:
    there = hypervisor.TUN.exists()
    return None if there else Lacking(f"there is no {hypervisor.TUN}", "sudo modprobe tun")


OVS_PACKAGE = "openvswitch-switch"

ADD = ("ip", "link", "add", "name", "probe0", "type")

PROBES: Mapping[str, Callable[[], Lacking | None]] = {
    "lab kernel": partial(_raised, partial(find, None)),
    "root": _root,
    "network namespaces": partial(_command, "network namespaces", "veth", "true"),
    "veth": partial(_command, "veth", "veth", *ADD, "veth", "peer", "name", "probe1"),
    "bridge": partial(_command, "bridge", "bridge", *ADD, "bridge"),
    "netem": partial(_emulation, "netem"),
    "tbf": partial(_emulation, "tbf"),
    "quota": partial(_emulation, "quota"),
    "htb": partial(_emulation, "htb"),
    **{name: partial(_emulation, name) for name in QUEUES},
    "vlan_filtering": partial(_emulation, "vlan_filtering"),
    "802.1Q": partial(_emulation, "802.1Q"),
    "nat": partial(_emulation, "nat"),
    "ct": partial(_emulation, "ct"),
    "periodic loss": partial(_emulation, "nft"),
    "Open vSwitch": _open_vswitch,
    "controllers": partial(_raised, partial(controller.check, is_lab=False)),
    "controllers in a lab kernel": partial(_raised, partial(controller.check, is_lab=True)),
    "Mininet": _mininet,
    "QEMU": partial(_raised, hypervisor.version),
    "QEMU in a lab kernel": partial(lacking_program, vm.PROGRAM, is_lab=True),
    "taps": _taps,
    "kernel for virtual machines": partial(_raised, partial(kernel_cache.find, None)),
    **{name: partial(lacking_program, name, is_lab=False) for name in NETWORK},
    **{f"{name} in a lab kernel": partial(lacking_program, name, is_lab=True) for name in NETWORK},
}
