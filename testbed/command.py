"""Commands that build a network, each with its undo, and the batches in which they run. Pure, no I/O."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, TypeAlias

from .agent.kernel import OUTSIDE

Tool: TypeAlias = Literal["ip", "tc", "nft", "ethtool", "write"]

PREFIX = "tb-"
"""Begins the name of every network namespace of ours, and of nothing else."""


@dataclass(frozen=True)
class Command:
    """What one tool is told, in one network namespace (None: the one the plan starts in; OUTSIDE: the one that has
    this computer's real NICs).

    `words` are without the name of the tool; those of `write` are a file below /proc/sys or /sys and the value
    it gets. `undo` are words for the same tool; None where removing the namespace or the device undoes it.
    """

    tool: Tool
    words: tuple[str, ...]
    netns: str | None = None
    undo: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Batch:
    """Commands in a row for one tool in one namespace; tools that read batches get them in one process."""

    tool: Tool
    netns: str | None
    commands: tuple[Command, ...]


BATCH_LINES = 500
"""Most commands in one batch: `ip -batch` keeps a file open for every namespace that it names."""


def batches(commands: Iterable[Command]) -> Iterator[Batch]:
    """The commands in their order, cut where tool or namespace change."""
    for (tool, netns), run in groupby(commands, key=lambda command: (command.tool, command.netns)):
        members = tuple(run)
        for start in range(0, len(members), BATCH_LINES):
            yield Batch(tool, netns, members[start : start + BATCH_LINES])


def undos(commands: Iterable[Command]) -> tuple[Command, ...]:
    """What takes the commands back, last first."""
    return tuple(
        Command(command.tool, command.undo, command.netns)
        for command in reversed(tuple(commands))
        if command.undo is not None
    )


def script(commands: Iterable[Command]) -> str:
    """The commands as a script for a root shell."""
    return "".join(f"{_shell_line(command)}\n" for command in commands)


def steps(commands: Iterable[Command]) -> list[dict[str, Any]]:
    """The commands as steps for the agent, one for each process to start or list of files to write."""
    return [step for batch in batches(commands) for step in _STEPS[batch.tool](batch)]


def _shell_line(command: Command) -> str:
    netns, words = None if command.netns == OUTSIDE else command.netns, command.words
    line: tuple[str, ...]
    if command.tool == "write":
        path, value = words
        line = ("sh", "-c", f"echo {shlex.quote(value)} > {shlex.quote(path)}")
    elif command.tool == "nft":
        line = ("nft", " ".join(words))
    elif command.tool in ("ip", "tc") and netns is not None:
        return shlex.join((command.tool, "-n", netns, *words))
    else:
        line = (command.tool, *words)
    return shlex.join(line if netns is None else ("ip", "netns", "exec", netns, *line))


def _batch_file(batch: Batch) -> list[dict[str, Any]]:
    lines = "".join(f"{' '.join(command.words)}\n" for command in batch.commands)
    if batch.netns == OUTSIDE:
        return [{"run": [batch.tool, "-batch", "-"], "stdin": lines, "netns": OUTSIDE}]
    where = () if batch.netns is None else ("-n", batch.netns)
    return [{"run": [batch.tool, *where, "-batch", "-"], "stdin": lines}]


def _nft_file(batch: Batch) -> list[dict[str, Any]]:
    lines = "".join(f"{' '.join(command.words)}\n" for command in batch.commands)
    return [{"run": ["nft", "-f", "-"], "stdin": lines, "netns": batch.netns}]


def _each(batch: Batch) -> list[dict[str, Any]]:
    return [{"run": [batch.tool, *command.words], "netns": batch.netns} for command in batch.commands]


def _writes(batch: Batch) -> list[dict[str, Any]]:
    return [{"write": [list(command.words) for command in batch.commands], "netns": batch.netns}]


_STEPS = {"ip": _batch_file, "tc": _batch_file, "nft": _nft_file, "ethtool": _each, "write": _writes}
