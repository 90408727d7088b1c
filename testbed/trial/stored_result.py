"""A trial's result, as result.json has it and `testbed results` prints it. Pure, no I/O.

Fields stand in the order in which they are written; one with a default may be missing in results of earlier versions.
Base units: s, bit/s, bytes, packets, fractions from 0 to 1. Absent is None. Everything but `wall_s` is the same when
the same trial runs again in virtual time. Loads neither the world nor pyroute2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from . import record
from .node_result import MachineResult, SdnResult, VmResult
from .record import ABSENT_IF_EMPTY

SCHEMA = 1

Verdict: TypeAlias = Literal["valid", "suspect", "invalid"]


@dataclass(frozen=True)
class Finding:
    """Something to read before trusting a result; with the verdict `valid` a note. `hint` says what to do about it."""

    check: str
    verdict: Verdict
    text: str
    hint: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text} ({self.hint})"


@dataclass(frozen=True)
class FlowResult:
    """One flow. `goodput_bps` is payload that the receiver got in order, over the flow's own steady state.

    `retransmits` are segments over the flow's life; `sndbuf_bytes` and `rcvbuf_bytes` what the kernel says of the two
    sockets (twice what was asked); the `_limited` are fractions of the time in which the flow had data to send.
    None is what the tool does not tell.
    """

    goodput_bps: float | None
    retransmits: int | None
    rtt_min_s: float | None
    congestion: str | None
    port: int | None = None
    received_bytes: int | None = None
    sndbuf_bytes: int | None = None
    rcvbuf_bytes: int | None = None
    snd_wnd_bytes: int | None = None
    mss_bytes: int | None = None
    busy_s: float | None = None
    rwnd_limited: float | None = None
    sndbuf_limited: float | None = None


@dataclass(frozen=True)
class Asked:
    """What the path of the workload was asked to be: `rtt_s` there and back, `rate_bps` of its slowest link (None:
    unlimited), and how many of the data packets that came its periodic losses should have dropped (None: no such loss).
    `data_packets` and `queue_drops` are asked by nobody: None.
    """

    rtt_s: float
    rate_bps: float | None
    data_packets: int | None = None
    dropped_packets: int | None = None
    queue_drops: int | None = None


@dataclass(frozen=True)
class Seen:
    """What the same path was. RTTs are those of pings (None: none came back), `rate_bps` the highest rate that its
    slowest emulator carried over one sample interval (None: unlimited, or not sampled).

    `data_packets` and `dropped_packets` are counted where periodic loss is (None: there is no emulator), `random_drops`
    where random loss is, in the data's direction, and `queue_drops` in full buffers of either direction.
    """

    rtt_s: float | None
    rtt_max_s: float | None = None
    rate_bps: float | None = None
    data_packets: int | None = None
    dropped_packets: int | None = None
    random_drops: int | None = None
    queue_drops: int | None = None


@dataclass(frozen=True)
class IntervalResult:
    """What was asked while one state of a schedule held, and what was seen; times count from the workload's start.

    `late_s` is from when the change was due to when it was done; None at the start. `asked_loss` is as a topology
    writes it. Counts and None as in StageResult.
    """

    from_s: float
    to_s: float
    late_s: float | None
    asked_rate_bps: float | None
    asked_delay_s: float
    asked_loss: object
    loss_phase: int
    buffer: int | None
    data_packets: int
    dropped_packets: int
    queue_drops: int
    random_drops: int
    peak_rate_bps: float | None


@dataclass(frozen=True)
class PolicyResult:
    """What a volume policy did. Bytes are of IP packets. `crossed_s` is when the volume was reached, counted from the
    workload's start, or from the first sample where the tool does not tell; None if it was not. `_while_policed` is the
    longest time in which packets were dropped in every sample interval; None if there is none.
    """

    after_bytes: int
    asked_rate_bps: float
    bucket_bytes: int
    crossed_s: float | None
    offered_bytes: int
    policed_bytes: int
    policed_packets: int
    rate_while_policed_bps: float | None
    loss_while_policed: float | None


@dataclass(frozen=True)
class StageResult:
    """One direction (`way`) through the emulator of one link. `asked_delay_s` is one-way; `asked_rate_bps` None is
    unlimited, and then there is no `buffer`, which is counted in `buffer_unit`.

    `loss_phase` is which of so many packets a periodic loss drops first. Drops are counted where they are made:
    `dropped_packets` by a periodic loss of the `data_packets` that came, where `expected_drops` should have been (None:
    there is no such loss); `queue_drops` because the buffer was full; `random_drops` by a random loss.
    `oversize_packets` were larger than the MTU. `peak_rate_bps` and `max_backlog_packets` are of the samples; None
    without. `intervals` are the states of a schedule, empty without one. `more` has the other impairments that
    were asked for, by key and in words.
    """

    link: str
    way: str
    asked_rate_bps: float | None
    asked_delay_s: float
    buffer: int | None
    buffer_unit: str | None
    loss_phase: int
    data_packets: int
    dropped_packets: int
    expected_drops: int | None
    queue_drops: int
    random_drops: int
    oversize_packets: int
    peak_rate_bps: float | None
    max_backlog_packets: int | None
    intervals: tuple[IntervalResult, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    policy: PolicyResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    more: Mapping[str, str] = field(default_factory=dict, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class TclinkResult:
    """One end of a Mininet TCLink, at `node`; the values mean what they mean in StageResult."""

    link: str
    way: str
    node: str
    asked_rate_bps: float | None
    asked_delay_s: float
    limit_packets: int | None
    queue_drops: int
    peak_rate_bps: float | None
    max_backlog_packets: int | None


@dataclass(frozen=True)
class CaptureResult:
    """The workload's data in a capture: packets with payload, and the bytes of that.

    Those `again` are TCP packets that begin where one began before. `largest_bytes` is the most in one packet, and
    `span_s` the time from the first to the last; None without any.
    """

    packets: int
    payload_bytes: int
    again_packets: int
    again_bytes: int
    largest_bytes: int | None
    span_s: float | None


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """`goodput_bps` is that of all flows together without the ramp, `ramp_goodput_bps` that of the ramp (None: none was
    left out). `stages` and `tclinks` are in the order that the data pass them, then those of the answers.

    `measured` has what only this tool measures; `trial.measured` reads it. `captures` maps each file to what it shows
    (None: it was not read), `nic` each host to its network card (offload, plain), `vms` and `machines` each such node
    to what is known of it. `workload_s` is how long the workload took and `steady_s` how long its ramp; None where the
    tool does not tell. `kernel` is where it ran (lab, lab-realtime, host), `kernel_release` what `uname -r` said there.
    `lab_s` is emulated time, `wall_s` real time: result.json does not have it, for it never repeats.
    """

    schema: int = SCHEMA
    id: str
    params: Mapping[str, str]
    seed: int
    repetition: int
    verdict: Verdict
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    goodput_bps: float | None
    ramp_goodput_bps: float | None = None
    flows: tuple[FlowResult, ...]
    asked: Asked
    seen: Seen
    stages: tuple[StageResult, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)
    captures: Mapping[str, CaptureResult | None] = field(default_factory=dict)
    workload_s: float | None = None
    steady_s: float | None = None
    ip_version: int | None = None
    nic: Mapping[str, str] = field(default_factory=dict)
    pacing: str | None = None
    vms: Mapping[str, VmResult] = field(default_factory=dict)
    engine: str | None = None
    mininet_version: str | None = None
    tclinks: tuple[TclinkResult, ...] = ()
    kernel: str
    kernel_release: str
    lab_s: float
    machines: Mapping[str, MachineResult] = field(default_factory=dict, metadata=ABSENT_IF_EMPTY)
    sdn: SdnResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    wall_s: float = 0.0

    @property
    def is_usable(self) -> bool:
        """Whether it counts in means: it is not invalid, and has a goodput."""
        return self.verdict != "invalid" and self.goodput_bps is not None

    @property
    def usable_goodput_bps(self) -> float:
        """The goodput of a result that is usable."""
        assert self.goodput_bps is not None, "BUG: a result without goodput is not usable"
        return self.goodput_bps

    @property
    def rtt_off_s(self) -> float | None:
        """How far the RTT that was seen is from the one that was asked; None if no ping came back."""
        return None if self.seen.rtt_s is None else abs(self.seen.rtt_s - self.asked.rtt_s)

    @property
    def retransmits(self) -> int | None:
        """Segments that were sent again, of all flows that tell; None if none does."""
        counts = [flow.retransmits for flow in self.flows if flow.retransmits is not None]
        return sum(counts) if counts else None

    @property
    def received_bytes(self) -> int | None:
        """What all receivers got over the whole workload; None unless every flow tells, or without flows."""
        got = [flow.received_bytes for flow in self.flows if flow.received_bytes is not None]
        return sum(got) if got and len(got) == len(self.flows) else None

    def to_dict(self) -> dict[str, Any]:
        """What `testbed results --format json` prints."""
        return record.write(self)  # type: ignore[no-any-return]

    def stored(self) -> dict[str, Any]:
        """What result.json holds: all but what differs from run to run."""
        return {key: value for key, value in self.to_dict().items() if key != "wall_s"}
