"""Checks of the gate: causality. No packet of a workload was faster than its delay, and the fastest was no slower than
its delay and what can have waited before it. Pure, no I/O.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....model.workload import UdpWorkload
from ....plan.link.stage import frame_bytes
from ... import measured
from ...evidence.case import Case
from ...result import Finding
from ...workload.udp import UdpResult
from ..link import rtt_check

BURST_FRAMES = 10
"""What TCP sends at once at its start (RFC 6928): where its handshake gives no round trip, as segments were lost, the
last of these waits for all others."""
TICK_S = 1e-3
"""What time stamps count, by which TCP measures a round trip of segments that were sent again."""
FORGOTTEN_NS = 300 * 10**9
"""So long a socket remembers its shortest round trip (net.ipv4.tcp_min_rtt_wlen); samples remember it for longer."""
HINT = "the delay was another one for a while"


def rtt(case: Case) -> Iterator[Finding]:
    """The shortest round trip of each flow; iperf3 tells only the shortest of averages."""
    if not case.trial.workload.is_one_path:
        return
    low_s, high_s = _bounds_s(case)
    high_s = high_s if case.trial.workload.port_is_senders and not _is_forgotten(case) else math.inf
    for number, flow in enumerate(case.evidence.outcome.flows, 1):
        if flow.rtt_min_s is None:
            continue
        off_s = TICK_S if flow.retransmits else 0.0
        if not low_s - off_s <= flow.rtt_min_s <= high_s:
            least, most = max(0.0, low_s - off_s) * 1e3, high_s * 1e3
            what = f"the shortest round trip of flow {number} took {flow.rtt_min_s * 1e3:g} ms"
            yield _finding(
                case, f"{what}, the links allow {least:.6g} to {most:.6g} ms", flow.rtt_min_s < low_s - off_s
            )
            return


def _is_forgotten(case: Case) -> bool:
    begin_ns, end_ns = case.evidence.outcome.begin_ns, case.evidence.outcome.end_ns
    return not case.evidence.tcp and end_ns is not None and end_ns - (begin_ns or 0) >= FORGOTTEN_NS


def one_way(case: Case) -> Iterator[Finding]:
    """The shortest way of a datagram; TCLinks do not say which part of a round trip is the way back."""
    found = None if case.evidence.tc_ends else measured.find(UdpResult, case.evidence.outcome.measured)
    if not isinstance(case.trial.workload, UdpWorkload) or found is None or found.delay_min_s is None:
        return
    low_s, high_s = _bounds_s(case)
    back = [[state.asked.delay_ns or 0 for state in each.stage.history] for each in case.evidence.answer_stages]
    low_s, high_s = low_s - sum(map(max, back)) / 1e9, high_s - sum(map(min, back)) / 1e9
    if not low_s <= found.delay_min_s <= high_s:
        what = f"the fastest datagram took {found.delay_min_s * 1e3:g} ms"
        text = f"{what}, the links allow {max(0.0, low_s) * 1e3:.6g} to {high_s * 1e3:.6g} ms"
        yield _finding(case, text, found.delay_min_s < low_s)


def _bounds_s(case: Case) -> tuple[float, float]:
    """The first packet of the only flow meets empty queues."""
    frame = frame_bytes(case.plan.mtu_bytes)
    low_s, high_s = rtt_check.bounds_s(case, frame, during=True, asks=True)
    for each in case.evidence.stages:
        rates = [state.asked.rate_bps for state in each.stage.history if state.asked.rate_bps]
        high_s += BURST_FRAMES * 8 * frame / min(rates) if rates else 0.0
    if len(case.evidence.outcome.flows) != 1 or case.trial.background:
        high_s += rtt_check.queues_s(case)
        high_s += sum(
            8 * end.port.limit * frame / end.port.rate_bps for end in case.evidence.tc_ends if end.port.rate_bps
        )
    return low_s, high_s


def _finding(case: Case, what: str, is_fast: bool) -> Finding:
    return Finding("rtt", "invalid" if case.virtual or is_fast else "suspect", what, HINT)
