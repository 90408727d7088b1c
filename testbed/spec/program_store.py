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
COMPILED = "__pycache__"
"""Folders of what Python compiles by itself: no digest covers them, and they are not kept."""

SYSTEM = tuple(Path(each) for each in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", sys.base_prefix))
"""What links may lead to: every trial sees it, and no digest of a user's files need cover it."""

Files = tuple[tuple[str, str], ...]
"""Names, each with the SHA-256 of what is there."""


def digest(path: Path) -> str:
    """The SHA-256 of a file; of a folder, that of the names, kinds and contents of all that is in it.

    Raises OSError, whose `strerror` says what is wrong and what is allowed.
    """
    if not path.is_dir():
        return _of_file(path)
    whole = hashlib.sha256()
    for name, kind, said in _entries(path):
        whole.update(f"{kind} {name}\0{said}\n".encode())
    return whole.hexdigest()


def keep(sources: Mapping[str, Path], files: Files) -> Path:
    """The folder in which every file of the set is under its name; copied there if it is not yet."""
    folder = _folder(files)
    if not folder.exists():
        private(FOLDER)
        with folder_noted(folder.parent / unique("partial")) as partial:
            for name, wanted in files:
                source, target = sources[name], partial / name
                if source.is_dir():
                    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(COMPILED))
                else:
                    shutil.copyfile(source, target)
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


def _of_file(path: Path) -> str:
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode):
        raise OSError(None, "it is no file; allowed: a file or a folder")
    if about.st_size > BYTES_MAX:
        raise OSError(None, f"it is too large; allowed: up to {BYTES_MAX >> 20} MiB")
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            whole.update(chunk)
    return whole.hexdigest()


def _entries(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(name, kind, digest or target) of everything below a folder that counts, in the order of the names."""
    count = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != COMPILED)
        for name in sorted((*folders, *names)):
            path = Path(here, name)
            count += 1
            if count > FILES_MAX:
                raise OSError(None, f"it has too many files; allowed: up to {FILES_MAX}")
            below = str(path.relative_to(folder))
            if path.is_symlink():
                _stays(path, folder)
                yield below, "link", os.readlink(path)
            elif path.is_dir():
                yield below, "folder", ""
            else:
                yield below, "program" if os.access(path, os.X_OK) else "file", _of_file(path)


def _stays(link: Path, folder: Path) -> None:
    """Raises OSError for a link to what neither the folder nor the system has: its digest would not cover that."""
    said = os.readlink(link)
    target = Path(os.path.abspath(link.parent / said))
    if not any(target.is_relative_to(each) for each in (SYSTEM if os.path.isabs(said) else (folder.absolute(),))):
        what = f"its link {str(link.relative_to(folder))!r} leads out of it, to {said!r}"
        raise OSError(None, f"{what}; allowed: links within it, without its own path, and to {SYSTEM[0]}")
