"""Evidence: what a trial's folder says about the network and about what ran over it. Reads files of that folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...plan.link.stage import ETHERNET_BYTES, Stage
from ...plan.link.tclink import TcPort
from ..measured import PingResult
from ..node_result import MachineResult
from ..observe.readback import Qdisc
from ..observe.sample import (
    QueueSample,
    TcpSample,
)
from ..orders.openflow_dump import OpenFlowEvidence
from ..stored_result import CaptureResult
from ..workload.outcome import Outcome
from .interval import (
    Interval,
    LossCount,
    Timeline,
    peak_rate_bps,
)
from .policing import Policed
from .vm import VmEvidence


@dataclass(frozen=True)
class StageEvidence:
    """One direction through one emulator, while the workload ran.

    `data_packets` were counted where periodic loss is; `oversize_packets` of them were larger than the MTU, and
    `dropped_packets` were dropped by a periodic loss. `queue_drops` were dropped because the buffer was full,
    `delay_drops` where the delay is: that is random loss, and nothing else may be. `delay_packets` went on from there.
    `qdiscs` maps handle to what the kernel says was set up; `samples` are those of the bottleneck's buffer. With a
    schedule, `intervals` and `losses` tell the same for each of its states; `policed` is what a policy did.
    """

    link: str
    mtu_bytes: int
    stage: Stage
    data_packets: int
    oversize_packets: int
    dropped_packets: int
    queue_drops: int
    delay_drops: int
    delay_packets: int
    qdiscs: Mapping[str, Qdisc]
    samples: tuple[QueueSample, ...]

    intervals: tuple[Interval, ...] = ()
    losses: tuple[LossCount, ...] = ()
    policed: Policed | None = None

    @property
    def peak_rate_bps(self) -> float | None:
        """The highest rate of frames that it carried, whenever that was."""
        return peak_rate_bps(self.samples, self.stage.asked.rate_bps, self.mtu_bytes + ETHERNET_BYTES)

    @property
    def explained_drops(self) -> int:
        """Those that a loss, a buffer or a policy makes."""
        policed = self.policed.policed_packets if self.policed else 0
        return self.dropped_packets + self.queue_drops + self.delay_drops + policed


@dataclass(frozen=True)
class TcEvidence:
    """One end of a TCLink, while the workload ran.

    `rate_bps` and `netem` are what the kernel says was set up, None where there is none. `drops` were dropped because
    the queue was full; nothing else drops there. `samples` are those of the HTB, or of the netem where there is no
    rate.
    """

    port: TcPort
    rate_bps: int | None
    netem: Qdisc | None
    drops: int
    samples: tuple[QueueSample, ...]

    @property
    def peak_rate_bps(self) -> float | None:
        return peak_rate_bps(self.samples, self.port.rate_bps, self.port.mtu_bytes + ETHERNET_BYTES)


@dataclass(frozen=True)
class Evidence:
    """All that the gate looks at.

    `there` are the stages that the data passed, `back` those that the answers passed. `host_counters` is by how much
    each suspect counter of the two hosts moved, `device_drops` what devices lost without being asked to, `cpu_busy`
    the share of the machine's CPU time that was used (None in virtual time, where it cannot matter), and
    `captures_dropped` how many packets captures missed. `timeline` is None where nothing is scheduled.
    `upstream_check` are pings from the origin to its cache. `background_short_ns` is by how much the workload outlasted
    each background that it did. `channels` are the stages between switches and controllers, `openflow` what those say.
    `captures` maps each file to what it shows of the workload's data; None if it was not read. `tc_there` and `tc_back`
    are the ends of TCLinks that the data and its answers left by, and `mininet` is the version that built the network,
    None if it did not. `machines` is what each of them said of itself, with its own `cpu_busy`.
    """

    rtt_check: PingResult
    there: tuple[StageEvidence, ...]
    back: tuple[StageEvidence, ...]
    outcome: Outcome
    tcp: tuple[TcpSample, ...]
    host_counters: Mapping[str, int]
    device_drops: Mapping[str, int]
    cpu_busy: float | None
    captures_dropped: int
    timeline: Timeline | None = None
    upstream_check: PingResult | None = None
    background_short_ns: Mapping[str, int] = field(default_factory=dict)
    machines: Mapping[str, MachineResult] = field(default_factory=dict)
    channels: tuple[StageEvidence, ...] = ()
    openflow: OpenFlowEvidence = field(default_factory=OpenFlowEvidence)
    captures: Mapping[str, CaptureResult | None] = field(default_factory=dict)
    vms: tuple[VmEvidence, ...] = ()
    tc_there: tuple[TcEvidence, ...] = ()
    tc_back: tuple[TcEvidence, ...] = ()
    mininet: str | None = None
