"""The host's kernel: executes a trial's steps in real time, as root.

Each trial has its own network, mount and process namespaces. When its first process ends, however it ends, the kernel
removes every namespace, device and process in them, so nothing has to be undone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .. import process
from ..agent.syscall import OUTSIDE
from ..native_program import AGENT, MAIN, Tools
from ..process import Running
from .guest import CONSOLE, Ending, Progress, Steps, ending, interpreter, pipe, watch, write_steps
from .image.feature import PROBES


@cache
def tried(name: str) -> process.CommandError | None:
    """The reason why the command of one of PROBES failed; None if it succeeded."""
    return refusal(*PROBES[name][0])


def refusal(*words: str) -> process.CommandError | None:
    """The reason why a command failed in its own network namespace; None if it succeeded."""
    try:
        process.run(("unshare", "--net", "--", *words))
    except process.CommandError as error:
        return error
    return None


def run(
    steps: Steps,
    folder: Path,
    *,
    tools: Tools,
    wall_limit_s: float | None = None,
    progress: Progress = lambda lab_s: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ending:
    """Executes the steps, which leave their files in `folder`. Raises TrialError if one fails, with the output of the
    kernel.
    """
    write_steps(folder, steps)
    began = time.monotonic()
    with pipe() as (signs, writing), started(folder, tools=tools, signs=writing) as guest:
        watch(guest, folder, signs, progress, wall_limit_s, cancelled)
    return ending(folder, time.monotonic() - began)


@contextmanager
def started(folder: Path, *, tools: Tools, signs: int, channel: tuple[int, int] | None = None) -> Iterator[Running]:
    """Starts an agent in its own namespaces, which executes the steps in `folder`; ends it when the block ends.

    `signs` is the descriptor for its signs of life, `channel` two pipes, to it and from it, which it has under the
    same numbers.
    """
    outside = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        agent = (interpreter(), "-ISB", AGENT / MAIN, "host", folder, tools.folder, f"/proc/self/fd/{signs}")
        words = (
            *("setpriv", "--pdeathsig", "KILL", "--"),  # unshare ignores gentler signals while it waits for its child
            "unshare",
            "--mount",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "--",
            *agent,
            *(("serve",) if channel is not None else ()),
        )
        environment = {"PATH": process.search_path(), "LC_ALL": "C.UTF-8", OUTSIDE: str(outside)}
        kept = (signs, outside, *(channel or ()))
        with (
            (folder / CONSOLE).open("wb") as out,
            process.start(words, stdout=out, stderr=out, env=environment, pass_fds=kept) as guest,
        ):
            yield guest
    finally:
        os.close(outside)
