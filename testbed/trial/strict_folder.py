"""A folder below which no symbolic link is followed, such as one of results that somebody else filled. Makes, writes
and removes files in it.

The folder itself is the one that its user named, wherever that leads. What is in it is opened relative to it, name by
name, so that a link in it is no way out, whoever put it there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import process
from ..error import MachineError, UserError, visible
from ..process import CommandError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""No space, no more quota, and the limit of `ulimit -f`."""
FILES_MAX, COPIED_BYTES = 10_000, 1 << 20

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def opened(folder: Path, *names: str) -> Iterator[int]:
    """The descriptor of a folder, or of the one below it where the names lead. Raises UserError if a name is a link,
    OSError if it is no folder.
    """
    with contextlib.ExitStack() as stack:
        here = _kept(os.open(folder, FOLDER), stack)
        for number, name in enumerate(names):
            try:
                here = _kept(os.open(_plain(name), FOLDER | os.O_NOFOLLOW, dir_fd=here), stack)
            except OSError:
                if is_link(name, here):
                    raise link_refused(folder.joinpath(*names[: number + 1])) from None
                raise
        yield here


def make_own(folder: Path) -> None:
    """Makes the folder that a user named, unless there is one, and those above it: only this user may enter it, and
    under sudo the one who typed that. Raises OSError.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return
    uid, gid = (os.environ.get(key, "") for key in ("SUDO_UID", "SUDO_GID"))
    if os.geteuid() == 0 and uid.isdecimal() and gid.isdecimal():
        os.chown(folder, int(uid), int(gid))


def make(folder: Path, name: str) -> None:
    """Makes a folder in a folder, unless there is one. Raises UserError if it is a link, OSError if it cannot be."""
    with opened(folder) as here, contextlib.suppress(FileExistsError):
        os.mkdir(_plain(name), dir_fd=here)
    with opened(folder, name):
        pass


def write(folder: Path, *names: str, data: bytes) -> None:
    """Writes a file anew below a folder; a link of its name is replaced. Raises as `opened` does."""
    with opened(folder, *names[:-1]) as here:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_plain(names[-1]), dir_fd=here)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(names[-1], flags, 0o644, dir_fd=here), "wb") as file:
            file.write(data)


def names_in(folder: Path, *names: str) -> list[str]:
    """What a folder has, sorted; nothing if there is no folder. Raises UserError for a link."""
    try:
        with opened(folder, *names) as here:
            return sorted(os.listdir(here))
    except (FileNotFoundError, NotADirectoryError):
        return []


def ordinary(folder: Path, *names: str) -> set[str]:
    """The names of all that is in a trial's folder. Raises UserError if anything in it is no ordinary file, or there
    are too many; and as `opened` does.
    """
    with opened(folder, *names) as here:
        found = os.listdir(here)
        other = next((name for name in sorted(found) if not (is_file(name, here) and name.isprintable())), None)
    place = folder.joinpath(*names)
    if other is not None:
        file = place / visible(other)
        raise UserError(f"{file} is no plain file with a printable name; allowed: trials as `testbed run` wrote them")
    if len(found) > FILES_MAX:
        raise UserError(f"{place} has more than {FILES_MAX} files; allowed: trials as `testbed run` wrote them")
    return set(found)


def copy(folder: Path, *names: str, target: Path) -> None:
    """Copies an ordinary file below a folder to `target`, which there is not yet, with its times. Raises OSError, and
    as `opened` does.
    """
    with opened(folder, *names[:-1]) as here:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(_plain(names[-1]), flags, dir_fd=here), "rb") as source, target.open("xb") as file:
            about = os.fstat(source.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UserError(f"{folder.joinpath(*names)} is no plain file; allowed: files")
            if about.st_size > shutil.disk_usage(target.parent).free:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
            shutil.copyfileobj(source, file, COPIED_BYTES)
        os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))


def remove(folder: Path, *names: str) -> None:
    """Removes a file, or a folder with all that is in it, as far as possible. Links stay, and what they lead to."""
    with contextlib.suppress(OSError), opened(folder, *names[:-1]) as here:
        if is_folder(names[-1], here):
            remove_tree(Path(f"/proc/{os.getpid()}/fd/{here}", names[-1]))
        elif is_file(names[-1], here):
            os.unlink(names[-1], dir_fd=here)


def remove_tree(folder: Path) -> None:
    """Removes a folder with all that is in it, as far as possible: also what its owner may not enter, and what is
    nested too deep for Python, as a guest may leave it. Links in it are removed, and not followed.
    """
    try:
        if folder.is_symlink():
            folder.unlink()
        else:
            shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        for words in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            with contextlib.suppress(CommandError, MachineError):
                process.run((*words, "--", folder))


def is_name(text: str) -> bool:
    """Whether this is the name of a file or folder, and no path to another."""
    return text not in ("", ".", "..") and "/" not in text and "\0" not in text


def is_folder(name: str, here: int) -> bool:
    """Whether a name in an opened folder is that of a folder, and not a link to one."""
    return _is(stat.S_ISDIR, name, here)


def is_link(name: str, here: int) -> bool:
    return _is(stat.S_ISLNK, name, here)


def is_file(name: str, here: int) -> bool:
    return _is(stat.S_ISREG, name, here)


def link_refused(path: Path) -> UserError:
    return UserError(f"{path} is a symbolic link, and may lead anywhere; allowed: a file or folder in its place")


def _is(kind: Callable[[int], bool], name: str, here: int) -> bool:
    try:
        return kind(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _kept(descriptor: int, stack: contextlib.ExitStack) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _plain(name: str) -> str:
    """A name that leads nowhere else. Raises UserError for any other, which may stand in a file."""
    if not is_name(name):
        raise UserError(f"{name!r} is not the name of a file or folder in a results folder")
    return name
