"""Parts of a trial's result: nodes with a kernel or programs of their own, TCLinks, queues, faults, buckets, traces.

Pure, no I/O.

Base units; absent is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .record import ABSENT_IF_EMPTY, POSITIVE, SIGNED


@dataclass(frozen=True)
class VmResult:
    """One virtual machine. `accelerator` is `kvm`, `tcg` (emulated) or `tcg, counted instructions` (emulated in virtual
    time, by a processor of the speed `cpu`); `why_no_kvm` says why KVM was not used.

    `boot_s` is the time from its start to the first answer of its agent. `kernel` is the name of the kernel that was
    asked for, or `image` the disk that it booted from. `cpu_busy` is the share of time that its processors were busy
    while the workload ran (None if the workload has no end in it); `host_cpus` is how many processors of this computer
    QEMU used (None in virtual time).
    """

    accelerator: str
    why_no_kvm: str | None
    qemu: str
    boot_s: float
    kernel_release: str
    kernel: str | None
    image: str | None
    memory_bytes: int
    cpus: int
    model: str
    vhost: bool
    cpu_busy: float | None
    host_cpus: float | None
    cpu: str | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class MachineResult:
    """One real machine. `release` is that of its kernel, `host` its own name; `versions` maps programs to versions.

    Its CLOCK_MONOTONIC was ahead of ours by `clock_ahead_ns`, measured with the quickest of a few round trips.
    `reached_s` is how long connecting took. `cpu_busy` is as in VmResult.
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


@dataclass(frozen=True)
class SwitchResult:
    """One Open vSwitch. `datapath` is the one that ran (kernel, user); `flows_` counts the entries of its tables.

    `ports` maps OpenFlow port numbers to how much each counter rose while the workload ran. In that time the datapath
    forwarded `hit_packets` by itself and asked ovs-vswitchd about `missed_packets`. `lost_packets` did not reach
    ovs-vswitchd in the whole trial. `connected_` says whether it was connected to its controller; None if it has none.
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
class PacedResult:
    """What queueing disciplines of ours did in one direction of a link."""

    shaper: ShaperResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    policer: PolicerResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    trace: TraceResult | None = field(default=None, metadata=ABSENT_IF_EMPTY)


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
