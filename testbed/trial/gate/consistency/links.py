"""Checks of the gate: do the counters of links, sockets, policies and subjects add up? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from ....plan.link.tclink import NETEM
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...observe.readback import Qdisc
from ...result import Finding
from ...subject.registry import SUBJECTS
from ..link import set_up_check
from .tools import firsts

ALWAYS = frozenset(
    {
        *("delay", "limit", "loss", "gap", "duplicate", "jitter", "delay_corr", "loss_corr", "dup_corr"),
        *("prob_reorder", "corr_reorder", "prob_corrupt", "corr_corrupt", "packet_overhead", "cell_size"),
        *("cell_overhead", "burst_ns", "peak_rate", "mtu", "overhead", "mpu", "cell_align"),
    }
)
"""What the kernel always tells of a netem or a token bucket, whatever was asked."""


def adds_up(case: Case) -> Iterator[Finding]:
    return firsts((*(part(case) for part in PARTS), *(each.faults(case, case.of(each)) for each in SUBJECTS)))


def kept(case: Case) -> Iterator[Finding]:
    """Every queueing discipline is the same one all the time; what nobody changes stays as it was. If one is not as
    asked, that says it all.
    """
    if any(set_up_check.queues(case)):
        return
    for each in (*case.judged, *case.evidence.channels):
        for what in _changes(each):
            hint = "somebody set it up again while the workload ran, or what was read back is not whole"
            yield Finding("set-up", "invalid", f"{each.where}: {what}", hint)
            break


def _tc_ends(case: Case) -> Iterator[str]:
    """The queues of TCLinks are where they should be, and the same ones all the time; the kernel tells of all of them
    with the same numbers.
    """
    ends = (*case.evidence.tc_ends, *case.evidence.beside_tc_ends)
    netems = [(end.port, netem) for end in ends for netem in (end.netem, end.netem_after) if netem is not None]
    told = {frozenset(netem.more) for _, netem in netems}
    if len(told) > 1 or frozenset() in told:
        yield "not every TCLink has all numbers of its netem"
    for port, seen in netems:
        if (seen.netns, seen.handle, seen.kind) != (port.netns, NETEM, "netem"):
            yield f"{port.link} at {port.node}: a {seen.kind} {seen.handle} in {seen.netns} was read back"


def _changes(each: StageEvidence) -> Iterator[str]:
    looks = [*(interval.qdiscs for interval in each.intervals), each.qdiscs_after]
    yield from _differing(looks[-2], each.qdiscs_after)
    for one, later in pairwise(looks):
        for handle in sorted(one.keys() & later.keys()):
            if _identity(one[handle]) != _identity(later[handle]):
                yield f"the queue {handle} became another one"


def _differing(one: Mapping[str, Qdisc], later: Mapping[str, Qdisc]) -> Iterator[str]:
    for handle in sorted(one.keys() | later.keys()):
        if one.get(handle) != later.get(handle):
            yield f"the queue {handle} was not the same all the time"


def _identity(qdisc: Qdisc) -> tuple[object, ...]:
    absent = tuple(getattr(qdisc, name) is None for name in ("limit", "delay_ns", "jitter_ns", "rate_bps"))
    return qdisc.netns, qdisc.device, qdisc.handle, qdisc.kind, qdisc.parent, absent, ALWAYS & qdisc.more.keys()


def _stages(case: Case) -> Iterator[str]:
    """What a queue sent has passed the delay before it, if one was there: otherwise `set_up_check` says so."""
    for each in (*case.judged, *case.evidence.channels):
        where = each.where
        yield from (f"{where}: {what}" for what in _states(case, each))
        delays = any(state.asked.delay_ns for state in each.stage.history)
        lacks_delay = delays and _sent(each) and not each.counts.offered_packets
        if lacks_delay and not any(set_up_check.queues(case)):
            yield f"{where}: packets were sent, but none came to the delay"


def _sent(each: StageEvidence) -> bool:
    """Whether anything passed: data, or what its queue sent while the workload ran."""
    passed = each.counts.data_packets > each.counts.dropped_packets
    return passed or (each.around is not None and each.around[1].packets > each.around[0].packets)


def _states(case: Case, each: StageEvidence) -> Iterator[str]:
    if not each.intervals or not each.losses:
        yield "missing: what it did in each state"
        return
    by_losses = [sum(getattr(count, name) for count in each.losses) for name in ("data_packets", "dropped_packets")]
    if case.virtual and by_losses != [each.counts.data_packets, each.counts.dropped_packets]:
        yield "the losses counted other packets than the states"
    if any(one.end_ns != later.begin_ns for one, later in pairwise(each.intervals)):
        yield "there is a gap between its states"


def _segments(case: Case) -> Iterator[str]:
    """What arrived came in segments of at most the MTU, and was sent, but for what links made copies of."""
    outcome = case.evidence.outcome
    sent, arrived = outcome.sent_segments, outcome.arrived_segments
    if sent is None or arrived is None:
        return
    received = outcome.received_bytes
    if received > arrived * case.plan.mtu_bytes:
        yield f"{received} bytes arrived in {arrived} segments of at most {case.plan.mtu_bytes} bytes"
    if arrived > sent + sum(each.met("duplicate") for each in case.evidence.data_stages):
        yield f"{arrived} segments arrived, {sent} were sent"


def _policies(case: Case) -> Iterator[str]:
    """A policy drops of what came."""
    for each in case.evidence.stages:
        policed, where = each.policed, each.where
        if policed is None:
            continue
        if bool(policed.policed_bytes) != bool(policed.policed_packets):
            yield f"{where}: {policed.policed_packets} packets with {policed.policed_bytes} bytes were policed"
        if policed.policed_bytes > policed.offered_bytes or (each.counts.data_packets and not policed.offered_bytes):
            yield f"{where}: {policed.policed_bytes} of {policed.offered_bytes} bytes were policed"
        for pair in policed.samples:
            if tuple(one.name for one in pair) != (each.stage.passed_counter, each.stage.policed_counter):
                yield f"{where}: samples of {pair[0].name} and {pair[1].name}"
        for before, after in pairwise(policed.samples):
            for one, later in zip(before, after, strict=True):
                if one.netns != later.netns or later.time_ns <= one.time_ns:
                    yield f"{where}: samples of {one.netns} at {one.time_ns} ns, of {later.netns} at {later.time_ns}"
                if later.bytes < one.bytes or later.packets < one.packets:
                    yield f"{where}: {later.name} went backwards"
                if (later.bytes > one.bytes) != (later.packets > one.packets):
                    yield f"{where}: {later.name} counted bytes without packets"
        if policed.samples and policed.samples[-1][0].bytes > policed.offered_bytes:
            yield f"{where}: the policy's samples have more bytes than came"
        if case.trial.samples_interval_ns is not None and not policed.samples:
            yield f"{where}: missing: the samples of the policy"


PARTS: tuple[Callable[[Case], Iterator[str]], ...] = (
    _stages,
    _segments,
    _tc_ends,
    _policies,
)
