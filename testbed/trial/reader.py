"""Reads the folder of a trial into evidence. Reads files of that folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ..kernel.guest import TrialError
from ..model.scenario import Trial
from ..model.workload import Workload
from ..plan.link import fault, tclink
from ..plan.link.stage import Emulator, Stage
from ..plan.link.tclink import TcPort
from ..plan.node.namespace import node_netns
from . import record
from .evidence.bucket import by_key
from .evidence.fault import down_counts, fault_counts, fault_samples
from .evidence.interval import (
    FOR_EVER_NS,
    TIMELINE,
    Look,
    Timeline,
    intervals,
    looks,
    loss_counts,
    read_timeline,
    waiting,
)
from .evidence.outcome import Outcome, TcpResult
from .evidence.policing import Policed
from .evidence.stage import Evidence, StageEvidence, TcEvidence, Told, stages_beside, tc_beside
from .observe import bucket
from .observe.bucket import Flow, PacedSample
from .observe.readback import Qdisc, htb_classes, qdiscs
from .observe.sample import (
    CounterSample,
    QueueSample,
    TcpSample,
    counter_samples,
    counters,
    device_counters,
    device_drops,
    device_numbers,
    queue_samples,
    received_series,
    tcp_samples,
)
from .orders.sequence import Orders
from .result import FlowResult
from .subject import routing
from .subject.observer import AFTER, CHANGES, READ_BACK, SAMPLES
from .subject.registry import SUBJECTS
from .workload import background, registry
from .workload.background import BACKGROUND

LOG = "log.jsonl"
"""What the agent did."""
MININET_REPORT = "mininet.json"

SECOND_NS = 10**9


def read(trial: Trial, made: Orders, folder: Path) -> Evidence:
    """Raises TrialError if an output makes no sense."""
    dumps = _Dumps(trial, made, folder)
    data_stages, answer_stages = (
        tuple(dumps.stage(each, each.stage(way)) for each, way in made.plan.emulators_passed(is_data=is_data))
        for is_data in (True, False)
    )
    outcome = registry.read(trial.workload, folder)
    short: Mapping[str, int] = {}
    if trial.background:
        others = background.read(trial.background, folder)
        outcome = replace(outcome, measured={**outcome.measured, BACKGROUND: record.write(others)})
        log = (folder / LOG).read_text()
        short = background.short_ns(trial.background, trial.workload, made.plan, folder, log)
    tcp = tuple(tcp_samples(dumps.samples, made.sampled))
    if trial.workload.port_is_senders:
        outcome = replace(outcome, flows=_of_all_the_time(outcome.flows, tcp))
    if trial.workload.port_is_senders and (trial.samples_interval_ns or SECOND_NS) < SECOND_NS:
        outcome = replace(outcome, measured={**outcome.measured, TcpResult.KEY: _series(trial.workload, outcome, tcp)})
    return Evidence(
        data_stages=data_stages,
        answer_stages=answer_stages,
        outcome=outcome,
        tcp=tcp,
        device_drops=dumps.device_drops(),
        timeline=dumps.timeline,
        background_short_ns=short,
        background_begun=background.begun(trial.background, made.drawn, folder),
        channels=tuple(
            dumps.stage(emulator, stage)
            for channel in made.plan.channels
            if (emulator := made.plan.emulator(channel.link.name)) is not None
            for stage in emulator.stages
        ),
        data_tc_ends=tuple(map(dumps.tc, made.plan.tc_passed(is_data=True))),
        answer_tc_ends=tuple(map(dumps.tc, made.plan.tc_passed(is_data=False))),
        mininet=_mininet(folder),
        detours=tuple(
            tuple(dumps.stage(e, e.stage(way)) for e, way in each) for each in routing.detours(trial, made.plan)
        ),
        beside=tuple(dumps.stage(each, stage) for each, stage in stages_beside(made.plan)),
        beside_tc_ends=tuple(map(dumps.tc, tc_beside(made.plan))),
        things={each.name: each.read(trial, made.plan, folder) for each in SUBJECTS},
    )


def _mininet(folder: Path) -> str | None:
    path = folder / MININET_REPORT
    return str(json.loads(path.read_text())["version"]) if path.exists() else None


def _of_all_the_time(flows: tuple[FlowResult, ...], tcp: tuple[TcpSample, ...]) -> tuple[FlowResult, ...]:
    """Flows with the shortest of their round trips in all samples: a socket forgets those of more than 300 s ago."""
    shortest: dict[int, float] = {}
    for each in tcp:
        told_s = each.info["min_rtt_s"]
        if told_s is not None:
            shortest[each.source_port] = min(told_s, shortest.get(each.source_port, told_s))
    return tuple(
        each
        if each.rtt_min_s is None or each.port is None
        else replace(each, rtt_min_s=min(each.rtt_min_s, shortest.get(each.port, each.rtt_min_s)))
        for each in flows
    )


def _series(workload: Workload, outcome: Outcome, tcp: tuple[TcpSample, ...]) -> Any:
    """One entry for each second from the start of the workload, for all flows together, as for `udp`."""
    assert outcome.begin_ns is not None, "BUG: flows without a beginning"
    assert outcome.end_ns is not None, "BUG: flows without an end"
    ports = {flow.port for flow in outcome.flows}
    netns = node_netns(workload.destination)
    seconds = received_series(tcp, netns, ports, outcome.begin_ns, outcome.end_ns)
    return record.write(TcpResult(tuple(seconds)))


class _Dumps:
    """The observer's files of a trial, and the emulators' counters."""

    def __init__(self, trial: Trial, made: Orders, folder: Path) -> None:
        before, after = ((folder / name).read_bytes() for name in (READ_BACK, AFTER))
        self.folder = folder
        looks_around = ((before, made.observed), (after, made.observed_after))
        self.names = device_numbers(before, made.observed)
        self.drops_before, self.drops_after = (device_drops(*look) for look in looks_around)
        self.devices = [device_counters(*look) for look in looks_around]
        self.topology = trial.topology
        self.book = made.plan.book
        self.set_up, self.set_up_after = ({self._place(each): each for each in qdiscs(*look)} for look in looks_around)
        self.classes = tuple(htb_classes(*look) for look in looks_around)
        self.before = self._by_place(queue_samples(before, made.observed))
        self.after = self._by_place(queue_samples(after, made.observed_after))
        self.counters_before, self.counters_after = (counters(*look) for look in looks_around)
        self.samples = (folder / SAMPLES).read_bytes()
        self.timeline = timeline(made, folder)
        self.looks = self._looks(made, folder)
        self.counted: dict[tuple[str, str], list[CounterSample]] = {}
        for counter in counter_samples(self.samples, made.sampled):
            self.counted.setdefault((counter.netns, counter.name), []).append(counter)
        changes = folder / CHANGES
        parts = (
            (before, made.observed),
            (changes.read_bytes() if changes.exists() else b"", made.changed),
            (self.samples, made.sampled),
            (after, made.observed_after),
        )
        self.paced = by_key((each for part in parts for each in bucket.samples(*part)), self._place)
        self.flows: dict[tuple[tuple[str, str, str], Flow], list[PacedSample]] = {}
        of_flows = (each for part in parts for each in bucket.flows(*part))
        for flow, look in sorted(of_flows, key=lambda each: each[1].time_ns):
            self.flows.setdefault((self._place(look), flow), []).append(look)
        self.queues: dict[tuple[str, str, str], list[QueueSample]] = {}
        for sample in queue_samples(self.samples, made.sampled):
            self.queues.setdefault(self._place(sample), []).append(sample)
        self.last = {place: of_queue[-1] for place, of_queue in self.queues.items()}

    def _looks(self, made: Orders, folder: Path) -> dict[int, Look]:
        path = folder / CHANGES
        if self.timeline is None or not path.exists():
            return {}
        return looks(self.timeline, path.read_bytes(), made.changed, self.names)

    def _place(self, each: QueueSample | Qdisc | PacedSample) -> tuple[str, str, str]:
        return each.netns, self.names[each.netns, each.device], each.handle

    def _by_place(self, samples: Iterator[QueueSample]) -> dict[tuple[str, str, str], QueueSample]:
        return {self._place(sample): sample for sample in samples}

    def stage(self, emulator: Emulator, stage: Stage) -> StageEvidence:
        netns = emulator.netns
        first, last = (look.get(netns, {}) for look in (self.counters_before, self.counters_after))
        self._has_counters(emulator.link, stage, first, last)
        packets = {name: last[name].packets - (first[name].packets if name in first else 0) for name in last}
        begin = Look(0, self.before, self.set_up, {(netns, name): each.packets for name, each in first.items()})
        end = Look(FOR_EVER_NS, self.after, {}, {(netns, name): each.packets for name, each in last.items()})
        samples = self._samples((netns, *stage.rate_place))
        return StageEvidence(
            link=emulator.link,
            mtu_bytes=emulator.mtu_bytes,
            stage=stage,
            intervals=tuple(intervals(stage, netns, begin, end, self.looks, samples)),
            losses=loss_counts(stage, packets),
            oversize_packets=packets.get(stage.oversize_counter, 0),
            policed=self._policed(netns, stage, packets),
            qdiscs_after={
                place[1]: self.set_up_after[(netns, *place)]
                for place in (*stage.own_places, *fault.places(stage))
                if (netns, *place) in self.set_up_after
            },
            around=self._around((netns, *stage.rate_place)) or self._around((netns, *stage.delay_place)),
            faults=fault_counts(stage, packets),
            fault_samples=fault_samples(stage, netns, self.counted),
            diverted={
                place[1]: self._diverted((netns, *place))
                for place in fault.places(stage)
                if self._around((netns, *place))
            },
            bursts=self._samples((netns, fault.END[stage.way], fault.BURST)),
            downs=down_counts(stage, netns, packets, self.looks, self.timeline),
            paced=tuple(self.paced.get((netns, *stage.rate_place), ())),
            policer=tuple(self.paced.get((netns, *stage.police_place), ())),
            per_flow=tuple(self.paced.get((netns, *stage.per_flow_place), ())),
            flows=tuple(
                (flow, tuple(looks))
                for (place, flow), looks in self.flows.items()
                if place == (netns, *stage.per_flow_place)
            ),
            queue_around=self._around((netns, *stage.buffer_place)),
            queue_samples=tuple(self.queues.get((netns, *stage.buffer_place), ())),
            left_packets=self._left(emulator.link, stage) if stage.cuts_late else None,
            waiting_packets=waiting(stage, netns, self.last, self.after),
            delay_samples=tuple(self.queues.get((netns, *stage.delay_place), ())) if stage.loses_at_random else (),
            settings={
                place[1]: tuple(self._told((netns, *place)))
                for place in (*stage.own_places, *fault.places(stage))
                if (netns, *place) in self.before
            },
        )

    def _told(self, place: tuple[str, str, str]) -> Iterator[Told]:
        """What was told of the settings of a queue, from each change to the next."""
        between = (look.queues[place] for look in self.looks.values() if place in look.queues)
        ends = (look[place] for look in (self.before, self.after) if place in look)
        looks = sorted((*ends, *between, *self.queues.get(place, ())), key=lambda look: look.time_ns)
        for options, group in groupby(looks, key=lambda look: look.options):
            same = tuple(group)
            yield Told(same[0].time_ns, same[-1].time_ns, options)

    def tc(self, port: TcPort) -> TcEvidence:
        netem = (port.netns, port.device, tclink.NETEM)
        drops = sum(sign * look[netem].drops for sign, look in ((1, self.after), (-1, self.before)) if netem in look)
        shaped = (port.netns, port.device, tclink.HTB if port.rate_bps else tclink.NETEM)
        htb, htb_after = (look.get((port.netns, port.device)) for look in self.classes)
        set_up, after = self.set_up.get(netem), self.set_up_after.get(netem)
        return TcEvidence(port, htb, set_up, drops, self._samples(shaped), htb_after, after)

    def _policed(self, netns: str, stage: Stage, packets: Mapping[str, int]) -> Policed | None:
        if stage.policing is None:
            return None
        names = (stage.passed_counter, stage.policed_counter)
        passed, dropped = (self.counted.get((netns, name), []) for name in names)
        last = self.counters_after[netns]
        samples = tuple(zip(passed, dropped, strict=False))
        came_bytes, policed_bytes = (last[name].bytes if name in last else 0 for name in names)
        return Policed(packets.get(stage.policed_counter, 0), came_bytes, policed_bytes, samples)

    def _around(self, place: tuple[str, str, str]) -> tuple[QueueSample, QueueSample] | None:
        """The looks around the workload; None if the queue was not there both times."""
        return (self.before[place], self.after[place]) if place in self.before and place in self.after else None

    def _left(self, link: str, stage: Stage) -> int | None:
        """The frames that came to the node behind an emulator while the workload ran."""
        end = self.topology.link(link).leads_to(stage.way)
        place = node_netns(end), self.book.port(end, link).device
        found = [look[place]["rx_packets"] for look in self.devices if place in look]
        return found[1] - found[0] if len(found) == 2 else None

    def _diverted(self, place: tuple[str, str, str]) -> tuple[int, int]:
        """The packets that passed a queue while the workload ran, and those that wait there."""
        first, last = self.before[place], self.after[place]
        return last.packets - first.packets, last.backlog_packets

    def _samples(self, place: tuple[str, str, str]) -> tuple[QueueSample, ...]:
        """The samples that were taken over time; if there are none, the two around the workload."""
        return tuple(self.queues.get(place, ())) or self._around(place) or ()

    def device_drops(self) -> dict[str, int]:
        """Maps devices, with their namespaces, to the packets lost while the workload ran. Lacks a device that was not
        there before and after it.
        """
        return {
            " ".join(place): self.drops_after[place] - count
            for place, count in self.drops_before.items()
            if place in self.drops_after
        }

    def _has_counters(self, link: str, stage: Stage, *told: Mapping[str, CounterSample]) -> None:
        """Raises TrialError if a counter of the plan is missing: missing is not 0."""
        names = {stage.data_counter(), stage.drop_counter(), stage.oversize_counter}
        names |= {stage.passed_counter, stage.policed_counter} if stage.policing is not None else set()
        names |= set(fault.names(stage, stage.start))
        for look in told:
            if lost := sorted(names - look.keys()):
                raise TrialError(f"the counter {lost[0]} of the link {link} is missing: somebody changed its rules")


def timeline(made: Orders, folder: Path) -> Timeline | None:
    if not made.plan.timeline:
        return None
    return read_timeline((folder / TIMELINE).read_text(), (folder / LOG).read_text())
