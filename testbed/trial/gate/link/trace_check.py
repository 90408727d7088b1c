"""Checks of the gate: did a link send at the opportunities of its trace, at all of them and no others? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from ....model.link.trace import PACKET_BYTES, Trace
from ....plan.link.stage import frame_bytes
from ...evidence.case import Case
from ...evidence.interval import Happened
from ...evidence.stage import StageEvidence
from ...observe.bucket import PacedSample
from ...result import Finding
from .bucket_check import looks_faults, too_little

HINT = "somebody changed the trace, or what was read back is not whole"
REAL_LATE_NS = 50_000_000
"""How late an opportunity may be used in real time."""


def trace(case: Case) -> Iterator[Finding]:
    moment = None if case.evidence.timeline is None else case.evidence.timeline.moments.get(0)
    for each in case.judged:
        asked = each.stage.asked.trace
        if asked is None:
            continue
        late_ns = 0 if case.virtual else REAL_LATE_NS
        looks = of_workload(each.paced)
        faults = (
            *looks_faults(each, each.paced),
            *("missing: what it did since the workload began" for _ in range(len(looks) < 2)),
            *_begin(each.paced, moment),
            *_sent(asked, looks, frame_bytes(each.mtu_bytes), late_ns),
            *(_unused(asked, looks, frame_bytes(each.mtu_bytes)) if case.virtual else ()),
            *(_told(asked, looks) if case.virtual else ()),
        )
        for what in faults[:1]:
            yield Finding("trace", "invalid", f"{each.where}: {what}", HINT)
        is_real = not case.virtual and not faults
        for what in islice(_unused(asked, looks, frame_bytes(each.mtu_bytes)), 1) if is_real else ():
            yield too_little(case, "trace", f"{each.where}: {what}")


def of_workload(looks: Sequence[PacedSample]) -> tuple[PacedSample, ...]:
    """The looks since the trace began with the workload."""
    return tuple(look for look in looks if looks and look.begin_ns == looks[-1].begin_ns)


def capacity_bps(each: StageEvidence, begin_ns: int, end_ns: int) -> float | None:
    """The rate of all opportunities from one time of CLOCK_MONOTONIC to a later one, in whole frames; None without."""
    asked = each.stage.asked.trace
    if asked is None or not each.paced or end_ns <= begin_ns:
        return None
    zero_ns = each.paced[-1].begin_ns
    return (asked.until(end_ns - zero_ns) - asked.until(begin_ns - zero_ns)) * 8e9 * PACKET_BYTES / (end_ns - begin_ns)


def _begin(looks: Sequence[PacedSample], moment: Happened | None) -> Iterator[str]:
    """It began anew when the workload did. `schedule_check` says if that was late, or never happened."""
    if moment is not None and looks and not moment.begin_ns <= looks[-1].begin_ns <= moment.done_ns:
        yield f"it began at {looks[-1].begin_ns} ns, not with the workload at {moment.begin_ns} ns"
    elif moment is None:
        yield "it did not begin with the workload"


def _sent(asked: Trace, looks: Sequence[PacedSample], frame: int, late_ns: int) -> Iterator[str]:
    """What is sent fits into the opportunities that come meanwhile, but for a packet at each end. In real time one may
    be used late.
    """
    for one, later, sent, came in _spans(asked, looks):
        early = _until(asked, one) - asked.until(one.time_ns - late_ns - one.begin_ns)
        if sent > (came + early) * PACKET_BYTES + frame + PACKET_BYTES:
            span_s = (later.time_ns - one.time_ns) / 1e9
            yield f"{sent} bytes were sent in {span_s:g} s, with {came} opportunities"


def _unused(asked: Trace, looks: Sequence[PacedSample], frame: int) -> Iterator[str]:
    """While packets wait, every opportunity is used."""
    for one, later, sent, came in _spans(asked, looks):
        is_busy = later.busy_ns - one.busy_ns >= later.time_ns - one.time_ns > 0
        if is_busy and sent < came * PACKET_BYTES - frame - PACKET_BYTES:
            yield f"{sent} bytes were sent while packets waited, with {came} opportunities"


def _spans(asked: Trace, looks: Sequence[PacedSample]) -> Iterator[tuple[PacedSample, PacedSample, int, int]]:
    """From each look to the next, and from the first to the last: the bytes sent and the opportunities that came."""
    for one, later in (*pairwise(looks), *((looks[0], looks[-1]) for _ in looks[:1])):
        yield one, later, later.taken_bytes - one.taken_bytes, _until(asked, later) - _until(asked, one)


def _until(asked: Trace, look: PacedSample) -> int:
    return asked.until(look.time_ns - look.begin_ns)


def _told(asked: Trace, looks: Sequence[PacedSample]) -> Iterator[str]:
    """The kernel counts the opportunities of the trace; those of this very moment may be ahead."""
    for look in looks:
        most = _until(asked, look)
        least = asked.until(look.time_ns - look.begin_ns - 1)
        if not least <= look.opportunities <= most:
            yield f"{look.opportunities} opportunities came in {(look.time_ns - look.begin_ns) / 1e9:g} s, not {most}"
