"""Checks of the gate: did every scheduled change happen in time and take effect? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ....model.link.impairment import PeriodicLoss
from ....model.scenario import Trial
from ....model.topology import Link
from ....plan.link import fault
from ....plan.link.impairment import Context, burst_bytes
from ....plan.link.stage import frame_bytes
from ....plan.network import Plan
from ...evidence.interval import Interval, capacity_bits
from ...evidence.stage import Evidence, StageEvidence
from ...stored_result import Finding, Verdict
from .link_check import RATE_TOLERANCE, expected_of, random_loss_of, rate_of
from .set_up_check import differences

LAB_LATE_NS = 1_000_000
REAL_LATE_NS, REAL_TOO_LATE_NS = 50_000_000, 1_000_000_000
"""How late a change may be, in virtual time and in real time, where a moderate delay is only suspect."""


def happened(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Checks that every change that was due before the workload ended happened, and in time."""
    if not plan.timeline:
        return
    timeline = evidence.timeline
    if timeline is None:
        yield Finding("schedule", "invalid", "the schedule never started", "the workload did not report its start")
        return
    virtual = trial.kernel.is_virtual_time
    late_ns, too_late_ns = (LAB_LATE_NS, LAB_LATE_NS) if virtual else (REAL_LATE_NS, REAL_TOO_LATE_NS)
    ran_ns = timeline.stop_ns - timeline.start_ns
    for moment in plan.timeline:
        done = timeline.moments.get(moment.at_ns)
        if done is None and moment.at_ns + too_late_ns < ran_ns:
            yield _schedule(f"the change at {moment.at_ns / 1e9:g} s did not happen", "look at timeline.jsonl")
        elif done is not None and done.late_ns > late_ns:
            what = f"the change at {moment.at_ns / 1e9:g} s was {done.late_ns / 1e9:g} s late"
            verdict: Verdict = "invalid" if done.late_ns > too_late_ns else "suspect"
            yield Finding("schedule", verdict, what, "the machine is too busy")
    changes = [change for link in _links(plan) for change in link.schedule]
    if any(at_ns > plan.until_ns for change in changes for at_ns in change.instants(ran_ns)):
        yield _schedule(
            f"the workload ran for {ran_ns / 1e9:g} s, but the plan has the schedule only up to "
            f"{plan.until_ns / 1e9:g} s",
            "give the workload a duration, or the schedule fewer changes",
        )


def came(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Notes changes that were due after the end of the workload: no fault, but perhaps not what was meant."""
    if evidence.timeline is None:
        return
    ran_ns = evidence.timeline.stop_ns - evidence.timeline.start_ns
    for link in _links(plan):
        for change in link.schedule:
            if change.at_ns >= ran_ns:
                what = f"{link.name}: the change at {change.at_ns / 1e9:g} s never happened, the workload was over"
                yield Finding("schedule", "valid", what, f"the workload ran for {ran_ns / 1e9:g} s")


def set_up(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Compares what was read back over netlink after each change with what was asked."""
    for each in evidence.judged:
        seen_ns = {interval.state.at_ns for interval in each.intervals[1:]}
        for state in each.stage.states:
            if evidence.timeline and state.at_ns in evidence.timeline.moments and state.at_ns not in seen_ns:
                what = f"{_where(each)}: nothing was read back after the change at {state.at_ns / 1e9:g} s"
                yield _schedule(what, "look at changes.bin")
    for each, interval in _later(evidence):
        state = interval.state
        context = Context(each.mtu_bytes, not trial.kernel.is_virtual_time)
        for what in differences(each.stage, state, interval.qdiscs, context):
            yield _schedule(f"{_where(each)} from {state.at_ns / 1e9:g} s on: {what}", "the change did not take effect")


def rate(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """No sample interval between two changes may carry more than the rate of that time."""
    for each in evidence.judged:
        rates = [state.asked.rate_bps or 0 for state in each.stage.history]
        bucket_bytes = burst_bytes(max(rates), Context(each.mtu_bytes, not trial.kernel.is_virtual_time))
        for interval in each.intervals:
            asked = None if fault.is_down(interval.state) else interval.state.asked.rate_bps
            where = f"{_where(each)} from {interval.state.at_ns / 1e9:g} s on"
            if asked is not None and interval.state.asked.trace is None:
                found = rate_of(trial, where, asked, interval.samples, each.mtu_bytes, bucket_bytes, max(rates))
                yield from (_schedule(one.text, one.hint) for one in found)


def periodic_loss(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Each loss of a schedule has its own counters and must drop exactly the packets it should."""
    for each in evidence.judged:
        for count in each.losses:
            expected = expected_of(count.state.loss, count.state.phase, count.data_packets) or 0
            if count.dropped_packets != expected:
                yield Finding(
                    "loss",
                    "invalid",
                    f"{_where(each)} from {count.state.at_ns / 1e9:g} s on: {count.dropped_packets} of "
                    f"{count.data_packets} data packets were dropped, asked were {expected}",
                    "the loss rule is missing or counts other packets",
                )
        if each.stage.states and not each.data_packets and _is_periodic(each):
            yield Finding(
                "loss",
                "suspect" if each in evidence.stages else "valid",
                f"{_where(each)}: periodic loss was asked, but no packet that it counts passed",
                "it counts TCP data and UDP; it never drops pings and pure ACKs",
            )


def _is_periodic(each: StageEvidence) -> bool:
    return any(isinstance(state.loss, PeriodicLoss) for state in each.stage.history)


def random_loss(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Checks each interval; in real time all intervals together, because packets pass between a change and the look
    after it.
    """
    for each in evidence.judged:
        groups = [[i] for i in each.intervals] if trial.kernel.is_virtual_time else [list(each.intervals)]
        for group in filter(None, groups):
            where = f"{_where(each)} from {group[0].state.at_ns / 1e9:g} s on"
            came = [(i.state.loss, i.delay_packets + i.delay_drops) for i in group]
            yield from random_loss_of(where, came, sum(i.delay_drops for i in group))


def goodput(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """No tool can get more through a path than its slowest link could carry in that time.

    Data that a link sent before may arrive up to a round trip later, and may wait in buffers: that much is allowed on
    top.
    """
    got, outcome = evidence.outcome.goodput_bps, evidence.outcome
    if got is None or evidence.timeline is None or not any(each.intervals for each in evidence.data_stages):
        return
    begin_ns = outcome.steady_ns or evidence.timeline.start_ns
    end_ns = outcome.end_ns or evidence.timeline.stop_ns
    rated = [each for each in evidence.data_stages if each.stage.asked.trace is None]
    limits = [bits for each in rated if (bits := _carried(each, begin_ns, end_ns)) is not None]
    fastest = max(state.asked.rate_bps or 0 for each in evidence.data_stages for state in each.stage.history)
    granted = fastest * plan.rtts_ns[1] / 1e9 + sum(
        8 * each.stage.buffer_bytes(frame_bytes(each.mtu_bytes)) for each in evidence.data_stages
    )
    if limits and got * (end_ns - begin_ns) / 1e9 > min(limits) * (1 + RATE_TOLERANCE) + granted:
        yield Finding(
            "goodput",
            "invalid",
            f"{got / 1e6:.1f} Mbit/s of payload over a path that could carry "
            f"{min(limits) * 1e3 / (end_ns - begin_ns):.1f} Mbit/s on average",
            "the tool counted more than what arrived, or the data took another path",
        )


def _carried(each: StageEvidence, begin_ns: int, end_ns: int) -> float | None:
    rates = [(0, each.stage.asked.rate_bps)]
    rates += [(interval.begin_ns, interval.state.asked.rate_bps) for interval in each.intervals[1:]]
    return capacity_bits(rates, begin_ns, end_ns)


def _links(plan: Plan) -> tuple[Link, ...]:
    """The links that data or answers cross, of the workload or of the background."""
    data_paths = [each for each in (plan.data_path, plan.upstream, *plan.background) if each is not None]
    return tuple({hop.link.name: hop.link for each in data_paths for hop in (*each.path, *each.answers)}.values())


def _later(evidence: Evidence) -> Iterator[tuple[StageEvidence, Interval]]:
    for each in evidence.judged:
        yield from ((each, interval) for interval in each.intervals[1:])


def _where(each: StageEvidence) -> str:
    return f"{each.link} {each.stage.way}"


def _schedule(what: str, hint: str) -> Finding:
    return Finding("schedule", "invalid", what, hint)
