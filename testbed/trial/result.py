"""A trial's result, as result.json stores it and `testbed results` prints it. Pure, no I/O; imports no pyroute2.

Fields are written in this order; results of earlier versions may lack those with a default. Base units: s, bit/s,
bytes, packets, fractions from 0 to 1. Absent is None. The same trial again, in virtual time, differs in NOT_REPEATED
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from ..codec.frozen import dataclass
from . import record
from .law import ASKED, NEVER_ZERO, POSITIVE, SIGNED
from .record import ABSENT_IF_EMPTY, NOT_STORED

SCHEMA = 1
NOT_REPEATED = ("wall_s", "cpu_s")
"""The fields that differ from run to run, and stand in host.json."""

Verdict: TypeAlias = Literal["valid", "suspect", "invalid"]


@dataclass(frozen=True)
class Finding:
    """Something to read before trusting a result; with the verdict `valid`, a note. `hint` says what to do about it."""

    check: str
    verdict: Verdict
    text: str
    hint: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text} ({self.hint})"


@dataclass(frozen=True)
class FlowResult:
    """One flow. `goodput_bps` counts the payload that the receiver got in order, during the flow's own steady state,
    and no more than what arrived in that time. Of flows that start apart, `part_bps` is the part of the trial's
    goodput: what the receiver got in the time over which that is counted (None: they start together).

    `retransmits` counts segments over the flow's life. `sndbuf_bytes` and `rcvbuf_bytes` are the kernel's sizes of the
    two sockets' buffers (twice what was asked). The `_limited` are fractions of the time in which the flow had data to
    send. Linux takes a jiffy for an RTT of 0. A field is None if the tool does not report it.
    """

    goodput_bps: float | None
    retransmits: int | None
    rtt_min_s: float | None = field(metadata=NEVER_ZERO)
    congestion: str | None
    port: int | None = field(default=None, metadata=NEVER_ZERO)
    received_bytes: int | None = None
    sndbuf_bytes: int | None = field(default=None, metadata=NEVER_ZERO)
    rcvbuf_bytes: int | None = field(default=None, metadata=NEVER_ZERO)
    snd_wnd_bytes: int | None = None
    mss_bytes: int | None = field(default=None, metadata=NEVER_ZERO)
    busy_s: float | None = None
    rwnd_limited: float | None = None
    sndbuf_limited: float | None = None
    part_bps: float | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class Asked:
    """What was asked of the workload's path: `rtt_s`, the `rate_bps` of its slowest link (None: unlimited), and how
    many of the data packets its periodic losses should have dropped (None: no such loss). The others are None.
    """

    rtt_s: float
    rate_bps: float | None = field(metadata=POSITIVE)
    data_packets: int | None = None
    dropped_packets: int | None = None
    queue_drops: int | None = None


@dataclass(frozen=True)
class Seen:
    """What was seen of the same path. RTTs are those of pings (None: no reply came). `rate_bps` is the highest rate
    that its slowest emulator carried over one sample interval (None: unlimited, or not sampled).
    `data_packets` and `dropped_packets` are counted at the periodic loss (None: there is no emulator), `random_drops`
    at the random loss in the data's direction; of both directions `queue_drops` at full buffers, and `aqm_drops`,
    `marks` and `filtered_acks` of queues that signal congestion (None: none was asked, or not to filter ACKs).
    """

    rtt_s: float | None
    rtt_max_s: float | None = None
    rate_bps: float | None = None
    data_packets: int | None = None
    dropped_packets: int | None = None
    random_drops: int | None = None
    queue_drops: int | None = None
    aqm_drops: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    marks: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    filtered_acks: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class RandomLossResult:
    """What the data say of a random loss: of `packets`, `dropped` were lost where the share `asked` was to be, in the
    long run. `low` and `high` are the shares that the drops do not exclude (with a confidence of 95 %, Clopper and
    Pearson); None for a loss in bursts, whose drops depend on one another.
    """

    asked: float
    packets: int
    dropped: int
    low: float | None
    high: float | None


@dataclass(frozen=True)
class VmResult:
    """One virtual machine. `accelerator` is `kvm`, `tcg` (emulated) or `tcg, counted instructions` (emulated in virtual
    time, by a processor of the speed `cpu`); `why_no_kvm` says why KVM was not used.

    `boot_s` is the time from its start to the first answer of its agent. `kernel` is the name of the kernel that was
    asked for, or `image` the disk that it booted from. `cpu_busy` is the share of time that its processors were busy
    while the workload ran (None if the workload has no end in it); `host_cpus` is how many processors of this computer
    QEMU used (None in virtual time).

    Not stored is `busy_s`, for how long its processors were busy, each.
    """

    accelerator: str
    why_no_kvm: str | None
    qemu: str
    boot_s: float
    kernel_release: str
    kernel: str | None = field(metadata=ASKED)
    image: str | None = field(metadata=ASKED)
    memory_bytes: int = field(metadata=ASKED)
    cpus: int = field(metadata=ASKED)
    model: str = field(metadata=ASKED)
    vhost: bool = field(metadata=ASKED)
    cpu_busy: float | None
    host_cpus: float | None
    cpu: str | None = field(default=None, metadata=ABSENT_IF_EMPTY | ASKED)
    busy_s: float | None = field(default=None, compare=False, metadata=NOT_STORED)


@dataclass(frozen=True)
class MachineResult:
    """One real machine. `release` is that of its kernel, `host` its own name; `versions` maps programs to versions.

    Its CLOCK_MONOTONIC was ahead of ours by `clock_ahead_ns`, measured with the quickest of a few round trips.
    `reached_s` is how long connecting took. `cpu_busy` is as in VmResult, `busiest_cpu` the same of its busiest
    processor.
    """

    release: str
    host: str
    architecture: str
    cpus: int
    versions: Mapping[str, str]
    clock_ahead_ns: int = field(metadata=SIGNED)
    round_trip_ns: int
    reached_s: float
    cpu_busy: float | None
    busiest_cpu: float | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class SwitchResult:
    """One Open vSwitch. `datapath` is the one that ran (kernel, user); `flows_` counts the entries of its tables.

    `ports` maps OpenFlow port numbers to how much each counter rose while the workload ran. In that time the datapath
    forwarded `hit_packets` by itself and asked ovs-vswitchd about `missed_packets`. `lost_packets` did not reach
    ovs-vswitchd in the whole trial. `connected_` says whether it was connected to its controller; None if it has none.
    Not stored are `protocols`, the versions that it offered at the end, where a controller says which; None elsewhere.
    """

    datapath: str
    version: str
    flows_before: int
    flows_after: int
    ports: Mapping[str, Mapping[str, int]] = field(metadata=SIGNED)
    hit_packets: int
    missed_packets: int
    lost_packets: int
    connected_before: bool | None
    connected_after: bool | None
    protocols: tuple[str, ...] | None = field(default=None, compare=False, metadata=NOT_STORED)


@dataclass(frozen=True)
class ControllerResult:
    """One OpenFlow controller. `packet_ins` counts the packets that each switch sent to it in the whole trial. `events`
    is its log; `ports` and `flows` are the answers to its monitor. Each has `time_s` from the workload's start.
    """

    packet_ins: Mapping[str, int]
    events: tuple[Mapping[str, Any], ...]
    ports: tuple[Mapping[str, Any], ...]
    flows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class SdnResult:
    """Switches and controllers by name."""

    switches: Mapping[str, SwitchResult]
    controllers: Mapping[str, ControllerResult]


@dataclass(frozen=True)
class RouteChange:
    """A change of a route, `time_s` from the workload's start, as `ip monitor` says it."""

    time_s: float = field(metadata=SIGNED)
    what: str


@dataclass(frozen=True)
class RouterResult:
    """One router with routing daemons or rules. All neighbours and routes were there `waited_s` after the first look
    (None: nobody waited). `neighbours_` are those that were there, as "ospf 10.0.0.2"; `routes` those after the
    workload, by network, each with its next hops and their devices. `rules` maps each rule of nftables, after its table
    and chain, to the packets that it met while the workload ran (None: it does not count).
    """

    waited_s: float | None = None
    neighbours_before: tuple[str, ...] = ()
    neighbours_after: tuple[str, ...] = ()
    routes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changes: tuple[RouteChange, ...] = ()
    rules: Mapping[str, int | None] = field(default_factory=dict, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class FaultResult:
    """What `fault` did from a time on, counted from the workload's start: of `packets` that it looked at it met `met`,
    and should have met `expected` (None: a share, left to chance).
    """

    fault: str
    from_s: float
    packets: int
    met: int
    expected: int | None


@dataclass(frozen=True)
class OutageResult:
    """A link that was down, in s from the workload's start; `to_s` None until the end. It lost `lost_packets`."""

    from_s: float
    to_s: float | None
    lost_packets: int


@dataclass(frozen=True)
class ShaperResult:
    """What a shaper did, from the look before the workload to the one after it. Bytes are those of whole frames.

    `knee_s` is when the credit was used up for the first time, counted from the workload's start, or from the first
    look if the tool does not report its start; None if it never was, or if that cannot be told. `used_up` says whether
    it ever was; None where that cannot be told, as it may be without samples. `least_credit_bytes` and `credit_bytes`
    are the least that any look saw (None: nobody looked meanwhile), and what was left.
    """

    asked_rate_bps: float = field(metadata=POSITIVE)
    burst_bytes: int
    refill_bps: float
    knee_s: float | None
    carried_bytes: int
    least_credit_bytes: int | None
    credit_bytes: int
    used_up: bool | None = None


@dataclass(frozen=True)
class PolicerResult:
    """What a policer did, in the same time: it passed `passed_bytes` and dropped the rest."""

    asked_rate_bps: float = field(metadata=POSITIVE)
    burst_bytes: int
    passed_bytes: int
    policed_bytes: int
    policed_packets: int


@dataclass(frozen=True)
class TraceResult:
    """What a link made of its trace. It began at `begin_ns` (CLOCK_MONOTONIC); until the look after the workload so
    many opportunities had come, and packets of `used_bytes` had left since the first look after the beginning.
    """

    file: str
    period_s: float
    mean_rate_bps: float = field(metadata=POSITIVE)
    begin_ns: int
    opportunities: int
    used_bytes: int


@dataclass(frozen=True)
class PerFlowResult:
    """What a cap of each flow did: of `flows` flows it passed `passed_bytes`. It dropped `dropped_packets`, which did
    not fit into the queue of their flow, or exceeded its burst. Of `capped_flows` something waited, or was dropped.
    """

    asked_rate_bps: float = field(metadata=POSITIVE)
    burst_bytes: int
    queue_bytes: int
    flows: int
    capped_flows: int
    passed_bytes: int
    dropped_bytes: int
    dropped_packets: int


@dataclass(frozen=True)
class PacedResult:
    """What queueing disciplines of ours did in one direction of a link."""

    shaper: ShaperResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    policer: PolicerResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    trace: TraceResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    per_flow: PerFlowResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class TclinkResult:
    """One end of a Mininet TCLink, at `node`; the fields have the same meaning as those of a stage."""

    link: str
    way: str
    node: str
    asked_rate_bps: float | None = field(metadata=POSITIVE)
    asked_delay_s: float
    limit_packets: int | None
    queue_drops: int
    peak_rate_bps: float | None
    max_backlog_packets: int | None


@dataclass(frozen=True)
class QueueResult:
    """A queue that was asked, by its `type` and in `words`. To signal congestion it dropped `aqm_drops` and set the ECN
    mark CE `marks` times; `queue_drops` of its stage are those of a full queue. `is_told_apart`: False where the kernel
    does not tell these from the former, and there may be some. `filtered_acks`: ACKs that cake dropped as a later one
    said the same; None if the queue does no such thing.
    """

    type: str
    words: str
    aqm_drops: int
    marks: int
    is_told_apart: bool = True
    filtered_acks: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class IntervalResult:
    """What was asked and seen during one state of a schedule. Times count from the workload's start.

    `late_s` is the time from when the change was due until it was done; None at the start. `asked_loss` is written as
    in a topology. Counts, and the meaning of None, are as in StageResult.
    """

    from_s: float
    to_s: float
    late_s: float | None = field(metadata=SIGNED)
    asked_rate_bps: float | None = field(metadata=POSITIVE)
    asked_delay_s: float
    asked_loss: object
    loss_phase: int
    buffer: int | None
    data_packets: int
    dropped_packets: int
    queue_drops: int
    random_drops: int
    peak_rate_bps: float | None
    random_loss: RandomLossResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    queue: QueueResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class PolicyResult:
    """What a volume policy did. Bytes are those of IP packets. `crossed_s` is when the volume was reached, counted from
    the workload's start, or from the first sample if the tool does not report its start; None if it was not reached.
    `_while_policed` refers to the longest row of sample intervals that all had drops, without its first and its last;
    None if there is none.
    """

    after_bytes: int
    asked_rate_bps: float = field(metadata=POSITIVE)
    bucket_bytes: int
    crossed_s: float | None
    offered_bytes: int
    policed_bytes: int
    policed_packets: int
    rate_while_policed_bps: float | None
    loss_while_policed: float | None


@dataclass(frozen=True)
class StageResult:
    """One direction (`way`) through the emulator of one link. `asked_delay_s` is one-way. `asked_rate_bps` None is
    unlimited; then there is no `buffer`, which is counted in `buffer_unit`.

    `loss_phase` is the number of data packets by which a periodic loss comes early. Drops are counted where they
    happen. Of the `data_packets` that came, a periodic loss dropped `dropped_packets` and should have dropped
    `expected_drops` (None: there is no such loss). A full buffer dropped `queue_drops`, a random loss
    `random_drops`. `oversize_packets` were larger than the MTU. `peak_rate_bps` and `max_backlog_packets` come from
    the samples; None without samples. `intervals` are the states of a schedule; empty without one. `more` has the
    other impairments that were asked, by key and in words. `random_loss` has the shares that the data exclude; None
    if none was asked, and with a schedule, whose `intervals` have it. In the `outages` the link was down; `paced`
    is of buckets. `queue` None is a fifo.
    """

    link: str
    way: str
    asked_rate_bps: float | None = field(metadata=POSITIVE)
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
    random_loss: RandomLossResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    faults: tuple[FaultResult, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    outages: tuple[OutageResult, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    paced: PacedResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    queue: QueueResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class CaptureResult:
    """The workload's data in a capture: the packets with payload, and the bytes of their payload.

    The `again_` fields count TCP packets that begin at the same sequence number as an earlier one. `largest_bytes` is
    the largest payload of a packet, and `span_s` the time from the first packet to the last; None without packets.
    """

    packets: int
    payload_bytes: int
    again_packets: int
    again_bytes: int
    largest_bytes: int | None
    span_s: float | None


@dataclass(frozen=True)
class EventResult:
    """An event of a link, the one in the line `entry` of its schedule, from 1: `when` is what was waited for. It came
    `at_s` after the workload's start and held until `until_s` (None: to the end); then the sender was in this `state`
    of recovery, and in this `phase` (None: its control tells none). Of one that never came these are None.
    """

    link: str
    entry: int
    when: str
    at_s: float | None = None
    until_s: float | None = None
    state: str | None = None
    phase: str | None = None


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """`goodput_bps` is the goodput of all flows together without the ramp, `ramp_goodput_bps` that of the ramp (None:
    no ramp was left out). It counts what arrived; where receivers handed over more in that time, as it had come
    before and waited for a lost segment, `handed_over_bps` says how much (None: no more). `stages` and `tclinks` are
    in the order in which the data passes them, then the answers.

    `measured` has what only this tool measures; `trial.measured` reads it. `captures` maps each file to the workload's
    data in it (None: it was not read), `nic` each host to its kind of NIC (offload, plain), `vms` and `machines` each
    such node to its result, `things` other subjects to what was seen of them. `schedule_events` are those of its links.
    `workload_s` is how long the workload took, and `steady_s` how long its ramp; None if the tool does not report it.
    `kernel` is where the trial ran (lab, lab-realtime, host), `kernel_release` the output of `uname -r` there. `lab_s`
    is emulated time. `wall_s` is real time, `cpu_s` the processor time of the guest (None: it was not measured); they
    never repeat, so result.json lacks them.
    """

    schema: int = SCHEMA
    id: str
    params: Mapping[str, str]
    seed: int
    repetition: int
    verdict: Verdict
    warnings: tuple[str, ...]
    findings: tuple[Finding, ...]
    goodput_bps: float | None
    ramp_goodput_bps: float | None = None
    handed_over_bps: float | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    flows: tuple[FlowResult, ...]
    asked: Asked
    seen: Seen
    stages: tuple[StageResult, ...]
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
    routers: Mapping[str, RouterResult] = field(default_factory=dict, metadata=ABSENT_IF_EMPTY)
    things: Mapping[str, Any] = field(default_factory=dict, metadata=ABSENT_IF_EMPTY)
    schedule_events: tuple[EventResult, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    wall_s: float = field(default=0.0, compare=False)
    cpu_s: float | None = field(default=None, compare=False)

    @property
    def is_virtual_time(self) -> bool:
        """Whether it ran in virtual time (`model.run_setting.Kernel`)."""
        return self.kernel == "lab"

    @property
    def is_usable(self) -> bool:
        """Whether means include it: it is not invalid, and has a goodput."""
        return self.verdict != "invalid" and self.goodput_bps is not None

    @property
    def usable_goodput_bps(self) -> float:
        """The goodput of a usable result."""
        assert self.goodput_bps is not None, "BUG: a result without goodput is not usable"
        return self.goodput_bps

    @property
    def rtt_off_s(self) -> float | None:
        """The difference between the RTT seen and the RTT asked; None if no ping got a reply."""
        return None if self.seen.rtt_s is None else abs(self.seen.rtt_s - self.asked.rtt_s)

    @property
    def retransmits(self) -> int | None:
        """The retransmitted segments of all flows that report them; None if no flow does."""
        counts = [flow.retransmits for flow in self.flows if flow.retransmits is not None]
        return sum(counts) if counts else None

    @property
    def periodic_drops(self) -> tuple[int | None, int | None]:
        """What periodic losses should have dropped, and what they dropped, on the way there and back; `asked` and
        `seen` have the data's way alone.
        """
        if not self.stages:
            return self.asked.dropped_packets, self.seen.dropped_packets
        asked = [each.expected_drops for each in self.stages if each.expected_drops is not None]
        return sum(asked) if asked else None, sum(each.dropped_packets for each in self.stages)

    @property
    def random_drops(self) -> int | None:
        """What random losses dropped on the way there and back; `seen` has the data's way alone."""
        return sum(each.random_drops for each in self.stages) if self.stages else self.seen.random_drops

    @property
    def policed_packets(self) -> int | None:
        """The packets that volume policies, policers and caps of flows dropped; None without one."""
        paced = [each.paced for each in self.stages if each.paced]
        found = (*(each.policy for each in self.stages), *(each.policer for each in paced))
        counts = [each.policed_packets for each in found if each is not None]
        counts += [each.per_flow.dropped_packets for each in paced if each.per_flow is not None]
        return sum(counts) if counts else None

    @property
    def shares(self) -> tuple[float, ...]:
        """Each flow's share of the goodput of all; empty if that of a flow is not known, or all got nothing."""
        parts = [flow.part_bps for flow in self.flows]
        rates = [flow.goodput_bps for flow in self.flows] if None in parts else parts
        known = [rate for rate in rates if rate is not None]
        return tuple(rate / sum(known) for rate in known) if sum(known) and len(known) == len(rates) else ()

    @property
    def received_bytes(self) -> int | None:
        """What all receivers got over the whole workload; None without flows, or if a flow does not report it."""
        counts = [flow.received_bytes for flow in self.flows if flow.received_bytes is not None]
        return sum(counts) if counts and len(counts) == len(self.flows) else None

    def to_dict(self) -> dict[str, Any]:
        """What `testbed results --format json` prints."""
        return record.write(self)  # type: ignore[no-any-return]

    def stored(self) -> dict[str, Any]:
        """What result.json holds: all but what differs from run to run."""
        return {key: value for key, value in self.to_dict().items() if key not in NOT_REPEATED}
