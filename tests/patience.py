"""How tests wait for what must come about. A busy computer lets a process wait for seconds, again and again: what has
come ends a wait, so only a test that fails takes as long as its patience.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 180.0
"""For one thing to come about. It is a limit, and nothing that a test measures."""


def wait_for(is_so: Callable[[], object], what: str = "it", limit_s: float = PATIENCE_S) -> None:
    """Looks until it is so. `what` is said of what did not come about."""
    until = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < until, f"{what} did not come about"
        time.sleep(0.02)
