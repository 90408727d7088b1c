"""What a run of the tests has for itself, so that two runs on one computer do not see each other: a cache folder with a
journal and networks of its own, no terminal, and, as root, the names of its network namespaces.

Everything that a test starts inherits them. Kernels and tools are shared: they are made once and never change.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from testbed.cache_folder import user_folder

SHARED = user_folder()
"""The user's own cache folder."""
SHARED_FOLDERS = ("kernels", "tools", "vm", "debian", "cores", "trees")
"""What of it all runs share; `cores` has the locks by which lab kernels share out the processors."""
NAMES = Path("/run/netns")
"""Where `ip netns` keeps the names of network namespaces."""
TERMINAL = ("COLUMNS", "LINES")
"""The size of the terminal that the tests were started from; text in tests has its own width."""
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Where it is set, each command that a test starts would compile the package again, which doubles its start."""
CLONE_NEWNS, MS_REC, MS_SLAVE = 0x20000, 0x4000, 0x80000
LIBC = ctypes.CDLL(None, use_errno=True)


def begin() -> Callable[[], None]:
    """From here on this process and all that it starts are by themselves; what it returns removes the folder."""
    folder = tempfile.TemporaryDirectory(prefix="testbed-tests-")
    _make_cache(Path(folder.name))
    os.environ["XDG_CACHE_HOME"] = folder.name
    sys.dont_write_bytecode = False
    for name in (*TERMINAL, NO_BYTECODE):
        os.environ.pop(name, None)
        os.unsetenv(name)  # readline sets them behind Python's back
    if os.geteuid() == 0:
        _hide_namespaces()
    return folder.cleanup


def _make_cache(folder: Path) -> None:
    """Links to all that others keep in the user's cache, such as matplotlib its list of fonts."""
    (folder / "testbed").mkdir()
    (SHARED.parent / "matplotlib").mkdir(parents=True, exist_ok=True)
    for path in SHARED.parent.iterdir():
        if path.name != "testbed":
            (folder / path.name).symlink_to(path)
    for name in SHARED_FOLDERS:
        (SHARED / name).mkdir(parents=True, exist_ok=True)
        (folder / "testbed" / name).symlink_to(SHARED / name)


def _hide_namespaces() -> None:
    """A mount namespace, in which the names of others' network namespaces are not to be seen."""
    NAMES.mkdir(exist_ok=True)
    _checked(LIBC.unshare(CLONE_NEWNS))
    _checked(LIBC.mount(None, b"/", None, MS_REC | MS_SLAVE, None))
    _checked(LIBC.mount(b"tmpfs", bytes(NAMES), b"tmpfs", 0, b"mode=755"))


def _checked(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
