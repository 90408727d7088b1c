"""The programs that steps start on this computer. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from .step import Run, Step, Timeline

SHELLS = ("sh", "awk")
"""Programs that start others, which their words and their input name."""

WORD = re.compile(r"(?<![\w/.-])[\w-]+")
"""Not the name of a file in a folder, such as `/run/frr/r1/zebra.pid`."""


def programs(steps: Iterable[Step], known: Collection[str]) -> Iterator[str]:
    """Their names, each as often as it is started. Of what a shell starts, those that are `known`. Without programs on
    remote nodes, and those that a path or a placeholder names: they are ours.
    """
    for step in steps:
        if isinstance(step, Timeline):
            for moment in step.moments:
                yield from programs((*moment.steps, *moment.then), known)
        elif isinstance(step, Run) and (step.where is None or step.where.on is None):
            yield from _of(step.words, step.stdin or "", known)


def _of(words: tuple[str, ...], text: str, known: Collection[str]) -> Iterator[str]:
    program, *rest = words
    if "/" not in program and "@" not in program:
        yield program
    if program == "env":
        started = tuple(rest[next(at for at, word in enumerate(rest) if "=" not in word) :])
        yield from _of(started, text, known)
    elif program in SHELLS:
        yield from (word for part in (*rest, text) for word in WORD.findall(part) if word in known)
