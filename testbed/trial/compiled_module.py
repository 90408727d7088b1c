"""Whether Python reads a module from its compiled file. Reads both files."""

from __future__ import annotations

import importlib.util
from pathlib import Path

HEADER_BYTES = 16
HASHED, CHECKED = 1, 2
"""Flags of a compiled file: it names its source by a hash, not by time and size; the hash is compared."""


def is_read(source: Path) -> bool:
    """As Python decides it: the compiled file is there, is of this version, and belongs to the source as it is."""
    try:
        header = Path(importlib.util.cache_from_source(str(source))).read_bytes()[:HEADER_BYTES]
        about = source.stat()
        text = source.read_bytes()
    except (OSError, NotImplementedError):
        return False
    if len(header) < HEADER_BYTES or header[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags = int.from_bytes(header[4:8], "little")
    if flags & HASHED:
        return not flags & CHECKED or header[8:] == importlib.util.source_hash(text)
    seconds, size = (int.from_bytes(header[at : at + 4], "little") for at in (8, 12))
    return (seconds, size) == (int(about.st_mtime) & 0xFFFFFFFF, about.st_size & 0xFFFFFFFF)
