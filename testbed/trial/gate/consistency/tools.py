"""Checks of the gate: do the numbers that the tools report add up? Pure, no I/O.

Each is told by more than one field, so what one of them lacks or makes up shows in another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from ....plan.node.namespace import node_netns
from ... import measured
from ...evidence.case import Case
from ...evidence.outcome import TcpResult
from ...law import zeros
from ...observe.sample import received_series
from ...result import Finding
from ...workload import background
from ...workload.registry import tool_of

HINT = "an output of the trial is damaged or not whole"
NEAR = 1e-6
"""The relative difference of numbers that were rounded or came from a division."""
ENDS_APART = 0.05
"""By which share the bytes of a goodput and of its ramp may miss those of the flows, whose ends differ a little."""
ALONE = 0.01
"""By which share the goodput of the only flow may differ from that of all."""
ALONE_LATE = 0.1
"""The same in real time, where a flow may be looked at late."""
JIFFY_S = 0.01
"""The longest tick of a kernel, in which it counts how long a sender was busy."""


def adds_up(case: Case) -> Iterator[Finding]:
    return firsts(part(case) for part in PARTS)


def firsts(parts: Iterable[Iterator[str]]) -> Iterator[Finding]:
    """The first fault of each part: what one number spoils is said once."""
    for part in parts:
        for what in part:
            yield Finding("evidence", "invalid", what, HINT)
            break


def _times(case: Case) -> Iterator[str]:
    outcome, timeline = case.evidence.outcome, case.evidence.timeline
    begin_ns, steady_ns, end_ns = outcome.begin_ns, outcome.steady_ns, outcome.end_ns
    if begin_ns is not None and end_ns is not None and not 0 <= begin_ns < end_ns:
        yield f"the workload began at {begin_ns} ns and ended at {end_ns} ns"
    if begin_ns is not None and end_ns is not None and steady_ns is not None and not begin_ns <= steady_ns < end_ns:
        yield f"the steady state began at {steady_ns} ns, the workload at {begin_ns} ns"
    if timeline is None:
        return
    if timeline.start_ns > timeline.stop_ns or (begin_ns is not None and timeline.stop_ns < begin_ns):
        yield f"the schedule ran from {timeline.start_ns} to {timeline.stop_ns} ns"
    for at_ns, each in timeline.moments.items():
        if not each.due_ns == timeline.start_ns + at_ns <= each.done_ns <= each.end_ns or each.begin_ns > each.done_ns:
            yield f"the change at {at_ns / 1e9:g} s was due at {each.due_ns} ns and done at {each.done_ns} ns"
        if each.begin_ns < timeline.start_ns:
            yield f"the change at {at_ns / 1e9:g} s began before the schedule"


def _flows(case: Case) -> Iterator[str]:
    """Sockets have ports and buffers; together the flows got what the goodput says."""
    outcome = case.evidence.outcome
    for number, flow in enumerate(outcome.flows, 1):
        yield from (f"{name} of flow {number} is 0" for name in zeros(flow))
        if any((share or 0.0) > 1 + NEAR for share in (flow.rwnd_limited, flow.sndbuf_limited)):
            yield f"flow {number} was held back for more than its time"
        if flow.congestion is not None and "congestion" not in case.trial.workload.reports:
            tool = case.trial.workload.tool
            yield f"flow {number} has the congestion control {flow.congestion}, which {tool} cannot tell"
    yield from _together(case)
    yield from _parts(case)
    yield from _alone(case)


def _alone(case: Case) -> Iterator[str]:
    """The only flow has the goodput of all. In real time a busy computer looks at it some time after the start, and a
    flow is counted from there: then it lasted no less than its sender was busy, which the kernel counts.
    """
    outcome = case.evidence.outcome
    flow = outcome.flows[0] if len(outcome.flows) == 1 else None
    if flow is None or not flow.goodput_bps or outcome.goodput_bps is None:
        return
    one_bps, all_bps = flow.goodput_bps, outcome.goodput_bps
    if math.isclose(one_bps, all_bps, rel_tol=ALONE):
        return
    is_near = all_bps < one_bps < all_bps * (1 + ALONE_LATE)
    can_be_late = not case.virtual and outcome.ramp_goodput_bps is None and is_near
    lasted_s, busy_s = 8 * (flow.received_bytes or 0) / one_bps, flow.busy_s or 0.0
    if can_be_late and busy_s and lasted_s >= busy_s * (1 - ALONE) - JIFFY_S:
        return
    yield f"the only flow had {one_bps:g} bit/s, all together {all_bps:g} bit/s"


def _together(case: Case) -> Iterator[str]:
    """What is left of the flows after a ramp is counted until the first of them ends, a little before the last one; or
    long before, if they do not begin together.
    """
    outcome = case.evidence.outcome
    begin_ns, steady_ns, end_ns = outcome.begin_ns, outcome.steady_ns, outcome.end_ns
    received = outcome.received_bytes
    is_apart = len(set(getattr(case.trial.workload, "start_ns", (0,)))) > 1
    has_ramp = outcome.ramp_goodput_bps is not None
    if (
        begin_ns is None
        or steady_ns is None
        or end_ns is None
        or outcome.goodput_bps is None
        or (is_apart and has_ramp)
    ):
        return
    told = outcome.in_order_bps * (end_ns - steady_ns) + (outcome.ramp_goodput_bps or 0.0) * (steady_ns - begin_ns)
    most_off = len(outcome.flows) + received * (ENDS_APART if has_ramp else NEAR)
    if abs(told / 8e9 - received) > most_off:
        yield f"the goodput makes {told / 8e9:.0f} bytes, the flows got {received}"


def _parts(case: Case) -> Iterator[str]:
    """Of flows that start apart, the parts make no more than the goodput: either counts no more than what arrived."""
    outcome = case.evidence.outcome
    parts = [flow.part_bps for flow in outcome.flows]
    known = [part for part in parts if part is not None]
    if not known or outcome.goodput_bps is None:
        return
    if len(known) < len(parts):
        yield f"{len(parts) - len(known)} of {len(parts)} flows have no part of the goodput"
    elif sum(known) > outcome.goodput_bps * (1 + NEAR):
        yield f"the flows' parts make {sum(known):g} bit/s, the goodput is {outcome.goodput_bps:g}"


def _series(case: Case) -> Iterator[str]:
    """The seconds of all flows are those of their samples."""
    outcome = case.evidence.outcome
    found = measured.find(TcpResult, outcome.measured)
    if found is None or outcome.begin_ns is None or outcome.end_ns is None:
        return
    ports = {flow.port for flow in outcome.flows}
    netns = node_netns(case.trial.workload.destination)
    sampled = received_series(case.evidence.tcp, netns, ports, outcome.begin_ns, outcome.end_ns)
    if [each.time_s for each in found.series] != [each.time_s for each in sampled]:
        yield f"the series has {len(found.series)} seconds, its samples {len(sampled)}"
        return
    for one, other in zip(found.series, sampled, strict=True):
        if not math.isclose(one.goodput_bps, other.goodput_bps, rel_tol=NEAR, abs_tol=1.0):
            yield f"{one.goodput_bps:g} bit/s in second {one.time_s:g}, by the samples {other.goodput_bps:g}"


def _tool(case: Case) -> Iterator[str]:
    tool = tool_of(case.trial.workload)
    found = tool.measured(case)
    return iter(()) if tool.faults is None or found is None else tool.faults(case, found)


PARTS: tuple[Callable[[Case], Iterator[str]], ...] = (
    _times,
    _flows,
    _series,
    _tool,
    background.faults,
)
