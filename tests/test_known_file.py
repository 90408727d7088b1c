"""What was found out about a file is found out again when the file is another one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testbed.trial import known_file, provenance, software

OLD_NS = 10**18


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files that were read, in a cache of its own, long after they were written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(
        time, "time_ns", lambda: time.clock_gettime_ns(time.CLOCK_REALTIME) + 10 * known_file.SETTLED_NS
    )
    names: list[str] = []
    before = Path.read_bytes

    def read(path: Path) -> bytes:
        names.append(path.name)
        return before(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    known_file._known.cache_clear()
    yield names
    known_file._known.cache_clear()


def anew() -> None:
    """As another process begins."""
    known_file.keep()
    known_file._known.cache_clear()


def told(path: Path) -> str:
    return known_file.said(path, "text", lambda data: data.decode())


def test_a_file_is_read_once_by_all_processes_of_a_user(asked: list[str], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    for _ in range(3):
        assert told(file) == "one"
        anew()
    assert asked.count("file") == 1
    assert known_file.said(file, "length", lambda data: str(len(data))) == "3"


@pytest.mark.parametrize("is_same_size", [True, False])
def test_another_content_is_seen_whatever_times_it_is_given(
    asked: list[str], tmp_path: Path, is_same_size: bool
) -> None:
    file, other = tmp_path / "file", "two" if is_same_size else "three"
    file.write_text("one")
    os.utime(file, ns=(OLD_NS, OLD_NS))
    assert told(file) == "one"
    anew()
    file.write_text(other)
    os.utime(file, ns=(OLD_NS, OLD_NS))
    assert told(file) == other
    anew()
    (tmp_path / "new").write_text("six")
    os.utime(tmp_path / "new", ns=(OLD_NS, OLD_NS))
    os.replace(tmp_path / "new", file)
    assert told(file) == "six"


def test_nothing_is_kept_of_a_file_that_just_changed(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within one tick of the file system's clock it could change again, and look the same."""
    monkeypatch.setattr(time, "time_ns", lambda: time.clock_gettime_ns(time.CLOCK_REALTIME))
    file = tmp_path / "file"
    file.write_text("one")
    assert [told(file), told(file)] == ["one", "one"]
    assert asked.count("file") == 2


def test_nothing_is_kept_of_a_file_that_changed_while_it_was_read(asked: list[str], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")

    def changes(data: bytes) -> str:
        file.write_text("two")
        return data.decode()

    assert known_file.said(file, "text", changes) == "one"
    assert told(file) == "two"


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}', '{"a": []}', "[" * 100_000, '{"text %s": [1, 2]}'])
def test_a_damaged_list_is_begun_anew(asked: list[str], tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    told(file)
    anew()
    known = tmp_path / "cache" / "testbed" / known_file.FOLDER / known_file.NAME
    known.write_text(text.replace("%s", str(file)))
    assert told(file) == "one"
    anew()
    assert told(file) == "one"


def test_without_a_cache_folder_all_is_found_out_again(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    file = tmp_path / "file"
    file.write_text("one")
    assert told(file) == "one"
    known_file.keep()
    known_file._known.cache_clear()
    assert told(file) == "one"


@pytest.fixture
def forget() -> Callable[[], None]:
    def clear() -> None:
        for each in (software.here, software._library, software._asked, provenance._versions):
            each.cache_clear()

    return clear


def test_a_second_command_reads_no_program_and_asks_none_for_its_version(
    asked: list[str], forget: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a trial ran with is the same, and 90 MB need not be read for it."""
    ran: list[str] = []
    before = provenance.process.run
    monkeypatch.setattr(
        provenance.process, "run", lambda words, **more: (ran.append(words[0]), before(words, **more))[1]
    )

    def look() -> tuple[dict[str, str], dict[str, str], set[str], set[str]]:
        forget()
        anew()
        asked.clear()
        ran.clear()
        return dict(software.here()), provenance._versions(), set(asked), set(ran)

    (parts, versions, read, asked_first), (again, versions_again, read_again, asked_again) = look(), look()
    forget()
    assert (parts, versions) == (again, versions_again)
    programs = {name for name in software.PROGRAMS if parts[name] != software.NONE}
    assert {"ip", "nft", "libc.so.6"} <= read
    assert not read_again & {*programs, "libc.so.6", "judge.py"}
    assert {"ip", "nft"} <= asked_first
    assert not asked_again & {"ip", "nft"}


def test_a_script_is_asked_each_time(asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may start anything."""
    (tmp_path / "ip").write_text(f"#!/bin/sh\ncat {tmp_path}/says\n")
    (tmp_path / "ip").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for version in ("one", "two"):
        (tmp_path / "says").write_text(version)
        assert provenance._version(("ip", "-V")) == version
        anew()
