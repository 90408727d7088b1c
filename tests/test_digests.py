"""The tool that shows whether two checkouts measure the same: nothing missing is ever a pass."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from benchmarks.difference import RUN, Results
from benchmarks.digests import SCENARIOS, main, report
from testbed.cli import app

NOT_COVERED = {
    *("vm", "cpus", "cpu", "1 GIPS", "0.5 GIPS", "0.25 GIPS", "model", "e1000", "virtio", "image", "vhost"),
    *("machine", "address", "ssh", "known_hosts", "nics", "emulator"),
    *("lab-realtime", "lab", "netns"),
    *("python", "options", "bpf", "sha256"),
    *("expect", "metric", "where", "over", "between", "since", "least", "most", "number", "needs", "message", "rare"),
    *("rtt-p99", "ping-p50", "ping-p95", "ping-p99"),
    *("topo", "class", "args", "bridge", "text", "linear", "quick", "note", "opportunities", "rows", "nftables_text"),
}
"""What needs another kernel than the lab's, or a virtual environment of Python; what judges and does not measure
(`expect`, `rare`, metrics); what is a default, and what is only another way of writing the same."""


def make(folder: Path, **change: bytes | None) -> Results:
    """Results of a scenario `s` with a trial `t`, as another checkout might leave them; None takes a file away."""
    steps = [{"run": ["env", f"PYTHONPATH={folder}", "python", "-m", "testbed.sdn"]}]
    files: dict[str, Any] = {
        "run.json": {"trials": ["t"], "testbed": str(folder)},
        "trials/t/result.json": {"verdict": "valid", "goodput_bps": 5.0, "flows": [{"port": 7}]},
        "trials/t/provenance.json": {"testbed": str(folder), "programs": str(folder), "kernel": "k"},
        "trials/t/host.json": {"wall_s": len(str(folder))},
        "trials/t/steps.json": steps,
        "trials/t/plan.sh": f"python {folder}/mininetdriver.py",
    }
    contents = {name: json.dumps(data).encode() for name, data in files.items()}
    for name, content in (contents | change).items():
        path = folder / "s" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content)
    return Results(folder, folder)


@pytest.fixture
def said(tmp_path: Path) -> Callable[..., dict[str, tuple[bool, str]]]:
    """What is said of each trial when the new results have changed so."""

    def compared(**change: bytes | None) -> dict[str, tuple[bool, str]]:
        sides = [make(tmp_path / "new", **change), make(tmp_path / "other")]
        lines = report(sides, "s")
        return {line.text.split("s/")[1].split(":")[0]: (line.passes, line.text) for line in lines}

    return compared


def test_what_names_a_checkout_and_an_hour_is_no_difference(said: Any) -> None:
    assert [passes for passes, _ in said().values()] == [True, True]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("result.json", b'{"verdict": "valid", "goodput_bps": 5, "flows": [{"port": 7}]}', "result.json (goodput_bps)"),
        ("result.json", b'{"verdict": "valid", "goodput_bps": 5.0, "flows": [{"port": 8}]}', "(flows[].port)"),
        ("result.json", b'{"verdict": "valid", "goodput_bps": 5.0, "flows": []}', "(flows[] has 0 entries for 1)"),
        ("result.json", b'{"verdict": "valid", "flows": [{"port": 7}], "x": 1}', "(x added, goodput_bps gone)"),
        ("result.json", b'{"verdict": "suspect", "goodput_bps": 5.0, "flows": [{"port": 7}]}', "(verdict)"),
        ("result.json", b'{"verdict":"valid", "goodput_bps": 5.0, "flows": [{"port": 7}]}', "(no value)"),
        ("provenance.json", b'{"testbed": "1", "programs": "2", "kernel": "l"}', "provenance.json (kernel)"),
        ("steps.json", b'[{"run": ["ip", "link"]}]', "steps.json ([].run[] has 2 entries for 5"),
        ("steps.json", None, "steps.json (gone)"),
        ("more.txt", b"ip link", "more.txt (added)"),
    ],
)
def test_a_difference_is_told_with_its_file_and_key(said: Any, name: str, content: bytes | None, told: str) -> None:
    lines = said(**{f"trials/t/{name}": content})
    passes, text = lines["t"]
    assert not passes
    assert text.startswith("DIFFERS")
    assert told in text
    assert lines[RUN][0]


@pytest.mark.parametrize(
    "change",
    [
        {"trials/t/result.json": None},
        {"trials/t/result.json": b'{"verdict": "invalid", "goodput_bps": 5.0, "flows": [{"port": 7}]}'},
        {"trials/t/result.json": b"{"},
    ],
)
def test_a_trial_that_is_missing_damaged_or_invalid_does_not_pass(said: Any, tmp_path: Path, change: Any) -> None:
    passes, text = said(**change)["t"]
    assert not passes
    assert text.startswith("NOT MEASURED")
    alone = {line.text: line.passes for line in report([Results(tmp_path / "new", tmp_path)], "s")}
    assert sorted(alone.values()) == [False, True]


def test_a_trial_that_only_one_side_has_does_not_pass(said: Any) -> None:
    lines = said(**{"run.json": b'{"trials": ["t", "u"]}', "trials/u/result.json": b'{"verdict": "valid"}'})
    assert [lines[id][0] for id in (RUN, "t", "u")] == [False, True, False]


def test_a_scenario_without_trials_or_results_does_not_pass(tmp_path: Path) -> None:
    make(tmp_path, **{"run.json": b'{"trials": []}'})
    shutil.rmtree(tmp_path / "s/trials")
    sides = [Results(tmp_path, tmp_path)] * 2
    assert [line.passes for line in report(sides, "s")] == [False]
    assert [line.passes for line in report(sides, "never-ran")] == [False]


def test_tables_differ_by_columns(said: Any, tmp_path: Path) -> None:
    for name, column in (("new", "way"), ("other", "direction")):
        (tmp_path / name / "s").mkdir(parents=True)
        pq.write_table(pa.table({"link": ["a"], column: ["forward"]}), tmp_path / name / "s/queues.parquet")
    assert "queues.parquet (way added, direction gone)" in said()[RUN][1]


def test_only_a_difference_that_is_named_is_let_pass(tmp_path: Path) -> None:
    changed = b'{"verdict": "valid", "goodput_bps": 5.0, "flows": [{"port": 8}]}'
    sides = [make(tmp_path / "new", **{"trials/t/result.json": changed}), make(tmp_path / "other")]
    assert [line.passes for line in report(sides, "s", ["result.json:flows[].port"])] == [True, True]
    for but in ("result.json", "result.json:flows[]", "trial.json:flows[].port"):
        assert [line.passes for line in report(sides, "s", [but])] == [True, False]


def test_old_results_do_not_pass_for_new_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["-o", str(tmp_path)])
    assert "is not empty" in capsys.readouterr().err


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--against", str(tmp_path), "ping"])
    assert "is no checkout" in capsys.readouterr().err


def test_the_scenarios_use_every_key_and_word_that_there_is() -> None:
    """A new workload, node type or impairment has to come into them too."""
    told = CliRunner().invoke(app, ["schema", "scenario"])
    wanted = set(_allowed(json.loads(told.stdout)))
    texts = [path.read_text() for path in SCENARIOS.rglob("*.yaml")]
    used = {word for text in texts for word in _written(yaml.safe_load(text))}
    assert len(wanted) > 100
    assert wanted - used == NOT_COVERED & wanted


def _allowed(schema: Any) -> list[str]:
    """All keys, and all values that are words."""
    if isinstance(schema, list):
        return [word for each in schema for word in _allowed(each)]
    if not isinstance(schema, dict):
        return []
    values = [schema.get("const"), *(schema["enum"] if isinstance(schema.get("enum"), list) else ())]
    keys = schema["properties"] if isinstance(schema.get("properties"), dict) else ()
    return [*filter(lambda each: isinstance(each, str), values), *keys, *_allowed([*schema.values()])]


def _written(value: Any) -> list[str]:
    if isinstance(value, dict):
        parts = [part for key in value for part in str(key).replace("+", ".").split(".")]
        return [*parts, *_written([*value.values()])]
    return [word for each in value for word in _written(each)] if isinstance(value, list) else [str(value)]
