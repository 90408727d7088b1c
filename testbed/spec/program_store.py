"""Program files of users: kept by what is in them, so that a trial finds the very files that its scenario named.

Reads files, and copies them into the user's cache. A lab kernel's guest sees the folder of a set of files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from ..cache_folder import private, user_folder
from ..error import MachineError
from ..journal import folder_noted, unique

FOLDER = "files"
FILES_MAX, BYTES_MAX = 50_000, 2 << 30
"""Of one file or folder that a scenario names, in all."""
CHUNK_BYTES = 1 << 20
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
COMPILED = "__pycache__"
"""Folders of what Python compiles by itself: no digest covers them, and they are not kept."""

SYSTEM = tuple(Path(each) for each in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", sys.base_prefix))
"""What links may lead to: every trial sees it, and no digest of a user's files need cover it."""

Files = tuple[tuple[str, str], ...]
"""Names, each with the SHA-256 of what is there."""


def digest(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file; of a folder, that of the names, kinds and contents of all that is in it. A link that
    somebody puts in the place of a part meanwhile is not followed.

    Raises OSError, whose `strerror` says what is wrong and what is allowed.
    """
    descriptor = os.open(path, READ)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            return _of_file(descriptor)
        whole = hashlib.sha256()
        for name, kind, said in _entries(descriptor):
            whole.update(f"{kind} {name}\0{said}\n".encode())
        return whole.hexdigest()
    finally:
        os.close(descriptor)


def keep(sources: Mapping[str, Path], files: Files) -> Path:
    """The folder in which every file of the set is under its name; copied there if it is not yet."""
    folder = _folder(files)
    if not folder.exists():
        private(FOLDER)
        with folder_noted(folder.parent / unique("partial")) as partial:
            for name, wanted in files:
                source, target = sources[name], partial / name
                if source.is_dir():
                    ignored = shutil.ignore_patterns(COMPILED)
                    shutil.copytree(source, target, symlinks=True, ignore=ignored, copy_function=_copy)
                else:
                    _copy(source, target)
                    target.chmod(0o755)
                if digest(target) != wanted:
                    raise OSError(None, f"{source} changed while it was read")
            partial.chmod(0o755)
            if not folder.exists():
                os.rename(partial, folder)
    return folder


def find(files: Files, copies: Mapping[str, Path] | None = None) -> Path | None:
    """The folder of a set of files; None if there are none. `copies` are files that may be these, by their names.

    Raises MachineError, which names the first that is missing, or that is no longer what was kept.
    """
    if not files:
        return None
    folder = _folder(files)
    if folder.exists():
        _check(folder, files)
        return folder
    sources: dict[str, Path] = {}
    for name, wanted in files:
        source = (copies or {}).get(name)
        if source is None or digest(source) != wanted:
            what = f"the file {name!r} (SHA-256 {wanted[:12]}…) of this workload is not on this computer"
            raise MachineError(what, "testbed check SCENARIO, with the scenario whose folder has the file")
        sources[name] = source
    return keep(sources, files)


@cache
def _check(folder: Path, files: Files) -> None:
    """Once in a process, as it reads all of them: an empty script, say, would end at once and without an error."""
    for name, wanted in files:
        try:
            is_whole = digest(folder / name) == wanted
        except OSError:
            is_whole = False
        if not is_whole:
            what = f"{folder} is damaged: its {name!r} is not what was kept (SHA-256 {wanted[:12]}…)"
            raise MachineError(what, f"rm -r {folder}")


def _folder(files: Files) -> Path:
    name = hashlib.sha256(repr(sorted(files)).encode()).hexdigest()[:32]
    return user_folder() / FOLDER / name


def place(name: str, files: Files) -> Path:
    """Where a file of a set is when it is kept."""
    return _folder(files) / name


def _copy(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """A file with its mode, but no right to run as somebody else: the copy is ours. What is no file is refused, and no
    link is followed.
    """
    descriptor = os.open(source, READ | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file, open(target, "wb") as copy:
        about = _refuse(descriptor)
        shutil.copyfileobj(file, copy, CHUNK_BYTES)
    os.chmod(target, stat.S_IMODE(about.st_mode) & 0o777)


def _refuse(descriptor: int) -> os.stat_result:
    """Raises OSError for what is no file, or is too large."""
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        raise OSError(None, "it is no file; allowed: a file or a folder")
    if about.st_size > BYTES_MAX:
        raise OSError(None, f"it is too large; allowed: up to {BYTES_MAX >> 20} MiB")
    return about


def _of_file(descriptor: int) -> str:
    _refuse(descriptor)
    whole = hashlib.sha256()
    while chunk := os.read(descriptor, CHUNK_BYTES):
        whole.update(chunk)
    return whole.hexdigest()


def _entries(folder: int) -> Iterator[tuple[str, str, str]]:
    """(name, kind, digest or target) of everything below an opened folder that counts, in the order of the names."""
    root, count = Path(os.readlink(f"/proc/self/fd/{folder}")), 0
    for here, folders, names, opened in os.fwalk(".", dir_fd=folder):
        folders[:] = sorted(name for name in folders if name != COMPILED)
        for name in sorted((*folders, *names)):
            count += 1
            if count > FILES_MAX:
                raise OSError(None, f"it has too many files; allowed: up to {FILES_MAX}")
            below = os.path.normpath(os.path.join(here, name))
            mode = os.stat(name, dir_fd=opened, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                said = os.readlink(name, dir_fd=opened)
                _stays(said, root / below, root)
                yield below, "link", said
            elif stat.S_ISDIR(mode):
                yield below, "folder", ""
            else:
                kind = "program" if os.access(name, os.X_OK, dir_fd=opened) else "file"
                part = os.open(name, READ | os.O_NOFOLLOW, dir_fd=opened)
                try:
                    yield below, kind, _of_file(part)
                finally:
                    os.close(part)


def _stays(said: str, link: Path, folder: Path) -> None:
    """Raises OSError for a link to what neither the folder nor the system has: its digest would not cover that."""
    target = Path(os.path.abspath(link.parent / said))
    if not any(target.is_relative_to(each) for each in (SYSTEM if os.path.isabs(said) else (folder,))):
        what = f"its link {str(link.relative_to(folder))!r} leads out of it, to {said!r}"
        raise OSError(None, f"{what}; allowed: links within it, without its own path, and to {SYSTEM[0]}")
