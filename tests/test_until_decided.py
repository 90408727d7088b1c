"""Comparisons that add seeds until they can tell: which trials run, which looks are made, how often they err. The trials
here measure nothing: their goodputs are drawn from known distributions.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from runs import files_of, make_result, write_result

from testbed.commands import question
from testbed.commands.measure.run import carry_out
from testbed.commands.sequential.budget import Budget
from testbed.commands.sequential.until_decided import UntilDecided
from testbed.compare.run import RunComparison
from testbed.model.scenario import Trial
from testbed.spec.load import files_of as files_of_spec
from testbed.spec.load import load_scenario
from testbed.sweep import run as sweep
from testbed.sweep.store import Store
from testbed.trial import provenance
from testbed.trial.folder import write_json
from testbed.trial.orders.sequence import Orders
from testbed.trial.stored_result import TrialResult

SCENARIO = """
name: made
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 10 ms, buffer: 1 bdp}}
workload: {tool: flow, from: a, to: b, duration: 1 s}
sweep: {path.rtt: [10 ms, 20 ms]}
repetitions: 3
"""
NOISE = {"10 ms": 0.001, "20 ms": 0.04}
HOST_FILES = ("host.json", "host.parquet", "lock")
NOTED: dict[str, Any] = {"testbed": "0"}


@dataclass
class Kernels:
    """Stands for all kernels: what ran where, and the goodput that comes out."""

    effect: float = 0.0
    noise: dict[str, float] = field(default_factory=lambda: dict(NOISE))
    began: list[tuple[str, str]] = field(default_factory=list)
    stop_after: int | None = None
    outcome: Callable[[Trial, TrialResult], TrialResult] = lambda trial, result: result

    def run(self, trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        if self.stop_after is not None and len(self.began) >= self.stop_after:
            raise KeyboardInterrupt
        self.began.append((folder.parents[1].name, trial.id))
        params = dict(trial.params)
        flow = str(trial.workload).count("bbr")
        noise = self.noise[params["path.rtt"]]
        chance = random.Random(f"{trial.seed} {params['path.rtt']} {flow}")
        goodput = 1e7 * (1 + random.Random(f"{trial.seed}").gauss(0, 0.05)) * (1 + chance.gauss(0, noise))
        goodput *= 1 + (self.effect if flow else 0)
        result = self.outcome(trial, make_result(trial, goodput_bps=goodput))
        write_result(folder, trial, result)
        (folder / "plan.sh").write_text(made.script)
        (folder / "steps.json").write_text("[]")
        write_json(folder / "provenance.json", NOTED)
        return result


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Kernels:
    there = Kernels()
    monkeypatch.setattr(sweep.runner, "run", there.run)
    monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)
    monkeypatch.setattr(provenance, "of", lambda trial: NOTED | {"programs": None, "machine_kernels": None})
    monkeypatch.setitem(NOTED, "programs", None)
    monkeypatch.setitem(NOTED, "machine_kernels", None)
    monkeypatch.setitem(NOTED, "kernel", {})
    monkeypatch.setattr(provenance, "steps_of", lambda trial, made: "[]")
    return there


def run(path: Path, *settings: str) -> Store:
    """As `testbed run` does it."""
    file = path.parent / "made.yaml"
    file.write_text(SCENARIO)
    store = Store(path)
    scenario = load_scenario(file, settings)
    carry_out(scenario, store, files_of_spec(file, settings), 1, Console(quiet=True))
    return store


def extend(
    base: Path, candidate: Path, tolerance: float = 0.03, console: Console | None = None, **budget: Any
) -> RunComparison:
    asked = question.of_runs(base, candidate, tolerance, None)
    UntilDecided(asked, Budget(**budget), 1, console or Console(quiet=True)).carry_out()
    return question.answer(asked)


def verdicts(found: RunComparison) -> dict[str, tuple[str, int]]:
    return {
        dict(each.key.params)["path.rtt"]: (each.verdict, each.pairs)
        for each in found.cells
        if each.key.metric == "goodput"
    }


def two_runs(tmp_path: Path, *settings: str) -> tuple[Path, Path]:
    base, candidate = tmp_path / "base", tmp_path / "candidate"
    run(base, *settings)
    run(candidate, "congestion=bbr", *settings)
    return base, candidate


def test_only_undecided_cells_get_seeds_on_both_sides_until_they_are_decided(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.10
    base, candidate = two_runs(tmp_path)
    before = {side: files_of(side, but=["run.json", "looks.json", "lock"]) for side in (base, candidate)}
    kernels.began.clear()
    found = verdicts(extend(base, candidate))
    assert found["10 ms"] == ("worse", 3)
    assert found["20 ms"][0] == "worse"
    assert 3 < found["20 ms"][1] < 40
    assert not [id for _, id in kernels.began if "10ms" in id]
    more = found["20 ms"][1] - 3
    assert len(kernels.began) == 2 * more
    for side in (base, candidate):
        now = files_of(side)
        assert {path: now[path] for path in before[side] if not path.endswith(".parquet") or "/" in path} == {
            path: data for path, data in before[side].items() if not path.endswith(".parquet") or "/" in path
        }
        assert len(Store(side).ids) == 6 + more
        assert len(Store(side).results()) == 6 + more


def test_no_difference_is_found_to_be_none(kernels: Kernels, tmp_path: Path) -> None:
    kernels.noise["20 ms"] = 0.01
    found = verdicts(extend(*two_runs(tmp_path)))
    assert {verdict for verdict, _ in found.values()} == {"same"}


def test_what_cannot_be_decided_ends_with_the_budget(kernels: Kernels, tmp_path: Path) -> None:
    kernels.noise["20 ms"] = 0.5
    base, candidate = two_runs(tmp_path)
    console = Console(record=True, width=200, quiet=False, file=open("/dev/null", "w"))
    found = verdicts(extend(base, candidate, console=console, repetitions=8))
    assert found == {"10 ms": ("same", 3), "20 ms": ("cannot tell", 8)}
    said = console.export_text()
    assert "1 of 2 decided, 1 undecided with 8 seeds, which is the budget" in said
    kernels.began.clear()
    assert verdicts(extend(base, candidate, repetitions=8)) == found
    assert kernels.began == []
    assert verdicts(extend(base, candidate, repetitions=12))["20 ms"][1] == 12
