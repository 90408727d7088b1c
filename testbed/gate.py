"""The gate: was the network what was asked for, and did the hosts not hold the flows back? Pure, no I/O.

The verdict is the worst of the findings: `invalid` means that the number answers another question than the one asked,
`suspect` that somebody should look before believing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from . import hostcheck, networkcheck, policycheck, rttcheck, schedulecheck, switchcheck, tccheck, vmcheck
from .evidence import Evidence
from .finding import Finding
from .plan import Plan
from .scenario import Trial

SEVERITY = ("invalid", "suspect", "valid")

Check: TypeAlias = Callable[[Trial, Plan, Evidence], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    switchcheck.controllers,
    switchcheck.datapath,
    rttcheck.rtt,
    networkcheck.set_up,
    networkcheck.rate,
    networkcheck.goodput,
    networkcheck.duration,
    networkcheck.jitter,
    networkcheck.burst,
    networkcheck.frame_size,
    networkcheck.periodic_loss,
    networkcheck.random_loss,
    schedulecheck.happened,
    schedulecheck.came,
    schedulecheck.set_up,
    schedulecheck.rate,
    schedulecheck.periodic_loss,
    schedulecheck.random_loss,
    schedulecheck.goodput,
    policycheck.policy,
    tccheck.set_up,
    tccheck.rate,
    tccheck.drops,
    tccheck.backpressure,
    tccheck.superpackets,
    networkcheck.device_drops,
    networkcheck.no_data,
    hostcheck.congestion,
    hostcheck.window,
    hostcheck.host_counters,
    hostcheck.unexplained,
    rttcheck.upstream,
    hostcheck.sender,
    hostcheck.receiver,
    hostcheck.background,
    hostcheck.cpu,
    hostcheck.machines,
    hostcheck.captures,
    vmcheck.processors,
    vmcheck.emulated,
)


def judge(trial: Trial, plan: Plan, evidence: Evidence) -> tuple[Finding, ...]:
    """Every finding, the worst first."""
    found = [finding for check in CHECKS for finding in check(trial, plan, evidence)]
    return tuple(sorted(found, key=lambda finding: SEVERITY.index(finding.verdict)))
