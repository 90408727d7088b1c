"""Completion times of stored runs: metrics, the table, comparisons and the figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from storedruns import Made, trial_result, write_completions, write_run
from typer.testing import CliRunner

import testbed
from testbed.analysis.metric import METRICS, measure
from testbed.cli import app
from testbed.error import UserError
from testbed.report import stored_run
from testbed.report.figure import draw
from testbed.trial import column, record
from testbed.trial.evidence.completion import Completion, FctResult, summary

MILLION = 1_000_000
NAMES = ["fct", "fct-p95", "fct-p99", "slowdown", "slowdown-p99", "unfinished"]


def flows(count: int = 101, cut: int = 0, each_ns: int = MILLION) -> list[Completion]:
    return [
        Completion(0, 1000, MILLION, 0, 100, None if number > count - cut else number * each_ns, 1000, 0, 1)
        for number in range(1, count + 1)
    ]


def made(seed: int = 1, *, cut: int = 0, each_ns: int = MILLION, end_ns: int = 10**9) -> Made:
    measured = {FctResult.KEY: record.write(summary(flows(cut=cut, each_ns=each_ns), end_ns))}
    return Made({"path.rtt": "10 ms"}, [1e6], seed, data={"measured": measured})


def run_of(folder: Path, *trials: Made, table: bool = True) -> Path:
    write_run(folder, trials)
    if table:
        write_completions(folder)
    return folder


def test_the_value_of_a_trial_is_the_quantile_of_its_flows() -> None:
    assert measure(trial_result(made()), (), NAMES) == pytest.approx(
        {"fct": 0.051, "fct-p95": 0.096, "fct-p99": 0.1, "slowdown": 51.0, "slowdown-p99": 100.0, "unfinished": 0.0}
    )
    assert all(not METRICS[name].is_more_better for name in NAMES)


def test_a_lower_bound_is_no_value_and_the_share_of_flows_that_were_cut_is() -> None:
    found = measure(trial_result(made(cut=3)), (), NAMES)
    assert {name for name, value in found.items() if value is None} == {"fct-p99", "slowdown", "slowdown-p99"}
    assert found["unfinished"] == pytest.approx(3 / 101)
    assert found["fct"] == pytest.approx(0.051)


def test_trials_of_other_workloads_have_none_of_it() -> None:
    assert set(measure(trial_result(Made({}, [1e6])), (), NAMES).values()) == {None}


def test_one_that_leaves_flows_unfinished_is_never_shown_to_be_better(tmp_path: Path) -> None:
    """Cut at 1 ms, its lower bounds are far below all times of the other."""
    base = run_of(tmp_path / "base", *(made(seed) for seed in range(8)))
    candidate = run_of(tmp_path / "candidate", *(made(seed, cut=85 + seed, end_ns=MILLION) for seed in range(8)))
    said = json.loads(compared(base, candidate, "--format", "json"))
    verdicts = {each["metric"]: each["verdict"] for each in said["cells"]}
    assert "better" not in verdicts.values()
    assert verdicts["unfinished"] == "worse"
    assert {gap["metric"] for gap in said["gaps"]} >= {*NAMES} - {"unfinished"}


def test_a_run_without_such_flows_is_not_told_that_it_has_no_completion_times(tmp_path: Path) -> None:
    sides = [write_run(tmp_path / name, [Made({}, [1e6], seed) for seed in range(4)]) for name in ("one", "two")]
    said = compared(*sides)
    assert "goodput" in said
    assert not [name for name in NAMES if name in said]


def compared(base: Path, candidate: Path, *options: str) -> str:
    return CliRunner().invoke(app, ["compare", str(base), str(candidate), *options]).output


def test_the_table_has_every_flow_of_every_trial_that_has_some(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", made(1), made(2))
    table = testbed.open(run).completions
    assert table.num_rows == 202
    assert table["state"].to_pylist().count("cut") == 2
    assert table.schema.remove_metadata() == column.of_trial(column.COMPLETIONS)
    other = write_run(tmp_path / "other", [Made({}, [1e6])])
    assert testbed.open(other).completions.num_rows == 0


def test_a_table_that_a_trial_lost_is_damage_and_not_an_empty_one(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", made(), table=False)
    with pytest.raises(UserError, match=r"completions\.parquet.*is damaged"):
        _ = testbed.open(run).completions


def test_the_figure_is_drawn_and_refused_without_such_flows(tmp_path: Path) -> None:
    run = stored_run.read(run_of(tmp_path / "run", made()))
    draw("fct", run, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000
    other = stored_run.read(write_run(tmp_path / "other", [Made({}, [1e6])]))
    with pytest.raises(UserError, match="no trial of this run has flows that arrive"):
        draw("fct", other, tmp_path / "y.png")
