"""What a guest takes of the host while it runs: processes and files, bounded so that one guest ends and nothing else.
Reads /proc and the guest's folder.

Its memory is bounded by `mem=`, its time by `limits.wall`, each file by the launcher. A guest could raise limits inside
itself, so these are watched from outside.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROCESSES_MAX = 4096
"""Each process of a guest is one of the host."""
ENTRIES_MAX = 10_000
"""Files and folders below a trial's folder; a trial leaves some dozens."""
CONSOLE_BYTES = 64 << 20
LOOK_S = 0.5
TICKS = os.sysconf("SC_CLK_TCK")
ROOM_BYTES = 64 << 20
"""A disk on which a guest may take less, or that has less left, is as good as full: a trial can need as much."""


def share(folder: Path) -> int:
    """The bytes that one guest may take of a folder's disk: half of what is free."""
    return shutil.disk_usage(folder).free // 2


@dataclass
class Watch:
    """Looks at most every LOOK_S. `console` is the name of the file with the guest's output, `bytes_max` what all files
    may take together, `cpu_s` the processor time of all processes (None: no limit). `is_share` says that `bytes_max` is
    what `share` allows.
    """

    pid: int
    folder: Path
    console: str
    bytes_max: int
    looked: float = 0.0
    cpu_s: float | None = None
    is_share: bool = True

    def excess(self) -> str | None:
        """What there is too much of, in words; None if all is well."""
        now = time.monotonic()
        if now - self.looked < LOOK_S:
            return None
        self.looked = now
        processes = [self.pid, *_descendants(self.pid, PROCESSES_MAX)]
        if len(processes) > PROCESSES_MAX:
            return f"the guest has more than {PROCESSES_MAX} processes"
        if self.cpu_s is not None and sum(map(_cpu_s, processes)) > self.cpu_s:
            return f"the guest has taken more than {self.cpu_s:g} s of processor time: a loop that does not end?"
        if _bytes(self.folder / self.console) > CONSOLE_BYTES:
            return f"the guest has written more than {CONSOLE_BYTES >> 20} MiB to its console"
        entries, size, closed = _size(self.folder)
        if closed is not None:
            return f"the guest has made a folder that cannot be looked into, {closed!r:.100}"
        size += _deleted_bytes(self.pid, self.folder)
        if entries > ENTRIES_MAX:
            return f"the guest has made more than {ENTRIES_MAX} files"
        if size > self.bytes_max:
            why = ", half of what was free when it began" if self.is_share else ""
            took = f"the guest's files take more than {_size_text(self.bytes_max)}{why}"
            return f"{took}: {os.strerror(errno.ENOSPC)}" if self._has_little_room() else took
        return None

    def _has_little_room(self) -> bool:
        """Whether it is the disk that is at fault, and not the guest."""
        return min(self.bytes_max, shutil.disk_usage(self.folder).free) < ROOM_BYTES


def _size_text(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def _descendants(pid: int, most: int) -> Iterator[int]:
    """At most `most` processes below one; none where the kernel does not tell."""
    waiting, found = [pid], 0
    while waiting:
        for child in _children(waiting.pop()):
            found += 1
            if found > most:
                return
            yield child
            waiting.append(child)


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _cpu_s(pid: int) -> float:
    """The processor time of a process and of its children that have ended; 0 if it has ended itself."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / TICKS


def _bytes(path: str | Path) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0


def _deleted_bytes(pid: int, folder: Path) -> int:
    """The bytes on the disk of a folder that files take which have no name any more, and which a process has open."""
    found: dict[int, int] = {}
    try:
        disk = os.stat(folder).st_dev
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                about = os.stat(f"/proc/{pid}/fd/{name}")
                if about.st_nlink == 0 and about.st_dev == disk:
                    found[about.st_ino] = about.st_blocks * 512
    except OSError:  # the process has ended
        return 0
    return sum(found.values())


def _size(folder: Path) -> tuple[int, int, str | None]:
    """How many files and folders there are, up to ENTRIES_MAX + 1, the bytes that they take on the disk, and the name
    of a folder that we may not read, which could hide any number of them.
    """
    waiting, entries, size = [str(folder)], 0, 0
    while waiting and entries <= ENTRIES_MAX:
        here = waiting.pop()
        try:
            with os.scandir(here) as found:
                for each in found:
                    entries += 1
                    size += _bytes(each.path)
                    if each.is_dir(follow_symlinks=False):
                        waiting.append(each.path)
        except PermissionError:
            return entries, size, os.path.basename(here)
        except OSError:  # gone, or moved: its name was counted
            continue
    return entries, size, None
