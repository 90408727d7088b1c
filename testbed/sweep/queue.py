"""An agenda: which trials of a sweep are to run, and which of them is next. Pure, no I/O.

Without `until` all of them are. With it, the next repetition of a cell depends on all the earlier ones of that cell and
on nothing else, so that neither the number of jobs nor what ended first can change which trials there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..model.run_setting import Until
from ..model.scenario import Params, Trial
from ..trial.stored_result import TrialResult
from .repetition import FEWEST, Stop, stop


@dataclass
class _Cell:
    """The repetitions of one cell: how many are decided, how those that ended did, and why there are no more."""

    trials: int
    wanted: int
    ended: dict[int, TrialResult | None] = field(default_factory=dict)
    looked_at: int = 0
    stop: Stop | None = None

    def decide(self, until: Until) -> None:
        """Goes through the repetitions in their order as far as they ended."""
        while self.stop is None and self.looked_at in self.ended and self.looked_at < self.wanted:
            self.looked_at += 1
            if self.looked_at == self.wanted:
                self.stop = stop(until, [self.ended[number] for number in range(self.wanted)])
                if self.stop is None and self.wanted == self.trials:
                    self.stop = Stop("most")
                self.wanted += self.stop is None


class Agenda:
    """Hands out trials in run order. Not for several threads at a time."""

    def __init__(self, trials: Sequence[Trial], until: Until | None = None) -> None:
        """`trials` are all that there can be, in run order, the repetitions of each cell counting from 0."""
        self._until = until
        self._trials = tuple(trials)
        self._waiting = {trial.id: trial for trial in trials}
        counts: dict[Params, int] = {}
        for trial in trials:
            counts[trial.params] = counts.get(trial.params, 0) + 1
        least = None if until is None else max(FEWEST, until.least)
        self._cells = {params: _Cell(n, n if least is None else min(n, least)) for params, n in counts.items()}

    def ended(self, trial: Trial, result: TrialResult | None) -> bool:
        """Takes note of how a trial ended; None is a failure. The trial waits no longer.

        Returns whether another repetition of its cell is needed, of which that was not known before.
        """
        self._waiting.pop(trial.id, None)
        cell = self._cells[trial.params]
        cell.ended[trial.repetition] = result
        before = cell.wanted
        if self._until is not None:
            cell.decide(self._until)
        return cell.wanted > before

    def take(self, *, virtual: bool) -> Trial | None:
        """The first waiting trial that is decided, which then waits no longer; None if there is none now.

        `virtual` says whether it is to be one in virtual time.
        """
        for trial in self._candidates(virtual):
            if self.has(trial):
                del self._waiting[trial.id]
                return trial
            if self._cells[trial.params].stop is not None:
                del self._waiting[trial.id]
        return None

    def _candidates(self, virtual: bool) -> Iterator[Trial]:
        return (trial for trial in list(self._waiting.values()) if trial.kernel.is_virtual_time == virtual)

    def has(self, trial: Trial) -> bool:
        """Whether it is decided that the trial belongs to the run."""
        return trial.repetition < self._cells[trial.params].wanted

    @property
    def waiting(self) -> list[Trial]:
        """The trials that are decided and have not been taken, in run order."""
        return [trial for trial in self._waiting.values() if self.has(trial)]

    @property
    def possible(self) -> list[Params]:
        """The cells of the trials that are waiting, or may yet turn out to be needed; one entry for each trial."""
        return [
            trial.params
            for trial in self._waiting.values()
            if self.has(trial) or self._cells[trial.params].stop is None
        ]

    @property
    def members(self) -> frozenset[str]:
        """The ids of all the trials that are decided so far."""
        return frozenset(trial.id for trial in self._trials if self.has(trial))

    @property
    def undecided(self) -> int:
        """How many trials there may be besides those that are decided."""
        return sum(cell.trials - cell.wanted for cell in self._cells.values() if cell.stop is None)
