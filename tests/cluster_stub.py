"""A trial that measures nothing, for workers of a Dask cluster: `dask worker --preload` this file. It does what a file
in $TESTBED_STUB says of its trial, and writes down there that it began.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from patience import PATIENCE_S
from runs import make_result, write_result

from testbed.error import MachineError
from testbed.kernel.guest import Cancelled, TrialError
from testbed.spec.scenario.trial import trial_of
from testbed.sweep.cluster import task
from testbed.trial.folder import write_json

FOLDER = "TESTBED_STUB"


def dask_setup(worker: Any) -> None:
    """From here on this process has no other trials."""
    task.run_trial = run_trial


def run_trial(about: task.Task, folder: Path, progress: Callable[[float], None], cancelled: Callable[[], bool]) -> None:
    trial = trial_of(json.loads(about.spec))
    notes = Path(os.environ[FOLDER])
    with (notes / "began").open("a") as file:
        file.write(f"{trial.id} {os.getpid()} {time.monotonic()}\n")
    said = notes / trial.id
    words = said.read_text().split() if said.exists() else []
    progress(0.5)
    if "once" in words and sum(line.startswith(f"{trial.id} ") for line in (notes / "began").open()) > 1:
        words = []
    for word in words:
        DO[word](cancelled) if word in DO else _sleep(float(word), cancelled) if word != "once" else None
    progress(1.0)
    write_json(folder / "provenance.json", {"stub": True})
    write_result(folder, trial, make_result(trial, wall_s=0.01))
    with (notes / "ended").open("a") as file:
        file.write(f"{trial.id} {os.getpid()} {time.monotonic()}\n")


def _sleep(seconds: float, cancelled: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if cancelled():
            raise Cancelled
        time.sleep(0.01)


def _kill(cancelled: Callable[[], bool]) -> None:
    for _ in range(50):  # turns of the others, in which the worker says that the trial began; a busy computer has few
        if cancelled():
            raise Cancelled
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)


def _fail(cancelled: Callable[[], bool]) -> None:
    raise TrialError("the guest died before the trial was over")


def _lack(cancelled: Callable[[], bool]) -> None:
    raise MachineError("the program 'tc' is missing", "apt-get install iproute2")


def _disk(cancelled: Callable[[], bool]) -> None:
    raise OSError(28, "No space left on device", "/tmp/x")


def _bug(cancelled: Callable[[], bool]) -> None:
    raise AssertionError("BUG: never")


def _hang(cancelled: Callable[[], bool]) -> None:
    _sleep(3600, cancelled)


def _meet(cancelled: Callable[[], bool]) -> None:
    """Until another trial runs beside it, unless two have met before."""
    notes = Path(os.environ[FOLDER])
    until = time.monotonic() + PATIENCE_S / 2
    while not (notes / "met").exists() and time.monotonic() < until:
        if _count(notes / "began") - _count(notes / "ended") > 1:
            (notes / "met").touch()
        _sleep(0.01, cancelled)


def _count(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


DO: dict[str, Callable[[Callable[[], bool]], None]] = {
    "kill": _kill,
    "fail": _fail,
    "lack": _lack,
    "disk": _disk,
    "bug": _bug,
    "hang": _hang,
    "meet": _meet,
}
