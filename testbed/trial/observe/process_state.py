"""Whether a process lives, by what its file of /proc says. Pure, no I/O."""

from __future__ import annotations


def is_alive(state: str) -> bool:
    """By the line State of a process; without one, and as a zombie, which its parent has not waited for, it is dead."""
    return state.split()[1:2] not in ([], ["Z"])
