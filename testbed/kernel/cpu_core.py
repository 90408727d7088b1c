"""A processor core for one lab kernel at a time. Locks files in the user's cache folder.

User-Mode Linux is several host processes of which one runs at a time; kept on one core, a switch between them is a
context switch, and not a wake-up of another core: three times faster for a trial that starts many programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..cache_folder import open_lock, private, try_lock


@contextmanager
def reserved() -> Iterator[int | None]:
    """The number of a core that no other lab kernel of this user has; None, for any core, if all are taken."""
    folder = private("cores")
    for core in sorted(os.sched_getaffinity(0), reverse=True):
        descriptor = open_lock(folder / str(core))
        if not try_lock(descriptor):
            os.close(descriptor)
            continue
        try:
            yield core
        finally:
            os.close(descriptor)
        return
    yield None
