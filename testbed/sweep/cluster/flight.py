"""A trial that is handed out to a cluster: where it is, and what went wrong on its way. Pure, no I/O."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...model.scenario import Trial
from .task import Outcome, Task

if TYPE_CHECKING:
    from distributed import Future

MOST_TROUBLES = 3
"""A trial that so many workers did not end has failed."""


class Trouble(Exception):
    """A worker did not end a trial; it is no fault of the trial, as far as one can tell."""


class Again(Exception):
    """A trial must be handed out again, and nobody is to blame."""


@dataclass(eq=False)
class Flight:
    """`worker` is where it began, at `since_s` of the loop's clock; None while it waits there for a worker."""

    trial: Trial
    task: Task
    need_bytes: int
    stopped: asyncio.Future[Exception]
    since_s: float
    future: Future[Outcome] | None = None
    troubles: list[str] = field(default_factory=list)
    submissions: int = 0
    worker: str | None = None
    is_told: bool = False

    @property
    def name(self) -> str:
        """Of the next Dask task. The first one has the same name in every run, so that a client that comes back meets
        the tasks that it left behind.
        """
        return f"trial-{self.task.key}-{self.submissions}"

    def begin(self, worker: str | None, now_s: float) -> None:
        self.worker, self.since_s = worker, now_s

    def stop(self, why: Exception) -> None:
        """Ends the attempt."""
        if not self.stopped.done():
            self.stopped.set_result(why)
