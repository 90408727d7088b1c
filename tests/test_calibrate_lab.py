"""A path of the lab kernel, measured by the real ping and iperf3, calibrated from their files alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.calibrate.measurement import Ask
from testbed.calibrate.written import CLIENT, SERVER

pytestmark = pytest.mark.lab

RATE, RTT_S, BUFFER = 8e6, 0.003, 12_112
ASKS = {
    "ping.txt": Ask("ping", "icmp", count=20, interval_s=0.05),
    "flows.json": Ask("iperf3", "tcp", 2, 8.0, congestion="cubic"),
}


def command(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "testbed", *map(str, words)], cwd=cwd, capture_output=True, text=True)


def measured(folder: Path) -> list[Path]:
    """What the tools said over the true path; the gate dislikes a program that sends nothing but pings."""
    rows = "".join(f"    - {json.dumps(' '.join(ask.words()))}\n" for ask in ASKS.values())
    (folder / "truth.yaml").write_text(f"""
name: truth
topology:
  name: truth
  nodes: {{client: {{type: host}}, server: {{type: host}}}}
  links: {{path: {{ends: [client, server], rate: 8 Mbit/s, rtt: 3 ms, buffer: {BUFFER} B}}}}
workload: {{tool: command, from: client, to: server, server: {SERVER}, client: {CLIENT}}}
sweep:
  workload.variant:
{rows}""")
    done = command("run", "truth.yaml", "-o", "truth", cwd=folder)
    by_words = {" ".join(ask.words()): folder / name for name, ask in ASKS.items()}
    for trial in (folder / "truth" / "trials").iterdir():
        params = json.loads((trial / "result.json").read_text())["params"]
        shutil.copy(trial / "command-client-1.out", by_words[params["workload.variant"]])
    assert all(path.exists() for path in by_words.values()), done.stderr
    return list(by_words.values())


def test_a_path_measured_by_real_tools_is_recovered_and_rebuilt(tmp_path: Path) -> None:
    files = measured(tmp_path)
    done = command("calibrate", *files, "--budget", "0", "--repetitions", "1", "-o", "out", cwd=tmp_path)
    assert done.returncode in (0, 1, 5), done.stderr
    said = json.loads((tmp_path / "out" / "calibration.json").read_text())
    rtt, rate, buffer = (said["fitted"][name] for name in ("rtt", "rate.forward", "buffer.forward"))
    assert rtt["value"] == pytest.approx(RTT_S, rel=0.01)
    assert rate["status"] == "identified"
    assert rate["value"] == pytest.approx(RATE, rel=0.03)
    assert rate["low"] <= RATE <= rate["high"]
    assert buffer["value"] == pytest.approx(BUFFER, rel=1.0)  # a closed form, without the refinement
    verdicts = {(each["said"].split(",")[0], each["metric"]): each for each in said["verdicts"]}
    assert verdicts["ping", "RTT mean"]["verdict"] == "agrees"
    assert verdicts["iperf3", "goodput"]["verdict"] == "agrees"
    again = command("calibrate", *files, "--budget", "0", "--repetitions", "1", "-o", "out", cwd=tmp_path)
    assert "are in out/results already" in again.stderr  # nothing is measured twice
    assert json.loads((tmp_path / "out" / "calibration.json").read_text()) == said
