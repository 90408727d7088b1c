"""The gate: was the network as asked, and did the hosts leave the flows alone? Pure, no I/O.

The verdict is that of the worst finding: `invalid` means that the number answers another question than the one asked,
`suspect` that somebody should look before believing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ..evidence.case import Case
from ..evidence.stage import StageEvidence
from ..stored_result import Finding, Verdict
from ..subject.capture import CAPTURES
from ..subject.dhcp import DHCP
from ..subject.filter import FILTERS
from ..subject.host_counter import HOST_COUNTERS
from ..subject.machine import MACHINES, VMS
from ..subject.network import NETWORK
from ..subject.openflow import OPENFLOW
from ..subject.registry import SUBJECTS
from ..subject.routing import ROUTING
from ..workload import background
from ..workload.registry import tool_of
from . import damage, data_check, host_check, load_check, remark_check
from .link import (
    bucket_check,
    fault_check,
    link_check,
    policy_check,
    queue_check,
    rtt_check,
    schedule_check,
    set_up_check,
    tclink_check,
    trace_check,
)
from .whole import account, counter, presence, queue_sample, sample

SEVERITY = ("invalid", "suspect", "valid")

Check: TypeAlias = Callable[[Case], Iterator[Finding]]


def _of_links(check: Callable[[Case, StageEvidence], Iterator[Finding]], *, scheduled: bool = False) -> Check:
    """A check of each judged stage, of those with a schedule or of those without."""

    def checked(case: Case) -> Iterator[Finding]:
        return (found for each in case.judged if each.is_scheduled == scheduled for found in check(case, each))

    return checked


def _of_tool(case: Case) -> Iterator[Finding]:
    tool = tool_of(case.trial.workload)
    return tool.judged(case, tool.checks)


def _of_its_hosts(case: Case) -> Iterator[Finding]:
    tool = tool_of(case.trial.workload)
    return tool.judged(case, tool.host_checks)


FIRST: tuple[Check, ...] = (presence.present, queue_sample.queues, sample.sockets, counter.adds_up)
"""The other checks may take for granted what these find."""

CHECKS: tuple[Check, ...] = (
    presence.reported,
    account.adds_up,
    counter.kept,
    sample.often,
    OPENFLOW.judged,
    ROUTING.judged,
    DHCP.judged,
    FILTERS.judged,
    rtt_check.rtt,
    set_up_check.queues,
    NETWORK.judged,
    _of_links(link_check.rate),
    data_check.arrived,
    data_check.lasted,
    data_check.goodput,
    data_check.carried,
    link_check.duration,
    link_check.notes,
    remark_check.in_vain,
    link_check.burst,
    link_check.frame_size,
    _of_links(link_check.periodic_loss),
    _of_links(link_check.random_loss),
    schedule_check.happened,
    schedule_check.came,
    schedule_check.set_up,
    _of_links(link_check.rate, scheduled=True),
    _of_links(link_check.periodic_loss, scheduled=True),
    _of_links(link_check.random_loss, scheduled=True),
    schedule_check.goodput,
    policy_check.policy,
    fault_check.picked,
    fault_check.had_effect,
    fault_check.damaged,
    fault_check.sampled,
    fault_check.down,
    fault_check.gathered,
    bucket_check.shaper,
    bucket_check.policer,
    bucket_check.unwatched,
    trace_check.trace,
    queue_check.counted,
    queue_check.overfull,
    queue_check.ecn,
    queue_check.ecn_samples,
    tclink_check.set_up,
    tclink_check.rate,
    tclink_check.drops,
    tclink_check.backpressure,
    tclink_check.superpackets,
    link_check.device_drops,
    link_check.no_data,
    load_check.ports,
    load_check.sizes,
    _of_tool,
    host_check.congestion,
    host_check.window,
    HOST_COUNTERS.judged,
    data_check.resent,
    rtt_check.upstream,
    _of_its_hosts,
    background.check,
    MACHINES.judged,
    CAPTURES.judged,
    VMS.judged,
)


def judge(case: Case) -> tuple[Finding, ...]:
    """Every finding, the worst first. Raises TrialError for evidence that no trial can have."""
    damage.refuse(case.evidence)
    for check in FIRST:
        if faults := tuple(check(case)):
            return faults
    others = (each.judged for each in SUBJECTS if each.judged not in CHECKS)
    found = [finding for check in (*CHECKS, *others) for finding in check(case)]
    return tuple(sorted(found, key=lambda finding: SEVERITY.index(finding.verdict)))


def verdict(findings: tuple[Finding, ...]) -> Verdict:
    """The worst of the findings; valid if there are none."""
    verdicts = {finding.verdict for finding in findings}
    return "invalid" if "invalid" in verdicts else "suspect" if "suspect" in verdicts else "valid"
