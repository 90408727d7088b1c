"""What faults did to packets, by the counters of an emulator. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from ...codec.frozen import dataclass
from ...plan.link import fault
from ...plan.link.stage import Stage, State
from ..law import ASKED
from ..observe.sample import CounterSample, QueueSample
from .interval import FOR_EVER_NS, Look, Timeline


@dataclass(frozen=True)
class FaultCount:
    """From one change of a fault to the next: it looked at `came` packets, and `met` of them met it."""

    key: str
    state: State = field(metadata=ASKED)
    came: int
    met: int


@dataclass(frozen=True)
class DownCount:
    """From one change of `down` to the next: the packets that were lost because the link was or had been down, and
    those that left it. `passed` are those that left it between the look right after the change and that after the next
    one, by all counters of earlier times; None without these looks. `begin_ns` and `end_ns` are those of the changes.
    """

    state: State = field(metadata=ASKED)
    lost: int
    left: int
    passed: int | None = None
    begin_ns: int | None = None
    end_ns: int | None = None

    @property
    def is_down(self) -> bool:
        return fault.is_down(self.state)


@dataclass(frozen=True)
class FaultSample:
    """A fault at one time, since it was set up: `packets` that it looked at and `met` of them; of an outage the packets
    that left the link, and those that it lost.
    """

    time_ns: int
    key: str
    packets: int
    met: int


def fault_samples(
    stage: Stage, netns: str, samples: Mapping[tuple[str, str], Sequence[CounterSample]]
) -> tuple[FaultSample, ...]:
    """Those of each fault in the order of time, over all its changes; `samples` by namespace and counter."""
    found = []
    for key in fault.COUNTED:
        totals: dict[int, list[int]] = {}
        for state in fault.firsts(stage, key):
            for which, what in enumerate(("left", "lost") if key == "down" else fault.counters(key)):
                for each in samples.get((netns, fault.counter(stage, state, key, what)), ()):
                    totals.setdefault(each.time_ns, [0, 0])[which] += each.packets
        found += [FaultSample(time_ns, key, *totals[time_ns]) for time_ns in sorted(totals)]
    return tuple(found)


def fault_counts(stage: Stage, packets: Mapping[str, int]) -> tuple[FaultCount, ...]:
    """One for each fault and change of which both counters are there; `packets` by how much each counter rose."""
    found = []
    for key in fault.PICKING:
        for state in fault.firsts(stage, key):
            came, met = (fault.counter(stage, state, key, what) for what in fault.counters(key))
            if came in packets and met in packets:
                found.append(FaultCount(key, state, packets[came], packets[met]))
    return tuple(found)


def down_counts(
    stage: Stage, netns: str, packets: Mapping[str, int], between: Mapping[int, Look], timeline: Timeline | None
) -> tuple[DownCount, ...]:
    """One for each change of `down` that came; `between` are the looks after each change of the schedule."""
    states = fault.firsts(stage, "down")
    found = []
    for number, state in enumerate(states):
        lost, left = (fault.counter(stage, state, "down", what) for what in fault.counters("down"))
        if lost not in packets or left not in packets:
            continue
        later = states[number + 1] if number + 1 < len(states) else None
        looks = [
            between.get(each.at_ns) if each is not None and number + n else None
            for n, each in enumerate((state, later))
        ]
        mine = [fault.counter(stage, each, "down", "left") for each in states[: number + 1]]
        passed = _grew(netns, mine, *looks)
        times = [
            None if each is None else _done_ns(timeline, each.at_ns) for each in (state if number else None, later)
        ]
        found.append(DownCount(state, packets[lost], packets[left], passed, *times))
    return tuple(found)


def _grew(netns: str, names: list[str], first: Look | None, last: Look | None) -> int | None:
    if first is None or last is None:
        return None
    return sum(last.counters.get((netns, name), 0) - first.counters.get((netns, name), 0) for name in names)


def _done_ns(timeline: Timeline | None, at_ns: int) -> int | None:
    moment = None if timeline is None else timeline.moments.get(at_ns)
    return None if moment is None else moment.done_ns


def outages(counts: Sequence[DownCount]) -> Iterator[DownCount]:
    """The times for which the link was down, each with all that was lost because of it: what had been in the link is
    counted when it would have left it, which may be later.
    """
    for number, count in enumerate(counts):
        if count.is_down:
            later = sum(each.lost for each in counts[number + 1 : number + 2] if not each.is_down)
            yield replace(count, lost=count.lost + later)


def without_outages(samples: Sequence[QueueSample], counts: Sequence[DownCount]) -> Iterator[Sequence[QueueSample]]:
    """The samples before, between and after the times for which the link was down."""
    begin_ns = 0
    for each in outages(counts):
        from_ns, to_ns = each.begin_ns or begin_ns, each.end_ns or FOR_EVER_NS
        yield tuple(sample for sample in samples if begin_ns <= sample.time_ns < from_ns)
        begin_ns = to_ns
    yield tuple(sample for sample in samples if begin_ns <= sample.time_ns) if begin_ns else samples
