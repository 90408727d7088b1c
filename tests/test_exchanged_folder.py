"""Somebody else exchanges folders for links while we write, move and remove below them: at every step, and in a race.
What the links lead to stays as it is. Folders that others could exchange are refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from runs import make_trials

from testbed.error import TestbedError, UserError
from testbed.sweep.store import Store
from testbed.trial import folder, strict_folder, trusted_path

TRIAL = make_trials(["10 ms"], 1)[0]
NOBODY = 65534
PARTIAL = ".partial-"
STEPS = ("open", "mkdir", "rename", "replace", "unlink", "rmdir", "chmod", "fchmod", "stat", "lstat", "readlink")
VICTIMS = ("results", "results/trials", "results/failed", "results/spec", f"results/trials/{PARTIAL}")
NAMED = (VICTIMS[0], VICTIMS[-1])

root = pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")


class Home:
    """A folder with results, and one that is private, with the names that results have."""

    def __init__(self, path: Path) -> None:
        self.path, self.private, self.store = path, path / "private", Store(path / "results")
        path.chmod(0o755)
        for name in ("trials", "failed", "spec"):
            inner = self.private / name / TRIAL.id
            inner.mkdir(parents=True)
            (inner / "error.txt").write_text("mine")
            (self.private / name / f"{PARTIAL}old").mkdir()
            (self.private / name / f"{PARTIAL}old" / "thesis").write_text("mine")
        for name in ("lock", "run.json", "scenario.yaml", f"{PARTIAL}old", "error.txt"):
            (self.private / name).write_text("mine")
        (self.path / "given.yaml").write_text("name: given\n")
        for each in (self.private, *self.private.rglob("*")):
            each.chmod(0o750 if each.is_dir() else 0o640)
        self.before = self.seen()

    def seen(self) -> list[tuple[object, ...]]:
        """All that is private, with its modes, owners and contents."""
        found = sorted((self.private, *self.private.rglob("*")))
        abouts = ((path, path.lstat()) for path in found)
        return [
            (path, about.st_ino, about.st_mode, about.st_uid, path.read_text() if path.is_file() else "")
            for path, about in abouts
        ]

    def exchange(self, victim: str) -> bool:
        """Puts a link in the place of a folder, as another user where there is one; whether there is such a folder."""
        name = self.path / victim
        found = sorted(name.parent.glob(f"{name.name}*")) if victim.endswith(PARTIAL) else [name]
        if not found or found[0].is_symlink() or not found[0].exists():
            return False
        found[0].rename(self.path / "aside")
        found[0].symlink_to(self.private)
        if os.geteuid() == 0:
            os.lchown(found[0], NOBODY, NOBODY)
        return True

    def use(self) -> None:
        """What runs and merges do with a folder: a trial that fails, one that is carried out, and tidying up."""
        with self.store.locked():
            self.store.create("made", {"scenario.yaml": str(self.path / "given.yaml")}, [TRIAL.id])
            self.store.discard_partial()
            with contextlib.suppress(TestbedError), self.store.writing(TRIAL):
                raise TestbedError("no luck")
            with self.store.writing(TRIAL) as place:
                strict_folder.write(place, "result.json", data=b"{}")
            self.store.list_trials([TRIAL.id])
            self.store.discard_partial()


def counted(monkeypatch: pytest.MonkeyPatch, at: int, do: Callable[[], None]) -> list[str]:
    """Has `do` called before the step of this number among all calls of the system; the steps so far."""
    steps: list[str] = []

    def wrapped(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*words: object, **options: object) -> object:
            steps.append(name)
            if len(steps) == at:
                do()
            return real(*words, **options)

        return call

    for name in STEPS:
        monkeypatch.setattr(os, name, wrapped(name))
    return steps


def used(home: Home, victim: str, at: int) -> tuple[int, bool]:
    """How many steps there were with an exchange before the step of this number, and whether there was one."""
    done: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        steps = counted(patch, at, lambda: done.append(home.exchange(victim)))
        with contextlib.suppress(TestbedError, OSError):
            home.use()
    return len(steps), any(done)


@pytest.mark.slow
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_folder_that_is_exchanged_at_any_step_is_no_way_out(tmp_path: Path, victim: str) -> None:
    """A folder that the user names may be a link of the user's own, so for such another user is needed."""
    if victim in NAMED and os.geteuid() != 0:
        pytest.skip("another user is needed")
    at = exchanged = 0
    steps = 1
    while at < steps:
        at += 1
        place = tmp_path / str(at)
        place.mkdir()
        home = Home(place)
        steps, done = used(home, victim, at)
        exchanged += done
        assert home.seen() == home.before, f"exchanged before step {at}"
        shutil.rmtree(place)
    assert exchanged > 20


SWAPS = int(os.environ.get("TESTBED_SWAPS", "500"))
"""How often names are exchanged in each race, at least."""
EXCHANGE, HERE = 2, -100


def put(home: Path) -> None:
    with folder.partial(home / "results" / "trials") as made:
        made.put(home / "results", "failed", "x")


def dropped(home: Path) -> None:
    with folder.partial(home / "results" / "trials") as made:
        strict_folder.write(made.path, "half", data=b"written")


def removed(home: Path) -> None:
    strict_folder.remove(home / "results", "failed", TRIAL.id)
    strict_folder.remove_tree(home / "results" / "failed" / TRIAL.id)


def written(home: Path) -> None:
    strict_folder.write(home / "results", "spec", "scenario.yaml", data=b"")
    folder.replace_json(home / "results" / "run.json", {})
    folder.write_text(home / "results" / "error.txt", "new")


def locked(home: Path) -> None:
    os.close(Store(home / "results")._lock(make=True))


def listed(home: Path) -> None:
    strict_folder.make(home / "results", "trials")
    for path in Store(home / "results").partials():
        strict_folder.remove(home / "results", *path.relative_to(home / "results").parts)


@root
@pytest.mark.parametrize("do", [put, dropped, removed, written, locked, listed])
def test_another_user_who_exchanges_names_all_the_time_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, do: Callable[[Path], None]
) -> None:
    """Even in a folder of that user, which a run would refuse."""
    monkeypatch.setattr(trusted_path, "refuse_shared", lambda where, about: None)
    with tempfile.TemporaryDirectory() as top:
        place = Path(top)
        home = Home(place)
        os.close(os.open(place / "count", os.O_CREAT | os.O_RDWR))
        results = place / "results"
        for each in ("trials", "failed", "spec"):
            (results / each / TRIAL.id).mkdir(parents=True)
        place.chmod(0o777)
        for each in (results, *results.rglob("*"), place / "count"):
            os.chown(each, NOBODY, NOBODY)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                exchange_all_the_time(place)
            os._exit(1)
        try:
            ended = 0
            while (place / "count").stat().st_size < SWAPS:
                with contextlib.suppress(TestbedError, OSError):
                    do(place)
                    ended += 1
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        print(f"{do.__name__}: {(place / 'count').stat().st_size} exchanges, {ended} times to the end")
        assert home.seen() == home.before


def exchange_all_the_time(place: Path) -> None:
    """As nobody: names in the folder, and the folder itself, for links to what is private. Counts in a file."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    exchange = ctypes.CDLL(None).renameat2
    count = os.open(place / "count", os.O_WRONLY | os.O_APPEND)
    results, link = place / "results", place / "link"
    link.symlink_to(place / "private")
    beside = results / ".link"
    beside.symlink_to(place / "private")
    while True:
        names = [results / name for name in ("trials", "failed", "spec", "lock", "run.json")]
        with contextlib.suppress(OSError):
            names += [results / "trials" / inner for inner in os.listdir(results / "trials")]
        with contextlib.suppress(OSError):
            (results / "failed" / TRIAL.id / "deep").mkdir(parents=True)
        for number, victim in enumerate([*names, results]):
            with_what = os.fsencode(link if victim == results or number % 2 else beside)
            done = exchange(HERE, os.fsencode(victim), HERE, with_what, EXCHANGE) == 0
            os.sched_yield()
            if done:
                os.write(count, b".")
                exchange(HERE, os.fsencode(victim), HERE, with_what, EXCHANGE)


OTHERS_GROUP = 54321


@root
@pytest.mark.parametrize(
    ("mode", "uid", "gid", "sudo", "refused"),
    [
        (0o755, 0, 0, None, None),
        (0o711, 0, 0, None, None),
        (0o1777, 0, 0, None, None),
        (0o2775, 0, 0, None, None),
        (0o755, NOBODY, NOBODY, str(NOBODY), None),
        (0o2775, NOBODY, OTHERS_GROUP, str(NOBODY), None),
        (0o755, NOBODY, NOBODY, None, "belongs to the user nobody.*allowed: -o with a folder of yours"),
        (0o755, NOBODY, NOBODY, "1", "belongs to the user nobody"),
        (0o700, 54321, 0, None, "belongs to the user number 54321"),
        (0o1777, NOBODY, NOBODY, None, "belongs to the user nobody"),
        (0o777, 0, 0, None, "may be written to by everybody.*chmod o-w"),
        (0o775, 0, OTHERS_GROUP, None, "may be written to by the group number 54321.*chmod g-w"),
    ],
)
@pytest.mark.parametrize("place", ["results", "results/trials", ".", "above"])
def test_a_results_folder_that_others_could_exchange_is_refused_and_no_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    mode: int,
    uid: int,
    gid: int,
    sudo: str | None,
    refused: str | None,
) -> None:
    if sudo is not None:
        monkeypatch.setenv("SUDO_UID", sudo)
        monkeypatch.setenv("SUDO_GID", str(OTHERS_GROUP))
    home = tmp_path / "above" / "home"
    changed = home / place if place != "above" else home.parent
    (home / place).mkdir(parents=True)
    changed.chmod(mode)
    os.chown(changed, uid, gid)
    (tmp_path / "given.yaml").write_text("name: given\n")
    store = Store(home / "results")

    def run() -> None:
        with store.locked():
            store.create("made", {"scenario.yaml": str(tmp_path / "given.yaml")}, [TRIAL.id])

    if refused is None:
        run()
        assert store.ids == (TRIAL.id,)
        return
    with pytest.raises(UserError, match=refused) as raised:
        run()
    assert str(raised.value).startswith(str(changed))
    assert not (store.path / "run.json").exists()


@root
def test_a_folder_through_another_users_link_is_refused_and_through_ones_own_is_not(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    with Store(tmp_path / "link" / "run").locked():
        pass
    assert (tmp_path / "there" / "run" / "lock").exists()
    os.lchown(tmp_path / "link", NOBODY, NOBODY)
    with (
        pytest.raises(UserError, match="link is a symbolic link of the user nobody"),
        Store(tmp_path / "link").locked(),
    ):
        pass


def test_links_in_a_circle_have_an_end(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(UserError, match="cannot be written: Too many levels"), Store(tmp_path / "one" / "x").locked():
        pass


@root
@pytest.mark.parametrize(("owner", "group", "refused"), [(0, NOBODY, False), (1, NOBODY, True), (0, 1, True)])
def test_an_ordinary_user_has_results_in_a_folder_of_the_own_group_and_not_in_another_users(
    owner: int, group: int, refused: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        lab = Path(name) / "lab"
        lab.mkdir()
        Path(name).chmod(0o711)
        os.chown(lab, owner, group)
        lab.chmod(0o2775 if refused and owner == 0 else 0o2770)
        lab.chmod(0o2777 if refused and owner else lab.stat().st_mode)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                try:
                    strict_folder.make_own(lab / "a" / "run")
                except UserError:
                    os._exit(1)
                os._exit(0)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == refused


def test_what_is_nested_deep_goes_without_a_descriptor_for_each_folder(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    before = Path.cwd()
    os.chdir(top)
    try:
        for _ in range(3000):
            os.mkdir("deep")
            Path("file").write_text("")
            os.chdir("deep")
    finally:
        os.chdir(before)
    strict_folder.remove_tree(top)
    assert not top.exists()


def test_a_file_that_is_named_keeps_its_mode_and_its_link_and_is_whole_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old.html").write_text("old")
    (tmp_path / "old.html").chmod(0o640)
    (tmp_path / "link").symlink_to("old.html")
    folder.write_named(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "old.html").read_text(), (tmp_path / "old.html").stat().st_mode & 0o777) == ("new", 0o640)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        folder.write_named(tmp_path / "link", "newer")
    assert (tmp_path / "old.html").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "old.html"]


def test_a_pipe_that_is_named_gets_the_text(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    folder.write_named(tmp_path / "pipe", "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
