"""Trials in lab kernels on a cluster: the same bytes as on one computer, from workers that share nothing with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from clusters import processes
from patience import wait_for
from runs import files_of

from testbed.trial.folder import HOST

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.xdist_group("cluster")]

SCENARIO = """
name: short
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 100 Mbit/s, rtt: 10 ms, loss: {random: 0.1 %}}}
workload: {tool: flow, from: a, to: b, duration: 500 ms}
sweep: {path.rtt: [10 ms, 20 ms]}
repetitions: 2
"""


def run(folder: Path, name: str, *words: str) -> dict[str, bytes]:
    """The files of the trials, but for those that tell of the computer."""
    (folder / "short.yaml").write_text(SCENARIO)
    command = (sys.executable, "-m", "testbed", "run", "short.yaml", "-o", name, *words)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 valid" in done.stdout
    return files_of(folder / name, but=(HOST, "host.parquet", "lock"))


def test_here_with_local_workers_and_with_workers_that_share_nothing_the_bytes_are_the_same(tmp_path: Path) -> None:
    here = run(tmp_path, "here", "--jobs", "2")
    assert run(tmp_path, "local", "--on", "local:2") == here
    with processes(tmp_path / "cluster") as cluster:
        cluster.start_scheduler()
        homes = [cluster.start_worker(name) for name in ("alice", "bob", "carol")]
        cluster.wait(3)
        assert run(tmp_path, "away", "--on", cluster.address) == here
        command = (sys.executable, "-m", "testbed", "audit", "here", "--sample", "3", "--on", cluster.address)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "3 of 3 repeated trials are the same, byte for byte" in done.stdout
        assert (tmp_path / "here" / "audit.json").exists()
        kept = [home / "cache/testbed/cluster-results" for home in homes]
        wait_for(lambda: not [key for folder in kept for key in folder.glob("*")], "workers that keep nothing")
    kernels = [list((home / "cache/testbed/cluster-kernels").glob("*/linux")) for home in homes]
    assert [len(found) for found in kernels] == [1, 1, 1]
