"""`testbed compare --extend` on real trials: two suites grow by the same trials that a longer scenario has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from comparing import exit_code

from testbed.sweep.store import Store
from testbed.trial.folder import same_files

pytestmark = [pytest.mark.lab, pytest.mark.slow]

SCENARIO = """
name: noisy
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 20 Mbit/s, rtt: 20 ms, loss: {random: 1 %}, buffer: 1 bdp}}
workload: {tool: flow, from: a, to: b, duration: 2 s, leave_out: 500 ms}
repetitions: 3
"""


def test_suites_grow_by_the_trials_of_a_longer_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "noisy.yaml"
    file.write_text(SCENARIO)
    for side, control in (("base", "cubic"), ("candidate", "reno")):
        words = ("--set", f"workload.congestion={control}", "--jobs", "1")
        assert exit_code("run", file, "-o", tmp_path / side / "near", *words) == 0
    asked = ("compare", tmp_path / "base", tmp_path / "candidate", "--extend", "--budget", "5 seeds", "--jobs", "1")
    capsys.readouterr()
    code = exit_code(*asked, "--format", "json")
    found = json.loads(capsys.readouterr().out)
    (cell,) = (each for each in found["cells"] if each["is_primary"])
    stores = [Store(tmp_path / side / "near") for side in ("base", "candidate")]
    assert {len(store.results()) for store in stores} == {cell["pairs"]}
    assert (cell["pairs"], cell["verdict"]) in (
        (3, "better"),
        (3, "worse"),
        (5, "better"),
        (5, "worse"),
        (5, "cannot tell"),
    )
    assert code == {"better": 0, "worse": 1, "cannot tell": 5}[found["verdict"]]
    assert exit_code(*asked, "--format", "json") == code
    assert json.loads(capsys.readouterr().out) == found  # nothing more was measured
    whole = tmp_path / "whole"
    words = ("--set", "workload.congestion=reno", "--set", f"repetitions={cell['pairs']}", "--jobs", "1")
    assert exit_code("run", file, "-o", whole, *words) == 0
    for trial in (whole / "trials").iterdir():
        assert same_files(trial, stores[1].path / "trials" / trial.name) == ()
