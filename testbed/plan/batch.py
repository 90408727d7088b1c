"""Commands in batches, and the batches as steps that the agent executes. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from ..agent.syscall import OUTSIDE
from ..package import MININET_DRIVER, MININET_PYTHON
from .command import OWN_PROGRAM, OWN_QDISC_PROGRAM, Command, output_file, process_words, remote_name, takes_own_program
from .step import Location, Run, StartController, StartProgram, StartVm, Step, Write

BATCH_LINES = 500
"""Most commands in one batch: `ip -batch` keeps a file open for every namespace that it names."""


@dataclass(frozen=True)
class Batch:
    """Commands in a row for one tool in one location; tools that read batches get them in one process."""

    tool: str
    netns: str | None
    commands: tuple[Command, ...]
    on: str | None = None

    @property
    def where(self) -> Location:
        """Where its steps happen."""
        return Location(self.netns) if self.on is None else Location(on=remote_name(self.on, self.netns))


def batches(commands: Iterable[Command]) -> Iterator[Batch]:
    """The commands in their order, cut where tool or location change."""
    for (tool, netns, on), run in groupby(commands, key=lambda command: (program(command), command.netns, command.on)):
        members = tuple(run)
        for start in range(0, len(members), BATCH_LINES):
            yield Batch(tool, netns, members[start : start + BATCH_LINES], on)


def program(command: Command) -> str:
    """What does what a command says: programs of our own for queues that tc does not know, or may be too old for."""
    if command.tool == "tc" and OWN_PROGRAM in command.words:
        return OWN_PROGRAM
    return OWN_QDISC_PROGRAM if takes_own_program(command) else command.tool


def steps(commands: Iterable[Command]) -> tuple[Step, ...]:
    """One step for each process to start or list of files to write."""
    return tuple(step for batch in batches(commands) for step in _STEPS.get(batch.tool, _each)(batch))


def _mininet(batch: Batch) -> Iterator[Step]:
    words = (*MININET_PYTHON, f"/run/tools/{MININET_DRIVER}", "build", "/run/trial")
    return (Run(words, "mininet", stdin=command.words[1]) for command in batch.commands)


def _batch_file(batch: Batch) -> Iterator[Step]:
    if batch.netns == OUTSIDE:
        yield Run((batch.tool, "-batch", "-"), stdin=_lines(batch), where=Location(OUTSIDE))
        return
    inside = () if batch.netns is None else ("-n", batch.netns)
    yield Run(
        (batch.tool, *inside, "-batch", "-"),
        stdin=_lines(batch),
        where=None if batch.on is None else Location(on=batch.on),
    )


def _nft_file(batch: Batch) -> Iterator[Step]:
    yield Run(("nft", "-f", "-"), stdin=_lines(batch), where=batch.where)


def _own_file(batch: Batch) -> Iterator[Step]:
    yield Run((f"/run/tools/{OWN_QDISC_PROGRAM}",), stdin=_lines(batch), where=batch.where)


def _lines(batch: Batch) -> str:
    return "".join(f"{' '.join(command.words)}\n" for command in batch.commands)


def _own_queue(batch: Batch) -> Iterator[Step]:
    return (Run((f"/run/tools/{OWN_PROGRAM}", *command.words), where=batch.where) for command in batch.commands)


def _each(batch: Batch) -> Iterator[Step]:
    return (Run(process_words(command), where=batch.where) for command in batch.commands)


def _writes(batch: Batch) -> Iterator[Step]:
    yield Write(tuple((file, value) for file, value in (command.words for command in batch.commands)), batch.where)


def _machines(batch: Batch) -> Iterator[Step]:
    for name, *words in (command.words for command in batch.commands):
        yield StartVm(tuple(words), f"start {name}", batch.where, background=name, out=output_file(name))


def _files(batch: Batch) -> Iterator[Step]:
    return (Run(process_words(each), "file", stdin=each.words[1]) for each in batch.commands)


def _controllers(batch: Batch) -> Iterator[Step]:
    for command in batch.commands:
        name = f"controller-{command.words[0]}"
        yield StartController(process_words(command), "controller", batch.where, background=name)


def _programs(batch: Batch) -> Iterator[Step]:
    for command in batch.commands:
        name = f"controller-{command.words[0]}"
        words = process_words(command)
        yield StartProgram(words, "controller", batch.where, background=name, out=f"{name}.out")


_STEPS: dict[str, Callable[[Batch], Iterator[Step]]] = {
    "ip": _batch_file,
    "tc": _batch_file,
    OWN_QDISC_PROGRAM: _own_file,
    OWN_PROGRAM: _own_queue,
    "bridge": _batch_file,
    "nft": _nft_file,
    "write": _writes,
    "file": _files,
    "controller": _controllers,
    "program": _programs,
    "vm": _machines,
    "mininet": _mininet,
}
"""Commands of other tools run one by one."""
