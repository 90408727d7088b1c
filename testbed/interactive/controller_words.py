"""What the controllers of a network that did not come up have printed. Reads files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..error import visible
from ..kernel import guest_file

FAILED = "is_connected=true"
"""In the failed step: a switch waited for its controller."""
FILES = "controller-*.err"
LINES = 12
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
    text = guest_file.told(path, guest_file.STORY_BYTES)
    return [line for line in text.splitlines() if line.strip()][-LINES:]
