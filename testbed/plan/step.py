"""Commands as steps that the agent executes. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..agent.syscall import OUTSIDE
from ..package import MININET_DRIVER, MININET_PYTHON
from .command import Batch, Command, batches, output_file, process_words


def steps(commands: Iterable[Command]) -> list[dict[str, Any]]:
    """The commands as steps for the agent, one for each process to start or list of files to write."""
    return [step for batch in batches(commands) for step in _STEPS.get(batch.tool, _each)(batch)]


def _mininet(batch: Batch) -> list[dict[str, Any]]:
    words = [*MININET_PYTHON, f"/run/tools/{MININET_DRIVER}", "build", "/run/trial"]
    return [{"title": "mininet", "run": words, "stdin": command.words[1]} for command in batch.commands]


def _batch_file(batch: Batch) -> list[dict[str, Any]]:
    lines = "".join(f"{' '.join(command.words)}\n" for command in batch.commands)
    if batch.netns == OUTSIDE:
        return [{"run": [batch.tool, "-batch", "-"], "stdin": lines, "netns": OUTSIDE}]
    where = () if batch.netns is None else ("-n", batch.netns)
    on = {} if batch.on is None else {"on": batch.on}
    return [{"run": [batch.tool, *where, "-batch", "-"], "stdin": lines, **on}]


def _nft_file(batch: Batch) -> list[dict[str, Any]]:
    lines = "".join(f"{' '.join(command.words)}\n" for command in batch.commands)
    return [{"run": ["nft", "-f", "-"], "stdin": lines, **batch.where}]


def _each(batch: Batch) -> list[dict[str, Any]]:
    return [{"run": list(process_words(command)), **batch.where} for command in batch.commands]


def _writes(batch: Batch) -> list[dict[str, Any]]:
    return [{"write": [list(command.words) for command in batch.commands], **batch.where}]


def _starts(batch: Batch) -> list[dict[str, Any]]:
    return [_start(*command.words, where=batch.where) for command in batch.commands]


def _start(name: str, *words: str, where: dict[str, str | None]) -> dict[str, Any]:
    return {"title": f"start {name}", "run": list(words), "background": name, "out": output_file(name), **where}


def _files(batch: Batch) -> list[dict[str, Any]]:
    return [{"title": "file", "run": list(process_words(each)), "stdin": each.words[1]} for each in batch.commands]


def _controllers(batch: Batch) -> list[dict[str, Any]]:
    return [
        {
            "title": "controller",
            "run": list(process_words(command)),
            "netns": batch.netns,
            "background": f"controller-{command.words[0]}",
        }
        for command in batch.commands
    ]


_STEPS: dict[str, Callable[[Batch], list[dict[str, Any]]]] = {
    "ip": _batch_file,
    "tc": _batch_file,
    "bridge": _batch_file,
    "nft": _nft_file,
    "write": _writes,
    "file": _files,
    "controller": _controllers,
    "start": _starts,
    "mininet": _mininet,
}
"""Those of other tools are started one by one."""
