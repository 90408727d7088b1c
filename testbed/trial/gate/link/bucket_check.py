"""Checks of the gate: did a shaper and a policer let pass what their buckets held, and no less? Pure, no I/O.

Both are replayed from the bytes that passed and the kernel's own times: a bucket holds its burst at first and at most,
gets its rate all the time, and gives each packet its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from ....codec.frozen import dataclass
from ....model.link.impairment import Direction
from ....model.workload import UdpWorkload
from ....plan.link.impairment import burst_bytes
from ....plan.link.stage import ETHERNET_BYTES, frame_bytes
from ... import measured
from ...evidence.bucket import used_up
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...law import broken_between
from ...observe.bucket import PacedSample
from ...result import Finding
from ...workload import udp
from ...workload.udp import UdpResult

HINT = "somebody set it up again, or what was read back is not whole"
SECOND_NS = 10**9
ROUNDED_BYTES = 2
"""What a bucket holds at two looks is told in whole bytes."""
REAL_SHARE = 0.05
"""In real time, by how much less may pass than could: timers are late."""


@dataclass(frozen=True)
class Bucket:
    """`rate` in bytes/s, `size` in bytes."""

    rate: int
    size: int

    def filled(self, held: int, span_ns: int) -> int:
        """What it holds after a time in which nothing passed, were it bottomless; rounded up."""
        return held - (-self.rate * span_ns // SECOND_NS)


def shaper(case: Case) -> Iterator[Finding]:
    for each in case.judged:
        asked = each.stage.asked.shaper
        if asked is None:
            continue
        credit = Bucket(asked.refill_bps // 8, asked.burst_bytes)
        line = Bucket(
            asked.rate_bps // 8,
            burst_bytes(asked.rate_bps, case.context(each)),
        )
        faults = (*looks_faults(each, each.paced), *replayed(credit, each.paced))
        faults = (*faults, *_line(line, each.paced), *_waited(line, each))
        if case.virtual:
            faults = (*faults, *_charged(each))
        for what in faults[:1]:
            yield Finding("shaper", "invalid", f"{each.where}: {what}", HINT)
        share = 1.0 if case.virtual else 1 - REAL_SHARE
        for what in () if faults else islice(_least(line, credit, each, share), 1):
            yield too_little(case, "shaper", f"{each.where}: {what}")
        used = used_up(asked, each.paced, case.watch)
        if not faults and each in case.evidence.stages and (used.ever is None or (used.ever and used.at_ns is None)):
            what = f"it cannot be told {'whether' if used.ever is None else 'when'} its credit was used up"
            hint = "looks at it were too rare: samples at a shorter interval tell"
            yield Finding("shaper", "valid", f"{each.where}: {what}", hint)


def unwatched(case: Case) -> Iterator[Finding]:
    """Without samples only sums are known: more than asked is found, and less only if something waited all the time."""
    for each in case.evidence.stages if case.trial.samples_interval_ns is None else ():
        asked = each.stage.asked
        values = {"shaper": asked.shaper, "policer": asked.policer, "per flow": asked.per_flow, "trace": asked.trace}
        for name, value in values.items():
            if value is not None:
                what = f"{each.where}: no samples say whether it let pass all that it could"
                yield Finding(
                    name, "valid", what, "only that it passed no more than it may was checked; ask for samples"
                )


def too_little(case: Case, check: str, what: str) -> Finding:
    """Less passed than could have: in real time that of a busy computer, whose timers are late."""
    if case.virtual:
        return Finding(check, "invalid", what, HINT)
    return Finding(check, "suspect", what, "the machine is too busy")


def policer(case: Case) -> Iterator[Finding]:
    for each in case.judged:
        asked = each.stage.asked.policer
        if asked is None:
            continue
        bucket = Bucket(asked.rate_bps // 8, asked.burst_bytes)
        faults = (*looks_faults(each, each.policer), *replayed(bucket, each.policer))
        faults = (*faults, *policed(bucket, each.policer, frame_bytes(each.mtu_bytes)))
        for what in faults or offered(bucket, each.policer, each, case, is_shared=True):
            yield Finding("policer", "invalid", f"{each.where}: {what}", HINT)
            break


def looks_faults(each: StageEvidence, looks: Sequence[PacedSample]) -> Iterator[str]:
    """Before and after the workload, of one and the same, and each later than the one before."""
    if len(looks) < 2:
        yield f"missing: what it did ({len(looks)} looks)"
        return
    for one, later in pairwise(looks):
        if (one.kind, one.device, one.netns) != (later.kind, later.device, later.netns):
            yield f"{one.kind} became {later.kind}"
        yield from broken_between(one, later)
        if later.busy_ns - one.busy_ns > later.time_ns - one.time_ns:
            yield f"{later.busy_ns - one.busy_ns} ns busy in {later.time_ns - one.time_ns} ns"
    if bool(looks[-1].policed_packets) != bool(looks[-1].policed_bytes):
        yield f"{looks[-1].policed_packets} packets with {looks[-1].policed_bytes} bytes were dropped"
    did = [(look.taken_bytes, look.policed_packets) for look in (looks[0], looks[-1])]
    if each.counts.data_packets > each.counts.dropped_packets + each.counts.delay_drops and did[0] == did[1]:
        yield f"{each.counts.data_packets} data packets came, and it counted none of them"


def replayed(bucket: Bucket, looks: Sequence[PacedSample]) -> Iterator[str]:
    """No interval lets more pass than the bucket can have held; what it says to hold is the rest."""
    most = bucket.size
    first = looks[0] if looks else None
    if first is not None and not bucket.size - first.taken_bytes <= first.credit_bytes <= bucket.size:
        yield f"it held {first.credit_bytes} bytes before the workload, asked were {bucket.size} at first"
    for one, later in pairwise(looks):
        passed, span_ns = later.taken_bytes - one.taken_bytes, later.time_ns - one.time_ns
        most = bucket.filled(most, span_ns) - passed
        if most < 0:
            yield f"{passed} bytes passed in {span_ns / 1e9:g} s, {-most} more than the bucket can have held"
            return
        most = min(most, bucket.size)
        if later.credit_bytes > most + 1:
            yield f"it held {later.credit_bytes} bytes, but can have had {most}"
        full = bucket.filled(one.credit_bytes, span_ns)
        rest = full - passed
        if full <= bucket.size and not rest - 2 <= later.credit_bytes <= rest + 1:
            yield f"it held {later.credit_bytes} bytes, and should have {rest}"


def _charged(each: StageEvidence) -> Iterator[str]:
    """The buckets gave the bytes that left: both are told at the same instants."""
    if each.around is not None and len(each.paced) > 1:
        left = each.around[1].bytes - each.around[0].bytes
        taken = each.paced[-1].taken_bytes - each.paced[0].taken_bytes
        if left != taken:
            yield f"{left} bytes left, and its buckets gave {taken}"


def _line(line: Bucket, looks: Sequence[PacedSample]) -> Iterator[str]:
    """No faster than the rate, also with credit."""
    for one, later in pairwise(looks):
        passed, span_ns = later.taken_bytes - one.taken_bytes, later.time_ns - one.time_ns
        if passed > line.filled(line.size, span_ns):
            yield f"{passed} bytes passed in {span_ns / 1e9:g} s, more than the rate carries"


def _waited(line: Bucket, each: StageEvidence) -> Iterator[str]:
    """What waits in a fifo at a look leaves no faster than at the rate, and is busy so long; a frame may be on its way
    at each end. Other queues may drop what waits.
    """
    for one, later in pairwise(each.paced if each.stage.queue is None else ()):
        waiting, busy_ns = one.backlog_bytes, later.busy_ns - one.busy_ns
        slow = max(0, waiting - line.size - 2 * frame_bytes(each.mtu_bytes))
        if busy_ns < min(slow * SECOND_NS // line.rate, later.time_ns - one.time_ns):
            yield f"{busy_ns} ns busy after a look at which {waiting} bytes waited"


def _least(line: Bucket, credit: Bucket, each: StageEvidence, share: float) -> Iterator[str]:
    """While packets wait, all passes that the rate and the credit let pass, but for the packet at each end."""
    for one, later in pairwise(each.paced):
        passed, span_ns = later.taken_bytes - one.taken_bytes, later.time_ns - one.time_ns
        allowed = credit.filled(one.credit_bytes, span_ns)
        if later.busy_ns - one.busy_ns < span_ns or allowed > credit.size:
            continue
        least = min(line.filled(0, span_ns), allowed) * share - 2 * frame_bytes(each.mtu_bytes)
        if passed < least:
            yield f"{passed} bytes passed in {span_ns / 1e9:g} s while packets waited, {least:.0f} could have"


def policed(bucket: Bucket, looks: Sequence[PacedSample], frame: int) -> Iterator[str]:
    """It drops a packet only if the bucket lacks its bytes. So in a row of intervals with drops, each shorter than the
    bucket needs to become full, all that the rate brings passes, but for the first and the last interval.
    """
    for row in _rows(looks):
        longest_ns = max(later.time_ns - one.time_ns for one, later in pairwise(row))
        span_ns = row[-1].time_ns - row[0].time_ns
        if 2 * longest_ns * bucket.rate > (bucket.size - frame) * SECOND_NS:
            continue
        passed = row[-1].taken_bytes - row[0].taken_bytes
        least = (span_ns - 2 * longest_ns) * bucket.rate // SECOND_NS - frame
        if passed < least:
            yield f"{passed} bytes passed in {span_ns / 1e9:g} s with drops, {least} should have"
    for one, later in pairwise(looks):
        dropped = later.policed_packets - one.policed_packets
        most = bucket.filled(frame, later.time_ns - one.time_ns)
        if dropped and later.credit_bytes > most:
            yield f"{dropped} packets were dropped, and after {(later.time_ns - one.time_ns) / 1e9:g} s it held " + (
                f"{later.credit_bytes} bytes: there was no need to"
            )


def offered(
    bucket: Bucket, looks: Sequence[PacedSample], each: StageEvidence, case: Case, *, is_shared: bool
) -> Iterator[str]:
    """Datagrams that come faster than the rate keep their bucket, which all flows may share, from becoming full. So
    over all of their time what passes is what the rate brings and the bucket gives, to the byte.
    """
    workload = case.trial.workload
    if not isinstance(workload, UdpWorkload) or _may_pause(case, each):
        return
    flows, frame = workload.flows if is_shared else 1, frame_bytes(each.mtu_bytes)
    if workload.rate_bps * flows < bucket.rate * 8:
        return
    burst = workload.burst or udp.burst(workload.rate_bps, workload.length_bytes)
    ahead = bucket.filled(2 * (1 + burst) * flows * frame, _longest_pause_ns(case))
    sent = _while_sent(looks, case)
    first = next((look for look in sent if max(look.credit_bytes, frame) + ahead < bucket.size), None)
    if first is None:
        return
    for look in sent:
        passed, span_ns = look.taken_bytes - first.taken_bytes, look.time_ns - first.time_ns
        least = bucket.filled(first.credit_bytes, span_ns) - look.credit_bytes - ROUNDED_BYTES
        if span_ns > 0 and passed < least:
            yield f"{passed} bytes passed in {span_ns / 1e9:g} s while more came, and {least} should have"


def _while_sent(looks: Sequence[PacedSample], case: Case) -> tuple[PacedSample, ...]:
    """The looks at which datagrams came all the time."""
    outcome = case.evidence.outcome
    if outcome.begin_ns is None or outcome.end_ns is None:
        return ()
    begin_ns = outcome.begin_ns + case.plan.rtts_ns[1]
    return tuple(look for look in looks if begin_ns <= look.time_ns <= outcome.end_ns)


def _longest_pause_ns(case: Case) -> int:
    """How long datagrams may stay away though they are sent evenly: late ones, and a delay that grows."""
    found = measured.find(UdpResult, case.evidence.outcome.measured)
    pause_ns = round(1e9 * (found.send_late_max_s or 0.0)) if found else 0
    for each in case.evidence.data_stages:
        delays_ns = [state.asked.delay_ns for state in each.stage.history]
        pause_ns += max(delays_ns) - min(delays_ns)
    return pause_ns


def _may_pause(case: Case, each: StageEvidence) -> bool:
    """Whether something before the buckets of a stage may lose datagrams, or hold them back until others come."""
    stages = case.evidence.data_stages
    if not case.virtual or each not in stages or case.plan.channels or case.evidence.tc_ends:
        return True
    lost = each.counts.dropped_packets or each.counts.delay_drops
    lost = lost or any(other.explained_drops for other in stages if other is not each)
    asked = each.stage.asked
    if lost or (asked.policer and asked.per_flow):
        return True
    others = [state.asked for other in stages if other is not each for state in other.stage.history]
    own = [state.asked for state in each.stage.history]
    return any(_paces(case, other) for other in others) or any(one.jitter or one.more for one in (*others, *own))


def _paces(case: Case, asked: Direction) -> bool:
    """Whether datagrams may wait for the rate of another link."""
    workload = case.trial.workload
    assert isinstance(workload, UdpWorkload), "BUG: other workloads do not say how fast they send"
    if asked.shaper or asked.trace or asked.per_flow:
        return True
    frame = workload.length_bytes + ETHERNET_BYTES + udp.HEADERS_BYTES[6]
    frames_bps = workload.rate_bps * workload.flows * frame // workload.length_bytes
    return asked.rate_bps is not None and (bool(case.trial.background) or asked.rate_bps < frames_bps)


def _rows(looks: Sequence[PacedSample]) -> Iterator[list[PacedSample]]:
    """Looks between any two of which packets were dropped, at least four in a row."""
    row: list[PacedSample] = []
    for one, later in pairwise(looks):
        if later.policed_packets > one.policed_packets:
            row = [*(row or [one]), later]
            continue
        if len(row) > 3:
            yield row
        row = []
    if len(row) > 3:
        yield row
