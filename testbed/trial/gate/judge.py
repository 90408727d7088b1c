"""The gate: was the network as asked, and did the hosts leave the flows alone? Pure, no I/O.

The verdict is that of the worst finding: `invalid` means that the number answers another question than the one asked,
`suspect` that somebody should look before believing it.

Why a verdict is believed
-------------------------

A trial is valid if nothing was found. That is worth something only because the gate would find what is wrong. It asks
in this order, and each step takes for granted what the ones before it found:

1. *Are the files those that the trial wrote?* The agent notes length and CRC-32 of each file (`evidence.remains`).
2. *Can a trial have these values?* Every number has its type and its range (`consistency.ranges`): a counter that went
   backwards, a file that was cut short, and a number that nobody parsed end the trial.
3. *Is everything there?* Whatever the plan says must be looked at has been looked at (`consistency.presence`, and
   `Subject.missing`). What is missing is never a pass: no check may read an absent value as 0.
4. *Do the numbers agree with each other?* Most facts are told by more than one counter, of different programs: bytes
   by the tool, its sockets, the links and captures; drops by the queue and by the bucket above it (`consistency`, and
   `Subject.faults`). What one of them makes up shows in another.
5. *Is it what was asked?* The plan is made of the files of the user alone. `ip`, `tc` and `nft` set it up; netlink
   reads it back, before and after the workload, through a decoder of ours (`trial.observe`). So an error would have to
   be made twice, in two programs, in the same way. Counters, pings and samples then show what it did to packets.

A stage is its intervals: a link that never changes is judged by the same functions as one with a schedule.

In virtual time nothing is late, and most checks are exact: a periodic loss drops the packets that it should, to the
packet. In real time a busy computer makes everything late; then the same check allows for that, and calls what exceeds
it `suspect`. Both tolerances stand side by side (`evidence.case.Slack`). Random losses are judged by chance: a check
may reject a loss that is as asked in one trial of a million (`gate.chance`).

What the gate does not see is what only one source tells, such as the events of a controller. The tests hold a list of
it: `tests/test_sabotage_evidence.py` takes every field of recorded evidence away or makes it absurd, and
`tests/test_sabotage_generated.py` does that to every command and step. What passes must be an exception with its
reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ..evidence.case import Case
from ..evidence.stage import StageEvidence
from ..orders import remark
from ..result import Finding, Verdict
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
from . import data_check, host_check, load_check
from .consistency import links, moments, presence, queue_samples, ranges, socket_samples, tools
from .during import (
    account_check,
    causality_check,
    conservation_check,
    delay_check,
    drop_check,
    room_check,
    setting_check,
    socket_check,
)
from .link import (
    bucket_check,
    fault_check,
    flow_check,
    link_check,
    policy_check,
    queue_check,
    rtt_check,
    schedule_check,
    set_up_check,
    tclink_check,
    trace_check,
)

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


FIRST: tuple[Check, ...] = (
    presence.present,
    queue_samples.queues,
    socket_samples.sockets,
    links.adds_up,
    moments.whole,
)
"""The other checks may take for granted what these find."""

CHECKS: tuple[Check, ...] = (
    presence.reported,
    tools.adds_up,
    links.kept,
    socket_samples.often,
    OPENFLOW.judged,
    ROUTING.judged,
    DHCP.judged,
    FILTERS.judged,
    rtt_check.rtt,
    set_up_check.queues,
    setting_check.kept,
    NETWORK.judged,
    _of_links(link_check.rate),
    data_check.arrived,
    data_check.lasted,
    data_check.goodput,
    data_check.carried,
    causality_check.rtt,
    causality_check.one_way,
    delay_check.pings,
    delay_check.smoothed,
    delay_check.mean,
    conservation_check.rate,
    account_check.sockets,
    account_check.others,
    account_check.others_passed,
    account_check.carried,
    account_check.begun,
    socket_check.agreed,
    drop_check.tail,
    room_check.fifo,
    room_check.per_flow,
    drop_check.marks,
    drop_check.spread,
    link_check.duration,
    link_check.notes,
    link_check.no_delay,
    remark.in_vain,
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
    flow_check.per_flow,
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
    ranges.refuse(case.evidence)
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
