"""A comparison that adds repetitions to its undecided cells until it can tell, or a budget is spent. Runs trials, and
writes to the folders of both runs.

Each round looks at all cells that have the repetitions for their next look, writes the looks down, and then measures
what the undecided ones need. So an interruption loses nothing, and the next call makes the same looks.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote

from rich.console import Console

from ...analysis.metric import METRICS
from ...compare import look
from ...compare.pairing import Cell
from ...error import UserError
from ...model.scenario import Trial
from ...sweep import extension, table
from ...sweep import run as sweep
from ...sweep.run import Here, Sweep
from ...sweep.store import Store
from ...units import counted
from .. import look_file
from ..look_file import Comparison, Seen
from ..question import Question, answer, deciding
from ..run_verdict import in_words
from ..screen import Reports, Screen, duration
from ..terminal import say
from .budget import Budget
from .growing_cell import GrowingCell, cells


@dataclass
class UntilDecided:
    """The loop. Not for several threads. `ahead` has the metric that will decide about each cell of the comparison that
    is not there yet: a later call measures them, and they have their share of the error.
    """

    question: Question
    budget: Budget
    jobs: int
    console: Console
    ahead: Sequence[str] = ()
    _locks: ExitStack = field(default_factory=ExitStack)
    _stores: dict[Path, Store] = field(default_factory=dict)
    _checked: set[tuple[Path, str]] = field(default_factory=set)
    _began_s: float = field(default_factory=time.monotonic)
    _trials: int = 0

    def carry_out(self) -> None:
        """Raises UserError for folders that cannot be extended, or that another run is writing to."""
        if not self.question.axis and os.path.realpath(self.question.base) == os.path.realpath(self.question.candidate):
            raise UserError(f"{self.question.base} is both sides; allowed: two runs, or --axis with two values of it")
        answer(self.question)  # which refuses runs that cannot be compared
        with self._locks:
            self._lock(self.question.candidate)
            try:
                why = self._rounds(self._begin())
            finally:
                for store in self._stores.values():
                    if store.exists:
                        table.update(store, mend=True)
        say(self.console, why)

    def _lock(self, folder: Path) -> Store:
        if folder not in self._stores:
            if not os.access(folder, os.W_OK):
                raise UserError(f"{folder} cannot be written, so it cannot be extended; allowed: a copy that can be")
            store = Store(folder)
            self._locks.enter_context(store.locked() if store.exists else store.ours())
            self._stores[folder] = store
        return self._stores[folder]

    def _begin(self) -> Comparison:
        """The comparison as it was left, or a new one."""
        question = self.question
        sides = question.load(())
        metrics = deciding(*sides, question.metrics)
        ahead = tuple(dict.fromkeys(self.ahead))
        chosen = tuple(dict.fromkeys([*(name for names in metrics.values() for name in names), *ahead]))
        keys = len(self.ahead) + sum(
            len(metrics[cell.scenario]) for cell in question.paired(*sides).asked if cell.params is not None
        )
        found = look_file.find(question.base, question.candidate, sides, chosen)
        if found is None:
            seen = (Seen.of(question.base, sides[0]), Seen.of(question.candidate, sides[1]))
            names = sides[0].name, sides[1].name
            looks = look.Looks(*names, question.tolerance, chosen, keys, sds=question.sds, ahead=ahead)
            return Comparison(*seen, looks)
        file = question.candidate / look_file.NAME
        anew = f"or, to begin with a new error, without the looks so far: rm {quote(str(file))}"
        if (found.looks.tolerance, found.looks.sds) != (question.tolerance, question.sds):
            words = in_words(found.looks.tolerance, found.looks.sds)
            was = f"--tolerance '{words}'" if found.looks.sds else f"--tolerance {found.looks.tolerance:g}"
            raise UserError(f"this comparison has begun with another tolerance ({file}); allowed: {was}, {anew}")
        if found.looks.keys != keys:
            what = f"this comparison has begun with {found.looks.keys} cells, now there are {keys} ({file})"
            raise UserError(f"{what}; allowed: runs of the same cells, {anew}")
        return found

    def _rounds(self, comparison: Comparison) -> str:
        """Looks and measures until it is over; why it is."""
        before: Mapping[Cell, int] = {}
        found = self._measured_again(comparison)
        while True:
            data = {cell: each.data for cell, each in found.items()}
            looks, wanted = look.advance(comparison.looks, data, self.budget.repetitions)
            comparison = self._noted(comparison, looks)
            state = self._state(comparison, data)
            now = {cell: data[cell].done for cell in wanted}
            if not wanted or (now == before and self._left_s() > 0):
                return state if not wanted else f"{state}; trials failed, see above"
            before = now
            refused = self._measure({found[cell]: count for cell, count in wanted.items()}, state)
            if refused is not None:
                comparison = self._noted(comparison, look.close(looks, data))
                return f"{self._state(comparison, data)}; {refused}"
            found = self._cells(comparison)

    def _measured_again(self, comparison: Comparison) -> dict[Cell, GrowingCell]:
        """The cells, after what an earlier call added and what failed ran once more, on either side: the computer may
        have been at fault.
        """
        found = self._cells(comparison)
        tried = {each: min(half.stem.tried for half in each.sides) for each in found.values()}
        gone = {each: most for each, most in tried.items() if any(half.lacks_added(most) for half in each.sides)}
        if not gone:
            return found
        self._measure(gone, self._state(comparison, {cell: each.data for cell, each in found.items()}))
        return self._cells(comparison)

    def _cells(self, comparison: Comparison) -> dict[Cell, GrowingCell]:
        """Those that are there, with the metrics that decide; that of a program which has not run yet is not known."""
        return cells(self.question, tuple(name for name in comparison.looks.metrics if name in METRICS))

    def _noted(self, comparison: Comparison, looks: look.Looks) -> Comparison:
        """The comparison with these looks, which are written down."""
        if looks != comparison.looks:
            comparison = replace(comparison, looks=looks)
            look_file.write(self.question.candidate, comparison)
        return comparison

    def _state(self, comparison: Comparison, data: Mapping[Cell, look.CellData]) -> str:
        """How many cells are decided, in words."""
        known = [
            (comparison.looks.of(cell, metric), metric in each.lost)
            for cell, each in data.items()
            for metric in each.samples
        ]
        decided = sum(each.verdict != look.UNDECIDED for each, _ in known)
        lost = sum(is_lost and each.verdict == look.UNDECIDED for each, is_lost in known)
        copies = sum(each.is_ended and each.verdict == look.UNDECIDED for each, _ in known)
        most = sum(not each.is_ended and each.repetitions >= self.budget.repetitions for each, _ in known)
        found = [f"{decided} of {comparison.looks.keys} decided"]
        found += [f"{lost} lost something"] if lost else []
        found += [f"in {copies} nothing is random, so that more seeds show nothing"] if copies else []
        found += [f"{most} undecided with {self.budget.repetitions} seeds, which is the budget"] if most else []
        return ", ".join(found)

    def _measure(self, wanted: Mapping[GrowingCell, int], state: str) -> str | None:
        """Measures a round. None if it was measured, else why not."""
        taken = dict(self._within(wanted))
        if not taken:
            assert self.budget.trials is not None, "BUG: a budget of trials is used up that there is not"
            return f"the next round is larger than what is left of {counted(self.budget.trials, 'trial')}"
        sweeps = [self._prepare(folder, trials) for folder, trials in _by_store(taken).items()]
        wall_s, left_s = self._takes_s(sweeps), self._left_s()
        if wall_s > left_s:
            smaller = self._smaller(taken, sweeps, left_s)
            if not smaller:
                left = duration(max(left_s, 0))
                return f"the next round, about {duration(wall_s)}, is longer than the {left} that are left"
            taken = smaller
            sweeps = [self._prepare(folder, trials) for folder, trials in _by_store(taken).items()]
            wall_s = self._takes_s(sweeps)
        count = sum(len(each.waiting) for each in sweeps)
        self._trials += count
        if count:
            sizes = sorted(set(taken.values()))
            seeds = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
            many = "1 cell gets" if len(taken) == 1 else f"{len(taken)} cells get"
            said = f"{state}; {many} {seeds} seeds: {counted(count, 'trial')}, about {duration(wall_s)}"
            say(self.console, said)
        for each in sweeps:
            self._run(each)
        return None

    def _takes_s(self, sweeps: Sequence[Sweep], most: float = math.inf) -> float:
        """How long the trials of the first `most` repetitions will take."""
        waiting = [[each.params for each in one.waiting if each.repetition < most] for one in sweeps]
        known = [(one, params) for one, params in zip(sweeps, waiting, strict=True) if params]
        return sum(one.forecast.total_s(params, self.jobs) for one, params in known)

    def _smaller(
        self, wanted: Mapping[GrowingCell, int], sweeps: Sequence[Sweep], left_s: float
    ) -> dict[GrowingCell, int]:
        """The most seeds, the same for all cells, for which there is time; nothing if there is none for one more."""
        fewest = min(cell.data.done for cell in wanted)
        for most in range(max(wanted.values()) - 1, fewest, -1):
            if self._takes_s(sweeps, most) <= left_s:
                return {cell: min(count, most) for cell, count in wanted.items() if cell.data.done < most}
        return {}

    def _left_s(self) -> float:
        wall_s = math.inf if self.budget.wall_s is None else self.budget.wall_s
        return wall_s - (time.monotonic() - self._began_s)

    def _within(self, wanted: Mapping[GrowingCell, int]) -> Iterator[tuple[GrowingCell, int]]:
        """As many of the cells as the budget has trials for."""
        left = None if self.budget.trials is None else self.budget.trials - self._trials
        for cell, count in wanted.items():
            if left is not None:
                left -= cell.missing(count)
            if left is None or left >= 0:
                yield cell, count

    def _prepare(self, folder: Path, trials: list[Trial]) -> Sweep:
        store = self._lock(folder)
        fresh = {trial.params: trial for trial in trials if (folder / "trials" / trial.id).exists()}
        unchecked = [trial for trial in fresh.values() if (folder, str(trial.params)) not in self._checked]
        extension.check(store, unchecked)
        self._checked |= {(folder, str(trial.params)) for trial in unchecked}
        prepared = sweep.prepare(trials, store)
        finished = {each.id for each in prepared.done}
        for trial in trials:
            if trial.id in finished:  # a run that was killed may not have listed it
                store.add(trial)
        return prepared

    def _run(self, prepared: Sweep) -> None:
        if not prepared.waiting:
            return
        say(self.console, f"{prepared.store.path}:")
        with Screen(self.console, len(prepared.waiting), prepared, self.jobs) as screen:
            reports = Reports((extension.Listing(prepared.store), screen))
            here = Here(self.jobs, time.monotonic() + self._left_s())
            summary = sweep.run(prepared, self.jobs, reports, here)
        for trial, error in summary.failures:
            say(self.console, ("failed", "red"), f" {trial.id}: {error}")


def _by_store(wanted: Mapping[GrowingCell, int]) -> dict[Path, list[Trial]]:
    """The trials of the cells of each folder that lacks any, or does not list them; one that has all is only read."""
    found: dict[Path, list[Trial]] = {}
    for cell, count in wanted.items():
        for side in (each for each in cell.sides if each.missing(count) or each.stem.listed < count):
            found.setdefault(side.folder, []).extend(side.stem.trials(count))
    return found
