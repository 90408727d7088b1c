"""Checks of the gate: did the tool send what it was asked to send, to the ports of its data? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scenario import Trial
from ...model.workload import FlowWorkload
from ...plan.network import Plan
from .. import measured
from ..evidence.stage import Evidence
from ..measured import PingResult, UdpResult
from ..stored_result import Finding, Verdict

HINT = "the tool was given other options than the plan says"

RATE_TOLERANCE, UNPACED_BYTES = 0.01, 65_536
"""A share of what a rate makes of the time; TCP does not pace its first ten segments, and sends superpackets whole."""

DATAGRAMS_TOLERANCE = 0.02
"""A share of what was to be sent. iperf3 sends in steps of a millisecond."""


def ports(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Flows go to the ports of the data, one after the other: captures and samples know them by these."""
    asked = trial.workload.data_ports
    if asked is None:
        return
    for number, flow in enumerate(evidence.outcome.flows):
        expected = asked.destination[0] + number
        if flow.port is not None and flow.port != expected:
            yield _load(f"flow {number + 1} went to port {flow.port}, asked was {expected}")


def sizes(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """A flow that was asked for an amount brought exactly that."""
    load = trial.workload.load
    asked_bytes = load[0].flow_bytes if len(load) == 1 and load[0].times == 1 else None
    if asked_bytes is None:
        return
    for number, flow in enumerate(evidence.outcome.flows, 1):
        if flow.received_bytes is not None and flow.received_bytes != asked_bytes:
            yield _load(f"flow {number} brought {flow.received_bytes} bytes, asked were {asked_bytes}")


def rates(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """No flow of ours brought more than its rate, or its application's writes, make of its time."""
    workload = trial.workload
    if not isinstance(workload, FlowWorkload) or workload.offered_bps is None or workload.duration_ns is None:
        return
    slack = UNPACED_BYTES + (workload.write_bytes or 0)
    asked = workload.offered_bps * workload.duration_ns / 8e9
    for number, flow in enumerate(evidence.outcome.flows, 1):
        if (flow.received_bytes or 0) > asked * (1 + RATE_TOLERANCE) + slack:
            yield _load(f"flow {number} brought {flow.received_bytes} bytes, its rate makes {asked:.0f} of its time")


def datagrams(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """As many were sent as the rate makes of the duration."""
    udp, load = measured.find(UdpResult, evidence.outcome.measured), trial.workload.load
    length_bytes = load[0].datagram_bytes if len(load) == 1 else None
    length_ns, asked_bps = trial.workload.length_ns, trial.workload.unyielding_bps
    if udp is None or length_bytes is None or length_ns is None or not asked_bps:
        return
    asked = asked_bps * length_ns / (8e9 * length_bytes)
    slack = asked * DATAGRAMS_TOLERANCE + 2 * len(trial.workload.asked_flows) * (udp.burst_datagrams or 1)
    if abs(udp.sent_datagrams - asked) > slack:
        verdict: Verdict = "invalid" if trial.kernel.is_virtual_time or udp.sent_datagrams > asked else "suspect"
        yield _load(f"{udp.sent_datagrams} datagrams were sent, asked were {asked:.0f}", verdict)


def pings(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    ping, asked = measured.find(PingResult, evidence.outcome.measured), trial.workload.load[0].packets
    if trial.workload.echo_bytes is not None and ping is not None and asked is not None and 2 * ping.sent != asked:
        yield _load(f"{ping.sent} pings were sent, asked were {asked // 2}")


def _load(text: str, verdict: Verdict = "invalid") -> Finding:
    return Finding("load", verdict, text, HINT)
