"""Makes the result of a trial from the evidence and the findings of the gate. Pure, no I/O."""

from __future__ import annotations

from ..kernel.guest import Ending
from ..model.link.impairment import IMPAIRMENTS, GilbertElliott, Loss, RandomLoss, mean_loss
from ..model.link.queue import queue_words
from ..plan.link import fault
from ..plan.link.queue import MadeQueue
from ..plan.link.stage import ETHERNET_BYTES, Policing
from ..spec.topology.link.impairment import write_loss
from . import record
from .evidence import bucket
from .evidence.case import Case
from .evidence.fault import DownCount, FaultCount, outages
from .evidence.interval import OF_QUEUE, Interval, Timeline, peak_rate_bps
from .evidence.policing import Policed
from .evidence.stage import Evidence, StageEvidence, TcEvidence
from .gate import chance
from .gate.judge import verdict
from .result import (
    Asked,
    FaultResult,
    Finding,
    IntervalResult,
    OutageResult,
    PolicyResult,
    QueueResult,
    RandomLossResult,
    Seen,
    StageResult,
    TclinkResult,
    TrialResult,
)
from .subject.registry import SUBJECTS
from .subject.round_trip import ROUND_TRIPS


def result(case: Case, findings: tuple[Finding, ...], ending: Ending) -> TrialResult:
    outcome = case.evidence.outcome
    lossy = [each for each in case.evidence.data_stages if any(state.loss for state in each.stage.history)] or list(
        case.evidence.data_stages[:1]
    )
    drops = [each.expected_drops for each in lossy]
    begin, end = outcome.begin_ns, outcome.end_ns
    of_subjects = [(each.field, each.name, each.result(case, case.of(each))) for each in SUBJECTS if each.result]
    return TrialResult(
        id=case.trial.id,
        params=dict(case.trial.params),
        seed=case.trial.seed,
        repetition=case.trial.repetition,
        verdict=verdict(findings),
        warnings=tuple(map(str, findings)),
        findings=findings,
        goodput_bps=outcome.goodput_bps,
        ramp_goodput_bps=outcome.ramp_goodput_bps,
        handed_over_bps=outcome.handed_over_bps,
        flows=outcome.flows,
        asked=Asked(
            rtt_s=case.plan.rtt_ns / 1e9,
            rate_bps=case.plan.rate_bps,
            dropped_packets=sum(n for n in drops if n is not None) if any(n is not None for n in drops) else None,
        ),
        seen=Seen(
            rtt_s=case.of(ROUND_TRIPS).data.rtt_min_s,
            rtt_max_s=case.of(ROUND_TRIPS).data.rtt_max_s,
            rate_bps=_seen_rate(case),
            data_packets=lossy[0].counts.data_packets if lossy else None,
            dropped_packets=sum(each.counts.dropped_packets for each in lossy) if lossy else None,
            random_drops=sum(each.counts.delay_drops for each in case.evidence.data_stages),
            queue_drops=sum(each.counts.queue_drops for each in case.evidence.stages)
            + sum(each.drops for each in case.evidence.tc_ends),
            **{name: _of_queues(case.evidence, name) for name in OF_QUEUE},
        ),
        stages=tuple(_stage(case, each) for each in case.evidence.stages),
        measured=outcome.measured,
        workload_s=(end - begin) / 1e9 if begin is not None and end is not None else None,
        steady_s=(outcome.steady_ns - begin) / 1e9 if outcome.steady_ns and begin else None,
        ip_version=None if case.plan.data_path is None else case.plan.data_path.destination_ip.version,
        nic=dict(case.plan.nics),
        pacing="TCP's own (no fq on the hosts)",
        engine=case.trial.topology.engine,
        mininet_version=case.evidence.mininet,
        tclinks=tuple(_tclink(each) for each in case.evidence.tc_ends),
        kernel=case.trial.kernel.kind,
        kernel_release=ending.release,
        lab_s=ending.end_ns / 1e9 if case.virtual else ending.wall_s,
        things={name: record.write(said) for field, name, said in of_subjects if field is None and said is not None},
        wall_s=ending.wall_s,
        cpu_s=ending.cpu_s,
        **{field: said for field, _, said in of_subjects if field is not None},
    )


def _of_queues(evidence: Evidence, name: str) -> int | None:
    """What the queues that were asked counted together; None if none was asked for a queue that counts that."""
    counts = [int(getattr(each.counts, name)) for each in evidence.stages if _has(each, name)]
    return sum(counts) if counts else None


def _has(each: StageEvidence, name: str) -> bool:
    """Whether a queue was asked that counts something."""
    return each.filters_acks if name == "filtered_acks" else each.stage.queue is not None


def _queue(queue: MadeQueue | None, seen: StageEvidence | Interval, each: StageEvidence) -> QueueResult | None:
    if queue is None:
        return None
    last = each.queue_around[1].counts if each.queue_around else None
    is_told = last is not None and last.is_told_apart
    filters = each.filters_acks
    counted = {name: getattr(seen.counts, name) for name in OF_QUEUE if filters or name != "filtered_acks"}
    return QueueResult(queue.type, queue_words(queue.asked), is_told_apart=is_told, **counted)


def _seen_rate(case: Case) -> float | None:
    """The highest rate that the path's slowest emulator carried over one sample interval."""
    slowest = [
        each.peak_rate_bps for each in case.evidence.data_stages if each.stage.asked.rate_bps == case.plan.rate_bps
    ]
    slowest += [each.peak_rate_bps for each in case.evidence.data_tc_ends if each.port.rate_bps == case.plan.rate_bps]
    return slowest[0] if slowest else None


def _tclink(each: TcEvidence) -> TclinkResult:
    return TclinkResult(
        link=each.port.link,
        way=each.port.way,
        node=each.port.node,
        asked_rate_bps=each.port.rate_bps,
        asked_delay_s=each.port.delay_ns / 1e9,
        limit_packets=each.port.limit,
        queue_drops=each.drops,
        peak_rate_bps=each.peak_rate_bps,
        max_backlog_packets=max((sample.backlog_packets for sample in each.samples), default=None),
    )


def _stage(case: Case, each: StageEvidence) -> StageResult:
    timeline, begin_ns = case.evidence.timeline, case.evidence.outcome.begin_ns
    policing, policed = each.stage.policing, each.policed
    return StageResult(
        link=each.link,
        way=each.stage.way,
        asked_rate_bps=each.stage.asked.rate_bps,
        asked_delay_s=each.stage.asked.delay_ns / 1e9,
        buffer=each.stage.limit,
        buffer_unit=each.stage.limit_unit if each.stage.limit is not None else None,
        loss_phase=each.stage.phase,
        data_packets=each.counts.data_packets,
        dropped_packets=each.counts.dropped_packets,
        expected_drops=each.expected_drops,
        queue_drops=each.counts.queue_drops,
        random_drops=each.counts.delay_drops,
        oversize_packets=each.oversize_packets,
        peak_rate_bps=each.peak_rate_bps,
        max_backlog_packets=max((sample.backlog_packets for sample in each.samples), default=None),
        intervals=()
        if timeline is None or not each.is_scheduled
        else tuple(_interval(number, each, timeline) for number, _ in enumerate(each.intervals)),
        policy=None if policing is None or policed is None else _policy(policing, policed, begin_ns),
        more={key: IMPAIRMENTS[key].words(value) for key, value in each.stage.asked.more},
        random_loss=None if each.stage.states else _random_loss(each.stage.loss, each),
        faults=tuple(_fault(count, each) for count in each.faults),
        outages=tuple(_outage(count, timeline) for count in outages(each.downs)),
        paced=bucket.result(
            each.stage.asked,
            each.paced,
            each.policer,
            case.watch,
            bucket.per_flow(each.stage, each.per_flow, each.flows, case.context(each)),
        ),
        queue=_queue(each.stage.queue, each, each),
    )


def _fault(count: FaultCount, each: StageEvidence) -> FaultResult:
    return FaultResult(count.key, count.state.at_ns / 1e9, count.came, count.met, each.expected(count))


def _outage(count: DownCount, timeline: Timeline | None) -> OutageResult:
    begin_ns = 0 if timeline is None else timeline.start_ns
    from_ns = count.begin_ns or begin_ns + count.state.at_ns
    return OutageResult(
        (from_ns - begin_ns) / 1e9, None if count.end_ns is None else (count.end_ns - begin_ns) / 1e9, count.lost
    )


def _random_loss(loss: Loss | None, seen: StageEvidence | Interval) -> RandomLossResult | None:
    if not isinstance(loss, RandomLoss | GilbertElliott):
        return None
    packets = seen.counts.offered_packets
    low, high = chance.excluded(packets, seen.counts.delay_drops) if isinstance(loss, RandomLoss) else (None, None)
    return RandomLossResult(mean_loss(loss), packets, seen.counts.delay_drops, low, high)


def _interval(number: int, each: StageEvidence, timeline: Timeline) -> IntervalResult:
    one, later = each.intervals[number], each.intervals[number + 1 : number + 2]
    state, moment = one.state, timeline.moments.get(one.state.at_ns) if number else None
    return IntervalResult(
        from_s=state.at_ns / 1e9,
        to_s=later[0].state.at_ns / 1e9 if later else (timeline.stop_ns - timeline.start_ns) / 1e9,
        late_s=None if moment is None else moment.late_ns / 1e9,
        asked_rate_bps=state.asked.rate_bps,
        asked_delay_s=state.asked.delay_ns / 1e9,
        asked_loss=write_loss(state.loss),
        loss_phase=state.phase,
        buffer=state.limit,
        data_packets=one.counts.data_packets,
        dropped_packets=one.counts.dropped_packets,
        queue_drops=one.counts.queue_drops,
        random_drops=one.counts.delay_drops,
        peak_rate_bps=None
        if fault.is_down(state)
        else peak_rate_bps(one.looks, state.asked.rate_bps, each.mtu_bytes + ETHERNET_BYTES),
        random_loss=_random_loss(state.loss, one),
        queue=_queue(state.queue, one, each),
    )


def _policy(policing: Policing, seen: Policed, begin_ns: int | None) -> PolicyResult:
    crossed_ns = seen.crossed_ns(policing)
    start_ns = begin_ns if begin_ns is not None or not seen.samples else seen.samples[0][0].time_ns
    return PolicyResult(
        after_bytes=policing.after_bytes,
        asked_rate_bps=policing.rate_bps,
        bucket_bytes=policing.bucket_bytes,
        crossed_s=None if crossed_ns is None else (crossed_ns - (start_ns or 0)) / 1e9,
        offered_bytes=seen.offered_bytes,
        policed_bytes=seen.policed_bytes,
        policed_packets=seen.policed_packets,
        rate_while_policed_bps=seen.passed_bps(),
        loss_while_policed=seen.loss_fraction(),
    )
