"""The command line: what it prints, what it says is wrong, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from comparing import Said, said_by
from runs import make_store, make_trials

from testbed.commands.describe import check
from testbed.trial.orders.sequence import orders

ROOT = Path(__file__).parents[1]
WAN, QUICKSTART = ROOT / "topologies/wan.yaml", ROOT / "scenarios/quickstart.yaml"

SCENARIO = """
name: small
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 100 Mbit/s, rtt: 10 ms, loss: 1 in 500}}
workload: {tool: flow, from: a, to: b, duration: 1 s}
sweep: {path.rtt: [10 ms, 20 ms], flows: [1, 2]}
"""


Testbed = Callable[..., Said]
InShell = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def testbed(capsys: pytest.CaptureFixture[str]) -> Testbed:
    """Runs a command in this process."""
    return partial(said_by, capsys)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


def test_what_comes_with_the_testbed_is_found_by_name(
    testbed: Testbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wan").mkdir()  # a folder is no spec file
    said = testbed("check", "wan", "quickstart")
    assert said.code == 0
    assert "topologies/wan.yaml: fine, 2 nodes" in said.out
    assert "scenarios/quickstart.yaml: fine, 16 trials" in said.out
    assert "no-such: this cannot be read" in testbed("plan", "no-such").err


def test_check_counts_what_is_in_good_files(testbed: Testbed) -> None:
    said = testbed("check", WAN, QUICKSTART)
    assert said.code == 0
    assert said.out.splitlines() == [
        f"{WAN}: fine, 2 nodes, 1 link, 1 emulator",
        f"{QUICKSTART}: fine, 16 trials",
    ]


def test_check_tells_all_problems_of_all_files(testbed: Testbed, tmp_path: Path) -> None:
    for name, wrong in (("one", "rtt: -1 ms"), ("two", "ratte: 1 Mbit/s")):
        net = f"name: net\nnodes: {{a: {{type: host}}, b: {{type: host}}}}\nlinks:\n  p: {{ends: [a, b], {wrong}}}\n"
        (tmp_path / f"{name}.yaml").write_text(net)
    said = testbed("check", tmp_path / "one.yaml", WAN, tmp_path / "two.yaml")
    assert said.code == 2
    first, fine, second = said.out.splitlines()
    assert first.startswith(f"{tmp_path}/one.yaml:4: ")
    assert "allowed:" in first
    assert fine.startswith(f"{WAN}: fine")
    assert "did you mean 'rate'?" in second


def test_check_refuses_what_no_kernel_could_do(testbed: Testbed, scenario: Path) -> None:
    scenario.write_text(SCENARIO.replace("duration: 1 s", "duration: 1 s, leave_out: {rtts: 100000}"))
    said = testbed("check", scenario)
    assert said.code == 2
    assert said.out.startswith(f"{scenario}: leave_out leaves nothing: the ramp of ")


def test_check_makes_all_orders_once_for_each_network_and_refuses_any_trial(
    testbed: Testbed, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of trials on one network only what is their own is made again, and that can be wrong, too."""
    whole: list[str] = []
    monkeypatch.setattr(check, "orders", lambda trial: whole.append(trial.id) or orders(trial))
    scenario.write_text(SCENARIO.replace("flows: [1, 2]", "flows: [1, 2, 3, 4], duration: [1 s, 2 s]"))
    said = testbed("check", scenario)
    assert (said.code, said.out) == (0, f"{scenario}: fine, 16 trials\n")
    assert len(whole) == 2, "a network for each RTT"
    ramp = SCENARIO.replace("duration: 1 s", "duration: 1 s, leave_out: {rtts: 150}")
    scenario.write_text(ramp.replace("flows: [1, 2]", "duration: [9 s, 1 s]"))
    said = testbed("check", scenario)
    assert (said.code, "leave_out leaves nothing: the ramp of" in said.out) == (2, True), said.out


def test_check_wants_both_sizes_to_be_fine_and_plan_shows_either(testbed: Testbed, scenario: Path) -> None:
    quick = "quick: {note: a tenth of it, duration: 100 ms, flows: 1}\n"
    scenario.write_text(f"{SCENARIO.rstrip()}\n{quick}")
    assert testbed("check", scenario).out == f"{scenario}: fine, 4 trials, 2 in the quick size\n"
    assert len(testbed("plan", scenario, "--quick", "--list").out.split()) == 2
    scenario.write_text(f"{SCENARIO.rstrip()}\n{quick.replace('100 ms', '100 parsec')}")
    said = testbed("check", scenario)
    assert said.code == 2
    line = len(SCENARIO.rstrip().splitlines()) + 1
    assert said.out.startswith(f"{scenario}:{line}: duration: unknown unit 'parsec' in '100 parsec'")


def test_plan_prints_the_script_and_does_nothing(testbed: Testbed, tmp_path: Path) -> None:
    said = testbed("plan", WAN)
    assert said.code == 0
    assert said.out == (ROOT / "tests/plans/topologies/wan.sh").read_text()


def test_plan_takes_one_trial_of_a_scenario(testbed: Testbed, scenario: Path) -> None:
    ids = testbed("plan", scenario, "--list").out.split()
    assert ids == [f"rtt={rtt}ms,flows={flows},seed=1" for rtt in (10, 20) for flows in (1, 2)]
    said = testbed("plan", scenario, "--trial", ids[2])
    assert said.out.startswith(f"# {ids[2]} (1 of 4 trials of {scenario})\n#!/bin/sh -e\n")
    assert "delay 10000us" in said.out


def test_plan_takes_changes(testbed: Testbed, scenario: Path) -> None:
    assert "delay 25000us" in testbed("plan", scenario, "--set", "path.rtt=50 ms").out
    refused = testbed("plan", scenario, "--set", "path.rtt=5")
    assert (refused.code, refused.err.startswith("testbed: --set path.rtt=5: ")) == (2, True)


def test_plan_knows_no_other_trials(testbed: Testbed, scenario: Path) -> None:
    said = testbed("plan", scenario, "--trial", "rtt=5ms")
    assert said.code == 2
    assert "has no trial 'rtt=5ms'; allowed: one of `testbed plan" in said.err


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "path"), [("topology", WAN), ("scenario", QUICKSTART)])
def test_a_schema_is_one_and_fits_our_own_files(testbed: Testbed, kind: str, path: Path) -> None:
    said = testbed("schema", kind)
    assert said.code == 0
    schema = json.loads(said.out)
    jsonschema.validators.validator_for(schema).check_schema(schema)
    jsonschema.validate(yaml.safe_load(path.read_text()), schema)


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "a.yaml", "--repeat", "b"),
        ("run", "missing.yaml"),
        ("results", "missing"),
        ("plot", "missing"),
        ("query", "missing", "SELECT 1"),
        ("run", "a.yaml", "--format", "json"),
        ("run", "--repeat", "b", "--dry-run"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_refused_with_what_can(testbed: Testbed, words: tuple[str, ...], tmp_path: Path) -> None:
    said = testbed(*words)
    assert said.code == 2
    assert said.err.startswith("testbed: ")
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    "words", [("fly",), ("run", "--fast"), ("results",), ("schema", "poem"), ("run", "--jobs", "0")]
)
def test_an_unknown_word_is_an_error_of_usage(testbed: Testbed, words: tuple[str, ...]) -> None:
    said = testbed(*words)
    assert said.code == 2
    assert "Usage: testbed" in said.err


@pytest.fixture(params=[False, True], ids=["buffered", "unbuffered"])
def in_shell(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> InShell:
    """Carries out a line of the shell in which $PYTHON is ours, whose output waits in buffers, or does not."""
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    if request.param:
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    return lambda line: subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("full", ["", "2>/dev/full", ">/dev/full 2>&1"])
def test_a_fault_of_the_testbed_itself_is_no_verdict(in_shell: InShell, full: str) -> None:
    """It ended with 1, which says that a comparison came out worse."""
    ended = in_shell(f'"$PYTHON" -c "from testbed import cli; cli._main = lambda: 1 / 0; cli.main()" {full}')
    assert ended.returncode == 70
    assert ("ZeroDivisionError" in ended.stderr) == (not full)


@pytest.mark.parametrize("full", ["2>/dev/full", ">/dev/full 2>&1"])
def test_an_error_is_one_also_if_nobody_can_read_it(in_shell: InShell, full: str) -> None:
    assert in_shell(f'"$PYTHON" -m testbed plan nothing.yaml {full}').returncode == 2


@pytest.mark.parametrize("words", ["--version", "schema topology"], ids=["short", "long"])
@pytest.mark.parametrize("errors", ["", "2>/dev/full"])
def test_output_that_cannot_be_written_is_no_success(in_shell: InShell, words: str, errors: str) -> None:
    ended = in_shell(f'"$PYTHON" -m testbed {words} >/dev/full {errors}')
    assert ended.returncode == 3
    if not errors:
        (line,) = ended.stderr.splitlines()
        assert line.startswith("testbed: ")
        assert line.endswith("No space left on device")


def test_the_version_and_the_help_are_there(testbed: Testbed) -> None:
    assert testbed("--version").out.startswith("testbed ")
    assert "130 interrupted" in testbed("--help").out


def test_a_results_folder_that_cannot_be_written_is_refused(testbed: Testbed, scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = testbed("run", scenario, "-o", tmp_path / "file/results")
    assert said.code == 2
    assert "cannot be written" in said.err
    assert "allowed: -o with a folder that can" in said.err


def test_a_run_refuses_a_congestion_control_that_no_kernel_here_has(testbed: Testbed, scenario: Path) -> None:
    said = testbed("run", scenario, "--set", "congestion=[cubik]", "--dry-run")
    assert said.code == 2
    assert "no congestion control cubik" in said.err


def test_check_here_names_the_line_of_a_lab_kernel_that_this_computer_lacks(testbed: Testbed, scenario: Path) -> None:
    scenario.write_text(f"{SCENARIO}kernel: {{lab: nosuch}}\n")
    assert testbed("check", scenario).code == 0
    said = testbed("check", "--here", scenario)
    assert said.code == 3
    assert said.out.startswith(f"{scenario}:9: kernel: no lab kernel is called 'nosuch'")


def test_a_dry_run_says_what_there_is_to_do_and_does_nothing(testbed: Testbed, scenario: Path, tmp_path: Path) -> None:
    words = ("run", scenario, "-o", tmp_path / "out", "--set", "repetitions=3", "--jobs", "2", "--dry-run")
    before = sorted(tmp_path.rglob("*"))
    said = testbed(*words)
    assert said.code == 0, said.err
    lines = dict(line.split(": ", 1) for line in said.out.splitlines())
    assert (lines["cells"].strip(), lines["trials"].strip(), lines["waiting"].strip()) == ("4", "12", "12")
    assert "with 2 jobs (built-in values, as no trial is finished)" in lines["estimate"]
    assert "MiB for the largest trial" in lines["memory"]
    data = json.loads(testbed(*words, "--format", "json").out)
    assert (data["cells"], data["trials"], data["found"], data["waiting"], data["jobs"]) == (4, 12, 0, 12, 2)
    assert data["wall_s"] > 0
    assert data["memory_bytes"] > 100 << 20
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_of_another_schema_version_is_refused_and_not_written_over(
    testbed: Testbed, scenario: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    path = tmp_path / "out/run.json"
    path.write_text(json.dumps({"schema": 99, "trials": []}))
    for words in (
        ("run", scenario, "-o", tmp_path / "out"),
        ("run", scenario, "-o", tmp_path / "out", "--dry-run"),
        ("results", tmp_path / "out"),
        ("query", tmp_path / "out", "SELECT 1"),
    ):
        said = testbed(*words)
        assert (said.code, "schema version 99; allowed: 1" in said.err) == (2, True)
    assert json.loads(path.read_text())["schema"] == 99
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["run.json"]


def test_sql_is_answered_as_table_csv_and_json(testbed: Testbed, tmp_path: Path) -> None:
    make_store(tmp_path / "run", make_trials())
    sql = (
        'SELECT "path.rtt", sum(goodput_bps) AS total, min(ramp_goodput_bps) AS ramp FROM trials GROUP BY 1 ORDER BY 1'
    )
    assert [line.split() for line in testbed("query", tmp_path / "run", sql).out.splitlines()] == [
        ["path.rtt", "total", "ramp"],
        ["10", "ms", "3000000", "-"],
        ["20", "ms", "3000000", "-"],
    ]
    said = testbed("query", tmp_path / "run", sql, "--format", "csv").out
    assert said == "path.rtt,total,ramp\n10 ms,3000000.0,\n20 ms,3000000.0,\n"
    data = json.loads(testbed("query", tmp_path / "run", sql, "--format", "json").out)
    assert data[0] == {"path.rtt": "10 ms", "total": 3e6, "ramp": None}
    wrong = testbed("query", tmp_path / "run", "SELECT nothing FROM trials")
    assert wrong.code == 2
    assert wrong.err.startswith('testbed: Binder Error: Referenced column "nothing" not found')
    assert "samples: trial, time_s" in wrong.err


def test_results_by_cell_have_a_mean_an_interval_and_the_verdicts(testbed: Testbed, tmp_path: Path) -> None:
    make_store(tmp_path / "run", make_trials(repetitions=3))
    (first, second) = json.loads(testbed("results", tmp_path / "run", "--by", "cell", "--format", "json").out)
    assert first["params"] == {"path.rtt": "10 ms", "kernel": "lab"}
    assert (first["n"], first["goodput_mean_bps"], first["verdicts"]) == (3, 2e6, {"valid": 3})
    assert first["goodput_high_bps"] - 2e6 == pytest.approx(4.302653 / 3**0.5 * 1e6, rel=1e-6)
    table = testbed("results", tmp_path / "run", "--by", "cell").out.splitlines()
    assert table[1].split() == ["10", "ms", "lab", "3", "2.0", "0.0", "–", "4.5", "124.21%", "3", "valid"]
    both = testbed("results", tmp_path / "run").out.splitlines()
    assert len(both) == 1 + 6 + 1 + 3
    rows = list(
        csv.DictReader(io.StringIO(testbed("results", tmp_path / "run", "--by", "cell", "--format", "csv").out))
    )
    assert [row["params.path.rtt"] for row in rows] == ["10 ms", "20 ms"]
    assert second["n"] == int(rows[1]["n"])


@pytest.mark.lab
def test_a_congestion_control_that_the_kernel_lacks_is_refused(
    testbed: Testbed, scenario: Path, tmp_path: Path
) -> None:
    said = testbed("run", scenario, "-o", tmp_path / "out", "--set", "congestion=[cubic, warp]")
    assert said.code == 2
    assert "has no congestion control warp; allowed:" in said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.lab
def test_a_missing_lab_kernel_is_the_machines_fault(testbed: Testbed, scenario: Path, tmp_path: Path) -> None:
    said = testbed("run", scenario, "-o", tmp_path / "out", "--set", "kernel={lab: no-such}")
    assert said.code == 3
    assert "to fix it, type: testbed kernel build" in said.err


@pytest.mark.lab
def test_a_run_from_start_to_figure(testbed: Testbed, scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = testbed("run", scenario, "-o", out, "--jobs", "2")
    assert ran.code == 0, ran.err
    assert "4 valid" in ran.out
    assert f"results: {out}" in ran.out.replace("\n", "")
    assert {line.split()[0] for line in ran.err.splitlines()} == {f"{n}/4" for n in range(1, 5)}

    again = testbed("run", scenario, "-o", out)
    assert again.code == 0
    assert "4 of 4 trials are in" in again.err

    the_json_has_every_field_that_users_rely_on(json.loads(testbed("results", out, "--format", "json").out))
    rows = list(csv.DictReader(io.StringIO(testbed("results", out, "--format", "csv").out)))
    assert [row["params.path.rtt"] for row in rows] == ["10 ms", "10 ms", "20 ms", "20 ms"]
    assert all(float(row["seen.rtt_s"]) > 0 and row["verdict"] == "valid" for row in rows)
    table = testbed("results", out).out
    assert table.count(" valid") == 5
    assert "verdict" in table.splitlines()[0]

    figure = testbed("plot", out, "profile", "-o", tmp_path / "figure.png")
    assert figure.code == 0
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    unknown = testbed("plot", out, "poem")
    assert (unknown.code, "profile" in unknown.err) == (2, True)

    first = next((out / "trials").iterdir())
    repeated = testbed("run", "--repeat", first)
    assert repeated.code == 0, repeated.out
    assert "every file is the same, byte for byte" in repeated.out
    (first / "flow.out").write_text("something else")
    differs = testbed("run", "--repeat", first)
    assert (differs.code, "different: flow.out" in differs.out) == (1, True)
    for path in first.iterdir():  # as tables keep it
        if path.name not in ("host.json", "provenance.json", "result.json", "trial.json"):
            path.unlink()
    (first / "result.json").write_text(json.dumps(json.loads((first / "result.json").read_text())))
    kept = testbed("run", "--repeat", first)
    assert (kept.code, "its result is the same in every number" in kept.out) == (0, True)
    (first / "result.json").write_text(
        (first / "result.json").read_text().replace('"ip_version": 4', '"ip_version": 6')
    )
    assert "different: result.json" in testbed("run", "--repeat", first).out


def the_json_has_every_field_that_users_rely_on(results: list[dict[str, Any]]) -> None:
    assert len(results) == 4
    for each in results:
        assert {"id", "params", "seed", "verdict", "warnings", "goodput_bps", "flows"} <= each.keys()
        assert {"asked", "seen", "kernel_release", "lab_s", "wall_s"} <= each.keys()
        assert each["params"].keys() == {"path.rtt", "flows"}
        assert each["verdict"] == "valid"
        assert each["warnings"] == []
        assert len(each["flows"]) == int(each["params"]["flows"])
        assert {"goodput_bps", "retransmits", "rtt_min_s", "congestion"} <= each["flows"][0].keys()
        numbers = {"rtt_s", "rate_bps", "data_packets", "dropped_packets", "queue_drops"}
        assert numbers <= each["asked"].keys()
        assert numbers <= each["seen"].keys()
        assert each["asked"]["dropped_packets"] == each["seen"]["dropped_packets"]
        assert 0 < each["goodput_bps"] == pytest.approx(sum(flow["goodput_bps"] for flow in each["flows"]), rel=1e-3)


@pytest.mark.lab
def test_an_invalid_trial_is_exit_code_1_everywhere(testbed: Testbed, scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert testbed("run", scenario, "-o", out, "--set", "sweep.flows=[1]", "--set", "path.rtt=[10 ms]").code == 0
    (path,) = (out / "trials").glob("*/result.json")
    data = json.loads(path.read_text())
    finding = {"check": "rtt", "verdict": "invalid", "text": "too long", "hint": "look there"}
    path.write_text(json.dumps({**data, "verdict": "invalid", "findings": [finding]}))
    said = testbed("results", out)
    assert said.code == 1
    assert "invalid" in said.out
    assert "rtt: too long (look there)" in said.out


@pytest.mark.lab
def test_another_scenario_in_the_same_folder_is_refused(testbed: Testbed, scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    one = ("--set", "sweep.flows=[1]", "--set", "path.rtt=[10 ms]")
    assert testbed("run", scenario, "-o", out, *one).code == 0
    said = testbed("run", scenario, "-o", out, *one, "--set", "workload.duration=2 s")
    assert said.code == 2
    assert "holds a trial with the same name and another specification" in said.err


@pytest.mark.lab
def test_a_trial_that_cannot_be_carried_out_does_not_stop_the_others(
    testbed: Testbed, scenario: Path, tmp_path: Path
) -> None:
    sysctls = "sysctls={net.ipv4.no_such_key: 1}"
    said = testbed("run", scenario, "-o", tmp_path / "out", "--set", sysctls, "--set", "sweep.flows=[1]")
    assert said.code == 1
    assert said.err.count("no_such_key") >= 2
    assert len(list((tmp_path / "out/failed").glob("*/error.txt"))) == 2


@pytest.mark.parametrize(
    ("words", "replaced", "said"),
    [
        (("iperf", "a", "b"), "testbed.commands.network.iperf.choose", "interrupted\n"),
        (("run", "small.yaml"), "testbed.commands.measure.run.load_scenario", "interrupted; what is finished is kept"),
    ],
)
def test_an_interruption_promises_only_what_is_kept(
    testbed: Testbed, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], replaced: str, said: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(replaced, interrupted)
    ended = testbed(*words)
    assert (ended.code, ended.err.startswith(f"testbed: {said}")) == (130, True), ended.err


def test_another_ctrl_c_does_not_break_the_end_and_says_how_to_end_at_once() -> None:
    code = """
import os, signal
from testbed import cli
signal.signal(signal.SIGINT, cli._interrupt)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
    print(os.getpid())
"""
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = f"what runs is being ended and removed; to end at once: kill -9 {done.stdout.strip()}, then testbed clean"
    assert done.stderr.split("\n") == ["", f"testbed: {said}", ""]


@pytest.mark.parametrize("words", [("list",), ("--version",), ("list", "--help"), ("schema", "scenario")])
def test_a_closed_pipe_is_no_verdict(words: tuple[str, ...]) -> None:
    """1 would say that a comparison failed. Nobody reads what else there is to say."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        command = [sys.executable, "-m", "testbed", *words]
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("gone", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("words", "status"), [("list", 0), ("results nowhere", 2)])
def test_what_would_go_to_a_stream_that_is_closed_goes_nowhere(
    words: str, status: int, gone: str, tmp_path: Path
) -> None:
    """There is no traceback, and no other file takes the place of the stream."""
    before, after = (
        subprocess.run(
            ("sh", "-c", f'exec "$0" -m testbed {words} {closed}', sys.executable),
            capture_output=True,
            cwd=tmp_path,
            check=False,
        )
        for closed in ("", gone)
    )
    expected = (b"" if at in f" {gone}" else said for at, said in ((" >&-", before.stdout), ("2>&-", before.stderr)))
    assert (after.returncode, after.stdout, after.stderr) == (status, *expected)
