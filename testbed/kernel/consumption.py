"""What a guest takes of the host while it runs: processes, files, and memory beyond its own, bounded so that one guest
ends and nothing else. Reads /proc and the guest's folder.

Its own memory is bounded by `mem=`, its time by `limits.wall`, each file by the launcher. A guest could raise limits
inside itself, so these are watched from outside.

Each page that a process of a lab kernel sees is a mapping of its own on the host, whose kernel keeps a vm_area_struct
for it, also where all are the page of zeros, which costs the guest nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCESSES_MAX = 4096
"""Each process of a guest is one of the host."""
ENTRIES_MAX = 10_000
"""Files and folders below a trial's folder; a trial leaves some dozens."""
CONSOLE_BYTES = 64 << 20
LOOK_S = 0.5
UNSEEN_S = 2.0
"""The most that counts of the time between two looks at a guest: after more, something kept us from looking."""
TICKS = os.sysconf("SC_CLK_TCK")
ROOM_BYTES = 64 << 20
"""A disk on which a guest may take less, or that has less left, is as good as full: a trial can need as much."""

PAGE_BYTES = 4096
MAPPING_BYTES = 256
"""Of the host's kernel for a mapping: vm_area_struct has 192 on x86-64, and a share of a node of the maple tree."""
BEYOND_BYTES = 256 << 20
"""Of the host's memory that a guest may take besides what it was given and half as much; 2000 processes of 4 MiB take
as much for their mappings.
"""
FLOOR_BYTES = 128 << 20
"""Of the host's memory that stays free: a quarter of what is free where a guest starts (`lab.RESERVE_BYTES`)."""


def available_bytes(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The memory that processes can get without swapping: the kernel's estimate, or what is left of the limit of a
    control group (version 2) that this process is in, if that is less, as in a container.
    """
    for line in (proc / "meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return min((int(line.split()[1]) << 10, *_left_in_groups(proc / "self/cgroup", groups)))
    raise AssertionError("BUG: /proc/meminfo has no MemAvailable")


def _left_in_groups(membership: Path, groups: Path) -> Iterator[int]:
    """Of each group with a limit, from ours upwards. Files that were read once and may go count as free."""
    with contextlib.suppress(OSError):
        for line in membership.read_text().splitlines():
            if line.startswith("0::/"):
                ours = groups / line.removeprefix("0::/")
                for group in (ours, *ours.parents[: len(ours.relative_to(groups).parts)]):
                    yield from _left_in(group)


def _left_in(group: Path) -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError):  # no memory controller, or "max"
        limit, taken = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        known = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        yield max(0, limit - taken + int(known.get("inactive_file", 0)))


@dataclass(frozen=True)
class Load:
    """How busy a computer is: how many processes run or wait for a processor, ours not among them, and its cores."""

    others: float
    cores: int

    @property
    def text(self) -> str:
        return f"load {self.others:.1f} on {self.cores} cores"

    def slowdown(self, jobs: int) -> float:
        """The wall time of a job over its processor time, with so many side by side, if all get an equal share."""
        return max(1.0, (self.others + jobs) / self.cores)


def load() -> Load:
    """Of the last minute, as long as none of our trials runs."""
    return Load(os.getloadavg()[0], len(os.sched_getaffinity(0)))


def share(folder: Path) -> int:
    """The bytes that one guest may take of a folder's disk: half of what is free."""
    return shutil.disk_usage(folder).free // 2


@dataclass
class Watch:
    """Looks at most every LOOK_S. `console` is the name of the file with the guest's output, `bytes_max` what all files
    may take together, `cpu_s` the processor time of all processes (None: no limit). `is_share` says that `bytes_max` is
    what `share` allows. `memory_bytes` is what a lab kernel was given (None: it is none, and has no memory of its own).
    """

    pid: int
    folder: Path
    console: str
    bytes_max: int
    looked: float = 0.0
    cpu_s: float | None = None
    is_share: bool = True
    memory_bytes: int | None = None

    def excess(self) -> str | None:
        """What there is too much of, in words; None if all is well."""
        now = time.monotonic()
        if now - self.looked < LOOK_S:
            return None
        self.looked = now
        processes = [self.pid, *_descendants(self.pid, PROCESSES_MAX)]
        if len(processes) > PROCESSES_MAX:
            return f"the guest has more than {PROCESSES_MAX} processes"
        if self.cpu_s is not None and sum(map(cpu_s, processes)) > self.cpu_s:
            return f"the guest has taken more than {self.cpu_s:g} s of processor time: a loop that does not end?"
        if self.memory_bytes is not None and (much := _memory_excess(processes, self.memory_bytes)) is not None:
            return much
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


def _memory_excess(processes: Sequence[int], memory_bytes: int) -> str | None:
    """In words, if they take too much memory beyond that of their lab kernel, or leave the host too little: who takes
    more of it ends sooner. The kernel itself sees all of its memory by one mapping.
    """
    one = memory_bytes // PAGE_BYTES * MAPPING_BYTES
    beyond, most = max(0, sum(map(beyond_bytes, processes)) - one), memory_bytes // 2 + BEYOND_BYTES
    if beyond > most:
        what = f"the guest takes {beyond >> 20} MiB of this computer's memory besides its own {memory_bytes >> 20} MiB"
        return f"{what}; allowed: up to {most >> 20} MiB"
    free = available_bytes()
    if free < FLOOR_BYTES + beyond:
        what = f"this computer has {free >> 20} MiB of memory left, which a guest must leave to others"
        return f"{what}; allowed: fewer --jobs, a smaller limits.memory, or fewer other programs"
    return None


def beyond_bytes(pid: int) -> int:
    """What a process of a lab kernel takes of the host besides the guest's own memory: page tables, mappings, and
    memory that is not shared. Its size is that of its mappings, most of which have one page, so there are at most as
    many as pages; to count them would take the longer the more they are. 0 if it has ended.
    """
    found = _status(pid)
    return kernel_bytes(pid, (found.get("VmSize", 0) << 10) // PAGE_BYTES) + (found.get("RssAnon", 0) << 10)


def kernel_bytes(pid: int, mappings: int | None = None) -> int:
    """What the host's kernel keeps for a process's memory: page tables, and `mappings` (None: they are counted)."""
    if mappings is None:
        try:
            with open(f"/proc/{pid}/maps", "rb") as lines:
                mappings = sum(1 for _ in lines)
        except OSError:
            mappings = 0
    return (_status(pid).get("VmPTE", 0) << 10) + mappings * MAPPING_BYTES


def _status(pid: int) -> dict[str, int]:
    """The sizes in /proc/PID/status, in KiB; none if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {words[0].rstrip(":"): int(words[1]) for words in map(str.split, lines) if words[2:] == ["kB"]}


def _size_text(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def _descendants(pid: int, most: int) -> Iterator[int]:
    """At most `most` processes below one; none where the kernel does not tell."""
    waiting, found = [pid], 0
    while waiting:
        for child in children(waiting.pop()):
            found += 1
            if found > most:
                return
            yield child
            waiting.append(child)


def children(pid: int) -> list[int]:
    """Those of the first thread of a process; none where the kernel does not tell."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


@dataclass
class Silence:
    """How long a guest had its chance and gave no sign of life: wall time without that in which none of its threads
    ran and some waited for a processor (/proc/PID/task/*/schedstat; none where the kernel does not tell), or in which
    we did not look, as after Ctrl-Z. It counts from the first look after a sign on, whose sums over threads are the
    baseline; a thread that is new at a later look was not there before it.
    """

    pid: int
    looked: float
    passed_s: float = 0.0
    ran_s: float = 0.0
    waited_s: float = 0.0
    seen: Mapping[int, tuple[float, float]] | None = None

    def goes_on(self, now: float) -> float:
        """Without a sign until now, in seconds of time.monotonic; how long in all."""
        passed = now - self.looked
        if passed >= LOOK_S:
            processes = (self.pid, *_descendants(self.pid, PROCESSES_MAX))
            seen = {thread: both for pid in processes for thread, both in scheduled_s(pid)}
            if self.seen is not None:
                for thread, (ran, waited) in seen.items():
                    before = self.seen.get(thread, (max(0.0, ran - passed), max(0.0, waited - passed)))
                    self.ran_s += max(0.0, ran - before[0])
                    self.waited_s += max(0.0, waited - before[1])
                self.passed_s += min(passed, UNSEEN_S)
            self.looked, self.seen = now, seen
        return self.lasted_s

    @property
    def lasted_s(self) -> float:
        return self.passed_s - min(self.waited_s, max(0.0, self.passed_s - self.ran_s))

    def ends(self, now: float) -> None:
        """With a sign of life: nobody looks while there are some."""
        self.passed_s = self.ran_s = self.waited_s = 0.0
        self.looked, self.seen = now, None


def scheduled_s(pid: int) -> Iterator[tuple[int, tuple[float, float]]]:
    """Each thread of a process, such as QEMU's processors: how long it ran, and how long it waited for a processor,
    since it began (Documentation/scheduler/sched-stats.rst); 0 if the kernel does not tell.
    """
    with contextlib.suppress(OSError):  # it has ended
        for thread in os.listdir(f"/proc/{pid}/task"):
            yield int(thread), _schedstat(f"/proc/{pid}/task/{thread}")


def _schedstat(folder: str) -> tuple[float, float]:
    try:
        ran, waited = Path(folder, "schedstat").read_text().split()[:2]
        return int(ran) / 1e9, int(waited) / 1e9
    except (OSError, ValueError):
        return 0.0, 0.0


def cpu_s(pid: int) -> float:
    """The processor time of a process and of its children that have ended; 0 if there is none of this number."""
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
