"""Checks of the gate: was the network as asked? Pure, no I/O.

Each check looks at the evidence of a trial and yields findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ....model.link.impairment import IMPAIRMENTS, GilbertElliott, Loss, PeriodicLoss, RandomLoss, mean_loss
from ....plan.link import fault
from ....plan.link.fault_rules import LONGEST_ACK_BYTES
from ....plan.link.impairment import burst_bytes
from ....plan.link.stage import frame_bytes
from ....units import percent
from ...evidence.case import Case
from ...evidence.interval import Interval, peak_pair, whole_pair
from ...evidence.stage import Evidence, StageEvidence
from ...observe.sample import QueueSample
from ...result import Finding
from .. import chance

RATE_TOLERANCE = 0.001
"""A share of the rate, over one sample interval. Two frames are allowed on top: one may straddle each end."""
REAL_LATE_S = 0.05
"""In real time, by how much the time of a sample may differ from that of its counters: a busy machine lets programs
wait."""
FEW_ROUND_TRIPS = 10
HEADERS_BYTES = 52
"""Of a data packet, IPv4 and TCP with time stamps. With IPv6 it is longer, and counts as data sooner."""
SUPERPACKET_BYTES, FEW_SUPERPACKETS = 65_536, 3

LOOKS_APART_NS, SHORTEST_BYTES = 100_000, 60
"""A bucket and the next node are not counted at one instant. The time is a choice: in 14 trials up to 40 Gbit/s the
frames under way were those of some 15 us. An Ethernet frame has at least so many bytes.
"""


def rate(case: Case, each: StageEvidence) -> Iterator[Finding]:
    """No sample interval while a state held may carry more than the rate of that time."""
    fastest_bps = each.stage.fastest_bps
    bucket_bytes = burst_bytes(fastest_bps, case.context(each)) if fastest_bps else 0
    for where, span in each.spans():
        asked = None if fault.is_down(span.state) else span.state.asked.rate_bps
        if asked is not None and span.state.asked.trace is None:
            found = rate_of(case, where, asked, span.looks, each.mtu_bytes, bucket_bytes, fastest_bps)
            yield from (replace(one, check="schedule" if each.is_scheduled else one.check) for one in found)


def rate_of(
    case: Case,
    where: str,
    asked_bps: int,
    samples: Sequence[QueueSample],
    mtu_bytes: int,
    bucket_bytes: int,
    fastest_bps: int = 0,
    *,
    always_bursts: bool = False,
) -> Iterator[Finding]:
    """Checks the fastest interval of the samples, and their whole. Two frames may straddle the ends. A full bucket can
    empty in the first interval, and in real time in any. There the kernel's counters may also be a while older or
    younger than the time of a sample.
    """
    frame = frame_bytes(mtu_bytes)
    for pair in (peak_pair(samples, asked_bps, frame), whole_pair(samples)):
        if pair is None:
            continue
        span_s, carried_bytes = (pair[1].time_ns - pair[0].time_ns) / 1e9, pair[1].bytes - pair[0].bytes
        steady = case.virtual and not always_bursts and pair[0] is not samples[0]
        extra_bytes = 2 * frame + (0 if steady else bucket_bytes)
        late_s = 0.0 if case.virtual else REAL_LATE_S
        most_bits = asked_bps * (1 + RATE_TOLERANCE) * span_s + max(asked_bps, fastest_bps) * late_s + 8 * extra_bytes
        if span_s > 0 and carried_bytes * 8 > most_bits:
            yield Finding(
                "rate",
                "invalid",
                f"{where} carried {carried_bytes * 8e-6 / span_s:.1f} Mbit/s, asked were {asked_bps / 1e6:g} Mbit/s",
                "the bottleneck does not limit the traffic",
            )
            return


def duration(case: Case) -> Iterator[Finding]:
    """A run of a few round trips measures only how flows start."""
    begin, end = case.evidence.outcome.steady_ns, case.evidence.outcome.end_ns
    rtt_ns = case.plan.rtts_ns[1]
    if begin is not None and end is not None and end - begin < FEW_ROUND_TRIPS * rtt_ns:
        yield Finding(
            "duration",
            "suspect",
            f"{(end - begin) / 1e9:g} s are fewer than {FEW_ROUND_TRIPS} round trips of {rtt_ns / 1e6:g} ms",
            "this measures the slow start of the flows, not the path: measure longer",
        )


def notes(case: Case) -> Iterator[Finding]:
    """Notes on impairments that a reader of the result should know; none of them is a fault."""
    for each in case.evidence.stages:
        for row in IMPAIRMENTS.values():
            value = each.stage.asked.value(row.name)
            if row.note is not None and value is not None:
                what, hint = row.note(value)
                yield Finding(row.key, "valid", f"{each.where}: {what}", hint)


def no_delay(case: Case) -> Iterator[Finding]:
    """Jitter around a short delay, the shortest that a schedule led to: what would arrive before it is sent arrives at
    once.
    """
    for where, span in chain.from_iterable(map(_shortest, case.evidence.stages)):
        asked = span.state.asked
        if asked.jitter is not None and asked.jitter.below_ns > asked.delay_ns:
            is_cut = asked.jitter.is_cut(asked.delay_ns)
            share = "more than" if is_cut else "less than"
            what = f"{where}: {share} 1 % of the delays would be below 0 and are 0, so they vary less and last longer"
            yield Finding("jitter", "suspect" if is_cut else "valid", what, "a longer delay, or less jitter")


def _shortest(each: StageEvidence) -> Sequence[tuple[str, Interval]]:
    """The interval with the shortest delay, with its words."""
    return sorted(each.spans(), key=lambda held: held[1].state.asked.delay_ns)[:1]


def burst(case: Case) -> Iterator[Finding]:
    """A host with offloads sends superpackets. A buffer that holds only a few of them drops packets that it would not
    drop if they came one by one.

    This is no fault: real hosts do so. Linux's TCP makes superpackets as large as what it sends in a millisecond.
    """
    if "offload" not in dict(case.plan.nics).values():
        return
    for each in case.evidence.data_stages:
        limit_bytes = (each.stage.limit or 0) * (1 if each.stage.limit_unit == "bytes" else each.mtu_bytes)
        size_bytes = min(SUPERPACKET_BYTES, (each.stage.asked.rate_bps or 0) // 8000)
        if each.counts.queue_drops and limit_bytes < FEW_SUPERPACKETS * size_bytes:
            yield Finding(
                "burst",
                "valid",
                f"{each.where}: superpackets of {size_bytes} bytes meet a buffer of {limit_bytes}",
                "the buffer overflows sooner than with nic: plain, which sends packet by packet",
            )


def frame_size(case: Case) -> Iterator[Finding]:
    for each in case.judged:
        if each.oversize_packets:
            yield Finding(
                "frame size",
                "invalid",
                f"{each.where}: {each.oversize_packets} of {each.counts.data_packets} data packets were "
                f"larger than the MTU of {each.mtu_bytes} bytes: each was queued, delayed and dropped as a whole",
                "an offload (TSO, GSO, GRO) is on at a device that feeds the emulator",
            )
        yield from _uncut(each)


def _uncut(each: StageEvidence) -> Iterator[Finding]:
    """A token bucket that holds superpackets must send them cut. It counts a superpacket as the packets that it stands
    for, and the next node each frame as one: so that has no fewer if every one was cut, but for those that left between
    the two looks.
    """
    if not each.stage.cuts_late or each.around is None:
        return
    first, last = each.around
    packets, carried_bytes = last.packets - first.packets, last.bytes - first.bytes
    meanwhile = (each.sent_before or 0) + each.stage.fastest_bps * LOOKS_APART_NS // (8 * 10**9 * SHORTEST_BYTES)
    left = each.left_packets
    if left is not None and (left + meanwhile < packets or (packets and not left)):
        yield Finding(
            "frame size",
            "invalid",
            f"{each.where}: {packets} packets left the bucket, and {each.left_packets} frames came to "
            "the next node: the others were part of frames larger than the MTU, or lost on a cable that loses nothing",
            "superpackets left uncut: somebody changed the queues of the device",
        )
    if carried_bytes > packets * frame_bytes(each.mtu_bytes):
        yield Finding(
            "frame size",
            "invalid",
            f"{each.where}: {carried_bytes} bytes left the bucket in {packets} packets, more than the "
            f"MTU of {each.mtu_bytes} bytes allows",
            "the kernel says that its token bucket cuts superpackets, and it does not: testbed kernel build",
        )


def periodic_loss(case: Case, each: StageEvidence) -> Iterator[Finding]:
    """Each loss has its own counters, and drops exactly the packets that it should."""
    is_periodic = any(isinstance(state.loss, PeriodicLoss) for state in each.stage.history)
    stray = sum(count.dropped_packets for count in each.losses)
    for count in each.losses if is_periodic or each.is_scheduled else ():
        where, expected = each.words(count.state), count.expected_drops or 0
        if count.dropped_packets != expected:
            yield Finding(
                "loss",
                "invalid",
                f"{where}: {count.dropped_packets} of {count.data_packets} data packets were dropped, asked were "
                f"{expected}",
                "the loss rule is missing or counts other packets",
            )
    if is_periodic and not each.counts.data_packets:
        yield Finding(
            "loss",
            "suspect" if each in case.evidence.stages else "valid",
            f"{each.where}: periodic loss was asked, but no packet that it counts passed",
            "it counts TCP data and UDP; it never drops pings and pure ACKs",
        )
    if stray and not is_periodic and not each.is_scheduled:
        yield Finding(
            "loss",
            "invalid",
            f"{each.where}: {stray} packets were dropped, but no loss was asked",
            "the emulator has a loss rule that was not asked for",
        )


def random_loss(case: Case, each: StageEvidence) -> Iterator[Finding]:
    """Checks each interval; in real time all intervals together, because packets pass between a change and the look
    after it.
    """
    spans = list(each.spans())
    for group in filter(None, [[span] for span in spans] if case.virtual else [spans]):
        came = [(span.state.loss, span.counts.offered_packets) for _, span in group]
        yield from random_loss_of(group[0][0], came, sum(span.counts.delay_drops for _, span in group))
    if not each.is_scheduled and not each.counts.delay_drops:
        yield from _too_few_to_tell(each.where, each.stage.loss, each.counts.offered_packets)


def random_loss_of(where: str, came: Sequence[tuple[Loss | None, int]], dropped: int) -> Iterator[Finding]:
    """Checks the drops of the delay: they must all be random loss. `came` says how many packets met which loss."""
    lossy = [(loss, count) for loss, count in came if isinstance(loss, RandomLoss | GilbertElliott)]
    if not lossy:
        if dropped:
            yield Finding(
                "delay",
                "invalid",
                f"{where}: the delay dropped {dropped} packets",
                "its queue is too short for the packets in flight",
            )
        return
    if not chance.can_be(lossy, dropped):
        offered = sum(count for _, count in came)
        expected = sum(mean_loss(loss) * count for loss, count in lossy)
        yield Finding(
            "loss",
            "invalid",
            f"{where}: {dropped} of {offered} packets were lost at random, asked were about {expected:.0f}",
            f"chance alone does this in less than one of {1 / chance.ERROR_RATE:.0e} trials: another loss was at work",
        )


def _too_few_to_tell(where: str, loss: Loss | None, offered: int) -> Iterator[Finding]:
    """Notes a random loss that the data do not show. That it was set up as asked is read back over netlink."""
    if isinstance(loss, RandomLoss) and chance.can_be([(loss, offered)], 0):
        _, high = chance.excluded(offered, 0)
        yield Finding(
            "loss",
            "valid",
            f"{where}: none of {offered} packets was lost, asked were {percent(float(loss.probability))}: this "
            f"excludes only more than {percent(high)}",
            "netlink says that the loss was set up as asked; send more packets to see it",
        )


def device_drops(case: Case) -> Iterator[Finding]:
    for device, count in case.evidence.device_drops.items():
        if count:
            yield Finding(
                "device",
                "invalid",
                f"{device} lost {count} packets that it was not asked to lose",
                "an input queue was too short: use smaller bursts, or a larger net.core.netdev_max_backlog",
            )


def no_data(case: Case) -> Iterator[Finding]:
    if not case.trial.workload.sends_data or _is_tiny(case.evidence):
        return
    beyond = {(hop.link.name, hop.way) for hop in case.beyond}
    for each in case.evidence.data_stages:
        if each.counts.data_packets == 0 and (each.link, each.stage.way) not in beyond:
            yield Finding("data", "invalid", f"no data packet passed the link {each.link}", "look at the routes")


def _is_tiny(evidence: Evidence) -> bool:
    """Whether all flows are so small that their packets count as acknowledgements."""
    sizes = [each.size_bytes for each in evidence.outcome.completions]
    return bool(sizes) and max(sizes) + HEADERS_BYTES <= LONGEST_ACK_BYTES
