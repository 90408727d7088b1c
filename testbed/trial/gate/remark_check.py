"""Notes on what a trial asked for in vain; none of them is a fault. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scenario import Trial
from ...plan.network import Plan
from ..evidence.stage import Evidence
from ..orders.remark import remarks
from ..stored_result import Finding


def in_vain(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for check, what, hint in remarks(trial, plan):
        yield Finding(check, "valid", what, hint)
