"""Checks of the gate: did virtual machines hold the flows back? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scenario import Trial
from ...plan.network import Plan
from ..evidence.stage import Evidence
from ..stored_result import Finding

BUSY = 0.9
"""Of a machine's own processors: above, what they can do is what was measured."""


def emulated(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Not a fault, but what a number of such a machine is worth depends on it."""
    names = [each.node for each in evidence.vms if each.accelerator == "tcg"]
    if names:
        yield Finding(
            "virtual machine",
            "valid",
            f"{', '.join(names)} ran without KVM, every instruction translated: {evidence.vms[0].why}",
            "delays within such a machine are some ten times those of a real one: compare with its like only",
        )


def processors(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """A machine that is never idle shows its processors, not the network."""
    for each in evidence.vms:
        if each.cpu_busy is not None and each.cpu_busy > BUSY:
            yield Finding(
                "virtual machine",
                "suspect",
                f"the processors of {each.node} were busy for {each.cpu_busy:.0%} of the time",
                "the machine is what limits: a lower rate, more cpus, or a computer with KVM",
            )
