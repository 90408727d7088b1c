"""Whether this machine has what a topology may need. Looks at it, and tries its kernel in namespaces that go at once.

A probe says what is lacking, and what to type; None is well. Each looks once.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from . import controllerhome, package, process, topo, vswitch
from .error import MachineError
from .kernels import guestagent, host, hypervisor, vmkernel
from .kernels.cache import find


@dataclass(frozen=True)
class Lacking:
    """`what` is a clause such as "this machine's kernel has no netem"; `fix` what to type."""

    what: str
    fix: str


def lacking(name: str) -> Lacking | None:
    """What PROBES finds wrong; None if all is well."""
    return _looked(name, os.geteuid())


@cache
def _looked(name: str, user: int) -> Lacking | None:
    return PROBES[name]()


def _lab_kernel() -> Lacking | None:
    try:
        find(None)
    except MachineError as error:
        return Lacking(error.what, error.fix)
    return None


def _root() -> Lacking | None:
    command = Path(sys.executable).with_name("testbed")
    return None if os.geteuid() == 0 else Lacking("the host's kernel needs root", f"sudo {command} …, or a lab kernel")


def _program(name: str) -> Lacking | None:
    return None if package.which(name) else Lacking(f"the program {name!r} is missing", package.fix_for(name))


def _found(look: Callable[[], object]) -> Lacking | None:
    """What a look raises."""
    try:
        look()
    except MachineError as error:
        return Lacking(error.what, error.fix)
    return None


def _open_vswitch() -> Lacking | None:
    missing = [name for name in vswitch.PROGRAMS if package.which(name) is None]
    missing += [] if Path(vswitch.SCHEMA).exists() else [vswitch.SCHEMA]
    if not missing:
        return None
    return Lacking(f"this machine has no {missing[0]}", package.install_command(["openvswitch-switch"]))


def _tun() -> Lacking | None:
    there = Path("/dev/net/tun").exists()
    return None if there else Lacking("this machine has no /dev/net/tun", "sudo modprobe tun")


def _mininet() -> Lacking | None:
    missing = topo.missing()
    return None if missing is None else Lacking(missing.what, missing.fix)


def _asyncssh() -> Lacking | None:
    there = importlib.util.find_spec("asyncssh") is not None
    return None if there else Lacking("the Python package asyncssh is missing", "make setup")


def _tried(what: str, module: str, *words: str) -> Lacking | None:
    """Tries a command in a network namespace of its own."""
    if os.geteuid() != 0:
        return None  # `root` says so
    try:
        process.run(("unshare", "--net", "--", *words))
    except process.CommandError as error:
        said = (error.stderr.strip().splitlines() or ["it does not say why"])[-1]
        return Lacking(f"this machine's kernel has no {what} ({said})", _module(module))
    except MachineError as error:
        return Lacking(error.what, error.fix)
    return None


def _emulation(name: str) -> Lacking | None:
    words, module = host.PROBES[name]
    return _tried(name, module, *words)


def _module(names: str) -> str:
    return f"sudo modprobe -a {names} (where the kernel has no such modules, use a lab kernel, which has them)"


ADD = ("ip", "link", "add", "name", "tb-a", "type")

PROBES: Mapping[str, Callable[[], Lacking | None]] = {
    "lab kernel": _lab_kernel,
    "root": _root,
    "network namespaces": partial(_tried, "network namespaces", "veth", "true"),
    "veth": partial(
        _tried, "veth", "veth", "ip", "link", "add", "name", "tb-a", "type", "veth", "peer", "name", "tb-b"
    ),
    "bridge": partial(_tried, "bridge", "bridge", *ADD, "bridge"),
    "netem": partial(_emulation, "netem"),
    "tbf": partial(_emulation, "tbf"),
    "quota": partial(_emulation, "quota"),
    "periodic loss": partial(_emulation, "nft"),
    "ip": partial(_program, "ip"),
    "open vswitch": _open_vswitch,
    "tun": _tun,
    "controller": partial(_found, partial(controllerhome.check, is_lab=True)),
    "qemu": partial(_found, hypervisor.version),
    "vm kernel": partial(_found, partial(vmkernel.find, None)),
    "guest agent": partial(_found, guestagent.agent),
    "asyncssh": _asyncssh,
    "mininet": _mininet,
    "nft": partial(_program, "nft"),
    "ethtool": partial(_program, "ethtool"),
}
