"""What exercises cost, and whether marks are always the same.

For each exercise: the time to start it (its files, and its network up in real time), and the median time to check one
of its own submissions. These are marked three times: twice as the computer is, and once beside processes that never
rest. A number among the words is how many of those there are for each core (default 2); the others are names of
exercises (default: all).

Exit code 0 if each submission has the same bytes of `testbed exercise check --format json` three times, and is as
promised.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testbed.exercise import self_test, work_folder
from testbed.exercise.file import Exercise

TESTBED = (sys.executable, "-m", "testbed")
BUSY = "while True: pass"


@dataclass(frozen=True)
class Checked:
    """One submission: its points, the bytes of its mark, how it breaks the promise, and the wall time."""

    points: int
    of: int
    data: str
    broken: str | None
    wall_s: float


def main(words: Sequence[str]) -> int:
    """Prints a line for each exercise, and as last one what was not the same."""
    busy = next((int(word) for word in words if word.isdigit()), 2)
    chosen = [word for word in words if not word.isdigit()] or work_folder.names()
    cores = os.cpu_count() or 1
    print(f"{cores} cores; load average before: {os.getloadavg()[0]:.1f}; under load: {busy * cores} busy processes")
    print(
        "| exercise | start, s | check, s | under load, s | solution | starter | wrong submissions | 3 times the same |"
    )
    print("|---|---|---|---|---|---|---|---|")
    differ: list[str] = []
    for name in chosen:
        exercise = work_folder.find(name)
        start_s = _started(exercise)
        alone, again = _all(exercise), _all(exercise)
        with _load(busy * cores):
            loaded = _all(exercise)
        runs = (alone, again, loaded)
        odd = [case for case in alone if len({each[case].data for each in runs}) > 1]
        broken = [text for each in runs for found in each.values() if (text := found.broken) is not None]
        differ += [f"{name}: {case}" for case in odd] + [f"{name}: {text}" for text in broken]
        times = [statistics.median(one.wall_s for one in each.values()) for each in (alone, loaded)]
        marks = {case: f"{found.points}/{found.of}" for case, found in alone.items()}
        wrong = ", ".join(f"{case} {mark}" for case, mark in marks.items() if case not in ("solution", "starter"))
        same = "yes" if not odd else f"no: {', '.join(odd)}"
        cells = (name, f"{start_s:.1f}", f"{times[0]:.1f}", f"{times[1]:.1f}", marks["solution"], marks["starter"])
        print(f"| {' | '.join((*cells, wrong, same))} |", flush=True)
    print("all marks were the same, and as promised" if not differ else "\n".join(differ))
    return 1 if differ else 0


def _all(exercise: Exercise) -> dict[str, Checked]:
    return {case: _checked(exercise, case) for case in self_test.cases(exercise)}


def _checked(exercise: Exercise, case: str) -> Checked:
    began = time.monotonic()
    kept = self_test.kept(exercise, case)
    wall_s = time.monotonic() - began
    return Checked(kept.mark.points, kept.mark.of, json.dumps(kept.mark.data()), kept.broken, wall_s)


def _started(exercise: Exercise) -> float:
    """Until the files are there, and the network, if the exercise has one, is up; with the solution in place."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work_folder.start(exercise, Path(folder) / "work")
        for name, text in work_folder.solution(exercise).items():
            (Path(folder) / "work" / name).write_text(text)
        if exercise.file.topology is not None:
            name = f"bench-{os.getpid()}"
            topology = Path(folder) / "work" / exercise.file.topology
            up = (*TESTBED, "up", topology, "--name", name, "--kernel", "lab-realtime")
            subprocess.run(up, check=True, stdout=subprocess.DEVNULL)
            wall_s = time.monotonic() - began
            subprocess.run((*TESTBED, "down", name), check=True, stdout=subprocess.DEVNULL)
            return wall_s
        return time.monotonic() - began


@contextmanager
def _load(count: int) -> Iterator[None]:
    """So many processes that compute."""
    busy = [subprocess.Popen((sys.executable, "-c", BUSY)) for _ in range(count)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()
