"""The gate: was the network what was asked for, and did the hosts not hold the flows back? Pure, no I/O.

Each check looks at the evidence and yields findings. The verdict is the worst of them: `invalid` means that the number
answers another question than the one asked, `suspect` that somebody should look before believing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from .emulator import BUFFER, DELAY, ETHERNET_BYTES, NETEM_LIMIT, RATE, Stage
from .evidence import Evidence, StageEvidence
from .impairment import GilbertElliott, PeriodicLoss, RandomLoss
from .plan import Plan
from .readback import TICK_NS, Qdisc
from .scenario import Trial
from .workload import FlowWorkload, Iperf3Workload, PingWorkload

Verdict: TypeAlias = Literal["valid", "suspect", "invalid"]

LAB_RTT_TOLERANCE_S = 10e-6
REAL_RTT_TOLERANCE = 0.05
REAL_RTT_TOLERANCE_S = 1e-3
RATE_TOLERANCE = 0.001
"""Of the rate, over one sample interval; two frames on top, which may fall on either side of its ends."""
LOSS_SIGMAS = 5
LIMITED_SHARE = 0.1
"""Autotuning follows a flow by a round trip or two; what it costs while a flow grows stays well below this."""
CPU_BUSY = 0.9
PING_FRAME_BYTES = 98


@dataclass(frozen=True)
class Finding:
    """Something to read before trusting a result. `hint` says what to do about it."""

    check: str
    verdict: Verdict
    text: str
    hint: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text} ({self.hint})"


def judge(trial: Trial, plan: Plan, evidence: Evidence) -> tuple[Finding, ...]:
    """Every finding, the worst first."""
    found = [finding for check in CHECKS for finding in check(trial, plan, evidence)]
    return tuple(sorted(found, key=lambda finding: finding.verdict != "invalid"))


def verdict(findings: tuple[Finding, ...]) -> Verdict:
    """The worst of the findings; valid if there are none."""
    verdicts = {finding.verdict for finding in findings}
    return "invalid" if "invalid" in verdicts else "suspect" if "suspect" in verdicts else "valid"


def expected_drops(stage: Stage, data_packets: int) -> int | None:
    """How many of so many data packets a periodic loss drops: ⌊(packets + phase) / X⌋; None without one."""
    if not isinstance(stage.loss, PeriodicLoss):
        return None
    return (data_packets + stage.phase) // stage.loss.every


def _rtt(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    asked_s = plan.rtt_ns / 1e9
    seen = evidence.rtt_check
    if seen.rtt_min_s is None or seen.rtt_max_s is None:
        yield Finding(
            "rtt",
            "invalid",
            "no ping came back before the workload",
            "look at the plan's addresses and routes",
        )
        return
    spread_s = sum(
        8 * s.stage.asked.jitter.sd_ns / 1e9 for s in (*evidence.there, *evidence.back) if s.stage.asked.jitter
    )
    rates = [s.stage.asked.rate_bps for s in (*evidence.there, *evidence.back) if s.stage.asked.rate_bps]
    serialisation_s = sum(PING_FRAME_BYTES * 8 / rate for rate in rates)
    if trial.kernel.is_virtual_time:
        tolerance_s = LAB_RTT_TOLERANCE_S
    else:
        tolerance_s = max(REAL_RTT_TOLERANCE_S, asked_s * REAL_RTT_TOLERANCE)
    low, high = asked_s - tolerance_s - spread_s, asked_s + tolerance_s + spread_s + serialisation_s
    if not (low <= seen.rtt_min_s and seen.rtt_max_s <= high):
        yield Finding(
            "rtt",
            "invalid" if trial.kernel.is_virtual_time else "suspect",
            f"asked {asked_s * 1e3:g} ms, pings took {seen.rtt_min_s * 1e3:g} to {seen.rtt_max_s * 1e3:g} ms",
            "the emulator is not what was asked for" if trial.kernel.is_virtual_time else "the machine is too busy",
        )


def _set_up(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """What was read back over netlink, against what was asked."""
    for each in (*evidence.there, *evidence.back):
        for what, asked, seen, slack in _parameters(each):
            if seen is None or abs(seen - asked) > slack:
                has = "none" if seen is None else seen
                yield Finding(
                    "set-up",
                    "invalid",
                    f"{each.link} {each.stage.way}: {what}: asked {asked}, the kernel has {has}",
                    "what the plan set up was changed, or did not take effect",
                )


def _parameters(each: StageEvidence) -> Iterator[tuple[str, int, int | None, float]]:
    """(what, asked, seen, slack) for each parameter that the stage must have."""
    asked, stage = each.stage.asked, each.stage
    nothing = Qdisc("", 0, "", "none")
    delay, rate, buffer = (each.qdiscs.get(handle, nothing) for handle in (DELAY, RATE, BUFFER))
    if asked.delay_ns:
        yield "delay in ns", asked.delay_ns, delay.delay_ns, TICK_NS
        yield "packets that the delay holds", NETEM_LIMIT, delay.limit, 0
    if asked.jitter is not None:
        yield "jitter in ns", asked.jitter.sd_ns, delay.jitter_ns, TICK_NS
    if asked.rate_bps is not None and stage.limit is not None:
        yield "rate in bit/s", asked.rate_bps, rate.rate_bps, 8
        in_packets = stage.limit_unit == "packets"
        yield f"buffer in {stage.limit_unit}", stage.limit, (buffer if in_packets else rate).limit, 0


def _rate(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in (*evidence.there, *evidence.back):
        asked, seen = each.stage.asked.rate_bps, each.peak_rate_bps
        if asked is None or seen is None or trial.samples_interval_ns is None:
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


def _frame_size(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in (*evidence.there, *evidence.back):
        if each.oversize_packets:
            yield Finding(
                "frame size",
                "invalid",
                f"{each.link} {each.stage.way}: {each.oversize_packets} of {each.data_packets} data packets were "
                f"larger than the MTU of {each.mtu_bytes} bytes: they were queued, delayed and dropped as one",
                "an offload (TSO, GSO, GRO) is on at a device that feeds the emulator",
            )


def _periodic_loss(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in (*evidence.there, *evidence.back):
        expected = expected_drops(each.stage, each.data_packets)
        if expected is not None and each.dropped_packets != expected:
            yield Finding(
                "loss",
                "invalid",
                f"{each.link} {each.stage.way}: {each.dropped_packets} of {each.data_packets} data packets were "
                f"dropped, asked were {expected}",
                "the loss rule is missing or counts something else",
            )
        if expected is None and each.dropped_packets:
            yield Finding(
                "loss",
                "invalid",
                f"{each.link} {each.stage.way}: {each.dropped_packets} packets were dropped and no loss was asked",
                "a loss rule is there that nobody asked for",
            )


def _random_loss(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for each in (*evidence.there, *evidence.back):
        loss = each.stage.loss
        chance = _chance(loss) if isinstance(loss, RandomLoss | GilbertElliott) else None
        if chance is None:
            if each.delay_drops:
                yield Finding(
                    "delay",
                    "invalid",
                    f"{each.link} {each.stage.way}: the delay dropped {each.delay_drops} packets",
                    "its queue is too short for what is on its way",
                )
            continue
        offered = each.delay_packets + each.delay_drops
        expected = float(chance) * offered
        # Losses of a chain come in bursts of 1/r packets; their number varies accordingly more.
        burst = 2 / float(loss.r) if isinstance(loss, GilbertElliott) else 1.0
        margin = LOSS_SIGMAS * math.sqrt(max(1.0, expected * burst))
        if abs(each.delay_drops - expected) > margin:
            yield Finding(
                "loss",
                "invalid" if each.delay_drops == 0 and expected > margin else "suspect",
                f"{each.link} {each.stage.way}: {each.delay_drops} of {offered} packets were lost at random, asked are "
                f"{expected:.0f} ± {margin:.0f}",
                "random loss is not what was asked for",
            )


def _chance(loss: RandomLoss | GilbertElliott) -> Fraction:
    """The long-run share of packets lost; of a Gilbert–Elliott chain that is (r·good + p·bad)/(p + r)."""
    if isinstance(loss, RandomLoss):
        return loss.probability
    return (loss.r * loss.loss_good + loss.p * loss.loss_bad) / (loss.p + loss.r)


def _device_drops(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for device, count in evidence.device_drops.items():
        yield Finding(
            "device",
            "invalid",
            f"{device} lost {count} packets that nobody asked it to lose",
            "an input queue was too short: a smaller burst, or a larger net.core.netdev_max_backlog",
        )


def _no_data(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    if isinstance(trial.workload, PingWorkload):
        return
    for each in evidence.there:
        if each.data_packets == 0:
            yield Finding("data", "invalid", f"no data packet passed the link {each.link}", "look at the routes")


def _congestion(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    asked: tuple[str | None, ...] = ()
    if isinstance(trial.workload, FlowWorkload):
        asked = trial.workload.congestion
    elif isinstance(trial.workload, Iperf3Workload):
        asked = (trial.workload.congestion,) * trial.workload.flows
    for number, (name, flow) in enumerate(zip(asked, evidence.outcome.flows, strict=False), 1):
        if name is not None and flow.congestion != name:
            yield Finding(
                "congestion control",
                "invalid",
                f"flow {number} was asked to use {name} and used {flow.congestion}",
                "the socket did not take it",
            )


def _window(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """The kernel doubles what it is asked for, and refuses in silence what it does not allow."""
    if not isinstance(trial.workload, FlowWorkload):
        return
    flows = zip(trial.workload.window_bytes, evidence.outcome.flows, strict=True)
    for number, (asked, flow) in enumerate(flows, 1):
        if asked is None:
            yield from _auto_window(number, flow.rwnd_limited, flow.sndbuf_limited)
            continue
        for name, seen in (("SO_SNDBUF", flow.sndbuf_bytes), ("SO_RCVBUF", flow.rcvbuf_bytes)):
            if seen is not None and seen != max(2 * asked, _SMALLEST_BUFFER[name]):
                yield Finding(
                    "window",
                    "invalid",
                    f"flow {number} asked for a window of {asked} bytes and {name} is {seen}, not twice that",
                    "the kernel does not allow this window",
                )


_SMALLEST_BUFFER = {"SO_SNDBUF": 4608, "SO_RCVBUF": 2304}
"""SOCK_MIN_SNDBUF and SOCK_MIN_RCVBUF of x86-64: the kernel raises smaller ones to these."""


def _auto_window(number: int, rwnd_limited: float | None, sndbuf_limited: float | None) -> Iterator[Finding]:
    for share, what in ((rwnd_limited, "the receiver's window"), (sndbuf_limited, "the sender's buffer")):
        if share is not None and share > LIMITED_SHARE:
            yield Finding(
                "window",
                "suspect",
                f"{what} held flow {number} back for {share:.0%} of the time, though its window is auto",
                "the profile then shows the hosts, not the path: look at rwnd and sndbuf in the samples",
            )


def _host_counters(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    for name, count in evidence.host_counters.items():
        yield Finding(
            "memory",
            "suspect",
            f"{name} rose by {count}",
            "a host, not the path, held the flows back: more memory",
        )


def _unexplained(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    """Retransmissions need a reason: a drop somewhere, or packets that overtook each other."""
    again = sum(flow.retransmits or 0 for flow in evidence.outcome.flows)
    stages = (*evidence.there, *evidence.back)
    dropped = sum(s.dropped_packets + s.queue_drops + s.delay_drops for s in stages)
    reorders = any(s.stage.asked.jitter for s in stages)
    if again and not dropped and not reorders:
        yield Finding(
            "retransmissions",
            "suspect",
            f"{again} segments were sent again, though no emulator dropped any",
            "something else loses packets, or the sender takes delay for loss",
        )


def _cpu(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    if evidence.cpu_busy is not None and evidence.cpu_busy > CPU_BUSY:
        yield Finding(
            "CPU",
            "suspect",
            f"{evidence.cpu_busy:.0%} of the machine's CPU time was used",
            "the machine may be what limits: run fewer flows or a lower rate, or use kernel: lab",
        )


def _captures(trial: Trial, plan: Plan, evidence: Evidence) -> Iterator[Finding]:
    if evidence.captures_dropped:
        yield Finding(
            "capture",
            "suspect",
            f"captures missed {evidence.captures_dropped} packets",
            "use a smaller snaplen",
        )


Check: TypeAlias = Callable[[Trial, Plan, Evidence], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    _rtt,
    _set_up,
    _rate,
    _frame_size,
    _periodic_loss,
    _random_loss,
    _device_drops,
    _no_data,
    _congestion,
    _window,
    _host_counters,
    _unexplained,
    _cpu,
    _captures,
)
