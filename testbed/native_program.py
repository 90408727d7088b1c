"""Our programs that run in the network: in C, compiled once for each version of their source, and in Python. So is the
agent: a guest cannot write, and would compile its modules at each start.

The user's cache keeps them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import py_compile
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import process
from .cache_folder import flush, is_roots, make, refuse_foreign, shared_folders, user_folder
from .error import MachineError
from .journal import folder_noted, unique

AGENT = Path(__file__).parent / "agent"
"""The agent's folder; the interpreter starts MAIN in it, or in the folder of its compiled modules."""

MAIN = "__main__.py"
SOURCES = AGENT / "native"
SCRIPTS = (AGENT / "mininet_driver.py", AGENT / "routing" / "await_routes.py")
"""Scripts that another Python than ours runs in the network; they travel with the compiled programs."""

FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror")
BUILDS: dict[str, tuple[str, ...]] = {
    "arrivals.c": ("-o", "arrivals", "-pthread"),
    "background.c": ("-o", "background", "-pthread"),
    "command.c": ("-o", "command"),
    "confine.c": ("-o", "confine"),
    "confine_topology.c": ("-shared", "-fPIC", "-o", "confine_topology.so"),
    "congestion.c": ("-shared", "-fPIC", "-o", "congestion.so", "-ldl"),
    "flow.c": ("-o", "flow", "-pthread"),
    "observe.c": ("-o", "observe"),
    "preload.c": ("-shared", "-fPIC", "-o", "preload.so", "-ldl"),
    "qdisc.c": ("-o", "qdisc"),
    "udp.c": ("-o", "udp", "-pthread"),
    "vmclock.c": ("-shared", "-fPIC", "-o", "vmclock.so", "-ldl"),
    "vminit.c": ("-static", "-o", "vminit"),
    "whole.c": ("-shared", "-fPIC", "-o", "whole.so", "-ldl"),
}
STATIC = {
    "command.c": ("-static", "-s", "-o", "command-static"),
    "observe.c": ("-static", "-o", "observe-static"),
}
"""For other computers, whose C library may differ."""
NAMES = {"dualpi2": "qdisc"}
"""Other names of programs, which tell them what to do."""
CONTENTS = ".contents"
"""The file that says what all others in a folder of the cache held when they were compiled."""


@dataclass(frozen=True)
class Tools:
    """The folder of the compiled programs, a hash of their sources, and the folder of the agent that guests run."""

    folder: Path
    digest: str
    agent: Path = AGENT


def tools() -> Tools:
    """Compiles what is not compiled yet. Raises MachineError if there is no compiler."""
    digest = _digest()
    return Tools(_kept(_digest, _build), digest, _agent())


def _agent() -> Path:
    """The folder of the agent's compiled modules; that of their sources if the cache cannot be written: the same agent,
    which starts more slowly.
    """
    with suppress(OSError, MachineError):
        return _kept(lambda: f"agent-{_agent_digest()}", _compile)
    return AGENT


def _digest() -> str:
    text = hashlib.sha256(repr((FLAGS, BUILDS, STATIC, NAMES, CONTENTS)).encode())
    for path in (*sorted(SOURCES.glob("*.[ch]")), *SCRIPTS):
        text.update(path.read_bytes())
    return text.hexdigest()[:12]


def _agent_digest() -> str:
    """Of the agent's modules and of this Python, which is the one that guests run."""
    text = hashlib.sha256(repr((sys.version, importlib.util.MAGIC_NUMBER, CONTENTS)).encode())
    for path in _modules():
        text.update(f"{path.name} {path.stat().st_size}\n".encode())
        text.update(path.read_bytes())
    return text.hexdigest()[:12]


def _modules() -> list[Path]:
    """Those that the agent imports where it runs; a controller is another process, and imports its modules itself."""
    return sorted(AGENT.glob("*.py"))


def _kept(name: Callable[[], str], build: Callable[[Path], None]) -> Path:
    """This folder of the cache; if it is not there, it is built as another one and renamed: nobody sees a part of it,
    and two who build at the same time do not collide. `name` says what the sources are now.

    Raises MachineError if sources changed meanwhile, if the folder no longer holds what was compiled (the loader would
    go on without a damaged library), or if the cache is another user's: who owns it says what we run.
    """
    wanted = name()
    for shared in shared_folders("tools"):
        if _is_whole(shared / wanted):
            return shared / wanted
    home = user_folder() / "tools"
    folder = home / wanted
    for each in (user_folder(), home, folder):
        refuse_foreign(each)
    if not folder.exists():
        _make(folder, name, build)
    about = folder / CONTENTS
    if not about.exists() or about.read_bytes() != _contents(folder):
        raise MachineError(f"{folder} is damaged: it does not hold what was compiled", f"rm -r {folder}")
    return folder


def _make(folder: Path, name: Callable[[], str], build: Callable[[Path], None]) -> None:
    make(folder.parent)
    with folder_noted(folder.parent / unique("partial")) as partial:
        build(partial)
        if name() != folder.name:
            raise MachineError(f"{AGENT} changed while it was compiled", "the same command again")
        (partial / CONTENTS).write_bytes(_contents(partial))
        partial.chmod(0o755)
        flush(partial)
        try:
            os.rename(partial, folder)
        except OSError:
            if not folder.exists():
                raise


def _is_whole(folder: Path) -> bool:
    """Whether this folder for all users holds what was compiled, and only root can have put it there."""
    if not is_roots(folder) or not all(is_roots(path) for path in folder.iterdir()):
        return False
    about = folder / CONTENTS
    return about.exists() and about.read_bytes() == _contents(folder)


def share(home: Path) -> None:
    """Compiles for all users, as root: into a folder that everybody may read."""
    for name, build in ((_digest, _build), (lambda: f"agent-{_agent_digest()}", _compile)):
        folder = home / name()
        if not folder.exists():
            _make(folder, name, build)


def _contents(folder: Path) -> bytes:
    """A hash of the files in it, but for hidden ones."""
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    parts = (f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in files)
    return hashlib.sha256("".join(parts).encode()).hexdigest().encode()


def _build(partial: Path) -> None:
    for name, options in (*BUILDS.items(), *STATIC.items()):
        process.run(["gcc", *FLAGS, SOURCES / name, *options], cwd=partial)
    for name, program in NAMES.items():
        shutil.copy(partial / program, partial / name)
    for script in SCRIPTS:
        shutil.copyfile(script, partial / script.name)


def _compile(partial: Path) -> None:
    """Modules without their sources, so nothing can be older than its source. MAIN is read as it is."""
    for source in _modules():
        if source.name == MAIN:
            shutil.copyfile(source, partial / MAIN)
        else:
            unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
            target = partial / f"{source.stem}.pyc"
            py_compile.compile(
                str(source), str(target), source.name, doraise=True, optimize=0, invalidation_mode=unchecked
            )
