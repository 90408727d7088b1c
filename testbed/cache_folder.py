"""Where this user's kernels, tools and journal are kept, closed to other users, and who else is trusted with files.
Makes folders and lock files.

Whoever can open a file can lock it, so a file that only serves as a lock is its user's alone.
"""

import contextlib
import errno
import fcntl
import os
import pwd
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from .error import MachineError

KEY, KEY_BYTES = "key", 32
FIX = "export XDG_CACHE_HOME=/a/folder/of/yours"
SHARED = (Path("/var/cache/testbed"), Path("/usr/share/testbed"))
"""Where root keeps what all users of a computer use: kernels, compiled programs. Anybody else's files there are not
looked at.
"""
EVERYBODYS = ("0", "0", str(2**32 - 1))
"""The map of a user namespace that has all users."""


def user_folder() -> Path:
    """`$XDG_CACHE_HOME/testbed`, by default `~/.cache/testbed`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "testbed"


def shared_folders(name: str) -> tuple[Path, ...]:
    """The folders of this name that root keeps for all users. One that somebody else could change is left out."""
    return tuple(folder for each in SHARED if is_roots(folder := each / name))


def is_roots(path: Path) -> bool:
    """Whether only root can have put this file or folder there: it and every folder above it are root's, and nobody
    else may write to them. Links are not followed; nothing is no.
    """
    try:
        for each in (path, *path.absolute().parents):
            about = each.lstat()
            if about.st_uid != 0 or about.st_mode & 0o022 or stat.S_ISLNK(about.st_mode):
                return False
    except OSError:
        return False
    return True


def make(folder: Path) -> Path:
    """Makes a folder of the cache, and those above it that are missing: 0700, whatever the umask. Raises OSError."""
    try:
        os.mkdir(folder, 0o700)
    except FileNotFoundError:
        if folder.parent.is_dir():  # /proc says so of what cannot be made there
            raise
        make(folder.parent)
        make(folder)
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
    return folder


def flush(folder: Path) -> None:
    """Has the disk keep a folder with the files in it, so that none is empty after a power cut. Raises OSError."""
    for path in (*folder.iterdir(), folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def refuse_foreign(folder: Path) -> None:
    """Raises MachineError if this folder of the cache belongs to somebody who is not trusted, who could have put there
    what we run. Nothing is fine: it will be made.
    """
    try:
        owner = folder.stat().st_uid
    except (FileNotFoundError, NotADirectoryError):
        return
    if not is_trusted(owner):
        raise MachineError(f"{folder} belongs to another user", FIX)


def private(name: str) -> Path:
    """A folder of the cache that only this user may enter; made if there is none, and closed if it is open.

    Raises OSError if it cannot be made, and MachineError if it belongs to somebody else; root may use that of the user
    who typed sudo.
    """
    make(user_folder())
    folder = make(user_folder() / name)
    about = folder.stat()
    if about.st_uid != os.geteuid():
        if os.geteuid() != 0 or not is_trusted(about.st_uid):
            raise MachineError(f"{folder} belongs to another user", FIX)
    elif about.st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def open_lock(path: Path, *, make: bool = True) -> int:
    """The descriptor of a lock file, which belongs to the owner of its folder and which nobody else can open; made if
    there is none, unless `make` is false. Raises OSError if it cannot be opened, is a link or is no file.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags | (os.O_CREAT if make else 0), 0o600)
    try:
        about, home = os.fstat(descriptor), path.parent.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
            raise OSError(errno.EINVAL, f"{path.name} is no lock file", str(path))
        if os.geteuid() == 0 and about.st_uid != home.st_uid:
            os.fchown(descriptor, home.st_uid, home.st_gid)
        if os.geteuid() in (0, about.st_uid) and about.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Locks an opened file; False if somebody else has."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def locked(descriptor: int, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Locks an opened file, and closes it at the end; calls `on_wait` once if somebody else has it. The lock ends with
    us, however we end.
    """
    with os.fdopen(descriptor, "wb"):
        if not try_lock(descriptor):
            on_wait()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def user_key() -> bytes:
    """A secret of this user, by which the testbed knows again what it wrote; made when it is first needed. Raises
    OSError if the cache folder cannot be written.
    """
    path = private("own") / KEY
    with contextlib.suppress(FileNotFoundError):
        known = path.read_bytes()
        if len(known) == KEY_BYTES:
            return known
        path.unlink()
    fresh = path.with_name(f".{KEY}-{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):  # another process was first
            os.link(fresh, path)
        return path.read_bytes()
    finally:
        fresh.unlink(missing_ok=True)


def is_trusted(uid: int) -> bool:
    """Whether this is the user who runs, root, or who typed sudo; or nobody that this user namespace knows."""
    return uid in (0, os.geteuid(), sudo_user()) or (uid == _unknown_uid() and not _has_all_users())


def sudo_user() -> int | None:
    """The number of the user who typed sudo; None unless root runs under it."""
    uid, gid = (os.environ.get(key, "") for key in ("SUDO_UID", "SUDO_GID"))
    return int(uid) if os.geteuid() == 0 and uid.isdecimal() and gid.isdecimal() else None


def user(uid: int) -> str:
    """Whose it is, in words."""
    with contextlib.suppress(KeyError):
        return f"the user {pwd.getpwuid(uid).pw_name}"
    return f"the user number {uid}"


def _unknown_uid() -> int:
    """What a user namespace shows for users that it does not have."""
    try:
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except OSError:
        return 65534


def _has_all_users() -> bool:
    try:
        return tuple(Path("/proc/self/uid_map").read_text().split()) == EVERYBODYS
    except OSError:
        return True
