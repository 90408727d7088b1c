"""Sweeps: what runs, in which order, how many at a time, and what is kept. The trials here measure nothing."""

from __future__ import annotations

import datetime
import io
import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_S
from rich.console import Console
from runs import files_of, make_result, make_trials, read_json, write_result

from testbed.commands.measure.run import alike, carry_out
from testbed.error import TestbedError, UserError
from testbed.kernel.consumption import Load
from testbed.kernel.guest import TrialError
from testbed.model.run_setting import Until
from testbed.model.scenario import Trial
from testbed.spec.load import files_of as files_of_spec
from testbed.spec.load import load_scenario
from testbed.sweep import run as sweep
from testbed.sweep import table
from testbed.sweep.store import Store
from testbed.trial import folder
from testbed.trial.orders.sequence import Orders
from testbed.trial.result import TrialResult

UNTIL = Until(Fraction(5, 100), most=8, least=3)


@dataclass
class Kernels:
    """Stands for all kernels: what began, how many ran at a time, and what comes out."""

    outcome: Callable[[Trial], TrialResult] = make_result
    began: list[Trial] = field(default_factory=list)
    most: dict[str, int] = field(default_factory=dict)
    together: set[frozenset[str]] = field(default_factory=set)
    meet: threading.Barrier | None = None
    running: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        place = trial.kernel.kind
        with self.lock:
            self.began.append(trial)
            self.running.append(place)
            self.most[place] = max(self.most.get(place, 0), self.running.count(place))
            self.together.add(frozenset(self.running))
        try:
            if self.meet is not None and place == "lab":
                self.meet.wait(PATIENCE_S)
            result = self.outcome(trial)
            write_result(folder, trial, result)
            return result
        finally:
            with self.lock:
                self.running.remove(place)


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Kernels:
    there = Kernels()
    monkeypatch.setattr(sweep.runner, "run", there.run)
    monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)
    return there


class Silent:
    """A report to nobody, which remembers what failed."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def begun(self, trial: Trial) -> None: ...

    def lab_time(self, trial: Trial, lab_s: float) -> None: ...

    def finished(self, trial: Trial, result: TrialResult) -> None: ...

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self.failures.append(trial.id)


def in_run_order(trials: list[Trial]) -> list[Trial]:
    """Blocks of repetitions, shuffled within."""
    mixed = list(trials)
    random.Random(1).shuffle(mixed)
    return sorted(mixed, key=lambda trial: trial.repetition)


def run(
    path: Path, trials: list[Trial], *, jobs: int = 1, until: Until | None = None, report: Silent | None = None
) -> sweep.Summary:
    """As `testbed run` does it."""
    store = Store(path)
    prepared = sweep.prepare(trials, store, in_run_order(trials), until)
    store.create("made", {}, prepared.ids, [key for key, _ in trials[0].params], until)
    summary = sweep.run(prepared, jobs, report or Silent())
    table.update(store)
    return summary


def wavering(trial: Trial) -> TrialResult:
    """Steady at 10 ms, so-so at 20 ms, all over the place at 40 ms."""
    spread = {"10 ms": 0.0, "20 ms": 0.1, "40 ms": 0.5}[dict(trial.params)["path.rtt"]]
    return make_result(trial, goodput_bps=1e6 * (1 + spread * random.Random(trial.id).uniform(-1, 1)))


def test_trials_run_in_run_order_and_are_listed_in_file_order(kernels: Kernels, tmp_path: Path) -> None:
    trials = make_trials(["10 ms", "20 ms", "40 ms"], 3)
    summary = run(tmp_path, trials)
    assert kernels.began == in_run_order(trials) != trials
    ids = [trial.id for trial in trials]
    assert list(Store(tmp_path).ids) == ids
    assert [each.id for each in summary.in_order(ids)] == ids
    assert [each.id for each in Store(tmp_path).results()] == ids


def test_what_is_found_is_not_run_again(kernels: Kernels, tmp_path: Path) -> None:
    trials = make_trials(repetitions=3)
    run(tmp_path, [trial for trial in trials if trial.repetition < 2])
    before = files_of(tmp_path / "trials")
    kernels.began.clear()
    summary = run(tmp_path, trials)
    assert {trial.repetition for trial in kernels.began} == {2}
    assert len(summary.results) == 6
    assert files_of(tmp_path / "trials").items() >= before.items()


def test_a_trial_that_another_run_finished_meanwhile_is_taken_as_it_is(kernels: Kernels, tmp_path: Path) -> None:
    trials, store = make_trials(["10 ms"], 2), Store(tmp_path)
    prepared = sweep.prepare(trials, store)
    run(tmp_path, trials)
    kernels.began.clear()
    summary = sweep.run(prepared, 1, Silent())
    assert kernels.began == []
    assert len(summary.results) == 2


def test_lab_trials_run_side_by_side_and_real_time_ones_strictly_alone(kernels: Kernels, tmp_path: Path) -> None:
    """Each lab trial waits for two others: they would never end one at a time."""
    kernels.meet = threading.Barrier(3)
    trials = make_trials(["10 ms", "20 ms", "40 ms"], 2, kernels=["lab", "host", "lab-realtime"])
    run(tmp_path, trials, jobs=3)
    assert len(kernels.began) == 18
    assert kernels.most == {"lab": 3, "host": 1, "lab-realtime": 1}
    assert kernels.together == {frozenset({place}) for place in ("lab", "host", "lab-realtime")}


def test_memory_limits_how_many_run_side_by_side(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = make_trials(["10 ms", "20 ms", "40 ms"], 2)
    prepared = sweep.prepare(trials, Store(tmp_path))
    enough = 2 * prepared.memory_bytes
    monkeypatch.setattr(sweep, "available_bytes", lambda: enough + sweep.RESERVE_BYTES)
    kernels.meet = threading.Barrier(2)
    run(tmp_path, trials, jobs=6)
    assert kernels.most == {"lab": 2}


def test_what_is_left_of_killed_runs_goes_and_what_is_finished_stays(kernels: Kernels, tmp_path: Path) -> None:
    trials = make_trials()
    run(tmp_path, trials)
    whole = files_of(tmp_path)
    (tmp_path / "trials/.partial-abc/.uml-x").mkdir(parents=True)
    (tmp_path / ".partial-trials.parquet-xyz").write_text("half")
    (tmp_path / "failed" / trials[0].id).mkdir()
    run(tmp_path, trials)
    assert files_of(tmp_path) == whole
    assert list((tmp_path / "failed").iterdir()) == []
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_adaptive_repetitions_make_the_same_run_with_any_number_of_jobs(
    kernels: Kernels, tmp_path: Path, jobs: int
) -> None:
    kernels.outcome = wavering
    trials = make_trials(["10 ms", "20 ms", "40 ms"], 8)
    run(tmp_path / "one", trials, until=UNTIL)
    run(tmp_path / "many", trials, until=UNTIL, jobs=jobs)
    assert files_of(tmp_path / "one", but=["host.json", "host.parquet"]) == files_of(
        tmp_path / "many", but=["host.json", "host.parquet"]
    )
    counts = {rtt: sum(f"rtt={rtt}ms" in id for id in Store(tmp_path / "many").ids) for rtt in (10, 20, 40)}
    assert counts[10] == 3 < counts[20] < counts[40] == 8


def test_an_adaptive_run_goes_on_where_it_was_and_needs_nothing_more(kernels: Kernels, tmp_path: Path) -> None:
    kernels.outcome = wavering
    trials = make_trials(["10 ms", "20 ms", "40 ms"], 8)
    run(tmp_path / "whole", trials, until=UNTIL)
    began = len(kernels.began)
    kernels.outcome = interrupted_after(1, kernels)
    interruptions = 0
    while True:
        kernels.began.clear()
        try:
            run(tmp_path / "parts", trials, until=UNTIL)
            break
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions == began - 1
    but = ["host.json", "host.parquet"]
    assert files_of(tmp_path / "parts", but=but) == files_of(tmp_path / "whole", but=but)
    assert began == len(Store(tmp_path / "parts").ids)


def interrupted_after(count: int, kernels: Kernels) -> Callable[[Trial], TrialResult]:
    """The trial after so many is interrupted."""

    def outcome(trial: Trial) -> TrialResult:
        if len(kernels.began) > count:
            raise KeyboardInterrupt
        return wavering(trial)

    return outcome


def test_a_tighter_interval_goes_on_and_a_looser_one_needs_fewer(kernels: Kernels, tmp_path: Path) -> None:
    kernels.outcome = wavering
    trials = make_trials(["20 ms"], 8)
    run(tmp_path, trials, until=UNTIL)
    first = len(kernels.began)
    run(tmp_path, trials, until=Until(Fraction(1, 1000), most=8))
    assert len(kernels.began) == 8 > first
    run(tmp_path, trials, until=UNTIL)
    assert len(kernels.began) == 8
    assert len(Store(tmp_path).ids) == first


def test_a_cell_whose_trial_fails_ends_and_the_others_go_on(kernels: Kernels, tmp_path: Path) -> None:
    def outcome(trial: Trial) -> TrialResult:
        if dict(trial.params)["path.rtt"] == "40 ms" and trial.repetition == 1:
            raise TrialError("it rained")
        return wavering(trial)

    kernels.outcome = outcome
    report = Silent()
    summary = run(tmp_path, make_trials(["10 ms", "40 ms"], 8), jobs=2, until=UNTIL, report=report)
    assert report.failures == ["rtt=40ms,kernel=lab,seed=2"]
    assert len(summary.failures) == 1
    assert len(Store(tmp_path).ids) == 6
    assert Store(tmp_path).failures() == {"rtt=40ms,kernel=lab,seed=2": "it rained"}


def test_a_fault_of_ours_is_that_of_its_trials_and_is_not_hidden(kernels: Kernels, tmp_path: Path) -> None:
    """What a guest left may be what leads to it, and is no reason to end the others."""

    def outcome(trial: Trial) -> TrialResult:
        if trial.seed == 2:
            raise ZeroDivisionError("of ours")
        return make_result(trial)

    kernels.outcome = outcome
    trials = make_trials(["10 ms", "20 ms", "40 ms"], 8)
    summary = run(tmp_path, trials, jobs=3)
    assert sorted(trial.id for trial, _ in summary.failures) == sorted(each.id for each in trials if each.seed == 2)
    assert len(summary.results) == 21
    for text in (*map(str, (error for _, error in summary.failures)), *Store(tmp_path).failures().values()):
        assert re.fullmatch(r"ZeroDivisionError: of ours \(test_sweep\.py:\d+\)", text)


def test_the_run_says_what_belongs_to_it(kernels: Kernels, tmp_path: Path) -> None:
    kernels.outcome = wavering
    run(tmp_path, make_trials(["20 ms"], 8), until=UNTIL)
    about = read_json(tmp_path / "run.json")
    assert about["axes"] == ["path.rtt", "kernel"]
    assert about["until"] == {"ci": "1/20", "min": 3, "max": 8}
    assert about["trials"] == [trial.id for trial in make_trials(["20 ms"], 8)][: len(kernels.began)]
    assert Store(tmp_path).until == UNTIL


def test_what_finished_teaches_how_long_the_rest_takes(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it took of a processor, however busy the computer was then."""
    monkeypatch.setattr(sweep, "load", lambda: Load(6.0, 2))
    kernels.outcome = lambda trial: make_result(trial, wall_s=70.0, cpu_s=7.0)
    trials = make_trials(["10 ms", "20 ms"], 3)
    run(tmp_path, [trial for trial in trials if trial.repetition == 0])
    prepared = sweep.prepare(trials, Store(tmp_path), in_run_order(trials))
    assert prepared.forecast.trials == 2
    told = prepared.forecast.told([trial.params for trial in prepared.waiting], 2)
    assert told.cpu_s.expected == 28.0
    assert told.wall_s.expected == 14.0 * (6 + 2) / 2


PATHS = """
name: jobs
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 4 ms, loss: {random: 2 %}}}
workload: {tool: flow, from: a, to: b, duration: 300 ms}
samples: {interval: 20 ms}
sweep: {path.rtt: [4 ms, 40 ms]}
repetitions: 6
"""


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("until", [None, Until(Fraction(1, 4), most=6, least=2)], ids=["fixed", "adaptive"])
def test_two_jobs_give_byte_for_byte_what_one_gives(tmp_path: Path, until: Until | None) -> None:
    (tmp_path / "jobs.yaml").write_text(PATHS)
    scenario = replace(load_scenario(tmp_path / "jobs.yaml"), until=until)
    for jobs in (1, 2):
        files = files_of_spec(tmp_path / "jobs.yaml")
        carry_out(scenario, Store(tmp_path / str(jobs)), files, jobs, Console(file=io.StringIO()))
    one, two = (files_of(tmp_path / str(jobs), but=["host.json", "host.parquet"]) for jobs in (1, 2))
    assert one == two
    count = len(Store(tmp_path / "2").results())
    assert count == 12 if until is None else 4 <= count <= 12
    assert len({each.goodput_bps for each in Store(tmp_path / "2").results()}) > 2


@pytest.mark.lab
@pytest.mark.slow
def test_a_kernel_axis_runs_both_kernels_and_the_real_time_one_alone(tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(PATHS.replace("repetitions: 6", "repetitions: 1"))
    scenario = load_scenario(tmp_path / "jobs.yaml", ["kernel=[lab, lab-realtime]"])
    summary, ids = carry_out(scenario, Store(tmp_path / "out"), {}, 2, Console(file=io.StringIO()))
    places = [each.kernel for each in summary.results]
    assert places == ["lab", "lab", "lab-realtime", "lab-realtime"]
    began = [timestamps(tmp_path / "out/trials" / id) for id in ids if "realtime" in id]
    assert sorted(began)[0][1] <= sorted(began)[1][0] + 1
    assert summary.failures == ()


def timestamps(folder: Path) -> tuple[float, float]:
    """When a trial began, to the second, and when it ended at the latest."""
    host = read_json(folder / "host.json")
    began = datetime.datetime.fromisoformat(host["started"]).timestamp()
    return began, began + host["wall_s"]


@pytest.mark.parametrize("noted", [{"kernel": {"key": "old"}}, {"kernel": None, "machine_kernels": "old"}])
def test_a_kernel_that_was_built_anew_under_the_same_name_does_not_take_the_old_results(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: dict[str, Any]
) -> None:
    trials = make_trials(["10 ms"], 2)
    run(tmp_path, trials)
    for trial in trials:
        folder.write_json(tmp_path / "trials" / trial.id / "provenance.json", noted)
    monkeypatch.setattr(sweep.ready_kernel, "kernel_key", lambda kernel: "old")
    assert len(run(tmp_path, trials).results) == 2
    monkeypatch.setattr(sweep.ready_kernel, "kernel_key", lambda kernel: "new")
    with pytest.raises(UserError, match=r"was measured with a different build of its kernel .*; allowed: .*rm -r"):
        run(tmp_path, trials)
    monkeypatch.setattr(
        sweep.ready_kernel, "kernel_key", lambda kernel: None
    )  # no such kernel here: nothing to compare
    assert len(run(tmp_path, trials).results) == 2


def test_a_run_that_goes_on_with_other_software_says_so(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = make_trials(["10 ms"], 4)
    run(tmp_path, trials[:3])
    noted = {"kernel": {}, "software": {"digest": "a", "parts": {"agent": "a", "ip": "b"}}}
    monkeypatch.setattr(sweep.provenance, "of", lambda trial: noted)
    for number, trial in enumerate(trials[:3]):
        then = noted | {"software": {"digest": "b", "parts": {"agent": "c", "ip": "b"}}} if number else noted
        folder.write_json(tmp_path / "trials" / trial.id / "provenance.json", then)
    said = sweep.other_software(sweep.prepare(trials, Store(tmp_path)))
    assert said is not None
    assert said.startswith("2 of the finished trials ran with other software (agent): ")
    assert said.endswith(f"testbed doctor --same-as {tmp_path} says how")
    assert sweep.other_software(sweep.prepare(trials[:3], Store(tmp_path))) is None, "nothing waits"


@pytest.mark.parametrize(("before", "is_said"), [("a" * 64, True), ("b" * 64, False), (None, False)])
def test_a_run_that_goes_on_with_another_build_of_the_same_source_says_so(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None, is_said: bool
) -> None:
    monkeypatch.setattr(sweep.provenance, "kernel_program", lambda ready: "b" * 64)
    monkeypatch.setattr(sweep.provenance, "ready_kernel", lambda kernel: None)
    trials = make_trials(["10 ms"], 4)
    run(tmp_path, trials[:2])
    for trial in trials[:2]:
        file = tmp_path / "trials" / trial.id / "host.json"
        folder.write_json(file, read_json(file) | {"kernel_program": before})
    said = sweep.other_builds(sweep.prepare(trials, Store(tmp_path)))
    assert (said is not None) is is_said
    assert said is None or said.startswith("2 of the finished trials ran on another build of the lab kernel (aaaa")
    run(tmp_path, trials)
    assert sweep.other_builds(sweep.prepare(trials, Store(tmp_path))) is None, "nothing waits"


def test_a_later_repetition_of_another_specification_is_refused_before_anything_runs(
    kernels: Kernels, tmp_path: Path
) -> None:
    """Otherwise it would be found when it is needed, fail, and its old result would stand among the new ones."""
    kernels.outcome = wavering
    trials = make_trials(["40 ms"], 8)
    (tmp_path / "trials").mkdir()
    with Store(tmp_path).writing(trials[5]) as folder:
        write_result(folder, replace(trials[5], samples_interval_ns=7), make_result(trials[5]))
    with pytest.raises(UserError, match="the same name and another specification"):
        run(tmp_path, trials, until=UNTIL)
    assert kernels.began == []


def test_trials_that_failed_for_the_same_reason_are_one_line() -> None:
    trials = [replace(make_trials()[0], id=f"seed={number}") for number in range(6)]
    failures = [(each, UserError("it rained")) for each in trials[:5]]
    assert list(alike(failures[:1])) == ["seed=0: it rained"]
    assert list(alike([*failures, (trials[5], UserError("it snowed"))])) == [
        "seed=0, seed=1, seed=2 and 2 more: it rained",
        "seed=5: it snowed",
    ]
