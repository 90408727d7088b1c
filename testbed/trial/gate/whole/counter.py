"""Checks of the gate: do the counters of links, sockets, policies, captures and switches add up? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ....plan.link.tclink import NETEM
from ...evidence.case import Case
from ...evidence.damage import MOST
from ...evidence.stage import StageEvidence
from ...observe.readback import Qdisc
from ...orders.openflow_dump import PORT_KEYS, ControllerEvidence, SwitchEvidence
from ...stored_result import CaptureResult, Finding
from ..link import set_up_check
from .account import HINT

EMULATORS_DEVICES = ("end0", "end1", "wire0", "wire1")
LOOKED_UP, MANY = 0.5, 10
"""At least this share of the packets of its ports, but for so many, an Open vSwitch looks up."""
INITIAL_WINDOW = 10
"""The packets that TCP sends at once at its start (RFC 6928): more need some time."""


ALWAYS = frozenset(
    {
        *("delay", "limit", "loss", "gap", "duplicate", "jitter", "delay_corr", "loss_corr", "dup_corr"),
        *("prob_reorder", "corr_reorder", "prob_corrupt", "corr_corrupt", "packet_overhead", "cell_size"),
        *("cell_overhead", "burst_ns", "peak_rate", "mtu", "overhead", "mpu", "cell_align"),
    }
)
"""What the kernel always tells of a netem or a token bucket, whatever was asked."""


def adds_up(case: Case) -> Iterator[Finding]:
    """The first fault of each part."""
    for part in PARTS:
        for what in part(case):
            yield Finding("evidence", "invalid", what, HINT)
            break


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


def _captures(case: Case) -> Iterator[str]:
    """A capture on the way has all that arrived, unless it missed packets."""
    received = sum(flow.received_bytes or 0 for flow in case.evidence.outcome.flows)
    places = {name for hop in case.plan.path for name in (hop.link.name, *hop.link.ends)}
    for name, seen in case.evidence.captures.items():
        if seen is None:
            continue
        at, _, device = name.removesuffix(".pcap").rpartition("-")
        yield from (f"the capture {name}: {what}" for what in _capture_faults(seen, is_far=case.plan.rtt_ns > 0))
        on_way = at in places and device in EMULATORS_DEVICES and case.evidence.captures_dropped == 0
        if on_way and seen.payload_bytes < received:
            yield f"the capture {name} has {seen.payload_bytes} bytes of payload, {received} arrived"


def _capture_faults(seen: CaptureResult, *, is_far: bool) -> Iterator[str]:
    largest = seen.largest_bytes or 0
    if not largest <= seen.payload_bytes <= largest * seen.packets or (seen.packets > 0) != (seen.span_s is not None):
        yield f"{seen.packets} packets with {seen.payload_bytes} bytes, the largest with {largest}"
    if is_far and seen.packets > INITIAL_WINDOW and not seen.span_s:
        yield f"{seen.packets} packets in {seen.span_s} s"
    again = seen.again_bytes, seen.again_packets
    if seen.again_packets > seen.packets or seen.again_bytes > seen.payload_bytes or bool(again[0]) != bool(again[1]):
        yield f"{again[1]} packets with {again[0]} bytes came again"


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
    received = sum(flow.received_bytes or 0 for flow in outcome.flows)
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


def _switches(case: Case) -> Iterator[str]:
    for each in case.evidence.openflow.switches:
        yield from (f"the Open vSwitch {each.name}: {what}" for what in _switch(each))
    names = {each.name for each in case.evidence.openflow.switches}
    for controller in case.evidence.openflow.controllers:
        yield from (f"the controller {controller.name}: {what}" for what in _told(controller, names))


def _switch(each: SwitchEvidence) -> Iterator[str]:
    """Packets have bytes, and what ports receive is looked up. A switch has two ports and more on the way."""
    for number, counts in each.ports.items():
        if lacking := [key for key in PORT_KEYS if key not in counts]:
            yield f"missing: {', '.join(lacking)} of port {number}"
        elif any(bool(counts[f"{way}_packets"]) != bool(counts[f"{way}_bytes"]) for way in ("rx", "tx")):
            yield f"port {number} counts packets without bytes"
    received = sum(counts.get("rx_packets", 0) for counts in each.ports.values())
    if each.hit + each.missed < received * LOOKED_UP - MANY:
        yield f"its ports received {received} packets, its datapath {each.hit + each.missed}"
    if each.version and not each.version[0].isdigit():
        yield f"its version is {each.version}"


def _told(each: ControllerEvidence, switches: set[str]) -> Iterator[str]:
    """What a controller wrote is in the order of time, and about its switches."""
    for what, rows in (("events", each.events), ("answers", each.answers)):
        times = [row.get("time_ns") for row in rows]
        if any(type(time_ns) is not int or time_ns <= 0 for time_ns in times) or sorted(map(_int, times)) != times:
            yield f"the {what} are not in the order of time"
    for event in each.events:
        if not isinstance(event.get("kind"), str) or not event["kind"]:
            yield "an event is of no kind"
    for answer in each.answers:
        if answer.get("switch") not in switches or type(answer.get("dpid")) is not int or answer["dpid"] <= 0:
            yield f"an answer of the switch {answer.get('switch')}"
        if "ports" in answer:
            yield from _port_rows(answer["ports"])


def _port_rows(rows: Any) -> Iterator[str]:
    if not rows:
        yield "an answer without ports"
    for row in rows:
        numbers = [row.get(key) for key in ("port", *PORT_KEYS)]
        if any(type(number) is not int or not 0 <= number < MOST for number in numbers):
            yield f"an answer about a port says {numbers}"


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


PARTS: tuple[Callable[[Case], Iterator[str]], ...] = (
    _captures,
    _stages,
    _segments,
    _tc_ends,
    _policies,
    _switches,
)
