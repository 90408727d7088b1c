"""A lab kernel as one file: for another computer, or for all users of this one. Writes to the cache, or as root to the
folder of all users.

A kernel is a program that its users run. So its file is taken only with the digest that its maker tells, and it boots
once before it is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import asdict, fields, replace
from pathlib import Path

from ... import native_program
from ...cache_folder import SHARED, is_roots
from ...error import MachineError, UserError
from ..parcel import Parcel, ParcelError, packed, unpack
from . import feature, first_boot
from .cache import Cache, KernelImage, Record, find, records, user_cache

FILES = ("config", "kernel.json", "linux")
DIGEST = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
FILE_BYTES = 512 << 20


def export(name: str | None) -> tuple[KernelImage, Parcel]:
    """The newest kernel of a name (None: the default) as one file; the same kernel gives the same bytes. Raises
    MachineError if there is none.
    """
    image = find(name)
    return image, packed(image.folder, FILES)


def executable(image: KernelImage) -> str:
    """The SHA-256 of its program, which a build from the same ingredients has, too."""
    return hashlib.sha256(image.path.read_bytes()).hexdigest()


def import_(file: Path, digest: str, *, for_all: bool = False, replace: bool = False) -> KernelImage:
    """Keeps the kernel of a file that has this SHA-256: for this user, or as root for all; with `replace` also in place
    of another program from the same ingredients. Raises UserError for another file, and MachineError for a kernel that
    does not run here.
    """
    if not DIGEST.fullmatch(digest):
        raise UserError(f"--sha256 {digest!r}: allowed: 64 hexadecimal digits, as `testbed kernel export` prints them")
    data = _read(file)
    seen = hashlib.sha256(data).hexdigest()
    if seen != digest:
        raise UserError(
            f"{file} is not the kernel that is meant: its SHA-256 is {seen}; allowed: the file with {digest}"
        )
    cache = _for_all() if for_all else user_cache()
    with cache.lock(), cache.partial() as partial:
        home = partial / "image"
        home.mkdir()
        record = _unpacked(Parcel(data, digest), file, home)
        if not replace:
            _refuse_other_bytes(record, home, file)
        first = first_boot.boot(home / "linux")
        if not first.ok:
            raise MachineError(f"the kernel of {file} does not run here:\n{first.last_lines}\n", "testbed doctor")
        feature.write(home, first.features)
        kept = cache.keep(home, record)
        if for_all:
            _open_to_all(kept.folder)
    if for_all:
        native_program.share(cache.folder.parent / "tools")
        for each in ("tools", "kernels"):
            _open_folder(cache.folder.parent / each)
    return kept


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise UserError(f"{file} is no file; allowed: what `testbed kernel export` wrote")
            data = opened.read(FILE_BYTES + 1)
    except OSError as error:
        raise UserError(
            f"{file} cannot be read: {error.strerror}; allowed: what `testbed kernel export` wrote"
        ) from None
    if len(data) > FILE_BYTES:
        raise UserError(f"{file} is larger than {FILE_BYTES >> 20} MiB; allowed: what `testbed kernel export` wrote")
    return data


def _unpacked(parcel: Parcel, file: Path, home: Path) -> Record:
    """Writes the files of a kernel to a folder. Raises UserError if they are none."""
    what = f"{file} is no lab kernel"
    try:
        unpack(parcel, home)
        if sorted(path.name for path in home.iterdir()) != sorted(FILES):
            raise UserError(f"{what}; allowed: what `testbed kernel export` wrote")
        record = Record(**json.loads((home / "kernel.json").read_text()))
    except (ParcelError, ValueError, TypeError, OSError, RecursionError) as error:
        raise UserError(f"{what}: {error}; allowed: what `testbed kernel export` wrote") from None
    about = asdict(record)
    words = [about.pop(each.name) for each in fields(Record) if each.type in ("str", str)]
    right = all(isinstance(word, str) and word.isprintable() for word in words) and type(record.steps) is int
    if not right or not isinstance(record.patches, dict) or not NAME.fullmatch(record.name):
        raise UserError(f"{what}: its kernel.json names no kernel; allowed: what `testbed kernel export` wrote")
    if not DIGEST.fullmatch(record.key):
        raise UserError(f"{what}: its key is no SHA-256; allowed: what `testbed kernel export` wrote")
    (home / "linux").chmod(0o755)
    return replace(record, is_default=record.is_default is True)


def _refuse_other_bytes(record: Record, home: Path, file: Path) -> None:
    """Raises UserError if a kernel that was built here from the same ingredients is another program."""
    mine = hashlib.sha256((home / "linux").read_bytes()).hexdigest()
    for known, image in records():
        if (known.key, known.profile) == (record.key, record.profile) and executable(image) != mine:
            raise UserError(
                f"{file} says that it was built from what {image.folder} was built from, and is another program; "
                f"allowed: a kernel with {executable(image)}, or --replace, if you trust the file more"
            )


def _for_all() -> Cache:
    """The folder of all users' kernels. Raises UserError unless we are root, MachineError if others may write there."""
    if os.geteuid() != 0:
        raise UserError("--for-all writes to /var/cache/testbed, which only root may; allowed: sudo, or no --for-all")
    home = SHARED[0]
    for folder in (home, home / "kernels", home / "tools"):
        if not folder.exists():
            folder.mkdir(mode=0o755)
            folder.chmod(0o755)
        if not is_roots(folder):
            raise MachineError(f"others than root can write to {folder}, or to a folder above it", f"ls -ld {folder}")
    return Cache(home / "kernels")


def _open_to_all(folder: Path) -> None:
    """Lets everybody read a folder's files, and root alone change them."""
    for path in folder.iterdir():
        path.chmod(0o755 if path.name == "linux" else 0o644)
    folder.chmod(0o755)


def _open_folder(folder: Path) -> None:
    """The same for each folder in it, whatever root's umask was when its files were made."""
    for each in (path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        for path in each.iterdir():
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        each.chmod(0o755)
