"""Checks of the gate: was the network what was asked for? Pure, no I/O.

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
"""Of the rate, over one sample interval; two frames on top, which may fall on either side of its ends."""
LOSS_SIGMAS = 5
FEW_ROUND_TRIPS = 10
SUPERPACKET_BYTES, FEW_SUPERPACKETS = 65_536, 3


def expected_drops(stage: Stage, data_packets: int) -> int | None:
    """How many of so many data packets a periodic loss drops: ⌊(packets + phase) / X⌋; None without one."""
    return expected_of(stage.loss, stage.phase, data_packets)


def expected_of(loss: Loss | None, phase: int, data_packets: int) -> int | None:
    return (data_packets + phase) // loss.every if isinstance(loss, PeriodicLoss) else None


def asked_drops(each: StageEvidence) -> int | None:
    """How many packets periodic losses had to drop, with a schedule all of them together; None without any."""
    if not each.stage.states:
        return expected_drops(each.stage, each.data_packets)
    expected = [expected_of(count.state.loss, count.state.phase, count.data_packets) for count in each.losses]
    return sum(n for n in expected if n is not None) if any(n is not None for n in expected) else None


def set_up(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """What was read back over netlink, against what was asked."""
    for each in (*evidence.stages, *evidence.channels):
        for what, asked, seen, slack in parameters(each.stage, each.stage.start, each.qdiscs):
            if seen is None or abs(seen - asked) > slack:
                has = "none" if seen is None else seen
                yield Finding(
                    "set-up",
                    "invalid",
                    f"{each.link} {each.stage.way}: {what}: asked {asked}, the kernel has {has}",
                    "what the plan set up was changed, or did not take effect",
                )


def parameters(stage: Stage, state: State, qdiscs: Mapping[str, Qdisc]) -> Iterator[tuple[str, int, int | None, float]]:
    """(what, asked, seen, slack) for each parameter that a stage must have in a state."""
    for setting in settings(stage, state):
        qdisc = qdiscs.get(setting.handle)
        seen = None if qdisc is None else qdisc.said(setting.name)
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
                "the bottleneck does not limit what passes it",
            )


def goodput(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """No tool can have got more through a path than it carries."""
    got, limit = evidence.outcome.goodput_bps, plan.rate_bps
    if any(stage.states for stage in plan.stages(is_data=True)):
        return
    if got is not None and limit is not None and got > limit * (1 + RATE_TOLERANCE):
        yield Finding(
            "goodput",
            "invalid",
            f"{got / 1e6:.1f} Mbit/s of payload over a path of {limit / 1e6:g} Mbit/s",
            "the tool counted something else than what arrived, or another path was taken",
        )


def duration(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """A run of a few round trips measures how flows start."""
    begin, end = evidence.outcome.steady_ns, evidence.outcome.end_ns
    rtt_ns = plan.rtts_ns[1]
    if begin is not None and end is not None and end - begin < FEW_ROUND_TRIPS * rtt_ns:
        yield Finding(
            "duration",
            "suspect",
            f"{(end - begin) / 1e9:g} s are fewer than {FEW_ROUND_TRIPS} round trips of {rtt_ns / 1e6:g} ms",
            "this is the slow start of the flows, not the path: measure longer",
        )


def notes(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Not a fault, but something to know of an impairment before reading the result."""
    for each in evidence.stages:
        for row in IMPAIRMENTS.values():
            value = each.stage.asked.value(row.name)
            if row.note is not None and value is not None:
                what, hint = row.note(value)
                yield Finding(row.key, "valid", f"{each.link} {each.stage.way}: {what}", hint)


def burst(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """A host with offloads sends superpackets at once; a buffer of a few of them drops what single packets would not.

    That is no fault, for such hosts do so; their size is what Linux's TCP makes of a millisecond of its rate.
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
                "it overflows sooner than with nic: plain, which sends packet by packet",
            )


def frame_size(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.stages:
        if each.oversize_packets:
            yield Finding(
                "frame size",
                "invalid",
                f"{each.link} {each.stage.way}: {each.oversize_packets} of {each.data_packets} data packets were "
                f"larger than the MTU of {each.mtu_bytes} bytes: they were queued, delayed and dropped as one",
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
                "the loss rule is missing or counts something else",
            )
        if expected is not None and not each.data_packets:
            yield Finding(
                "loss",
                "suspect",
                f"{each.link} {each.stage.way}: periodic loss was asked and no packet that it counts passed",
                "it counts TCP data and UDP: pings and pure ACKs are not lost",
            )
        if expected is None and each.dropped_packets:
            yield Finding(
                "loss",
                "invalid",
                f"{each.link} {each.stage.way}: {each.dropped_packets} packets were dropped and no loss was asked",
                "a loss rule is there that nobody asked for",
            )


def random_loss(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in evidence.stages:
        if not each.stage.states:
            where = f"{each.link} {each.stage.way}"
            offered = each.delay_packets + each.delay_drops
            yield from random_loss_of(where, [(each.stage.loss, offered)], each.delay_drops)


def random_loss_of(where: str, came: Sequence[tuple[Loss | None, int]], dropped: int) -> Iterator[Finding]:
    """What the delay dropped, which is random loss and nothing else. `came` is how many packets met which loss."""
    lossy = [(loss, count) for loss, count in came if isinstance(loss, RandomLoss | GilbertElliott)]
    if not lossy:
        if dropped:
            yield Finding(
                "delay",
                "invalid",
                f"{where}: the delay dropped {dropped} packets",
                "its queue is too short for what is on its way",
            )
        return
    offered = sum(count for _, count in came)
    expected = sum(float(_chance(loss)) * count for loss, count in lossy)
    # Losses of a chain come in bursts of 1/r packets; their number varies accordingly more.
    bursts = [2 / float(loss.r) if isinstance(loss, GilbertElliott) else 1.0 for loss, _ in lossy]
    variance = sum(float(_chance(loss)) * count * burst for (loss, count), burst in zip(lossy, bursts, strict=True))
    margin = LOSS_SIGMAS * math.sqrt(max(1.0, variance))
    if abs(dropped - expected) > margin:
        yield Finding(
            "loss",
            "invalid" if dropped == 0 and expected > margin else "suspect",
            f"{where}: {dropped} of {offered} packets were lost at random, asked are {expected:.0f} ± {margin:.0f}",
            "random loss is not what was asked for",
        )


def _chance(loss: RandomLoss | GilbertElliott) -> Fraction:
    """The long-run share of packets lost; of a Gilbert–Elliott chain that is (r·good + p·bad)/(p + r)."""
    if isinstance(loss, RandomLoss):
        return loss.probability
    return (loss.r * loss.loss_good + loss.p * loss.loss_bad) / (loss.p + loss.r)


def device_drops(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for device, count in evidence.device_drops.items():
        yield Finding(
            "device",
            "invalid",
            f"{device} lost {count} packets that nobody asked it to lose",
            "an input queue was too short: a smaller burst, or a larger net.core.netdev_max_backlog",
        )


def no_data(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    if not trial.workload.sends_data:
        return
    for each in evidence.data_stages:
        if each.data_packets == 0:
            yield Finding("data", "invalid", f"no data packet passed the link {each.link}", "look at the routes")
