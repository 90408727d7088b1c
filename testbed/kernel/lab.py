"""The lab kernel: carries out a trial's steps in User-Mode Linux, in virtual time or on the wall clock.

An ordinary process of an ordinary user. It sees the host's file system read-only, writes to the trial's folder and
nowhere else, and takes its entropy from the seed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import process
from ..error import MachineError
from ..process import Running
from .cpu_core import reserved
from .guest import AGENT, CONSOLE, MAIN, Ending, Progress, Steps, ending, interpreter, pipe, watch, write_steps
from .image.cache import KernelImage
from .native_program import Tools

TCP_HASH_ENTRIES = 1024
"""Buckets of the table of TCP connections: each round of samples walks all of it, and it is sized for servers."""

HERE = "/proc/self/cwd"
"""The folder in which a lab kernel is started, with links to all that it needs. The kernel makes its command line part
of its entropy, so that no path and no number may stand in it that differs from run to run.
"""

CHANNEL = "/dev/tty2"

RESERVE_BYTES = 512 << 20
"""Memory of the host that a trial leaves free."""


def run(
    image: KernelImage,
    steps: Steps,
    folder: Path,
    *,
    tools: Tools,
    seed: int,
    memory_bytes: int,
    virtual_time: bool = True,
    wall_limit_s: float | None = None,
    progress: Progress = lambda lab_s: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ending:
    """Boots the kernel and has it carry out the steps; their files are in `folder` afterwards, with `console.log`.

    `memory_bytes` is a ceiling: the guest takes from the host what it touches. Raises TrialError if a step fails, the
    guest dies or hangs; MachineError if the host has not got the memory.
    """
    check_memory(memory_bytes)
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
            signs=writing,
            core=core,
        ) as guest,
    ):
        watch(guest, signs, progress, wall_limit_s, cancelled)
    return ending(folder, (folder / CONSOLE).read_text(errors="replace"), time.monotonic() - began)


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
    core: int | None = None,
    channel: tuple[int, int] | None = None,
) -> Iterator[Running]:
    """A guest that does the steps in `folder`, and is ended with the block.

    `signs` is a descriptor that gets the agent's signs of life, `core` the processor core to keep to (None: any);
    `channel` two pipes, for what it is told and for what it says, which it has as a terminal line, CHANNEL. (With a
    socket it would not notice when there is room again.)
    """
    with tempfile.TemporaryDirectory(prefix=".uml-", dir=folder) as uml_dir:
        words = [
            *(("taskset", "--cpu-list", str(core)) if core is not None else ()),
            str(image.path),
            f"mem={memory_bytes >> 20}M",
            *(("time-travel=inf-cpu", "time-travel-start=0") if virtual_time else ()),
            "seccomp=on",
            f"uml_dir={HERE}",
            "umid=lab",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            "quiet",
            "panic=-1",
            "sysctl.vm.panic_on_oom=1",  # a guest that kills one of its processes to live on may hang for want of it
            f"thash_entries={TCP_HASH_ENTRIES}",
            "con=null",
            "con0=null,fd:1",
            "con1=null,fd:0",
            *((f"con2=fd:{channel[0]},fd:{channel[1]}",) if channel is not None else ()),
            f"init={HERE}/python",
            *("--", "-ISB", f"{HERE}/agent/{MAIN}", "guest", f"{HERE}/trial", f"{HERE}/tools", "/dev/tty1"),
            *(("serve",) if channel is not None else ()),
        ]
        targets: dict[str, str | Path] = {
            "python": interpreter(),
            "agent": AGENT,
            "trial": folder.absolute(),
            "tools": tools.folder,
            "preload.so": tools.folder / "preload.so",  # LD_PRELOAD is cut at blanks
        }
        for name, target in targets.items():
            os.symlink(target, f"{uml_dir}/{name}")
        environment = {
            "PATH": process.search_path(),
            "LD_PRELOAD": "./preload.so",
            "TESTBED_SEED": str(seed),
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


SMALLER = "testbed run … --jobs 1, or fewer flows, a lower rate or RTT, or --set limits.memory=…"


def check_memory(memory_bytes: int, fix: str = SMALLER) -> None:
    """Raises MachineError, with what to do, when the host has not got that much to spare."""
    free = available_bytes()
    if memory_bytes + RESERVE_BYTES > free:
        raise MachineError(
            f"the lab kernel may need {memory_bytes >> 20} MiB for this and {free >> 20} MiB are free", fix
        )


def available_bytes() -> int:
    """What processes can get without swapping: the kernel's estimate."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    raise AssertionError("BUG: /proc/meminfo has no MemAvailable")
