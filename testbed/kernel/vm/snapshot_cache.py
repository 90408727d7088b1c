"""The snapshots of virtual machines on this computer: one folder each, whole or absent.

Touches its own folder (`$XDG_CACHE_HOME/testbed/vm/snapshots`). A snapshot is copied into a partial folder and renamed
into place; `find` reads it again, and what is broken counts as absent.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from ...cache_folder import FIX, make, open_lock
from ...error import MachineError
from ...journal import folder_noted, unique
from ...spec.syntax import input_file
from . import kernel_cache

FILES = ("memory", "state")
RECORD = "snapshot.json"
PAGE_BYTES, CHUNK_BYTES = 4096, 1 << 20
UNUSED_S = 14 * 86_400
"""A snapshot that was used for the last time so long ago goes when another one comes."""


def folder() -> Path:
    return kernel_cache.folder() / "snapshots"


def find(key: str) -> Path | None:
    """The folder of this snapshot; None if it is not there, or is not what was put there."""
    home = folder() / key
    try:
        known = json.loads((home / RECORD).read_text())
        if known["key"] != key or any(known[name] != _digest(home / name) for name in FILES):
            return None
    except (OSError, ValueError, LookupError, TypeError):
        return None
    with suppress(OSError):  # in a cache that is read-only nothing goes either
        os.utime(home / RECORD)
    return home


def put(key: str, made: Path) -> Path:
    """Copies what a guest made, ordinary files only, in place of a snapshot of this key. Raises OSError if one is
    missing or no ordinary file.
    """
    home = folder() / key
    with folder_noted(folder() / unique(".partial")) as partial:
        fresh = make(partial / "made")
        known = {"key": key, **{name: _copied(made / name, fresh / name) for name in FILES}}
        (fresh / RECORD).write_text(json.dumps(known, indent=2) + "\n")
        if home.exists():
            home.rename(partial / "replaced")
        fresh.rename(home)
    _remove_unused()
    return home


@contextmanager
def lock() -> Iterator[None]:
    """While one process makes a snapshot, others wait, and then find it. MachineError if the cache is not writable."""
    try:
        make(folder())
        descriptor = open_lock(folder() / ".lock")
    except OSError as error:
        raise MachineError(f"{folder()} cannot be written ({error.strerror})", FIX) from error
    with os.fdopen(descriptor, "wb"):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _remove_unused() -> None:
    for record in folder().glob(f"[!.]*/{RECORD}"):
        if time.time() - record.stat().st_mtime > UNUSED_S:
            shutil.rmtree(record.parent, ignore_errors=True)


def _digest(path: Path) -> str:
    about = path.lstat()
    return _read(path, about.st_size, about.st_mtime_ns, about.st_ino)


@cache
def _read(path: Path, size: int, mtime_ns: int, inode: int) -> str:
    with input_file.opened(path) as file:
        whole = hashlib.sha256(b"%d" % size)
        for at, page in _pages(file.fileno(), size):
            whole.update(b"%d " % at + page)
        return whole.hexdigest()


def _copied(source: Path, target: Path) -> str:
    """Copies a file without its empty pages. The digest of the copy."""
    with input_file.opened(source) as file, target.open("xb") as copy:
        size = os.fstat(file.fileno()).st_size
        copy.truncate(size)
        for at, page in _pages(file.fileno(), size):
            os.pwrite(copy.fileno(), page, at)
        os.fsync(copy.fileno())
    return _digest(target)


def _pages(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Place and bytes of each page that is not all zeros, wherever the disk has holes."""
    empty, end = bytes(PAGE_BYTES), 0
    while end < size:
        try:
            found = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole as far as the end
                return
            raise
        at = max(end, found - found % PAGE_BYTES)
        end = -(-os.lseek(descriptor, found, os.SEEK_HOLE) // PAGE_BYTES) * PAGE_BYTES
        while at < min(end, size):
            chunk = os.pread(descriptor, min(CHUNK_BYTES, end - at), at)
            if not chunk:
                return
            for begin in range(0, len(chunk), PAGE_BYTES):
                page = chunk[begin : begin + PAGE_BYTES]
                if page != empty[: len(page)]:
                    yield at + begin, page
            at += len(chunk)
