"""What the controllers of a network that did not come up have printed. Reads files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..error import visible
from ..spec.syntax import input_file

FAILED = "is_connected=true"
"""In the failed step: a switch waited for its controller."""
FILES = "controller-*.err"
LINES, BYTES = 12, 4096
"""Of what each controller printed, at most; the last ones."""


def told(error: str, folder: Path) -> str:
    """The error, and what each controller printed last; other errors than a controller that is not there as they are.

    `folder` is where the network's steps write their files.
    """
    if FAILED not in error:
        return error
    return "\n".join(["a switch did not find its controller", *_printed(folder)])


def _printed(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob(FILES)):
        name = path.stem.removeprefix("controller-")
        lines = _last_lines(path)
        yield f"{name} printed, at last:" if lines else f"{name} printed nothing"
        yield from (f"  {visible(line)}" for line in lines)


def _last_lines(path: Path) -> list[str]:
    with contextlib.suppress(OSError), input_file.opened(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - BYTES))
        text = file.read(BYTES).decode(errors="replace")
        return [line for line in text.splitlines() if line.strip()][-LINES:]
    return []
