"""What a trial might leave behind: processes that were started in a folder, or whose network is not the host's."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 20.0
"""How long processes that were told to go have for it; a test that needs that long has failed."""


def processes_below(folder: Path) -> list[int]:
    """The processes whose working directory, or a word of whose command line, is in a folder."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            with suppress(OSError):
                words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if os.readlink(path / "cwd").startswith(f"{folder}/") or any(str(folder) in word for word in words):
                    found.append(int(path.name))
    return found


def outlive(pids: list[int]) -> list[int]:
    """Those of the processes that still run after some patience."""
    left = []
    for pid in pids:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            try:
                if not select.select([descriptor], [], [], PATIENCE_S)[0]:
                    left.append(pid)
            finally:
                os.close(descriptor)
    return left


def namespaces() -> set[str]:
    """The network namespaces that the host has names for."""
    folder = Path("/run/netns")
    return {path.name for path in folder.iterdir()} if folder.exists() else set()
