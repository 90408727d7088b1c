"""Checks of the gate: did virtual machines hold the flows back? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scenario import Trial
from ...plan.network import Plan
from ..evidence.stage import Evidence
from ..stored_result import Finding

BUSY = 0.9
"""A share of the processors of a virtual machine. Above it, the trial measured the processors."""


def emulated(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Notes virtual machines without KVM: no fault, but their numbers mean less."""
    names = [each.node for each in evidence.vms if each.accelerator == "tcg"]
    if names:
        yield Finding(
            "virtual machine",
            "valid",
            f"{', '.join(names)} ran without KVM, every instruction translated: {evidence.vms[0].why}",
            "delays inside such a machine are about ten times those of a real one: compare it only with its like",
        )


def processors(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """The results of a machine that is never idle show its processors, not the network."""
    for each in evidence.vms:
        if each.cpu_busy is not None and each.cpu_busy > BUSY:
            yield Finding(
                "virtual machine",
                "suspect",
                f"the processors of {each.node} were busy for {each.cpu_busy:.0%} of the time",
                "its processor is the bottleneck: use a lower rate, or a faster cpu (1 GIPS is the fastest)"
                if each.is_counted
                else "the machine is the limit: use a lower rate, more cpus, or a computer with KVM",
            )
