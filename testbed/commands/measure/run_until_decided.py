"""`testbed run --until-decided`: what a scenario that has run is compared with, and the comparison. Runs trials."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from ...codec.frozen import dataclass
from ...compare import run as comparison
from ...error import UserError, one_of
from ...model.scenario import Scenario
from ...sweep.store import Store
from .. import question
from ..known import learn_metrics
from ..question import Question
from ..run_verdict import FailOn, Format, show_runs, tolerance_of
from ..sequential.budget import TOGETHER, Budget, Options, budget_of
from ..sequential.foretold import foretell
from ..sequential.until_decided import UntilDecided


@dataclass(frozen=True)
class Decision:
    """What to compare a scenario with, checked before it runs."""

    budget: Budget
    tolerance: float
    base: Path | None
    axis: str
    values: tuple[str, str]
    sds: float = 0.0

    @classmethod
    def of(cls, options: Options, scenario: Scenario) -> Decision:
        """Raises UserError for options that name nothing to compare with."""
        budget = budget_of(options.budget)
        tolerance, sds = tolerance_of(options.tolerance, comparison.TOLERANCE)
        if options.axis is not None:
            return cls(budget, tolerance, None, options.axis, _values(options, scenario, options.axis), sds)
        if options.base is None or options.candidate is not None:
            raise UserError(f"--until-decided needs something to compare with; allowed: {TOGETHER}")
        Store(Path(options.base)).open()
        return cls(budget, tolerance, Path(options.base), "", ("", ""), sds)

    def foretell(self, folder: Path, console: Console) -> None:
        """Says how many seeds it will need, by what the base has; of two values of an axis, by what the run has."""
        known = self.base or folder
        if Store(known).exists or self.base is not None:
            learn_metrics([known])
            foretell(console, known, self.tolerance, self.sds, self.budget.repetitions)

    def carry_out(self, folder: Path, jobs: int, console: Console) -> None:
        """Adds seeds, prints the comparison, and raises typer.Exit with its code if it is a failure."""
        learn_metrics([folder, *(() if self.base is None else (self.base,))])
        wanted = self._question(folder)
        UntilDecided(wanted, self.budget, jobs, console).carry_out()
        show_runs(question.answer(wanted), Format.table, FailOn.cannot_tell, None)

    def _question(self, folder: Path) -> Question:
        if self.base is not None:
            return replace(question.of_runs(self.base, folder, self.tolerance, None), sds=self.sds)
        return replace(question.of_values(folder, self.axis, self.values, self.tolerance, None), sds=self.sds)


def _values(options: Options, scenario: Scenario, axis: str) -> tuple[str, str]:
    """Those that were given; of an axis that has two, these. Raises UserError if the scenario has no such axis."""
    known = {each.key: each.values for each in scenario.axes}
    for part in axis.split("+"):
        if not any(part.strip() in (key, key.rpartition(".")[2]) for key in known):
            allowed = one_of([*known], part.strip(), "none, it has no axes")
            raise UserError(f"--axis {axis}: the scenario has no such axis; allowed: {allowed}")
    if options.base is not None and options.candidate is not None:
        return options.base, options.candidate
    mine = [values for key, values in known.items() if axis in (key, key.rpartition(".")[2])]
    if options.base is None and options.candidate is None and len(mine) == 1 and len(mine[0]) == 2:
        return mine[0][0], mine[0][1]
    listed = f"; its values are {', '.join(mine[0])}" if len(mine) == 1 else ""
    raise UserError(f"--axis {axis} needs the two values to compare{listed}; allowed: --base VALUE --candidate VALUE")
