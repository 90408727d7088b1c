"""The primary metric of a scenario: from its file to the folder of a run."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from shipped import ROOT

from testbed.analysis import program_metric
from testbed.analysis.metric import METRICS
from testbed.commands.known import learn_metrics
from testbed.error import SpecError, UserError
from testbed.model.run_setting import METRIC_UNITS
from testbed.model.workload import Workload
from testbed.spec.load import load_scenario
from testbed.spec.scenario.trial import trial_data
from testbed.sweep.store import Store

SCENARIO = """
name: x
topology:
  name: x
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 20 ms}}
workload: {tool: flow, from: a, to: b, duration: 5 s}
"""


def written(tmp_path: Path, more: str) -> Path:
    file = tmp_path / "x.yaml"
    file.write_text(SCENARIO + more)
    return file


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_can_be_primary(tmp_path: Path, name: str) -> None:
    assert load_scenario(written(tmp_path, f"primary: {name}\n")).primary == name


def test_a_scenario_need_not_say_it(tmp_path: Path) -> None:
    assert load_scenario(written(tmp_path, "")).primary is None


def test_what_is_no_metric_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"x\.yaml:8: primary: 'rtt-p59' is not a metric; allowed: .*'rtt-p99'\?"):
        load_scenario(written(tmp_path, "primary: rtt-p59\n"))


def test_an_option_can_set_it(tmp_path: Path) -> None:
    assert load_scenario(written(tmp_path, ""), ["primary=rtt"]).primary == "rtt"


def test_the_names_are_those_of_the_metrics() -> None:
    assert {name: metric.base_unit for name, metric in METRICS.items()} == METRIC_UNITS
    assert [*METRICS] == [*METRIC_UNITS]


def test_a_run_keeps_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "with")
    store.create("x", {}, ["t"], primary="rtt")
    assert store.primary == "rtt"
    store.list_trials(["t", "u"])
    assert store.primary == "rtt"
    other = Store(tmp_path / "without")
    other.create("x", {}, ["t"])
    assert other.primary is None
    store.create("x", {}, ["t"], rare=Fraction(1, 10))
    assert store.rare == 0.1
    assert other.rare is None
    assert '"rare"' not in (tmp_path / "without/run.json").read_text()
    assert '"primary"' not in (tmp_path / "without/run.json").read_text()


def test_the_regression_scenarios_say_what_they_are_about() -> None:
    said = {path.stem: load_scenario(path).primary for path in (ROOT / "scenarios/regression").glob("*.yaml")}
    by_metric = {metric: {name for name, each in said.items() if each == metric} for metric in set(said.values())}
    assert {metric: names for metric, names in by_metric.items() if metric is not None} == {
        "convergence": {"start-stop"},
        "fairness": {"classic-ecn", "coexistence", "harm", "minority", "second-flow"},
        "fct": {"short-vs-long", "short-flows"},
        "ping-p95": {"latency"},
        "retransmits": {"high-loss", "idle", "low-bdp", "policer"},
        "rtt": {"aqm", "bufferbloat"},
        "rtt-p95": {"app-limited", "ecn-step", "probe-fall", "rate-step"},
    }


COMMAND = """
name: x
topology:
  name: x
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 20 ms}}
workload:
  tool: command
  server: {at: b, run: [sleep, "1"]}
  client: {at: a, run: [date]}
  measure: {handshake: {output: "([0-9]+)", unit: ms}}
"""


def test_what_a_command_measures_can_be_primary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_metric, "METRICS", dict(METRICS))
    file = tmp_path / "x.yaml"
    file.write_text(COMMAND + "primary: handshake\n")
    scenario = load_scenario(file)
    assert scenario.primary == "handshake"
    assert program_metric.learn(scenario.cells[0].workload) == ("handshake",)
    assert scenario.primary in program_metric.METRICS
    for name in METRIC_UNITS:
        file.write_text(COMMAND + f"primary: {name}\n")
        assert load_scenario(file).primary == name


def test_a_name_that_means_something_else_in_another_scenario_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was judged by what the first one says: three times worse was "better"."""
    monkeypatch.setattr(program_metric, "METRICS", dict(METRICS))

    def said(unit: str) -> Workload:
        file = tmp_path / "x.yaml"
        file.write_text(COMMAND.replace("unit: ms", f"unit: {unit}"))
        return load_scenario(file).cells[0].workload

    runs = {"a": said("ms"), "b": said("us, better: less")}
    assert program_metric.learn_all(runs) == ("handshake",)
    assert program_metric.METRICS["handshake"].unit == "ms"  # the first one says in which unit it is shown
    with pytest.raises(
        UserError, match=r"handshake is in s, less is better, in a, and in s, more is better, in c; .*runs"
    ):
        program_metric.learn_all({**runs, "c": said("ms, better: more")})
    program_metric.learn(said("ms, better: more"))  # one scenario after the other, in one process
    assert program_metric.METRICS["handshake"].is_more_better


def test_what_programs_measure_is_learned_behind_links_and_beside_trials_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_metric, "METRICS", dict(METRICS))
    file = tmp_path / "x.yaml"
    file.write_text(COMMAND)
    run = tmp_path / "elsewhere"
    trial = next(iter(load_scenario(file).trials()))
    for name, text in (("1", "{}"), ("2", json.dumps(trial_data(trial)))):
        (run / "trials" / name).mkdir(parents=True)
        (run / "trials" / name / "trial.json").write_text(text)
    (run / "run.json").write_text("{}")
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "x").symlink_to(run)
    assert learn_metrics([tmp_path / "suite"]) == ("handshake",)


def test_what_no_program_measures_is_refused_with_all_there_is(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(COMMAND + "primary: handshakes\n")
    with pytest.raises(SpecError, match=r"x\.yaml:12: primary: 'handshakes' is not a metric; allowed: .*'handshake'"):
        load_scenario(file)
    with pytest.raises(SpecError, match="'handshake' is not a metric"):
        load_scenario(written(tmp_path, "primary: handshake\n"))


def test_rare_is_a_share_that_the_run_keeps(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, "rare: 10 %\n"))
    assert scenario.rare == Fraction(1, 10)
    assert load_scenario(written(tmp_path, "")).rare is None
    for wrong in ("0 %", "100 %", "0.01 %"):
        with pytest.raises(SpecError, match=r"x\.yaml:8: .*out of range; allowed: 0.1 % to less than 100 %"):
            load_scenario(written(tmp_path, f"rare: {wrong}\n"))
