"""The journal: names what would outlast us if we were killed, before it exists. Writes and locks files in the user's
cache folder.

An entry is a file, and its keeper holds a lock on it. The kernel releases the lock however the keeper ends, so an entry
that nobody holds was left by a killed process: what it names is to be removed, and nothing else.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cache_folder import user_folder
from .error import MachineError, TestbedError

RUN = "run"
"""The kind of entry for a run in progress: its results folder."""
FRESH = re.compile(r"\.fresh-[0-9a-f]+")


class Taken(TestbedError):
    """An entry of this kind and name exists."""


@dataclass(frozen=True)
class Entry:
    """`kind` says how to remove what it names (see `leftover`), `about` what that is: JSON."""

    kind: str
    name: str
    about: Mapping[str, Any]

    @property
    def path(self) -> Path:
        return folder() / f"{self.kind}-{self.name}.json"


@dataclass(frozen=True)
class Held:
    """An entry that we keep. The descriptor may be passed on: the entry is held as long as anybody has it."""

    entry: Entry
    descriptor: int

    def update(self, **about: Any) -> Held:
        """Replaces the content of the entry. Nobody sees half of it: it is appended as a line."""
        entry = Entry(self.entry.kind, self.entry.name, {**self.entry.about, **about})
        os.write(self.descriptor, _line(entry))
        return Held(entry, self.descriptor)

    def remove(self) -> None:
        """Removes the entry: what it names is gone."""
        self.entry.path.unlink(missing_ok=True)
        os.close(self.descriptor)


def folder() -> Path:
    return user_folder() / "journal"


def note(kind: str, name: str, **about: Any) -> Held:
    """Writes a new entry and keeps it. Raises Taken if one of this kind and name exists, held or not."""
    entry = Entry(kind, name, about)
    fresh = folder() / f".fresh-{secrets.token_hex(8)}"
    try:
        folder().mkdir(parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        what = f"the journal {folder()} cannot be written ({error.strerror})"
        raise MachineError(what, "export XDG_CACHE_HOME=/a/folder/of/yours") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, _line(entry))
        os.link(fresh, entry.path)
    except FileExistsError:
        os.close(descriptor)
        raise Taken(f"{entry.path} is there already") from None
    finally:
        fresh.unlink(missing_ok=True)
    return Held(entry, descriptor)


def unique(name: str) -> str:
    """A unique name."""
    return f"{name}-{os.getpid()}-{secrets.token_hex(4)}"


@contextmanager
def noted(kind: str, name: str, **about: Any) -> Iterator[Held]:
    """Keeps an entry until the block ends: for what removes itself unless it is killed."""
    held = note(kind, name, **about)
    try:
        yield held
    finally:
        held.remove()


def adopt(path: Path, descriptor: int) -> Held:
    """An entry that was passed to us with its descriptor."""
    entry = _read(path, descriptor)
    assert entry is not None, "BUG: an empty entry was passed on"
    return Held(entry, descriptor)


def entries() -> Iterator[tuple[Entry, bool]]:
    """All entries, and whether each has a keeper."""
    for path in sorted(folder().glob("[!.]*.json")):
        with _opened(path) as descriptor:
            if descriptor is None:
                continue
            entry = _read(path, descriptor)
            if entry is not None and _is_at(path, descriptor):
                yield entry, not _lock(descriptor, fcntl.LOCK_SH)


@contextmanager
def orphans() -> Iterator[list[Entry]]:
    """The entries without a keeper. We keep them until the block ends, so that nobody else removes what they name."""
    with contextlib.ExitStack() as stack:
        found = []
        for path in sorted(folder().glob("[!.]*.json")):
            descriptor = stack.enter_context(_opened(path))
            if descriptor is not None and _lock(descriptor) and _is_at(path, descriptor):
                entry = _read(path, descriptor)
                if entry is not None:
                    found.append(entry)
        yield found


def abandoned_files() -> list[Path]:
    """Files of entries that were never finished."""
    found = []
    for path in folder().glob(".fresh-*"):
        if FRESH.fullmatch(path.name):
            with _opened(path) as descriptor:
                if descriptor is not None and _lock(descriptor):
                    found.append(path)
    return found


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except FileNotFoundError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the opened file still has its name."""
    with contextlib.suppress(FileNotFoundError):
        there = path.stat()
        return os.path.samestat(there, os.fstat(descriptor))
    return False


def _line(entry: Entry) -> bytes:
    return (json.dumps({"kind": entry.kind, "name": entry.name, "about": dict(entry.about)}) + "\n").encode()


def _read(path: Path, descriptor: int) -> Entry | None:
    """The content of the last complete line; None if there is none."""
    lines = os.pread(descriptor, os.fstat(descriptor).st_size, 0).split(b"\n")[:-1]
    for line in reversed(lines):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            data = json.loads(line)
            return Entry(data["kind"], data["name"], data["about"])
    return None
