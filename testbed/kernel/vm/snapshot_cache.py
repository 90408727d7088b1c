"""The snapshots of virtual machines on this computer: one folder each, whole or absent.

Touches its own folder (`$XDG_CACHE_HOME/testbed/vm/snapshots`). `find` reads a snapshot again, and a broken one counts
as absent.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ...cache_folder import make
from ...spec.syntax import input_file
from ..shelf import Shelf
from . import kernel_cache

FILES = ("memory", "state")
PAGE_BYTES, CHUNK_BYTES = 4096, 1 << 20
UNUSED_S = 14 * 86_400
"""A snapshot that was used for the last time so long ago goes when another one comes."""


def shelf() -> Shelf:
    return Shelf(kernel_cache.folder() / "snapshots", "snapshot.json")


def find(key: str) -> Path | None:
    """The folder of this snapshot; None if it is not there, or is not what was put there."""
    home, known = shelf().folder / key, shelf().known(key)
    try:
        if known != {"key": key, **{name: _digest(home / name) for name in FILES}}:
            return None
    except (OSError, ValueError):
        return None
    shelf().use(key)
    return home


def put(key: str, made: Path) -> Path:
    """Copies what a guest made, ordinary files only, in place of a snapshot of this key. Raises OSError if one is
    missing or no ordinary file.
    """
    with shelf().partial() as partial:
        fresh = make(partial / "made")
        known = {"key": key, **{name: _copied(made / name, fresh / name) for name in FILES}}
        home = shelf().put(fresh, key, known)
    shelf().remove_unused(UNUSED_S)
    return home


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
