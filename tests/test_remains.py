"""What a guest leaves behind in the folder of its trial: whatever it is, nothing outside is read or written, nobody
waits for its end, and only that trial fails.
"""

from __future__ import annotations

import io
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from runs import files_of, make_result, make_trials, read_json, write_result

from testbed import cli
from testbed.error import TestbedError, UserError
from testbed.kernel import parcel
from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.sweep import audit as auditing
from testbed.sweep import merge as merging
from testbed.sweep import run as sweep
from testbed.sweep.store import Store
from testbed.trial import reader, strict_folder
from testbed.trial import run as trial_run
from testbed.trial.evidence import remains
from testbed.trial.folder import DiskFull, read_result, same_files, write_json
from testbed.trial.orders.sequence import orders

TRIALS = make_trials(["10 ms"], 3)
TRIAL = TRIALS[1]
HANGS_S = 600
"""A test that takes as long waits for something that never comes."""
Leave = Callable[[Path, Path], Any]
"""Takes the folder of a trial and one outside it."""


def deep(folder: Path, outside: Path) -> None:
    """Deeper than Python's stack."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def renamed(folder: Path, outside: Path) -> None:
    """As if it were the folder of the lab kernel itself."""
    (folder / ".uml-x" / "lab").mkdir(parents=True)
    (folder / ".uml-x" / "trial").symlink_to(outside)
    (folder / "result.json").unlink(missing_ok=True)
    (folder / ".uml-x").rename(folder / "result.json")


def hard_link(name: str) -> Leave:
    def leave(folder: Path, outside: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).hardlink_to(outside / "key")

    return leave


def replaced(name: str, make: Callable[[Path, Path], Any]) -> Leave:
    def leave(folder: Path, outside: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name, outside)

    return leave


def link_to(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "key")


def pipe(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def folder_of(path: Path, outside: Path) -> None:
    path.mkdir()
    (path / "link").symlink_to(outside)


def sparse(path: Path, outside: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def device(path: Path, outside: Path) -> None:
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))


def many(folder: Path, outside: Path) -> None:
    for number in range(remains.MOST + 5):
        (folder / f"n{number}").touch()


NAMES = ("steps.json", "trial.json", "result.json", "plan.sh", "console.log", "outcome.json", "samples.parquet", "new")
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make devices")
LEFT: dict[str, Leave] = {
    **{f"{name} a link": replaced(name, link_to) for name in NAMES},
    **{f"{name} a pipe": replaced(name, pipe) for name in NAMES},
    **{f"{name} a folder": replaced(name, folder_of) for name in NAMES},
    **{f"{name} of 1 TB": replaced(name, sparse) for name in NAMES},
    **{f"{name} with another name outside": hard_link(name) for name in NAMES},
    "a dangling link": lambda folder, outside: (folder / "x").symlink_to(outside / "none"),
    "a link to itself": lambda folder, outside: (folder / "x").symlink_to("x"),
    "two names of a file": lambda folder, outside: (folder / "x").hardlink_to(folder / "trial.json"),
    "a deep folder": deep,
    "the kernel's own folder": renamed,
    "a newline in a name": lambda folder, outside: (folder / "a\nb").touch(),
    "a name that is not UTF-8": lambda folder, outside: (folder / "\udcff").touch(),
    "many files": many,
}
DEVICES: dict[str, Leave] = {f"{name} a device": replaced(name, device) for name in NAMES}
ALL = [*LEFT, *(pytest.param(name, marks=ROOT) for name in DEVICES)]
SPREAD = [
    *(pytest.param(what, marks=() if number % 3 == 0 else pytest.mark.slow) for number, what in enumerate(LEFT)),
    *(pytest.param(what, marks=(ROOT, *([pytest.mark.slow] if number else []))) for number, what in enumerate(DEVICES)),
]
"""`make check` tries every third of these, `make test` all."""


def each(*leaves: Leave) -> Leave:
    def leave(folder: Path, outside: Path) -> None:
        for one in leaves:
            one(folder, outside)

    return leave


KINDS: dict[str, Leave] = {
    **{
        f"every file {kind}": each(*(LEFT[f"{name} {kind}"] for name in NAMES))
        for kind in ("a link", "a pipe", "a folder", "of 1 TB", "with another name outside")
    },
    **{what: LEFT[what] for what in LEFT if not what.startswith(NAMES)},
}
"""All names of a kind at once: that each name alone is removed, and said, shows the test that needs no run."""
DEVICE_KIND: dict[str, Leave] = {"every file a device": each(*DEVICES.values())}
ALL_KINDS = [*KINDS, *(pytest.param(name, marks=ROOT) for name in DEVICE_KIND)]


def leave(what: str, folder: Path, outside: Path) -> None:
    (LEFT | DEVICES | KINDS | DEVICE_KIND)[what](folder, outside)


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """Ends a test that waits for ever."""

    def hang(number: int, frame: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(HANGS_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def _leaves_nothing_deep(tmp_path: Path) -> Iterator[None]:
    """Nobody who removes old folders of tests is to die of it."""
    yield
    strict_folder.remove_tree(tmp_path)


@pytest.fixture
def outside(tmp_path: Path, _leaves_nothing_deep: None) -> Iterator[Path]:
    """A folder of the user's, which is afterwards as it was."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "key").write_text("mine")
    (folder / "key").chmod(0o600)
    yield folder
    assert files_of(folder) == {"key": b"mine"}
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert (folder / "key").stat().st_nlink == 1 or (folder / "key").read_text() == "mine"


def plain(folder: Path) -> bool:
    """Whether all that is in a folder are ordinary files of bounded sizes, readable by their owner alone or by all."""
    found = [path.lstat() for path in folder.iterdir()]
    return all(
        stat.S_ISREG(each.st_mode)
        and each.st_nlink == 1
        and each.st_size <= remains.READ_BYTES
        and stat.S_IMODE(each.st_mode) in (0o600, 0o644)
        for each in found
    )


@pytest.mark.parametrize("what", ALL)
def test_what_is_no_ordinary_file_is_removed_and_said(what: str, tmp_path: Path, outside: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    write_result(folder, TRIAL, make_result(TRIAL))
    leave(what, folder, outside)
    said = remains.tidied(folder)
    assert said is not None
    assert said.isprintable()
    assert len(said) < 300
    assert plain(folder)
    assert remains.tidied(folder) is None


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6777, 0o000, 0o200, 0o666])
def test_nobody_gets_a_program_from_a_guest(mode: int, tmp_path: Path) -> None:
    """Of root's guest, with the bit by which it runs as root, it would be one of root's."""
    (tmp_path / "x").touch()
    (tmp_path / "x").chmod(mode)
    assert remains.tidied(tmp_path) is None
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o644


def test_what_is_larger_than_all_evidence_is_cut_off(tmp_path: Path) -> None:
    for name, size in (("a.txt", remains.TEXT_BYTES), ("b.bin", remains.READ_BYTES), ("c.pcap", 1 << 40)):
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, size)
    said = remains.tidied(tmp_path)
    assert said == "'b.bin' of 1024 MiB; allowed: up to 896 MiB"
    assert [(tmp_path / name).stat().st_size for name in ("a.txt", "b.bin", "c.pcap")] == [
        remains.TEXT_BYTES,
        remains.READ_BYTES - remains.TEXT_BYTES,
        1 << 40,
    ]


class Guest:
    """In place of a guest that runs: it leaves what it should, and then more. `fails` says whether it dies of it."""

    def __init__(self, what: str, outside: Path, *, fails: bool = False) -> None:
        self.what, self.outside, self.fails = what, outside, fails

    def __call__(self, trial: Trial, made: Any, steps: Any, ready: Any, folder: Path, *rest: Any) -> Any:
        if trial.id == TRIAL.id:
            leave(self.what, folder, self.outside)
        if self.fails and trial.id == TRIAL.id:
            raise TrialError("the guest died")
        raise Finished(folder, trial)


class Finished(Exception):
    pass


@pytest.fixture
def carried_out(monkeypatch: pytest.MonkeyPatch) -> Callable[[Guest], None]:
    """Runs trials with such a guest and without evidence: what a good one leaves is what `write_result` writes."""

    def use(guest: Guest) -> None:
        real = trial_run.run

        def carry_out(trial: Trial, made: Any, steps: Any, ready: Any, folder: Path, *rest: Any) -> Any:
            with pytest.raises((Finished, TrialError)) as raised:
                guest(trial, made, steps, ready, folder, *rest)
            if raised.type is TrialError:
                raise raised.value

        def read(trial: Trial, made: Any, folder: Path) -> Any:
            raise Finished(folder, trial)

        def run(trial: Trial, made: Any, folder: Path, **options: Any) -> Any:
            try:
                return real(trial, made, folder, **options)
            except TrialError as error:
                if not isinstance(error.__cause__, Finished):
                    raise
                write_result(folder, trial, result := make_result(trial))
                return result

        monkeypatch.setattr(trial_run, "_carry_out", carry_out)
        monkeypatch.setattr(trial_run.remains, "check_whole", lambda folder: None)  # there is no agent
        monkeypatch.setattr(trial_run.remote, "gather", lambda *words: None)
        monkeypatch.setattr(reader, "read", read)
        monkeypatch.setattr(sweep.runner, "run", run)

    return use


class Silent:
    def begun(self, trial: Trial) -> None: ...

    def lab_time(self, trial: Trial, lab_s: float) -> None: ...

    def finished(self, trial: Trial, result: Any) -> None: ...

    def failed(self, trial: Trial, error: TestbedError) -> None: ...


def swept(folder: Path) -> tuple[Store, sweep.Summary]:
    store = Store(folder)
    store.create("made", {}, [trial.id for trial in TRIALS], [key for key, _ in TRIALS[0].params])
    return store, sweep.run(sweep.prepare(TRIALS, store, check=False), 2, Silent())


@pytest.mark.lab
@pytest.mark.parametrize("fails", [False, True], ids=["ends", "dies"])
@pytest.mark.parametrize("what", ALL_KINDS)
def test_only_the_trial_fails_whose_guest_left_it(
    what: str, fails: bool, tmp_path: Path, outside: Path, carried_out: Callable[[Guest], None]
) -> None:
    """What is kept of it is harmless, for all who read, copy or send it."""
    carried_out(Guest(what, outside, fails=fails))
    store, summary = swept(tmp_path / "run")
    assert [trial.id for trial, _ in summary.failures] == [TRIAL.id]
    assert len(summary.results) == 2
    failed = store.path / "failed" / TRIAL.id
    assert plain(failed)
    assert ("the guest died" if fails else "the guest left") in store.failures()[TRIAL.id]
    assert "mine" not in "".join(path.read_text(errors="replace") for path in failed.iterdir())
    parcel.packed(failed)
    for name, value in (("key", "k"), ("shards", [])):
        write_json(store.path / "run.json", {**read_json(store.path / "run.json"), name: value})
    merged = merging.merge([store], Store(tmp_path / "all"))
    assert isinstance(merged, merging.Merged)
    assert merged.failed == (TRIAL.id,)


ERRORS = (
    ValueError("x\x1b[31m"),
    KeyError("x"),
    MemoryError(),
    RecursionError("too deep"),
    OSError(5, "gone"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"),
    AssertionError("BUG: x"),
    ZeroDivisionError(),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_an_error_of_one_trial_is_its_own(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is: it was the end of the sweep, and the trials that followed were not carried out."""

    def run(trial: Trial, made: Any, folder: Path, **options: Any) -> Any:
        if trial.id == TRIAL.id:
            raise error
        write_result(folder, trial, result := make_result(trial))
        return result

    monkeypatch.setattr(sweep.runner, "run", run)
    store, summary = swept(tmp_path / "run")
    assert [trial.id for trial, _ in summary.failures] == [TRIAL.id]
    assert len(summary.results) == 2
    assert store.failures().keys() == {TRIAL.id}
    said = str(summary.failures[0][1])
    assert said.startswith(f"{type(error).__name__}: ")
    assert "test_remains.py:" in said
    assert said.isprintable()


def test_a_full_disk_is_still_a_full_disk() -> None:
    with pytest.raises(OSError, match="No space"), remains.read():
        raise OSError(28, "No space left on device")
    with pytest.raises(DiskFull), remains.read():
        raise DiskFull(Path("x"), "full")


@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_evidence_that_nobody_can_read_is_a_failed_trial(error: Exception) -> None:
    with pytest.raises(TrialError, match="what the trial left cannot be read: ") as raised, remains.read():
        raise error
    assert raised.value.__cause__ is error
    assert str(raised.value).isprintable()


def finished(folder: Path) -> Store:
    """A finished run of somebody else's, whom nobody tidied up after."""
    store = Store(folder)
    store.create("made", {}, [trial.id for trial in TRIALS], [key for key, _ in TRIALS[0].params], share={"key": "k"})
    for trial in TRIALS:
        (store.path / "trials" / trial.id).mkdir()
        write_result(store.path / "trials" / trial.id, trial, make_result(trial))
        (store.path / "trials" / trial.id / "steps.json").write_text("[]")
        (store.path / "trials" / trial.id / "plan.sh").write_text("true\n")
    return store


def told(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str]:
    """A command's exit code, and what it said; a traceback is an error."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    with monkeypatch.context() as patched:
        patched.setattr(sys, "argv", ["testbed", *words])
        patched.setattr(sys, "stdout", streams[0])
        patched.setattr(sys, "stderr", streams[1])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    said = ""
    for stream in streams:
        stream.flush()
        said += stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return int(ended.value.code or 0), said


READERS = (
    ("results", "DIR"),
    ("results", "DIR", "--format", "json"),
    ("report", "DIR", "-o", "OUT/r.html"),
    ("compare", "DIR", "OTHER"),
    ("query", "DIR", "SELECT count(*) FROM trials JOIN samples ON trial = id"),
    ("plot", "DIR", "timeseries", "-o", "OUT/x.png"),
    ("merge", "DIR", "OTHER", "-o", "OUT/all"),
    ("run", "--repeat", "TRIAL"),
    ("audit", "DIR"),
    ("doctor", "--same-as", "DIR"),
    ("clean", "--dry-run"),
)


def test_a_third_of_what_is_left_has_every_name_and_every_kind() -> None:
    few = [str(each.values[0]) for each in SPREAD if not any(mark.name == "slow" for mark in each.marks)]
    for name in NAMES:
        assert any(each.startswith(name) for each in few), name
    for kind in ("a link", "a pipe", "a folder", "of 1 TB", "with another name outside", "a device"):
        assert any(each.endswith(kind) for each in few), kind


@pytest.mark.parametrize("what", SPREAD)
def test_who_reads_results_of_others_reads_nothing_else_and_does_not_wait(
    what: str, tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All commands, on a run with such a thing in a trial's folder."""
    run, other = finished(tmp_path / "theirs"), finished(tmp_path / "other")
    leave(what, run.path / "trials" / TRIAL.id, outside)
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(sweep.runner, "run", _again)
    monkeypatch.setattr("testbed.commands.measure.run.run_trial", _again)
    places = {"DIR": run.path, "OTHER": other.path, "TRIAL": run.path / "trials" / TRIAL.id}
    for words in READERS:
        given = [str(places.get(word, word.replace("OUT", str(tmp_path / "out")))) for word in words]
        code, said = told(monkeypatch, *given)
        assert code in (0, 1, 2, 3, 4, 5), said
        assert "Traceback" not in said, (words, said)
        assert "mine" not in said
    copied = tmp_path / "out" / "all" / "trials" / TRIAL.id
    assert not copied.exists() or plain(copied)
    assert not any(b"mine" in data for data in files_of(tmp_path / "out").values())


def _again(trial: Trial, made: Any, folder: Path, **options: Any) -> Any:
    write_result(folder, trial, result := make_result(trial))
    (folder / "steps.json").write_text("[]")
    (folder / "plan.sh").write_text("true\n")
    return result


@pytest.mark.parametrize("kind", ["trials", "failed"])
def test_a_trial_that_is_a_link_to_elsewhere_is_not_merged(kind: str, tmp_path: Path, outside: Path) -> None:
    store, other = finished(tmp_path / "theirs"), finished(tmp_path / "other")
    strict_folder.remove(store.path, "trials", TRIAL.id)
    strict_folder.remove(other.path, "trials", TRIAL.id)
    (store.path / kind / TRIAL.id).symlink_to(outside)
    with pytest.raises(UserError, match="is a symbolic link"):
        merging.merge([store, other], Store(tmp_path / "all"))
    assert not any(b"mine" in data for data in files_of(tmp_path / "all").values())


def test_files_are_compared_to_their_last_byte(tmp_path: Path) -> None:
    for name, tail in (("a", b"x"), ("b", b"x"), ("c", b"y"), ("d", b"xx")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_bytes(bytes(3 << 20) + tail)
    assert same_files(tmp_path / "a", tmp_path / "b") == ()
    assert same_files(tmp_path / "a", tmp_path / "c") == ("f",)
    assert same_files(tmp_path / "a", tmp_path / "d") == ("f",)
    (tmp_path / "b" / "g").touch()
    assert same_files(tmp_path / "a", tmp_path / "b") == ("g",)


def test_an_audit_of_what_a_guest_left_is_no_pass(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = finished(tmp_path / "theirs")
    leave("new a pipe", store.path / "trials" / TRIAL.id, outside)
    monkeypatch.setattr(sweep.runner, "run", _again)
    with pytest.raises(UserError, match="new is no plain file"):
        auditing.audit(store, 3, 1, lambda prepared: sweep.run(prepared, 1, Silent()))
    assert read_result(store.path / "trials" / TRIALS[0].id).id == TRIALS[0].id
    assert orders(TRIAL).script
