"""The journal: whoever keeps an entry holds it, and what nobody holds is left by somebody who was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed import journal
from testbed.error import MachineError
from testbed.interactive import leftover
from testbed.sweep.store import Store
from testbed.trial.folder import PARTIAL

KILLED = """
import os, sys
from pathlib import Path
from testbed import journal
held = journal.note("folder", "mine", folder=sys.argv[1])
Path(sys.argv[1]).mkdir()
held.update(more=1)
print("noted", flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def held() -> dict[str, bool]:
    return {entry.name: is_held for entry, is_held in journal.entries()}


def killed(folder: Path) -> None:
    done = subprocess.run((sys.executable, "-c", KILLED, folder), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-9, "noted\n"), done.stderr


def test_an_entry_is_there_while_the_block_goes_on() -> None:
    with journal.noted("folder", "mine", folder="/nowhere"):
        assert held() == {"mine": True}
        with journal.orphans() as found:
            assert found == []
    assert held() == {}


def test_there_is_one_entry_of_a_name() -> None:
    with journal.noted("folder", "mine", folder="/nowhere"), pytest.raises(journal.Taken):
        journal.note("folder", "mine", folder="/elsewhere")
    assert held() == {}
    assert list(journal.folder().iterdir()) == []


def test_an_entry_that_was_handed_on_is_held_as_long_as_anybody_has_it() -> None:
    ours = journal.note("folder", "mine", folder="/nowhere")
    again = journal.adopt(ours.entry.path, os.dup(ours.descriptor)).update(since="now")
    os.close(ours.descriptor)
    assert held() == {"mine": True}
    assert [entry.about for entry, _ in journal.entries()] == [{"folder": "/nowhere", "since": "now"}]
    again.remove()
    assert held() == {}


def test_what_a_killed_process_noted_is_found_and_removed_and_nothing_else(home: Path) -> None:
    (home / "somebodys").mkdir()
    killed(home / "mine")
    assert held() == {"mine": False}
    with pytest.raises(journal.Taken):
        journal.note("folder", "mine", folder=str(home / "mine"))
    with leftover.leftovers() as found:
        ((entry, (piece,)),) = found
        assert entry is not None
        assert entry.about == {"folder": str(home / "mine"), "more": 1}
        piece.remove()
        entry.path.unlink()
    assert {path.name for path in home.iterdir()} == {"cache", "somebodys"}
    assert held() == {}


def test_an_entry_that_was_cut_off_says_what_it_said_before(home: Path) -> None:
    killed(home / "mine")
    (path,) = journal.folder().iterdir()
    with path.open("a") as file:
        file.write('{"kind": "folder", "name": "mi')
    assert [entry.about["more"] for entry, _ in journal.entries()] == [1]


def test_entries_of_a_kind_that_we_do_not_know_are_kept(home: Path) -> None:
    killed(home / "mine")
    (path,) = journal.folder().iterdir()
    path.write_text(path.read_text().replace('"folder", "name"', '"future", "name"'))
    with leftover.leftovers() as found:
        assert found == []
    assert path.exists()


def test_half_written_files_of_a_killed_run_go_unless_another_run_is_there(home: Path) -> None:
    store = Store(home / "results")
    with store.locked():
        (store.path / "trials" / f"{PARTIAL}x").mkdir(parents=True)
        with leftover.leftovers() as found:
            assert found == []
        (path,) = journal.folder().iterdir()
        text = path.read_text()
    path.write_text(text)  # as if we had been killed
    with store.ours(), leftover.leftovers() as found:
        assert [pieces for _, pieces in found] == [[]]
    with leftover.leftovers() as found:
        ((_, (piece,)),) = found
        assert piece.what == f"half-written {store.path}/trials/{PARTIAL}x"
        piece.remove()
    assert store.partials() == []


def test_a_journal_that_cannot_be_written_says_what_to_type(home: Path) -> None:
    (home / "cache").write_text("in the way")
    with pytest.raises(
        MachineError, match=r"the journal .* cannot be written \(Not a directory\); to fix it, type: export"
    ):
        journal.note("folder", "mine", folder="/nowhere")


GRADED = """
import os
from testbed.exercise import check
with check._scratch() as folder:
    (folder / "given").mkdir()
    os.kill(os.getpid(), 9)
"""
CLUSTERED = """
import asyncio, os
import distributed
from testbed.sweep.cluster import place
distributed.LocalCluster = lambda **options: os.kill(os.getpid(), 9)
async def main():
    async with place._local(1):
        pass
asyncio.run(main())
"""


@pytest.mark.parametrize(("code", "name"), [(GRADED, "check-"), (CLUSTERED, "testbed-workers-")])
def test_the_folders_of_killed_gradings_and_of_killed_local_workers_are_found(home: Path, code: str, name: str) -> None:
    if code == CLUSTERED:
        pytest.importorskip("distributed")
    done = subprocess.run(
        (sys.executable, "-c", code), env=os.environ | {"TMPDIR": str(home)}, capture_output=True, text=True
    )
    assert done.returncode == -9, done.stderr
    (left,) = home.rglob(f"{name}*[!n]")
    assert left.is_dir()
    with leftover.leftovers() as found:
        ((_, (piece,)),) = found
        assert (piece.what, piece.stays) == (f"folder {left}", None)
        piece.remove()
    assert not left.exists()
