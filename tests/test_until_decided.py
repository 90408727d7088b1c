"""Comparisons that add seeds until they can tell: which trials run, which looks are made, how often they err. The
trials here measure nothing: their goodputs are drawn from known distributions.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
import pytest
from rich.console import Console
from runs import files_of, make_result, read_json, write_result
from scipy import stats

from benchmarks.looks import Found, lines, simulated
from testbed import cli
from testbed.commands import question
from testbed.commands.measure.run import carry_out
from testbed.commands.measure.run_until_decided import Decision
from testbed.commands.sequential import until_decided
from testbed.commands.sequential.budget import Budget, Options, budget_of
from testbed.commands.sequential.foretold import foretell
from testbed.commands.sequential.until_decided import UntilDecided
from testbed.compare import look_text
from testbed.compare.look import CellData, CellLooks, Look, Looks, advance, following, reached
from testbed.compare.pairing import Cell
from testbed.compare.run import RunComparison
from testbed.error import UserError
from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.spec.load import files_of as files_of_spec
from testbed.spec.load import load_scenario
from testbed.sweep import run as sweep
from testbed.sweep.forecast import Forecast
from testbed.sweep.store import Store
from testbed.trial import provenance, record
from testbed.trial.folder import write_json
from testbed.trial.orders.sequence import Orders
from testbed.trial.result import TrialResult

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
NOISE = {"10 ms": 1e-5, "20 ms": 0.04}
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
    return stand_in(monkeypatch)


def stand_in(monkeypatch: pytest.MonkeyPatch) -> Kernels:
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
    file.parent.mkdir(exist_ok=True)
    file.write_text(SCENARIO)
    store = Store(path)
    scenario = load_scenario(file, settings)
    carry_out(scenario, store, files_of_spec(file, settings), 1, Console(quiet=True))
    return store


def extend(
    base: Path, candidate: Path, tolerance: float = 0.03, console: Console | None = None, jobs: int = 1, **budget: Any
) -> RunComparison:
    asked = question.of_runs(base, candidate, tolerance, None)
    UntilDecided(asked, Budget(**budget), jobs, console or Console(quiet=True)).carry_out()
    return question.answer(asked)


def plainly(base: Path, candidate: Path, tolerance: float = 0.03) -> RunComparison:
    return question.answer(question.of_runs(base, candidate, tolerance, None))


def verdicts(found: RunComparison) -> dict[str, tuple[str, int]]:
    cells = [each for each in found.cells if each.key.metric == "goodput"]
    return {dict(each.key.params)["path.rtt"]: (each.verdict, each.pairs) for each in cells}


def two_runs(tmp_path: Path, *settings: str) -> tuple[Path, Path]:
    base, candidate = tmp_path / "base", tmp_path / "candidate"
    run(base, *settings)
    run(candidate, "congestion=bbr", *settings)
    return base, candidate


def test_only_undecided_cells_get_seeds_on_both_sides_until_they_are_decided(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path)
    before = {side: files_of(side, but=["run.json", "looks.json", "lock"]) for side in (base, candidate)}
    kernels.began.clear()
    found = verdicts(extend(base, candidate))
    assert {verdict for verdict, _ in found.values()} == {"worse"}
    steady, noisy = found["10 ms"][1], found["20 ms"][1]
    assert 3 <= steady < noisy <= 40
    seeds = [int(id.rpartition("=")[2]) for _, id in kernels.began if "10ms" in id]
    assert max(seeds, default=3) == steady
    more = steady + noisy - 6
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
    console = Console(record=True, width=200, file=io.StringIO())
    found = verdicts(extend(base, candidate, console=console, repetitions=8))
    assert found == {"10 ms": ("same", 3), "20 ms": ("cannot tell", 8)}
    said = console.export_text()
    assert "1 of 2 decided, 1 undecided with 8 seeds, which is the budget" in said
    kernels.began.clear()
    assert verdicts(extend(base, candidate, repetitions=8)) == found
    assert kernels.began == []
    assert verdicts(extend(base, candidate, repetitions=12))["20 ms"][1] == 12


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
def test_interrupted_after_any_trial_it_ends_as_if_undisturbed(kernels: Kernels, tmp_path: Path, jobs: int) -> None:
    kernels.effect = -0.06
    whole, parts = two_runs(tmp_path / "whole"), two_runs(tmp_path / "parts")
    found = verdicts(extend(*whole))
    interruptions = 0
    while True:
        kernels.began.clear()
        kernels.stop_after = 1
        try:
            again = extend(*parts, jobs=jobs)
            break
        except KeyboardInterrupt:
            interruptions += 1
            assert verdicts(plainly(*parts)).keys() == found.keys()  # it can be read meanwhile
    assert verdicts(again) == found
    assert interruptions == 2 * (found["10 ms"][1] + found["20 ms"][1] - 6) - 1 > 4
    for one, other in zip(whole, parts, strict=True):
        names = (*HOST_FILES, "looks.json")
        assert files_of(one, but=names) == files_of(other, but=names)
    assert looks_of(whole[1]) == looks_of(parts[1])


def looks_of(candidate: Path) -> Any:
    (comparison,) = read_json(candidate / "looks.json")["comparisons"]
    return comparison["looks"]["cells"], comparison["base_seen"], comparison["candidate_seen"]


def test_a_finished_trial_that_a_killed_run_did_not_list_is_taken_as_it_is(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path)
    found = verdicts(extend(base, candidate))
    for side in (base, candidate):
        about = read_json(side / "run.json")
        added = about.pop("added")
        about["trials"] = [id for id in about["trials"] if id not in added]
        write_json(side / "run.json", about)
    (candidate / "looks.json").unlink()
    kernels.began.clear()
    assert verdicts(extend(base, candidate)) == found
    assert kernels.began == []


def test_a_plain_comparison_afterwards_says_the_same_and_spends_nothing(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path)
    found = extend(base, candidate)
    before = (candidate / "looks.json").read_bytes()
    again = plainly(base, candidate)
    assert again == found
    assert again.looks is not None
    assert extend(base, candidate) == found
    assert (candidate / "looks.json").read_bytes() == before


def test_a_verdict_that_was_reached_stays_whatever_is_measured_later(kernels: Kernels, tmp_path: Path) -> None:
    base, candidate = two_runs(tmp_path)
    assert verdicts(extend(base, candidate))["10 ms"] == ("same", 3)
    kernels.effect = -0.5
    run(base, "repetitions=20")
    run(candidate, "congestion=bbr", "repetitions=20")
    assert verdicts(plainly(base, candidate))["10 ms"] == ("same", 3)
    assert verdicts(extend(base, candidate))["10 ms"] == ("same", 3)


def test_another_candidate_lacks_nothing_of_what_the_base_got_for_the_first(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path)
    extend(base, candidate)
    other = tmp_path / "other"
    run(other, "congestion=bbr")
    found = plainly(base, other)
    assert found.looks is None
    assert found.gaps == ()
    kernels.began.clear()
    with Store(base).locked():  # it has all that is needed, and is only read
        extend(base, other)
    assert verdicts(extend(base, other))["20 ms"] == verdicts(plainly(base, candidate))["20 ms"]
    assert {side for side, _ in kernels.began} == {"other"}


def test_a_run_of_the_scenario_again_keeps_what_was_added(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path)
    found = extend(base, candidate)
    ids = Store(candidate).ids
    kernels.began.clear()
    run(candidate, "congestion=bbr")
    run(base)
    assert kernels.began == []
    assert Store(candidate).ids == ids
    assert plainly(base, candidate) == found


def test_seeds_that_are_there_already_are_the_first_look(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path, "repetitions=6")
    extend(base, candidate)
    cells, *_ = looks_of(candidate)
    assert {each["looks"][0]["repetitions"] for each in cells} == {6}
    few, many = tmp_path / "few", tmp_path / "many"
    run(few, "congestion=bbr")
    run(many, "repetitions=10")
    kernels.began.clear()
    extend(many, few)
    cells, *_ = looks_of(few)
    assert {each["looks"][0]["repetitions"] for each in cells} == {3}
    assert {side for side, _ in kernels.began} <= {"few", "many"}


def test_a_cell_that_lost_a_trial_gets_no_more_and_is_lost(kernels: Kernels, tmp_path: Path) -> None:
    def outcome(trial: Trial, result: TrialResult) -> TrialResult:
        if trial.repetition == 4 and "bbr" in str(trial.workload):
            raise TrialError("it rained")
        return result

    kernels.outcome = outcome
    base, candidate = two_runs(tmp_path)
    console = Console(record=True, width=200, file=io.StringIO())
    found = extend(base, candidate, console=console)
    assert found.verdict == "lost"
    assert [gap.seeds for gap in found.lost] == [(5,)]
    assert "1 lost something" in console.export_text()
    assert max(int(id.rpartition("=")[2]) for _, id in kernels.began) == 5
    kernels.began.clear()
    assert extend(base, candidate).lost == found.lost
    assert [id.rpartition("=")[2] for _, id in kernels.began] == ["5"]  # once more: the computer may have been at fault
    kernels.outcome = lambda trial, result: result
    assert extend(base, candidate).lost == ()


def test_what_comes_out_the_same_for_every_seed_is_decided_by_eight(kernels: Kernels, tmp_path: Path) -> None:
    """It was not repeated, and "cannot tell": with fewer seeds it may be two levels."""
    kernels.outcome = lambda trial, result: make_result(trial, goodput_bps=1e7 if "bbr" in str(trial.workload) else 2e7)
    base, candidate = two_runs(tmp_path)
    kernels.began.clear()
    found = extend(base, candidate)
    assert len(kernels.began) == 2 * 2 * (8 - 3)
    assert set(verdicts(found).values()) == {("worse", 8)}


def test_where_nothing_is_random_the_first_look_decides(kernels: Kernels, tmp_path: Path) -> None:
    kernels.outcome = lambda trial, result: make_result(
        trial, goodput_bps=1e7 if "reno" in str(trial.workload) else 2e7
    )
    base, candidate = tmp_path / "base", tmp_path / "candidate"
    run(base)
    run(candidate, "congestion=reno")
    kernels.began.clear()
    found = extend(base, candidate)
    assert kernels.began == []
    assert set(verdicts(found).values()) == {("worse", 3)}
    assert all(each.is_exact for each in found.cells if each.key.metric == "goodput")
    assert verdicts(plainly(base, candidate)) == verdicts(found)


def test_same_gets_the_seeds_that_exclude_rare_trials(kernels: Kernels, tmp_path: Path) -> None:
    kernels.noise["20 ms"] = 1e-5
    base, candidate = two_runs(tmp_path, "rare=10 %")
    assert {verdict for verdict, _ in verdicts(plainly(base, candidate)).values()} == {"cannot tell"}
    found = verdicts(extend(base, candidate))
    assert set(found.values()) == {("same", 40)}


def test_how_many_seeds_it_takes_is_said_before_trials_run(
    kernels: Kernels, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, _ = two_runs(tmp_path)
    console = Console(record=True, width=200, file=io.StringIO())
    foretell(console, base, budget=40)
    said = console.export_text()
    assert "primary cells that nothing changed, in 80 % of cases" in said
    seeds = int(said.partition("about ")[2].partition(" seeds")[0])
    assert 10 <= seeds <= 200
    assert ("the budget is 40 seeds" in said) == (seeds > 40)
    for without in (tmp_path / "nothing", tmp_path):
        foretell(console, without)


def test_two_values_of_an_axis_grow_in_one_folder(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    out = tmp_path / "out"
    run(out, "congestion=[cubic, bbr]")
    asked = question.of_values(out, "congestion", ("cubic", "bbr"), 0.03, None)
    UntilDecided(asked, Budget(), 1, Console(quiet=True)).carry_out()
    found = question.answer(asked)
    assert {verdict for verdict, _ in verdicts(found).values()} == {"worse"}
    assert verdicts(found)["20 ms"][1] > 3
    assert len(Store(out).results()) == 2 * sum(pairs for _, pairs in verdicts(found).values())


class Clock:
    """A clock on which only a trial takes time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kernels: Kernels, trial_s: float) -> None:
        self.now_s = time.monotonic()
        self.trial_s = trial_s
        kernels.outcome = self.passed
        for module in (sweep, until_decided):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self) -> float:
        return self.now_s

    def passed(self, trial: Trial, result: TrialResult) -> TrialResult:
        self.now_s += self.trial_s
        return result


def test_a_round_that_is_longer_than_was_told_ends_with_the_budget_and_the_next_call_goes_on(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels.effect, kernels.noise = -0.06, dict.fromkeys(NOISE, 0.2)
    base, candidate = two_runs(tmp_path)
    kernels.began.clear()
    Clock(monkeypatch, kernels, 100.0)
    console = Console(record=True, width=200, file=io.StringIO())
    found = verdicts(extend(base, candidate, console=console, wall_s=150.0))
    assert len(kernels.began) == 2  # the second one began before the end
    assert found == {"10 ms": ("cannot tell", 3), "20 ms": ("cannot tell", 3)}  # nothing is lost, or has an odd pair
    assert "is longer than the 0 s that are left" in console.export_text(clear=False)
    assert "trials failed" not in console.export_text()
    again = verdicts(extend(base, candidate, wall_s=10_000.0, repetitions=5))
    assert {pairs for _, pairs in again.values()} == {5}
    assert len(kernels.began) == 2 * 2 * 2


def test_a_round_for_which_there_is_no_time_is_made_smaller_and_the_last_look_is_at_all_cells(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two cells that fall by a third are on two levels by chance in 1/32 of cases by themselves, together in 1/2000."""
    kernels.effect, kernels.noise = -0.3, dict.fromkeys(NOISE, 1e-3)
    base, candidate = two_runs(tmp_path)
    kernels.began.clear()
    Clock(monkeypatch, kernels, 5.0)
    monkeypatch.setattr(Forecast, "total_s", lambda self, params, jobs: 5.0 * len(params))  # whatever the load is
    console = Console(record=True, width=200, file=io.StringIO())
    found = extend(base, candidate, console=console, wall_s=30.0)
    assert "0 of 2 decided; 2 cells get 4 seeds: 4 trials" in console.export_text(clear=False)
    assert "2 of 2 decided; the next round, about " in console.export_text()
    assert (verdicts(found), len(kernels.began)) == ({"10 ms": ("worse", 4), "20 ms": ("worse", 4)}, 4)
    assert verdicts(plainly(base, candidate)) == verdicts(found)
    assert verdicts(extend(base, candidate)) == verdicts(found)
    assert len(kernels.began) == 4


def test_a_run_that_has_no_time_begins_no_trial(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "made.yaml"
    file.write_text(SCENARIO)
    clock = Clock(monkeypatch, kernels, 10.0)
    scenario, store = load_scenario(file), Store(tmp_path / "run")
    carry_out(scenario, store, files_of_spec(file, ()), 1, Console(quiet=True), until_s=clock.now_s + 25)
    assert len(kernels.began) == len(store.results()) == 3
    carry_out(scenario, store, files_of_spec(file, ()), 1, Console(quiet=True))
    assert len(kernels.began) == len(store.results()) == 6


def test_budgets_of_trials_and_time_end_a_call_and_the_next_goes_on(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path)
    kernels.began.clear()
    found = verdicts(extend(base, candidate, trials=5))
    assert sorted(pairs for _, pairs in found.values()) == [3, 5]
    assert len(kernels.began) == 4
    assert verdicts(extend(base, candidate, wall_s=0.0)) == found
    assert len(kernels.began) == 4
    assert verdicts(extend(base, candidate))["20 ms"][0] == "worse"


def test_what_cannot_be_extended_is_refused_before_anything_runs(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, candidate = two_runs(tmp_path)
    kernels.began.clear()
    with pytest.raises(UserError, match="is both sides"):
        extend(base, base)
    with Store(candidate).locked(), pytest.raises(UserError, match=f"another run is writing to {candidate}"):
        extend(base, candidate)
    with Store(base).locked(), pytest.raises(UserError, match=f"another run is writing to {base}"):
        extend(base, candidate)
    other = tmp_path / "other"
    run(other, "congestion=bbr", "seed=2")
    kernels.began.clear()
    with pytest.raises(UserError, match=r"begin at 1, those of .* at 2"):
        extend(base, other)
    noted = {**NOTED, "programs": "new"}
    monkeypatch.setattr(provenance, "of", lambda trial: noted)
    with pytest.raises(UserError, match=r"cannot be extended, .* programs None → new"):
        extend(base, candidate)
    assert kernels.began == []


def test_looks_that_have_begun_hold_to_their_tolerance_and_cells(kernels: Kernels, tmp_path: Path) -> None:
    base, candidate = two_runs(tmp_path)
    extend(base, candidate, repetitions=5)
    with pytest.raises(UserError, match=r"begun with another tolerance .*--tolerance 0.03, .*rm .*looks.json"):
        extend(base, candidate, tolerance=0.05)
    kernels.noise["30 ms"] = 0.001
    run(base, "path.rtt=[10 ms, 20 ms, 30 ms]")
    with pytest.raises(UserError, match="begun with 2 cells, now there are 3"):
        extend(base, candidate)
    (candidate / "looks.json").write_text("{")
    with pytest.raises(UserError, match=r"looks.json cannot be read"):
        extend(base, candidate)


WRONG_LOOKS: list[tuple[tuple[str | int, ...], object, str]] = [
    (("looks", "level"), 1.5, "level is 1.5; allowed: between 0 and 1"),
    (("looks", "level"), 1, "level is 1; allowed"),
    (("looks", "level"), 0.0, "level is 0.0; allowed"),
    (("looks", "tolerance"), 1.0, "tolerance is 1.0; allowed: from 0 to below 1"),
    (("looks", "tolerance"), -0.1, "looks.tolerance is -0.1; allowed: 0 or more"),
    (("looks", "keys"), 0, "keys is 0; allowed: 2 or more"),
    (("looks", "keys"), 1, "keys is 1; allowed: 2 or more"),
    (("looks", "metrics"), [], "metrics is empty; allowed: goodput, "),
    (("looks", "metrics"), ["speed"], "metrics has 'speed'; allowed: goodput, "),
    (("looks", "cells", 0, "metric"), "speed", r"cells\[0\].metric is 'speed'; allowed: goodput"),
    (("looks", "cells", 0, "looks", 0, "fraction"), 1.0, r"cells\[0\].looks\[0\].fraction is 1.0; allowed: .*below 1"),
    (("looks", "cells", 0, "looks", 0, "fraction"), 7.5, "fraction is 7.5; allowed"),
    (("looks", "cells", 0, "looks", 0, "fraction"), 0.0, "fraction is 0.0; allowed"),
    (("looks", "cells", 0, "looks", 0, "fraction"), float("nan"), "fraction is nan; allowed: a finite number"),
    (("looks", "cells", 0, "looks", 1, "fraction"), 1e-6, r"looks\[1\].fraction is 1e-06; allowed: above"),
    (("looks", "cells", 0, "looks", 1, "repetitions"), 3, r"looks\[1\].repetitions is 3; allowed: 4 or more"),
    (("looks", "cells", 0, "looks", 0, "pairs"), 9, "pairs is 9; allowed: 2 to 3"),
    (("looks", "cells", 0, "looks", 0, "pairs"), 1, "pairs is 1; allowed: 2 to 3"),
    (("looks", "cells", 0, "looks", 0, "error"), 0.5, "error is 0.5; allowed: above 0 and at most"),
    (("looks", "cells", 0, "looks", 0, "error"), 0, "error is 0; allowed: above 0"),
    (("looks", "cells", 0, "looks", 0, "spent"), 2.0, "spent is 2.0; allowed: 0 to 1"),
    (("looks", "cells", 0, "looks", 0, "p"), 2.0, "p is 2.0; allowed: 0 to 1"),
    (("looks", "cells", 0, "looks", 0, "verdict"), "fine", "verdict is 'fine'; allowed: better, same"),
    (("looks", "cells", 0, "looks", 0, "verdict"), "same", r"looks\[…\].verdict is 'same'; allowed: cannot tell"),
]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A comparison with two looks at each of its two cells, both undecided."""
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch).noise = {"10 ms": 0.2, "20 ms": 0.2}
        base, candidate = two_runs(tmp_path_factory.mktemp("begun"))
        extend(base, candidate, repetitions=5)
    return base, candidate


@pytest.mark.parametrize(("place", "value", "said"), WRONG_LOOKS)
def test_looks_that_no_comparison_made_are_refused_with_their_place(
    begun: tuple[Path, Path], tmp_path: Path, place: tuple[str | int, ...], value: object, said: str
) -> None:
    """A fraction of 1 was looped over for ever; a level above 1 was a traceback."""
    base, candidate = begun[0], tmp_path / "candidate"
    shutil.copytree(begun[1], candidate)
    file = candidate / "looks.json"
    data = read_json(file)
    at: Any = data["comparisons"][0]
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    write_json(file, data)
    with pytest.raises(UserError, match=rf"{file} is damaged: .*{said}.*rm {file}"):
        plainly(base, candidate)


@pytest.mark.slow
def test_budgets_may_be_enlarged_until_no_error_is_left(kernels: Kernels, tmp_path: Path) -> None:
    """Each leaves a tenth; the tenth budget was never left."""
    kernels.noise = {"10 ms": 0.2, "20 ms": 0.2}
    base, candidate = two_runs(tmp_path)
    for most in range(3, 23):
        found = extend(base, candidate, repetitions=most)
    assert {verdict for verdict, _ in verdicts(found).values()} == {"cannot tell"}
    cells, *_ = looks_of(candidate)
    fractions = [each["fraction"] for each in cells[0]["looks"]]
    assert fractions == sorted({*fractions})
    assert fractions[-1] < 1
    assert sum(each["error"] for each in cells[0]["looks"]) <= 0.05


def test_results_that_are_measured_anew_begin_anew(kernels: Kernels, tmp_path: Path) -> None:
    base, candidate = two_runs(tmp_path)
    extend(base, candidate, repetitions=5)
    for path in (candidate / "trials").iterdir():
        path.rename(tmp_path / path.name)
    kernels.effect = -0.1
    run(candidate, "congestion=bbr")
    found = plainly(base, candidate)
    assert found.looks is None
    assert verdicts(extend(base, candidate, repetitions=5))["10 ms"][0] == "worse"


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_what_did_not_change_is_called_better_or_worse_in_five_percent_of_comparisons_at_most(noise: float) -> None:
    """Over all looks at all cells. The bound is what 5 % exceed once in a thousand times."""
    procedures = 150
    found = simulated(3, 0.0, noise, procedures)
    assert found.wrong * procedures <= stats.binom.ppf(0.999, procedures, 0.05)


def test_two_levels_that_switch_by_chance_are_called_better_or_worse_in_five_percent_of_comparisons_at_most() -> None:
    """It was in 30 % with 12 cells, for three pairs can be on two levels by chance and show no noise."""
    procedures = 40
    found = simulated(12, 0.0, 0.001, procedures, levels=0.3)
    assert found.wrong <= 0.05 + 3 * (0.05 * 0.95 / procedures) ** 0.5


@pytest.mark.slow
def test_most_differences_take_fewer_seeds_than_the_budget() -> None:
    """10 % with pairs that differ by 5 %: a plan for the budget has 40 seeds."""
    found = simulated(3, -0.10, 0.05, 60)
    assert found.right > 0.95
    assert found.seeds < 20


def two_suites(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs on each side, which lie at different depths."""
    base, candidate = tmp_path / "base", tmp_path / "candidate"
    for name in ("near", "deep/far"):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (candidate / name).parent.mkdir(parents=True, exist_ok=True)
        run(base / name)
        run(candidate / name, "congestion=bbr")
    return base, candidate


def test_suites_are_extended_where_they_are_undecided_and_only_once(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_suites(tmp_path)
    found = extend(base, candidate)
    goodputs = [each for each in found.cells if each.key.metric == "goodput"]
    assert {(each.key.scenario, each.verdict) for each in goodputs} == {("near", "worse"), ("deep/far", "worse")}
    assert len(goodputs) == 4
    for each in goodputs:
        for side in (base, candidate):
            results = Store(side / each.key.scenario).results()
            assert sum(result.params == dict(each.key.params) for result in results) == each.pairs
    assert (candidate / "looks.json").exists()
    assert not [*tmp_path.rglob("*/deep/looks.json"), *tmp_path.rglob("far/looks.json")]
    kernels.began.clear()
    before = files_of(tmp_path)
    assert extend(base, candidate) == found == plainly(base, candidate)
    assert kernels.began == []
    assert files_of(tmp_path) == before


def test_a_suite_whose_candidate_cannot_be_written_is_refused_before_anything_runs(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels.noise["20 ms"] = 0.5
    base, candidate = two_suites(tmp_path)
    kernels.began.clear()
    before = files_of(tmp_path)
    for unwritable in (candidate, base / "near"):  # the base is written to only for its seeds
        monkeypatch.setattr(os, "access", lambda path, mode, at=unwritable: Path(path) != at)
        with pytest.raises(
            UserError, match=f"{unwritable} cannot be written, so it cannot be extended; allowed: a copy"
        ):
            extend(base, candidate)
        assert kernels.began == []
    changed = {
        path for path, data in files_of(tmp_path, but=["lock", "looks.json"]).items() if before.get(path) != data
    }
    assert not {path for path in changed if "trials/" in path or path.endswith("run.json")}


def test_a_budget_of_one_trial_measures_nothing_and_says_so(kernels: Kernels, tmp_path: Path) -> None:
    kernels.noise = {"10 ms": 0.2, "20 ms": 0.2}
    base, candidate = two_suites(tmp_path)
    kernels.began.clear()
    console = Console(record=True, width=200, file=io.StringIO())
    found = extend(base, candidate, console=console, trials=1)
    assert kernels.began == []
    assert found.verdict == "cannot tell"
    assert "the next round is larger than what is left of 1 trial" in console.export_text()
    with pytest.raises(UserError, match="decides nothing; allowed: 3 seeds or more"):
        budget_of(["1"])


def test_the_simulation_counts_what_is_wrong_right_and_undecided() -> None:
    """Without noise all is told, a difference once levels do not do as much; with much noise nothing is."""
    for change in (0.0, -0.1, 0.1):
        assert simulated(2, change, 1e-6, 3) == Found(0.0, 1.0, 0.0, 8.0 if change else 3.0)
    assert simulated(2, 0.0, 5.0, 3).undecided == 1.0
    told = [*lines(1)]
    assert any(each.startswith("| -10 % | 10 % |") for each in told)
    assert told[-1].startswith("| 30 % | 18 |")


def test_the_loop_with_trials_makes_the_looks_of_the_one_on_paper(kernels: Kernels, tmp_path: Path) -> None:
    """The same numbers, through trials, folders and rounds, and in one call of advance after another."""
    kernels.noise = {"10 ms": 0.03, "20 ms": 0.06}
    base, candidate = two_runs(tmp_path)
    extend(base, candidate, repetitions=12)
    (comparison,) = read_json(candidate / "looks.json")["comparisons"]
    goodputs = [
        {(each.params["path.rtt"], each.repetition): each.goodput_bps for each in Store(side).results()}
        for side in (base, candidate)
    ]
    done, looks = {Cell("", (("path.rtt", rtt),)): 3 for rtt in kernels.noise}, Looks("a", "b", 0.03, ("goodput",), 2)
    wanted: dict[Cell, int] | None = None
    while wanted is None or wanted:
        data = {
            cell: CellData(count, 3, {"goodput": {n: (goodputs[0][rtt, n], goodputs[1][rtt, n]) for n in range(count)}})  # type: ignore[misc]
            for (cell, count), rtt in zip(done.items(), kernels.noise, strict=True)
        }
        looks, wanted = advance(looks, data, 12)
        done |= wanted
    for cell, rtt in zip(done, kernels.noise, strict=True):
        stored = next(each for each in comparison["looks"]["cells"] if each["params"]["path.rtt"] == rtt)
        assert [vars(each) for each in looks.of(cell, "goodput").looks] == stored["looks"]
    assert looks.cells[-1].looks[-1].is_joint


@pytest.mark.parametrize("cells", [1, 2, 4, 18])
@pytest.mark.parametrize("seeds", [3, 4, 5])
def test_the_end_of_a_budget_of_few_seeds_shows_what_a_plain_comparison_of_them_does(seeds: int, cells: int) -> None:
    """Real runs of 47.5 and 12.9 Mbit/s were undecided with two cells or more: each was judged by itself."""
    chance = np.random.default_rng(1)
    drop = [0.271, *[1.0] * (cells - 1)]
    drawn = {
        Cell("", (("cell", str(number)),)): (1 + 0.01 * chance.standard_normal((2, seeds))) * [[1.0], [share]]
        for number, share in enumerate(drop)
    }
    looks, wanted, done = Looks("a", "b", 0.03, ("goodput",), cells), dict.fromkeys(drawn, 3), dict.fromkeys(drawn, 3)
    while wanted:
        data = {
            cell: CellData(done[cell], 3, {"goodput": {n: (each[0, n], each[1, n]) for n in range(done[cell])}})
            for cell, each in drawn.items()
        }
        looks, wanted = advance(looks, data, seeds)
        done |= wanted
    first, *others = (looks.of(cell, "goodput").verdict for cell in drawn)
    assert first == "worse"
    assert "worse" not in others


def test_the_last_look_waits_for_all_cells_and_does_not_depend_on_who_came_first() -> None:
    chance = np.random.default_rng(2)
    places = [Cell("", (("cell", str(number)),)) for number in range(3)]
    drawn = {cell: 1 + 0.1 * chance.standard_normal((2, 5)) for cell in places}

    def data(counts: list[int]) -> dict[Cell, CellData]:
        return {
            cell: CellData(count, 3, {"goodput": {n: (drawn[cell][0, n], drawn[cell][1, n]) for n in range(count)}})
            for cell, count in zip(places, counts, strict=True)
        }

    begun, wanted = advance(Looks("a", "b", 0.03, ("goodput",), 3), data([3, 3, 3]), 5)
    assert wanted == dict.fromkeys(places, 5)
    whole, _ = advance(begun, data([5, 5, 5]), 5)
    waiting, wanted = advance(begun, data([5, 4, 5]), 5)
    assert (waiting, wanted) == (begun, {places[1]: 5})
    assert advance(waiting, data([5, 5, 5]), 5) == (whole, {})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([], Budget()),
        (["40 seeds"], Budget(40)),
        (["60"], Budget(60)),
        (["500 trials", "2 h", "8 seeds"], Budget(8, 500, 7200.0)),
        (["30 min"], Budget(wall_s=1800.0)),
        (["1.5 h"], Budget(wall_s=5400.0)),
    ],
)
def test_budgets_are_written_as_one_says_them(written: list[str], expected: Budget) -> None:
    assert budget_of(written) == expected


@pytest.mark.parametrize(
    "written", ["", "seeds", "-4 seeds", "40 cats", "2 seeds", "0", "1.5 seeds", "1.2.3 h", "0 min", "0.0 h"]
)
def test_what_is_no_budget_is_refused(written: str) -> None:
    with pytest.raises(UserError, match="allowed: "):
        budget_of([written])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs something to compare with"),
        ({"candidate": "bbr"}, "needs something to compare with"),
        ({"base": "results/none"}, "not a results folder"),
        ({"axis": "rate"}, "the scenario has no such axis; allowed: path.rtt, flows"),
        ({"axis": "flows"}, "needs the two values to compare; its values are 1, 2, 4"),
        ({"axis": "flows", "base": "1"}, "needs the two values to compare"),
        ({"axis": "rtt", "budget": ("1 cat",)}, "is no budget"),
        ({"axis": "rtt", "tolerance": "much"}, "--tolerance"),
    ],
)
def test_what_to_compare_with_is_known_before_anything_runs(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    file = tmp_path / "made.yaml"
    file.write_text(SCENARIO)
    scenario = load_scenario(file, ["flows=[1, 2, 4]"])
    given: dict[str, Any] = {"base": None, "axis": None, "candidate": None, "tolerance": None, "budget": ()}
    with pytest.raises(UserError, match=said):
        Decision.of(Options(**{**given, **options}), scenario)
    assert Decision.of(Options(**{**given, "axis": "rtt"}), scenario).values == ("10 ms", "20 ms")


def test_a_run_until_decided_ends_with_the_exit_code_of_the_comparison(
    kernels: Kernels, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels.effect = -0.06
    kernels.noise = {"10 ms": 0.01, "20 ms": 0.01}
    file = tmp_path / "made.yaml"
    file.write_text(SCENARIO)
    words = [
        "testbed",
        "run",
        str(file),
        "-o",
        str(tmp_path / "out"),
        "--set",
        "congestion=[cubic, bbr]",
        "--jobs",
        "1",
    ]
    for axis, code in (("congestion", 1), ("rtt", 0)):
        with mock.patch("sys.argv", [*words, "--until-decided", "--axis", axis]), pytest.raises(SystemExit) as ended:
            cli.main()
        assert (ended.value.code or 0) == code
        said = capsys.readouterr()
        assert "2 of 2 decided" in said.err
        assert "sequential: " in said.out


CELL = Cell("far", (("flows", "1"),))
PAIRS = {0: (100.0, 99.0), 1: (110.0, 106.0), 2: (105.0, 104.5), 3: (95.0, 92.0)}


def looked(most: int = 8, done: int = 4, keys: int = 1) -> tuple[Looks, dict[Cell, int]]:
    """A first look at four pairs, of which the last one came late."""
    looks = Looks("base", "mine", 0.03, ("goodput",), keys)
    return advance(looks, {CELL: CellData(done, 4, {"goodput": PAIRS})}, most)


def test_a_look_has_what_it_saw_what_it_spent_and_what_it_may_err() -> None:
    """Half of the way of 0.9 to all of the error; 0.45² of it is spent. p is over the 0.9 that primary cells share."""
    looks, wanted = looked()
    (look,) = looks.of(CELL, "goodput").looks
    p = stats.ttest_rel(*zip(*PAIRS.values(), strict=True)).pvalue
    assert (look.repetitions, look.pairs) == (4, 4)
    assert look.fraction == pytest.approx(0.45)
    assert [look.spent, look.error, look.p] == pytest.approx([0.2025, 0.05 * 0.2025, p / 0.9])
    assert (look.verdict, look.is_random) == ("cannot tell", True)
    assert wanted == {CELL: 6}
    (other,) = looked(keys=5)[0].of(CELL, "goodput").looks
    assert other.p == pytest.approx(min(1, 5 * p / 0.9))
    (last,) = looked(most=4)[0].of(CELL, "goodput").looks
    assert last.fraction == pytest.approx(0.9)


def test_a_cell_goes_nine_tenths_of_the_rest_of_its_way_with_each_budget() -> None:
    new = CellLooks("", {}, "goodput")
    assert [reached(new, count, 10) for count in (5, 10, 12)] == pytest.approx([0.45, 0.9, 0.9])
    done = replace(new, looks=(Look(10, 10, 0.9, 0.81, 0.04, 0.5, "cannot tell"),))
    assert [reached(done, count, 20) for count in (15, 20)] == pytest.approx([0.945, 0.99])
    assert [following(count, 20) for count in (0, 1, 3, 4, 13, 14)] == [3, 3, 5, 6, 20, 20]


def test_looks_are_told_in_words_and_in_json() -> None:
    looks, _ = looked()
    told = look_text.to_json(looks)
    (cell,) = cast(list[dict[str, Any]], told.pop("cells"))
    assert told == {"error": pytest.approx(0.05), "spent": pytest.approx(0.010125), "tests": 1, "metrics": ["goodput"]}
    assert (cell["scenario"], cell["params"], cell["metric"], cell["verdict"]) == (
        "far", {"flows": "1"}, "goodput", "cannot tell",
    )  # fmt: skip
    assert [(look["repetitions"], look["spent"]) for look in cell["looks"]] == [(4, pytest.approx(0.2025))]
    assert look_text.note(looks) == (
        "sequential: 1 look at each cell, with 4 seeds; all looks at all cells together may err by 5 %, of which 1 % "
        "are spent. p and the interval are those of the last look, which tells a difference where p is below its own "
        "error (0.01)"
    )
    again, _ = advance(looks, {CELL: CellData(6, 4, {"goodput": {**PAIRS, 4: (90.0, 91.0), 5: (99.0, 97.0)}})}, 8)
    assert look_text.note(again).startswith("sequential: 2 looks at each cell, with 4 to 6 seeds; ")
    assert look_text.note(replace(looks, cells=())) == "sequential: no look yet"
    assert look_text.to_json(replace(looks, cells=()))["spent"] == 0
    assert record.read(Looks, json.loads(json.dumps(record.write(again)))) == again


def test_a_look_that_came_again_with_a_pair_more_can_be_read(kernels: Kernels, tmp_path: Path) -> None:
    """A trial of the base failed through the first call, and was there in the second one."""

    def outcome(trial: Trial, result: TrialResult) -> TrialResult:
        if trial.repetition == 1 and "bbr" not in str(trial.workload):
            raise TrialError("it rained")
        return result

    kernels.noise = {"10 ms": 0.2, "20 ms": 0.2}
    kernels.outcome = outcome
    base, candidate = two_runs(tmp_path)
    extend(base, candidate, repetitions=4)
    kernels.outcome = lambda trial, result: result
    run(base)
    extend(base, candidate, repetitions=4)
    extend(base, candidate, repetitions=4)
    for cell in looks_of(candidate)[0]:
        assert [(each["repetitions"], each["pairs"]) for each in cell["looks"]][-2:] == [(4, 3), (4, 4)]
    assert plainly(base, candidate).verdict == "cannot tell"


def test_metrics_of_cells_that_are_ahead_are_those_of_the_comparison_from_its_first_call_on(
    kernels: Kernels, tmp_path: Path
) -> None:
    """The measure of a program that had not run yet was none, and the next call began with a new error."""
    base, candidate = two_runs(tmp_path)
    wanted = question.of_runs(base, candidate, 0.03, None)
    UntilDecided(wanted, Budget(repetitions=4), 1, Console(file=io.StringIO()), ("speed-of-it",)).carry_out()
    (found,) = read_json(candidate / "looks.json")["comparisons"]
    assert set(found["looks"]["metrics"]) == {"goodput", "speed-of-it"}
    assert found["looks"]["keys"] == 3
    assert plainly(base, candidate).looks is not None
