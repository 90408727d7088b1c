"""What was found out about files, for as long as they stay the same. Reads files, and keeps one in the user's cache.

A file is the same while its device, inode, size and both of its times are. Whoever writes to it, or puts another one in
its place, changes the time of its last change (ctime), which nobody can set. A file that changed in the last moments
could change again within one tick of a file system's clock, so nothing is kept of it.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ..cache_folder import private
from ..error import MachineError

FOLDER, NAME = "own", "known-files.json"
SETTLED_NS = 2_000_000_000
"""The coarsest clock of a file system, that of FAT, has ticks of 2 s."""
MOST = 10_000
"""Files of which something is kept; then it begins anew."""


def said(path: Path, about: str, find: Callable[[bytes], str]) -> str:
    """What `find` says of the bytes of a file, which are not read if it said so of the same file before. `about` tells
    one question from another. Raises OSError if the file cannot be read.
    """
    known, key = _known(), f"{about} {path}"
    now = _identity(path)
    if (entry := known.get(key)) is not None and entry[:-1] == now:
        return str(entry[-1])
    answer = find(path.read_bytes())
    if now == _identity(path) and time.time_ns() - max(now[3:]) > SETTLED_NS:
        known[key] = [*now, answer]
        known[""] = []  # there is something to keep
    return answer


def keep() -> None:
    """Writes down what was found out; without a cache folder it is found out again."""
    known = _known()
    if known.pop("", None) is None:
        return
    with suppress(OSError, MachineError):
        folder = private(FOLDER)
        fresh = folder / f".{NAME}-{secrets.token_hex(8)}"
        fresh.write_text(json.dumps(known if len(known) <= MOST else {}))
        os.replace(fresh, folder / NAME)


@cache
def _known() -> dict[str, list[Any]]:
    """By question and path: the identity of the file, and the answer."""
    try:
        found = json.loads((private(FOLDER) / NAME).read_bytes())
    except (OSError, MachineError, ValueError, RecursionError):
        return {}
    is_ours = isinstance(found, dict) and all(isinstance(each, list) and each for each in found.values())
    return found if is_ours else {}


def _identity(path: Path) -> list[int]:
    about = os.stat(path)
    return [about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns]
