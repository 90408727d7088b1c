"""A processor core for one lab kernel at a time. Locks files in the user's cache folder.

User-Mode Linux is several host processes of which one runs at a time; kept on one core, a switch between them is a
context switch, and not a wake-up of another core: three times faster for a trial that starts many programs.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..cache_folder import user_folder


@contextmanager
def reserved() -> Iterator[int | None]:
    """The number of a core that no other lab kernel of this user has; None, for any core, if all are taken."""
    folder = user_folder() / "cores"
    folder.mkdir(parents=True, exist_ok=True)
    for core in sorted(os.sched_getaffinity(0), reverse=True):
        descriptor = os.open(folder / str(core), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        try:
            yield core
        finally:
            os.close(descriptor)
        return
    yield None
