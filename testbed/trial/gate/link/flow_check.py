"""Check of the gate: had each flow a bucket of its own, as asked, and no more than that, and no less? Pure, no I/O.

The queueing discipline tells of each flow what its bucket gave, and that is replayed. The sockets of the hosts, which
know nothing of it, say which flows there were and what arrived of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from socket import IPPROTO_TCP, IPPROTO_UDP
from typing import TypeAlias

from ....model.link.bucket import PerFlow
from ....model.workload import UdpWorkload
from ....plan.link.impairment import flow_burst_bytes
from ....plan.link.stage import frame_bytes
from ....plan.node.namespace import node_netns
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...law import broken_between
from ...observe.bucket import Flow, PacedSample
from ...observe.sample import TcpSample
from ...result import Finding
from .bucket_check import HINT, REAL_SHARE, Bucket, looks_faults, offered, policed, replayed, too_little
from .link_check import LOOKS_APART_NS

REAL_LATE_NS = 50_000_000
"""In real time, by how much later than the tool says a flow may have begun or ended, or a look come."""

Ends: TypeAlias = tuple[str, int, str, int]
"""The sender's address and port, and the receiver's."""


def per_flow(case: Case) -> Iterator[Finding]:
    """Each flow that came had a bucket of its own, as asked; and each flow of the workload was one of them."""
    for each in case.judged:
        asked = each.stage.asked.per_flow
        if asked is None:
            continue
        bucket = Bucket(asked.rate_bps // 8, flow_burst_bytes(asked, case.context(each)))
        faults = (
            *looks_faults(each, each.per_flow),
            *_counted(each, bucket, REAL_LATE_NS if not case.virtual else LOOKS_APART_NS),
        )
        for flow, looks in each.flows if not faults else ():
            held = _held_back(bucket, asked, looks, each, case)
            faults = (*faults, *(f"{_flow_words(flow)}: {what}" for what in islice(held, 1)))
        if not faults and each in case.evidence.data_stages:
            faults = (*_sockets(case, each, bucket), *_tools(case, each, bucket))
        for what in faults[:1]:
            yield Finding("per flow", "invalid", f"{each.where}: {what}", HINT)
        share = 1.0 if case.virtual else 1 - REAL_SHARE
        slow = (
            f"{_flow_words(flow)}: {what}"
            for flow, looks in (each.flows if not faults and not asked.polices else ())
            for what in _least(bucket, looks, frame_bytes(each.mtu_bytes), share)
        )
        for what in islice(slow, 1):
            yield too_little(case, "per flow", f"{each.where}: {what}")


def _flow_words(flow: Flow) -> str:
    return f"{flow.source} port {flow.source_port} to {flow.destination} port {flow.destination_port}"


def _counted(each: StageEvidence, bucket: Bucket, apart_ns: int) -> Iterator[str]:
    """All flows that came were told of, and what they had is all that there was. They are looked at after the total, by
    at most `apart_ns`.
    """
    looks = each.per_flow
    if len(looks) < 2:
        return
    if looks[-1].opportunities:
        yield f"{looks[-1].opportunities} packets were dropped, as there were more flows than it can hold"
    known = sum(1 for flow, _ in each.flows if flow.came_ns <= looks[-1].time_ns)
    if known != looks[-1].begin_ns:
        yield f"{looks[-1].begin_ns} flows came, and {known} were told of"
    frame = frame_bytes(each.mtu_bytes)
    meanwhile = len(each.flows) * (frame + bucket.filled(0, apart_ns))
    for name, most in (
        ("taken_bytes", meanwhile),
        ("policed_packets", meanwhile // frame),
        ("policed_bytes", meanwhile),
    ):
        told, total = sum(getattr(of_flow[-1], name) for _, of_flow in each.flows), getattr(looks[-1], name)
        if not total <= told <= total + most:
            yield f"{name} of all flows are {told}, and together {total}"


def _held_back(
    bucket: Bucket, asked: PerFlow, looks: Sequence[PacedSample], each: StageEvidence, case: Case
) -> Iterator[str]:
    """No more passed than the bucket of a flow held, and no less while packets of the flow waited, or were dropped."""
    frame = frame_bytes(each.mtu_bytes)
    for one, later in pairwise(looks):
        yield from broken_between(one, later)
    yield from replayed(bucket, looks)
    if asked.polices:
        yield from policed(bucket, looks, frame)
        yield from offered(bucket, looks, each, case, is_shared=False)
        return
    for one, later in pairwise(looks):
        passed, span_ns = later.taken_bytes - one.taken_bytes, later.time_ns - one.time_ns
        busy_ns = later.busy_ns - one.busy_ns
        if busy_ns > span_ns:
            yield f"{busy_ns} ns busy in {span_ns} ns"
        if later.backlog_bytes > each.stage.flow_bytes:
            yield f"{later.backlog_bytes} bytes waited in a queue of {each.stage.flow_bytes}"
        dropped = later.policed_packets - one.policed_packets
        if dropped and later.backlog_bytes + passed < each.stage.flow_bytes - frame:
            what = f"{later.backlog_bytes + passed} bytes waited in a queue of {each.stage.flow_bytes}"
            yield f"{dropped} packets were dropped, and at most {what}"


def _least(bucket: Bucket, looks: Sequence[PacedSample], frame: int, share: float) -> Iterator[str]:
    """While packets of a flow wait, all passes that its rate brings."""
    for one, later in pairwise(looks):
        passed, busy_ns = later.taken_bytes - one.taken_bytes, later.busy_ns - one.busy_ns
        least = bucket.filled(0, busy_ns) * share - 2 * frame
        if passed < least:
            yield f"{passed} bytes passed, and packets waited for {busy_ns / 1e9:g} s, in which {least:.0f} could have"


def _sockets(case: Case, each: StageEvidence, bucket: Bucket) -> Iterator[str]:
    """Each connection that brought data had a bucket of its own, which gave at least that; and what arrived, by the
    sockets of the receivers, is never more than the bucket of one flow can have held since the flow came. Where
    addresses are translated, or an OpenFlow switch may set them, the sockets do not tell which flow they are.
    """
    nodes = case.trial.topology.nodes
    if case.plan.channels or any(node.router is not None and node.router.filters for node in nodes):
        return
    receivers = {node_netns(case.trial.workload.destination)}
    found: dict[Ends, list[TcpSample]] = {}
    for one in case.evidence.tcp:
        if one.netns in receivers and one.destination_port and one.info["bytes_received"]:
            ends = (one.destination, one.destination_port, one.source, one.source_port)
            found.setdefault((_plain(ends[0]), ends[1], _plain(ends[2]), ends[3]), []).append(one)
    buckets: dict[Ends, list[tuple[Flow, tuple[PacedSample, ...]]]] = {}
    for flow, looks in each.flows:
        if flow.protocol == IPPROTO_TCP:
            ends = (flow.source, flow.source_port, flow.destination, flow.destination_port)
            buckets.setdefault(ends, []).append((flow, looks))
    for ends, samples in found.items():
        words = f"{ends[0]} port {ends[1]} to {ends[2]} port {ends[3]}"
        if ends not in buckets:
            yield f"{words} brought data, and had no bucket of its own"
            return
        came_ns = min(flow.came_ns for flow, _ in buckets[ends])
        gave = sum(looks[-1].taken_bytes for _, looks in buckets[ends])
        arrived = int(samples[-1].info["bytes_received"] or 0)
        if arrived > gave:
            yield f"{words} brought {arrived} bytes, and its bucket gave {gave}"
            return
        for one in samples:
            late_ns = 0 if case.virtual else REAL_LATE_NS
            most = bucket.filled(bucket.size, one.time_ns - came_ns + late_ns)
            got = int(one.info["bytes_received"] or 0)
            if got > most:
                span_s = (one.time_ns - came_ns) / 1e9
                yield f"{words} brought {got} bytes in {span_s:g} s, more than the {most} that a flow gets"
                return


def _tools(case: Case, each: StageEvidence, bucket: Bucket) -> Iterator[str]:
    """By what tools say of their flows, none got more in its time than its bucket held and what queues gave back; and
    flows of datagrams, whose sockets are not known, were as many as had a bucket of their own.
    """
    outcome, workload = case.evidence.outcome, case.trial.workload
    if outcome.begin_ns is not None and outcome.end_ns is not None:
        stages = case.evidence.data_stages
        queued = sum(other.stage.buffer_bytes(frame_bytes(other.mtu_bytes)) for other in stages)
        span_ns = outcome.end_ns - outcome.begin_ns + case.plan.rtts_ns[1] + (0 if case.virtual else REAL_LATE_NS)
        most = bucket.filled(bucket.size, span_ns) + queued
        for number, flow in enumerate(outcome.flows, 1):
            if (flow.received_bytes or 0) > most:
                got = f"{flow.received_bytes} bytes in {span_ns / 1e9:g} s"
                yield f"flow {number} brought {got}, and a flow gets {most}"
                return
    if isinstance(workload, UdpWorkload):
        brought = sum(1 for flow in outcome.flows if flow.received_bytes)
        known = sum(1 for flow, looks in each.flows if flow.protocol == IPPROTO_UDP and looks[-1].taken_bytes)
        if known < brought:
            yield f"{brought} flows of datagrams arrived, and {known} had a bucket of their own"


def _plain(address: str) -> str:
    """An address of IPv4 as such, also where a socket of IPv6 has it."""
    return address.removeprefix("::ffff:") if "." in address else address
