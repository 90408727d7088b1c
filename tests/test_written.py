"""Files of a trial that are torn or changed after the agent wrote them: each is told by its name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from trials import RunTrial, make_trial

from testbed.agent import step
from testbed.kernel.guest import TrialError
from testbed.trial import run as runner
from testbed.trial.evidence import remains
from testbed.trial.orders.sequence import orders

Harm = Callable[[Path], object]

TEXT = b"eight by"
HOST = (pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root"))


def left_by_agent(folder: Path) -> Path:
    """A folder with a file that was there before, one of the agent's, and the outcome that tells of it."""
    (folder / "steps.json").write_text("[]")
    given = frozenset(os.listdir(folder))
    (folder / "flow.out").write_bytes(TEXT)
    (folder / "outcome.json").write_text(json.dumps({"written": step.written(str(folder), given)}))
    return folder


def test_the_agent_notes_the_length_and_the_sum_of_what_came(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    left_by_agent(tmp_path)
    assert json.loads((tmp_path / "outcome.json").read_text()) == {"written": {"flow.out": [8, 0xFDB6CA78]}}


def test_a_file_that_is_too_long_to_be_read_again_has_a_length_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "SUMMED_BYTES", 7)
    remains.check_whole(left_by_agent(tmp_path))
    assert json.loads((tmp_path / "outcome.json").read_text())["written"] == {"flow.out": [8, None]}


@pytest.mark.parametrize("part_bytes", [1, 3, 8, 1 << 20])
def test_the_sum_does_not_depend_on_how_much_is_read_at_a_time(
    part_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "PART_BYTES", part_bytes)
    remains.check_whole(left_by_agent(tmp_path))


HARMS: dict[str, tuple[Harm, str]] = {
    "torn": (
        lambda path: path.write_bytes(TEXT[:5]),
        "the file flow.out is torn: it has 5 bytes, and the agent wrote 8",
    ),
    "empty": (lambda path: path.write_bytes(b""), "the file flow.out is torn: it has 0 bytes"),
    "changed": (lambda path: path.write_bytes(b"eight bz"), "the file flow.out was changed after the agent wrote it"),
    "changed-and-longer": (lambda path: path.write_bytes(b"eight bz and more"), "flow.out was changed"),
    "gone": (lambda path: path.unlink(), "the file 'flow.out' is gone: the agent wrote 8 bytes of it"),
    "a-folder": (lambda path: (path.unlink(), path.mkdir()), "the file 'flow.out' is gone"),
}


@pytest.mark.parametrize("name", HARMS)
def test_a_file_that_is_not_as_the_agent_left_it_is_named(name: str, tmp_path: Path) -> None:
    harm, text = HARMS[name]
    remains.check_whole(left_by_agent(tmp_path))
    harm(tmp_path / "flow.out")
    with pytest.raises(TrialError, match=text):
        remains.check_whole(tmp_path)


def test_what_a_program_adds_as_the_agent_ends_is_no_damage(tmp_path: Path) -> None:
    left_by_agent(tmp_path)
    (tmp_path / "flow.out").write_bytes(TEXT + b"te")
    remains.check_whole(tmp_path)


@pytest.mark.parametrize("said", ["{}", '{"written": {}}', '{"written": []}', '{"written": null}'])
def test_an_outcome_that_tells_of_no_file_is_no_pass(said: str, tmp_path: Path) -> None:
    (left_by_agent(tmp_path) / "outcome.json").write_text(said)
    with pytest.raises(TrialError, match=r"outcome\.json does not tell which files were written"):
        remains.check_whole(tmp_path)


@pytest.mark.parametrize("name", ["../flow.out", "a/b", "", ".."])
def test_a_path_in_the_outcome_is_not_followed(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    folder.mkdir()
    (tmp_path / "flow.out").write_bytes(TEXT)
    (left_by_agent(folder) / "outcome.json").write_text(json.dumps({"written": {name: [8, 0]}}))
    with pytest.raises(TrialError, match="is gone"):
        remains.check_whole(folder)


@pytest.mark.lab
@pytest.mark.parametrize("kernel", ["lab", "lab-realtime", pytest.param("host", marks=HOST)])
def test_a_trial_whose_file_is_torn_or_changed_fails_with_its_name(
    kernel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(folder: Path) -> str | None:
        path = folder / "read-back.bin"
        if path.exists():  # a trial that fails before it has none
            os.truncate(path, path.stat().st_size - 1)
        return None

    monkeypatch.setattr(remains, "tidied", torn)
    plain = dict.fromkeys(("rate", "rtt", "buffer"))  # not every host has netem
    trial = make_trial(plain if kernel == "host" else None, {"duration": "1 s"}, kernel=kernel)
    with pytest.raises(TrialError, match=r"the file read-back\.bin is torn"):
        runner.run(trial, orders(trial), tmp_path)


@pytest.mark.lab
def test_every_file_of_a_trial_is_noted_but_those_that_we_write(run_trial: RunTrial) -> None:
    ran = run_trial(capture=[{"at": "b"}])
    noted = json.loads((ran.folder / "outcome.json").read_text())["written"]
    ours = {"steps.json", "trial.json", "provenance.json", "plan.sh", "result.json", "host.json", "console.log"}
    made = {"outcome.json", "queues.parquet", "samples.parquet", "faults.parquet", "completions.parquet"}
    assert {path.name for path in ran.folder.iterdir()} - ours - made == noted.keys() - {"samples.bin"}
    assert all(
        length == (ran.folder / name).stat().st_size
        for name, (length, _) in noted.items()
        if name in noted.keys() - {"samples.bin"}
    )
