"""This machine's own kernel: carries out a trial's steps in real time, as root.

Everything happens in a network, mount and process namespace of the trial's own. When its first process goes, in
whatever way, the kernel removes every namespace, device and process in it: nothing has to be undone, and nothing of
the host is changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from .. import process
from ..error import MachineError
from ..native import Tools
from .guest import AGENT, Ending, Progress, Steps, ending, interpreter, pipe, watch, write_steps


def run(
    steps: Steps,
    folder: Path,
    *,
    tools: Tools,
    wall_limit_s: float | None = None,
    progress: Progress = lambda lab_s: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ending:
    """Carries out the steps; their files are in `folder` afterwards. Raises TrialError if one fails, with what the
    kernel said; MachineError without root.
    """
    if os.geteuid() != 0:
        raise MachineError("kernel: host needs root", "sudo testbed run …, or kernel: lab, which does not")
    write_steps(folder, steps)
    console = folder / "console.log"
    began = time.monotonic()
    with pipe() as (signs, writing):
        agent = (interpreter(), "-ISB", AGENT, "host", folder, tools.folder, f"/proc/self/fd/{writing}")
        words = (
            "unshare",
            "--mount",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "--",
            *agent,
        )
        environment = {"PATH": process.search_path(), "LC_ALL": "C.UTF-8"}
        with (
            console.open("wb") as out,
            process.start(words, stdout=out, stderr=out, env=environment, pass_fds=(writing,)) as guest,
        ):
            watch(guest, signs, progress, wall_limit_s, cancelled)
    return ending(folder, console.read_text(errors="replace"), time.monotonic() - began)
