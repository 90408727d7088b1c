"""A file from outside, read whole if it is an ordinary file within bounds. Reads files.

`/dev/zero` never ends, a pipe without a writer never begins, and a file may be larger than the memory.
"""

from __future__ import annotations

import errno
import os
import stat

SPEC_BYTES = 1 << 20
"""Of a topology, scenario, profile or inventory. The largest that comes with the testbed has 20 KiB."""
RECORD_BYTES = 32 << 20
"""Of a text in a results folder. The result of a schedule with 10 000 changes has 12 MiB."""

CHUNK_BYTES = 1 << 16


def read(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """The bytes of a file. Raises OSError, whose `strerror` says what is wrong and what is allowed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _refuse(os.fstat(descriptor).st_mode)
        found = bytearray()
        while chunk := os.read(descriptor, CHUNK_BYTES):
            found += chunk
            if len(found) > most_bytes:
                raise OSError(errno.EFBIG, f"it is too large; allowed: up to {most_bytes >> 20} MiB")
        return bytes(found)
    finally:
        os.close(descriptor)


def read_text(path: str | os.PathLike[str], most_bytes: int) -> str:
    """The text of a file in UTF-8. Raises OSError as `read` does, also where it is no such text."""
    try:
        return read(path, most_bytes).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OSError(errno.EILSEQ, "it is not text in UTF-8") from None


def refuse_other(path: str | os.PathLike[str]) -> None:
    """Raises OSError for what is no ordinary file, before a library opens it and waits."""
    _refuse(os.stat(path).st_mode)


def _refuse(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))
        kind = next((word for test, word in kinds if test(mode)), "device")
        raise OSError(errno.EINVAL, f"it is a {kind}; allowed: a file")
