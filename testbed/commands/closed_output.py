"""A command whose output somebody closed, as `head` does. Changes where that output goes."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NoReturn, TextIO

CLOSED = 141
"""Its exit code: that of a program which SIGPIPE ends. It is no verdict."""


def closed(stream: TextIO) -> NoReturn:
    """Ends the command without a word, as nobody reads it; nor is what is left in the buffer an error."""
    given_up(stream)
    raise SystemExit(CLOSED)


def given_up(stream: TextIO) -> None:
    """What is left in its buffer, and all that comes, goes nowhere, so that Python does not fail with it at its end."""
    with suppress(OSError, ValueError):
        to_nowhere(stream.fileno())


def to_nowhere(number: int) -> None:
    """Has a descriptor lead nowhere, also one that is closed; programs that are started inherit it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere == number:
        os.set_inheritable(number, True)
        return
    os.dup2(nowhere, number)
    os.close(nowhere)
