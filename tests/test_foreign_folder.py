"""Results folders that somebody else filled: a link in one is never a way out, and only what we made is removed; locks
that nobody else can take.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from runs import make_result, make_trials, read_json, write_result
from storedruns import Made, write_run

from testbed.cache_folder import make, open_lock, private, try_lock, user_folder
from testbed.cli import main
from testbed.error import MachineError, TestbedError, UserError
from testbed.kernel.image.cache import Cache
from testbed.kernel.lab import reserved
from testbed.sweep.store import Store
from testbed.trial import strict_folder
from testbed.trial.folder import write_json, write_text

TRIAL = make_trials(["10 ms"], 1)[0]
NOBODY = 65534
PR_SET_DUMPABLE = 4
SPEC = {"scenario.yaml": "scenario.yaml"}


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder of the user's, which is afterwards as it was."""
    folder = tmp_path / "private"
    (folder / TRIAL.id).mkdir(parents=True)
    for path in (folder / "key", folder / TRIAL.id / "thesis"):
        path.write_text("mine")
    yield folder
    assert sorted(path.name for path in folder.rglob("*")) == sorted([TRIAL.id, "key", "thesis"])
    assert {(folder / "key").read_text(), (folder / TRIAL.id / "thesis").read_text()} == {"mine"}


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "given.yaml").write_text("name: given\n")
    return {"scenario.yaml": str(tmp_path / "given.yaml")}


def foreign(tmp_path: Path, link: str, target: Path) -> Store:
    """A folder of results with a link in it."""
    store = Store(tmp_path / "results")
    store.create("made", {}, [TRIAL.id], [key for key, _ in TRIAL.params])
    path = store.path / link
    if path.is_dir():
        path.rmdir()
    path.symlink_to(target)
    return store


def use(store: Store, spec: dict[str, str]) -> None:
    """What `testbed run` does with a folder: a trial that fails, one that is carried out, and tidying up."""
    with store.locked():
        store.create("made", spec, [TRIAL.id], [key for key, _ in TRIAL.params])
        store.discard_partial()
        with pytest.raises(TestbedError, match="no luck"), store.writing(TRIAL):
            raise TestbedError("no luck")
        with store.writing(TRIAL) as folder:
            write_result(folder, TRIAL, make_result(TRIAL))
        store.discard_partial()
    with store.ours():
        for path in store.partials():
            store.discard(path)


@pytest.mark.parametrize("link", ["trials", "failed", "spec"])
def test_a_folder_of_the_run_that_is_a_link_is_refused(
    tmp_path: Path, outside: Path, spec: dict[str, str], link: str
) -> None:
    store = foreign(tmp_path, link, outside)
    with pytest.raises(UserError, match=f"results/{link} is a symbolic link"):
        use(store, spec)


@pytest.mark.parametrize("target", ["key", "new"])
def test_a_lock_that_is_a_link_is_refused(tmp_path: Path, outside: Path, spec: dict[str, str], target: str) -> None:
    with pytest.raises(UserError, match="results/lock is a symbolic link"):
        use(foreign(tmp_path, "lock", outside / target), spec)


@pytest.mark.parametrize("link", ["spec/scenario.yaml", "run.json", ".partial-x", "trials/.partial-x"])
def test_files_that_are_links_are_replaced_or_left_and_their_targets_stay(
    tmp_path: Path, outside: Path, spec: dict[str, str], link: str
) -> None:
    store = Store(tmp_path / "results")
    store.create("made", {}, [TRIAL.id])
    path = store.path / link
    path.unlink(missing_ok=True)
    path.symlink_to(outside / "key")
    use(store, spec)
    assert path.is_symlink() == path.name.startswith(".partial-")
    assert (store.path / "spec" / "scenario.yaml").read_text() == "name: given\n"
    assert store.finished(TRIAL) is not None


def test_a_failed_trial_that_is_a_link_is_refused(tmp_path: Path, outside: Path) -> None:
    store = foreign(tmp_path, f"failed/{TRIAL.id}", outside / TRIAL.id)
    with pytest.raises(UserError, match="is a symbolic link"), store.writing(TRIAL):
        raise TestbedError("no luck")
    (store.path / "trials" / TRIAL.id).mkdir()
    store.discard_partial()


def test_a_half_written_folder_with_links_goes_and_their_targets_stay(tmp_path: Path, outside: Path) -> None:
    store = foreign(tmp_path, "notes", outside)
    partial = store.path / "trials" / ".partial-x"
    partial.mkdir()
    (partial / "folder").symlink_to(outside)
    (partial / "file").symlink_to(outside / "key")
    store.discard_partial()
    assert not partial.exists()


def test_what_a_failed_trial_did_not_leave_stays(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    store.create("made", {}, [TRIAL.id])
    (store.path / "trials" / TRIAL.id).mkdir()
    theirs = store.path / "failed" / TRIAL.id / "thesis"
    theirs.parent.mkdir()
    theirs.write_text("mine")
    store.discard_partial()
    assert theirs.read_text() == "mine"
    (theirs.parent / "error.txt").write_text("no luck")
    store.discard_partial()
    assert not theirs.exists()


@pytest.mark.parametrize("id", ["../../private", "/etc", "..", ".", "", "a/b", "a\0b"])
def test_trials_whose_names_lead_elsewhere_are_refused(tmp_path: Path, id: str) -> None:
    store = Store(tmp_path / "results")
    store.create("made", {}, [TRIAL.id])
    about = read_json(store.path / "run.json")
    write_json(store.path / "run.json", {**about, "trials": [id]})
    with pytest.raises(UserError, match="has no list of trials"):
        store.results()
    with pytest.raises(UserError, match="is not the name of"):
        strict_folder.write(store.path, id, data=b"")


def test_the_report_replaces_a_link_and_a_file_that_the_user_names_is_written(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "results", [Made({"path.rtt": "10 ms"}, [80e6])])
    (run / "report.html").symlink_to(outside / "key")
    monkeypatch.setattr(sys, "argv", ["testbed", "report", str(run)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    assert not (run / "report.html").is_symlink()
    assert (run / "report.html").read_text().startswith("<!doctype html>")


def test_a_file_that_is_a_link_is_replaced_where_we_choose_its_name(tmp_path: Path, outside: Path) -> None:
    for name, write in (("json", lambda path: write_json(path, 1)), ("text", lambda path: write_text(path, "x"))):
        (tmp_path / name).symlink_to(outside / "key")
        write(tmp_path / name)
        assert not (tmp_path / name).is_symlink()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def locked_results(home: Path) -> Path:
    with Store(home / "results").ours():
        return home / "results" / "lock"


def locked_core(home: Path) -> Path:
    with reserved() as core:
        return user_folder() / "cores" / str(core)


def locked_kernels(home: Path) -> Path:
    with Cache(user_folder() / "kernels").lock(lambda: None):
        return user_folder() / "kernels" / ".lock"


LOCKS = [locked_results, locked_core, locked_kernels]


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("was", [None, 0o644, 0o666])
@pytest.mark.usefixtures("open_to_all")
def test_nobody_else_can_open_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: Callable[[Path], Path], was: int | None
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = lock(tmp_path)
    if was is not None:
        path.chmod(was)
        path = lock(tmp_path)
    assert mode(path) == 0o600
    assert path.stat().st_uid == path.parent.stat().st_uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("lock", LOCKS)
def test_another_user_cannot_take_a_lock(monkeypatch: pytest.MonkeyPatch, lock: Callable[[Path], Path]) -> None:
    """Even where all the folders are open."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        path = lock(home)
        for folder in [each for each in path.parents if home in (each, *each.parents)]:
            folder.chmod(0o755)
        taken = _taken_by_another(path)
    assert taken.returncode != 0
    assert "Permission denied" in taken.stderr


def _taken_by_another(path: Path) -> subprocess.CompletedProcess[str]:
    words = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "flock", "-n", path, "true")
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_lock_that_root_makes_belongs_to_the_owner_of_the_folder(tmp_path: Path) -> None:
    os.chown(tmp_path, NOBODY, NOBODY)
    os.close(open_lock(tmp_path / "lock"))
    assert (tmp_path / "lock").stat().st_uid == NOBODY


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_what_is_no_lock_file_is_not_used_as_one(tmp_path: Path, kind: str) -> None:
    target, path = tmp_path / "target", tmp_path / "lock"
    target.write_text("mine")
    target.chmod(0o644)
    make: dict[str, Callable[[], object]] = {
        "link": lambda: path.symlink_to(target),
        "hard link": lambda: path.hardlink_to(target),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }
    make[kind]()
    with pytest.raises(UserError), Store(tmp_path).ours():
        pass
    assert mode(target) == 0o644


def test_a_lock_keeps_out_whoever_comes_second(tmp_path: Path) -> None:
    first, second = open_lock(tmp_path / "lock"), open_lock(tmp_path / "lock", make=False)
    assert try_lock(first)
    assert not try_lock(second)
    assert not try_lock(second, fcntl.LOCK_SH)
    os.close(first)
    assert try_lock(second)
    os.close(second)


@pytest.mark.usefixtures("open_to_all")
def test_the_cache_is_its_users_alone_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new" / "cache"))
    folder = private("journal")
    assert [mode(each) for each in (folder, folder.parent, folder.parent.parent, tmp_path / "new")] == [0o700] * 4
    folder.chmod(0o777)
    assert mode(private("journal")) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_the_cache_that_is_somebody_elses_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = private("journal")
    os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(MachineError, match="belongs to another user; to fix it, type: export XDG_CACHE_HOME"):
        private("journal")
    for key in ("SUDO_UID", "SUDO_GID"):
        monkeypatch.setenv(key, str(NOBODY))
    assert private("journal") == folder  # root may use that of who typed sudo
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MachineError, match="belongs to another user; to fix it, type: export XDG_CACHE_HOME"):
        private("journal")


def test_tidying_up_a_folder_that_is_a_link_leaves_what_it_leads_to(tmp_path: Path, outside: Path) -> None:
    store = foreign(tmp_path, "failed", outside)
    (store.path / "trials" / TRIAL.id).mkdir()
    with pytest.raises(UserError, match="results/failed is a symbolic link"):
        store.discard_partial()
    shutil.rmtree(store.path)


@pytest.mark.parametrize("depth", [1, 1200])
@pytest.mark.parametrize("mode", [0o700, 0o300, 0o000])
@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, whom modes bind")
def test_what_a_guest_left_is_removed_however_deep_and_whoever_may_enter_it(depth: int, mode: int) -> None:
    home = Path(tempfile.mkdtemp())
    home.chmod(0o777)
    child = os.fork()
    if child == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1)  # else it could not see its own descriptors
        left = home / "left"
        left.mkdir()
        (left / "link").symlink_to("/etc")
        os.chdir(left)
        for _ in range(depth):
            os.mkdir("deep")
            os.chdir("deep")
        os.chmod(".", mode)
        os.chdir(home)
        strict_folder.remove(home, "left")
        os._exit(left.exists())
    assert os.waitpid(child, 0)[1] == 0
    assert Path("/etc/passwd").exists()
    home.rmdir()


def test_a_cache_where_no_folder_can_be_made_is_an_error_and_no_endless_search() -> None:
    with pytest.raises(FileNotFoundError):
        make(Path("/proc/self/none/testbed"))
