"""What `testbed cc` refuses of scenarios before anything runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from testbed.commands.candidate.suite import Suite
from testbed.commands.sequential.budget import Budget
from testbed.error import UserError

SCENARIO = """
name: short
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 50 Mbit/s, rtt: 80 ms}}
workload: {tool: flow, from: a, to: b, duration: 1 s}
"""

KERNEL_ALLOWED = r"it runs on the kernel (other|host), which is not the candidate's"


def suite_of(path: Path) -> Suite:
    pair: Any = SimpleNamespace(built=object())
    return Suite(pair, (path,), path.with_name("out"), Budget(repetitions=3), 1, Console(), 0.0)


def test_another_topology_beside_the_scenario_is_another_suite(tmp_path: Path) -> None:
    """Its trials are others, though the scenario's file and their names stay."""
    path, topology = tmp_path / "short.yaml", tmp_path / "net.yaml"
    path.write_text("name: short\ntopology: net.yaml\nworkload: {tool: flow, from: a, to: b, duration: 1 s}\n")
    net = "name: net\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {path: {ends: [a, b], rtt: 80 ms}}\n"
    topology.write_text(net)
    first = suite_of(path)._digest()
    assert suite_of(path)._digest() == first
    topology.write_text(net.replace("80 ms", "20 ms"))
    assert suite_of(path)._digest() != first


def test_a_folder_that_others_may_change_is_refused_before_the_first_trial(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    with pytest.raises(UserError, match="could exchange what is in it"), suite_of(tmp_path / "short.yaml").alone():
        pass
    assert not list(out.iterdir())


@pytest.mark.parametrize("kernel", ["kernel: {lab: other}", "kernel: host", "sweep: {kernel: [lab, host]}"])
def test_a_scenario_that_names_its_kernel_does_not_run_that_of_the_candidate(tmp_path: Path, kernel: str) -> None:
    """Both sides would run the same kernel, and be the same."""
    path = tmp_path / "short.yaml"
    path.write_text(f"{SCENARIO}{kernel}\n")
    with pytest.raises(UserError, match=KERNEL_ALLOWED):
        suite_of(path).carry_out()
    assert not (tmp_path / "out").exists()
