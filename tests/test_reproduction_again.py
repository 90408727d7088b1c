"""An audit of kept results: a number that does not come out again is found, and what was not repeated is no pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pytest
from runs import make_result, write_result
from typer.testing import CliRunner

from testbed.cli import app
from testbed.error import UserError
from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.sweep import run as sweep
from testbed.trial import provenance, software
from testbed.trial.orders.sequence import Orders
from testbed.trial.result import TrialResult
from testbed_reproductions import again, kept
from testbed_reproductions.again import Again, differing

NAME = "blob-instances"
"""A scenario that is kept in its full size, with all its trials of one kernel."""

Change: TypeAlias = Callable[[dict[str, Any]], None]


class Repeats(Protocol):
    def __call__(self, change: Change, processor: str | None = None) -> None: ...


def folder(path: Path, result: dict[str, Any], kernel: str = "a", processor: str | None = None) -> Path:
    path.mkdir()
    (path / "result.json").write_text(json.dumps(result, indent=1))
    software = None if processor is None else {"parts": {"processor": processor}}
    (path / "provenance.json").write_text(json.dumps({"kernel": {"key": kernel}, "software": software}))
    return path


OF = {"lab_s": 1.1, "goodput_bps": 1.5, "flows": [{"port": 80, "rtt": None}], "verdict": "valid"}


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (OF, ()),
        (OF | {"new": 1}, ()),
        (OF | {"goodput_bps": 1.5000000000000002}, ("goodput_bps by 2.22e-14 %",)),
        (OF | {"flows": []}, ("flows",)),
        (OF | {"flows": [{"port": 80}]}, ("flows[0].rtt",)),
        (OF | {"flows": [{"port": 80, "rtt": 0}]}, ("flows[0].rtt",)),
        (OF | {"verdict": "invalid", "flows": [{"port": True, "rtt": None}]}, ("flows[0].port", "verdict")),
        ({"lab_s": 1.1, "flows": OF["flows"], "verdict": "valid"}, ("goodput_bps",)),
        (OF | {"lab_s": 1.21}, ("lab_s by 10 %",)),
    ],
)
def test_what_is_kept_must_be_there_again(now: dict[str, Any], found: tuple[str, ...], tmp_path: Path) -> None:
    assert differing(folder(tmp_path / "a", OF), folder(tmp_path / "b", now)) == found


def test_numbers_of_another_kernel_are_told_apart(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", OF)
    assert differing(first, folder(tmp_path / "b", OF, "b")) == ()
    changed = folder(tmp_path / "c", OF | {"verdict": "suspect"}, "b")
    assert differing(first, changed) == (again.ELSEWHERE, "verdict")


def test_numbers_of_another_kind_of_processor_are_told_apart_and_by_how_much(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", OF, processor="one")
    later = OF | {"lab_s": 1.1011, "goodput_bps": 1.50003}
    assert differing(first, folder(tmp_path / "b", OF, processor="another")) == ()
    told = ("lab_s by 0.1 %", "goodput_bps by 0.002 %")
    assert differing(first, folder(tmp_path / "c", later, processor="one")) == told
    assert differing(first, folder(tmp_path / "d", later, processor="another")) == (again.ELSEWHERE, *told)
    for number, kind in enumerate((None, software.UNKNOWN)):  # nobody knows that it is another one
        assert differing(first, folder(tmp_path / f"e{number}", later, processor=kind)) == told


def test_numbers_of_a_trial_during_which_files_changed_are_told_apart(tmp_path: Path) -> None:
    first, later = folder(tmp_path / "a", OF), OF | {"lab_s": 1.21}
    disturbed = folder(tmp_path / "b", later)
    noted = provenance.disturbed(json.loads((disturbed / "provenance.json").read_text()), ["ld.so.cache"])
    (disturbed / "provenance.json").write_text(json.dumps(noted))
    assert differing(first, disturbed) == (again.ELSEWHERE, "lab_s by 10 %")
    assert differing(disturbed, first) == (again.ELSEWHERE, "lab_s by 9.09 %")
    (disturbed / "result.json").write_text(json.dumps(OF))
    again_disturbed = folder(tmp_path / "c", later)
    (again_disturbed / "provenance.json").write_text(json.dumps(noted))
    assert differing(disturbed, again_disturbed) == (again.ELSEWHERE, "lab_s by 10 %")
    assert differing(disturbed, first) == ()


@pytest.mark.parametrize(
    ("lists", "verdict"),
    [
        ({}, "same"),
        ({"different": ("x",), "lost": ("y",)}, "different"),
        ({"elsewhere": ("x",)}, "cannot tell"),
        ({"lost": ("x",)}, "cannot tell"),
        ({"trials": 0}, "cannot tell"),
    ],
)
def test_only_a_sample_that_came_out_again_is_the_same(lists: dict[str, Any], verdict: str) -> None:
    data: dict[str, Any] = {"date": "2026-11-27", "seed": 1, "scenarios": 1, "kept": 9, "trials": 3}
    assert Again(**(data | lists)).verdict == verdict


def test_what_is_stored_is_read_again(tmp_path: Path) -> None:
    assert again.stored(tmp_path) == []
    audits = [Again("2026-11-27", 1, 1, 9, 3, ("x (goodput_bps)",)), Again("2026-11-28", 2, 1, 9, 3)]
    for each in audits:
        again.store(tmp_path, each)
    assert again.stored(tmp_path) == audits
    assert (
        "2 of 3 trials, drawn at random from 9, gave the same numbers again; 1 gave others: x" in audits[0].in_words()
    )
    (tmp_path / again.FILE).write_text('[{"date": 1, "unknown": 2}]')
    with pytest.raises(UserError, match="is damaged"):
        again.stored(tmp_path)


def kept_files(trial: Trial) -> tuple[dict[str, Any], str]:
    """What is kept of a trial: its result, and the text of its provenance."""
    with kept.unpacked(kept.FOLDER / "full", [NAME]) as unpacked:
        folder = unpacked / NAME / "trials" / trial.id
        return json.loads((folder / "result.json").read_text()), (folder / "provenance.json").read_text()


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> list[Again]:
    """What would be stored of audits."""
    stored: list[Again] = []
    monkeypatch.setattr(again, "store", lambda _, found: stored.append(found))
    return stored


@pytest.fixture
def repeats(monkeypatch: pytest.MonkeyPatch, audits: list[Again]) -> Repeats:
    """Trials that give what is kept of them, but for a change; no audit is stored."""

    def begin(change: Change, processor: str | None = None) -> None:
        def run(trial: Trial, made: Orders, path: Path, **options: Any) -> TrialResult:
            write_result(path, trial, result := make_result(trial))
            data, provenance = kept_files(trial)
            change(data)
            (path / "result.json").write_text(json.dumps(data))
            noted = json.loads(provenance)
            if processor is not None:
                noted["software"]["parts"]["processor"] = processor
            (path / "provenance.json").write_text(json.dumps(noted))
            return result

        monkeypatch.setattr(sweep.runner, "run", run)

    return begin


def audit(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["reproduce", "S2-E1", "--full", "--audit", *words])
    return done.exit_code, " ".join((done.stdout + done.stderr + str(done.exception or "")).split())


def test_all_that_is_kept_comes_out_again(repeats: Repeats) -> None:
    repeats(lambda result: None)
    code, said = audit("100")
    assert code == 0, said
    assert "4 of 4 trials, drawn at random from 4, gave the same numbers again." in said


def test_a_number_that_does_not_is_found(repeats: Repeats) -> None:
    repeats(lambda result: result["flows"][0].update(received_bytes=1))
    code, said = audit("50")
    assert (code, "0 of 2 trials, drawn at random from 4," in said) == (1, True), said
    assert "2 gave others: blob-instances/" in said
    assert "(flows[0].received_bytes by 100 %)" in said


def test_it_is_said_by_how_much_another_kind_of_processor_gives_other_numbers(
    repeats: Repeats, audits: list[Again]
) -> None:
    def change(result: dict[str, Any]) -> None:
        result.update(lab_s=result["lab_s"] * 1.001, workload_s=result["workload_s"] * 1.01)

    repeats(change, "another")
    code, said = audit("25")
    assert code == 5, said
    elsewhere = "another lab kernel or kind of processor, or while files of the computer changed"
    assert f"1 gave others with {elsewhere}, by 1 % at most. each of them: " in said
    (name,) = audits[0].elsewhere
    assert name.startswith("blob-instances/")
    assert name.endswith("(workload_s by 1 %, lab_s by 0.1 %)")
    repeats(lambda result: result.update(verdict="suspect"), "another")
    assert f"{elsewhere}, by more than numbers: blob-instances/" in audit("25")[1]


def test_what_does_not_run_is_no_pass(monkeypatch: pytest.MonkeyPatch, repeats: Repeats) -> None:
    repeats(lambda result: None)

    def run(trial: Trial, made: Orders, path: Path, **options: Any) -> TrialResult:
        raise TrialError("no memory")

    monkeypatch.setattr(sweep.runner, "run", run)
    code, said = audit("25")
    assert code == 5, said
    assert "1 did not end: blob-instances/" in said


def test_an_audit_takes_no_other_orders(tmp_path: Path) -> None:
    for words in (["--stored"], ["--keep"], ["--until-decided"], ["-o", str(tmp_path / "page.md")]):
        code, said = audit("1", *words)
        assert (code, "--audit repeats what is kept; allowed: with ID, --quick or --full, and --jobs" in said) == (
            1,
            True,
        )
    assert audit("0")[0] == audit("101")[0] == 2
