"""Rules about what the trials of a scenario measured, as a scenario's own rules have them. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...analysis.expectation import verdict
from ...analysis.expectation.measured import Measured
from ...codec.fault import Fault
from ...codec.keyed import key, named
from ...codec.kind import TEXT
from ...model.expectation import Expectation
from ...plan.step import Step
from ...spec.scenario.expect import MeasureKeys, plain
from .common import Found, Kind, Net, NotChecked


@named
class Measure(MeasureKeys, Kind):
    """In the trials of `scenario` in which the axes have the values of `where`, the `metric` is from `least` to `most`;
    with `over` it is divided by that of the trials in which they have those values. All their verdicts are `valid`.
    """

    scenario: str = key("scenario", TEXT, "The file of the scenario.")

    def faults(self) -> Iterator[Fault]:
        for name, choice in (("where", self.where), ("over", self.over or {})):
            yield from (fault.under(name) for fault in plain(choice)[1])
        yield from self.bound_faults()

    @property
    def expectation(self) -> Expectation:
        """As a value; only if there are no `faults`."""
        over = None if self.over is None else plain(self.over)[0]
        return self.value("", plain(self.where)[0], over)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        yield from ()

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        raise NotChecked("no scenario was run")

    def judge_trials(self, trials: Sequence[Measured]) -> str | None:
        """As `judge`, of what was measured."""
        rule = self.expectation
        return verdict.off(rule, verdict.values(rule, trials))


KINDS: dict[str, Any] = {"measure": Measure}
