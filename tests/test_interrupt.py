"""Runs that are interrupted or killed: what was finished is kept, nothing else is left, and the next run goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from leftover import namespaces, outlive, processes_below

pytestmark = pytest.mark.lab

TESTBED = "import sys; from testbed.cli import main; main()"

SCENARIO = """
name: long
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 1 Gbit/s, rtt: 10 ms}}
workload: {tool: flow, from: a, to: b, duration: 3 s}
repetitions: 4
"""


@pytest.fixture
def scenario(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """With four repetitions, or so many as a test asks for."""
    path = tmp_path / "long.yaml"
    path.write_text(SCENARIO.replace("repetitions: 4", f"repetitions: {getattr(request, 'param', 4)}"))
    return path


@pytest.fixture
def running(tmp_path: Path, scenario: Path) -> Iterator[subprocess.Popen[str]]:
    """The run of a scenario, one trial after the other."""
    words = (sys.executable, "-c", TESTBED, "run", scenario, "-o", tmp_path / "out", "--jobs", "1")
    # Whoever has the tests run in the background of a shell ignores SIGINT, and so would this.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    streams = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(words, text=True, preexec_fn=listen, **streams) as process:
        yield process
        process.kill()


def again(scenario: Path, tmp_path: Path) -> str:
    """Runs the same command to its end; what it said."""
    words = (sys.executable, "-c", TESTBED, "run", scenario, "-o", tmp_path / "out", "--jobs", "1")
    return subprocess.run(words, check=True, capture_output=True, text=True).stderr


def until(process: subprocess.Popen[str], begin: str) -> str:
    """Reads what the run says up to a line that begins like this."""
    assert process.stderr is not None
    return next(line for line in process.stderr if line.startswith(begin))


def finished(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "out/trials").iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize(
    ("line", "number"), [("1/4", signal.SIGKILL), ("3/4", signal.SIGKILL), ("2/4", signal.SIGTERM)]
)
def test_a_killed_run_leaves_nothing_that_runs_and_goes_on_where_it_was(
    running: subprocess.Popen[str], scenario: Path, tmp_path: Path, line: str, number: signal.Signals
) -> None:
    before = namespaces()
    until(running, line)
    guests = [pid for pid in processes_below(tmp_path) if pid != running.pid]
    running.send_signal(number)
    running.wait()
    assert outlive([*guests, *processes_below(tmp_path)]) == []
    assert namespaces() == before

    kept = finished(tmp_path)
    assert len(kept) >= int(line[0])
    assert f"{len(kept)} of 4 trials are in" in again(scenario, tmp_path)
    assert len(finished(tmp_path)) == 4
    assert sorted(path.name for path in (tmp_path / "out/trials").iterdir()) == finished(tmp_path)
    assert list((tmp_path / "out").rglob(".uml-*")) == []


@pytest.mark.parametrize("scenario", [900], indirect=True)  # whoever is slow to interrupt it does not find it finished
def test_an_interrupted_run_keeps_what_is_finished(running: subprocess.Popen[str], tmp_path: Path) -> None:
    until(running, "2/900")
    running.send_signal(signal.SIGINT)
    assert running.stderr is not None
    said = running.stderr.read()
    assert running.wait() == 130
    assert "testbed: interrupted; what is finished is kept, and the same command continues from there" in said
    assert "Traceback" not in said
    assert outlive(processes_below(tmp_path)) == []
    assert 2 <= len(finished(tmp_path)) < 900
    assert sorted(path.name for path in (tmp_path / "out/trials").iterdir()) == finished(tmp_path)
    for name in finished(tmp_path):
        assert json.loads((tmp_path / "out/trials" / name / "result.json").read_text())["verdict"] == "valid"


MANY = """
import pathlib, sys, time
from testbed import cli
from testbed.kernel.guest import Cancelled
from testbed.sweep import run as sweep

go_on = pathlib.Path(sys.argv.pop())

def trial(*words, cancelled, **others):
    print("running", flush=True)
    while not cancelled():
        time.sleep(0.005)
    while not go_on.exists():  # as a guest that ends
        time.sleep(0.005)
    raise Cancelled

sweep.runner.run, sweep.readiness.check = trial, lambda *words: None
cli.main()
"""


PRESSED = 50
"""So often at least, before the trials end."""


@pytest.mark.parametrize("every_s", [0.0005, 0.003])
@pytest.mark.parametrize("command", ["reproduce", "run"])
def test_ctrl_c_again_and_again_ends_a_command_once(
    command: str, every_s: float, tmp_path: Path, scenario: Path
) -> None:
    words = {
        "reproduce": ("S3-E2", "--results", tmp_path / "out", "-o", tmp_path / "page.md"),
        "run": (scenario, "-o", tmp_path / "out"),
    }
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    streams = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    line = (sys.executable, "-c", MANY, command, *words[command], "--jobs", "2", tmp_path / "go-on")
    with subprocess.Popen(line, preexec_fn=listen, **streams) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("running")  # two threads may print at once
        pressed = 0
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            pressed += 1
            if pressed == PRESSED:
                (tmp_path / "go-on").touch()
            time.sleep(every_s)
        said = process.stderr.read() if process.stderr is not None else ""
    assert pressed >= PRESSED
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("testbed: interrupted; what is finished is kept")
    assert not [word for word in ("Traceback", "unlocked", "Error") if word in said]
    assert not [path for path in (tmp_path / "out").rglob(".partial-*")]
