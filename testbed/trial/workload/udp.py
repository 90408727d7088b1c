"""The workload `udp`: datagrams at a constant rate by our own program (see native/udp.c)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import ClassVar

from ...codec.fault import refuse
from ...codec.frozen import dataclass
from ...kernel.guest import TrialError
from ...model.data_path import DataPath
from ...model.network_need import datagram_fault
from ...model.workload import UdpWorkload
from ...model.workload.udp import HEADERS_BYTES as HEADERS_BYTES
from ...plan.link.impairment import TICK_NS
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Step
from .. import record
from ..evidence.case import Case, Slack
from ..evidence.outcome import Outcome
from ..evidence.stage import StageEvidence
from ..measured import ToolResult
from ..result import Finding, FlowResult, Verdict
from .tool import Tool, other_load, rises


@dataclass(frozen=True)
class UdpSecond:
    """One second of all flows. Arrived datagrams count in the second of arrival, lost ones in the second of sending."""

    time_s: float
    goodput_bps: float
    sent_datagrams: int
    lost_datagrams: int
    arrived_datagrams: int


@dataclass(frozen=True, kw_only=True)
class UdpResult(ToolResult):
    """All flows together. `loss` is lost over sent. `duplicates` came twice; the receiver's socket threw away
    `receiver_drops`, damaged ones too. `jitter_s` is the jitter of RFC 3550 at the end, `jitter_mean_s` its mean.
    Delays are one-way, and None if nothing arrived. `send_late_max_s` is how late a datagram left at most. iperf3
    reports only the fields without a default.
    """

    KEY: ClassVar[str] = "udp"

    offered_bps: float
    burst_datagrams: int | None = None
    sent_datagrams: int
    arrived_datagrams: int
    lost_datagrams: int
    loss: float | None = None
    duplicates: int | None = None
    out_of_order_datagrams: int
    receiver_drops: int | None = None
    jitter_s: float | None
    jitter_mean_s: float | None = None
    delay_min_s: float | None = None
    delay_mean_s: float | None = None
    delay_max_s: float | None = None
    received_bytes: int | None = None
    send_late_max_s: float | None = None
    series: tuple[UdpSecond, ...] = ()


OUTPUT = "udp.out"
GROUPS_MAX = 10_000
"""The most groups of datagrams in a second. Each costs the sender two system calls, which take most of the wall time in
virtual time. A faster flow sends several datagrams at once, as a NIC with segmentation does."""

LINGER_NS = 1_000_000_000
"""The receiver goes on for a round trip and this much after the last datagram that arrived."""


def burst(rate_bps: int, length_bytes: int) -> int:
    """Datagrams in a group: as few as keep the groups in a second to GROUPS_MAX."""
    return max(1, -(-rate_bps // (8 * length_bytes * GROUPS_MAX)))


def sends_every_ns(workload: UdpWorkload) -> int:
    """The time between two groups of datagrams of a flow, rounded up."""
    return -(-8 * 10**9 * workload.length_bytes * _burst(workload) // workload.rate_bps)


def words(
    data_path: DataPath, *, port: int, rate_bps: int, length_bytes: int, duration_ns: int, flows: int, burst: int
) -> list[str]:
    """The program and its options. Raises UserError for datagrams that would be cut into fragments."""
    refuse(datagram_fault(length_bytes, data_path))
    return [
        "/run/tools/udp",
        *("--from", node_netns(data_path.source), "--to", node_netns(data_path.destination)),
        *("--address", str(data_path.destination_ip), "--port", str(port), "--length", str(length_bytes)),
        *("--rate", str(rate_bps), "--duration", str(duration_ns), "--linger", str(data_path.rtt_ns + LINGER_NS)),
        *("--flows", str(flows), "--burst", str(burst)),
    ]


def steps(workload: UdpWorkload, plan: Plan, seed: int) -> list[Step]:
    """One step."""
    assert plan.data_path is not None, "BUG: a plan without a workload"
    run = words(
        plan.data_path,
        port=workload.data_ports.destination[0],
        rate_bps=workload.rate_bps,
        length_bytes=workload.length_bytes,
        duration_ns=workload.duration_ns,
        flows=workload.flows,
        burst=_burst(workload),
    )
    return [Run(tuple(run), "udp", out=OUTPUT)]


@dataclass(frozen=True)
class UdpFlow:
    """What udp.c reports on a flow. `first_ns` and `last_ns` are the times of arrivals, counted from the start."""

    port: int
    sent: int
    arrived: int
    twice: int
    overtaken: int
    overflowed: int
    jitter_ns: float
    jitters_ns: float
    delay_min_ns: int
    delays_ns: float
    delay_max_ns: int
    first_ns: int
    last_ns: int
    late_ns: int


@dataclass(frozen=True)
class UdpOutput:
    """All that udp.c reports. `seconds` maps each second to what was sent, lost of that, and arrived in it."""

    begin_ns: int
    end_ns: int
    flows: tuple[UdpFlow, ...]
    seconds: dict[int, tuple[int, int, int]]
    length_bytes: int

    def goodput_bps(self, flow: UdpFlow, rate_bps: int) -> float:
        """Over the time of sending or of receiving, whichever is longer: a queue goes on after the sender, and a path
        may stop before it. What is sent takes its time at `rate_bps`, the last group too. The first datagram opens the
        time of receiving, and does not count in it.
        """
        sending_s = max((self.end_ns - self.begin_ns) / 1e9, flow.sent * self.length_bytes * 8 / rate_bps)
        receiving_s = (flow.last_ns - flow.first_ns) / 1e9
        if receiving_s >= sending_s:
            return (flow.arrived - 1) * self.length_bytes * 8 / receiving_s if receiving_s else 0.0
        return flow.arrived * self.length_bytes * 8 / sending_s

    @property
    def sent(self) -> int:
        return sum(each.sent for each in self.flows)

    @property
    def arrived(self) -> int:
        return sum(each.arrived for each in self.flows)

    def result(self, rate_bps: int, burst: int) -> UdpResult:
        """All flows together, each of which sends at `rate_bps` in groups of `burst` datagrams."""
        flows, sent, arrived = self.flows, self.sent, self.arrived
        heard = [each for each in flows if each.arrived]
        steps = sum(each.arrived - 1 for each in heard)
        return UdpResult(
            offered_bps=rate_bps * len(flows),
            burst_datagrams=burst,
            sent_datagrams=sent,
            arrived_datagrams=arrived,
            lost_datagrams=sent - arrived,
            loss=(sent - arrived) / sent if sent else None,
            duplicates=sum(each.twice for each in flows),
            out_of_order_datagrams=sum(each.overtaken for each in flows),
            receiver_drops=sum(each.overflowed for each in flows),
            jitter_s=sum(each.jitter_ns for each in heard) / len(heard) / 1e9 if heard else None,
            jitter_mean_s=sum(each.jitters_ns for each in heard) / steps / 1e9 if steps else None,
            delay_min_s=min(each.delay_min_ns for each in heard) / 1e9 if heard else None,
            delay_mean_s=sum(each.delays_ns for each in heard) / arrived / 1e9 if heard else None,
            delay_max_s=max(each.delay_max_ns for each in heard) / 1e9 if heard else None,
            received_bytes=arrived * self.length_bytes,
            send_late_max_s=max(each.late_ns for each in flows) / 1e9,
            series=tuple(self._series()),
        )

    def _series(self) -> Iterator[UdpSecond]:
        for second, (sent, lost, arrived) in sorted(self.seconds.items()):
            yield UdpSecond(second, arrived * self.length_bytes * 8, sent, lost, arrived)


def parse(text: str, length_bytes: int) -> UdpOutput:
    """Raises TrialError if the text is not whole."""
    times: dict[str, int] = {}
    flows: list[UdpFlow] = []
    seconds: dict[int, tuple[int, int, int]] = {}
    for line in text.splitlines():
        kind, *found = line.split()
        if kind in ("start", "end"):
            times[kind] = int(found[0])
        elif kind == "flow":
            flows.append(_flow(found[1:]))
        elif kind == "second":
            before = seconds.get(int(found[1]), (0, 0, 0))
            sent, lost, arrived = (old + int(new) for old, new in zip(before, found[2:], strict=True))
            seconds[int(found[1])] = (sent, lost, arrived)
    if "end" not in times or not flows:
        raise TrialError(f"udp did not run to its end: it wrote {text.strip()[:200] or 'nothing'!r}")
    return UdpOutput(times["start"], times["end"], tuple(flows), seconds, length_bytes)


def read(workload: UdpWorkload, folder: Path) -> Outcome:
    """Parses the lines that udp.c describes."""
    written = parse((folder / OUTPUT).read_text(), workload.length_bytes)
    if len(written.flows) != workload.flows:
        raise TrialError(f"{OUTPUT} tells of {len(written.flows)} flows, asked were {workload.flows}")
    flows = tuple(
        FlowResult(
            goodput_bps=written.goodput_bps(each, workload.rate_bps),
            retransmits=None,
            rtt_min_s=None,
            congestion=None,
            port=each.port,
            received_bytes=each.arrived * workload.length_bytes,
        )
        for each in written.flows
    )
    goodput_bps = sum(flow.goodput_bps or 0.0 for flow in flows)
    measured = {UdpResult.KEY: record.write(written.result(workload.rate_bps, _burst(workload)))}
    return Outcome(written.begin_ns, None, written.end_ns, goodput_bps, None, flows, measured)


def _burst(workload: UdpWorkload) -> int:
    return workload.burst or burst(workload.rate_bps, workload.length_bytes)


def _flow(found: list[str]) -> UdpFlow:
    kinds = (field.type for field in fields(UdpFlow))
    if len(found) != len(fields(UdpFlow)):
        raise TrialError(f"udp wrote a flow with {len(found)} numbers")
    return UdpFlow(*(float(word) if kind == "float" else int(word) for kind, word in zip(kinds, found, strict=True)))  # type: ignore[arg-type]


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
NEAR = 1e-6
"""The relative difference of numbers that were rounded or came from a division."""
STILL_S = 1e-6
"""Delays that differ by no more may have no jitter."""
LATE_S = Slack(1e-3, 0.1)
"""How late a datagram may leave."""
DATAGRAMS_TOLERANCE = 0.02
"""A share of what was to be sent. iperf3 sends in steps of a millisecond."""


def datagram_faults(case: Case, found: UdpResult) -> Iterator[str]:
    sent, arrived, lost = found.sent_datagrams, found.arrived_datagrams, found.lost_datagrams
    if arrived + lost != sent:
        yield f"{sent} datagrams were sent, {arrived} arrived and {lost} were lost"
    received = case.evidence.outcome.received_bytes
    if (received > 0) != (arrived > 0) or found.received_bytes not in (None, received):
        yield f"{arrived} datagrams arrived, with {received} bytes in flows and {found.received_bytes} in all"
    if sent and not found.offered_bps:
        yield f"{sent} datagrams were sent at {found.offered_bps} bit/s"


def faults(case: Case, found: UdpResult) -> Iterator[str]:
    """What every tool tells of datagrams, then what only ours tells."""
    yield from datagram_faults(case, found)
    received = case.evidence.outcome.received_bytes
    sent, arrived, lost = found.sent_datagrams, found.arrived_datagrams, found.lost_datagrams
    if found.offered_bps != case.trial.workload.unyielding_bps:
        yield f"{found.offered_bps:g} bit/s were offered, asked were {case.trial.workload.unyielding_bps}"
    if (found.loss is None) != (sent == 0) or (found.loss is not None and abs(found.loss - lost / sent) > NEAR):
        yield f"a loss of {found.loss}, where {lost} of {sent} datagrams were lost"
    sums = [sum(getattr(each, name) for each in found.series) for name in SECONDS]
    if sums != [sent, lost, arrived] or not rises([each.time_s for each in found.series]):
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
    if len(case.evidence.outcome.flows) == 1 and high - low > STILL_S and not found.jitter_mean_s:
        yield f"delays of {low} to {high} s without jitter"


def _least_ns(each: StageEvidence) -> int:
    """The delay is set up in ticks."""
    return min(0 if state.asked.jitter else state.asked.delay_ns - TICK_NS for state in each.stage.history)


def datagrams(case: Case, udp: UdpResult) -> Iterator[Finding]:
    """As many were sent as the rate makes of the duration."""
    load = case.trial.workload.load
    length_bytes = load[0].datagram_bytes if len(load) == 1 else None
    length_ns, asked_bps = case.trial.workload.length_ns, case.trial.workload.unyielding_bps
    if length_bytes is None or length_ns is None or not asked_bps:
        return
    asked = asked_bps * length_ns / (8e9 * length_bytes)
    slack = asked * DATAGRAMS_TOLERANCE + 2 * len(case.trial.workload.asked_flows) * (udp.burst_datagrams or 1)
    if abs(udp.sent_datagrams - asked) > slack:
        verdict: Verdict = "invalid" if case.virtual or udp.sent_datagrams > asked else "suspect"
        yield other_load(f"{udp.sent_datagrams} datagrams were sent, asked were {asked:.0f}", verdict)


def sender(case: Case, udp: UdpResult) -> Iterator[Finding]:
    """If datagrams leave late, the offered rate is not the rate that was asked."""
    late_s = udp.send_late_max_s
    if late_s is not None and late_s > case.slack(LATE_S):
        yield Finding(
            "sender",
            "suspect",
            f"datagrams were sent up to {late_s * 1e3:.3g} ms late",
            "the machine is too slow for this rate: use a lower rate, larger bursts, or kernel: lab",
        )


def receiver(case: Case, udp: UdpResult) -> Iterator[Finding]:
    """Datagrams that were lost in the receiver's socket do not count as lost on the path."""
    damaged = case.checksum_errors  # the socket counts them, too; another check looks at them
    lost = (udp.receiver_drops or 0) - damaged
    if lost > 0:
        yield Finding(
            "receiver",
            "suspect",
            f"{lost} datagrams were lost in the receiver's socket",
            "the machine is too slow for this rate: use a lower rate, or kernel: lab",
        )


TOOL = Tool(
    UdpWorkload,
    steps=steps,
    read=read,
    begin=None,
    tells=frozenset({"begin_ns", "end_ns", "goodput_bps", "port", "received_bytes"}),
    result=UdpResult,
    faults=faults,
    checks=(datagrams,),
    host_checks=(sender, receiver),
)
