"""Attachments: the files that a spec file names, found in its folder or among those that the user permits. Looks for
files.

What a file says that is read because another file names it goes into results. So a file from the Internet may name what
came with it, and nothing else: what is in its folder or below, wherever links lead, and is not hidden.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from pathlib import Path

from ...codec.fault import Fault
from ...codec.fault import Path as Place
from ...codec.frozen import dataclass
from .document import Document

OPTION = "--allow-file"


class Outside(OSError):
    """A spec file may not name this file: `strerror` says why, `allowed` what may be done."""

    def __init__(self, said: str, why: str, real: str) -> None:
        super().__init__(errno.EACCES, why, said)
        self.real = real
        self.allowed = f"a file in the folder of the file that names it, or below; or testbed … {OPTION} {real}"


@dataclass(frozen=True)
class Permission:
    """What the user permits on the command line, beyond what every spec file may do.

    `files` are files and folders that any spec file may name. `python` says whether topologies in Python are read.
    """

    files: tuple[Path, ...] = ()
    python: bool = True


NOTHING_MORE = Permission()


@dataclass(frozen=True)
class Folder:
    """The folder of a spec file, in which the files are that it names.

    `last` are the orders that are carried out when all of the spec files are right: to keep files.
    """

    path: str
    permission: Permission = NOTHING_MORE
    last: list[Callable[[], None]] = field(default_factory=list)

    @classmethod
    def of(cls, file: str | os.PathLike[str], permission: Permission = NOTHING_MORE) -> Folder:
        return cls(os.path.dirname(os.fspath(file)), permission)

    def other(self, file: str | os.PathLike[str]) -> Folder:
        """That of another spec file, which this one names."""
        return Folder(os.path.dirname(os.fspath(file)), self.permission, self.last)

    def find(self, document: Document, place: Place, said: str) -> str:
        """The one path that is judged, without links: of the file that the document names at a place, or of where it
        would be. It may be another file's when it is opened later; `held` is for what is read now.

        Raises Outside, and OSError for what cannot be a path.
        """
        try:
            with self.held(document, place, said) as held:
                return os.readlink(held)
        except FileNotFoundError:
            return os.path.realpath(os.path.join(self.path, said))

    def held(self, document: Document, place: Place, said: str) -> AbstractContextManager[str]:
        """The same file as `held_here` gives it; what a user has typed may be any."""
        position = document.positions[document.written(place)]
        return self.held_here(said, is_free=position.is_option)

    @contextmanager
    def held_here(self, said: str, *, is_free: bool = False) -> Iterator[str]:
        """A path of the file that has this name in the folder, for as long as the block lasts: that of a descriptor, so
        the file that was judged is the one that is read. `is_free` says that it may be any file.

        Raises Outside, and OSError if there is none.
        """
        if "\0" in said or any("\ud800" <= each <= "\udfff" for each in said):
            raise OSError(errno.EINVAL, "no file can have this name")
        path = os.path.join(self.path, said)
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            if not is_free:  # of what is elsewhere nothing is said, not even that it is missing
                self._refuse(os.path.realpath(path), said)
            raise
        try:
            held = f"/proc/self/fd/{descriptor}"
            if not is_free:
                self._refuse(os.readlink(held), said)
            yield held
        finally:
            os.close(descriptor)

    def _refuse(self, path: str, said: str) -> None:
        """Raises Outside unless a spec file of this folder may name what is at a path without links."""
        real, own = Path(path), Path(os.path.realpath(self.path or "."))
        if any(real.is_relative_to(each) for each in self.permission.files):
            return
        if real == own:
            raise Outside(said, "it is the folder of this file itself", str(real))
        if not real.is_relative_to(own):
            where = "" if str(real) == os.path.normpath(said) else f" ({real})"
            raise Outside(said, f"it is outside the folder of this file{where}", str(real))
        if any(part.startswith(".") for part in real.relative_to(own).parts):
            raise Outside(said, "it is hidden: a name begins with a dot", str(real))

    def carry_out(self) -> None:
        for order in self.last:
            order()


def unread(place: Place, said: str, error: OSError, allowed: str, *, named: bool = False) -> Fault:
    """That a file which is named at a place cannot be read, or may not be; `allowed` is for the former, unless
    the error says that itself.
    """
    what, _, own = str(error.strerror).partition("; allowed: ")
    may = error.allowed if isinstance(error, Outside) else own or allowed
    return Fault(place, f"the file {said!r} cannot be read: {what}", may, named)


def permitted(paths: Iterable[str | os.PathLike[str]], python: bool = True) -> Permission:
    """What --allow-file names, wherever links lead."""
    return Permission(tuple(Path(os.path.realpath(each)) for each in paths), python)
