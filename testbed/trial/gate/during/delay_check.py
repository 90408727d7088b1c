"""Checks of the gate: was each delay that a schedule or a wandering RTT asks for there at its time? Pure, no I/O.

The bounds over a whole workload (`causality_check`, `rtt_check`) know only the least and the greatest delay. These take
the ones that can have been in force when a packet came to each link.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ....model.workload import PingWorkload, UdpWorkload
from ... import measured
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...measured import PingResult
from ...observe.sample import TcpSample
from ...result import Finding
from ...workload import ping
from ...workload.udp import UdpResult, sends_every_ns
from ..link import rtt_check
from . import window

PING_LATE_NS, EACH_LATE_NS = 20_000_000, 1_000_000
"""Pings leave so much later than their number says, at most: the program starts, and waits in whole milliseconds."""
SMOOTHED, ROUNDED_S = 7 / 8, 10e-6
"""What is left of a smoothed RTT after another one was measured (RFC 6298); it is kept in whole microseconds."""
HINT = "the delay was another one for a while"


def pings(case: Case) -> Iterator[Finding]:
    """Each ping of a workload took no less than the delays of its time and, alone on the path, no more."""
    workload, start_ns = case.trial.workload, case.start_ns
    if not isinstance(workload, PingWorkload) or start_ns is None or not _is_told(case) or case.plan.channels:
        return
    seen = measured.need(PingResult, case.evidence.outcome.measured)
    frame, (shortest_ns, longest_ns) = rtt_check.headers_bytes(case) + workload.size_bytes, case.plan.rtts_ns
    bounds_s = rtt_check.bounds_s(case, frame, during=True, asks=True)
    low_s, high_s = shortest_ns / 1e9 - bounds_s[0], bounds_s[1] - longest_ns / 1e9
    for number, rtt_s in enumerate(seen.rtts_s):
        if rtt_s is None:
            continue
        sent_ns = start_ns + number * workload.interval_ns
        late_ns = PING_LATE_NS + number * EACH_LATE_NS
        least_s, most_s = _between_s(case, sent_ns, sent_ns + late_ns + longest_ns)
        digit_s = rtt_s * ping.DIGITS
        is_alone = not case.trial.background
        if rtt_s + digit_s < least_s - low_s or (is_alone and rtt_s - digit_s > most_s + high_s):
            allowed = f"{(least_s - low_s) * 1e3:.6g} to {(most_s + high_s) * 1e3:.6g} ms"
            yield _invalid(f"ping {number + 1} took {rtt_s * 1e3:g} ms, the delays of its time allow {allowed}")
            return


def smoothed(case: Case) -> Iterator[Finding]:
    """What a sender measures between two looks is no less than the delays of that time, and enters its mean."""
    if not _is_told(case) or not case.trial.workload.is_one_path:
        return
    flows: dict[tuple[str, int, str, int], list[TcpSample]] = {}
    for _, samples in window.sockets(case).looks:
        for each in samples:
            flows.setdefault(window.key(each), []).append(each)
    for flow in flows.values():
        times_ns = [each.time_ns for each in flow]
        for number, (one, later) in enumerate(pairwise(flow)):
            what = _too_soon(case, one, later, _sent_again(case, flow, times_ns, number))
            if what is not None:
                yield _invalid(what)
                return


def _sent_again(case: Case, flow: Sequence[TcpSample], times_ns: Sequence[int], number: int) -> float:
    """How many segments of a flow may be on their way for the second time at one of its looks: their acknowledgements
    measure nothing.
    """
    last = flow[number]
    since_ns = last.time_ns - 2 * max(case.plan.rtts_ns[1], round(1e9 * (last.info["srtt_s"] or 0)))
    before = bisect_right(times_ns, since_ns, hi=number + 1)
    return (last.info["total_retrans"] or 0) - (flow[before - 1].info["total_retrans"] or 0 if before else 0)


def _acknowledgements(one: TcpSample, later: TcpSample) -> float:
    """How many segments came that had no data, but no more than were acknowledged."""
    came = {
        name: (later.info[name] or 0) - (one.info[name] or 0) for name in ("segs_in", "data_segs_in", "bytes_acked")
    }
    return min(came["segs_in"] - came["data_segs_in"], came["bytes_acked"] / (later.info["snd_mss_bytes"] or 1))


def _too_soon(case: Case, one: TcpSample, later: TcpSample, again: float) -> str | None:
    before_s, after_s = one.info["srtt_s"], later.info["srtt_s"]
    is_open = one.info["ca_state"] == later.info["ca_state"] == window.OPEN
    if not before_s or not after_s or not is_open or one.info["total_retrans"] != later.info["total_retrans"]:
        return None
    answers = max(0, _acknowledgements(one, later) - 2 * again)
    least_s, _ = _between_s(case, one.time_ns - case.plan.rtts_ns[1], later.time_ns)
    least_s -= max(0.0, least_s - before_s) * SMOOTHED ** (answers // 2)
    if after_s >= least_s - ROUNDED_S:
        return None
    return (
        f"a sender measured a mean of {after_s * 1e3:g} ms, the delays of its time allow {least_s * 1e3:.6g} ms or more"
    )


def mean(case: Case) -> Iterator[Finding]:
    """Datagrams of which none was lost took on average no less than the delays did over their time."""
    outcome, found = case.evidence.outcome, measured.find(UdpResult, case.evidence.outcome.measured)
    if not isinstance(case.trial.workload, UdpWorkload) or found is None or found.lost_datagrams or not _is_told(case):
        return
    if found.delay_mean_s is None or outcome.begin_ns is None or outcome.end_ns is None or case.evidence.tc_ends:
        return
    ends_ns, gap_ns = (outcome.begin_ns, outcome.end_ns), sends_every_ns(case.trial.workload)
    least_s = sum(_mean_s(case, each, ends_ns, gap_ns) for each in case.evidence.data_stages) - ROUNDED_S
    if found.delay_mean_s < least_s:
        took = f"datagrams took {found.delay_mean_s * 1e3:g} ms on average"
        yield _invalid(f"{took}, the delays of their time {least_s * 1e3:.6g} ms")


def _invalid(what: str) -> Finding:
    return Finding("rtt", "invalid", what, HINT)


def _is_told(case: Case) -> bool:
    """Whether delays change, and nothing else lets packets pass sooner, or in another way."""
    stages = case.evidence.stages
    asked = [state.asked for each in stages for state in each.stage.history]
    is_plain = not any(each.jitter or "reorder" in dict(each.more) or "aggregate" in dict(each.more) for each in asked)
    changes = any(len({state.asked.delay_ns for state in each.stage.history}) > 1 for each in stages)
    return case.virtual and changes and is_plain and case.evidence.timeline is not None and not case.evidence.detours


def _held(case: Case, each: StageEvidence) -> Iterator[tuple[int, int, int]]:
    """Each delay of a stage, with the earliest time at which it can have been in force, and the latest one."""
    timeline = case.evidence.timeline
    assert timeline is not None, "BUG: nothing was scheduled"
    history = each.stage.history
    moments = [timeline.moments.get(state.at_ns) for state in history[1:]]
    begins = [0, *(timeline.stop_ns if moment is None else moment.begin_ns for moment in moments)]
    ends = [*(2**63 if moment is None else moment.end_ns for moment in moments), 2**63]
    return zip(begins, ends, (state.asked.delay_ns for state in history), strict=True)


def _between_s(case: Case, begin_ns: int, end_ns: int) -> tuple[float, float]:
    """The shortest and the longest round trip of a packet that comes to all links in this time. Where a delay has
    fallen it waits for those before it, which came up to a round trip earlier.
    """
    earlier_ns = begin_ns - case.plan.rtts_ns[1]
    least = most = 0
    for each in case.evidence.stages:
        held = list(_held(case, each))
        least += min(delay for since, until, delay in held if since <= end_ns and begin_ns <= until)
        most += max(delay for since, until, delay in held if since <= end_ns and earlier_ns <= until)
    return least / 1e9, most / 1e9


def _mean_s(case: Case, each: StageEvidence, ends_ns: Sequence[int], gap_ns: int) -> float:
    """The least mean of the delay of a stage over a time: while it changes, and until another datagram is sent, the
    smaller one counts.
    """
    begin_ns, end_ns = ends_ns
    held = [(since, until + gap_ns, delay) for since, until, delay in _held(case, each)]
    edges = sorted({begin_ns, end_ns, *(at for since, until, _ in held for at in (since, until))})
    total = 0
    for since_ns, until_ns in pairwise(edge for edge in edges if begin_ns <= edge <= end_ns):
        delays = (delay for since, until, delay in held if since <= since_ns and until_ns <= until)
        total += (until_ns - since_ns) * min(delays)
    return total / (end_ns - begin_ns) / 1e9
