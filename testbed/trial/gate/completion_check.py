"""Checks of the gate: did flows that arrive and end do so as drawn, could the path carry them as fast, and did all of
them end? Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.workload import ShortFlowWorkload
from ...plan.link.impairment import BURST_NS, REAL_TIME_BURST_NS
from ...plan.link.stage import frame_bytes
from ...plan.network import Plan
from .. import measured
from ..evidence.case import Case
from ..evidence.stage import Evidence
from ..stored_result import Finding
from ..workload.completion import Completion, FctResult, ideal_ns, summary
from ..workload.short_flow import asked
from .data_check import denies_data
from .host_check import LATE_S

HINT = "the program did other things than the schedule says"
DAMAGED = "an output of the trial is damaged or not whole"
FREE_FRAMES = 2
"""So many frames may pass a token bucket at once."""
CLOCK_NS = 1_000
"""By how much two looks at the clock may differ."""


def as_drawn(case: Case) -> Iterator[Finding]:
    """Each flow is that of the draw, began when it was asked to, and the result's numbers are those of the flows."""
    workload, flows = case.trial.workload, case.evidence.outcome.completions
    if not isinstance(workload, ShortFlowWorkload):
        return
    drawn, ideal = asked(workload, case.plan, case.trial.seed), ideal_ns(workload, case.plan)
    expected = [(each.start_ns, each.size_bytes, ideal(each.size_bytes) if ideal else None) for each in drawn]
    told = [(each.start_ns, each.size_bytes, each.ideal_ns) for each in flows]
    if len(told) != len(expected):
        yield Finding("flows", "invalid", f"the tool tells of {len(told)} flows, asked were {len(expected)}", HINT)
    elif told != expected:
        number = next(n for n, pair in enumerate(zip(told, expected, strict=True)) if pair[0] != pair[1])
        what = f"flow {number + 1} was {told[number]} (start and ideal in ns, bytes), asked was {expected[number]}"
        yield Finding("flows", "invalid", what, HINT)
    outcome = case.evidence.outcome
    if outcome.begin_ns is None or outcome.end_ns is None or not flows:
        return
    if measured.find(FctResult, outcome.measured) != summary(flows, outcome.end_ns - outcome.begin_ns):
        yield Finding("flows", "invalid", "the completion times of the result are not those of its flows", DAMAGED)
    yield from _order(workload, case.plan, flows, outcome.end_ns - outcome.begin_ns)
    yield from _in_time(case, workload, flows)


def _order(workload: ShortFlowWorkload, plan: Plan, flows: Sequence[Completion], end_ns: int) -> Iterator[Finding]:
    """A flow begins, is connected and ends, in this order, within the workload; a handshake takes a round trip."""
    is_new = workload.requests is None or workload.requests.connections is None
    least_ns = plan.rtts_ns[0] - CLOCK_NS if is_new and not _varies(plan) else 0
    for number, each in enumerate(flows, 1):
        times = [each.began_ns, each.connected_ns, each.ended_ns]
        known = [at_ns for at_ns in times if at_ns is not None]
        if known != sorted(known) or any(at_ns > end_ns for at_ns in known) or (known and known[0] < each.start_ns):
            what = f"flow {number} was to begin at {each.start_ns} ns; it began, was connected and ended at {times} ns"
            yield Finding("flows", "invalid", what, DAMAGED)
            return
        has_socket = each.connected_ns is not None or each.ended_ns is not None
        if (each.began_ns is not None and each.retransmits is None) or (has_socket and not each.port):
            what = f"missing: the port or the retransmissions of flow {number}"
            yield Finding("flows", "invalid", what, DAMAGED)
            return
        connected = None if each.connected_ns is None else each.connected_ns - (each.began_ns or 0)
        if is_new and each.ended_ns is not None and (connected is None or connected < least_ns):
            what = f"flow {number} was connected in {connected} ns over a path with an RTT of {plan.rtts_ns[0]} ns"
            yield Finding("flows", "invalid", what, DAMAGED)
            return


def requested(case: Case) -> Iterator[Finding]:
    """The end that sends got every request whole, and over as many connections as asked: by its own count, and by the
    ports of the other end.
    """
    if isinstance(case.trial.workload, ShortFlowWorkload) and case.evidence.outcome.completions:
        for what in (*_sizes(case.trial.workload, case.evidence), *_connections(case.trial.workload, case.evidence)):
            yield Finding("flows", "invalid", what, HINT)


def _sizes(workload: ShortFlowWorkload, evidence: Evidence) -> Iterator[str]:
    size = 0 if workload.requests is None else workload.requests.size_bytes
    for number, each in enumerate(evidence.outcome.completions, 1):
        if each.ended_ns is not None and each.requested_bytes != size:
            told = (
                "missing: how long it was" if each.requested_bytes is None else f"it had {each.requested_bytes} bytes"
            )
            yield f"the request of flow {number}: {told}, asked were {size}"
            return


def _connections(workload: ShortFlowWorkload, evidence: Evidence) -> Iterator[str]:
    flows, accepted = evidence.outcome.completions, evidence.outcome.connections
    kept = None if workload.requests is None else workload.requests.connections
    least = kept or sum(each.ended_ns is not None for each in flows)
    most = kept or sum(each.began_ns is not None for each in flows)
    if accepted is None:
        yield "missing: how many connections were accepted"
    elif not least <= accepted <= most:
        yield f"{accepted} connections were accepted, asked were {least if least == most else f'{least} to {most}'}"
    ports: dict[int, int] = {}
    for number, each in enumerate(flows):
        if kept and each.port is not None and ports.setdefault(number % kept, each.port) != each.port:
            yield f"flow {number + 1} came from port {each.port}, its connection has port {ports[number % kept]}"
            return
    if kept and len(set(ports.values())) < len(ports):
        yield f"{len(ports)} connections have {len(set(ports.values()))} ports"


def _in_time(case: Case, workload: ShortFlowWorkload, flows: Sequence[Completion]) -> Iterator[Finding]:
    """Of connections that stay open, a request waits for the one before it, and no longer."""
    kept = 0 if workload.requests is None else workload.requests.connections or 0
    most_ns, late_ns, number = case.slack(LATE_S) * 1e9, 0, 0
    for n, each in enumerate(flows):
        before = flows[n - kept] if 0 < kept <= n else None
        due_ns = max(each.start_ns, (before.ended_ns or each.start_ns) if before else 0)
        if each.began_ns is not None and each.began_ns - due_ns > late_ns:
            late_ns, number = each.began_ns - due_ns, n + 1
    if late_ns > most_ns:
        what = f"flow {number} began {late_ns / 1e6:.3g} ms late"
        yield Finding("flows", "suspect", what, "the machine is too slow for these arrivals: fewer, or kernel: lab")


def possible(case: Case) -> Iterator[Finding]:
    """No flow ended sooner than the path can carry its bytes, with what a token bucket lets pass at once."""
    if not isinstance(case.trial.workload, ShortFlowWorkload) or _varies(case.plan):
        return
    burst_ns = BURST_NS if case.virtual else REAL_TIME_BURST_NS
    frames_ns = (
        FREE_FRAMES * frame_bytes(case.plan.mtu_bytes) * 8 * 10**9 // case.plan.rate_bps if case.plan.rate_bps else 0
    )
    for number, each in enumerate(case.evidence.outcome.completions, 1):
        if each.fct_ns is not None and each.ideal_ns and each.fct_ns < each.ideal_ns - frames_ns - burst_ns:
            what = f"flow {number} took {each.fct_ns / 1e6:g} ms, on an empty path it takes {each.ideal_ns / 1e6:g} ms"
            yield Finding("flows", "invalid", what, "the data took another path, or the tool counted too early")
            return


def ended(case: Case) -> Iterator[Finding]:
    """Flows that were cut are counted. Without any that ended there is no completion time."""
    found = measured.find(FctResult, case.evidence.outcome.measured)
    if not isinstance(case.trial.workload, ShortFlowWorkload) or found is None:
        return
    if found.begun < found.flows:
        what = f"{found.flows - found.begun} of {found.flows} flows never began"
        yield Finding("flows", "suspect", what, "the connections that stay open were busy, or broke")
    if not found.finished:
        hint = (
            "the network denies it, as asked"
            if denies_data(case.plan)
            else "a longer drain, a lower load, smaller flows"
        )
        what = f"none of {found.flows} flows ended: there is no completion time"
        yield Finding("flows", "valid" if denies_data(case.plan) else "invalid", what, hint)
    elif found.unfinished:
        bounds = () if found.fct_s is None else found.fct_s.bounds
        what = (
            f"{found.unfinished} of {found.flows} flows had not ended and were cut; of the completion times and "
            f"slowdowns {', '.join(bounds)} are lower bounds"
        )
        yield Finding("flows", "suspect", what, "a longer drain, or a lower load")


def _varies(plan: Plan) -> bool:
    """Whether a delay may be less than was asked at the start: it jitters, or changes."""
    stages = (*plan.stages(is_data=True), *plan.stages(is_data=False))
    return any(stage.states or stage.asked.jitter is not None for stage in stages)
