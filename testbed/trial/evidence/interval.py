"""Intervals: what a stage did during each state of its schedule, from looks at it right after every change.

Pure, no I/O.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from itertools import pairwise

from ...codec.frozen import dataclass
from ...model.link.impairment import PeriodicLoss
from ...plan.link import fault
from ...plan.link.stage import Stage, State, frame_bytes
from ..law import ASKED, under
from ..observe import netlink, queue_counter
from ..observe.readback import Qdisc, qdiscs
from ..observe.sample import Query, QueueSample, counter_samples, queue_samples

MANY_FRAMES = 200
"""So many frames give a rate to half a percent, even if the first and the last straddle the ends of an interval."""

TIMELINE = "timeline.jsonl"
"""What the agent writes of it."""

FOR_EVER_NS = 2**63 - 1
"""The end of an interval that nothing ended."""

HEADERS_BYTES = 72
"""The longest of a data packet: IPv6, and TCP with time stamps."""

QdiscKey = tuple[str, str, str]
"""Namespace, device and handle of a queueing discipline."""


@dataclass(frozen=True)
class Happened:
    """A moment of the timeline: when it was due, began and was done, and when the look after it ended."""

    due_ns: int
    begin_ns: int
    done_ns: int
    end_ns: int

    @property
    def late_ns(self) -> int:
        return self.done_ns - self.due_ns


@dataclass(frozen=True)
class Timeline:
    """The agent's log of a timeline: its start, its stop, and what happened at each `at_ns`."""

    start_ns: int
    stop_ns: int
    moments: Mapping[int, Happened]


@dataclass(frozen=True)
class Look:
    """Counters and settings of all emulators at one time; `counters` are packets by namespace and name."""

    time_ns: int
    queues: Mapping[QdiscKey, QueueSample]
    qdiscs: Mapping[QdiscKey, Qdisc]
    counters: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Counts:
    """What a stage did to packets. Of the `data_packets` that came to the periodic loss it dropped `dropped_packets`. A
    full buffer dropped `queue_drops`; a queue that signals congestion dropped `aqm_drops` and marked `marks`, cake
    filtered `filtered_acks` (0 without such a queue). The delay dropped `delay_drops`, which must all be random loss,
    and passed on `delay_packets`.
    """

    data_packets: int = 0
    dropped_packets: int = 0
    queue_drops: int = 0
    delay_drops: int = 0
    delay_packets: int = 0
    aqm_drops: int = 0
    marks: int = 0
    filtered_acks: int = 0

    @property
    def offered_packets(self) -> int:
        """What came to the delay, where random losses are."""
        return self.delay_packets + self.delay_drops

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


OF_QUEUE = tuple(each.name for each in fields(Counts) if each.name in under("rises", queue_counter.Counts))
"""Those that a queue that signals congestion counts itself."""


@dataclass(frozen=True)
class Interval:
    """One state of a stage while it held, in ns of CLOCK_MONOTONIC. `qdiscs` maps handles to what the kernel reported
    as set up when it began. `samples` are those of the bottleneck's buffer that were taken meanwhile, `first` and
    `last` the looks at it when the state began and ended; None where a sample says as much.
    """

    state: State = field(metadata=ASKED)
    begin_ns: int
    end_ns: int
    qdiscs: Mapping[str, Qdisc]
    samples: tuple[QueueSample, ...]
    counts: Counts
    first: QueueSample | None = None
    last: QueueSample | None = None

    @property
    def looks(self) -> tuple[QueueSample, ...]:
        """The samples, with the looks when the state began and ended, unless a sample was taken at the same time."""
        times = {each.time_ns for each in self.samples}
        first, last = ([] if one is None or one.time_ns in times else [one] for one in (self.first, self.last))
        return (*first, *self.samples, *last)


@dataclass(frozen=True)
class LossCount:
    """The data packets that came during one loss, and those that a periodic loss dropped."""

    state: State = field(metadata=ASKED)
    data_packets: int
    dropped_packets: int

    @property
    def expected_drops(self) -> int | None:
        """How many of them a periodic loss of 1 in X drops: ⌊(packets + phase) / X⌋; None without such a loss."""
        loss = self.state.loss
        return (self.data_packets + self.state.phase) // loss.every if isinstance(loss, PeriodicLoss) else None


def read_timeline(text: str, log: str) -> Timeline | None:
    """Reads the text of timeline.jsonl, and of log.jsonl for the stop; None if the timeline never started."""
    entries = [json.loads(line) for line in text.splitlines()]
    stop_ns = next(
        e["begin_ns"] for line in log.splitlines() if (e := json.loads(line))["step"].get("stop") == "timeline"
    )
    if not entries:
        return None
    start_ns = entries[0]["start_ns"]
    moments = {
        e["at_ns"]: Happened(start_ns + e["at_ns"], e["begin_ns"], e["done_ns"], e["end_ns"])
        for e in entries[1:]
        if "at_ns" in e
    }
    return Timeline(start_ns, stop_ns, moments)


def looks(
    timeline: Timeline, data: bytes, sources: tuple[Query, ...], names: Mapping[tuple[str, int], str]
) -> dict[int, Look]:
    """Maps `at_ns` to the look right after it. `names` are those of the devices."""

    def key(each: QueueSample | Qdisc) -> QdiscKey:
        return each.netns, names[each.netns, each.device], each.handle

    by_time: dict[int, Look] = {}
    for at_ns, part in _parts(timeline, data):
        queues = {key(each): each for each in queue_samples(part, sources)}
        settings = {key(each): each for each in qdiscs(part, sources)}
        counters = {(each.netns, each.name): each.packets for each in counter_samples(part, sources)}
        times = [each.time_ns for each in queues.values()]
        if times:
            by_time[at_ns] = Look(times[0], queues, settings, counters)
    return by_time


def _parts(timeline: Timeline, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The observer's records of each moment."""
    moments = sorted(timeline.moments.items())
    part, number = bytearray(), 0
    for record, raw in netlink.raw_records(data):
        while number < len(moments) and record.time_ns > moments[number][1].end_ns:
            yield moments[number][0], bytes(part)
            part, number = bytearray(), number + 1
        if number < len(moments) and record.time_ns >= moments[number][1].begin_ns:
            part += raw
    if number < len(moments):
        yield moments[number][0], bytes(part)


def intervals(
    stage: Stage, netns: str, first: Look, last: Look, between: Mapping[int, Look], samples: Sequence[QueueSample]
) -> Iterator[Interval]:
    """One interval for each state that came. `samples` are those of the stage's token bucket."""
    came = [(stage.start, first), *((state, between[state.at_ns]) for state in stage.states if state.at_ns in between)]
    ends = [*(look for _, look in came[1:]), last]
    rate = (netns, *stage.rate_place)
    places = [(netns, *key) for key in (*stage.own_places, *fault.places(stage))]
    for (state, begin), end in zip(came, ends, strict=True):
        # Before the first sample and after the last there is only waiting.
        yield Interval(
            state,
            begin.time_ns,
            end.time_ns,
            {key[2]: begin.qdiscs[key] for key in places if key in begin.qdiscs},
            tuple(sample for sample in samples if begin.time_ns <= sample.time_ns < end.time_ns),
            _counts(stage, netns, begin, end),
            begin.queues.get(rate) if begin is not first or not samples else None,
            end.queues.get(rate) if end is not last or not samples else None,
        )


def _counts(stage: Stage, netns: str, begin: Look, end: Look) -> Counts:
    delay, rate, waiting, police, per_flow = ((netns, *key) for key in stage.own_places)
    drops = _grew(begin, end, rate, "drops")
    below_delay = per_flow if stage.asked.per_flow is not None else rate
    below_delay = below_delay if stage.asked.policer is None else police
    refused = _grew(begin, end, below_delay, "drops") if stage.is_nested else 0
    of_queue = {name: _counted(begin, end, waiting, name) for name in OF_QUEUE}
    return Counts(
        _count(end, netns, stage.data_counters) - _count(begin, netns, stage.data_counters),
        _count(end, netns, stage.drop_counters) - _count(begin, netns, stage.drop_counters),
        drops - of_queue["aqm_drops"] - of_queue["filtered_acks"],
        _grew(begin, end, delay, "drops") - refused,
        _grew(begin, end, delay, "packets") + refused,
        **of_queue,
    )


def waiting(
    stage: Stage, netns: str, last: Mapping[QdiscKey, QueueSample], after: Mapping[QdiscKey, QueueSample]
) -> int:
    """At most how many packets wait in all queues of a stage, by its last samples, or where there are none by the looks
    after the workload. The outermost queue of a device counts what those inside it hold.
    """
    most: dict[str, int] = {}
    for device, handle in (*stage.own_places, *fault.places(stage)):
        place = netns, device, handle
        if (look := last.get(place, after.get(place))) is not None:
            most[device] = max(most.get(device, 0), waiting_in(look, stage.mtu_bytes))
    return sum(most.values())


def waiting_in(look: QueueSample, mtu_bytes: int) -> int:
    """At most how many packets wait in a queue; superpackets are as many as their bytes make with long headers."""
    if look.backlog_bytes <= look.backlog_packets * frame_bytes(mtu_bytes):
        return look.backlog_packets
    return -(-look.backlog_bytes // (mtu_bytes - HEADERS_BYTES))


def _grew(begin: Look, end: Look, key: QdiscKey, counter: str) -> int:
    if key not in end.queues:
        return 0
    first = getattr(begin.queues[key], counter) if key in begin.queues else 0
    return int(getattr(end.queues[key], counter)) - first


def _counted(begin: Look, end: Look, key: QdiscKey, name: str) -> int:
    """By how much one of the counts of a queue grew; 0 where no such queue was looked at."""
    counts = [look.queues[key].counts if key in look.queues else None for look in (begin, end)]
    first, last = (0 if each is None else getattr(each, name) for each in counts)
    return int(last - first)


def _count(look: Look, netns: str, names: Sequence[str]) -> int:
    return sum(look.counters.get((netns, name), 0) for name in names)


def loss_counts(stage: Stage, packets: Mapping[str, int]) -> tuple[LossCount, ...]:
    """One count for each loss that came: the counters at the end minus those at the start."""
    firsts = {state.generation: state for state in reversed(stage.history)}
    return tuple(
        LossCount(state, packets[stage.data_counter(number)], packets.get(stage.drop_counter(number), 0))
        for number, state in sorted(firsts.items())
        if stage.data_counter(number) in packets
    )


def peak_rate_bps(samples: Sequence[QueueSample], rate_bps: int | None, frame_bytes: int) -> float | None:
    """The rate of frames between the samples of `peak_pair`; None without a rate or without them."""
    pair = None if rate_bps is None else peak_pair(samples, rate_bps, frame_bytes)
    return None if pair is None else _rate(*pair)


def peak_pair(
    samples: Sequence[QueueSample], rate_bps: int, frame_bytes: int
) -> tuple[QueueSample, QueueSample] | None:
    """The two samples with the highest rate of frames between them: one interval apart, or several that together hold
    MANY_FRAMES. Without enough samples, the first and the last; None without these.
    """
    inner = samples[1:-1]  # a full bucket spoils the first interval, and the last one is cut short
    if len(inner) > 1:
        frames = rate_bps * (inner[1].time_ns - inner[0].time_ns) / (8e9 * frame_bytes)
        stride = math.ceil(MANY_FRAMES / frames)
        if len(inner) > stride:
            least_ns = stride * (inner[1].time_ns - inner[0].time_ns) // 2  # two looks can be close together
            pairs = zip(inner[:-stride], inner[stride:], strict=True)
            return max(
                (pair for pair in pairs if pair[1].time_ns - pair[0].time_ns >= least_ns), key=lambda p: _rate(*p)
            )
    return whole_pair(samples)


def whole_pair(samples: Sequence[QueueSample]) -> tuple[QueueSample, QueueSample] | None:
    """The first and the last sample; None without two."""
    return (samples[0], samples[-1]) if len(samples) > 1 else None


def _rate(first: QueueSample, last: QueueSample) -> float:
    return (last.bytes - first.bytes) * 8e9 / (last.time_ns - first.time_ns)


def capacity_bits(intervals: Sequence[tuple[int, int | None]], begin_ns: int, end_ns: int) -> float | None:
    """How many bits a stage can carry between two times; None if unlimited. `intervals` are pairs (start, rate)."""
    if any(rate_bps is None for _, rate_bps in intervals):
        return None
    edges = [*intervals, (end_ns, None)]
    total = 0.0
    for (from_ns, rate_bps), (to_ns, _) in pairwise(edges):
        total += (rate_bps or 0) * max(0, min(to_ns, end_ns) - max(from_ns, begin_ns)) / 1e9
    return total
