"""What every kernel does with the steps of a trial: hands them to the agent, watches that lab time passes, and reports
the end.
"""

from __future__ import annotations

import json
import os
import re
import select
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..codec.frozen import dataclass
from ..error import MachineError, TestbedError
from ..plan.step import Step, data
from ..process import Running
from . import confinement, guest_file, hang_reason, oops
from .consumption import Silence, Watch, share
from .guest_file import SIGN_BYTES

CONSOLE = "console.log"
"""The file in a trial's folder with the output of the guest, or the agent."""

WATCH_S = 0.5
WALL_LIMIT_S = 24 * 3600.0
"""The wall time of a trial whose limits name none."""
STANDSTILL_S = 120.0
"""The time without a sign of life after which a guest counts as hung, as `Silence` counts it. Under load one sign takes
a few seconds.
"""

LAB_TIME = re.compile(r"lab ([0-9]{1,19})\b.*", re.ASCII)

Steps = Sequence[Step]
Progress = Callable[[float], None]
"""Called with the lab time, in seconds, whenever a guest reports it."""


class TrialError(TestbedError):
    """A trial could not run to its end; nothing that it wrote is a result."""


class Cancelled(Exception):
    """The trial was cancelled."""


@dataclass(frozen=True)
class Ending:
    """How a guest ended. `end_ns` is CLOCK_MONOTONIC of the kernel that executed the steps, `cpu_s` the processor time
    of all processes of a lab kernel (None: it was not measured).
    """

    release: str
    end_ns: int
    wall_s: float
    cpu_s: float | None = None


def interpreter() -> str:
    """The Python that runs us, without its virtual environment, so that a guest can start it."""
    path = confinement.interpreter()
    if not os.access(path, os.X_OK | os.R_OK):
        raise MachineError(f"the interpreter {path} cannot be read inside the lab kernel", "python3 -m venv .venv")
    return path


def write_steps(folder: Path, steps: Steps) -> None:
    (folder / "steps.json").write_text(steps_text(steps))


def steps_text(steps: Steps) -> str:
    """The steps as the agent reads them."""
    return json.dumps([data(step) for step in steps], indent=1) + "\n"


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe; closes both in any case."""
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


def watch(
    process: Running,
    folder: Path,
    signs: int,
    progress: Progress,
    wall_limit_s: float | None,
    cancelled: Callable[[], bool],
    cpu_limit_s: float | None = None,
    bytes_max: int | None = None,
    memory_bytes: int | None = None,
) -> None:
    """Waits for the process to end, reading the agent's signs of life.

    Raises TrialError if none comes for STANDSTILL_S (unless there is a `cpu_limit_s`, which a busy computer does not
    change), after `wall_limit_s` (None: WALL_LIMIT_S), or if it takes too much
    of the host: `cpu_limit_s` and `bytes_max` are as in `lab.run`,
    `memory_bytes` as in `Watch`; and Cancelled once `cancelled` returns true.
    """
    limit_s = WALL_LIMIT_S if wall_limit_s is None else wall_limit_s
    most, is_share = (share(folder), True) if bytes_max is None else (min(bytes_max, share(folder)), False)
    taken = Watch(process.pid, folder, CONSOLE, most, cpu_s=cpu_limit_s, is_share=is_share, memory_bytes=memory_bytes)
    began = time.monotonic()
    silence = Silence(process.pid, began)
    last, unread = "nothing", b""
    ended = os.pidfd_open(process.pid)
    try:
        while process.poll() is None:
            ready, _, _ = select.select([signs, ended], [], [], WATCH_S)
            now = time.monotonic()
            if cancelled():
                raise Cancelled
            if signs in ready:
                silence.ends(now)
                *lines, unread = (unread + os.read(signs, 65536)).split(b"\n")
                unread = unread[:SIGN_BYTES]
                for line in lines:
                    last = line[:SIGN_BYTES].decode(errors="replace").rstrip()  # the console is a terminal
                    if found := LAB_TIME.fullmatch(last):
                        progress(int(found[1]) / 1e9)
            elif cpu_limit_s is None and silence.goes_on(now) > STANDSTILL_S:
                raise TrialError(
                    f"lab time stands still: no sign of life for {STANDSTILL_S:.0f} s, the last was '{last}'. "
                    f"{hang_reason.story(process.pid)}"
                )
            if now - began > limit_s:
                raise TrialError(f"the trial took longer than its limit of {limit_s:.0f} s; the last sign was '{last}'")
            excess = taken.excess()
            if excess is not None:
                raise TrialError(excess)
    finally:
        os.close(ended)


def ending(folder: Path, wall_s: float, cpu_s: float | None = None) -> Ending:
    """Reads the agent's outcome. Raises TrialError if a step failed or the kernel died before the last one."""
    path = folder / "outcome.json"
    if not path.exists():
        raise TrialError(_death(_console(folder)))
    try:
        outcome = json.loads(guest_file.beginning(path, guest_file.OUTCOME_BYTES))
        if outcome["error"] is not None:
            raise TrialError(str(outcome["error"]["text"]))
        return Ending(str(outcome["release"]), int(outcome["end_ns"]), wall_s, cpu_s)
    except (ValueError, LookupError, TypeError, OSError, OverflowError, RecursionError):
        raise TrialError(f"{path.name} is not whole. {_death(_console(folder))}") from None


def _console(folder: Path) -> str:
    """The end of what the guest, or the agent, wrote; nothing if the guest removed it."""
    return guest_file.told(folder / CONSOLE, guest_file.CONSOLE_BYTES)


def _death(console: str) -> str:
    said = oops.told(console) or "(nothing)"
    if "Out of memory" in console or "out of memory" in console:
        how = f"the guest {oops.OUT_OF_MEMORY}: give it more with limits.memory"
        return f"{how}. Its {oops.ANNOUNCED}\n{said}"
    return f"the guest died before the trial was over. Its {oops.ANNOUNCED}\n{said}"
