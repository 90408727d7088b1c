"""Checks of the gate: did every scheduled change happen in time and take effect? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ....plan.link.stage import frame_bytes
from ...evidence.case import Case, Slack
from ...evidence.interval import capacity_bits
from ...evidence.stage import StageEvidence
from ...orders import remark
from ...result import Finding, Verdict
from .link_check import RATE_TOLERANCE
from .set_up_check import differences

LATE_NS, TOO_LATE_NS = Slack(1_000_000, 50_000_000), Slack(1_000_000, 1_000_000_000)
"""How late a change may be: later than the first is suspect, later than the second invalid."""


def happened(case: Case) -> Iterator[Finding]:
    """Checks that every change that was due before the workload ended happened, and in time."""
    if not case.plan.timeline:
        return
    timeline = case.evidence.timeline
    if timeline is None:
        yield Finding("schedule", "invalid", "the schedule never started", "the workload did not report its start")
        return
    late_ns, too_late_ns = case.slack(LATE_NS), case.slack(TOO_LATE_NS)
    ran_ns = timeline.stop_ns - timeline.start_ns
    for moment in case.plan.timeline:
        done = timeline.moments.get(moment.at_ns)
        if done is None and moment.at_ns + too_late_ns < ran_ns:
            yield _schedule(f"the change at {moment.at_ns / 1e9:g} s did not happen", "look at timeline.jsonl")
        elif done is not None and done.late_ns > late_ns:
            what = f"the change at {moment.at_ns / 1e9:g} s was {done.late_ns / 1e9:g} s late"
            verdict: Verdict = "invalid" if done.late_ns > too_late_ns else "suspect"
            yield Finding("schedule", verdict, what, "the machine is too busy")
    for at_ns in sorted(timeline.moments.keys() - {moment.at_ns for moment in case.plan.timeline}):
        yield _schedule(f"there was a change at {at_ns / 1e9:g} s, which nobody asked for", "look at timeline.jsonl")
    changes = [change for link in case.plan.links for change in link.schedule]
    is_short = ran_ns > case.plan.until_ns and any(link.wander for link in case.trial.topology.links)
    if is_short or any(at_ns > case.plan.until_ns for change in changes for at_ns in change.instants(ran_ns)):
        yield _schedule(
            f"the workload ran for {ran_ns / 1e9:g} s, but the plan has the schedule only up to "
            f"{case.plan.until_ns / 1e9:g} s",
            "give the workload a duration, or the schedule fewer changes",
        )


def came(case: Case) -> Iterator[Finding]:
    """Notes changes that were due after the end of the workload: no fault, but perhaps not what was meant. A plan that
    has no timeline has none that is due before.
    """
    timeline, ran_ns = case.evidence.timeline, case.evidence.outcome.lasted_ns
    if case.plan.timeline and timeline is None:
        return
    if timeline is not None:
        ran_ns = timeline.stop_ns - timeline.start_ns
    ran = "the plan ends sooner" if ran_ns is None else f"the workload ran for {ran_ns / 1e9:g} s"
    for what in remark.changes_from(case.trial, case.plan, case.plan.until_ns if ran_ns is None else ran_ns):
        yield Finding("schedule", "valid", f"{what} never happened, the workload was over", ran)


def set_up(case: Case) -> Iterator[Finding]:
    """Compares what was read back over netlink after each change with what was asked."""
    for each in case.judged:
        seen_ns = {interval.state.at_ns for interval in each.intervals[1:]}
        for state in each.stage.states:
            if case.evidence.timeline and state.at_ns in case.evidence.timeline.moments and state.at_ns not in seen_ns:
                what = f"{each.where}: nothing was read back after the change at {state.at_ns / 1e9:g} s"
                yield _schedule(what, "look at changes.bin")
    for each in case.judged:
        for where, span in list(each.spans())[1:]:
            for what in differences(each.stage, span.state, span.qdiscs, case.context(each)):
                yield _schedule(f"{where}: {what}", "the change did not take effect")


def goodput(case: Case) -> Iterator[Finding]:
    """No tool can get more through a path than its slowest link could carry in that time.

    Data that a link sent before may arrive up to a round trip later, and may wait in buffers: that much is allowed on
    top.
    """
    outcome = case.evidence.outcome
    got = outcome.goodput_bps if outcome.counted_bps is None else outcome.counted_bps
    if (
        got is None
        or not case.trial.workload.is_one_path
        or case.evidence.timeline is None
        or not any(each.is_scheduled for each in case.evidence.data_stages)
    ):
        return
    begin_ns = outcome.steady_ns or case.evidence.timeline.start_ns
    end_ns = outcome.end_ns or case.evidence.timeline.stop_ns
    counted_ns = outcome.counted_ns or end_ns - begin_ns
    rated = [each for each in case.evidence.data_stages if each.stage.asked.trace is None]
    limits = [
        bits + 8 * case.beside_bytes(each.link, each.stage.way)
        for each in rated
        if (bits := _carried(each, begin_ns, end_ns, counted_ns)) is not None
    ]
    fastest = max(each.stage.fastest_bps for each in case.evidence.data_stages)
    granted = fastest * case.plan.rtts_ns[1] / 1e9 + sum(
        8 * each.stage.buffer_bytes(frame_bytes(each.mtu_bytes)) for each in case.evidence.data_stages
    )
    if limits and got * counted_ns / 1e9 > min(limits) * (1 + RATE_TOLERANCE) + granted:
        yield Finding(
            "goodput",
            "invalid",
            f"{got / 1e6:.1f} Mbit/s of payload over a path that could carry "
            f"{min(limits) * 1e3 / counted_ns:.1f} Mbit/s on average",
            "the tool counted more than what arrived, or the data took another path",
        )


def _carried(each: StageEvidence, begin_ns: int, end_ns: int, counted_ns: int) -> float | None:
    """What a stage can have carried between two times, or in those parts of it that count."""
    rates = [(0, each.stage.asked.rate_bps)]
    rates += [(interval.begin_ns, interval.state.asked.rate_bps) for interval in each.intervals[1:]]
    bits = capacity_bits(rates, begin_ns, end_ns)
    return None if bits is None else min(bits, max(rate_bps or 0 for _, rate_bps in rates) * counted_ns / 1e9)


def _schedule(what: str, hint: str) -> Finding:
    return Finding("schedule", "invalid", what, hint)
