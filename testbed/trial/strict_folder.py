"""A folder below which no symbolic link is followed, such as one of results that somebody else filled. Makes, writes,
moves and removes files in it.

The folder itself is the one that its user named, wherever that leads (`trusted_path`). What is in it is opened relative
to it, name by name, so that a link in it is no way out, whoever put it there. Everything is done by descriptors: who
exchanges a name between two steps has at most something in the same folder written, moved or removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..codec.frozen import dataclass
from ..error import UserError, visible
from . import trusted_path
from .trusted_path import FOLDER

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""No space, no more quota, and the limit of `ulimit -f`."""
FILES_MAX, COPIED_BYTES = 10_000, 1 << 20
DEPTH_MAX, PASSES_MAX = 50, 100_000
"""Nested folders that are open at the same time while they are removed, and how often deeper ones are moved up."""


@contextmanager
def opened(folder: Path, *names: str) -> Iterator[int]:
    """The descriptor of a folder, or of the one below it where the names lead. Raises UserError if a name is a link, or
    somebody else's link is on the way to the folder, OSError if it is no folder.
    """
    with contextlib.ExitStack() as stack:
        here = _kept(trusted_path.open_folder(folder), stack)
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
    under sudo the one who typed that. Raises OSError, and UserError if others could exchange what is on the way.
    """
    os.close(trusted_path.open_own(folder))


def make(folder: Path, name: str) -> None:
    """Makes a folder in a folder, unless there is one. Raises UserError if it is a link, or others may write to it,
    OSError if it cannot be.
    """
    with opened(folder) as here, contextlib.suppress(FileExistsError):
        os.mkdir(_plain(name), dir_fd=here)
    with opened(folder, name) as here:
        trusted_path.refuse_shared(folder / name, os.fstat(here))


@dataclass(frozen=True)
class Fresh:
    """A folder that we made and hold, with its name in another one that we hold. `path` is for those who need one."""

    path: Path
    name: str
    within: int
    held: int

    def put(self, folder: Path, *names: str) -> None:
        """Moves it to where the names lead below `folder`, readable for everybody who gets there. Raises UserError if a
        link is in the way, or somebody put something else in its place.
        """
        os.fchmod(self.held, 0o755)
        with opened(folder, *names[:-1]) as there:
            if is_link(names[-1], there):
                raise link_refused(folder.joinpath(*names))
            self.require(self.name, self.within)
            os.rename(self.name, names[-1], src_dir_fd=self.within, dst_dir_fd=there)
            self.require(names[-1], there)

    def require(self, name: str, here: int) -> None:
        """Raises UserError unless the name in an opened folder is this folder's."""
        try:
            is_ours = os.path.samestat(os.stat(name, dir_fd=here, follow_symlinks=False), os.fstat(self.held))
        except FileNotFoundError:
            is_ours = False
        if not is_ours:
            raise _exchanged(self.path)


@contextmanager
def fresh(parent: Path, prefix: str) -> Iterator[Fresh]:
    """A folder that only we may enter, and that is removed when the block ends, unless it was put somewhere."""
    with opened(parent) as within, contextlib.ExitStack() as stack:
        name = prefix + secrets.token_hex(8)
        path = Path(os.readlink(f"/proc/self/fd/{within}"), name)
        os.mkdir(name, 0o700, dir_fd=within)
        stack.callback(remove_at, name, within)
        try:
            held = _kept(os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=within), stack)
        except OSError:
            raise _exchanged(path) from None
        if os.fstat(held).st_uid != os.geteuid() or os.listdir(held):
            raise _exchanged(path)
        yield Fresh(path, name, within, held)


@contextmanager
def replacing(folder: Path, name: str, prefix: str, mode: int = 0o644) -> Iterator[int]:
    """The descriptor of a new file, which is on the disk and takes the place of `name`, also of a link, when the block
    ends without an error.
    """
    with opened(folder) as here:
        partial = f"{prefix}{_plain(name)}-{secrets.token_hex(4)}"
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=here)
        try:
            yield descriptor
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
            os.replace(partial, name, src_dir_fd=here, dst_dir_fd=here)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(partial, dir_fd=here)
            os.close(descriptor)


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
        return _ordinary(here, folder.joinpath(*names))


def _ordinary(here: int, place: Path) -> set[str]:
    found = os.listdir(here)
    other = next((name for name in sorted(found) if not (is_file(name, here) and name.isprintable())), None)
    if other is not None:
        file = place / visible(other)
        raise UserError(f"{file} is no plain file with a printable name; allowed: trials as `testbed run` wrote them")
    if len(found) > FILES_MAX:
        raise UserError(f"{place} has more than {FILES_MAX} files; allowed: trials as `testbed run` wrote them")
    return set(found)


def copy(folder: Path, *names: str, target: Path, most_bytes: int | None = None) -> int:
    """Copies an ordinary file below a folder to `target`, which there is not yet, with its times: the bytes that it has
    now, which are returned. Raises OSError, with EFBIG for more than `most_bytes`, and as `opened` does.
    """
    with opened(folder, *names[:-1]) as here:
        return _copy(_plain(names[-1]), here, folder.joinpath(*names), target, most_bytes)


def copy_all(folder: Path, *names: str, target: Path) -> None:
    """Copies the files of a trial's folder to the folder `target`, as `ordinary` and `copy` do."""
    place = folder.joinpath(*names)
    with opened(folder, *names) as here:
        for name in sorted(_ordinary(here, place)):
            _copy(name, here, place / name, target / name)


def _copy(name: str, here: int, said: Path, target: Path, most_bytes: int | None = None) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=here), "rb", 0) as source, target.open("xb", 0) as file:
        about = os.fstat(source.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise UserError(f"{said} is no plain file; allowed: files")
        if about.st_size > shutil.disk_usage(target.parent).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        if most_bytes is not None and about.st_size > most_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(target))
        left = about.st_size
        while left and (chunk := source.read(min(COPIED_BYTES, left))):
            left -= len(chunk)
            while chunk:
                chunk = chunk[file.write(chunk) :]
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
    return about.st_size


def remove(folder: Path, *names: str) -> None:
    """Removes a file, or a folder with all that is in it, as far as possible. Links stay, and what they lead to."""
    with contextlib.suppress(OSError), opened(folder, *names[:-1]) as here:
        if is_folder(names[-1], here) or is_file(names[-1], here):
            remove_at(names[-1], here)


def remove_tree(folder: Path) -> None:
    """Removes a folder with all that is in it, or a link, as far as possible."""
    with contextlib.suppress(FileNotFoundError), opened(folder.parent) as here:
        remove_at(folder.name, here)


def remove_at(name: str, here: int) -> None:
    """Removes what has a name in an opened folder, as far as possible: also folders that their owner may not enter, and
    that are nested too deep to be opened one in the other, as a guest may leave them. Links are removed, and not
    followed, whoever exchanges names meanwhile.
    """
    with contextlib.suppress(OSError):
        try:
            os.unlink(name, dir_fd=here)
        except IsADirectoryError:
            with _entered(name, here) as top:
                _empty(top)
            os.rmdir(name, dir_fd=here)


def _empty(top: int) -> None:
    """Removes all that is in an opened folder. What is nested deeper than DEPTH_MAX moves up, and goes with the next
    pass.
    """
    before: list[str] = []
    for _ in range(PASSES_MAX):
        left = os.listdir(top)
        if left == before:
            return
        before = left
        for name in left:
            _remove_below(name, top, top, 1)


def _remove_below(name: str, here: int, top: int, depth: int) -> None:
    with contextlib.suppress(OSError):
        try:
            os.unlink(name, dir_fd=here)
        except IsADirectoryError:
            with _entered(name, here) as inner:
                if depth > DEPTH_MAX:
                    os.rename(name, f".deep-{secrets.token_hex(8)}", src_dir_fd=here, dst_dir_fd=top)
                    return
                for each in os.listdir(inner):
                    _remove_below(each, inner, top, depth + 1)
            os.rmdir(name, dir_fd=here)


@contextmanager
def _entered(name: str, here: int) -> Iterator[int]:
    """The descriptor of a folder that its owner may now enter and change. Raises OSError if it is none, or a link."""
    with contextlib.ExitStack() as stack:
        place = _kept(os.open(name, trusted_path.PLACE | os.O_DIRECTORY, dir_fd=here), stack)
        if os.fstat(place).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)
        yield _kept(os.open(".", FOLDER, dir_fd=place), stack)


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


def _exchanged(path: Path) -> UserError:
    return UserError(f"somebody put something else in the place of {path}; allowed: a folder that only you write to")


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
