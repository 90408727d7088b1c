"""A case: all that the gate judges a trial by, in one value. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...model.scenario import Trial
from ...plan.link.impairment import Context
from ...plan.network import Plan
from .paced import Watch
from .stage import Evidence, StageEvidence


class Slack(NamedTuple):
    """A tolerance: where time is virtual, and where it is real and a busy computer makes everything late."""

    virtual: float
    real: float


@dataclass(frozen=True)
class Case:
    """What was asked (the trial, and the plan that was made of it) and what was seen."""

    trial: Trial
    plan: Plan
    evidence: Evidence

    @property
    def virtual(self) -> bool:
        """Whether the trial ran in virtual time, where nothing is late."""
        return self.trial.kernel.is_virtual_time

    @property
    def judged(self) -> tuple[StageEvidence, ...]:
        """The stages on the path, and those beside it that anything passed."""
        return self.evidence.judged

    @property
    def watch(self) -> Watch:
        """How well the trial's shapers were watched."""
        return Watch(self.evidence.outcome.begin_ns, self.trial.samples_interval_ns, self.virtual)

    def slack(self, slack: Slack) -> float:
        return slack.virtual if self.virtual else slack.real

    def context(self, each: StageEvidence) -> Context:
        """What the settings of a stage depend on besides what was asked of it."""
        return Context(each.mtu_bytes, not self.virtual)
