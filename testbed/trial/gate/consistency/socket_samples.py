"""Checks of the gate: were samples taken all the time, and are those of sockets in their order and whole? Pure, no I/O.

A counter only rises, and a socket that moves data has a window, a round-trip time and a segment size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from itertools import pairwise
from typing import Any

from ....plan.link.stage import RATE
from ....plan.node.namespace import node_netns
from ...evidence.case import Case, Slack
from ...observe.sample import QueueSample, TcpSample
from ...observe.tcp_info import FIELDS, UNKNOWN
from ...result import Finding, FlowResult
from ...subject.observer import is_observed

FEW = 3
"""So many sample intervals must pass before samples are asked for."""
ENOUGH = Slack(0.9, 0.5)
"""The share of the samples that must be there."""
GAP = 1.5
"""The longest time between two samples in virtual time, in intervals."""

RISING = tuple(each.name for each in FIELDS if each.rises)
NEVER_ZERO = tuple(each.name for each in FIELDS if each.never_zero)
"""Of a connected socket."""
MOVING = tuple(each.name for each in FIELDS if each.moved)
"""Of one that has sent or received data."""
OFFSETS = {field.name: field.offset for field in FIELDS}
ESTABLISHED, STATES = 1, range(1, 13)
JIFFIES_NS = 20_000_000
"""Two ticks of a slow kernel's clock, in which it counts the time that a socket is busy."""
JUST_BEFORE_NS = 1_000_000
"""Before the end of the workload, at which sockets close."""
NEAR = 1e-6
LARGEST_BYTES, SYNS = 65_536, 10
"""What one segment has at most; so many SYNs may be sent again."""


def often(case: Case) -> Iterator[Finding]:
    """Samples of every queue that sends data, and of every flow's two sockets, all the time."""
    if case.trial.samples_interval_ns is None:
        return
    lasted_ns = case.evidence.outcome.lasted_ns
    for each in case.evidence.stages:
        is_rated = all(state.asked.rate_bps for state in each.stage.history)
        if each.around is not None and each.around[0].handle == RATE and is_rated:
            yield from _enough(case, lasted_ns, each.where, each.samples)
    for end in case.evidence.data_tc_ends:
        yield from _enough(case, lasted_ns, f"{end.port.link} at {end.port.node}", end.samples)
    for number, flow, node, mine in _of_flows(case):
        yield from _enough(case, round((flow.busy_s or 0.0) * 1e9), f"flow {number} at {node}", mine)
    is_tcp = case.trial.workload.sends_data and case.trial.workload.controls
    observed = [node for node in case.trial.workload.hosts if is_observed(case.plan, node)]
    if is_tcp and observed and not case.evidence.tcp:
        yield from _enough(case, lasted_ns, "the sockets", ())


def sockets(case: Case) -> Iterator[Finding]:
    """Every sample of a socket, and those of every flow's two sockets one after the other."""
    known = {node_netns(node.name) for node in case.trial.topology.nodes}
    if damaged := tuple(first_fault("the sockets", _all_faults(case.evidence.tcp, known))):
        yield from damaged
        return
    for number, flow, node, mine in _of_flows(case):
        where = f"flow {number} at {node}"
        yield from first_fault(where, _socket_faults(mine))
        if case.plan.rtts_ns[0] >= 1000 and any(_moves(each) and not each.info["srtt_s"] for each in mine):
            yield from first_fault(where, iter(("an RTT of 0 in a sample",)))
        if node == case.trial.workload.source:
            yield from first_fault(where, _end_faults(flow, mine, case.evidence.outcome.end_ns))


def _of_flows(case: Case) -> Iterator[tuple[int, FlowResult, str, tuple[TcpSample, ...]]]:
    """The number of each flow, the flow, each of its ends, and the samples of its socket there."""
    if case.trial.samples_interval_ns is None or not case.trial.workload.port_is_senders:
        return
    ends = [
        node for node in (case.trial.workload.source, case.trial.workload.destination) if is_observed(case.plan, node)
    ]
    for number, flow in enumerate(case.evidence.outcome.flows, 1):
        for node in ends:
            is_receiver, netns = node == case.trial.workload.destination, node_netns(node)
            mine = tuple(each for each in case.evidence.tcp if _is_of(each, netns, flow.port, is_receiver))
            yield number, flow, node, mine


def _is_of(each: TcpSample, netns: str, port: int | None, is_receiver: bool) -> bool:
    """Not of a listener, nor of a connection that is over."""
    own, other = each.source_port, each.destination_port
    open_ = bool(other) and each.info.get("state") is not None
    return each.netns == netns and open_ and port == (own if is_receiver else other)


def first_fault(where: str, faults: Iterator[str]) -> Iterator[Finding]:
    """What is wrong with the samples of one queue or socket, if anything is: one fault tells of the others."""
    for fault in faults:
        yield Finding("samples", "invalid", f"{where}: {fault}", "samples.bin is damaged, or somebody set it up again")
        return


def _enough(
    case: Case, lasted_ns: int | None, where: str, samples: Sequence[QueueSample | TcpSample]
) -> Iterator[Finding]:
    """Samples of all that time; without any, nothing is known about it."""
    every_ns, count = case.trial.samples_interval_ns or 0, len(samples)
    if lasted_ns is None or lasted_ns < FEW * every_ns:
        return
    gap_ns = max((later.time_ns - one.time_ns for one, later in pairwise(samples)), default=0)
    is_late = case.virtual and gap_ns > GAP * every_ns
    if is_late or count < max(2.0, lasted_ns / every_ns * case.slack(ENOUGH) - FEW):
        yield Finding(
            "samples",
            "invalid" if count <= 2 else "suspect",
            f"{where}: {count} samples in {lasted_ns / 1e9:g} s, up to {gap_ns / 1e9:g} s apart; asked was one every "
            f"{every_ns / 1e9:g} s",
            "the observer ended early, or the machine is too busy: look at observer.err",
        )


def _all_faults(samples: Sequence[TcpSample], known: set[str]) -> Iterator[str]:
    """What no socket can have, whichever it is. The kernel tells of all sockets with the same structure."""
    lengths: dict[str, int] = {}
    last_ns = 0
    for each in samples:
        if each.time_ns <= 0 or each.time_ns < last_ns:
            yield f"time_ns went from {last_ns} to {each.time_ns}"
        last_ns = each.time_ns
        if each.netns not in known:
            yield f"a socket in {each.netns}"
        if not (_is_address(each.source) and _is_address(each.destination) and each.source_port):
            yield f"a socket from {each.source}:{each.source_port} to {each.destination}:{each.destination_port}"
        yield from _info_faults(each, lengths)


def _info_faults(each: TcpSample, lengths: dict[str, int]) -> Iterator[str]:
    present = [OFFSETS[name] for name in OFFSETS if each.info.get(name) is not None]
    if each.info.keys() != OFFSETS.keys():
        yield "a sample without values"
    elif present:
        if each.info["state"] not in STATES or not each.congestion:
            yield f"a socket in the state {each.info['state']} with the congestion control {each.congestion!r}"
        if lengths.setdefault(each.netns, max(present)) != max(present):
            yield "the kernel told less of one socket than of another"
        lacking = [name for name, at in OFFSETS.items() if at < max(present) and each.info[name] is None]
        if missing := set(lacking) - UNKNOWN.keys():
            yield f"missing in a sample: {', '.join(sorted(missing))}"
        names = NEVER_ZERO if each.info["state"] == ESTABLISHED else ()
        if zero := [name for name in (*names, *(MOVING if _moves(each) else ())) if not each.info[name]]:
            yield f"missing or 0 in a sample: {', '.join(zero)}"


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _moves(each: TcpSample) -> bool:
    """Whether it has sent or received data. A SYN counts as an acknowledged byte."""
    return (each.info.get("bytes_acked") or 0) > 1 or bool(each.info.get("bytes_received"))


def _socket_faults(samples: Sequence[TcpSample]) -> Iterator[str]:
    for one, later in pairwise(samples):
        if later.time_ns <= one.time_ns or later.congestion != one.congestion:
            yield f"{one.congestion} at {one.time_ns} ns, then {later.congestion} at {later.time_ns} ns"
        for name in RISING:
            before, after = one.info.get(name), later.info.get(name)
            if before is not None and after is not None and after < before:
                yield f"{name} went from {before:g} to {after:g}"
    yield from (fault for each in samples if _moves(each) for fault in _pair_faults(each))


def _pair_faults(each: TcpSample) -> Iterator[str]:
    """Bytes come in segments, and the other way round. A SYN that was sent again has no bytes."""
    info: Any = each.info
    sent, received = info["bytes_acked"] > 1, info["bytes_received"] > 1
    for moved, names in (
        (sent, ("data_segs_out", "segs_out", "bytes_sent", "delivered")),
        (received, ("data_segs_in",)),
    ):
        if moved and (lacking := [name for name in names if info[name] == 0]):
            yield f"data in a sample, but 0 {', '.join(lacking)}"
    again, octets = info["total_retrans"], info["bytes_retrans"]
    if octets is not None and (octets > again * LARGEST_BYTES or (again > SYNS and not octets)):
        yield f"{again} segments with {octets} bytes were sent again"
    if info["delivered"] and info["delivered"] > 1 and not sent:
        yield f"{info['delivered']} segments were delivered, but no bytes"


def _end_faults(flow: FlowResult, samples: Sequence[TcpSample], end_ns: int | None) -> Iterator[str]:
    """What the flow says at its end is no less than its last sample, and no more than the time since then brings."""
    open_ = [each for each in samples if end_ns is not None and each.time_ns <= end_ns - JUST_BEFORE_NS]
    last = next((each for each in reversed(open_) if each.info["state"] == ESTABLISHED), None)
    if last is None or flow.busy_s is None or flow.retransmits is None or end_ns is None:
        return
    info: Any = last.info
    if flow.retransmits < info["total_retrans"]:
        yield f"{info['total_retrans']} segments were sent again in a sample, {flow.retransmits} at the end"
    most_s = (end_ns + JIFFIES_NS - last.time_ns) / 1e9
    shares = (("rwnd_limited_s", flow.rwnd_limited), ("sndbuf_limited_s", flow.sndbuf_limited), ("busy_s", 1.0))
    for name, share in shares:
        if share is None or info[name] is None:
            continue
        grew_s = share * flow.busy_s - info[name]
        if not -NEAR <= grew_s <= most_s:
            yield f"{name} was {info[name]:g} in a sample, {share * flow.busy_s:g} at the end"
