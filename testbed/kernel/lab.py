"""The lab kernel: executes a trial's steps in User-Mode Linux, in virtual time or on the wall clock.

It is an ordinary process of an ordinary user. It sees the host's file system read-only, writes to the trial's folder
and nowhere else, and takes its entropy from the seed.
"""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from .. import process
from ..cache_folder import open_lock, private, try_lock
from ..codec.frozen import dataclass
from ..error import MachineError
from ..native_program import MAIN, Tools
from ..plan.step import Timeline
from ..process import Running
from . import confinement
from .confinement import Allowance
from .consumption import available_bytes, cpu_s, share
from .guest import CONSOLE, Ending, Progress, Steps, ending, interpreter, pipe, watch, write_steps
from .image.cache import KernelImage


@contextmanager
def reserved() -> Iterator[int | None]:
    """The number of a core that no other lab kernel of this user has; None, for any core, if all are taken."""
    folder = private("cores")
    for core in sorted(os.sched_getaffinity(0), reverse=True):
        descriptor = open_lock(folder / str(core))
        if not try_lock(descriptor):
            os.close(descriptor)
            continue
        try:
            yield core
        finally:
            os.close(descriptor)
        return
    yield None


TCP_HASH_ENTRIES = 1024
"""Buckets of the table of TCP connections. Each round of samples walks the whole table, whose default suits servers."""

HERE = "/proc/self/cwd"
"""The folder in which a lab kernel starts, with links to all that it needs. The kernel adds its command line to its
entropy, so the command line must not contain a path or number that differs between runs.
"""

CHANNEL = "/dev/tty2"

FILES = "files"
"""The name there of the folder with the files of a workload."""


VM_FILES = "vm"
"""The name there of the folder with the kernels of virtual machines."""


@dataclass(frozen=True)
class Programs:
    """Programs of users besides those of a workload: `folders` that a guest sees below HERE, by the names there, what
    it `reads` beyond them, and `places`: folders that it sees like the others, and of which it reads only that.
    """

    folders: Mapping[str, Path] = field(default_factory=dict)
    reads: tuple[Path, ...] = ()
    places: Mapping[str, Path] = field(default_factory=dict)


NO_PROGRAMS = Programs()
NO_VARIABLES: Mapping[str, str] = {}

ACKS = "acks.bin"
"""The file in a trial's folder with a record for each ACK that a sender took. A lab kernel writes it below HERE: the
agent must not see it among the files of the trial.
"""
ACKS_MAX = 4_000_000
"""Records in it: 416 MB. As a table they are half of what `sample_table` takes."""
RECORDS_ACKS: Mapping[str, str] = {"TESTBED_ACKS": f"{ACKS_MAX}:{ACKS}"}
"""The environment of a lab kernel that writes them. Its command line would change its entropy."""

RESERVE_BYTES = 512 << 20
"""The memory of the host that a trial leaves free."""


def run(
    image: KernelImage,
    steps: Steps,
    folder: Path,
    *,
    tools: Tools,
    seed: int,
    memory_bytes: int,
    virtual_time: bool = True,
    clock_start_s: int = 0,
    wall_limit_s: float | None = None,
    cpu_limit_s: float | None = None,
    bytes_max: int | None = None,
    progress: Progress = lambda lab_s: None,
    cancelled: Callable[[], bool] = lambda: False,
    files: Path | None = None,
    programs: Programs = NO_PROGRAMS,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> Ending:
    """Boots the kernel and has it execute the steps, which leave their files in `folder`, with `console.log`.

    `memory_bytes` is a ceiling: the guest takes from the host what it touches. `clock_start_s` is what its clock says
    when virtual time starts, in s since 1970. `cpu_limit_s` is the processor time of
    the guest with all its processes (None: no limit), `bytes_max` what its files may take (None: `consumption.share`),
    `variables` more of the environment of the lab kernel itself.
    Raises TrialError if a step fails, the guest dies or hangs; MachineError if the host lacks the memory.
    """
    check_memory(memory_bytes)
    check_descriptors()
    write_steps(folder, steps)
    began = time.monotonic()
    with (
        pipe() as (signs, writing),
        reserved() as core,
        started(
            image,
            folder,
            tools=tools,
            seed=seed,
            memory_bytes=memory_bytes,
            virtual_time=virtual_time,
            clock_start_s=clock_start_s,
            signs=writing,
            core=core,
            files=files,
            programs=programs,
            variables=variables,
            has_events=any(isinstance(step, Timeline) and step.events for step in steps),
        ) as guest,
    ):
        watch(guest, folder, signs, progress, wall_limit_s, cancelled, cpu_limit_s, bytes_max, memory_bytes)
        took_s = cpu_s(guest.pid)
    return ending(folder, time.monotonic() - began, took_s)


@contextmanager
def started(
    image: KernelImage,
    folder: Path,
    *,
    tools: Tools,
    seed: int,
    memory_bytes: int,
    virtual_time: bool,
    signs: int,
    clock_start_s: int = 0,
    core: int | None = None,
    channel: tuple[int, int] | None = None,
    files: Path | None = None,
    programs: Programs = NO_PROGRAMS,
    variables: Mapping[str, str] = NO_VARIABLES,
    has_events: bool = False,
) -> Iterator[Running]:
    """Starts a guest that executes the steps in `folder`; ends it when the block ends.

    `signs` is the descriptor for the agent's signs of life, `core` the processor core to run on (None: any); `channel`
    two pipes, to it and from it, which the guest sees as the terminal line CHANNEL. (It would not notice that a socket
    has room again.) `has_events`: a step has some.
    """
    with _own_folder(folder) as uml_dir:
        words = [
            *(("taskset", "--cpu-list", str(core)) if core is not None else ()),
            *confinement.words(tools, allowance(image.path, folder, tools, memory_bytes, files, programs)),
            str(image.path),
            f"mem={memory_bytes >> 20}M",
            *(("time-travel=inf-cpu", f"time-travel-start={clock_start_s * 10**9}") if virtual_time else ()),
            "seccomp=on",
            f"uml_dir={HERE}",
            "umid=lab",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            "quiet",
            "panic=-1",
            "sysctl.vm.panic_on_oom=1",  # a guest that kills one of its processes to survive may hang without it
            f"thash_entries={TCP_HASH_ENTRIES}",
            "con=null",
            "con0=null,fd:1",
            "con1=null,fd:0",
            *((f"con2=fd:{channel[0]},fd:{channel[1]}",) if channel is not None else ()),
            f"init={HERE}/python",
            *("--", "-ISB", f"{HERE}/agent/{MAIN}", "guest", f"{HERE}/trial", f"{HERE}/tools", "/dev/tty1"),
            *(("serve",) if channel is not None else ()),
            *(("vm",) if VM_FILES in programs.folders else ()),
            *(("events",) if has_events else ()),
        ]
        targets: dict[str, str | Path] = {
            "python": interpreter(),
            "agent": tools.agent,
            "trial": folder.absolute(),
            "tools": tools.folder,
            "preload.so": tools.folder / "preload.so",  # LD_PRELOAD is cut at blanks
            **({} if files is None else {FILES: files}),
            **programs.folders,
            **programs.places,
        }
        for name, target in targets.items():
            os.symlink(target, f"{uml_dir}/{name}")
        environment = {
            "PATH": process.search_path(),
            "LD_PRELOAD": "./preload.so",
            "TESTBED_SEED": str(seed),
            **variables,
        }
        with (
            (folder / CONSOLE).open("wb") as out,
            process.start(
                words,
                stdin=signs,
                stdout=out,
                stderr=out,
                cwd=Path(uml_dir),
                env=environment,
                pass_fds=channel or (),
            ) as guest,
        ):
            yield guest


@contextmanager
def _own_folder(folder: Path) -> Iterator[str]:
    """For the kernel itself. What else a guest made of it, under whatever name, is found by `evidence.remains`."""
    path = tempfile.mkdtemp(prefix=".uml-", dir=folder)
    try:
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.replace(f"{path}/{ACKS}", folder / ACKS)
        with suppress(OSError, RecursionError):
            shutil.rmtree(path)


def allowance(
    linux: Path,
    folder: Path,
    tools: Tools,
    memory_bytes: int,
    files: Path | None = None,
    programs: Programs = NO_PROGRAMS,
) -> Allowance:
    """What the process of a guest may do: read the system, our programs and Python, and write to a trial's folder."""
    code, listed = confinement.code_folders()
    users = (*(() if files is None else (files,)), *programs.folders.values(), *programs.reads)
    return Allowance(
        reads=(linux, tools.folder, tools.agent, *code, *confinement.python_files(), *users),
        lists=listed,
        writes=(folder.absolute(),),
        file_bytes=max(memory_bytes, share(folder)),  # its memory is a file, too
        memory_bytes=2 * memory_bytes + OWN_BYTES,
        has_terminal=True,
    )


OWN_BYTES = 1 << 30
"""What each process of a guest, and the lab kernel, may map beyond twice the guest's memory. A guest's process is a
process of the host that maps the pages which it has touched; beyond the guest's memory these are one page many times.
"""

SMALLER = "testbed run … --jobs 1, or fewer flows, a lower rate or RTT, or --set limits.memory=…"


DESCRIPTORS_LEAST = 256
"""A lab kernel opens its terminal as number 200 (`confine.c`)."""


def check_descriptors() -> None:
    """Raises MachineError if a process may not open as many files as a lab kernel needs. The launcher raises the soft
    limit as far as the hard one.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if 0 <= most < DESCRIPTORS_LEAST:
        what = f"a process may open {most} files here (ulimit -Hn), and a lab kernel needs {DESCRIPTORS_LEAST}"
        raise MachineError(what, "sudo prlimit --nofile=65536 --pid $$, and then the same command")


def check_memory(memory_bytes: int, fix: str = SMALLER) -> None:
    """Raises MachineError, with what to do, if the host cannot spare that much."""
    free = available_bytes()
    if memory_bytes + RESERVE_BYTES > free:
        raise MachineError(
            f"the lab kernel may need {memory_bytes >> 20} MiB for this and {free >> 20} MiB are free", fix
        )
