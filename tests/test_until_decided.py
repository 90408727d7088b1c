"""Comparisons that add seeds until they can tell: which trials run, which looks are made, how often they err. The
trials here measure nothing: their goodputs are drawn from known distributions.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from runs import files_of, make_result, read_json, write_result

from testbed.commands import question
from testbed.commands.measure.run import carry_out
from testbed.commands.sequential.budget import Budget
from testbed.commands.sequential.until_decided import UntilDecided
from testbed.compare.run import RunComparison
from testbed.error import UserError
from testbed.kernel.guest import TrialError
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
    console = Console(record=True, width=200, file=io.StringIO())
    found = verdicts(extend(base, candidate, console=console, repetitions=8))
    assert found == {"10 ms": ("same", 3), "20 ms": ("cannot tell", 8)}
    said = console.export_text()
    assert "1 of 2 decided, 1 undecided with 8 seeds, which is the budget" in said
    kernels.began.clear()
    assert verdicts(extend(base, candidate, repetitions=8)) == found
    assert kernels.began == []
    assert verdicts(extend(base, candidate, repetitions=12))["20 ms"][1] == 12


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
    assert interruptions == 2 * (found["20 ms"][1] - 3) - 1 > 4
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
    kernels.outcome = lambda trial, result: result
    again = extend(base, candidate)
    assert again.lost == found.lost  # what failed is not tried again by itself: the run does that


def test_what_is_not_random_is_not_repeated(kernels: Kernels, tmp_path: Path) -> None:
    kernels.outcome = lambda trial, result: make_result(trial, goodput_bps=1e7 if "bbr" in str(trial.workload) else 2e7)
    base, candidate = two_runs(tmp_path)
    kernels.began.clear()
    found = extend(base, candidate)
    assert kernels.began == []
    assert {verdict for verdict, _ in verdicts(found).values()} == {"cannot tell"}


def test_two_values_of_an_axis_grow_in_one_folder(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    out = tmp_path / "out"
    run(out, "congestion=[cubic, bbr]")
    asked = question.of_values(out, "congestion", ("cubic", "bbr"), 0.03, None)
    UntilDecided(asked, Budget(), 1, Console(quiet=True)).carry_out()
    found = question.answer(asked)
    assert {verdict for verdict, _ in verdicts(found).values()} == {"worse"}
    assert verdicts(found)["20 ms"][1] > 3
    assert len(Store(out).results()) == 12 + 2 * (verdicts(found)["20 ms"][1] - 3)


def test_budgets_of_trials_and_time_end_a_call_and_the_next_goes_on(kernels: Kernels, tmp_path: Path) -> None:
    kernels.effect = -0.06
    base, candidate = two_runs(tmp_path)
    kernels.began.clear()
    found = verdicts(extend(base, candidate, trials=5))
    assert found["20 ms"] == ("cannot tell", 5)
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


def test_results_that_are_measured_anew_begin_anew(kernels: Kernels, tmp_path: Path) -> None:
    base, candidate = two_runs(tmp_path)
    extend(base, candidate, repetitions=5)
    for path in (candidate / "trials").iterdir():
        path.rename(tmp_path / path.name)
    kernels.effect = -0.1
    run(candidate, "congestion=bbr")
    found = plainly(base, candidate)
    assert found.looks is None
    assert verdicts(extend(base, candidate, repetitions=5))["10 ms"] == ("worse", 3)
