"""What confines programs that run what a user's files say: a lab kernel, or a topology in Python. Looks for files, and
asks the kernel what it offers.

Landlock restricts a process, whoever its user is, without any set-up; where there is none, bubblewrap gives it
namespaces in which the rest of the files is missing. Both go with a seccomp filter, see `agent/native/confine.c`.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from .. import process
from ..codec.frozen import dataclass
from ..error import MachineError
from ..native_program import Tools

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
"""Folders of programs and libraries, which hold nothing that is secret."""

ETC = Path("/etc")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/filesystems")
EMPTY = ("/sys", "/run", "/tmp", "/mnt", "/var/tmp", "/var/log")
"""Folders that a guest mounts its own on; bubblewrap makes them."""

CREATE_RULESET, ASK_VERSION = 444, 1
BUBBLEWRAP, PACKAGE = "bwrap", "bubblewrap"


@dataclass(frozen=True)
class Method:
    """What confines here. `abi` is the version of Landlock's interface (None: not by Landlock)."""

    name: str
    abi: int | None = None

    @property
    def holds(self) -> bool:
        return self.name != NONE.name

    @property
    def text(self) -> str:
        """For people and for results."""
        abi = "" if self.abi is None else f" ABI {self.abi}"
        return f"{self.name}{abi}{' + seccomp' if self.holds else ''}"


NONE = Method("none")


@dataclass(frozen=True)
class Allowance:
    """What a program may do besides what every program may.

    `reads` are files and folders that it may read and execute, `lists` folders of which it may see the names of files,
    at any depth, `writes` folders that it may change. No file gets longer than `file_bytes`. None: no limit but the
    user's.
    """

    reads: tuple[Path, ...] = ()
    lists: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    file_bytes: int | None = None
    memory_bytes: int | None = None
    cpu_s: int | None = None
    is_alone: bool = False
    """It can start no processes."""
    has_terminal: bool = False
    """It finds a pseudo-terminal at the descriptors of `confine.h`."""


@cache
def method() -> Method:
    """The best that there is on this computer."""
    abi = landlock_abi()
    if abi is not None:
        return Method("Landlock", abi)
    return Method("bubblewrap") if bubblewrap_works() else NONE


def landlock_abi() -> int | None:
    """None if this kernel has no Landlock, or if it is switched off."""
    found = ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    return found if found >= 1 else None


def bubblewrap_works() -> bool:
    """Whether bubblewrap is installed, and this kernel gives this user namespaces."""
    try:
        process.run((BUBBLEWRAP, *UNSHARED, *bound("--ro-bind-try", SYSTEM), "--", "true"))
    except (process.CommandError, MachineError):
        return False
    return True


UNSHARED = ("--unshare-all", "--die-with-parent")


def may_run(program: str) -> bool:
    """Whether a guest that is confined here may run this file, wherever links lead."""
    real = Path(os.path.realpath(program))
    return not method().holds or any(real.is_relative_to(os.path.realpath(folder)) for folder in SYSTEM)


def words(tools: Tools, allowed: Allowance, by: Method | None = None) -> tuple[str, ...]:
    """To stand before the words of a command. `by` None is the best method here."""
    held = method() if by is None else by
    limits = _limits(allowed)
    reads = (*SYSTEM, *public_settings(), *FACTS, *map(str, allowed.reads))
    writes = tuple(map(str, allowed.writes))
    launcher = str(tools.folder / "confine")
    if held.abi is not None:
        lists = bound("--list", map(str, allowed.lists), is_pair=False)
        rules = (*bound("--read", reads, is_pair=False), *lists, *bound("--write", writes, is_pair=False))
        return (launcher, *limits, *rules, *bound("--device", DEVICES, is_pair=False), "--")
    if not held.holds:
        return (launcher, "--seccomp-only", *limits, "--")
    folders = (word for name in EMPTY for word in ("--dir", name))
    shown = ("--dev", "/dev", "--proc", "/proc", *folders, *bound("--ro-bind-try", (*reads, launcher)))
    frozen = bound("--remount-ro", ("/", "/dev", "/proc"), is_pair=False)
    return (
        BUBBLEWRAP,
        *UNSHARED,
        *shown,
        *bound("--bind", writes),
        *frozen,
        "--",
        launcher,
        "--seccomp-only",
        *limits,
        "--",
    )


def _limits(allowed: Allowance) -> tuple[str, ...]:
    numbers = {
        "--file-bytes": allowed.file_bytes,
        "--memory-bytes": allowed.memory_bytes,
        "--cpu-s": allowed.cpu_s,
    }
    flags = {"--alone": allowed.is_alone, "--terminal": allowed.has_terminal}
    said = (word for option, number in numbers.items() if number is not None for word in (option, str(number)))
    return (*(flag for flag, wanted in flags.items() if wanted), *said)


def bound(option: str, paths: Iterable[str], *, is_pair: bool = True) -> tuple[str, ...]:
    """An option for each path, followed by the path, twice for a pair."""
    return tuple(word for path in paths for word in (option, *((path, path) if is_pair else (path,))))


@cache
def public_settings() -> tuple[str, ...]:
    """What in /etc everybody may read: whole folders where that holds of all in them, else what it holds of. Root's
    guests are bound by it, too.
    """
    return tuple(_public(ETC))


def _public(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.is_dir(follow_symlinks=False):
                whole = _is_public(entry.path)
                yield from (entry.path,) if whole else _public_parts(entry.path)
            elif entry.is_file() and entry.stat().st_mode & stat.S_IROTH:
                yield entry.path


def _public_parts(folder: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        yield from _public(Path(folder))


def _is_public(folder: str) -> bool:
    """Whether everybody may read all that is in a folder. What a link leads to is a question of its own."""
    try:
        if os.lstat(folder).st_mode & 0o005 != 0o005:
            return False
        with os.scandir(folder) as entries:
            return all(
                each.is_symlink()
                or (_is_public(each.path) if each.is_dir() else bool(each.stat().st_mode & stat.S_IROTH))
                for each in entries
            )
    except OSError:
        return False


def interpreter() -> str:
    """The Python that runs us, without its virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


@cache
def python_files() -> tuple[Path, ...]:
    """What the interpreter needs to start."""
    libraries = (Path(sys.base_prefix, name) for name in ("lib", "lib64"))
    return (Path(interpreter()), Path(os.__file__).resolve().parent, *libraries)


CONTROLLERS = "os_ken"
CODE = ("__init__.py", "__pycache__", "agent")
"""What a guest needs of our package."""


@cache
def code_folders() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """What controllers import: folders of code to read, and those to list, in which Python looks for packages. What
    comes with the testbed, and so the solutions of exercises, is not among the former.
    """
    package = Path(__file__).resolve().parents[1]
    ours = tuple(package / name for name in CODE)
    spec = importlib.util.find_spec(CONTROLLERS)
    installed = () if spec is None or spec.origin is None else (Path(spec.origin).resolve().parents[1],)
    return (*ours, *installed), (package.parent,)
