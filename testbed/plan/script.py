"""Commands as a script for a root shell. Pure, no I/O."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from ..error import visible
from .command import HOME, Command


def script(commands: Iterable[Command]) -> str:
    """The commands as a script for a root shell."""
    return "".join(map(_shell_lines, commands))


def comment(text: str) -> str:
    """Text as lines that a shell skips, whatever is in it."""
    return "".join(f"# {visible(line)}\n" for line in text.split("\n"))


def _shell_lines(command: Command) -> str:
    if command.on is None:
        return f"{command.line}\n"
    if not command.on.endswith(HOME):
        return comment(f"on {command.on}: {command.line}")
    return f"{shlex.join(('ssh', command.on.removesuffix(HOME), command.line))}\n"
