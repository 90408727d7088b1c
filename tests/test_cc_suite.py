"""What `testbed cc` refuses of scenarios before anything runs, and what it does not run again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from runs import make_result, write_result

from testbed.commands.candidate import contender
from testbed.commands.candidate.contender import Contender, Pair
from testbed.commands.candidate.suite import Suite
from testbed.commands.sequential.budget import Budget
from testbed.error import UserError
from testbed.kernel.image.cache import KernelImage
from testbed.model.run_setting import LAB
from testbed.model.scenario import Trial
from testbed.sweep import run as sweep
from testbed.trial.orders.sequence import Orders
from testbed.trial.result import TrialResult

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


def test_what_one_suite_measured_another_one_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --full after --quick the trials of scenarios that both have do not run again; those of another scenario of
    the same name do.
    """
    began: list[str] = []

    def runs(trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        began.append(f"{trial.workload.asked_flows[0].congestion} {trial.seed}")
        result = make_result(trial, goodput_bps=1e7 + trial.seed)
        write_result(folder, trial, result)
        return result

    monkeypatch.setattr(sweep.runner, "run", runs)
    monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)
    monkeypatch.setattr(contender.software, "here", lambda: {"python": "3"})
    image = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")
    pair = Pair(*(Contender(name, name, LAB, image) for name in ("cubic", "foo")))

    def carried_out(*paths: Path) -> set[str]:
        began.clear()
        made = Suite(pair, paths, tmp_path / "out", Budget(repetitions=3), 1, Console(quiet=True), 0.0)
        assert made.carry_out() is not None
        return {*began}

    short, other = tmp_path / "short.yaml", tmp_path / "other.yaml"
    short.write_text(SCENARIO)
    other.write_text(SCENARIO.replace("short", "other").replace("80 ms", "20 ms"))
    assert len(carried_out(short)) == len(began) == 6
    assert carried_out(short) == set()
    assert len(carried_out(other, short)) == len(began) == 6
    assert carried_out(other) == set()
    short.write_text(SCENARIO.replace("80 ms", "81 ms"))
    assert len(carried_out(short)) == len(began) == 6
    folders = sorted(path.name.rpartition("-")[0] for path in (tmp_path / "out" / "candidate").iterdir())
    assert len(folders) == 4
    assert len({*folders}) == 1
