"""What a guest wrote, read by us: no more of it than fits, and ordinary files only. Reads files.

Whoever is root in a guest can make a file of any length that takes nothing of the disk, put a link or a pipe in its
place where nothing confines guests, and send any bytes over the guest's channel. So everything outside that reads what
a running guest wrote has its limit here. A trial's folder is bounded as a whole once the guest has ended
(`trial.evidence.remains`).
"""

from __future__ import annotations

import os
from pathlib import Path

from ..spec.syntax import input_file

CONSOLE_BYTES = OUTCOME_BYTES = 1 << 20
"""Of the end of a guest's console, and of the agent's outcome."""
SIGN_BYTES = 4096
"""Of a sign of life."""
STEPS_BYTES = 64 << 20
"""Of the agent's log of its steps."""
COUNTERS_BYTES = 64 << 20
"""Of what the observer tells of a network that stands."""
SAID_BYTES, STORY_BYTES, ERRORS_BYTES = 4 << 20, 4096, 16 << 10
"""Of one output of an exercise; of the end of what programs, and controllers, printed, where a reason is to be told."""
OUTPUT_BYTES, LINE_BYTES = 64 << 20, 1 << 20
"""Of one stream of a program that we run in a network that stands; and of one that somebody typed in `watch`."""
ANSWER_BYTES = 1 << 20
"""Of a keeper's answer."""
HELD_BYTES = 8 << 20
"""Of what waits for a client before a keeper takes nothing more from the agent, and of what waits for the page of a
terminal before the terminal ends. An agent that keeps to the windows never gets there: it sends `frame.WINDOW_BYTES`,
and when the program has ended `session.REST_BYTES` more.
"""
COPIED_BYTES = 1 << 20
"""Of what a Mininet script prints, each time that its guest is looked at."""
PRINTED_BYTES = 1 << 30
"""Of all that a Mininet script prints to one stream."""
COUNT_BYTES = 20
"""Of a number in decimal digits."""


def beginning(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Raises OSError for what is no ordinary file, a symbolic link included."""
    with input_file.opened(path) as file:
        return file.read(most_bytes)


def end(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Raises OSError as `beginning` does."""
    with input_file.opened(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - most_bytes))
        return file.read(most_bytes)


def told(path: Path, most_bytes: int) -> str:
    """The end of a text; empty where there is no such file."""
    try:
        return end(path, most_bytes).decode(errors="replace")
    except OSError:
        return ""
