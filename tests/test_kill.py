"""Runs that are killed at any moment: the next goes on, and at the end nothing is missing, doubled or half-written."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from leftover import namespaces, outlive, processes_below
from runs import files_of, read_json

pytestmark = [pytest.mark.lab, pytest.mark.slow]

TESTBED = "import sys; from testbed.cli import main; main()"
KILLS = [5, pytest.param(50, marks=pytest.mark.nightly)]
HOST_FILES = ("host.json", "host.parquet")
"""What tells of this machine and this hour."""

SCENARIO = """
name: killed
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 4 ms, loss: {random: 1 %}}}
workload: {tool: flow, from: a, to: b, duration: 100 ms}
samples: {interval: 20 ms}
sweep: {path.rtt: [4 ms, 8 ms]}
repetitions: 3
"""


def command(scenario: Path, out: Path) -> tuple[str | Path, ...]:
    return (sys.executable, "-c", TESTBED, "run", scenario, "-o", out, "--jobs", "2")


def run(scenario: Path, out: Path) -> str:
    """Runs to the end; what it said on standard error."""
    return subprocess.run(command(scenario, out), check=True, capture_output=True, text=True).stderr


def killed(scenario: Path, out: Path, trials: int, after_s: float, *, group: bool) -> bool:
    """Starts a run and kills it so long after there are so many trials, with its process group or alone. False if it
    had ended before.
    """
    words = command(scenario, out)
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        descriptor = os.pidfd_open(process.pid)
        try:
            ended: list[int] = []
            while not ended and len(there(out)) < trials:
                ended, _, _ = select.select([descriptor], [], [], 0.005)
            ended, _, _ = select.select([descriptor], [], [], after_s)
        finally:
            os.close(descriptor)
        below = [pid for pid in processes_below(out) if pid != process.pid]
        if not ended:
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        assert outlive([*below, *processes_below(out)]) == []
        return not ended


def there(out: Path) -> list[str]:
    """The trials that are there."""
    trials = out / "trials"
    return [path.name for path in trials.iterdir() if not path.name.startswith(".")] if trials.exists() else []


def check_what_is_there(out: Path, expected: dict[str, bytes]) -> int:
    """Every trial that is there is there whole, as undisturbed; how many there are."""
    found = there(out)
    for name in found:
        files = files_of(out / "trials" / name, but=HOST_FILES)
        assert files == {
            path.removeprefix(f"trials/{name}/"): data
            for path, data in expected.items()
            if path.startswith(f"trials/{name}/")
        }
        assert read_json(out / "trials" / name / "host.json")["wall_s"] > 0
    return len(found)


@pytest.mark.parametrize("kills_wanted", KILLS)
def test_kills_at_random_moments_change_nothing(tmp_path: Path, kills_wanted: int) -> None:
    chance = random.Random(20261121)
    scenario = tmp_path / "killed.yaml"
    scenario.write_text(SCENARIO)
    before = namespaces()
    began = time.monotonic()
    run(scenario, tmp_path / "whole")
    whole_s = time.monotonic() - began
    expected = files_of(tmp_path / "whole", but=HOST_FILES)
    assert sum(path.endswith("/result.json") for path in expected) == 6

    out, kills, finished_at = tmp_path / "out", 0, Counter[int]()
    while kills < kills_wanted:
        count = 0
        for _ in range(chance.randint(3, 7)):  # then it may run to its end
            moment = count + chance.randint(0, 2), chance.uniform(0, whole_s / 3)
            was_killed = killed(scenario, out, *moment, group=chance.random() < 0.5)
            kills += was_killed
            kept, count = count, check_what_is_there(out, expected)
            assert count >= kept, "a finished trial is lost"
            finished_at[count] += was_killed
        said = run(scenario, out)
        ran = [line for line in said.splitlines() if " valid " in line]
        assert len(ran) == 6 - count, "a finished trial ran again"
        assert files_of(out, but=HOST_FILES) == expected
        assert not [path for path in out.rglob("*") if path.name.startswith(".")]
        for path in sorted(out.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        out.rmdir()
    assert kills >= kills_wanted
    assert len(finished_at) > kills_wanted // 16, f"the kills were not spread over the run: {finished_at}"
    assert processes_below(tmp_path) == []
    assert namespaces() == before
