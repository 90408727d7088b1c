"""The queue of trials of a sweep: which trials are to run, and which of them is next. Pure, no I/O.

Without `until` all of them are to run. With it, the next repetition of a cell depends only on all earlier ones of that
cell, so that neither the number of jobs nor the order in which trials end can change which trials there are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..model.run_setting import Until
from ..model.scenario import Params, Trial
from ..trial.result import TrialResult
from .repetition import FEWEST, Stop, stop


@dataclass
class _Cell:
    """The repetitions of one cell: how many are needed, the results of those that ended, and why there are no more."""

    trials: int
    wanted: int
    ended: dict[int, TrialResult | None] = field(default_factory=dict)
    looked_at: int = 0
    stop: Stop | None = None

    def decide(self, until: Until) -> None:
        """Checks the repetitions that ended, in order, and adds another one until they are enough."""
        while self.stop is None and self.looked_at in self.ended and self.looked_at < self.wanted:
            self.looked_at += 1
            if self.looked_at == self.wanted:
                self.stop = stop(until, [self.ended[number] for number in range(self.wanted)])
                if self.stop is None and self.wanted == self.trials:
                    self.stop = Stop("most")
                self.wanted += self.stop is None


class TrialQueue:
    """Hands out trials in run order. Not for several threads at a time."""

    def __init__(
        self, trials: Sequence[Trial], until: Until | None = None, is_ours: Callable[[Trial], bool] | None = None
    ) -> None:
        """`trials` are all possible trials, in run order; the repetitions of each cell count from 0. Those that are
        not ours (None: all are) belong to the run, but are not handed out.
        """
        self._until = until
        self._trials = tuple(trials)
        # an ordered dictionary, unlike a plain one, finds its first entry at once after many were removed
        self._waiting = OrderedDict((trial.id, trial) for trial in trials if is_ours is None or is_ours(trial))
        counts: dict[Params, int] = {}
        for trial in trials:
            counts[trial.params] = counts.get(trial.params, 0) + 1
        least = None if until is None else max(FEWEST, until.least)
        self._cells = {params: _Cell(n, n if least is None else min(n, least)) for params, n in counts.items()}

    def ended(self, trial: Trial, result: TrialResult | None) -> bool:
        """Records the result of a trial (None: it failed), and removes the trial from the queue.

        Returns whether its cell now needs another repetition.
        """
        self._waiting.pop(trial.id, None)
        cell = self._cells[trial.params]
        cell.ended[trial.repetition] = result
        before = cell.wanted
        if self._until is not None:
            cell.decide(self._until)
        return cell.wanted > before

    def take(self, *, virtual: bool) -> Trial | None:
        """Removes and returns the first waiting trial that is needed; None if there is none now.

        `virtual` is whether to take a trial in virtual time, or one in real time.
        """
        found, over = None, []
        for trial in self._candidates(virtual):
            if self.has(trial):
                found = trial
                break
            if self._cells[trial.params].stop is not None:
                over.append(trial)
        for trial in over if found is None else (*over, found):
            del self._waiting[trial.id]
        return found

    def _candidates(self, virtual: bool) -> Iterator[Trial]:
        return (trial for trial in self._waiting.values() if trial.kernel.is_virtual_time == virtual)

    def has(self, trial: Trial) -> bool:
        """Whether the trial is known to belong to the run."""
        return trial.repetition < self._cells[trial.params].wanted

    @property
    def waiting(self) -> list[Trial]:
        """The trials that are needed and have not been taken, in run order."""
        return [trial for trial in self._waiting.values() if self.has(trial)]

    @property
    def possible(self) -> list[Params]:
        """The cells of the trials that are waiting, or may still be needed; one entry for each trial."""
        return [
            trial.params
            for trial in self._waiting.values()
            if self.has(trial) or self._cells[trial.params].stop is None
        ]

    @property
    def members(self) -> frozenset[str]:
        """The ids of all trials that are known to belong to the run."""
        return frozenset(trial.id for trial in self._trials if self.has(trial))

    @property
    def undecided(self) -> int:
        """How many more trials may still be needed."""
        left = {trial.params for trial in self._waiting.values()}
        return sum(
            cell.trials - cell.wanted for params, cell in self._cells.items() if cell.stop is None and params in left
        )
