"""Checks of the gate: did the queue that was asked hold the packets, and does what it counted add up? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ....model.scenario import Trial
from ....plan.link.stage import frame_bytes
from ....plan.node.namespace import node_netns
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...observe.sample import QueueSample, TcpSample
from ...observe.tcp_info import ECN_MODES, UNDECIDED
from ...orders.remark import ASKS_FOR_ECN, ECN_SYSCTL, NEEDS_MARKS
from ...result import Finding
from ...workload.registry import tool_of

Looks: TypeAlias = tuple[QueueSample, QueueSample]

HINT = "the packets passed another queue, or what was read of it is not whole"
APART = ("aqm_drops", "full_drops", "filtered_acks")
"""What the drops of a queue are."""
TELLS_ECN = "total_rto"
"""A kernel that tells this of a socket tells of its ECN, too."""
PEEKED = 1
"""The packet that the token bucket has taken out of the queue and not yet sent."""


def counted(case: Case) -> Iterator[Finding]:
    """Every packet that left the token bucket came from the queue, and every drop was the queue's."""
    for each in (*case.judged, *case.evidence.channels):
        if each.stage.queue is not None and each.queue_around is not None and each.around is not None:
            for what in _faults(case, each, each.queue_around, each.around):
                yield Finding("queue", "invalid", f"{each.where}: {what}", HINT)
                break
            yield from _notes(each, *each.queue_around)


def overfull(case: Case) -> Iterator[Finding]:
    """No look at a fifo finds more in it than its buffer holds. One that shrinks drops nothing that it holds."""
    for each in case.judged:
        limit, unit = each.stage.limit, each.stage.limit_unit
        if limit is None or each.stage.queue is not None or each.stage.states:
            continue
        looks = (*(each.around or ()), *each.samples)
        most = max((look.backlog_bytes if unit == "bytes" else look.backlog_packets for look in looks), default=0)
        if most > limit:
            what = f"{each.where}: {most} {unit} waited, and the buffer holds {limit}"
            yield Finding("queue", "invalid", what, HINT)


def _faults(case: Case, each: StageEvidence, own: Looks, above: Looks) -> Iterator[str]:
    (first, last), (sent_first, sent_last) = own, above
    kind, frame = first.kind, frame_bytes(each.mtu_bytes)
    passed, sent = last.packets - first.packets, sent_last.packets - sent_first.packets
    if case.virtual and not 0 <= passed - sent <= PEEKED:
        yield f"{passed} packets left the {kind}, {sent} the token bucket above it"
    drops, told = last.drops - first.drops, sent_last.drops - sent_first.drops
    # What sfq drops when it deals its flows out anew, only its parent counts.
    queue = each.stage.asked.queue
    deals = queue is not None and queue.type == "sfq" and bool(dict(queue.asked).get("perturb"))
    if case.virtual and not (drops <= told if deals else drops == told):
        yield f"the {kind} dropped {drops} packets, the token bucket above it tells of {told}"
    if first.counts is None or last.counts is None:
        yield f"missing: what the {kind} dropped and marked"
        return
    apart = [getattr(last.counts, name) - getattr(first.counts, name) for name in APART]
    if sum(apart) != drops or min(apart) < 0:
        acks = f", {apart[2]} were filtered ACKs" if apart[2] else ""
        yield f"of the {drops} drops of the {kind} {apart[0]} were to signal and {apart[1]} as it was full{acks}"
    if apart[2] and not each.filters_acks:
        yield f"the {kind} filtered {apart[2]} ACKs, which was not asked for"
    if last.counts.largest_bytes is not None and last.counts.largest_bytes > frame:
        yield f"a packet of {last.counts.largest_bytes} bytes waited in the {kind}, more than a frame of {frame}"
    if last.bytes - first.bytes > passed * frame:
        yield f"{passed} packets with {last.bytes - first.bytes} bytes left the {kind}: some exceed a frame of {frame}"
    if sum(1 for one in each.samples if one not in (each.around or ())) != len(each.queue_samples):
        yield f"{len(each.queue_samples)} samples of the {kind}, of the token bucket above it {len(each.samples)}"


def _notes(each: StageEvidence, first: QueueSample, last: QueueSample) -> Iterator[Finding]:
    """What a reader of the drops and marks must know."""
    queue = each.stage.queue
    if first.counts is None or last.counts is None or queue is None:
        return
    where = each.where
    if not last.counts.is_told_apart:
        what = f"{where}: the memory of the {queue.type} was full, and it does not tell which drops were due to that"
        yield Finding("queue", "suspect", what, "a larger buffer, so that all drops are to signal congestion")
    if each.filters_acks and last.counts.filtered_acks == first.counts.filtered_acks:
        yield Finding("queue", "valid", f"{where}: the {queue.type} filtered no ACK", "none waited behind another one")
    full = last.counts.full_drops - first.counts.full_drops
    if full > 0 and queue.asked.kind.is_aqm:
        signals = each.counts.aqm_drops
        what = f"{where}: the {queue.type} was full, and dropped {full} packets for that, {signals} to signal"
        yield Finding("queue", "valid", what, "a larger buffer leaves the drops to its law")


def ecn(case: Case) -> Iterator[Finding]:
    """Says it where hosts were asked to use ECN, and their connections do otherwise, or nothing is known of them."""
    for node in case.trial.topology.nodes:
        if node.ecn is None or not case.trial.workload.sends_data or not case.trial.workload.controls:
            continue
        mine = [each for each in case.evidence.tcp if each.netns == node_netns(node.name) and each.destination_port]
        told = [(each.congestion, each.ecn.mode) for each in mine if each.ecn and each.ecn.mode != UNDECIDED]
        seen = {mode for _, mode in told}
        others = {mode for control, mode in told if mode != "on" or control not in NEEDS_MARKS}
        if node.name in case.trial.workload.hosts and not seen:
            what = f"{node.name} was asked for ECN {node.ecn}, and no sample tells what its connections have"
            yield Finding("ECN", "valid", what, "its sysctl was read back; samples of the sockets show the rest")
        elif others - {node.ecn}:
            what = f"connections of {node.name} negotiated ECN {', '.join(sorted(seen))}; asked was {node.ecn}"
            yield Finding("ECN", "suspect", what, "both ends must have it")
        elif seen - {node.ecn}:
            what = f"connections of {node.name} with {' and '.join(sorted(NEEDS_MARKS & {name for name, _ in told}))}"
            yield Finding("ECN", "valid", f"{what} have ECN; asked was {node.ecn}", "these controls ask by themselves")


def ecn_samples(case: Case) -> Iterator[Finding]:
    """If one socket of a host reports ECN, all of them must; and a socket has ECN only if that was asked for."""
    is_asked = _asks_for_ecn(case.trial)
    telling = {each.netns for each in case.evidence.tcp if each.ecn is not None and each.ecn.received_ce is not None}
    for what in (what for each in case.evidence.tcp if (what := _ecn_fault(each, is_asked, telling)) is not None):
        yield Finding("ECN", "invalid", what, "samples.bin is damaged, or somebody else asked for ECN")
        return


def _asks_for_ecn(trial: Trial) -> bool:
    """Programs can ask for it by themselves, with a congestion control such as dctcp; other kernels have settings of
    their own.
    """
    nodes = trial.topology.nodes
    sysctls = {*trial.sysctls, *(each for node in nodes for each in node.sysctls)}
    asked = any(node.ecn not in (None, "off") for node in nodes) or bool(trial.controls & NEEDS_MARKS)
    asked = asked or any((ECN_SYSCTL, value) in sysctls for value in ASKS_FOR_ECN)
    return asked or tool_of(trial.workload).runs_programs or any(node.kind.has_own_kernel for node in nodes)


def _ecn_fault(each: TcpSample, is_asked: bool, telling: set[str]) -> str | None:
    where, told = f"a socket of {each.netns}", each.ecn
    if told is None:
        return None if each.info.get(TELLS_ECN) is None else f"{where} tells nothing of ECN"
    if told.received_ce is None and each.netns in telling:
        return f"{where} tells less of ECN than another one"
    marks = [count for count in (told.delivered_ce, told.received_ce) if count is not None]
    if told.mode not in ECN_MODES or any(not isinstance(count, int) or count < 0 for count in marks):
        return f"{where} tells of ECN {told.mode!r} and of {told.delivered_ce!r} and {told.received_ce!r} marks"
    if not is_asked and (told.mode not in ("off", UNDECIDED) or any(marks)):
        return f"{where} has ECN {told.mode} and {sum(marks)} marks, which was not asked for"
    return None
