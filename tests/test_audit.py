"""Audits: a flipped byte is found; what could not be repeated, or cannot repeat, is no pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import always_same, files_of, make_store, make_trials, read_json
from typer.testing import CliRunner

from testbed.cli import app
from testbed.error import MachineError, UserError
from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.report import stored_run, view
from testbed.sweep import audit as auditing
from testbed.sweep import run as sweep
from testbed.sweep.audit import latest, sample
from testbed.sweep.store import Store
from testbed.trial.folder import write_json
from testbed.trial.result import TrialResult


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return always_same(monkeypatch)


def said(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout + done.stderr + (str(done.exception) if done.exception else "")


def made(folder: Path, **options: Any) -> Store:
    return make_store(folder, make_trials(["10 ms", "20 ms", "40 ms"], 3, **options))


def test_a_sample_is_drawn_by_its_seed_and_stored(began: list[str], tmp_path: Path) -> None:
    store = made(tmp_path)
    before = files_of(tmp_path / "trials")
    code, text = said("audit", str(tmp_path), "--sample", "4", "--seed", "5")
    assert code == 0, text
    assert "4 of 4 repeated trials are the same, byte for byte" in text
    assert sorted(began) == sorted(sample(store.ids, 4, 5))
    assert files_of(tmp_path / "trials") == before
    assert not store.partials()
    (told,) = read_json(tmp_path / "audit.json")["audits"]
    assert [each["id"] for each in told["trials"]] == sample(store.ids, 4, 5)
    assert (told["seed"], told["finished"], told["left_out"]) == (5, 9, 0)
    assert {each["outcome"] for each in told["trials"]} == {"same"}
    began.clear()
    assert said("audit", str(tmp_path))[0] == 0
    assert sorted(began) == sorted(store.ids)
    assert len(read_json(tmp_path / "audit.json")["audits"]) == 2


def test_what_an_audit_says_fits_the_terminal(
    began: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    for words in (("audit", str(tmp_path)), ("results", str(tmp_path))):
        code, text = said(*words)
        assert (code, "byte for byte" in " ".join(text.split())) == (0, True), text
        begins = next(at for at, line in enumerate(text.splitlines()) if line.startswith("audit of "))
        assert max(map(len, text.splitlines()[begins : begins + 2])) <= 60


def test_samples_are_random_and_repeat() -> None:
    ids = [f"t{number}" for number in range(100)]
    assert sample(ids, 5, 1) == sample(ids, 5, 1)
    assert sample(ids, 5, 1) != sample(ids, 5, 2)
    assert sample(ids, 200, 1) == ids
    counts = [sum(id in sample(ids, 20, seed) for seed in range(500)) for id in ids]
    assert 60 < min(counts) <= max(counts) < 140  # 100 expected; 20 % of 500, sd 9


@pytest.mark.parametrize("name", ["samples.parquet", "queues.parquet", "result.json", "trial.json", "new", "gone"])
def test_a_difference_of_one_byte_is_found_shown_and_fails(name: str, began: list[str], tmp_path: Path) -> None:
    store = made(tmp_path)
    id = store.ids[4]
    folder = tmp_path / "trials" / id
    match name:
        case "new":
            (folder / "new").touch()
        case "gone":
            (folder / "queues.parquet").unlink()
        case "trial.json" | "result.json":
            (folder / name).write_text((folder / name).read_text() + " ")
        case _:
            data = (folder / name).read_bytes()
            (folder / name).write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
    code, text = said("audit", str(tmp_path), "--seed", "1")
    file = "queues.parquet" if name == "gone" else name
    assert code == 1, text
    assert f"different {id}: {file}" in text
    assert "8 of 9 repeated trials are the same, byte for byte; 1 differs" in text
    assert "8 of 9 repeated trials" in said("results", str(tmp_path))[1]
    told = {
        each["id"]: each["audit"]
        for each in json.loads(CliRunner().invoke(app, ["results", str(tmp_path), "--format", "json"]).stdout)
    }
    assert {key for key, outcome in told.items() if outcome == "different"} == {id}
    assert len(told) == 9
    notes = view._notes(stored_run.read(tmp_path), 0.0)
    assert any("8 of 9 repeated trials are the same, byte for byte; 1 differs" in note for note in notes)


@pytest.mark.parametrize("error", [TrialError("it broke"), MachineError("no kernel", "testbed kernel build")])
def test_what_could_not_be_repeated_is_no_pass(
    error: Exception, began: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, runs = made(tmp_path), sweep.runner.run

    def run(trial: Trial, *words: Any, **options: Any) -> TrialResult:
        if trial.id == store.ids[3]:
            raise error
        return runs(trial, *words, **options)

    monkeypatch.setattr(sweep.runner, "run", run)
    code, text = said("audit", str(tmp_path), "--format", "json")
    assert code == 5, text
    code, text = said("audit", str(tmp_path))
    assert code == 5
    assert f"not repeated {store.ids[3]}: {error}" in text
    assert "8 of 9 repeated trials are the same, byte for byte; 1 could not be repeated" in text
    (tmp_path / "trials" / store.ids[0] / "trial.json").write_text("{}")
    code, text = said("audit", str(tmp_path))
    assert code == 5
    assert "2 could not be repeated" in text
    audit = latest(tmp_path)
    assert audit is not None
    assert audit.count("not repeated") == 2


def test_trials_in_real_time_are_left_out(began: list[str], tmp_path: Path) -> None:
    made(tmp_path / "mixed", kernels=["lab", "lab-realtime"])
    code, text = said("audit", str(tmp_path / "mixed"))
    assert code == 0
    assert "9 of 9 repeated trials are the same, byte for byte; 9 in real time left out" in text
    made(tmp_path / "real", kernels=["host", "lab-realtime"])
    began.clear()
    code, text = said("audit", str(tmp_path / "real"))
    assert code == 5
    assert began == []
    assert "nothing was audited" in text
    assert "0 of 0 repeated trials" in said("results", str(tmp_path / "real"))[1]


def test_a_trial_that_was_measured_again_is_no_longer_audited(began: list[str], tmp_path: Path) -> None:
    store = made(tmp_path)
    assert said("audit", str(tmp_path))[0] == 0
    write_json(
        tmp_path / "trials" / store.ids[2] / "host.json", {"wall_s": 1.0, "started": "2026-02-02T00:00:00+00:00"}
    )
    audit = latest(tmp_path)
    assert audit is not None
    assert {each.id for each in audit.trials} == {*store.ids} - {store.ids[2]}


def test_a_run_without_finished_trials_or_with_a_damaged_audit_is_refused(began: list[str], tmp_path: Path) -> None:
    store = made(tmp_path)
    (tmp_path / "audit.json").write_text('{"audits": [{}]}')
    assert "is damaged" in said("results", str(tmp_path))[1]
    (tmp_path / "audit.json").write_text('{"audits": [')
    assert f"delete it: rm {tmp_path / 'audit.json'}" in said("audit", str(tmp_path))[1]
    (tmp_path / "audit.json").write_text("{}")
    with pytest.raises(UserError, match="is damaged: it has no list of audits"):
        latest(tmp_path)
    (tmp_path / "audit.json").unlink()
    with store.locked():
        assert "another run is writing" in said("audit", str(tmp_path))[1]
    for folder in list((tmp_path / "trials").iterdir()):
        folder.rename(tmp_path / "failed" / folder.name)
    assert "has no finished trial" in said("audit", str(tmp_path))[1]
    assert began == []
    assert not (tmp_path / "audit.json").exists()


def test_an_interrupted_audit_leaves_nothing(began: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = made(tmp_path)
    before = files_of(tmp_path)

    def interrupted(prepared: sweep.Sweep) -> sweep.Summary:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        auditing.audit(store, 3, 1, interrupted)
    assert files_of(tmp_path, but=["lock"]) == before
    assert not store.partials()
