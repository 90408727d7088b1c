"""What a trial might leave behind: processes that were started in a folder, or whose network is not the host's.

Only what the caller started is counted, whatever else runs on this computer: a test's folder is in no one else's
command line, and `private` hides the namespaces of others.
"""

from __future__ import annotations

import ctypes
import os
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from patience import PATIENCE_S
from private import NAMES

PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)


def processes_below(folder: Path) -> list[int]:
    """The processes whose working directory, or a word of whose command line, is in a folder."""
    inside = re.compile(rf"{re.escape(str(folder))}(?![\w.-])")
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            with suppress(OSError):
                words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if os.readlink(path / "cwd").startswith(f"{folder}/") or any(map(inside.search, words)):
                    found.append(int(path.name))
    return found


def outlive(pids: list[int]) -> list[int]:
    """Those of the processes that still run after some patience."""
    left = []
    for pid in pids:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            try:
                if not select.select([descriptor], [], [], PATIENCE_S)[0]:
                    left.append(pid)
            finally:
                os.close(descriptor)
    return left


def namespaces() -> set[str]:
    """The network namespaces that we gave names to. Without root that is none."""
    if os.geteuid() or not NAMES.exists():
        return set()
    return {path.name for path in NAMES.iterdir()}


@contextmanager
def host_unchanged() -> Iterator[None]:
    """What a run must not change stays as it was: namespaces, devices, and mounts."""

    def seen() -> tuple[set[str], str, str]:
        links = subprocess.run(("ip", "-br", "link"), check=True, capture_output=True, text=True).stdout
        return namespaces(), links, Path("/proc/self/mounts").read_text()

    before = seen()
    yield
    assert seen() == before


@contextmanager
def adopting() -> Iterator[None]:
    """Inside, what our processes leave running becomes our child, and so does not get out of `descendants`."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 0)


def descendants(name: str) -> set[int]:
    """Those of the processes below this one that have a name."""
    parents = dict(filter(None, map(_parent, Path("/proc").glob("[0-9]*/stat"))))
    found: set[int] = set()
    for pid in parents:
        line = [pid]
        while line[-1] in parents:
            line.append(parents[line[-1]][0])
        if os.getpid() in line[1:] and parents[pid][1] == name:
            found.add(pid)
    return found


def _parent(stat: Path) -> tuple[int, tuple[int, str]] | None:
    """The number of a process, that of its parent, and its name; None if it has gone."""
    with suppress(OSError):
        pid, _, rest = stat.read_text().partition(" (")
        name, _, fields = rest.rpartition(") ")
        return int(pid), (int(fields.split()[1]), name)
    return None
