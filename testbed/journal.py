"""The journal: names what would outlast us if we were killed, before it exists. Writes and locks files in the user's
cache folder.

An entry is a file, and its keeper holds a lock on it. The kernel releases the lock however the keeper ends, so an entry
that nobody holds was left by a killed process: what it names is to be removed, and nothing else.

Only this user's files are entries. What cannot be read as one is passed over, and `unreadable` says why.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cache_folder import FIX, private, try_lock, user_folder
from .error import MachineError, TestbedError, visible

RUN = "run"
"""The kind of entry for a run in progress: its results folder."""
FOLDER = "folder"
"""The kind of entry for a folder of ours that is removed as a whole."""
ABOUT: Mapping[str, Mapping[str, Any]] = {
    RUN: {"folder": str},
    FOLDER: {"folder": str},
    "network": {"folder": str},
    "nic": {
        **{"nic": str, "mtu_bytes": int, "space": str, "owner": str},
        "before": {"index": int, "up": bool, "promiscuous": bool, "mtu_bytes": int, "lro": bool, "no_ipv6": str | None},
    },
}
"""What an entry of a kind has to say, and of which type."""
MARK = ".testbed-journal"
"""The file in a folder of ours with the name of the folder's entry: only such a folder is removed for it."""
ENTRY_MAX_BYTES = 1 << 20
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


class Unreadable(TestbedError):
    """A file in the journal that is no entry of this user's."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(visible(f"the journal entry {path} {why}"))
        self.path = path


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
        private(folder().name)
        descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise MachineError(f"the journal {folder()} cannot be written ({error.strerror})", FIX) from None
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


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def folder_noted(path: Path, remove: Callable[[Path], None] = _remove) -> Iterator[Path]:
    """Makes a folder that only we may enter, with our mark, and removes it when the block ends, unless it was moved; if
    we are killed, `testbed clean` does.
    """
    with noted(FOLDER, path.name, folder=str(path)) as held:
        try:
            path.mkdir(mode=0o700)
            mark(path, held.entry)
            yield path
        finally:
            remove(path)


def mark(path: Path, entry: Entry) -> None:
    """Marks a folder as the one that an entry names."""
    (path / MARK).write_text(entry.path.name)


def not_ours(path: Path, entry: Entry) -> str | None:
    """Why a folder must not be removed for an entry: it is a link, another user's, or has no mark; None if it may be.

    An empty folder may be: its maker was killed before it was marked.
    """
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode):
        return "it is no folder"
    if about.st_uid != os.geteuid():
        return "it belongs to another user"
    try:
        descriptor = os.open(path / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None if not any(path.iterdir()) else "it has no mark of ours"
    with os.fdopen(descriptor, "rb") as file:
        is_ours = file.read(len(MARK) + 512) == entry.path.name.encode()
    return None if is_ours else "it has the mark of something else"


def adopt(path: Path, descriptor: int) -> Held:
    """An entry that was passed to us with its descriptor."""
    return Held(_read(path, descriptor), descriptor)


def entries() -> Iterator[tuple[Entry, bool]]:
    """All entries that can be read, and whether each has a keeper."""
    for path in _files():
        with contextlib.suppress(FileNotFoundError, Unreadable), _opened(path) as descriptor:
            entry = _read(path, descriptor)
            if _is_at(path, descriptor):
                yield entry, not try_lock(descriptor, fcntl.LOCK_SH)


def unreadable() -> list[Unreadable]:
    """What stands in the journal and cannot be read."""
    found = []
    for path in _files():
        try:
            with contextlib.suppress(FileNotFoundError), _opened(path) as descriptor:
                _read(path, descriptor)
        except Unreadable as error:
            found.append(error)
    return found


@contextmanager
def orphans() -> Iterator[list[Entry]]:
    """The entries that can be read, and have no keeper. We keep them until the block ends, so that nobody else removes
    what they name.
    """
    with contextlib.ExitStack() as stack:
        found = []
        for path in _files():
            with contextlib.suppress(FileNotFoundError, Unreadable):
                descriptor = stack.enter_context(_opened(path))
                if try_lock(descriptor) and _is_at(path, descriptor):
                    found.append(_read(path, descriptor))
        yield found


def abandoned_files() -> list[Path]:
    """Files of entries that were never finished."""
    found = []
    for path in folder().glob(".fresh-*"):
        if FRESH.fullmatch(path.name):
            with contextlib.suppress(FileNotFoundError, Unreadable), _opened(path) as descriptor:
                if try_lock(descriptor):
                    found.append(path)
    return found


def _files() -> list[Path]:
    return sorted(folder().glob("[!.]*.json"))


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Raises FileNotFoundError if it is gone, Unreadable if it is no file of this user's."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(path, f"cannot be opened ({error.strerror})") from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable(path, "is no file")
        if about.st_uid != os.geteuid():
            raise Unreadable(path, f"belongs to another user (number {about.st_uid})")
        yield descriptor
    finally:
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the opened file still has its name."""
    with contextlib.suppress(FileNotFoundError):
        there = path.stat()
        return os.path.samestat(there, os.fstat(descriptor))
    return False


def _line(entry: Entry) -> bytes:
    return (json.dumps({"kind": entry.kind, "name": entry.name, "about": dict(entry.about)}) + "\n").encode()


def _read(path: Path, descriptor: int) -> Entry:
    """The content of the last complete line. Raises Unreadable if that is not what an entry of this name says."""
    if os.fstat(descriptor).st_size > ENTRY_MAX_BYTES:
        raise Unreadable(path, f"is larger than {ENTRY_MAX_BYTES >> 20} MiB")
    *lines, _ = os.pread(descriptor, ENTRY_MAX_BYTES, 0).split(b"\n")
    if not lines:
        raise Unreadable(path, "has no complete line")
    try:
        data = json.loads(lines[-1])
    except (ValueError, RecursionError):
        raise Unreadable(path, "has a line that is not JSON") from None
    wanted = {"kind": str, "name": str, "about": dict}
    if not _has(data, wanted) or path.name != f"{data['kind']}-{data['name']}.json":
        raise Unreadable(path, "does not say what its name says")
    entry = Entry(data["kind"], data["name"], data["about"])
    if not _has(entry.about, ABOUT.get(entry.kind, {})) or not _is_place(entry.about.get("folder", "/")):
        raise Unreadable(path, f"does not say what an entry of the kind {entry.kind!r} says")
    return entry


def _has(data: Any, wanted: Mapping[str, Any]) -> bool:
    """Whether data is a mapping with these keys, and values of these types."""
    return isinstance(data, dict) and all(
        key in data and (_has(data[key], kind) if isinstance(kind, Mapping) else isinstance(data[key], kind))
        for key, kind in wanted.items()
    )


def _is_place(folder: object) -> bool:
    """Whether this is an absolute path that can be one."""
    try:
        return isinstance(folder, str) and os.path.isabs(os.fsencode(folder)) and "\0" not in folder
    except UnicodeEncodeError:
        return False
