"""Whether a trial was made by this user on this computer: a mark in host.json that only the user's own key can make.
Reads the trial's folder; reads and writes the key in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from ..cache_folder import user_folder
from ..error import UserError
from .folder import HOST, TRIAL, read_json

KEY = "key"
KEY_BYTES = 32
MARK = "made_by"
"""The key of host.json with the mark."""


def mark(folder: Path) -> str:
    """Of the trial in a folder: all that says what runs."""
    return hmac.new(_key(), (folder / TRIAL).read_bytes(), hashlib.sha256).hexdigest()


def is_ours(folder: Path) -> bool:
    """Whether the trial's folder has the mark of this user's key for what it says now. One that was made by an earlier
    version, elsewhere, or before the cache folder was lost has not.
    """
    try:
        said = read_json(folder / HOST).get(MARK)
        return isinstance(said, str) and hmac.compare_digest(said.encode(), mark(folder).encode())
    except (UserError, OSError):
        return False


def _key() -> bytes:
    """Made when it is first needed. Nobody else can read it."""
    path = user_folder() / KEY
    with contextlib.suppress(FileNotFoundError):
        known = path.read_bytes()
        if len(known) == KEY_BYTES:
            return known
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{KEY}-{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(KEY_BYTES))
    try:
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
        if path.stat().st_size != KEY_BYTES:
            os.replace(fresh, path)
        return path.read_bytes()
    finally:
        fresh.unlink(missing_ok=True)
