"""A full disk or quota: the trial fails with "disk full", the sweep ends with exit code 3, and goes on later."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from trials import make_trial

from testbed import cli
from testbed.error import TestbedError, UserError
from testbed.kernel import consumption
from testbed.kernel.consumption import Watch
from testbed.kernel.guest import TrialError, ending
from testbed.model.scenario import Trial
from testbed.sweep import run as sweep
from testbed.sweep import table
from testbed.sweep.store import Store
from testbed.trial import folder as files
from testbed.trial.folder import DiskFull, replace_json

SHORT = ("--jobs", "1", "--set", "path.rtt=10 ms", "--set", "workload.duration=2 s")
ROOT = Path(__file__).parents[1]


class Told:
    """What a sweep reports."""

    def __init__(self) -> None:
        self.failures: list[TestbedError] = []

    def begun(self, trial: Trial) -> None: ...

    def lab_time(self, trial: Trial, lab_s: float) -> None: ...

    def finished(self, trial: Trial, result: object) -> None: ...

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self.failures.append(error)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "run")
    store.create("x", {}, [])
    return store


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG], ids=errno.errorcode.get)
@pytest.mark.parametrize("how", ["ours", "the guest's", "cut short"])
def test_a_trial_that_finds_no_room_leaves_nothing_and_ends_the_sweep(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int, how: str
) -> None:
    """It was a traceback, and the sweep stopped, in 13 of 13 sizes."""
    begun = []

    def full(trial: Trial, made: Any, folder: Path, **_: Any) -> None:
        begun.append(trial)
        (folder / "half").write_text("x")
        if how == "ours":
            raise OSError(number, os.strerror(number), str(folder / "steps.json"))
        if how == "the guest's":
            raise TrialError(f"the step 3 failed: tee: {os.strerror(number)}")
        monkeypatch.setattr(files, "is_full", lambda path: True)
        raise ValueError("Expecting value: line 1 column 1 (char 0)")

    monkeypatch.setattr("testbed.trial.run.run", full)
    trials = [make_trial(id=f"t{at}", seed=at) for at in range(3)]
    prepared = sweep.prepare(trials, store, check=False)
    told = Told()
    summary = sweep.run(prepared, 1, told)
    assert len(begun) == 1
    (error,) = told.failures
    assert isinstance(error, DiskFull)
    assert str(error).startswith(f"disk full: {store.path} (")
    assert error.exit_code == 3
    assert [each for _, each in summary.failures] == [error]
    assert not list((store.path / "trials").iterdir())
    assert not list((store.path / "failed").iterdir())
    assert len(sweep.prepare(trials, store, check=False).waiting) == 3


def test_an_outcome_that_is_cut_short_is_no_traceback(tmp_path: Path) -> None:
    for text in ("", '{"error": nul', "[]", "{}"):
        (tmp_path / "console.log").touch()
        (tmp_path / "outcome.json").write_text(text)
        with pytest.raises(TrialError, match=r"outcome\.json is not whole"):
            ending(tmp_path, 0.0)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_folder_that_cannot_be_made_or_brought_up_to_date_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(*_: object, **__: object) -> None:
        nonlocal number
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DiskFull, match="disk full: "):
            table.update(store)
        with pytest.raises(DiskFull, match="disk full: "):
            store.create("x", {}, [])
    number = errno.EACCES
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="cannot be written: Permission denied"):
        table.update(store)


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    replace_json(path, {"a": 1})
    before = path.read_bytes()
    code = (
        "import resource, signal, sys; from pathlib import Path; from testbed.trial.folder import replace_json\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try: replace_json(Path(sys.argv[1]), {'a': 'x' * 1000})\n"
        "except OSError as error: sys.exit(error.errno)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    assert done.returncode == errno.EFBIG
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS])
def test_what_cannot_be_written_elsewhere_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    """A cache that cannot be written was a traceback."""

    def full(**_: object) -> None:
        raise OSError(number, os.strerror(number), "/home/x/.cache/testbed/journal")

    monkeypatch.setattr(cli, "app", full)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    assert capsys.readouterr().err == f"testbed: /home/x/.cache/testbed/journal: {os.strerror(number)}\n"


@pytest.mark.parametrize(
    ("most", "free", "is_disk"), [(1 << 16, 1 << 40, True), (1 << 30, 1 << 20, True), (1 << 30, 1 << 40, False)]
)
def test_a_guest_that_takes_half_of_a_nearly_full_disk_is_no_fault_of_its_own(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int, free: int, is_disk: bool
) -> None:
    """It was "the guest's files take more than 0 MiB", for each of the sweep's trials."""
    monkeypatch.setattr(consumption, "_size", lambda folder: (1, most + 1, None))
    monkeypatch.setattr(consumption.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    said = Watch(os.getpid(), store.path, "console.log", most).excess()
    assert said is not None
    assert "0 MiB" not in said.replace("1024 MiB", "")
    found = files.disk_full(TrialError(said), store.path)
    assert (found is not None) == is_disk
    assert found is None or found.exit_code == 3


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mounts a tmpfs of so many KiB."""
    mounted = []

    def mount(kib: int) -> Path:
        folder = tmp_path / f"disk{kib}"
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", str(folder)], check=True)
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk of any size")
@pytest.mark.lab
@pytest.mark.parametrize(
    "kib", [8, *(pytest.param(size, marks=pytest.mark.nightly) for size in (16, 64, 96)), 128, 192,
            *(pytest.param(size, marks=pytest.mark.nightly) for size in (160, 256, 320, 384, 512, 768, 1024))]
)  # fmt: skip
def test_on_a_small_disk_every_size_ends_cleanly_and_goes_on_with_more_room(
    small: Callable[[int], Path], kib: int
) -> None:
    disk = small(kib)
    words = ["-m", "testbed", "run", "quickstart", *SHORT, "-o", str(disk / "run")]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 3), done.stderr
    if done.returncode == 3:
        assert f"disk full: {disk / 'run'}" in done.stderr
        assert not list(disk.glob("run/trials/.partial-*"))
        for trial in disk.glob("run/trials/*"):
            files.read_result(trial)
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
    again = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
