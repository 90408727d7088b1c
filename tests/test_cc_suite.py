"""What `testbed cc` refuses of scenarios before anything runs, and what it does not run again."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from runs import make_result, read_json, write_result

from testbed.commands.candidate import contender, suite
from testbed.commands.candidate.contender import Contender, Pair
from testbed.commands.candidate.suite import Suite
from testbed.commands.measure import cc
from testbed.commands.sequential import until_decided
from testbed.commands.sequential.budget import Budget
from testbed.compare.headline import headline
from testbed.compare.junit import run_junit
from testbed.compare.run import RunComparison
from testbed.compare.run_text import run_json, run_notes
from testbed.error import UserError
from testbed.kernel.guest import TrialError
from testbed.kernel.image.cache import KernelImage
from testbed.model.run_setting import LAB
from testbed.model.scenario import Trial
from testbed.report import evidence
from testbed.report.evidence import Evidence
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


class Made:
    """Stands for all kernels: what began. Only a trial takes time, on its clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, trial_s: float = 0.0) -> None:
        self.began: list[str] = []
        self.now_s = 0.0
        self.trial_s = trial_s
        self.seeds = 3
        self.goodput: Callable[[Trial], float] = lambda trial: 1e7 + trial.seed
        self.suite: Suite | None = None
        self.judged: RunComparison | None = None
        monkeypatch.setattr(sweep.runner, "run", self.run)
        monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)
        monkeypatch.setattr(contender.software, "here", lambda: {"python": "3"})
        for module in (sweep, suite, until_decided):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self) -> float:
        return self.now_s

    def run(self, trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        self.began.append(f"{trial.workload.asked_flows[0].congestion} {trial.seed}")
        self.now_s += self.trial_s
        result = make_result(trial, goodput_bps=self.goodput(trial))
        write_result(folder, trial, result)
        return result

    def carried_out(self, *paths: Path, wall_s: float | None = None) -> tuple[str, str]:
        """The verdict, and what was said."""
        self.began.clear()
        image = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")
        pair = Pair(*(Contender(name, name, LAB, image) for name in ("cubic", "foo")))
        console = Console(record=True, width=200, file=io.StringIO())
        budget = Budget(repetitions=self.seeds, wall_s=wall_s)
        self.suite = Suite(pair, paths, paths[0].with_name("out"), budget, 1, console, self.now_s)
        self.judged = found = self.suite.carry_out()
        return "nothing to judge" if found is None else found.verdict, console.export_text()


def test_a_budget_ends_within_a_scenario_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Made(monkeypatch, trial_s=10.0)
    short = tmp_path / "short.yaml"
    short.write_text(SCENARIO)
    found, said = there.carried_out(short, wall_s=25.0)
    assert (found, there.began) == ("nothing to judge", ["cubic 1", "cubic 2", "cubic 3"])
    assert "0 of 1 scenarios are measured; the same command goes on" in said
    found, said = there.carried_out(short, wall_s=15.0)
    assert (found, len(there.began)) == ("nothing to judge", 2)
    found, said = there.carried_out(short, wall_s=15.0)
    assert (found, len(there.began)) == ("same", 1)
    assert there.carried_out(short, wall_s=0.0)[0] == "same"
    assert there.began == []


def test_what_one_suite_measured_another_one_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --full after --quick the trials of scenarios that both have do not run again; those of another scenario of
    the same name do.
    """
    there = Made(monkeypatch)
    short, other = tmp_path / "short.yaml", tmp_path / "other.yaml"
    short.write_text(SCENARIO)
    other.write_text(SCENARIO.replace("short", "other").replace("80 ms", "20 ms"))
    for paths, count in (((short,), 6), ((short,), 0), ((other, short), 6), ((other,), 0)):
        assert there.carried_out(*paths)[0] == "same"
        assert len(there.began) == count
    short.write_text(SCENARIO.replace("80 ms", "81 ms"))
    there.carried_out(short)
    assert len(there.began) == 6
    folders = [path.name.rpartition("-")[0] for path in (tmp_path / "out" / "candidate").iterdir()]
    assert len(folders) == 4
    assert len({*folders}) == 1


@pytest.mark.parametrize("taken", [6, 4])
def test_what_was_taken_over_is_judged_also_if_the_time_ends_before_its_scenario(
    taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trials had no run.json, and nothing was judged."""
    there = Made(monkeypatch, trial_s=10.0)
    paths = [tmp_path / f"{name}.yaml" for name in ("short", "long")]
    for path in paths:
        path.write_text(SCENARIO)
    there.carried_out(paths[1], wall_s=10.0 * taken)
    found, said = there.carried_out(*paths, wall_s=55.0)
    assert (found, len(there.began)) == ("same" if taken == 6 else "cannot tell", 6)
    assert ("not measured" in said) == (taken < 6)
    assert there.judged is not None
    told = {each.key.scenario: each.verdict for each in there.judged.cells if each.key.metric == "goodput"}
    assert told == ({"short": "same"} if taken < 6 else {"short": "same", "long": "same"})


def test_a_seed_that_was_added_and_failed_is_run_again_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Made(monkeypatch)
    rain = {True}
    short = tmp_path / "short.yaml"
    short.write_text(SCENARIO)

    def goodput(trial: Trial) -> float:
        if rain and trial.seed == 4 and "foo" in str(trial.workload):
            raise TrialError("it rained")
        return 1e7 * (1 + 0.2 * (trial.seed * (2 if "foo" in str(trial.workload) else 3) % 5))

    there.goodput = goodput
    there.seeds = 5
    monkeypatch.setattr(until_decided.extension, "check", lambda store, trials: None)
    assert there.carried_out(short)[0] == "lost"
    rain.clear()
    assert there.carried_out(short)[0] == "cannot tell"
    assert there.began == ["foo 4"]


def test_time_that_ends_before_the_last_scenario_leaves_a_verdict_on_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five scenarios three were measured on both sides, and nothing was judged. The next call judges all of them, at
    the same error.
    """
    there = Made(monkeypatch, trial_s=10.0)
    paths = [tmp_path / f"{name}.yaml" for name in ("short", "long")]
    for path in paths:
        path.write_text(SCENARIO)
    found, said = there.carried_out(*paths, wall_s=85.0)
    assert (found, len(there.began)) == ("cannot tell", 9)
    assert "the budget is spent: 1 of 2 scenarios are not measured, and not judged (long); the same command" in said
    assert "1 of 2 decided" in said
    assert there.judged is not None
    assert [(each.verdict, each.key.scenario) for each in there.judged.cells if each.key.metric == "goodput"] == [
        ("same", "short")
    ]
    assert headline(there.judged) == "goodput: 1 of 2 cells cannot tell; 1 same; not measured: long"
    assert "absent: long: not measured before the budget ended" in run_notes(there.judged)
    assert 'tests="1" failures="1"' in run_junit(there.judged).partition('name="long"')[2].partition(">")[0] or (
        "not measured before the budget ended" in run_junit(there.judged)
    )
    assert '"verdict": "absent"' in run_json(there.judged)
    assert "cannot tell" in evidence.page(Evidence(there.judged, "", (), (), {}, frozenset(), {}))
    found, said = there.carried_out(*paths, wall_s=1000.0)
    assert (found, len(there.began)) == ("same", 3)
    (looks,) = read_json(next((tmp_path / "out" / "candidate").glob("*/looks.json")))["comparisons"]
    assert looks["looks"]["keys"] == 2


def test_a_scenario_that_is_worse_is_worse_though_others_were_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Made(monkeypatch, trial_s=10.0)
    there.goodput = lambda trial: (0.5 if "foo" in str(trial.workload) else 1.0) * (1e7 + 1e4 * trial.seed)
    short, other = tmp_path / "short.yaml", tmp_path / "other.yaml"
    short.write_text(f"{SCENARIO}sweep: {{path.rtt: [80 ms, 40 ms]}}\n")
    other.write_text(SCENARIO)
    assert there.carried_out(short, other, wall_s=125.0)[0] == "worse"
    assert there.judged is not None
    assert headline(there.judged).endswith(
        "2 of 3 cells worse, the worst -50.0 % in short: 80 ms; 1 cannot tell; not measured: other"
    )


def test_what_is_shown_so_far_is_of_seeds_that_both_sides_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal pairs it said -10.6 %, because the base had a seed more."""
    there = Made(monkeypatch)
    there.goodput = lambda trial: 1e7 * trial.seed
    short = tmp_path / "short.yaml"
    short.write_text(SCENARIO)
    assert "so far: short: goodput: +0.0 %" in there.carried_out(short)[1]
    (gone,) = (tmp_path / "out" / "candidate").glob("*/short/trials/*seed=1")
    shutil.rmtree(gone)
    assert there.suite is not None
    assert there.suite._preview("short") == ["so far: short: goodput: +0.0 %"]
    for path in (tmp_path / "out" / "base").glob("*/short/trials/*seed=[23]"):
        shutil.rmtree(path)
    assert there.suite._preview("short") == ["so far: short: goodput: no seed has a value on both sides"]


def test_each_value_of_a_parameter_has_the_whole_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one used it all, and the second was given up before its first trial."""
    clock, left = SimpleNamespace(now_s=0.0), []
    clock.monotonic = lambda: clock.now_s

    def judge(made: Suite) -> int:
        left.append(made.left_s())
        clock.now_s += 500.0
        return 0

    monkeypatch.setattr(cc, "time", clock)
    monkeypatch.setattr(suite, "time", clock)
    monkeypatch.setattr(cc, "_judge", judge)
    monkeypatch.setattr(cc.option_rule, "refuse", lambda given, rules: None)
    monkeypatch.setattr(cc.option_rule, "given_in", lambda context: None)
    monkeypatch.setattr(cc.contender, "pair", lambda *words, **options: SimpleNamespace(built=None))
    monkeypatch.setattr(cc.contender, "swept", lambda made, values: [made, made])
    context: Any = None
    cc.cc(context, "cubic", budget=["10 min"], param=["beta=717,666"])
    assert left == [600.0, 600.0]
