"""Checks of the gate: do the numbers that the tools report add up? Pure, no I/O.

Each is told by more than one field, so what one of them lacks or makes up shows in another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from ....plan.link.impairment import TICK_NS
from ....plan.node.namespace import node_netns
from ... import measured
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...measured import Download, HttpResult, PingResult, TcpResult, UdpResult
from ...observe.sample import received_series
from ...stored_result import Finding

HINT = "an output of the trial is damaged or not whole"
NEAR = 1e-6
"""The relative difference of numbers that were rounded or came from a division."""
PINGS_S = 1e-6
"""What ping prints is rounded to this. Without any delay, virtual time may stand still: then it prints 0."""
NEVER_ZERO = ("port", "sndbuf_bytes", "rcvbuf_bytes", "mss_bytes", "rtt_min_s")
"""Fields of a flow, where the tool tells them; Linux takes a jiffy for an RTT of 0."""
OWN_FIELDS = (
    "burst_datagrams",
    "delay_max_s",
    "delay_mean_s",
    "delay_min_s",
    "duplicates",
    "jitter_s",
    "received_bytes",
    "receiver_drops",
    "send_late_max_s",
)
"""What the tool `udp` tells, and iperf3 does not."""
SECONDS = ("sent_datagrams", "lost_datagrams", "arrived_datagrams")
MEANS = ("elapsed_s", "first_byte_s", "goodput_bps")
ENDS_APART = 0.05
"""By which share the bytes of a goodput and of its ramp may miss those of the flows, whose ends differ a little."""
ALONE = 0.01
"""By which share the goodput of the only flow may differ from that of all."""
ALONE_LATE = 0.1
"""The same in real time, where a flow may be looked at late."""
JIFFY_S = 0.01
"""The longest tick of a kernel, in which it counts how long a sender was busy."""


def adds_up(case: Case) -> Iterator[Finding]:
    """The first fault of each part: what one number spoils is said once."""
    for part in PARTS:
        for what in part(case):
            yield Finding("evidence", "invalid", what, HINT)
            break


def _times(case: Case) -> Iterator[str]:
    outcome, timeline = case.evidence.outcome, case.evidence.timeline
    begin_ns, steady_ns, end_ns = outcome.begin_ns, outcome.steady_ns, outcome.end_ns
    if begin_ns is not None and end_ns is not None and not 0 <= begin_ns < end_ns:
        yield f"the workload began at {begin_ns} ns and ended at {end_ns} ns"
    if begin_ns is not None and end_ns is not None and steady_ns is not None and not begin_ns <= steady_ns < end_ns:
        yield f"the steady state began at {steady_ns} ns, the workload at {begin_ns} ns"
    if timeline is None:
        return
    if timeline.start_ns > timeline.stop_ns or (begin_ns is not None and timeline.stop_ns < begin_ns):
        yield f"the schedule ran from {timeline.start_ns} to {timeline.stop_ns} ns"
    for at_ns, each in timeline.moments.items():
        if not each.due_ns == timeline.start_ns + at_ns <= each.done_ns <= each.end_ns or each.begin_ns > each.done_ns:
            yield f"the change at {at_ns / 1e9:g} s was due at {each.due_ns} ns and done at {each.done_ns} ns"
        if each.begin_ns < timeline.start_ns:
            yield f"the change at {at_ns / 1e9:g} s began before the schedule"


def _flows(case: Case) -> Iterator[str]:
    """Sockets have ports and buffers; together the flows got what the goodput says."""
    outcome = case.evidence.outcome
    for number, flow in enumerate(outcome.flows, 1):
        for name in NEVER_ZERO:
            if getattr(flow, name) == 0:
                yield f"{name} of flow {number} is 0"
        if any((share or 0.0) > 1 + NEAR for share in (flow.rwnd_limited, flow.sndbuf_limited)):
            yield f"flow {number} was held back for more than its time"
        if flow.congestion is not None and "congestion" not in case.trial.workload.reports:
            tool = case.trial.workload.tool
            yield f"flow {number} has the congestion control {flow.congestion}, which {tool} cannot tell"
    yield from _together(case)
    yield from _alone(case)


def _alone(case: Case) -> Iterator[str]:
    """The only flow has the goodput of all. In real time a busy computer looks at it some time after the start, and a
    flow is counted from there: then it lasted no less than its sender was busy, which the kernel counts.
    """
    outcome = case.evidence.outcome
    flow = outcome.flows[0] if len(outcome.flows) == 1 else None
    if flow is None or not flow.goodput_bps or outcome.goodput_bps is None:
        return
    one_bps, all_bps = flow.goodput_bps, outcome.goodput_bps
    if math.isclose(one_bps, all_bps, rel_tol=ALONE):
        return
    is_near = all_bps < one_bps < all_bps * (1 + ALONE_LATE)
    can_be_late = not case.virtual and outcome.ramp_goodput_bps is None and is_near
    lasted_s, busy_s = 8 * (flow.received_bytes or 0) / one_bps, flow.busy_s or 0.0
    if can_be_late and busy_s and lasted_s >= busy_s * (1 - ALONE) - JIFFY_S:
        return
    yield f"the only flow had {one_bps:g} bit/s, all together {all_bps:g} bit/s"


def _together(case: Case) -> Iterator[str]:
    """What is left of the flows after a ramp is counted until the first of them ends, a little before the last one; or
    long before, if they do not begin together.
    """
    outcome = case.evidence.outcome
    begin_ns, steady_ns, end_ns = outcome.begin_ns, outcome.steady_ns, outcome.end_ns
    received = sum(flow.received_bytes or 0 for flow in outcome.flows)
    is_apart = len(set(getattr(case.trial.workload, "start_ns", (0,)))) > 1
    has_ramp = outcome.ramp_goodput_bps is not None
    if (
        begin_ns is None
        or steady_ns is None
        or end_ns is None
        or outcome.goodput_bps is None
        or (is_apart and has_ramp)
    ):
        return
    told = outcome.goodput_bps * (end_ns - steady_ns) + (outcome.ramp_goodput_bps or 0.0) * (steady_ns - begin_ns)
    most_off = len(outcome.flows) + received * (ENDS_APART if has_ramp else NEAR)
    if abs(told / 8e9 - received) > most_off:
        yield f"the goodput makes {told / 8e9:.0f} bytes, the flows got {received}"


def _series(case: Case) -> Iterator[str]:
    """The seconds of all flows are those of their samples."""
    outcome = case.evidence.outcome
    found = measured.find(TcpResult, outcome.measured)
    if found is None or outcome.begin_ns is None or outcome.end_ns is None:
        return
    ports = {flow.port for flow in outcome.flows}
    netns = node_netns(case.trial.workload.destination)
    sampled = received_series(case.evidence.tcp, netns, ports, outcome.begin_ns, outcome.end_ns)
    if [each.time_s for each in found.series] != [each.time_s for each in sampled]:
        yield f"the series has {len(found.series)} seconds, its samples {len(sampled)}"
        return
    for one, other in zip(found.series, sampled, strict=True):
        if not math.isclose(one.goodput_bps, other.goodput_bps, rel_tol=NEAR, abs_tol=1.0):
            yield f"{one.goodput_bps:g} bit/s in second {one.time_s:g}, by the samples {other.goodput_bps:g}"


def _datagrams(case: Case) -> Iterator[str]:
    found = measured.find(UdpResult, case.evidence.outcome.measured)
    if found is None:
        return
    sent, arrived, lost = found.sent_datagrams, found.arrived_datagrams, found.lost_datagrams
    if arrived + lost != sent:
        yield f"{sent} datagrams were sent, {arrived} arrived and {lost} were lost"
    received = sum(flow.received_bytes or 0 for flow in case.evidence.outcome.flows)
    if (received > 0) != (arrived > 0) or found.received_bytes not in (None, received):
        yield f"{arrived} datagrams arrived, with {received} bytes in flows and {found.received_bytes} in all"
    if sent and not found.offered_bps:
        yield f"{sent} datagrams were sent at {found.offered_bps} bit/s"
    if case.trial.workload.tool == "udp":
        yield from _own_datagrams(case, found, received)


def _own_datagrams(case: Case, found: UdpResult, received: int) -> Iterator[str]:
    """What only our own tool tells."""
    sent, arrived, lost = found.sent_datagrams, found.arrived_datagrams, found.lost_datagrams
    if found.offered_bps != case.trial.workload.unyielding_bps:
        yield f"{found.offered_bps:g} bit/s were offered, asked were {case.trial.workload.unyielding_bps}"
    if (found.loss is None) != (sent == 0) or (found.loss is not None and abs(found.loss - lost / sent) > NEAR):
        yield f"a loss of {found.loss}, where {lost} of {sent} datagrams were lost"
    sums = [sum(getattr(each, name) for each in found.series) for name in SECONDS]
    if sums != [sent, lost, arrived] or not _rises([each.time_s for each in found.series]):
        yield f"the seconds have {sums} datagrams sent, lost and arrived; all together {[sent, lost, arrived]}"
    if not math.isclose(sum(each.goodput_bps for each in found.series), 8 * received, rel_tol=NEAR):
        yield "the seconds have other bytes than the flows"
    lacking = [name for name in OWN_FIELDS if getattr(found, name) is None]
    if arrived and lacking:
        yield f"missing: {', '.join(lacking)} of the datagrams"
    elif arrived:
        yield from _delays(case, found)


def _delays(case: Case, found: UdpResult) -> Iterator[str]:
    """A delay that varies is jitter. Clocks of several computers, and time that stands still, may make it 0."""
    low, mean, high = found.delay_min_s or 0.0, found.delay_mean_s or 0.0, found.delay_max_s or 0.0
    if not low <= mean * (1 + NEAR) <= high * (1 + 2 * NEAR):
        yield f"delays of {low} to {high} s with a mean of {mean} s"
    least_ns = 0 if not case.virtual else max(0, sum(map(_least_ns, case.evidence.data_stages)))
    if low < least_ns / 1e9 * (1 - NEAR):
        yield f"delays of {low} s and more; the links alone take {least_ns / 1e9:g} s"
    if not found.burst_datagrams:
        yield "groups of 0 datagrams"
    if found.arrived_datagrams > len(case.evidence.outcome.flows) and found.jitter_mean_s is None:
        yield "missing: jitter_mean_s of the datagrams"
    if len(case.evidence.outcome.flows) == 1 and high - low > PINGS_S and not found.jitter_mean_s:
        yield f"delays of {low} to {high} s without jitter"


def _least_ns(each: StageEvidence) -> int:
    """The delay is set up in ticks."""
    return min(0 if state.asked.jitter else state.asked.delay_ns - TICK_NS for state in each.stage.history)


def _downloads(case: Case) -> Iterator[str]:
    found = measured.find(HttpResult, case.evidence.outcome.measured)
    if found is None:
        return
    if [each.number for each in found.downloads] != list(range(len(found.downloads))):
        yield "the downloads are not numbered one after the other"
    cached = bool(case.trial.workload.relays)
    for each in found.downloads:
        yield from (f"download {each.number}: {what}" for what in _download(each, is_far=case.plan.rtt_ns > 0))
        if (each.cache is not None) != cached:
            yield f"download {each.number}: the cache says {each.cache}"
    for one in found.objects:
        mine = [each for each in found.downloads if each.object_bytes == one.object_bytes]
        means = [sum(getattr(each, name) for each in mine) / max(1, len(mine)) for name in MEANS]
        told = [one.elapsed_s_mean, one.first_byte_s_mean, one.goodput_bps_mean]
        if len(mine) != one.downloads or not all(map(_near, means, told)):
            yield f"the object of {one.object_bytes} bytes has other means than its downloads"
    if {each.object_bytes for each in found.downloads} != {one.object_bytes for one in found.objects}:
        yield "not every object has its means"
    got = sum(flow.received_bytes or 0 for flow in case.evidence.outcome.flows)
    if sum(each.object_bytes for each in found.downloads) != got:
        yield f"the clients got {got} bytes, other than the downloads have"
    hits = sum(each.cache == "HIT" for each in found.downloads) if cached else None
    misses = None if hits is None else len(found.downloads) - hits
    if (found.cache_hits, found.cache_misses) != (hits, misses):
        yield f"{found.cache_hits} hits and {found.cache_misses} misses in the cache, by the downloads {hits}, {misses}"


def _download(each: Download, *, is_far: bool) -> Iterator[str]:
    """Nothing takes no time where there is a delay."""
    times = (*(() if each.connect_s is None else (each.connect_s,)), each.first_byte_s, each.elapsed_s)
    if each.status != 200 or not _rises([0.0, *times] if is_far else [-1.0, *times], or_stays=True):
        yield f"status {each.status}, {times} s"
    if is_far and not min(times):
        yield f"it took {times} s"
    elif not math.isclose(each.goodput_bps * each.elapsed_s, 8 * each.object_bytes, rel_tol=NEAR):
        yield f"{each.object_bytes} bytes in {each.elapsed_s} s"


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=NEAR)


def _pings(case: Case) -> Iterator[str]:
    own = measured.find(PingResult, case.evidence.outcome.measured)
    upstream_ns = 0 if case.plan.upstream is None else case.plan.upstream.rtt_ns
    rows = (
        (case.evidence.rtt_check, case.plan.rtts_ns[0]),
        (own, case.plan.rtts_ns[0]),
        (case.evidence.upstream_check, upstream_ns),
    )
    for each, rtt_ns in rows:
        if each is not None:
            yield from _round_trips(each, rtt_ns)


def _round_trips(each: PingResult, rtt_ns: int) -> Iterator[str]:
    times = (each.rtt_min_s, each.rtt_mean_s, each.rtt_max_s)
    known = [time_s for time_s in times if time_s is not None]
    if each.received > each.sent or (each.received > 0) != (len(known) == 3 and each.rtt_sd_s is not None):
        yield f"{each.received} of {each.sent} pings got a reply, with RTTs of {times} s"
    elif not _rises(known, or_stays=True) or (known and rtt_ns / 1e9 >= PINGS_S and not known[0]):
        yield f"RTTs of {times} s"
    elif known and not each.rtt_sd_s and known[2] - known[0] > PINGS_S * (1 + math.sqrt(2 * each.received)):
        # The standard deviation is at least the range over sqrt(2n).
        yield f"RTTs of {times} s with a standard deviation of {each.rtt_sd_s} s"


def _backgrounds(case: Case) -> Iterator[str]:
    for name, each in measured.backgrounds(case.evidence.outcome.measured).items():
        counts = (each.sent_datagrams, each.arrived_datagrams, each.lost_datagrams)
        flows = (each.planned_flows, each.started_flows, each.finished_flows, each.retransmits)
        if (None in counts) == (None in flows):
            yield f"{name} counts neither flows nor datagrams"
        elif None not in counts and (counts[0] or 0) != (counts[1] or 0) + (counts[2] or 0):
            yield f"{name}: {counts} datagrams were sent, arrived and were lost"
        elif None not in flows and not (flows[0] or 0) >= (flows[1] or 0) >= (flows[2] or 0):
            yield f"{name}: {flows[:3]} flows were planned, began and finished"
        if bool(each.received_bytes) > bool(each.arrived_datagrams or each.started_flows):
            yield f"{name} brought {each.received_bytes} bytes with nothing"


def _rises(times: list[float], *, or_stays: bool = False) -> bool:
    return all(one < later or (or_stays and one == later) for one, later in pairwise(times))


PARTS: tuple[Callable[[Case], Iterator[str]], ...] = (
    _times,
    _flows,
    _series,
    _datagrams,
    _downloads,
    _pings,
    _backgrounds,
)
