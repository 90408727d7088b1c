"""Snapshots of virtual machines in virtual time: which one a machine starts from, how it is made, and where it is kept.

A machine boots once, in a lab kernel of its own with always the same seed, until its first program has loaded the
modules. It is stopped there, before its root file system is mounted: QEMU keeps no machine that has a 9p share mounted.
Whoever needs a snapshot that is missing makes it first, and then starts from it like everybody else; so a result does
not depend on what was there.

Touches its own folder (`$XDG_CACHE_HOME/testbed/vm/snapshots`): a folder each, whole or absent. `find` reads a snapshot
again, and a broken one counts as absent.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeGuard

from ...cache_folder import make
from ...error import MachineError
from ...journal import folder_noted, unique
from ...native_program import Tools
from ...plan.node import vm as qemu
from ...plan.step import Run, StartVm, Step
from ...spec.syntax import input_file
from .. import lab
from ..guest import TrialError
from ..image.cache import KernelImage
from ..lab import VM_FILES, Programs
from ..shelf import Shelf
from . import content, hypervisor, kernel_cache, runtime

FILES = ("memory", "state")
PAGE_BYTES, CHUNK_BYTES = 4096, 1 << 20
UNUSED_S = 14 * 86_400
"""A snapshot that was used for the last time so long ago goes when another one comes."""


def shelf() -> Shelf:
    return Shelf(kernel_cache.folder() / "snapshots", "snapshot.json")


def find(key: str) -> Path | None:
    """The folder of this snapshot; None if it is not there, or is not what was put there."""
    home, known = shelf().folder / key, shelf().known(key)
    try:
        if known != {"key": key, **{name: _digest(home / name) for name in FILES}}:
            return None
    except (OSError, ValueError):
        return None
    shelf().use(key)
    return home


def put(key: str, made: Path) -> Path:
    """Copies what a guest made, ordinary files only, in place of a snapshot of this key. Raises OSError if one is
    missing or no ordinary file.
    """
    with shelf().partial() as partial:
        fresh = make(partial / "made")
        known = {"key": key, **{name: _copied(made / name, fresh / name) for name in FILES}}
        home = shelf().put(fresh, key, known)
    shelf().remove_unused(UNUSED_S)
    return home


def _digest(path: Path) -> str:
    about = path.lstat()
    return _read(path, about.st_size, about.st_mtime_ns, about.st_ino)


@cache
def _read(path: Path, size: int, mtime_ns: int, inode: int) -> str:
    with input_file.opened(path) as file:
        whole = hashlib.sha256(b"%d" % size)
        for at, page in _pages(file.fileno(), size):
            whole.update(b"%d " % at + page)
        return whole.hexdigest()


def _copied(source: Path, target: Path) -> str:
    """Copies a file without its empty pages. The digest of the copy."""
    with input_file.opened(source) as file, target.open("xb") as copy:
        size = os.fstat(file.fileno()).st_size
        copy.truncate(size)
        for at, page in _pages(file.fileno(), size):
            os.pwrite(copy.fileno(), page, at)
        os.fsync(copy.fileno())
    return _digest(target)


def _pages(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Place and bytes of each page that is not all zeros, wherever the disk has holes."""
    empty, end = bytes(PAGE_BYTES), 0
    while end < size:
        try:
            found = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole as far as the end
                return
            raise
        at = max(end, found - found % PAGE_BYTES)
        end = -(-os.lseek(descriptor, found, os.SEEK_HOLE) // PAGE_BYTES) * PAGE_BYTES
        while at < min(end, size):
            chunk = os.pread(descriptor, min(CHUNK_BYTES, end - at), at)
            if not chunk:
                return
            for begin in range(0, len(chunk), PAGE_BYTES):
                page = chunk[begin : begin + PAGE_BYTES]
                if page != empty[: len(page)]:
                    yield at + begin, page
            at += len(chunk)


SEED = 1
Software = Callable[[], str]
"""Tells, as a digest, the software of this computer that decides the bytes of what a lab kernel's guest writes."""

BASE_BYTES = 256 << 20
"""For the lab kernel itself; its map of its memory takes a sixtieth."""
CPU_LIMIT_S, WALL_LIMIT_S = 600.0, 3600.0
CONSOLE = "machine.log"
WAITS = "testbed-vm: waits"
"""What a machine says when it can be stopped."""

TAKE = f"""\
name=$0 cards=$1 memory=$2 console=/run/trial/{CONSOLE} work=/run/snapshot
shift 2
mkdir $work
mkfifo $work/orders.in $work/orders.out
for number in $(seq 0 $((cards - 1))); do
    ip tuntap add dev tap$number mode tap
    ip link set tap$number up
done
"$@" -name "$name" -chardev pipe,id=orders,path=$work/orders -mon orders \\
    -chardev socket,id=agent,path=$work/agent,server=on,wait=off \\
    -object "memory-backend-file,id=ram,size=$memory,mem-path=$work/memory,share=on" \\
    < /dev/null > $console 2>&1 &
machine=$!
cat $work/orders.out > $work/said 2>&1 &
look() {{
    kill -0 $machine && [ "$(cut -d. -f1 /proc/uptime)" -lt {qemu.BOOT_LIMIT_S} ] && sleep 0.05 && return
    tail -n 25 $console >&2
    tail -n 5 $work/said >&2
    kill $machine
    exit 1
}}
until grep -q '{WAITS}' $console; do
    look
done
sleep 0.1
printf '%s\n' 'migrate_set_capability x-ignore-shared on' "migrate exec:cat>$work/state" > $work/orders.in
until grep -q 'Migration status: completed' $work/said; do
    look
    echo 'info migrate' > $work/orders.in
done
echo quit > $work/orders.in
sleep 0.1
cp --sparse=always $work/memory $work/state /run/trial/
"""


def with_folders(steps: Sequence[Step], image: KernelImage, tools: Tools, software: Software) -> tuple[Step, ...]:
    """The steps, with the folders of the snapshots that machines start from, as a lab kernel's guest has them. Makes
    none. MachineError if a file is missing that goes into one.
    """

    def filled(step: Step) -> Step:
        if not _is_resumed(step):
            return step
        folder = f"{runtime.MOUNTED}/{shelf().folder.name}/{key(step, image, tools, software)}"
        return replace(step, words=tuple(word.replace(str(qemu.SNAPSHOT), folder) for word in step.words))

    return tuple(filled(step) for step in steps)


def make_missing(
    steps: Sequence[Step],
    image: KernelImage,
    tools: Tools,
    software: Software,
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Makes the snapshots that machines start from and that are not here, or not whole.

    Raises TrialError if a machine does not get as far, MachineError if the computer lacks what it takes, and Cancelled.
    """
    for step in steps:
        if _is_resumed(step):
            wanted = key(step, image, tools, software)
            if find(wanted) is None:
                _make(wanted, step, image, tools, cancelled)


def key(step: Run, image: KernelImage, tools: Tools, software: Software) -> str:
    """The name of a machine's snapshot: a digest of all that decides its bytes, and of no folder's place.

    That is all software, too: each random number that the agent draws in the lab kernel changes those that the machine
    gets, and when a program asks for the time decides when the machine is stopped.
    """
    parts = (
        *(TAKE, runtime.MAKE_ROOT, str(SEED), *_words(step)),
        *(image.key, tools.digest, content.of_firmware(), hypervisor.version(), software()),
        content.of_files(_started_from(_words(step)), kernel_cache.folder().resolve()),
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def clock_start_s(steps: Sequence[Step]) -> int:
    """What the lab kernel's clock must say when a trial of these steps starts, in s since 1970."""
    return qemu.CLOCK_START_S if any(map(_is_resumed, steps)) else 0


def _is_resumed(step: Step) -> TypeGuard[StartVm]:
    return isinstance(step, StartVm) and step.resumed is not None


def _words(step: Run) -> tuple[str, ...]:
    return qemu.snapshot_words(step.words)


def _after(words: Sequence[str], option: str) -> str:
    return words[words.index(option) + 1]


def _started_from(words: Sequence[str]) -> tuple[Path, ...]:
    """The kernel and its initramfs."""
    said = (_after(words, option) for option in ("-kernel", "-initrd"))
    return tuple(kernel_cache.folder().resolve() / path.removeprefix(f"{runtime.MOUNTED}/") for path in said)


def _make(wanted: str, step: StartVm, image: KernelImage, tools: Tools, cancelled: Callable[[], bool]) -> None:
    assert step.resumed is not None, "BUG: a snapshot of a machine that boots"
    memory = qemu.memory_word(step.resumed.memory_bytes)
    take = ("sh", "-ec", TAKE, "snapshot", str(step.resumed.cards), memory, *_words(step))
    steps = (*runtime.MOUNTS, Run(take, "snapshot"))
    machine_bytes = step.resumed.memory_bytes + qemu.HYPERVISOR_BYTES + (qemu.TRANSLATED_MIB << 20)
    with shelf().lock():
        if find(wanted) is not None:  # another process made it meanwhile
            return
        try:
            with folder_noted(Path(tempfile.gettempdir(), unique("testbed-snapshot"))) as folder:
                lab.run(
                    image,
                    steps,
                    folder,
                    tools=tools,
                    seed=SEED,
                    memory_bytes=(BASE_BYTES + machine_bytes * 61 // 60) >> 20 << 20,
                    cpu_limit_s=CPU_LIMIT_S,
                    wall_limit_s=WALL_LIMIT_S,
                    cancelled=cancelled,
                    programs=Programs({VM_FILES: kernel_cache.folder().resolve()}),
                )
                put(wanted, folder)
        except TrialError as error:
            raise TrialError(f"no snapshot of a virtual machine could be made: {error}") from None
        except OSError as error:
            what = f"a snapshot of a virtual machine could not be kept: {error.filename}: {error.strerror}"
            raise MachineError(what, f"df {shelf().folder} {tempfile.gettempdir()}") from error
