"""Checks of the gate: are the samples of queues in their order, of the right queue, and do their counters fit together?
Pure, no I/O.

In virtual time the kernel does nothing between two counters of a look, so they fit exactly. Other kernels tell of a
queue without its lock, since Linux 4.8, and packets come and leave meanwhile: tc_fill_qdisc in net/sched/sch_api.c
reads how many packets wait (qdisc_qlen_sum), what the kind counts itself (dump_stats), what was sent, and then how
many bytes wait and how many packets were dropped (gnet_stats_copy_queue), and tbf_enqueue and tbf_dequeue write the
bytes that wait before the packets. On two processors about one look in 2000 shows a queue of ACKs at two moments; with
one, an interrupt may move packets meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ....plan.link import paced
from ....plan.link.stage import BUFFER, DELAY, RATE
from ....plan.link.tclink import HTB, NETEM
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...law import broken_between, under
from ...observe.queue_counter import Counts
from ...observe.sample import QueueSample
from ...result import Finding
from .socket_samples import LARGEST_BYTES, first_fault

KINDS = {DELAY: "netem", RATE: "tbf", BUFFER: "pfifo", HTB: "htb", NETEM: "netem"}
"""The kind of queue behind each handle of a plan, unless a link asks for another one."""

UNEVEN = ("dualpi2",)
"""Linux 7.3's dualpi2 tells of a packet and of its bytes at different moments."""

APART = ("full_drops", "filtered_acks")
COUNTED = sorted(under("rises", Counts), key=lambda name: name == "aqm_drops")
"""What a queue that was asked counts apart."""
SUBTRACT = ("cake", "codel", "dualpi2", "fq_codel", "fq_pie", "pie")
"""Kinds whose `aqm_drops` are all drops but those of APART (`observe.queue_counter`)."""

CHANCE, FEW = 0.5, 2
"""Of two moments in the life of a queue that holds something a share q of the time, one finds it empty and the other
does not with a chance of 2 q (1 - q), so at no more than half of many looks. So few looks say nothing of a share.
"""
MANY = 40
"""Of 1052 looks at a queue in which packets waited only while they were passed on (two processors, half a million
packets a second), 613 lacked the packets, 124 the bytes, and 315 neither. So chance would have more than 40 lack the
same with less than one in a million, even if 7 of 10 did.
"""


def queues(case: Case) -> Iterator[Finding]:
    """The samples of every queue on the path, with the looks around the workload."""
    netns = {emulator.link: emulator.netns for emulator in case.plan.emulators}
    is_exact = case.virtual
    for each in (*case.evidence.stages, *case.evidence.channels):
        yield from first_fault(each.where, _stage_faults(each, netns[each.link], is_exact))
    for end in case.evidence.tc_ends:
        where, handle = f"{end.port.link} at {end.port.node}", HTB if end.port.rate_bps else NETEM
        yield from first_fault(where, faults_of(end.samples, end.port.netns, handle, is_exact))
        if any(later.time_ns <= one.time_ns for one, later in pairwise(end.samples)):
            yield from first_fault(where, iter(("two samples at one time",)))


def _stage_faults(each: StageEvidence, netns: str, is_exact: bool) -> Iterator[str]:
    if each.around is not None and not each.stage.states:
        first, last = each.around
        yield from faults_of((first, *each.samples, last), netns, first.handle, is_exact, _kind(each))
    for look in each.around or ():
        yield from faults_of((look,), netns, look.handle, is_exact, _kind(each))
    if each.stage.queue is not None:
        looks = (*(each.queue_around or ()),)
        whole = (*looks[:1], *each.queue_samples, *looks[1:])
        yield from faults_of(whole, netns, BUFFER, is_exact, asked=each.stage.queue.type)
    for samples in (each.samples, *(interval.looks for interval in each.intervals if each.is_scheduled)):
        if samples:
            yield from faults_of(samples, netns, samples[0].handle, is_exact, _kind(each))
        if any(later.time_ns <= one.time_ns for one, later in pairwise(samples)):
            yield "two samples at one time"


def _kind(each: StageEvidence) -> str:
    """What sends at the rate of a link."""
    asked = each.stage.asked
    return paced.SHAPER if asked.shaper is not None else paced.TRACE if asked.trace is not None else KINDS[RATE]


def faults_of(
    samples: Sequence[QueueSample],
    netns: str,
    handle: str,
    is_exact: bool,
    sends: str = KINDS[RATE],
    asked: str | None = None,
) -> Iterator[str]:
    kind = asked or (sends if handle == RATE else KINDS.get(handle))
    for each in samples:
        if (each.netns, each.handle, each.kind) != (netns, handle, kind) or each.device <= 0:
            yield f"a sample of {each.kind} {each.handle} in {each.netns}, not of {kind} {handle} in {netns}"
        if bool(each.bytes) != bool(each.packets):
            yield f"{each.packets} packets with {each.bytes} bytes"
    yield from _waiting_faults([each for each in samples if each.kind not in UNEVEN], is_exact)
    for one, later in pairwise(samples):
        yield from broken_between(one, later)
        if asked is not None:
            yield from _counted_faults(one, later, is_exact)


def _waiting_faults(samples: Sequence[QueueSample], is_exact: bool) -> Iterator[str]:
    """Packets that wait have bytes, and the other way round. Where a look is not exact, only the packets or only the
    bytes may be told of those that left or came meanwhile: no more than the looks before and after it say. Nor may all
    looks at what waited lack the same of the two: then nobody tells it.
    """
    uneven = 0
    for n, each in enumerate(samples):
        packets, octets = each.backlog_packets, each.backlog_bytes
        if bool(packets) == bool(octets):
            continue
        uneven += 1
        said = f"{packets} packets of {octets} bytes waited"
        if is_exact:
            yield said
        elif n + 1 < len(samples):  # what moves after the last look, nobody tells
            left, came_bytes = _moved(samples[n - 1] if n else None, samples[n + 1])
            if packets > left or octets > came_bytes:
                yield f"{said}, and from the look before it to the next {left} packets left and {came_bytes} bytes came"
    if not is_exact and uneven > max(FEW, CHANCE * len(samples)):
        yield f"packets without bytes, or bytes without packets, waited at {uneven} of {len(samples)} looks"
    full = [each for each in samples if each.backlog_packets or each.backlog_bytes]
    for name, lacked in (("bytes", "backlog_bytes"), ("packets", "backlog_packets")):
        if not is_exact and len(full) > MANY and not any(getattr(each, lacked) for each in full):
            yield f"something waited at {len(full)} looks, and none tells of {name}"


def _moved(before: QueueSample | None, after: QueueSample) -> tuple[int, int]:
    """At most how many packets left a queue, and how many bytes came to it, between two looks; since it was set up
    without the first. What waited at the first look did not come after it: it left, or waits at the other one, too.
    """
    packets, octets, drops = after.packets, after.bytes + after.backlog_bytes, after.drops
    if before is not None:
        packets, octets = packets - before.packets, octets - before.bytes - before.backlog_bytes
        drops -= before.drops
    return packets + drops, max(0, octets + drops * LARGEST_BYTES)


def _counted_faults(one: QueueSample, later: QueueSample, is_exact: bool) -> Iterator[str]:
    """Counts only rise. Where a look is not exact, `aqm_drops` that are a difference have at one look the packets that
    were dropped for another reason after dump_stats, and at the next no more.
    """
    moved = 0
    for name in COUNTED:
        before, after = (getattr(look.counts, name, None) for look in (one, later))
        slack = moved if name == "aqm_drops" and not is_exact and one.kind in SUBTRACT else 0
        if before is None or after is None or after + slack < before:
            yield f"{name} went from {before} to {after}"
        elif name in APART:
            moved += after - before
