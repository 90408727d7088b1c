"""A parcel: the files of a folder on their way to another computer, as one archive with its digest.

Reads a folder, or writes below an empty one. What arrives is checked before it is written: names stay inside the
folder, and there are files and folders only.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from ..codec.frozen import dataclass
from ..error import TestbedError

MOST_BYTES = 2 << 30
"""Of all files of a parcel together: more is refused, as two computers hold it in memory."""
MOST_FILES = 10_000
READ_BYTES = 1 << 20
MISPLACED = (FileExistsError, FileNotFoundError, NotADirectoryError)
"""What is wrong with two names in an archive of which one is in the other's way."""
LEVEL = 1
"""Of zlib: the files are mostly text, which shrinks to a fifth at once."""


class ParcelError(TestbedError):
    """What travels is damaged, too large, or has files that do not belong in it."""


@dataclass(frozen=True)
class Parcel:
    """`digest` is the SHA-256 of `data`, in hexadecimal."""

    data: bytes
    digest: str

    @staticmethod
    def of(data: bytes) -> Parcel:
        return Parcel(data, hashlib.sha256(data).hexdigest())


def received(value: object) -> Parcel | None:
    """What arrived, made anew; None if it is no parcel: a class says nothing of what is in it."""
    has = vars(value) if isinstance(value, Parcel) else {}
    data, digest = has.get("data"), has.get("digest")
    return Parcel(data, digest) if isinstance(data, bytes) and type(digest) is str else None


def packed(folder: Path, names: Iterable[str] | None = None) -> Parcel:
    """The files of a folder (None: all of them). The same files make the same parcel. Raises ParcelError if they are
    too large to travel.
    """
    buffer, size = io.BytesIO(), 0
    paths = sorted(folder.rglob("*")) if names is None else [folder / name for name in names]
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=LEVEL, format=tarfile.PAX_FORMAT) as archive:
        for path in paths:
            about = tarfile.TarInfo(str(path.relative_to(folder)))
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                continue
            if path.is_dir():
                about.type, about.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(about)
                continue
            with path.open("rb") as file:
                about.size = os.fstat(file.fileno()).st_size
                about.mode = 0o755 if os.access(path, os.X_OK) else 0o644
                size += about.size
                _check_size(size)
                archive.addfile(about, file)
    data = bytearray(buffer.getvalue())
    data[4:8] = bytes(4)  # the time in gzip's header
    return Parcel.of(bytes(data))


class _Unzipped(gzip.GzipFile):
    """What is in the archive, no more of it at once than a part of a file. The headers of an archive say how long they
    are, and are read whole: a small archive could have one that is larger than the memory.
    """

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= READ_BYTES:
            raise ParcelError(f"what arrived has a header of more than {READ_BYTES >> 20} MiB")
        return super().read(size)


def unpack(parcel: Parcel, folder: Path) -> None:
    """Writes the files to an empty folder. Raises ParcelError for a parcel that is not what was sent, or that has
    anything but files and folders with names inside it.
    """
    if hashlib.sha256(parcel.data).hexdigest() != parcel.digest:
        raise ParcelError("what arrived is not what was sent: its digest differs")
    try:
        with _Unzipped(fileobj=io.BytesIO(parcel.data)) as data, tarfile.open(fileobj=data, mode="r:") as archive:
            for about, path in _members(archive, folder):
                if about.isdir():
                    path.mkdir()
                    continue
                source = archive.extractfile(about)
                assert source is not None, "BUG: a file without content"
                with path.open("xb") as file:
                    while block := source.read(READ_BYTES):
                        file.write(block)
                path.chmod(0o755 if about.mode & 0o100 else 0o644)
            _check_end(archive)
    except (tarfile.TarError, zlib.error, gzip.BadGzipFile, EOFError, *MISPLACED) as error:
        raise ParcelError(f"what arrived cannot be read: {error}") from None


def _members(archive: tarfile.TarFile, folder: Path) -> Iterator[tuple[tarfile.TarInfo, Path]]:
    size = 0
    for count, about in enumerate(archive):
        name = PurePosixPath(about.name)
        inside = not name.is_absolute() and ".." not in name.parts and name.parts and about.name.isprintable()
        if not inside or not (about.isfile() or about.isdir()):
            raise ParcelError(f"what arrived has {about.name!r}, which is no file or folder inside it")
        size += about.size
        _check_size(size)
        if count >= MOST_FILES:
            raise ParcelError(f"what arrived has more than {MOST_FILES} files")
        yield about, folder / name


def _check_end(archive: tarfile.TarFile) -> None:
    """An archive that was cut off looks like a shorter one, but for the end of its compression."""
    assert archive.fileobj is not None, "BUG: an archive without a file"
    if len(archive.fileobj.read(tarfile.RECORDSIZE + 1)) > tarfile.RECORDSIZE:
        raise ParcelError("what arrived goes on after its end")


def _check_size(size_bytes: int) -> None:
    if size_bytes > MOST_BYTES:
        raise ParcelError(f"the files are larger than {MOST_BYTES >> 20} MiB, and cannot travel; allowed: less capture")
