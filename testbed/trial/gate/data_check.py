"""Checks of the gate: did the data arrive, for as long as was asked, and can the links have carried what the tool says,
and lost what was sent again? Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from ...model.link.impairment import IMPAIRMENTS, Direction, Way
from ...model.workload import Workload
from ...plan.link.impairment import burst_bytes
from ...plan.link.stage import ETHERNET_BYTES, RATE, frame_bytes
from ...plan.network import Plan
from ..evidence.case import Case, Slack
from ..evidence.stage import Evidence, StageEvidence
from ..observe.sample import QueueSample
from ..result import Finding, Verdict
from ..subject.capture import INITIAL_WINDOW
from ..subject.host_counter import DUPLICATES, HANDSHAKES, HOST_COUNTERS, LOST_AGAIN, OLD
from ..subject.network import NETWORK, learned_mtus
from .link.link_check import RATE_TOLERANCE, SUPERPACKET_BYTES
from .link.trace_check import capacity_bps

IP_BYTES = {4: 20, 6: 40}
TCP_BYTES, UDP_BYTES = 20, 8
"""The smallest headers of a data packet."""
TCP_MOST_BYTES = 60
"""The largest header of TCP, with all options. What is smaller than the MTU by less than that fills a packet."""

DROPPING = ("ack_loss", "corrupt", "down")
"""What loses packets, of `Direction.more`."""

SLACK_NS = Slack(1_000_000, 50_000_000)
CUT_SHORT = "it was cut short: look at the tool's output"
SHORT_SHARE, LONG_SHARE = 0.01, 0.1
"""By which share of its length a workload may end sooner, as a sender counts its last datagrams, or later."""
OWN_CLOCK_TOLERANCE = 0.01
"""A share of a rate by which a tool may be wrong that takes its times itself, or in real time any tool."""
TIMEOUT_NS = 200_000_000
"""The shortest retransmission timeout of Linux (TCP_RTO_MIN), which a silence of that length brings about."""
HANDSHAKE_S = 1
"""How long Linux waits for the answer to a SYN before it sends it again (TCP_TIMEOUT_INIT; RFC 6298, section 2); then
as long again, or twice as long each time.
"""
LONG_NS = 500_000_000
"""How much longer the tools themselves may take: for closing connections, and for the last datagrams."""


def arrived(case: Case) -> Iterator[Finding]:
    """Every flow that was asked brought something, unless it was asked that nothing passes."""
    if not case.trial.workload.sends_data:
        return
    outcome, asked = case.evidence.outcome, len(case.trial.workload.asked_flows)
    nothing: Verdict = "valid" if case.denies_data else "invalid"
    hint = "the network denies it, as asked" if nothing == "valid" else "look at the tool's output, routes and losses"
    if len(outcome.flows) != asked:
        yield Finding("data", "invalid", f"the tool tells of {len(outcome.flows)} flows, asked were {asked}", hint)
    if outcome.goodput_bps is None:
        yield Finding("data", "invalid", "there is no goodput", hint)
    elif outcome.goodput_bps <= 0:
        yield Finding("data", nothing, "the goodput is 0", hint)
    for number, flow in enumerate(outcome.flows, 1):
        if flow.received_bytes is not None and flow.received_bytes <= 0:
            starved = _is_starved(case)
            verdict: Verdict = "suspect" if starved and nothing == "invalid" else nothing
            what = f"flow {number} brought nothing" + (": full queues dropped what it sent" if starved else "")
            yield Finding("data", verdict, what, "it starved: measure longer, or with fewer flows" if starved else hint)
        elif flow.goodput_bps is not None and flow.goodput_bps <= 0:
            what = f"flow {number} brought nothing while its goodput was measured"
            yield Finding("data", "valid" if nothing == "valid" else "suspect", what, "it starved: measure longer")


def _is_starved(case: Case) -> bool:
    """Whether the links did what was asked, and other flows left no room for one: their queues dropped more packets
    than there are flows, and the others brought data.
    """
    outcome = case.evidence.outcome
    drops = sum(each.counts.queue_drops + each.counts.aqm_drops for each in case.evidence.stages)
    return bool(outcome.goodput_bps) and drops > len(outcome.flows)


def lasted(case: Case) -> Iterator[Finding]:
    """The workload took as long as was asked."""
    asked_ns, seen_ns = case.trial.workload.length_ns, case.evidence.outcome.lasted_ns
    if asked_ns is None or seen_ns is None or not case.trial.workload.sends_data:
        return
    slack_ns = case.slack(SLACK_NS)
    paces_ns = _paces_ns(case.trial.workload)
    last_ns = min(((asked_ns - 1) // pace_ns * pace_ns for pace_ns in paces_ns), default=0) or asked_ns
    text = f"the workload took {seen_ns / 1e9:g} s, asked were {asked_ns / 1e9:g} s"
    if seen_ns < last_ns - asked_ns * SHORT_SHARE - slack_ns:
        is_single = max(paces_ns, default=0) >= asked_ns
        hint = "a single datagram tells no rate: a higher rate, or longer" if is_single else CUT_SHORT
        yield Finding("duration", "invalid", text, hint)
    elif seen_ns > asked_ns * (1 + LONG_SHARE) + LONG_NS + slack_ns + case.plan.rtts_ns[1]:
        yield Finding("duration", "suspect", text, "the machine is too busy, or the tool waited for something")


def _paces_ns(workload: Workload) -> list[int]:
    """How far apart each flow of datagrams sends, until the time is over; a single send tells no rate. Where our sender
    chooses larger groups than of one, they are apart by far less than the slack.
    """
    sent = [(each.datagram_bytes, each.at_once or 1, flow.rate_bps) for each in workload.load for flow in each.flows]
    return [ceil(8 * 10**9 * size * at_once / rate) for size, at_once, rate in sent if size and rate]


def goodput(case: Case) -> Iterator[Finding]:
    """No tool can get more payload through a path than what its rate leaves beside the headers. A receiver that waits
    for a lost segment holds those that come after it, and hands all of them over later. So for a while it may hand over
    more than that, but from the start until then no more than the links' own counters say.
    """
    outcome = case.evidence.outcome
    got, in_order_bps, is_one = outcome.goodput_bps, outcome.in_order_bps, case.trial.workload.is_one_path
    if outcome.counted_bps is not None and _is_uneven(case):
        got = in_order_bps = outcome.counted_bps
    if got is None or not is_one or any(stage.states for stage in case.plan.stages(is_data=True)):
        return
    tolerance = RATE_TOLERANCE if case.virtual and outcome.begin_ns is not None else OWN_CLOCK_TOLERANCE
    limit = min(_limits_bps(case, tolerance), default=None)
    if limit is None or in_order_bps <= limit[0]:
        return
    allowed, most = limit
    told_bytes, came_bytes = _handed_over(case.evidence), _came_until_end(case)
    text = f"{in_order_bps / 1e6:.1f} Mbit/s of payload over a path that brings {most / 1e6:.1f} at most"
    if got <= allowed:
        hint = f"some of it had come before, and waited for a lost segment: the goodput counts the {got / 1e6:.1f} that"
        yield Finding("goodput", "valid", text, f"{hint} arrived in that time")
        return
    if told_bytes is not None and came_bytes is not None and told_bytes <= came_bytes:
        hint = "some of it had come before, and waited for a lost segment: measure longer"
        yield Finding("goodput", "valid", text, hint)
        return
    yield Finding("goodput", "invalid", text, "the tool counted more than what arrived, or the data took another path")


def _is_uneven(case: Case) -> bool:
    """Whether the path may bring one run more than another, so that the mean of the runs is held against nothing."""
    traced = any(each.stage.asked.trace is not None for each in case.evidence.data_stages)
    return traced or any(case.evidence.outcome.elsewhere_bytes.values())


def _limits_bps(case: Case, tolerance: float) -> Iterator[tuple[float, float]]:
    """What each link leaves for payload, with what other hosts sent beside it; and before it, what may be seen of that.
    In a short time a full bucket that empties, and a frame that straddles the end, are more than the tolerance.
    """
    outcome, limits = case.evidence.outcome, [*_limits(case)]
    if not limits:
        return
    share, counted_ns = _payload_share(case), max(1, outcome.counted_ns or outcome.lasted_ns or 0)
    at_once = {
        (each.link, each.stage.way): burst_bytes(each.stage.fastest_bps, case.context(each))
        + frame_bytes(each.mtu_bytes)
        for each in case.evidence.data_stages
        if each.stage.fastest_bps
    }
    for link, way, bps in limits:
        most = bps * share + 8e9 * case.beside_bytes(link, way) / counted_ns
        yield max(most * (1 + tolerance), most + 8e9 * share * at_once.get((link, way), 0) / counted_ns), most


def _payload_share(case: Case) -> float:
    """The largest share of a rate, which counts whole Ethernet frames, that can be payload. Superpackets, which TCLinks
    count as one packet, have one header for many segments.
    """
    assert case.plan.data_path is not None, "BUG: a goodput without a path"
    if case.evidence.data_tc_ends and "offload" in dict(case.plan.nics).values():
        return 1.0
    ip_bytes, mtu_bytes = IP_BYTES[case.plan.data_path.destination_ip.version], case.plan.mtu_bytes
    told = [flow.mss_bytes for flow in case.evidence.outcome.flows]
    known = [mss for mss in told if mss is not None]
    if not known or len(known) < len(told):
        return (mtu_bytes - ip_bytes - UDP_BYTES) / frame_bytes(mtu_bytes)
    is_full = max(known) + ip_bytes + TCP_MOST_BYTES >= mtu_bytes
    return max(known) / frame_bytes(mtu_bytes if is_full else max(known) + ip_bytes + TCP_BYTES)


def _limits(case: Case) -> Iterator[tuple[str, Way, float]]:
    """The rate of each link; a trace has what it brought meanwhile, and in the round trip before that. What its buffer
    holds at the end may come later, and faster than the trace was until then: datagrams count, too.
    """
    begin_ns, end_ns = case.evidence.outcome.steady_ns or case.evidence.outcome.begin_ns, case.evidence.outcome.end_ns
    if all(each.stage.asked.trace is None for each in case.evidence.data_stages):
        for hop in case.plan.path:
            if (rate_bps := hop.link.own(hop.way).rate_bps) is not None:
                yield hop.link.name, hop.way, rate_bps
        return
    if begin_ns is None or end_ns is None or end_ns <= begin_ns:
        return
    sooner_ns = begin_ns - case.plan.rtts_ns[1]
    counted_ns = case.evidence.outcome.counted_ns or end_ns - begin_ns
    longer = (end_ns - sooner_ns) / counted_ns
    for each in case.evidence.data_stages:
        traced_bps = capacity_bps(each, sooner_ns, end_ns)
        if traced_bps is not None:
            held_bytes = each.stage.buffer_bytes(frame_bytes(each.mtu_bytes))
            yield each.link, each.stage.way, longer * traced_bps + 8e9 * held_bytes / counted_ns
        elif each.stage.asked.trace is None and each.stage.asked.rate_bps:
            yield each.link, each.stage.way, each.stage.asked.rate_bps


def _handed_over(evidence: Evidence) -> float | None:
    """What the receivers got from the start to the end of the steady state; None without a ramp."""
    outcome = evidence.outcome
    times = (outcome.begin_ns, outcome.steady_ns, outcome.end_ns)
    begin_ns, steady_ns, end_ns = times
    if begin_ns is None or steady_ns is None or end_ns is None or outcome.ramp_goodput_bps is None:
        return None
    ramp = outcome.ramp_goodput_bps * (steady_ns - begin_ns)
    return (ramp + outcome.in_order_bps * (end_ns - steady_ns)) / 8e9


def _came_until_end(case: Case) -> float | None:
    """The least payload that the stages of the data path had carried when the workload ended, by their counters."""
    counted = [_payload(case.plan, each, _until(each, case.evidence.outcome.end_ns)) for each in _last_path(case)]
    known = [octets for octets in counted if octets is not None]
    return min(known) if known else None


def carried(case: Case) -> Iterator[Finding]:
    """What arrived must have passed every link on the way, by the links' own counters, or have come beside it."""
    if not case.trial.workload.sends_data or not case.trial.workload.is_one_path:
        return
    received = case.evidence.outcome.received_bytes
    for each in _last_path(case):
        passed = _payload(case.plan, each, None)
        passed = None if passed is None else passed + _around(case, each) + case.beside_bytes(each.link, each.stage.way)
        if passed is not None and received > passed:
            yield Finding(
                "data",
                "invalid",
                f"{received} bytes arrived, but {each.where} carried {passed} bytes of payload",
                "the tool or the link's counter is wrong, or the data took another path",
            )


def _around(case: Case, each: StageEvidence) -> int:
    """The payload that detours may have carried in place of a stage, by the counters of their links."""
    place = (each.link, each.stage.way)
    others = [stages for stages in case.evidence.detours if place not in [(one.link, one.stage.way) for one in stages]]
    return sum(min((_payload(case.plan, one, None) or 0 for one in stages), default=0) for stages in others)


def _last_path(case: Case) -> list[StageEvidence]:
    """The stages between the receiver and the host that it gets its data from."""
    hops = {(hop.link.name, hop.way) for hop in case.plan.path}
    return [each for each in case.evidence.data_stages if (each.link, each.stage.way) in hops]


def _until(each: StageEvidence, end_ns: int | None) -> QueueSample | None:
    """The first sample after a time; None if there is none."""
    return next((sample for sample in each.samples if end_ns is not None and sample.time_ns >= end_ns), None)


def _payload(plan: Plan, each: StageEvidence, until: QueueSample | None) -> int | None:
    """The payload that a stage carried from the start of the workload on; until its end if `until` is None. None if the
    stage has no queue that counts. A delay by itself passes superpackets, whose headers are counted once.
    """
    if each.around is None:
        return None
    first, last = each.around
    last = until or last
    assert plan.data_path is not None, "BUG: a plan without a workload"
    headers = ETHERNET_BYTES + IP_BYTES[plan.data_path.destination_ip.version] + UDP_BYTES
    return last.bytes - first.bytes - (headers * (last.packets - first.packets) if first.handle == RATE else 0)


def resent(case: Case) -> Iterator[Finding]:
    """Segments that are sent again need a reason.

    Where packets keep their order, TCP with selective acknowledgements sends a segment again only if it was lost
    (RFC 6675, RFC 8985: a later one arrived), as a probe of the tail (RFC 8985, section 7: one segment), or after a
    timeout. Then Linux takes all that is not acknowledged for lost (tcp_timeout_mark_lost): what was dropped, and what
    is in flight, at most what the path and its buffers hold. Without selective acknowledgements, every loss can cost
    that much (RFC 6582). The kernel counts timeouts and probes of each host. A handshake that takes longer than
    HANDSHAKE_S is sent again though nothing is lost, and that counts for the flow.
    """
    if "congestion" in case.trial.workload.reports:
        for number, (asked, flow) in enumerate(
            zip(case.trial.workload.asked_flows, case.evidence.outcome.flows, strict=False), 1
        ):
            if asked.congestion is not None and flow.retransmits is None:
                what = f"missing: how many segments flow {number} sent again"
                yield Finding("retransmissions", "suspect", what, "look at the tool's output")
    again = sum(flow.retransmits or 0 for flow in case.evidence.outcome.flows)
    if not again or _is_out_of_order(case):
        return
    drops, cut = _drops(case), _cut(case)
    if not drops and not cut:
        rest = again - _handshakes(case)
        if rest > 0 and not _varies(case.evidence):
            yield Finding(
                "retransmissions",
                "suspect",
                f"{rest} segments were sent again, though no emulator dropped any",
                "something else loses packets, or the sender mistakes delay for loss",
            )
        return
    most = _explained(case, drops, cut)
    if most is not None and again > most:
        yield Finding(
            "retransmissions",
            "suspect",
            f"{again} segments were sent again, but {drops} drops explain {most:.0f} at most",
            "something else loses packets, or the sender mistakes delay for loss" + _merged(case.plan),
        )


def _handshakes(case: Case) -> int:
    """The SYNs and answers that senders of data sent again, as they count them, and no more than the longest way there
    and back, with full buffers, leaves time for.
    """
    held_bits, rate_bps = 8 * (_in_flight(case) or 0) * frame_bytes(case.plan.mtu_bytes), case.plan.rate_bps
    longest_s = held_bits / rate_bps if rate_bps else case.plan.rtts_ns[1] / 1e9
    each = int(longest_s / HANDSHAKE_S)
    outcome = case.evidence.outcome
    return min(case.of(HOST_COUNTERS).rose.get(HANDSHAKES, 0), each * max(len(outcome.flows), len(outcome.completions)))


def _merged(plan: Plan) -> str:
    """What a capture showed where one segment was left to explain: it came twice, merged with the one before it."""
    return "; or one that came twice was merged with new data (GRO)" if "offload" in dict(plan.nics).values() else ""


def _drops(case: Case) -> int:
    """The segments that were dropped, data and answers. A queue of a TCLink drops superpackets as a whole."""
    segments = SUPERPACKET_BYTES // case.plan.mtu_bytes + 1 if "offload" in dict(case.plan.nics).values() else 1
    stages = sum(each.explained_drops for each in case.evidence.stages)
    return stages + segments * sum(each.drops for each in case.evidence.tc_ends)


def _cut(case: Case) -> int:
    """The segments, as they are after it, of all that flows may have sent before a router told them that the path has a
    smaller MTU: the initial window of each (RFC 6928).
    """
    shares = (ceil(before / after) for before, after in learned_mtus(case, case.of(NETWORK)))
    return INITIAL_WINDOW * sum(shares) * len(case.evidence.outcome.flows)


def _explained(case: Case, drops: int, cut: int) -> float | None:
    """How many segments may be sent again; None if a path without a rate sets no bound. `cut` were too large once."""
    timeouts, probes = (case.of(HOST_COUNTERS).rose.get(name, 0) for name in ("TCPTimeouts", "TCPLossProbes"))
    without_sack = any(key.endswith("tcp_sack") and value == "0" for key, value in case.trial.sysctls)
    twice_there = sum(each.met("duplicate") for each in case.evidence.stages)
    episodes = timeouts + (drops + twice_there if without_sack else 0)
    flight = _in_flight(case) if episodes else 0.0
    # A segment that was sent again and waits in a queue can look lost once more (RACK), and arrives twice. Receivers
    # count such duplicates, and report the last one in an acknowledgement (RFC 2883): here at most one for each drop.
    # Where queues let others overtake what is sent again (dualpi2: it has no ECT), it can come after a newer time
    # stamp. Then receivers throw it away, and count that; needed or not, it must be sent once more.
    came = sum(case.of(HOST_COUNTERS).rose.get(name, 0) for name in (*DUPLICATES, OLD))
    came = max(came, case.of(HOST_COUNTERS).rose.get("TCPDSACKRecvSegs", 0))
    # What still waits in queues when the workload ends comes to no receiver that counts. But senders count what looked
    # lost once more; and it must be known of every segment where it is, or where it went.
    waiting = case.evidence.waiting_packets if case.evidence.has_all_segments and not case.trial.background else 0
    twice = min(drops, came + min(waiting, max(0, case.of(HOST_COUNTERS).rose.get(LOST_AGAIN, 0) - came)))
    return None if flight is None else drops + cut + probes + twice + episodes * (1 + flight)


def _in_flight(case: Case) -> float | None:
    """The packets that the path can hold: at its rate for the longest round trip, and in all buffers; None without a
    rate.
    """
    if case.plan.rate_bps is None:
        return None
    frame = frame_bytes(case.plan.mtu_bytes)
    rates = [state.asked.rate_bps or 0 for each in case.evidence.data_stages for state in each.stage.history]
    fastest_bps = max((case.plan.rate_bps, *rates))
    queued = sum(each.stage.buffer_bytes(frame) for each in case.evidence.stages) / frame
    queued += sum(each.port.limit for each in case.evidence.tc_ends if each.port.rate_bps)
    return fastest_bps * case.plan.rtts_ns[1] / 8e9 / frame + queued


def _is_out_of_order(case: Case) -> bool:
    """Whether packets may overtake each other: by jitter, by a delay that decreases, by an impairment from outside, or
    if the first packets of a flow go to a controller.
    """
    for each in case.evidence.stages:
        states = [state.asked for state in each.stage.history]
        if any(asked.jitter is not None and asked.jitter.reorder for asked in states):
            return True
        if len({asked.delay_ns for asked in states}) > 1 and not each.stage.keeps_order:
            return True
        if any(IMPAIRMENTS[key].resends for asked in states for key, _ in asked.more):
            return True
    return any(not channel.controller.is_proactive for _, channel in case.plan.controlled)


def _varies(evidence: Evidence) -> bool:
    """Whether a delay that varies, or a silence, may look like a loss."""
    traces = (state.asked.trace for each in evidence.stages for state in each.stage.history)
    if any(trace is not None and trace.longest_gap_ns >= TIMEOUT_NS for trace in traces):
        return True
    histories = [[_without_drops(state.asked) for state in each.stage.history] for each in evidence.stages]
    return any(any(map(_resends, asked)) or len(set(asked)) > 1 for asked in histories)


def _without_drops(asked: Direction) -> Direction:
    """What a direction does to packets that it does not drop: drops are counted, and explain what they cause."""
    more = tuple(pair for pair in asked.more if pair[0] not in DROPPING)
    return replace(asked, loss=None, policy=None, queue=None, more=more)


def _resends(asked: Direction) -> bool:
    return any(row.resends and asked.value(row.name) is not None for row in IMPAIRMENTS.values())
