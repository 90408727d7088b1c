"""Repeats a command each time that a file is saved. Starts the command as a process of its own."""

from __future__ import annotations

import hashlib
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ... import process
from ...error import UserError
from ...process import CommandError, Running

LOOK_S = 0.3
GRACE_S = 30.0
"""How long a command that is interrupted may take to keep what is finished."""


def watch(path: Path, words: Sequence[str]) -> NoReturn:
    """Runs the command now and at each save, until Ctrl-C. A save while it runs interrupts it, and what it finished is
    kept. Raises UserError for what is no file.
    """
    if not path.is_file():
        raise UserError(f"--watch {path}: there is no such file; allowed: a file tcp_NAME.c, or a patch")
    while True:
        seen = _content(path)
        with process.start(words, stdin=None) as running:
            while _goes_on(running):
                if _content(path) != seen:
                    _interrupt(running)
                    break
        print(f"--- waiting until {path} is saved (Ctrl-C ends it)", flush=True)
        while _content(path) == seen:
            time.sleep(LOOK_S)
        print(f"--- {path} was saved", flush=True)


def _goes_on(running: Running) -> bool:
    try:
        running.wait(LOOK_S)
    except CommandError:
        return True
    return False


def _interrupt(running: Running) -> None:
    running.signal(signal.SIGTERM)  # what the background of a shell starts ignores SIGINT
    deadline = time.monotonic() + GRACE_S
    while time.monotonic() < deadline and _goes_on(running):
        pass


def _content(path: Path) -> str:
    """What is in it; of a file that an editor is just replacing, nothing."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
