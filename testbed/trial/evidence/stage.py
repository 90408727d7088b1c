"""Evidence: what a trial's folder says about the network and its traffic. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from itertools import chain
from typing import Any

from ...codec.frozen import dataclass
from ...plan.link import fault
from ...plan.link.stage import ETHERNET_BYTES, Emulator, Stage, State
from ...plan.link.tclink import TcPort
from ...plan.network import Plan
from ..law import ASKED
from ..observe.bucket import Flow, PacedSample
from ..observe.readback import HtbClass, Qdisc
from ..observe.sample import (
    QueueSample,
    TcpSample,
)
from .fault import DownCount, FaultCount, FaultSample, without_outages
from .interval import (
    Counts,
    Interval,
    LossCount,
    Timeline,
    peak_rate_bps,
    waiting_in,
)
from .outcome import Outcome
from .policing import Policed


@dataclass(frozen=True)
class Told:
    """What the kernel told of the settings of a queue, in looks from one time to another, one after the other."""

    first_ns: int
    last_ns: int
    options: bytes


@dataclass(frozen=True)
class StageEvidence:
    """One direction through one emulator, while the workload ran. A stage is its intervals: one for each state that
    came, at least one; without a schedule that begins at the start.

    `losses` has what came during each loss, by its own counters. `oversize_packets` of the data packets were larger
    than the MTU. `qdiscs_after` maps handles to what the kernel reports as set up after the workload. `policed` is what
    a policy did, `faults` and `downs` what faults and outages did; `diverted` has, by handle, the packets that passed
    the queue of a fault while the workload ran and those that wait there at the end, `bursts` are samples of that which
    makes bursts, and `fault_samples` of the counters of faults. `around`
    are the looks before and after the workload at the queue that sends, or else at the delay; None if the stage has
    neither. `queue_around` and `queue_samples` are the same of a queue that was asked, below the one that sends.
    `paced` are the looks and samples of a shaper or a trace, `policer` those of a policer, both in the order of time.
    `per_flow` are those of a cap for each flow, `flows` those of each flow that came.
    `delay_samples` are those of a delay that loses packets at random, and `settings` has, by handle, what the kernel
    told of each queue's settings from the look before the workload to that after it.
    `left_packets` are the frames that came out at the next node, where each is one whatever its size; None: not told.
    At most `waiting_packets` waited in all its queues when the workload ended.
    """

    link: str
    mtu_bytes: int
    stage: Stage = field(metadata=ASKED)
    intervals: tuple[Interval, ...]
    losses: tuple[LossCount, ...]
    oversize_packets: int = 0
    policed: Policed | None = None
    qdiscs_after: Mapping[str, Qdisc] = field(default_factory=dict)
    around: tuple[QueueSample, QueueSample] | None = None
    faults: tuple[FaultCount, ...] = ()
    downs: tuple[DownCount, ...] = ()
    diverted: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    bursts: tuple[QueueSample, ...] = ()
    paced: tuple[PacedSample, ...] = ()
    policer: tuple[PacedSample, ...] = ()
    per_flow: tuple[PacedSample, ...] = ()
    flows: tuple[tuple[Flow, tuple[PacedSample, ...]], ...] = ()
    queue_around: tuple[QueueSample, QueueSample] | None = None
    queue_samples: tuple[QueueSample, ...] = ()
    fault_samples: tuple[FaultSample, ...] = ()
    left_packets: int | None = None
    waiting_packets: int = 0
    delay_samples: tuple[QueueSample, ...] = ()
    settings: Mapping[str, tuple[Told, ...]] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The stage in words, such as "path forward"."""
        return f"{self.link} {self.stage.way}"

    @property
    def is_scheduled(self) -> bool:
        return bool(self.stage.states)

    def words(self, state: State) -> str:
        """The stage in a state, in words: "path forward", with a schedule "path forward from 1.5 s on"."""
        return f"{self.where} from {state.at_ns / 1e9:g} s on" if self.is_scheduled else self.where

    def spans(self) -> Iterator[tuple[str, Interval]]:
        """Each interval with its words."""
        return ((self.words(each.state), each) for each in self.intervals)

    @cached_property
    def counts(self) -> Counts:
        """Those of all intervals together."""
        return sum((each.counts for each in self.intervals), start=Counts())

    @cached_property
    def samples(self) -> tuple[QueueSample, ...]:
        """Those of the bottleneck's buffer, in the order of time."""
        return tuple(chain.from_iterable(each.samples for each in self.intervals))

    @property
    def qdiscs(self) -> Mapping[str, Qdisc]:
        """What the kernel reported as set up before the workload."""
        return self.intervals[0].qdiscs if self.intervals else {}

    @property
    def expected_drops(self) -> int | None:
        """How many packets the periodic losses had to drop; None without such a loss."""
        expected = [each.expected_drops for each in self.losses]
        return sum(n or 0 for n in expected) if any(n is not None for n in expected) else None

    def expected(self, count: FaultCount) -> int | None:
        """How many packets an exact fault had to meet; None for a share."""
        pick = fault.pick(count.state, count.key)
        assert pick is not None, "BUG: a count without a fault"
        return (
            None if pick.every is None else (count.came + fault.phase(self.stage, count.state, count.key)) // pick.every
        )

    @property
    def filters_acks(self) -> bool:
        """Whether the queue was ever asked to drop ACKs that later ones make needless."""
        queues = (state.queue for state in self.stage.history if state.queue is not None)
        return any(queue.value.get("ack_filter", "no-ack-filter") != "no-ack-filter" for queue in queues)

    @property
    def has_carried(self) -> bool:
        """Whether anything came to it while the workload ran."""
        grew = self.around is not None and self.around[1].packets > self.around[0].packets
        came = any(each.came for each in self.faults) or self.down_losses
        return bool(self.counts.data_packets or self.counts.delay_packets or self.counts.delay_drops or grew or came)

    def met(self, key: str) -> int:
        """The packets that met a fault."""
        return sum(each.met for each in self.faults if each.key == key)

    @property
    def sent_before(self) -> int | None:
        """Packets that its rate sent between the initial reading and the first sample. Other counters are read in
        between, and may have missed up to this many. None without samples.
        """
        if self.around is None or not self.samples or self.samples[0].time_ns <= self.around[0].time_ns:
            return None
        return max(0, self.samples[0].packets - self.around[0].packets)

    @property
    def policed_packets(self) -> int:
        """The packets that a policy dropped."""
        return self.policed.policed_packets if self.policed else 0

    @property
    def down_losses(self) -> int:
        """The packets that were lost because the link was down."""
        return sum(each.lost for each in self.downs)

    @property
    def drops_until_end(self) -> int:
        """The explained drops, but for those in its queue after its last sample."""
        if self.around is None or not self.samples:
            return self.explained_drops
        return self.explained_drops - max(0, self.around[1].drops - self.samples[-1].drops)

    @property
    def peak_rate_bps(self) -> float | None:
        """The highest rate of frames that it ever carried; what a link that goes down throws away does not count."""
        rates = (
            peak_rate_bps(part, self.stage.asked.rate_bps, self.mtu_bytes + ETHERNET_BYTES)
            for part in without_outages(self.samples, self.downs)
        )
        return max((rate for rate in rates if rate is not None), default=None)

    @property
    def policer_drops(self) -> int:
        """The packets that a policer, or a cap of each flow, dropped while the workload ran."""
        looks = (each for each in (self.policer, self.per_flow) if each)
        return sum(each[-1].policed_packets - each[0].policed_packets for each in looks)

    @property
    def explained_drops(self) -> int:
        """The drops by a loss, a queue, a buffer, a policy or an outage, lost ACKs, what receivers drop as damaged."""
        faults = self.met("ack_loss") + self.met("corrupt") + self.down_losses
        policed = self.policed_packets + self.policer_drops
        waiting = self.counts.queue_drops + self.counts.aqm_drops
        return self.counts.dropped_packets + waiting + self.counts.delay_drops + policed + faults


def stages_beside(plan: Plan) -> tuple[tuple[Emulator, Stage], ...]:
    """The emulators with their stages that neither the data pass, nor the answers, nor controllers."""
    passed = {(each.link, way) for is_data in (True, False) for each, way in plan.emulators_passed(is_data=is_data)}
    controlling = {channel.link.name for channel in plan.channels}
    others = ((each, stage) for each in plan.emulators for stage in each.stages if each.link not in controlling)
    return tuple((each, stage) for each, stage in others if (each.link, stage.way) not in passed)


def tc_beside(plan: Plan) -> tuple[TcPort, ...]:
    """The ends of TCLinks by which neither data nor answers leave."""
    passed = {*plan.tc_passed(is_data=True), *plan.tc_passed(is_data=False)}
    return tuple(port for port in plan.tc_ports if port not in passed)


@dataclass(frozen=True)
class TcEvidence:
    """One end of a TCLink, while the workload ran.

    `htb` and `netem` are what the kernel reports as set up, `htb_after` and `netem_after` what it reports after the
    workload; None if there is none. A full queue dropped `drops`; nothing else drops there. `samples` are those of the
    HTB, or of the netem if there is no rate.
    """

    port: TcPort = field(metadata=ASKED)
    htb: HtbClass | None
    netem: Qdisc | None
    drops: int
    samples: tuple[QueueSample, ...]
    htb_after: HtbClass | None = None
    netem_after: Qdisc | None = None

    @property
    def peak_rate_bps(self) -> float | None:
        return peak_rate_bps(self.samples, self.port.rate_bps, self.port.mtu_bytes + ETHERNET_BYTES)

    @property
    def waiting_packets(self) -> int:
        """At most so many packets waited there when the workload ended."""
        return waiting_in(self.samples[-1], self.port.mtu_bytes) if self.samples else 0


@dataclass(frozen=True)
class Begun:
    """When a background began (ns of CLOCK_MONOTONIC), and how long after its time the latest of its flows did."""

    at_ns: int
    late_ns: int


@dataclass(frozen=True)
class Evidence:
    """All that the gate looks at.

    The data passed the `data_stages`, the answers the `answer_stages`. `device_drops` counts the packets that devices
    lost without being asked to: 0 for what was looked at, without what was not. `timeline` is None if nothing was
    scheduled or the schedule never started. `background_short_ns` has how long before the workload each background
    ended, 0 if it did not, and `background_begun` when each began. `channels` are the stages between switches and
    controllers; `detours` are the stages of data paths that routing daemons find when links go down. The data left by
    the `data_tc_ends` of TCLinks, the answers by the `answer_tc_ends`. `mininet` is the version that built the network;
    None if Mininet did not.
    `beside` are the stages that neither data nor answers pass, nor controllers, `beside_tc_ends` the ends of TCLinks of
    which the same is true: of them there are no samples.
    `things` maps the name of each subject to what was seen of it.
    """

    data_stages: tuple[StageEvidence, ...]
    answer_stages: tuple[StageEvidence, ...]
    outcome: Outcome
    tcp: tuple[TcpSample, ...]
    device_drops: Mapping[str, int]
    timeline: Timeline | None = None
    background_short_ns: Mapping[str, int] = field(default_factory=dict)
    background_begun: Mapping[str, Begun] = field(default_factory=dict)
    channels: tuple[StageEvidence, ...] = ()
    detours: tuple[tuple[StageEvidence, ...], ...] = ()
    data_tc_ends: tuple[TcEvidence, ...] = ()
    answer_tc_ends: tuple[TcEvidence, ...] = ()
    mininet: str | None = None
    beside: tuple[StageEvidence, ...] = ()
    beside_tc_ends: tuple[TcEvidence, ...] = ()
    things: Mapping[str, Any] = field(default_factory=dict)

    @property
    def judged(self) -> tuple[StageEvidence, ...]:
        """The stages, and those beside the path that anything passed."""
        return (*self.stages, *(each for each in self.beside if each.has_carried))

    @property
    def stages(self) -> tuple[StageEvidence, ...]:
        """Those of the data, then those of the answers."""
        return (*self.data_stages, *self.answer_stages)

    @property
    def tc_ends(self) -> tuple[TcEvidence, ...]:
        """Those of the data, then those of the answers."""
        return (*self.data_tc_ends, *self.answer_tc_ends)

    @property
    def waiting_packets(self) -> int:
        """At most so many packets waited on the way of the data when the workload ended."""
        ends = sum(each.waiting_packets for each in self.data_tc_ends)
        return ends + sum(each.waiting_packets for each in self.data_stages)

    @property
    def has_all_segments(self) -> bool:
        """Whether all data that was sent, and all copies that emulators made, came, was dropped, or waited when the
        workload ended, where the reset of each flow waits too. False if the tool does not tell.
        """
        sent, arrived = self.outcome.sent_segments, self.outcome.arrived_segments
        if sent is None or arrived is None:
            return False
        dropped = sum(each.drops_until_end for each in self.data_stages) + sum(each.drops for each in self.data_tc_ends)
        copies = sum(each.met("duplicate") for each in self.data_stages)
        return sent + copies + len(self.outcome.flows) <= arrived + dropped + self.waiting_packets
