"""Checks of the gate: did pings take as long as was asked? Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....model.data_path import DataPath, detours
from ....model.firewall import denied_by
from ....model.link.impairment import GilbertElliott, Loss, RandomLoss, mean_loss
from ....model.link.trace import PACKET_BYTES
from ....model.topology import Topology
from ....plan.link import fault
from ....plan.link.stage import ETHERNET_BYTES, Stage
from ....plan.node import frr, vm
from ... import measured
from ...evidence.case import Case
from ...evidence.stage import Evidence, StageEvidence
from ...measured import PingResult
from ...result import Finding
from ...subject.machine import VMS, is_counted
from ...subject.round_trip import ROUND_TRIPS
from ...subject.routing import ROUTING
from .. import chance

LAB_TOLERANCE_S = 10e-6
REAL_TOLERANCE = 0.05
REAL_TOLERANCE_S = 1e-3
EMULATED_S = 5e-3
"""What two virtual machines without KVM add to a round trip: each packet costs them about 0.5 ms of computing."""
COUNTED_INSTRUCTIONS = 200_000
"""What a virtual machine in virtual time may compute for a round trip; some 15 000 were seen. The first ping also has
to make the machine load pages of the program.
"""
PAYLOAD_BYTES = 56
HEADERS_BYTES = {4: 42, 6: 62}
"""The headers of Ethernet, IP and ICMP together, by the version of IP."""
AFTERWARDS = "ping after the workload"
"""With controllers, the pings follow the workload: its first packets, not pings, must make switches ask controllers."""

ALONE_S = 0.1
"""Pings before the workload are further apart: each of them waits for a burst of its own."""

QUESTIONS = 2
"""How often a switch may ask its controller for each direction of a ping: once for ARP, once for the ping itself."""
UPCALL_S, ANSWER_S = {True: 50e-6, False: 1e-3}, {True: 0.5e-3, False: 20e-3}
"""How long an Open vSwitch may take for a packet that its datapath does not know, and a controller for an answer; in
virtual time (True) and in real time. Lab time advances whenever a program reads the clock."""


SETTLED_NS = 10**9
"""After so long without a change, routes have settled."""


def rtt(case: Case) -> Iterator[Finding]:
    """Checks the pings around the workload, and those of a ping workload."""
    asked_s = case.plan.rtt_ns / 1e9
    for what, seen, payload_bytes, during in _pings(case):
        low_s, high_s = bounds_s(case, headers_bytes(case) + payload_bytes, during=during, asks=what != AFTERWARDS)
        if during and case.trial.background:
            high_s += queues_s(case)
        asked_for = _asked_to_lose(case)
        hint = asked_for or "look at addresses and routes, and at the loss"
        lost = Finding("rtt", "valid" if asked_for else "invalid", f"no {what} got a reply", hint)
        busy = during and what != AFTERWARDS
        yield from _replies(case, what, seen, asked_for, sum(map(_dropped, case.evidence.stages)) if busy else 0)
        took = f"asked {asked_s * 1e3:g} ms, {_many(what)} took"
        yield from _judged(case, seen, low_s, high_s, lost, took)
        if seen.received and not during and (router := _denying(case)) is not None:
            what = f"the firewall of {router} denies pings, and {seen.received} got a reply"
            yield Finding("rtt", "invalid", what, "it did not work, or they took another path")


def headers_bytes(case: Case) -> int:
    """Of a ping along the path of the data."""
    assert case.plan.data_path is not None, "BUG: a plan without a workload"
    return HEADERS_BYTES[case.plan.data_path.destination_ip.version]


def queues_s(case: Case) -> float:
    """How long a round trip can wait in all buffers of links."""
    return sum(_longest_queue_s(each) for each in case.evidence.stages)


def bounds_s(case: Case, frame_bytes: int, *, during: bool, asks: bool) -> tuple[float, float]:
    """The shortest and the longest time that a round trip of frames of a size may take, if no other data waits: as
    asked first, or `during` the workload at any time; `asks` if switches may ask their controllers because of it.
    """
    asked_s, (least_s, most_s) = case.plan.rtt_ns / 1e9, (ns / 1e9 for ns in case.plan.rtts_ns)
    assert case.plan.data_path is not None, "BUG: a plan without a workload"
    around = detours(case.trial.topology, case.plan.book, case.plan.data_path)
    least_s = min((least_s, *(detour.rtt_ns / 1e9 for detour in around)))
    stages, slack_s = _stages(case.evidence), _slack_s(case, asked_s)
    waiting_s = sum(8 * frame_bytes / each.port.rate_bps for each in case.evidence.tc_ends if each.port.rate_bps)
    waiting_s += _held_back_s(stages, during=during) + case.plan.vswitches * UPCALL_S[case.virtual] + _computing_s(case)
    if not during:
        low_s = asked_s + _gathered_s(stages) - slack_s
        return low_s, asked_s + _sending_s(frame_bytes, stages, during) + slack_s + waiting_s
    waiting_s += _asking_s(case) if asks else 0.0
    high_s = most_s + _sending_s(frame_bytes, stages, during)
    for detour in around:
        high_s = max(high_s, detour.rtt_ns / 1e9 + _crossing_s(frame_bytes, detour) + _disagreed_s(case))
    high_s += max(own_packets_s(case.trial.topology, way) for way in (case.plan.data_path, *around))
    return least_s - slack_s, high_s + slack_s + waiting_s


def _computing_s(case: Case) -> float:
    """What the processors of virtual machines in virtual time may add to a round trip."""
    return sum(vm.takes_ns(each.cpu, COUNTED_INSTRUCTIONS) for each in case.of(VMS).values() if is_counted(each)) / 1e9


def _disagreed_s(case: Case) -> float:
    """The longest time in which routers changed their routes one after the other: meanwhile a packet may go round
    between two that do not agree.
    """
    times_ns = sorted(at_ns for router in case.of(ROUTING).routers for at_ns, _ in router.changes)
    longest_ns, begin_ns = 0, 0
    for number, at_ns in enumerate(times_ns):
        if number == 0 or at_ns - times_ns[number - 1] > SETTLED_NS:
            begin_ns = at_ns
        longest_ns = max(longest_ns, at_ns - begin_ns)
    return longest_ns / 1e9


def upstream(case: Case) -> Iterator[Finding]:
    """Checks the pings between a cache and its origin; jitter on the path widens the tolerance."""
    seen = case.of(ROUND_TRIPS).upstream
    if case.plan.upstream is None or seen is None:
        return
    asked_s = case.plan.upstream.rtt_ns / 1e9
    slack_s = _slack_s(case, asked_s)
    high_s = (
        asked_s
        + slack_s
        + _held_back_s(_stages(case.evidence), during=False)
        + _sending_s(
            HEADERS_BYTES[case.plan.upstream.destination_ip.version] + PAYLOAD_BYTES, _stages(case.evidence), False
        )
    )
    lost = Finding("rtt", "invalid", "no ping from the origin to the cache got a reply", "look at addresses and loss")
    took = f"between cache and origin asked {asked_s * 1e3:g} ms, pings took"
    yield from _replies(case, "ping from the origin to the cache", seen, None, 0)
    yield from _judged(case, seen, asked_s - slack_s, high_s, lost, took)


def _replies(case: Case, what: str, seen: PingResult, asked_for: str | None, dropped: int) -> Iterator[Finding]:
    """Every ping gets a reply, but for those that a random loss can have taken by chance, and those among the `dropped`
    of full buffers and policies, which other traffic fills.
    """
    lost = seen.sent - seen.received
    if lost <= dropped or not seen.received or _in_bursts(case.evidence):
        return
    kept = 1.0
    for each in case.evidence.stages:
        kept *= 1 - max(_random_share(state.loss) for state in each.stage.history)
    if chance.at_most(seen.received, seen.sent, kept) < chance.ERROR_RATE / 2:
        yield Finding(
            "rtt",
            "valid" if asked_for else "invalid" if case.virtual else "suspect",
            f"{lost} of {seen.sent} {_many(what)} got no reply",
            asked_for or "something else loses packets: look at addresses, queues and losses",
        )


def _in_bursts(evidence: Evidence) -> bool:
    """Whether packets are lost in bursts, which can take many pings in a row: `random_loss` judges such a loss."""
    return any(isinstance(state.loss, GilbertElliott) for each in evidence.stages for state in each.stage.history)


def _held_back_s(stages: list[Stage], *, during: bool) -> float:
    """How long a round trip can wait for bursts, and for others to overtake it: as asked first, or at any time."""
    late_ns = (
        max(
            (
                fault.late_ns(stage, state)
                for state in (stage.history if during else fault.firsts(stage, "reorder")[:1])
                if (pick := fault.pick(state, "reorder")) is not None and pick.every is None
            ),
            default=0,
        )
        for stage in stages
        if fault.ever(stage, "reorder")
    )
    return sum(late_ns) / 1e9 + _gathered_s(stages, longest_s=math.inf)


def _gathered_s(stages: list[Stage], longest_s: float = ALONE_S) -> float:
    """How long a ping by itself waits for bursts. Pings before the workload are further apart than `longest_s`."""
    times = (gathered.time_ns / 1e9 for stage in stages if (gathered := fault.aggregate(stage)) is not None)
    return sum(time_s for time_s in times if time_s < longest_s)


def _many(what: str) -> str:
    """Several of these pings in words."""
    return what.replace("ping", "pings", 1)


def _random_share(loss: Loss | None) -> float:
    """Periodic losses never drop pings."""
    return mean_loss(loss) if isinstance(loss, RandomLoss | GilbertElliott) else 0.0


def _dropped(each: StageEvidence) -> int:
    waiting = each.counts.queue_drops + each.counts.aqm_drops
    return waiting + each.policer_drops + each.policed_packets + each.down_losses


def _judged(case: Case, seen: PingResult, low_s: float, high_s: float, lost: Finding, took: str) -> Iterator[Finding]:
    virtual = case.virtual
    emulated = any(each.accelerator == "tcg" for each in case.of(VMS).values())
    if seen.rtt_min_s is None or seen.rtt_max_s is None:
        yield lost
    elif emulated and high_s < seen.rtt_max_s and low_s <= seen.rtt_min_s <= high_s + EMULATED_S:
        text = f"{took} {seen.rtt_min_s * 1e3:g} to {seen.rtt_max_s * 1e3:g} ms"
        yield Finding("rtt", "valid", text, "the rest is computing time of virtual machines without KVM")
    elif not (low_s <= seen.rtt_min_s and seen.rtt_max_s <= high_s):
        yield Finding(
            "rtt",
            "invalid" if virtual else "suspect",
            f"{took} {seen.rtt_min_s * 1e3:g} to {seen.rtt_max_s * 1e3:g} ms",
            "the emulator differs from what was asked" if virtual else "the machine is too busy",
        )


def _asking_s(case: Case) -> float:
    """How much longer a ping can take because switches ask their controllers, with the exchange of ARP before it where
    hosts have to ask; infinite if a controller is away.
    """
    if case.is_uncontrolled:
        return math.inf
    asked = [channel for _, channel in case.plan.controlled if not channel.controller.is_proactive]
    answer_s = ANSWER_S[case.virtual]
    arp_s = case.plan.rtts_ns[1] / 1e9 if asked and case.trial.topology.neighbours == "learned" else 0.0
    return arp_s + QUESTIONS * sum(channel.controller.rtt_ns / 1e9 + answer_s for channel in asked)


def _asked_to_lose(case: Case) -> str | None:
    """Why pings may be lost, as asked; None if they may not."""
    if case.is_uncontrolled:
        return "a controller was away, as asked"
    if case.is_denied("icmp") or _denying(case) is not None:
        return "a firewall denies them, as asked"
    return None


def _denying(case: Case) -> str | None:
    """The router whose firewall denies pings."""
    data_path = case.plan.data_path
    return None if data_path is None else denied_by(case.trial.topology, data_path, "icmp")


def _stages(evidence: Evidence) -> list[Stage]:
    return [each.stage for each in evidence.stages]


def _slack_s(case: Case, asked_s: float) -> float:
    """The tolerance of a round trip in both directions: for the kernel's timers, and for jitter."""
    spread_s = sum(8 * stage.asked.jitter.netem_ns / 1e9 for stage in _stages(case.evidence) if stage.asked.jitter)
    return spread_s + (LAB_TOLERANCE_S if case.virtual else max(REAL_TOLERANCE_S, asked_s * REAL_TOLERANCE))


def _sending_s(frame_bytes: int, stages: list[Stage], during: bool) -> float:
    """How long it takes to send a frame once at every rate on the path, and to wait for opportunities of traces."""
    rates = (_lowest_rate(stage, during) for stage in stages if stage.asked.trace is None)
    traces = (stage.asked.trace for stage in stages if stage.asked.trace is not None)
    waiting_s = sum(trace.longest_gap_ns * math.ceil(frame_bytes / PACKET_BYTES) / 1e9 for trace in traces)
    return waiting_s + sum(8 * frame_bytes / rate_bps for rate_bps in rates if rate_bps)


def _crossing_s(frame_bytes: int, detour: DataPath) -> float:
    """How long it takes to send a frame once at every rate of a detour, there and back."""
    asked = (hop.link.own(hop.way).rate_bps for hop in (*detour.path, *detour.answers))
    return sum(8 * frame_bytes / rate_bps for rate_bps in asked if rate_bps)


def own_packets_s(topology: Topology, way: DataPath) -> float:
    """How long a packet may wait for what routers say to one another: for a frame at every rate between two of them."""
    speak = {node.name for node, _ in frr.routers(topology)}
    hops = (hop for hop in (*way.path, *way.answers) if speak.issuperset(hop.link.ends))
    rates = ((hop.link.mtu_bytes + ETHERNET_BYTES, hop.link.own(hop.way).rate_bps) for hop in hops)
    return sum(8 * frame_bytes / rate_bps for frame_bytes, rate_bps in rates if rate_bps)


def _lowest_rate(stage: Stage, during: bool) -> int | None:
    if not during:
        return stage.asked.rate_bps
    return min((state.asked.rate_bps for state in stage.history if state.asked.rate_bps), default=None)


def _longest_queue_s(each: StageEvidence) -> float:
    """How long a packet can wait for others: for a full buffer, and for the frame that is being sent."""
    rate_bps, frame = _lowest_rate(each.stage, True), each.mtu_bytes + ETHERNET_BYTES
    return 8 * (each.stage.buffer_bytes(frame) + frame) / rate_bps if rate_bps else 0.0


def _pings(case: Case) -> Iterator[tuple[str, PingResult, int, bool]]:
    """(name, result, payload bytes, whether schedules and background were active) for each series of pings."""
    late = bool(case.plan.controlled)
    yield AFTERWARDS if late else "ping before the workload", case.of(ROUND_TRIPS).data, PAYLOAD_BYTES, late
    if case.trial.workload.echo_bytes is not None:
        own = measured.need(PingResult, case.evidence.outcome.measured)
        yield "ping of the workload", own, case.trial.workload.echo_bytes, True
