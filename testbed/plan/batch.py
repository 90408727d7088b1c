"""Commands in batches, and the batches as steps that the agent executes. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from ..agent.syscall import OUTSIDE
from ..codec.frozen import dataclass
from .command import OF_IPROUTE2, Command
from .linux import OWN_QDISC_PROGRAM, TOOLS
from .step import Location, Run, Step, Write

BATCH_LINES = 500
"""Most commands in one batch: `ip -batch` keeps a file open for every namespace that it names."""


@dataclass(frozen=True)
class Batch:
    """Commands in a row for one program in one location; programs that read batches get them in one process."""

    program: str
    commands: tuple[Command, ...]

    @property
    def first(self) -> Command:
        return self.commands[0]


def batches(commands: Iterable[Command]) -> Iterator[Batch]:
    """The commands in their order, cut where program or location change."""
    for (program, *_), run in groupby(commands, key=lambda each: (each.program, each.netns, each.on)):
        members = tuple(run)
        for start in range(0, len(members), BATCH_LINES):
            yield Batch(program, members[start : start + BATCH_LINES])


def steps(commands: Iterable[Command]) -> tuple[Step, ...]:
    """One step for each process to start or list of files to write."""
    return tuple(step for batch in batches(commands) for step in _steps(batch))


def _steps(batch: Batch) -> Iterable[Step]:
    together = TOGETHER.get(batch.program)
    return [each.step for each in batch.commands] if together is None else [together(batch)]


def _iproute2(batch: Batch) -> Step:
    """With `-n`, so that it runs where it can see all namespaces."""
    netns, on = batch.first.netns, batch.first.on
    inside = () if netns in (None, OUTSIDE) else ("-n", str(netns))
    where = batch.first.where if netns == OUTSIDE else None if on is None else Location(on=on)
    return Run((batch.program, *inside, "-batch", "-"), stdin=_lines(batch), where=where)


def _nft(batch: Batch) -> Step:
    return Run(("nft", "-f", "-"), stdin=_lines(batch), where=batch.first.where)


def _own_qdiscs(batch: Batch) -> Step:
    return Run((f"{TOOLS}/{OWN_QDISC_PROGRAM}",), stdin=_lines(batch), where=batch.first.where)


def _lines(batch: Batch) -> str:
    return "".join(f"{' '.join(command.words)}\n" for command in batch.commands)


def _files(batch: Batch) -> Step:
    return Write(tuple((path, value) for path, value in (each.words for each in batch.commands)), batch.first.where)


TOGETHER: dict[str, Callable[[Batch], Step]] = {
    **dict.fromkeys(OF_IPROUTE2, _iproute2),
    "nft": _nft,
    OWN_QDISC_PROGRAM: _own_qdiscs,
    "write": _files,
}
"""Programs that carry out a whole batch; commands of others run one by one."""
