"""Checks of the gate: was the network as asked? Pure, no I/O.

Each check looks at the evidence of a trial and yields findings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ...model.impairment import IMPAIRMENTS, GilbertElliott, Loss, PeriodicLoss, RandomLoss
from ...model.scenario import Trial
from ...plan.link.impairment import settings
from ...plan.link.stage import ETHERNET_BYTES, Stage, State
from ...plan.network import Plan
from ..evidence.stage import Evidence, StageEvidence
from ..observe.readback import Qdisc
from ..stored_result import Finding

RATE_TOLERANCE = 0.001
"""A share of the rate, over one sample interval. Two frames are allowed on top: one may straddle each end."""
LOSS_SIGMAS = 5
FEW_ROUND_TRIPS = 10
SUPERPACKET_BYTES, FEW_SUPERPACKETS = 65_536, 3


def expected_drops(stage: Stage, data_packets: int) -> int | None:
    """How many of `data_packets` a periodic loss of 1 in X drops: ⌊(packets + phase) / X⌋; None without such a loss."""
    return expected_of(stage.loss, stage.phase, data_packets)


def expected_of(loss: Loss | None, phase: int, data_packets: int) -> int | None:
    return (data_packets + phase) // loss.every if isinstance(loss, PeriodicLoss) else None


def asked_drops(each: StageEvidence) -> int | None:
    """How many packets the periodic losses had to drop: the sum over a schedule; None without such a loss."""
    if not each.stage.states:
        return expected_drops(each.stage, each.data_packets)
    expected = [expected_of(count.state.loss, count.state.phase, count.data_packets) for count in each.losses]
    return sum(n for n in expected if n is not None) if any(n is not None for n in expected) else None


def set_up(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Compares what was read back over netlink with what was asked."""
    for each in (*evidence.stages, *evidence.channels):
        for what, asked, seen, slack in parameters(each.stage, each.stage.start, each.qdiscs):
            if seen is None or abs(seen - asked) > slack:
                has = "none" if seen is None else seen
                yield Finding(
                    "set-up",
                    "invalid",
                    f"{each.link} {each.stage.way}: {what}: asked {asked}, the kernel has {has}",
                    "a command of the plan had no effect, or somebody changed its settings later",
                )


def parameters(stage: Stage, state: State, qdiscs: Mapping[str, Qdisc]) -> Iterator[tuple[str, int, int | None, float]]:
    """(what, asked, seen, slack) for each parameter that a stage must have in a state."""
    for setting in settings(stage, state):
        qdisc = qdiscs.get(setting.handle)
        seen = None if qdisc is None else qdisc.value(setting.name)
        if seen is None and setting.may_be_absent:
            continue
        yield setting.what, setting.asked, seen, setting.slack


def rate(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.stages:
        asked, seen = each.stage.asked.rate_bps, each.peak_rate_bps
        if asked is None or seen is None or trial.samples_interval_ns is None or each.stage.states:
            continue
        frame_bps = 2 * (each.mtu_bytes + ETHERNET_BYTES) * 8e9 / trial.samples_interval_ns
        allowed = asked * (1 + RATE_TOLERANCE) + frame_bps
        if trial.kernel.is_virtual_time and seen > allowed:
            yield Finding(
                "rate",
                "invalid",
                f"{each.link} {each.stage.way} carried {seen / 1e6:.1f} Mbit/s, asked were {asked / 1e6:g} Mbit/s",
                "the bottleneck does not limit the traffic",
            )


def goodput(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """No tool can get more through a path than the path carries."""
    got, limit = evidence.outcome.goodput_bps, plan.rate_bps
    if any(stage.states for stage in plan.stages(is_data=True)):
        return
    if got is not None and limit is not None and got > limit * (1 + RATE_TOLERANCE):
        yield Finding(
            "goodput",
            "invalid",
            f"{got / 1e6:.1f} Mbit/s of payload over a path of {limit / 1e6:g} Mbit/s",
            "the tool counted more than what arrived, or the data took another path",
        )


def duration(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """A run of a few round trips measures only how flows start."""
    begin, end = evidence.outcome.steady_ns, evidence.outcome.end_ns
    rtt_ns = plan.rtts_ns[1]
    if begin is not None and end is not None and end - begin < FEW_ROUND_TRIPS * rtt_ns:
        yield Finding(
            "duration",
            "suspect",
            f"{(end - begin) / 1e9:g} s are fewer than {FEW_ROUND_TRIPS} round trips of {rtt_ns / 1e6:g} ms",
            "this measures the slow start of the flows, not the path: measure longer",
        )


def notes(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Notes on impairments that a reader of the result should know; none of them is a fault."""
    for each in evidence.stages:
        for row in IMPAIRMENTS.values():
            value = each.stage.asked.value(row.name)
            if row.note is not None and value is not None:
                what, hint = row.note(value)
                yield Finding(row.key, "valid", f"{each.link} {each.stage.way}: {what}", hint)


def burst(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """A host with offloads sends superpackets. A buffer that holds only a few of them drops packets that it would not
    drop if they came one by one.

    This is no fault: real hosts do so. Linux's TCP makes superpackets as large as what it sends in a millisecond.
    """
    if "offload" not in dict(plan.nics).values():
        return
    for each in evidence.data_stages:
        limit_bytes = (each.stage.limit or 0) * (1 if each.stage.limit_unit == "bytes" else each.mtu_bytes)
        size_bytes = min(SUPERPACKET_BYTES, (each.stage.asked.rate_bps or 0) // 8000)
        if each.queue_drops and limit_bytes < FEW_SUPERPACKETS * size_bytes:
            yield Finding(
                "burst",
                "valid",
                f"{each.link} {each.stage.way}: superpackets of {size_bytes} bytes meet a buffer of {limit_bytes}",
                "the buffer overflows sooner than with nic: plain, which sends packet by packet",
            )


def frame_size(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.stages:
        if each.oversize_packets:
            yield Finding(
                "frame size",
                "invalid",
                f"{each.link} {each.stage.way}: {each.oversize_packets} of {each.data_packets} data packets were "
                f"larger than the MTU of {each.mtu_bytes} bytes: each was queued, delayed and dropped as a whole",
                "an offload (TSO, GSO, GRO) is on at a device that feeds the emulator",
            )


def periodic_loss(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.stages:
        if each.stage.states:
            continue
        expected = expected_drops(each.stage, each.data_packets)
        if expected is not None and each.dropped_packets != expected:
            yield Finding(
                "loss",
                "invalid",
                f"{each.link} {each.stage.way}: {each.dropped_packets} of {each.data_packets} data packets were "
                f"dropped, asked were {expected}",
                "the loss rule is missing or counts other packets",
            )
        if expected is not None and not each.data_packets:
            yield Finding(
                "loss",
                "suspect",
                f"{each.link} {each.stage.way}: periodic loss was asked, but no packet that it counts passed",
                "it counts TCP data and UDP; it never drops pings and pure ACKs",
            )
        if expected is None and each.dropped_packets:
            yield Finding(
                "loss",
                "invalid",
                f"{each.link} {each.stage.way}: {each.dropped_packets} packets were dropped, but no loss was asked",
                "the emulator has a loss rule that nobody asked for",
            )


def random_loss(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.stages:
        if not each.stage.states:
            where = f"{each.link} {each.stage.way}"
            offered = each.delay_packets + each.delay_drops
            yield from random_loss_of(where, [(each.stage.loss, offered)], each.delay_drops)


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
    offered = sum(count for _, count in came)
    expected = sum(float(_chance(loss)) * count for loss, count in lossy)
    # A chain loses packets in bursts of 1/r packets, so their number varies more.
    bursts = [2 / float(loss.r) if isinstance(loss, GilbertElliott) else 1.0 for loss, _ in lossy]
    variance = sum(float(_chance(loss)) * count * burst for (loss, count), burst in zip(lossy, bursts, strict=True))
    margin = LOSS_SIGMAS * math.sqrt(max(1.0, variance))
    if abs(dropped - expected) > margin:
        yield Finding(
            "loss",
            "invalid" if dropped == 0 and expected > margin else "suspect",
            f"{where}: {dropped} of {offered} packets were lost at random, asked were {expected:.0f} ± {margin:.0f}",
            "the random loss differs from what was asked",
        )


def _chance(loss: RandomLoss | GilbertElliott) -> Fraction:
    """The long-run share of packets lost; for a Gilbert–Elliott chain (r·good + p·bad)/(p + r)."""
    if isinstance(loss, RandomLoss):
        return loss.probability
    return (loss.r * loss.loss_good + loss.p * loss.loss_bad) / (loss.p + loss.r)


def device_drops(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for device, count in evidence.device_drops.items():
        yield Finding(
            "device",
            "invalid",
            f"{device} lost {count} packets that nobody asked it to lose",
            "an input queue was too short: use smaller bursts, or a larger net.core.netdev_max_backlog",
        )


def no_data(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    if not trial.workload.sends_data:
        return
    for each in evidence.data_stages:
        if each.data_packets == 0:
            yield Finding("data", "invalid", f"no data packet passed the link {each.link}", "look at the routes")
