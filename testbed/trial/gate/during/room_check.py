"""Check of the gate: a queue drops only if it is full, also where samples are far apart. Pure, no I/O.

A queue that is busy between two looks holds no more meanwhile than at the first one, and what more its senders have on
their way than when they sent what came to it then, up to a round trip before. This needs windows that only grew since,
and a path on which nothing else waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....plan.link.stage import RATE, frame_bytes
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...observe.bucket import PacedSample
from ...result import Finding
from . import window
from .conservation_check import ACK_BYTES, ACKS_LATE_NS, LATE_FRAMES
from .window import Sockets

SURE_SHARE = 0.9
"""What waited at most is known to some packets, as acknowledgements come together, and superpackets at once: 99.85 % of
a queue that was full, in a slow start of CUBIC at 1 Gbit/s and 22 ms. A queue that was full below this share is found.
"""
BUSY_NS = 1_000
"""A queue that is empty for no longer is still busy."""
HINT = "the buffer was smaller than asked, or something else drops packets"


def fifo(case: Case) -> Iterator[Finding]:
    """The queue of a rate, of all flows together."""
    seen = window.sockets(case)
    for each in case.evidence.data_stages:
        rate_bps = each.stage.asked.rate_bps
        if rate_bps is None or each.stage.queue is not None or not _is_plain(case, each, rate_bps):
            continue
        frame = frame_bytes(each.mtu_bytes)
        size = each.stage.buffer_bytes(frame)
        for one, later in pairwise(each.samples):
            dropped, span_ns = later.drops - one.drops, later.time_ns - one.time_ns
            busy_bytes = rate_bps * (span_ns - BUSY_NS) // (8 * 10**9) - 2 * frame
            if later.handle != RATE or not dropped or later.bytes - one.bytes < busy_bytes:
                continue
            held = one.backlog_bytes if each.stage.limit_unit == "bytes" else one.backlog_packets * frame
            most = _most_bytes(case, held, seen, (one.time_ns, later.time_ns), rate_bps, frame)
            if most is not None and most < SURE_SHARE * size - frame:
                what = f"{each.where}: {dropped} packets were dropped, and at most {most:.0f} bytes waited"
                yield Finding("queue", "invalid", f"{what} in a buffer of {size}", HINT)
                break


def per_flow(case: Case) -> Iterator[Finding]:
    """The queue of each flow that has a cap."""
    seen = window.sockets(case)
    for each in case.evidence.data_stages:
        cap, rate_bps = each.stage.asked.per_flow, each.stage.asked.rate_bps
        if cap is None or cap.polices or not _is_alone(case, each, cap.rate_bps):
            continue
        if rate_bps is not None and rate_bps < cap.rate_bps * len(each.flows):
            continue
        for flow, looks in each.flows:
            ends = (flow.source, flow.source_port, flow.destination, flow.destination_port)
            what = next(_unfull(case, each, looks, seen.only(ends), cap.rate_bps), None)
            if what is not None:
                yield Finding("per flow", "invalid", f"{each.where}: {what}", HINT)
                break


def _unfull(
    case: Case, each: StageEvidence, looks: tuple[PacedSample, ...], seen: Sockets, rate_bps: int
) -> Iterator[str]:
    frame, size = frame_bytes(each.mtu_bytes), each.stage.flow_bytes
    for one, later in pairwise(looks):
        dropped, span_ns = later.policed_packets - one.policed_packets, later.time_ns - one.time_ns
        if not dropped or later.busy_ns - one.busy_ns < span_ns - BUSY_NS:
            continue
        looks_ns = one.time_ns, later.time_ns
        most = _most_bytes(case, one.backlog_bytes, seen, looks_ns, rate_bps, frame)
        if most is not None and most < SURE_SHARE * size - frame:
            yield f"{dropped} packets were dropped, and at most {most:.0f} bytes waited in a queue of {size}"


def _most_bytes(
    case: Case, held: int, seen: Sockets, looks_ns: tuple[int, int], rate_bps: int, frame: int
) -> float | None:
    """What waited at most between two looks at a queue, at the first of which so much did; None if the senders, which
    are looked at a little before it, do not say.
    """
    first, last = (seen.near(at_ns) for at_ns in (looks_ns[0] - case.plan.rtts_ns[1], looks_ns[1]))
    grown = window.grown_bytes(first, last, frame)
    if grown is None or last[0].time_ns <= looks_ns[0]:
        return None
    late_s = (looks_ns[1] - last[0].time_ns + ACKS_LATE_NS) / 1e9
    return held + grown + LATE_FRAMES * frame + rate_bps / 8 * late_s


def _is_plain(case: Case, each: StageEvidence, rate_bps: int) -> bool:
    """Whether a rate is all that holds packets back there."""
    asked = each.stage.asked
    other = asked.shaper or asked.trace or asked.per_flow or asked.policer or asked.policy
    return not other and _is_alone(case, each, rate_bps)


def _is_alone(case: Case, each: StageEvidence, rate_bps: int) -> bool:
    """Whether nothing on the path but this queue holds packets back, or changes how long they take."""
    stages, plan = case.evidence.stages, case.plan
    if not case.virtual or case.trial.background or case.evidence.tc_ends or case.evidence.detours or plan.channels:
        return False
    if any(other.is_scheduled or other.stage.asked.jitter or other.stage.asked.more for other in stages):
        return False
    for other in (other for other in stages if other is not each):
        asked, is_answers = other.stage.asked, other in case.evidence.answer_stages
        caps = [asked.rate_bps, asked.per_flow.rate_bps if asked.per_flow else None]
        least_bps = rate_bps * ACK_BYTES / frame_bytes(each.mtu_bytes)
        slow = [bps for bps in caps if bps is not None and not (is_answers and bps >= least_bps)]
        if slow or asked.shaper or asked.trace or asked.policer or asked.policy:
            return False
    return True
