"""A file from outside, read whole if it is an ordinary file within bounds. Reads files.

`/dev/zero` never ends, a pipe without a writer never begins, and a file may be larger than the memory.

What people write they may write on any computer: `decoded` is the one place where the bytes of a file become text, and
there the line endings of Windows become those of Linux, and the mark of Unicode at the beginning goes.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import stat
from typing import BinaryIO

SPEC_BYTES = 1 << 20
"""Of a topology, scenario, profile or inventory. The largest that comes with the testbed has 20 KiB."""
RECORD_BYTES = 32 << 20
"""Of a text in a results folder. The result of a schedule with 10 000 changes has 12 MiB."""

CHUNK_BYTES, COMPARED_BYTES = 1 << 16, 1 << 20


FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read(path: str | os.PathLike[str], most_bytes: int, *, by_link: bool = True) -> bytes:
    """The bytes of a file. Raises OSError, whose `strerror` says what is wrong and what is allowed; unless `by_link`,
    also if the file itself is a symbolic link.
    """
    descriptor = _opened(path, by_link)
    try:
        found = bytearray()
        while chunk := os.read(descriptor, CHUNK_BYTES):
            found += chunk
            if len(found) > most_bytes:
                raise OSError(errno.EFBIG, f"it is too large; allowed: up to {most_bytes >> 20} MiB")
        return bytes(found)
    finally:
        os.close(descriptor)


def read_text(path: str | os.PathLike[str], most_bytes: int, *, by_link: bool = True) -> str:
    """The text of a file in UTF-8. Raises OSError as `read` does, also where it is no such text."""
    data = read(path, most_bytes, by_link=by_link)
    try:
        return decoded(data)
    except UnicodeDecodeError:
        raise OSError(errno.EILSEQ, f"it is {no_text(data)}") from None


def decoded(data: bytes, *, errors: str = "strict") -> str:
    """The text of bytes in UTF-8, with or without a byte order mark; each line ends with LF, also where the bytes have
    CR and LF. A CR by itself stays, and is a control character like any other. Raises UnicodeDecodeError, unless
    `errors` says otherwise, as for bytes.decode().
    """
    return data.decode("utf-8-sig", errors).replace("\r\n", "\n")


def no_text(data: bytes) -> str:
    """What bytes are that are no text in UTF-8, in words that follow "it is" or "this is"."""
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "not text in UTF-8" + (", but in UTF-16: save it as UTF-8" if is_wide else "")


def are_same(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Whether two files have the same bytes, however many. Raises OSError as `read` does without `by_link`."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(opened(path)) for path in (first, second)]
        if len({os.fstat(file.fileno()).st_size for file in files}) > 1:
            return False
        while (chunk := files[0].read(COMPARED_BYTES)) == files[1].read(COMPARED_BYTES):
            if not chunk:
                return True
        return False


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """An ordinary file, to be read in part; raises OSError for what is none, a symbolic link included."""
    return open(_opened(path, by_link=False), "rb")


def refuse_other(path: str | os.PathLike[str]) -> None:
    """Raises OSError for what is no ordinary file, a symbolic link included, before a library opens it and waits."""
    os.close(_opened(path, by_link=False))


def _opened(path: str | os.PathLike[str], by_link: bool) -> int:
    try:
        descriptor = os.open(path, FLAGS | (0 if by_link else os.O_NOFOLLOW))
    except OSError as error:
        if error.errno == errno.ELOOP and not by_link:
            raise OSError(error.errno, "it is a symbolic link; allowed: a file", os.fspath(path)) from None
        raise
    try:
        _refuse(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _refuse(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))
        kind = next((word for test, word in kinds if test(mode)), "device")
        raise OSError(errno.EINVAL, f"it is a {kind}; allowed: a file")
