"""Our programs that run in the network: in C, compiled once for each version of their source, and in Python.

The user's cache keeps them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from .. import process
from ..cache_folder import make, user_folder
from ..journal import folder_noted, unique

SOURCES = Path(__file__).parents[1] / "agent" / "native"
SCRIPTS = (SOURCES.with_name("mininet_driver.py"), SOURCES.with_name("routing") / "await_routes.py")
"""Scripts that another Python than ours runs in the network; they travel with the compiled programs."""

FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror")
BUILDS: dict[str, tuple[str, ...]] = {
    "arrivals.c": ("-o", "arrivals", "-pthread"),
    "background.c": ("-o", "background", "-pthread"),
    "command.c": ("-o", "command"),
    "confine.c": ("-o", "confine"),
    "congestion.c": ("-shared", "-fPIC", "-o", "congestion.so", "-ldl"),
    "flow.c": ("-o", "flow", "-pthread"),
    "observe.c": ("-o", "observe"),
    "preload.c": ("-shared", "-fPIC", "-o", "preload.so", "-ldl"),
    "qdisc.c": ("-o", "qdisc"),
    "udp.c": ("-o", "udp", "-pthread"),
    "vmclock.c": ("-shared", "-fPIC", "-o", "vmclock.so", "-ldl"),
    "vminit.c": ("-static", "-o", "vminit"),
}
STATIC = {
    "command.c": ("-static", "-s", "-o", "command-static"),
    "observe.c": ("-static", "-o", "observe-static"),
}
"""For other computers, whose C library may differ."""
NAMES = {"dualpi2": "qdisc"}
"""Other names of programs, which tell them what to do."""


@dataclass(frozen=True)
class Tools:
    """The folder of the compiled programs, and a hash of their sources."""

    folder: Path
    digest: str


def tools() -> Tools:
    """Compiles what is not compiled yet. Raises MachineError if there is no compiler."""
    digest = _digest()
    folder = user_folder() / "tools" / digest
    if not folder.exists():
        _compile(folder)
    return Tools(folder, digest)


def _digest() -> str:
    text = hashlib.sha256(repr((FLAGS, BUILDS, STATIC, NAMES)).encode())
    for path in (*sorted(SOURCES.glob("*.[ch]")), *SCRIPTS):
        text.update(path.read_bytes())
    return text.hexdigest()[:12]


def _compile(folder: Path) -> None:
    """Compiles into a partial folder and renames it, so that two compilations cannot collide."""
    make(folder.parent)
    with folder_noted(folder.parent / unique("partial")) as partial:
        _build(partial, folder)


def _build(partial: Path, folder: Path) -> None:
    for name, options in (*BUILDS.items(), *STATIC.items()):
        process.run(["gcc", *FLAGS, SOURCES / name, *options], cwd=partial)
    for name, program in NAMES.items():
        shutil.copy(partial / program, partial / name)
    for script in SCRIPTS:
        shutil.copyfile(script, partial / script.name)
    partial.chmod(0o755)
    if not folder.exists():
        os.rename(partial, folder)
