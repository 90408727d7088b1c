"""An extension: more repetitions of cells of a run that is there, made from what its finished trials say of themselves.
Reads files of one run's folder, and lists trials in its run.json.

Repetition i of a cell is the same trial, byte for byte, whether the scenario asks for it or it is added later: its seed
is the scenario's plus i, and nothing in it depends on how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, takewhile

from ..codec.frozen import dataclass
from ..error import TestbedError, UserError
from ..model.scenario import Params, Scenario, Trial, sibling
from ..trial import provenance
from ..trial.folder import read_trial
from ..trial.orders.sequence import orders
from ..trial.result import TrialResult
from .store import Store


@dataclass(frozen=True)
class Stem:
    """A cell of a run that can grow: its finished trial of the lowest repetition; how many repetitions the run lists,
    and how many of those were tried, finished or failed, both without a gap from the first.
    """

    trial: Trial
    listed: int
    tried: int

    def trials(self, repetitions: int) -> list[Trial]:
        """The first so many repetitions, done or not."""
        return [sibling(self.trial, number) for number in range(repetitions)]


def stems(store: Store) -> dict[Params, Stem]:
    """Of each cell that has a finished trial. Raises UserError for a trial that cannot be read, or whose name is not
    that of its parameters and seed.
    """
    ids = store.ids
    lowest: dict[Params, Trial] = {}
    for id in ids:
        folder = store.path / "trials" / id
        if folder.exists():
            trial = read_trial(folder)
            if trial.params not in lowest or trial.repetition < lowest[trial.params].repetition:
                lowest[trial.params] = trial
    known = frozenset(ids)
    return {params: _stem(trial, known, store) for params, trial in lowest.items()}


def _stem(trial: Trial, ids: frozenset[str], store: Store) -> Stem:
    try:
        listed = list(takewhile(lambda id: id in ids, (sibling(trial, number).id for number in count())))
    except ValueError as error:
        raise UserError(
            f"{store.path} cannot be extended: {error}; allowed: a folder that this version of `testbed run` wrote"
        ) from None
    tried = takewhile(lambda id: any((store.path / kind / id).exists() for kind in ("trials", "failed")), listed)
    return Stem(trial, len(listed), len(list(tried)))


def check(store: Store, trials: Iterable[Trial]) -> None:
    """Raises UserError unless a repetition of each of these finished trials would run as they did: with the same
    kernel, programs and steps. Raises MachineError if their kernel is missing.
    """
    for trial in trials:
        folder = store.path / "trials" / trial.id
        changed = provenance.changes(trial, orders(trial), folder)
        if changed:
            raise UserError(
                f"{store.path} cannot be extended, for new trials would not run as {trial.id} did: "
                f"{'; '.join(changed)}; allowed: what it ran with, or a new run of the scenario in another folder"
            )


def added(scenario: Scenario, store: Store) -> list[Trial]:
    """The trials of cells of the scenario that the run lists although the scenario does not ask for them."""
    if not store.exists:
        return []
    wanted = store.added
    asked = scenario.trials()
    ids = {trial.id for trial in asked}
    firsts = [trial for trial in asked if trial.repetition == 0]
    numbers = sorted({number for id, number in wanted.items() if id not in ids})
    return [more for first in firsts for number in numbers if (more := sibling(first, number)).id in wanted]


def refuse_hidden(store: Store, results: Iterable[TrialResult]) -> None:
    """Raises UserError if a trial that the scenario asks for is listed as added: another run would not lack it then.

    What is added comes after all repetitions that the scenario asks for: as many in each cell, unless it says `until`.
    """
    added = store.added
    if not added:
        return
    is_each_cell_alone = store.until is not None
    found = [(frozenset(each.params.items() if is_each_cell_alone else ()), each) for each in results]
    asked: dict[object, int] = {}
    for cell, each in found:
        if each.id not in added:
            asked[cell] = max(asked.get(cell, 0), each.repetition)
    for cell, each in found:
        least = asked.get(cell, 0) + 1
        if each.id in added and not least <= added[each.id] == each.repetition:
            raise UserError(
                f"{store.path / 'run.json'} is damaged: its 'added' has {each.id} as repetition {added[each.id]}, "
                f"and it is number {each.repetition}; allowed: what comes after those of the scenario, from {least} on"
            )


@dataclass(frozen=True)
class Listing:
    """Reports to the run's folder which trials it has now; for use as a report of a sweep."""

    store: Store

    def begun(self, trial: Trial) -> None: ...

    def lab_time(self, trial: Trial, lab_s: float) -> None: ...

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self.store.add(trial)

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self.store.add(trial)


def in_file_order(trials: Sequence[Trial], added: Sequence[Trial]) -> tuple[Trial, ...]:
    """All of them: those that are added after the others of their cell."""
    more: dict[Params, list[Trial]] = {}
    for trial in added:
        more.setdefault(trial.params, []).append(trial)
    last: Mapping[Params, int] = {trial.params: number for number, trial in enumerate(trials)}
    return tuple(
        each
        for number, trial in enumerate(trials)
        for each in (trial, *(more.get(trial.params, []) if last[trial.params] == number else []))
    )
