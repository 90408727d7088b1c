"""The way to a folder that a user named: every folder on it is opened from the one before. Makes folders, and says who
else could change where the way leads.

A symbolic link on the way is followed only if it is of somebody trusted, so nobody else can have a name lead elsewhere
between two looks at it. Trusted are the user who runs, root, and for root under sudo the user who typed that.
"""

from __future__ import annotations

import contextlib
import errno
import grp
import os
import pwd
import stat
from collections.abc import Callable
from pathlib import Path

from ..cache_folder import is_trusted, sudo_user, user
from ..error import UserError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
PLACE = os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW
LINKS_MAX = 40
MADE_MODE, OWN_MODE = 0o775, 0o700
"""Of folders that are made on the way, as far as the umask allows, and of the last one."""
WITHOUT_MODES = frozenset(
    ("9p", "cifs", "drvfs", "exfat", "fuse.vmhgfs-fuse", "fuseblk", "msdos", "ntfs", "ntfs3", "smb3", "vboxsf", "vfat")
)
"""File systems whose folders keep the mode that they have: shared folders of virtual machines, foreign disks."""

Look = Callable[[Path, os.stat_result], None]


def open_folder(path: Path) -> int:
    """The descriptor of the folder. Raises UserError if somebody else's link is on the way, OSError if it is none."""
    return _walked(path, lambda where, about: None, make=False)


def open_made(path: Path) -> int:
    """The same; it and those above it are made if they are missing, under sudo for the user who typed that."""
    return _walked(path, lambda where, about: None, make=True, mode=MADE_MODE)


def open_own(path: Path) -> int:
    """The same, for a folder to write to; it and those above it are made if they are missing: only this user may enter
    the last one, and under sudo all that are made belong to the user who typed that. Raises UserError if somebody else
    could put something in the place of a folder on the way.
    """
    return _walked(path, refuse_shared, make=True)


def named(path: Path) -> Path:
    """The file that a user named, or the one that a link of that name leads to, which there need not be. Raises
    UserError for somebody else's link, OSError if there is no such folder.
    """
    for _ in range(LINKS_MAX):
        here = open_folder(path.parent)
        try:
            path = path.parent / _target(path, path.name, here)
        except (NotADirectoryError, FileNotFoundError):
            return path
        finally:
            os.close(here)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def refuse_shared(where: Path, about: os.stat_result) -> None:
    """Raises UserError if somebody who is not trusted may exchange what is in a folder."""
    why, remedy = _shared(where, about)
    if why:
        raise UserError(f"{where} {why}, who could exchange what is in it while we write; allowed: {remedy}")


def _walked(path: Path, look: Look, *, make: bool, mode: int = OWN_MODE) -> int:
    """`mode` is that of the last folder, if it is made."""
    parts = list(reversed(path.absolute().parts[1:]))
    where, links = Path("/"), 0
    here = os.open("/", PLACE | os.O_DIRECTORY)
    try:
        while parts:
            look(where, os.fstat(here))
            name = parts.pop()
            try:
                there = os.open(name, PLACE | os.O_DIRECTORY, dir_fd=here)
            except FileNotFoundError:
                if not make:
                    raise
                there = _made(name, here, mode if not parts else MADE_MODE)
            except OSError:
                target = _target(where / name, name, here)
                links += 1
                if links > LINKS_MAX:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
                parts += reversed([each for each in target.parts if each != "/"])
                if not target.is_absolute():
                    continue
                where, there = Path("/"), os.open("/", PLACE | os.O_DIRECTORY)
            else:
                where = where.parent if name == ".." else where / name
            os.close(here)
            here = there
        look(where, os.fstat(here))
        return os.open(".", FOLDER, dir_fd=here)
    finally:
        os.close(here)


def _target(link: Path, name: str, here: int) -> Path:
    """Where a link leads. Raises UserError if it is somebody's who is not trusted, OSError if it is none."""
    place = os.open(name, PLACE, dir_fd=here)
    try:
        about = os.fstat(place)
        if not stat.S_ISLNK(about.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(link))
        if not is_trusted(about.st_uid):
            who = user(about.st_uid)
            raise UserError(f"{link} is a symbolic link of {who}, and may lead anywhere; allowed: links of your own")
        return Path(os.readlink("", dir_fd=place))
    finally:
        os.close(place)


def _made(name: str, here: int, mode: int) -> int:
    """A folder that we make, and that belongs to the user who typed sudo, if somebody did."""
    uid, is_ours = sudo_user(), True
    try:
        os.mkdir(name, mode, dir_fd=here)
    except FileExistsError:  # somebody was faster, and it will be looked at
        is_ours = False
    there = os.open(name, PLACE | os.O_DIRECTORY, dir_fd=here)
    if is_ours and uid is not None and os.fstat(there).st_uid == os.geteuid():
        os.chown(f"/proc/self/fd/{there}", uid, int(os.environ["SUDO_GID"]))
    return there


def _shared(where: Path, about: os.stat_result) -> tuple[str, str]:
    """Who else may exchange what is in a folder, and what to do; empty if nobody."""
    if not is_trusted(about.st_uid):
        sudo = f", or sudo by {user(about.st_uid)}" if os.geteuid() == 0 else ""
        return f"belongs to {user(about.st_uid)}", f"-o with a folder of yours, in folders of yours or root's{sudo}"
    if about.st_mode & stat.S_ISVTX:
        return "", ""
    if about.st_mode & stat.S_IWOTH and not _is_without_modes(about):
        return "may be written to by everybody", f"-o with another folder, or this one after: chmod o-w {where}"
    if about.st_mode & stat.S_IWGRP and about.st_gid not in _groups() and not _is_without_modes(about):
        group = f"may be written to by {_group(about.st_gid)}, a group that you are not in"
        return group, f"-o with another folder, or this one after: chmod g-w {where}"
    return "", ""


def _groups() -> set[int]:
    """Those of the user who runs, and of the one who typed sudo: whose other members may share a folder with them."""
    uid = sudo_user()
    own = {os.getegid(), *os.getgroups()}
    if uid is None:
        return own
    gid = int(os.environ["SUDO_GID"])
    with contextlib.suppress(KeyError):
        return {*own, gid, *os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)}
    return {*own, gid}


def _group(gid: int) -> str:
    with contextlib.suppress(KeyError):
        return f"the group {grp.getgrgid(gid).gr_name}"
    return f"the group number {gid}"


def _is_without_modes(about: os.stat_result) -> bool:
    """Whether a folder's file system keeps no modes, so that nobody could close it."""
    device = f"{os.major(about.st_dev)}:{os.minor(about.st_dev)}"
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            before, _, after = line.partition(" - ")
            if before.split()[2] == device:
                return after.split()[0] in WITHOUT_MODES
    return False
