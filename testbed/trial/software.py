"""What of this computer decides the bytes of a trial in virtual time, part by part, and the digest of all of it. Reads
files, and starts the guest's Python and the loader.

A part is text without a path or the name of a computer. What belongs here was found by repeating one trial with one
thing changed at a time; docs/cluster.md has the list. The lab kernel is a part of each trial, not of the computer.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import __version__, package, process
from ..error import MachineError
from ..kernel import confinement
from ..kernel.guest import interpreter
from ..kernel.vm import content, guest_agent
from ..native_program import AGENT, tools
from ..plan.node.frr import DAEMONS, FRR_DAEMONS
from ..plan.node.vm import PROGRAM
from . import known_file
from .compiled_module import is_read

Parts = Mapping[str, str]
Files = Mapping[Path, "tuple[int, ...] | None"]
"""What tells each file from another one in its place, and from itself with another content; None if it is missing."""

UNKNOWN = "unknown"
"""The value of a part that could not be examined: it is never the same as another one."""

NONE = "none"
"""The value of a program or package that is not here."""

NOT_NOTED = "not noted"

CHANGED = "changed while it ran"
"""A part that only a trial has during which files of this computer changed: their names. It is never the same."""

OURS = ("model", "spec", "plan", "kernel", "trial", "process.py", "package.py", "units.py")
"""Those of our sources that make a trial and read its evidence; the agent is a part of its own."""

SEARCH = package.GUEST_FOLDERS
PLACES = (*SEARCH, FRR_DAEMONS)

PROGRAMS = (
    *("ip", "tc", "nft", "ethtool", "bridge", "ping", "iperf3", "tcpdump", "nginx", "curl"),
    *("ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl", "ovsdb-server", "ovsdb-tool"),
    *("zebra", *DAEMONS, "vtysh", "dnsmasq", "busybox", "cp", "cut", "ln", "mkfifo", "readlink", "seq"),
    *("sh", "awk", "cat", "date", "env", "grep", "mkdir", "mount", "sleep", "tee", "truncate", "python3", "mnexec"),
)
"""All that plans, workloads and controllers start in a guest, but for our own programs."""

PACKAGES = ("pyarrow", "pyroute2", "os-ken", "eventlet", "ovs")
"""Python packages that write a trial's tables, decode its evidence, or run in a controller."""

SETTINGS = (
    *("/etc/protocols", "/etc/services", "/etc/nsswitch.conf", "/etc/locale.alias", "/etc/localtime"),
    *("/etc/ld.so.preload", "/etc/connlabel.conf", "/etc/iproute2", "/usr/share/iproute2", "/usr/lib/locale/C.utf8"),
)
"""Files and folders that programs in a guest read."""

LOADER_CACHE = Path("/etc/ld.so.cache")
"""Only whether it is there counts, not what else it lists; but it counts if it changes while a trial runs."""

CHOOSING = (".cpu_features.preferred.", ".active[", ".isa_1=", ".xsave_")
"""What the loader says of the processor that counts; the sizes of its caches do not."""

ASK_PYTHON = """
import importlib.util, json, os, sys
folder = sys.argv[1]
spec = importlib.util.spec_from_file_location("agent", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["agent"] = importlib.util.module_from_spec(spec)
importlib.import_module("agent.main")
specs = [getattr(module, "__spec__", None) for module in sys.modules.values()]
files = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if " /" in line}
print(json.dumps({
    "modules": [[each.name, each.origin, each.cached] for each in specs if each is not None and each.name != "agent"],
    "files": sorted(files),
}))
"""
"""What the guest's Python has open once it has the agent: its modules, and the files mapped into its memory."""


def digest(parts: Parts | None = None) -> str | None:
    """Of these parts, by default of those of this computer. The same digest means the same bytes; None, if a part is
    unknown or changed, means nothing.
    """
    parts = here() if parts is None else parts
    is_known = UNKNOWN not in parts.values() and CHANGED not in parts
    return _sha(json.dumps(sorted(parts.items())).encode(), length=16) if is_known else None


def differences(then: Parts, now: Parts) -> Iterator[tuple[str, str, str]]:
    """Each part that differs, with its value then and now. What is unknown or not noted differs."""
    for part in dict.fromkeys((*then, *now)):
        before, after = (each.get(part, NOT_NOTED) for each in (then, now))
        if before != after or before in (UNKNOWN, NOT_NOTED) or part == CHANGED:
            yield part, before, after


def files() -> Files:
    """The files that this process has examined, and those in the folders of settings, as they are now. A file whose
    access rights or links change is still the same.
    """
    folders = [Path(name) for name in SETTINGS]
    inside = [path for folder in folders if folder.is_dir() for path in folder.rglob("*")]
    return {path: _identity(path) for path in (LOADER_CACHE, *folders, *inside, *tuple(_EXAMINED))}


def changed(before: Files) -> tuple[str, ...]:
    """The names of the files that are others now than they were, or are new."""
    now = files()
    paths = before.keys() | (now.keys() - _EXAMINED)  # what is examined only now has not changed
    return tuple(sorted({path.name for path in paths if now.get(path) != before.get(path)}))


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


@cache
def here() -> Parts:
    """The parts of this computer, as they were when this process first asked. Reads 90 MB, of which it knows what it
    read before (`known_file`).
    """
    found = {name: _examined(examine) for name, examine in EXAMINATIONS.items()}
    found |= _programs() | {f"package {name}": _version(name) for name in PACKAGES}
    known_file.keep()
    return found


def _examined(examine: Callable[[], str]) -> str:
    try:
        return examine()
    except (process.CommandError, MachineError, OSError, ValueError, LookupError):
        return UNKNOWN


def _testbed() -> str:
    """What makes a trial and reads its evidence."""
    package = AGENT.parent
    sources = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] in OURS]
    return f"{__version__} {_of_files(package, sources)}"


def _agent() -> str:
    """Its sources, and which of those that a guest reads itself are compiled: controllers, and the modules only if the
    cache does not have them compiled. Commands that run no trial compile others here.
    """
    sources = sorted(AGENT.rglob("*.py"))
    read = sources if tools().agent == AGENT else [AGENT / "__init__.py", *(AGENT / "controller").rglob("*.py")]
    compiled = sorted(str(path.relative_to(AGENT)) for path in read if is_read(path))
    return _sha(_of_files(AGENT, sources).encode(), repr(compiled).encode())


def _tools() -> str:
    """Our programs as compiled here, and their sources; not the mark of the journal, which is never the same."""
    made = tools()
    programs = [path for path in made.folder.iterdir() if not path.name.startswith(".")]
    return f"{made.digest} {_of_files(made.folder, programs)}"


@cache
def _asked() -> dict[str, Any]:
    done = process.run((interpreter(), "-ISB", "-c", ASK_PYTHON, AGENT), env={"HOME": "/", "TERM": "linux"})
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _python() -> str:
    """How deep it lies counts, as it looks for its library on the way."""
    path = Path(interpreter())
    return f"{platform.python_version()} {_sha_of(path, str(len(path.parts)).encode())}"


def _python_modules() -> str:
    """What of the standard library the guest's Python reads: which modules, from where, and whether compiled."""
    said = []
    for name, origin, _ in _asked()["modules"]:
        path = Path(origin or "")
        if path.is_absolute() and not path.is_relative_to(AGENT):
            said.append((name, _sha_of(path), len(path.parts), is_read(path)))
        elif not path.is_absolute():
            said.append((name, str(origin), 0, False))
    return _sha(repr(said).encode())


def _python_libraries() -> str:
    libraries = map(Path, sorted({*_asked()["files"]} - {interpreter()}))
    return _sha(repr([_library(path) for path in libraries if path.is_file()]).encode())


def _processor() -> str:
    """What the C library makes of the processor: by that it chooses its functions, and some of them count."""
    lines = process.run((_loader(), "--list-diagnostics")).stdout.splitlines()
    told = [line for line in lines if any(word in line for word in CHOOSING)]
    levels = next(line.split('"')[1] for line in lines if line.startswith("dl_hwcaps_subdirs="))
    return f"{levels.split(':')[0] or platform.machine()} {_sha(repr(told).encode())}"


def _loader() -> str:
    return next(str(file) for file in _asked()["files"] if Path(file).name.startswith("ld-"))


def _confinement() -> str:
    """Landlock changes no byte; bubblewrap shows a guest fewer files."""
    return "bubblewrap" if confinement.method().name == "bubblewrap" else "all files"


def _settings() -> str:
    said: list[object] = [LOADER_CACHE.exists()]
    for name in SETTINGS:
        path = Path(name)
        if path.is_dir():
            said.append((name, _of_files(path, (each for each in path.rglob("*") if each.is_file()))))
        else:
            said.append((name, _sha_of(path) if path.exists() else None))
    return _sha(repr(said).encode())


_EXAMINED: set[Path] = set()
"""All files whose bytes are in a part, of any trial of this process."""

EXAMINATIONS: dict[str, Callable[[], str]] = {
    "architecture": platform.machine,
    "processor": _processor,
    "testbed sources": _testbed,
    "agent": _agent,
    "our programs": _tools,
    "python": _python,
    "python modules": _python_modules,
    "python libraries": _python_libraries,
    "settings": _settings,
    "files in sight": _confinement,
}


def contents(names: Iterable[str]) -> dict[str, str]:
    """The same for programs that are no part of every trial: those of a workload."""
    return _programs(tuple(names))


def of_machines(kernels: str) -> dict[str, str]:
    """The parts that only trials with virtual machines have. `kernels`: what the machines start from, in words."""
    return {
        "machine kernels": _sha(kernels.encode()),
        "QEMU": contents((PROGRAM,))[PROGRAM],
        "QEMU's firmware": _examined(content.of_firmware),
        "guest agent": _examined(_guest_agent),
    }


def _guest_agent() -> str:
    """Its content, and that of the libraries that it loads: a snapshot holds both."""
    path = guest_agent.agent()
    loaded = [_library(file) for file in map(Path, _libraries([str(path)])[str(path)]) if file.is_file()]
    return _sha_of(path, repr(loaded).encode())


@cache
def of_snapshots() -> str:
    """Of all parts that decide the bytes of machines' snapshots, but for the lab kernel and what they are made of.
    MachineError if one is unknown: a snapshot of other software would pass for one of this.
    """
    parts = {**here(), **of_machines("")}
    if (found := digest(parts)) is None:
        unknown = ", ".join(name for name, *_ in differences(parts, parts))
        raise MachineError(
            f"cannot use VM snapshots: the version of {unknown} on this computer is unknown", "testbed doctor"
        )
    return found


def _programs(names: tuple[str, ...] = PROGRAMS) -> dict[str, str]:
    """Each program's content, where in the search path it is, and the libraries that it loads."""
    found = {name: path for name in names if (path := shutil.which(name, path=os.pathsep.join(PLACES))) is not None}
    libraries = _libraries(found.values())
    return {name: _program(found.get(name), libraries) for name in names}


def _program(path: str | None, libraries: Mapping[str, list[str]]) -> str:
    if path is None:
        return NONE
    if path not in libraries:
        return UNKNOWN
    try:
        loaded = [_library(Path(each)) for each in libraries[path]]
        return _sha_of(Path(path), repr((PLACES.index(str(Path(path).parent)), loaded)).encode())
    except OSError:
        return UNKNOWN


def _libraries(programs: Iterable[str]) -> dict[str, list[str]]:
    """The files that the loader maps for each program, in their order; without programs that could not be asked."""
    script = 'loader=$1; shift; for program; do echo "$program:"; "$loader" --list "$program" 2>&1; done; true'
    try:
        said = process.run(("sh", "-c", script, "sh", _loader(), *programs)).stdout
    except (process.CommandError, MachineError, OSError, ValueError, LookupError):
        return {}
    found: dict[str, list[str]] = {}
    for line in said.splitlines():
        if line.startswith("/") and line.endswith(":"):
            mapped = found.setdefault(line[:-1], [])
        else:
            mapped.extend(word for word in line.split() if word.startswith("/"))
    return found


@cache
def _library(path: Path) -> tuple[str, str, int]:
    return path.name, _sha_of(path), len(path.parts)


def _version(package: str) -> str:
    try:
        return metadata.version(package) or UNKNOWN  # None while it is being installed
    except metadata.PackageNotFoundError:
        return NONE


def _of_files(folder: Path, paths: Iterable[Path]) -> str:
    """Of the names below the folder, and the contents."""
    return _sha(*(f"{path.relative_to(folder)}\0{_sha_of(path)}\n".encode() for path in sorted(paths)))


def _sha_of(path: Path, more: bytes = b"") -> str:
    """Of the bytes of a file, and of more behind them."""
    _EXAMINED.add(path)
    return known_file.said(path, f"sha {_sha(more)}", lambda data: _sha(data, more))


def _sha(*chunks: bytes, length: int = 12) -> str:
    whole = hashlib.sha256()
    for chunk in chunks:
        whole.update(chunk)
    return whole.hexdigest()[:length]
