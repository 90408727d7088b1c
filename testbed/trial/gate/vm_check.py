"""Checks of the gate: did virtual machines hold the flows back? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.data_path import PathHop
from ...plan.node.vm import takes_ns
from ..evidence.case import Case
from ..evidence.stage import Evidence
from ..evidence.vm import VmEvidence
from ..stored_result import Finding, Verdict

BUSY = 0.9
"""A share of the processors of a virtual machine. Above it, the trial measured the processors."""
LOOKS = 30_000_000
"""Instructions of a machine beside those of its workload, between the two looks at it, at least: 0.03 s at 1 GIPS, in
trials that pinged only. They are known to 0.01 s, the unit of /proc/stat. With more, a short transfer of a
machine that was never idle would look as if it had been.
"""
UNLIMITED = "no link on the path has a rate, so processors are what limits: compare only with machines of the same cpu"


def emulated(case: Case) -> Iterator[Finding]:
    """Notes virtual machines without KVM: no fault, but their numbers mean less."""
    names = [each.node for each in case.evidence.vms if each.accelerator == "tcg"]
    if names:
        yield Finding(
            "virtual machine",
            "valid",
            f"{', '.join(names)} ran without KVM, every instruction translated: {case.evidence.vms[0].why}",
            "delays inside such a machine are about ten times those of a real one: compare it only with its like",
        )


def processors(case: Case) -> Iterator[Finding]:
    """The results of a machine that is never idle show its processors, not the network.

    That is a fault unless it was asked for: in virtual time, on a path that has no rate, nothing else limits.
    """
    for each in case.evidence.vms:
        share = _while_data_flowed(each, case.evidence) if each.is_counted else each.cpu_busy
        if share is None or share <= BUSY:
            continue
        verdict: Verdict = "suspect"
        if not each.is_counted:
            hint = "the machine is the limit: use a lower rate, more cpus, or a computer with KVM"
        elif not case.plan.path or any(map(_limits, (*case.plan.path, *case.plan.answers))):
            hint = "its processor is the bottleneck: use a lower rate, or a faster cpu (1 GIPS is the fastest)"
        else:
            verdict = "valid"
            hint = UNLIMITED
        what = f"the processors of {each.node} were busy for {share:.0%} of the time"
        yield Finding("virtual machine", verdict, what, hint)


def _limits(hop: PathHop) -> bool:
    """Whether a link has a rate in this direction: its own, that of a shaper or a trace, or that of a policer."""
    asked = hop.link.own(hop.way)
    return asked.rate_bps is not None or asked.policer is not None


def _while_data_flowed(machine: VmEvidence, evidence: Evidence) -> float | None:
    """The busy share of the time in which a tool sent. The two looks at a machine are some 0.6 s longer apart, in which
    it does little but answer them. Programs of users are started between the looks, and may do anything before they
    send: for them it is the share of all the time.
    """
    sent_ns = evidence.outcome.took_ns
    if machine.busy_s is None or not sent_ns:
        return machine.cpu_busy
    looks_s = takes_ns(machine.vm, LOOKS) / 1e9
    return min(1.0, max(0.0, machine.busy_s - looks_s) * 1e9 / sent_ns)
