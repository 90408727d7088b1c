"""Checks of the gate: did the tool send what it was asked to send, to the ports of its data? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.workload import FlowWorkload, ShortFlowWorkload
from .. import measured
from ..evidence.case import Case
from ..measured import PingResult, UdpResult
from ..stored_result import Finding, Verdict

HINT = "the tool was given other options than the plan says"

RATE_TOLERANCE, UNPACED_BYTES = 0.01, 65_536
"""A share of what a rate makes of the time; TCP does not pace its first ten segments, and sends superpackets whole."""

LEAST_SHARE, ROOM_SHARE, ROUND_TRIPS = 0.9, 0.7, 10
"""Of its rate a flow brings at least so much where all flows ask for at most so much of the path, but for what is on
its way, and for the round trips of slow start.
"""

DATAGRAMS_TOLERANCE = 0.02
"""A share of what was to be sent. iperf3 sends in steps of a millisecond."""


def ports(case: Case) -> Iterator[Finding]:
    """Flows go to the ports of the data, one after the other: captures and samples know them by these."""
    asked = case.trial.workload.data_ports
    if asked is None:
        return
    for number, flow in enumerate(case.evidence.outcome.flows):
        expected = asked.destination[0] + number
        if flow.port is not None and flow.port != expected:
            yield _load(f"flow {number + 1} went to port {flow.port}, asked was {expected}")


def listens(case: Case) -> Iterator[Finding]:
    """Flows that arrive go to the ports of the data: their rows of the samples know them by these."""
    workload = case.trial.workload
    if not isinstance(workload, ShortFlowWorkload) or case.trial.background:
        return
    ends = workload.data_ports
    first, last = ends.destination if workload.requests is None else ends.source
    for each in case.evidence.tcp:
        if each.destination_port and not any(
            first <= port <= last for port in (each.source_port, each.destination_port)
        ):
            yield _load(
                f"a flow was between the ports {each.source_port} and {each.destination_port}, asked was {first}"
            )
            return


def sizes(case: Case) -> Iterator[Finding]:
    """A flow that was asked for an amount brought exactly that."""
    load = case.trial.workload.load
    asked_bytes = load[0].flow_bytes if len(load) == 1 and load[0].times == 1 else None
    if asked_bytes is None:
        return
    for number, flow in enumerate(case.evidence.outcome.flows, 1):
        if flow.received_bytes is not None and flow.received_bytes != asked_bytes:
            yield _load(f"flow {number} brought {flow.received_bytes} bytes, asked were {asked_bytes}")


def rates(case: Case) -> Iterator[Finding]:
    """No flow of ours brought more than its rate, or its application's writes, make of its time; nor much less, where
    the path has room for more, and nothing was lost.
    """
    workload = case.trial.workload
    if not isinstance(workload, FlowWorkload) or workload.offered_bps is None or workload.duration_ns is None:
        return
    slack = UNPACED_BYTES + (workload.write_bytes or 0)
    asked = workload.offered_bps * workload.duration_ns / 8e9
    for number, flow in enumerate(case.evidence.outcome.flows, 1):
        if (flow.received_bytes or 0) > asked * (1 + RATE_TOLERANCE) + slack:
            yield _load(f"flow {number} brought {flow.received_bytes} bytes, its rate makes {asked:.0f} of its time")
        elif flow.received_bytes is not None and _has_room(case):
            waits = slack + workload.offered_bps * ROUND_TRIPS * case.plan.rtts_ns[1] / 8e9
            if flow.received_bytes < asked * LEAST_SHARE - waits:
                what = f"flow {number} brought only {flow.received_bytes} bytes, its rate makes {asked:.0f} of its time"
                yield _load(f"{what}, and nothing was lost", "suspect")


def _has_room(case: Case) -> bool:
    """Whether nothing but a flow's own rate holds it back: no loss, no window, and links that carry more, always."""
    stages = (*case.plan.stages(is_data=True), *case.plan.stages(is_data=False))
    flows, asked = case.evidence.outcome.flows, case.trial.workload.asked_flows
    offered = sum(each.rate_bps or 0 for each in asked)
    return (
        not case.trial.background
        and all(each.retransmits == 0 for each in flows)
        and not any(each.explained_drops for each in case.evidence.stages)
        and all(each.window_bytes is None for each in asked)
        and case.plan.rate_bps is not None
        and offered <= case.plan.rate_bps * ROOM_SHARE
        and not any(each.states or each.asked.shaper or each.asked.policer or each.asked.trace for each in stages)
    )


def datagrams(case: Case) -> Iterator[Finding]:
    """As many were sent as the rate makes of the duration."""
    udp, load = measured.find(UdpResult, case.evidence.outcome.measured), case.trial.workload.load
    length_bytes = load[0].datagram_bytes if len(load) == 1 else None
    length_ns, asked_bps = case.trial.workload.length_ns, case.trial.workload.unyielding_bps
    if udp is None or length_bytes is None or length_ns is None or not asked_bps:
        return
    asked = asked_bps * length_ns / (8e9 * length_bytes)
    slack = asked * DATAGRAMS_TOLERANCE + 2 * len(case.trial.workload.asked_flows) * (udp.burst_datagrams or 1)
    if abs(udp.sent_datagrams - asked) > slack:
        verdict: Verdict = "invalid" if case.virtual or udp.sent_datagrams > asked else "suspect"
        yield _load(f"{udp.sent_datagrams} datagrams were sent, asked were {asked:.0f}", verdict)


def pings(case: Case) -> Iterator[Finding]:
    ping, asked = measured.find(PingResult, case.evidence.outcome.measured), case.trial.workload.load[0].packets
    if case.trial.workload.echo_bytes is not None and ping is not None and asked is not None and 2 * ping.sent != asked:
        yield _load(f"{ping.sent} pings were sent, asked were {asked // 2}")


def _load(text: str, verdict: Verdict = "invalid") -> Finding:
    return Finding("load", verdict, text, HINT)
