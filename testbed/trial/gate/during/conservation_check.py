"""Checks of the gate: work conservation. A link whose queue is not empty sends at its rate. Pure, no I/O.

Two looks at which packets wait do not say that some waited all the time between them. But TCP does, where its windows
do not shrink: then as much is on its way as at the first look, and what the delays do not hold waits in the queue.
Shapers, traces and caps of flows count themselves how long something waited: `link.bucket_check`, `link.trace_check`
and `link.flow_check` ask them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....model.workload import UdpWorkload
from ....plan.link import fault
from ....plan.link.stage import RATE, frame_bytes
from ... import measured
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...observe.sample import QueueSample
from ...result import Finding
from ...workload import udp
from ...workload.udp import UdpResult
from ..link.link_check import RATE_TOLERANCE, REAL_LATE_S
from . import window
from .window import Sockets

LATE_FRAMES, ACKS_LATE_NS = 4, 100_000
"""A receiver acknowledges every second segment; it waits 20 us for more (gro_flush_timeout), and what it reads takes
some clock reads of 256 ns. Two segments may wait there, one is being sent, and one is what the link sends next.
"""
ACK_BYTES = 134
"""The longest frame of an acknowledgement: IPv6 and TCP with all options. It answers at least one segment, so none
waits at a link that can carry so much for each segment of the data.
"""


def rate(case: Case) -> Iterator[Finding]:
    """No less than its rate passed a link while its queue cannot have been empty."""
    for each in case.evidence.data_stages:
        for what in _too_slow(case, each):
            hint = "the rate was another one for a while, or something else holds the link back"
            yield Finding("rate", "invalid" if case.virtual else "suspect", f"{each.where}: {what}", hint)
            break


def _too_slow(case: Case, each: StageEvidence) -> Iterator[str]:
    if any(other.stage.asked.per_flow for other in case.evidence.stages):  # what is on its way may wait there
        return
    senders = window.sockets(case)
    frame = frame_bytes(each.mtu_bytes)
    for span in each.intervals:
        asked = span.state.asked
        asked_bps = None if fault.is_down(span.state) or asked.shaper or asked.trace else asked.rate_bps
        if asked_bps is None:
            continue
        for one, later in pairwise(span.samples):
            if one.handle != RATE or not (one.backlog_packets and later.backlog_packets):
                continue
            slack = _slack_bytes(case, each, asked_bps, one, later, senders)
            if slack is None:
                continue
            span_ns, carried = later.time_ns - one.time_ns, later.bytes - one.bytes
            late_s = 0.0 if case.virtual else REAL_LATE_S
            least = asked_bps / 8 * (1 - RATE_TOLERANCE) * (span_ns / 1e9 - late_s) - slack - 2 * frame
            if carried < least:
                seen = (
                    f"{carried * 8e3 / span_ns:.1f} Mbit/s while packets waited, asked were {asked_bps / 1e6:g} Mbit/s"
                )
                yield f"{seen} ({_since(case, one)} to {_since(case, later)} s)"


def _since(case: Case, look: QueueSample) -> str:
    return f"{(look.time_ns - (case.evidence.outcome.begin_ns or 0)) / 1e9:.3g}"


def _slack_bytes(
    case: Case,
    each: StageEvidence,
    asked_bps: int,
    one: QueueSample,
    later: QueueSample,
    senders: Sockets,
) -> int | None:
    """By how much less than the rate may have left while the queue was not empty between two looks; None if it may have
    been empty.
    """
    workload = case.trial.workload
    if isinstance(workload, UdpWorkload):
        burst = workload.burst or udp.burst(workload.rate_bps, workload.length_bytes)
        offered_bps = workload.rate_bps * workload.flows
        came = case.evidence.outcome.begin_ns, case.evidence.outcome.end_ns
        is_sent = came[0] is not None and came[1] is not None and came[0] <= one.time_ns and later.time_ns <= came[1]
        is_lossless = not any(stage.explained_drops for stage in case.evidence.data_stages if stage is not each)
        own = each.counts
        is_lossless = is_lossless and each.explained_drops == own.queue_drops + own.aqm_drops
        if is_sent and is_lossless and offered_bps >= asked_bps:
            found = measured.find(UdpResult, case.evidence.outcome.measured)
            late_s = 0.0 if found is None else found.send_late_max_s or 0.0
            return 2 * burst * workload.flows * frame_bytes(each.mtu_bytes) + round(offered_bps / 8 * late_s)
        return None
    return 0 if _is_full(case, each, asked_bps, one, later, senders) else None


def _is_full(
    case: Case,
    each: StageEvidence,
    asked_bps: int,
    one: QueueSample,
    later: QueueSample,
    senders: Sockets,
) -> bool:
    """Whether TCP had more on its way, all the time between two looks, than all but the queue can hold.

    A window that grows sends faster than the link does, so a delay before the queue may hold what it grew by in that
    delay. The window of a round trip before has come to the queue.
    """
    first, last = (senders.near(time_ns) for time_ns in (one.time_ns - case.plan.rtts_ns[1], later.time_ns))
    if one.drops != later.drops or _marks(one) != _marks(later) or not first:
        return False
    if last[0].time_ns <= one.time_ns or _holds_back(case):
        return False
    after = {window.key(sample): sample for sample in last}
    in_flight = 0.0
    for sample in first:
        then = after.get(window.key(sample))
        if then is not None and window.kept(sample, then):
            info = sample.info
            own = float(info["snd_cwnd"] or 0) * float(info["snd_mss_bytes"] or 0)
            in_flight += own - window.held_bytes(then, own)
    return in_flight > _elsewhere_bytes(case, each, asked_bps) + LATE_FRAMES * frame_bytes(each.mtu_bytes)


def _holds_back(case: Case) -> bool:
    """Whether something holds data back beside windows and delays of a known length: a flow's own rate, or an
    impairment that delays each packet by another time.
    """
    asked = [state.asked for each in case.evidence.stages for state in each.stage.history]
    varies = any(each.jitter or {"aggregate", "reorder"} & dict(each.more).keys() for each in asked)
    return varies or any(flow.rate_bps is not None for flow in case.trial.workload.asked_flows)


def _elsewhere_bytes(case: Case, each: StageEvidence, asked_bps: int) -> float:
    """What can be on its way to the receiver and back while the link sends at its rate, without its queue. Answers wait
    only where they come faster than their link sends.
    """
    waits_s = 0.0
    for other in case.evidence.stages:
        rate_bps = min((state.asked.rate_bps for state in other.stage.history if state.asked.rate_bps), default=0)
        if other is not each and rate_bps:
            frame = frame_bytes(other.mtu_bytes)
            is_answers = other in case.evidence.answer_stages and not case.trial.background
            is_answers = is_answers and rate_bps >= asked_bps * ACK_BYTES / frame_bytes(each.mtu_bytes)
            waits_s += 8 * (frame if is_answers else other.stage.buffer_bytes(frame) + frame) / rate_bps
    return asked_bps / 8 * ((case.plan.rtts_ns[1] + ACKS_LATE_NS) / 1e9 + waits_s)


def _marks(look: QueueSample) -> int:
    return 0 if look.counts is None else look.counts.marks + look.counts.aqm_drops
