"""The guest agent of virtual machines whose root is this computer's: Debian's, installed or unpacked.

Touches its own folder (`$XDG_CACHE_HOME/testbed/vm`). Installing the package could start a service on this computer;
unpacking it does not.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from ... import package, process
from ...cache_folder import make
from ...error import MachineError
from . import kernel_cache

PROGRAM, PACKAGE = "qemu-ga", "qemu-guest-agent"


def agent() -> Path:
    """Its real path, because machines have their own /tmp. Raises MachineError with the command that gets it."""
    found = package.which(PROGRAM)
    path = Path(found) if found else _unpacked()
    if not path.exists():
        raise MachineError(
            f"the guest agent {PROGRAM} is missing, which virtual machines need", kernel_cache.FETCH_COMMAND
        )
    return path.resolve()


def need(report: Callable[[str], None]) -> None:
    """Fetches it if it is missing."""
    try:
        agent()
    except MachineError:
        report("fetching the guest agent")
        fetch()


def fetch() -> Path:
    """Unpacks the package of this computer's own release, whose libraries are here. MachineError if APT has none."""
    home = kernel_cache.folder()
    make(home)
    with tempfile.TemporaryDirectory(dir=home, prefix=".partial-") as name:
        made = Path(name)
        try:
            process.run(["apt-get", "-q", "download", PACKAGE], cwd=made)
        except (process.CommandError, MachineError) as error:
            said = error.stderr.strip() if isinstance(error, process.CommandError) else error.what
            fix = f"sudo apt-get update && {kernel_cache.FETCH_COMMAND}"
            raise MachineError(f"APT does not get {PACKAGE}: {said}", fix) from error
        (archive,) = made.glob("*.deb")
        process.run(["dpkg-deb", "--extract", archive, made / "agent"])
        shutil.rmtree(home / "agent", ignore_errors=True)
        (made / "agent").rename(home / "agent")
    return _unpacked()


def _unpacked() -> Path:
    return kernel_cache.folder() / "agent" / "usr/sbin" / PROGRAM
