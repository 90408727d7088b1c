"""A shelf holds whole things only, whoever is killed while one is made."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from testbed.error import MachineError
from testbed.kernel.shelf import Shelf, write


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Shelf(tmp_path / "cache" / "testbed" / "things", "thing.json")


def put(shelf: Shelf, name: str, text: str) -> Path:
    with shelf.partial() as partial:
        made = partial / "made"
        made.mkdir()
        (made / "text").write_text(text)
        return shelf.put(made, name, {"text": text})


def test_a_thing_replaces_the_one_of_its_name_and_leaves_nothing_beside_it(shelf: Shelf) -> None:
    put(shelf, "a", "old")
    home = put(shelf, "a", "new")
    assert (home / "text").read_text() == "new"
    assert list(shelf.things()) == [(home, {"text": "new"})]
    assert [path.name for path in shelf.folder.iterdir()] == ["a"]


def test_the_last_one_made_is_the_last(shelf: Shelf) -> None:
    for at_s, name in enumerate(("b", "a", "c")):
        os.utime(put(shelf, name, name) / "thing.json", (at_s, at_s))
    assert [home.name for home, _ in shelf.things()] == ["b", "a", "c"]


@pytest.mark.parametrize("text", ["", "{", "[]", "7"])
def test_a_thing_with_a_damaged_record_does_not_count(shelf: Shelf, text: str) -> None:
    (put(shelf, "a", "x") / "thing.json").write_text(text)
    assert shelf.known("a") is None
    assert list(shelf.things()) == []


def test_what_fails_while_it_is_made_leaves_nothing(shelf: Shelf) -> None:
    def fail() -> None:
        with shelf.partial() as partial:
            (partial / "half").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(shelf.folder.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_lock(shelf: Shelf) -> None:
    left = shelf.folder / ".partial-1-abcd"
    left.mkdir(parents=True)
    waited: list[bool] = []
    with shelf.lock(lambda: waited.append(True)):
        assert not left.exists()
    assert waited == []


def test_things_that_were_not_used_for_so_long_go(shelf: Shelf) -> None:
    for name in ("old", "used"):
        os.utime(put(shelf, name, name) / "thing.json", (0, 0))
    (shelf.folder / "old" / "thing.json").write_text("damaged")
    os.utime(shelf.folder / "old" / "thing.json", (0, 0))
    shelf.use("used")
    shelf.remove_unused(3600)
    assert [home.name for home, _ in shelf.things()] == ["used"]
    assert not (shelf.folder / "old").exists()


def test_a_record_is_replaced_as_a_whole(shelf: Shelf) -> None:
    home = put(shelf, "a", "x")
    assert shelf.amend("a", {"text": "y"}) == home
    assert shelf.known("a") == {"text": "y"}
    write(home / "other.json", {"n": 1})
    assert json.loads((home / "other.json").read_text()) == {"n": 1}
    assert sorted(path.name for path in home.iterdir()) == ["other.json", "text", "thing.json"]


def test_a_shelf_that_cannot_be_written_is_said_with_what_to_type(shelf: Shelf) -> None:
    shelf.folder.parent.mkdir(parents=True)
    shelf.folder.write_text("a file")
    for context in (shelf.partial, shelf.lock):
        with (
            pytest.raises(MachineError, match=r"things cannot be written \(.*\); to fix it, type: export XDG"),
            context(),
        ):
            pass
