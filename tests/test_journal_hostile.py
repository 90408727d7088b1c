"""A journal with entries that nobody of ours wrote: they are named and passed over, the others work, and nothing is
removed that has no mark of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed import journal
from testbed.cli import main
from testbed.interactive import leftover
from testbed.interactive.running_network import networks
from testbed.sweep.store import Store

NOBODY = 65534
KILLED = """
import os, sys
from pathlib import Path
from testbed import journal
with journal.folder_noted(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("written")
    os.kill(os.getpid(), 9)
"""
BEFORE = {"index": 1, "up": True, "promiscuous": False, "mtu_bytes": 1500, "lro": False, "no_ipv6": None}
NIC = {"nic": "eth9", "mtu_bytes": 1500, "space": "x", "owner": "y", "before": BEFORE}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's home with something that is dear to the user; a network is up all the time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "thesis" / "trials" / ".partial-x").mkdir(parents=True)
    (tmp_path / "thesis" / "text").write_text("mine")
    with journal.noted("network", "up", folder=str(tmp_path / "up"), since="2026-01-01T00:00:00+00:00"):
        yield tmp_path
    assert (tmp_path / "thesis" / "text").read_text() == "mine"
    assert (tmp_path / "thesis" / "trials" / ".partial-x").is_dir()


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A folder that other users may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def entry(kind: object = "folder", name: object = "x", about: object = None) -> str:
    return json.dumps({"kind": kind, "name": name, "about": {"folder": "/nowhere"} if about is None else about}) + "\n"


CONTENTS: dict[str, str | bytes] = {
    "nothing": "",
    "no line": entry().rstrip("\n"),
    "no JSON": "not JSON\n",
    "no text": b"\xff\xfe\n",
    "deep": "[" * 100_000 + "\n",
    "a large number": "1" * 10_000 + "\n",
    "large": " " * (2 << 20) + "\n",
    "a list": "[]\n",
    "a word": '"word"\n',
    "no keys": "{}\n",
    "a kind that is a list": entry(kind=[]),
    "another kind": entry(kind="run"),
    "another name": entry(name="y"),
    "a name that leads elsewhere": entry(name="../../thesis/text"),
    "about nothing": entry(about=[]),
    "no folder": entry(about={"more": 1}),
    "a folder that is a number": entry(about={"folder": 1}),
    "a folder that is no name": entry(about={"folder": "/a\0b"}),
    "a folder of half a character": entry(about={"folder": "/\ud800"}),
    "a folder from here": entry(about={"folder": "thesis"}),
}
OTHERS = {
    "network-x.json": entry("network", about={}),
    "run-x.json": entry("run", about={"folder": None}),
    "nic-x.json": entry("nic", about={"nic": "eth0"}),
    "nic-y.json": entry("nic", "y", {**NIC, "before": {}}),
    "nic-z.json": entry("nic", "z", {**NIC, "before": {**BEFORE, "mtu_bytes": "1500"}}),
}


def write(name: str, content: str | bytes) -> Path:
    path = journal.folder() / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs a command; its exit code, and what it prints. A traceback fails the test."""

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["testbed", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        code = ended.value.code
        return code if isinstance(code, int) else 0, out + err

    return run


def check(path: Path, says: Callable[..., tuple[int, str]]) -> None:
    """The commands work, and name the entry."""
    assert [str(each.path) for each in journal.unreadable()] == [str(path)]
    assert {each.name: is_held for each, is_held in journal.entries()} == {"up": True}
    assert [network.name for network in networks()] == ["up"]
    with leftover.leftovers() as found:
        assert found == []
    code, said = says("status")
    assert code == 0
    assert f"passed over: the journal entry {path}" in said
    assert says("down", "up") == (0, "up is down\n")
    code, said = says("clean")
    assert code == 1
    assert f"rm {path}" in said
    for words in (("-n", "none", "a"), ("a", "-n", "none"), ("a", "--name", "none")):
        assert "no network 'none' is up; allowed: up" in says("exec", *words, "--", "true")[1]
    assert "network.json of the network up cannot be read" in says("exec", "a", "--", "true")[1]
    assert os.path.lexists(path)


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_an_entry_that_cannot_be_read_is_named_and_the_others_work(
    content: str | bytes, says: Callable[..., tuple[int, str]]
) -> None:
    check(write("folder-x.json", content), says)


@pytest.mark.parametrize("name", OTHERS)
def test_an_entry_that_lacks_what_its_kind_says_is_named(name: str, says: Callable[..., tuple[int, str]]) -> None:
    check(write(name, OTHERS[name]), says)


MAKERS: dict[str, Callable[[Path, Path], Any]] = {
    "folder": lambda path, home: path.mkdir(),
    "pipe": lambda path, home: os.mkfifo(path),
    "link": lambda path, home: path.symlink_to(home / "thesis" / "text"),
    "link to nothing": lambda path, home: path.symlink_to(home / "nothing"),
    "link to itself": lambda path, home: path.symlink_to(path),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_is_no_file_is_no_entry(
    home: Path, make: Callable[[Path, Path], Any], says: Callable[..., tuple[int, str]]
) -> None:
    path = journal.folder() / "folder-x.json"
    make(path, home)
    check(path, says)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_entry_of_another_user_is_none_of_ours(home: Path, says: Callable[..., tuple[int, str]]) -> None:
    path = write("folder-x.json", entry(about={"folder": str(home / "thesis")}))
    os.chown(path, NOBODY, NOBODY)
    check(path, says)


@pytest.mark.skipif(os.geteuid() != 0, reason="root opens everything, and only root can become somebody else")
def test_an_entry_that_may_not_be_opened_does_not_disable_the_commands(open_home: Path) -> None:
    """As an ordinary user, whose journal root wrote to."""
    cache = open_home / "theirs"
    folder = cache / "testbed" / "journal"
    folder.mkdir(parents=True)
    (folder / "folder-x.json").write_text(entry())
    (folder / "folder-x.json").chmod(0o600)
    for path in (cache, cache / "testbed", folder):
        os.chown(path, NOBODY, NOBODY)
    words = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", sys.executable, "-c")
    command = "import sys; from testbed.cli import main; main()"
    where = {"PATH": os.environ["PATH"], "HOME": str(open_home), "XDG_CACHE_HOME": str(cache)}
    where |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONDONTWRITEBYTECODE": "1"}
    said = subprocess.run((*words, command, "status"), env=where, cwd="/", capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, "no network is running; to start one, type: testbed up TOPOLOGY\n")
    assert "cannot be opened (Permission denied)" in said.stderr


@pytest.mark.parametrize("kind", ["folder", "network", "run"])
def test_what_has_no_mark_of_ours_stays_whatever_an_entry_says(
    home: Path, kind: str, says: Callable[..., tuple[int, str]]
) -> None:
    path = write(f"{kind}-x.json", entry(kind, about={"folder": str(home / "thesis")}))
    said = says("clean", "--dry-run")
    assert "would remove" not in said[1]
    code, said_then = says("clean")
    assert "\nremoved:" not in f"\n{said_then}"
    if kind == "run":  # there is nothing of ours, so the entry is done with
        assert code == 0
    else:
        assert code == 1
        assert f"folder {home / 'thesis'}" in said_then
        assert "it has no mark of ours" in said_then
        assert path.exists()


@pytest.mark.parametrize("content", ["folder-y.json", "", "x" * 10_000])
def test_the_mark_of_something_else_is_none(home: Path, content: str, says: Callable[..., tuple[int, str]]) -> None:
    (home / "thesis" / journal.MARK).write_text(content)
    write("folder-x.json", entry(about={"folder": str(home / "thesis")}))
    assert "it has the mark of something else" in says("clean")[1]


def test_a_link_to_a_folder_with_a_mark_is_not_followed(home: Path, says: Callable[..., tuple[int, str]]) -> None:
    (home / "thesis" / journal.MARK).write_text("folder-x.json")
    (home / "way").symlink_to(home / "thesis")
    write("folder-x.json", entry(about={"folder": str(home / "way")}))
    assert "it is no folder" in says("clean")[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_stays(home: Path, says: Callable[..., tuple[int, str]]) -> None:
    theirs = home / "theirs"
    theirs.mkdir()
    (theirs / journal.MARK).write_text("folder-x.json")
    os.chown(theirs, NOBODY, NOBODY)
    write("folder-x.json", entry(about={"folder": str(theirs)}))
    assert "it belongs to another user" in says("clean")[1]
    assert theirs.exists()


def test_a_folder_that_we_marked_goes_after_a_kill(home: Path, says: Callable[..., tuple[int, str]]) -> None:
    done = subprocess.run((sys.executable, "-c", KILLED, home / "mine"))
    assert done.returncode == -9
    assert (home / "mine" / "half").exists()
    assert (home / "mine").stat().st_mode & 0o777 == 0o700
    assert says("clean") == (0, f"removed: folder {home / 'mine'}\n")
    assert not (home / "mine").exists()


def test_half_written_files_go_only_from_a_folder_that_a_run_of_ours_locked(
    home: Path, says: Callable[..., tuple[int, str]]
) -> None:
    store = Store(home / "results")
    (store.path / "trials" / ".partial-x").mkdir(parents=True)
    about = {"folder": str(store.path)}
    write("run-x.json", entry("run", about=about))
    assert "removed:" not in says("clean")[1]
    with store.ours():
        pass
    write("run-x.json", entry("run", about=about))
    assert says("clean") == (0, f"removed: half-written {store.path}/trials/.partial-x\n")


def test_entries_and_their_folder_are_ours_alone_whatever_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        with journal.noted("folder", "other", folder="/nowhere") as held, journal.folder_noted(home / "mine") as folder:
            modes = [path.stat().st_mode & 0o777 for path in (held.entry.path, journal.folder(), folder)]
    finally:
        os.umask(before)
    assert modes == [0o600, 0o700, 0o700]
