"""Evidence: what a trial's folder says about the network and about what ran over it. Reads files of that folder."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from . import workloads
from .emulator import ETHERNET_BYTES
from .readback import Qdisc, qdiscs
from .sample import QueueSample, TcpSample, device_drops, device_numbers, queue_samples, tcp_samples
from .scenario import Trial
from .stage import Emulator, Stage
from .trial import (
    AFTER,
    READ_BACK,
    RTT_CHECK,
    SAMPLES,
    UPSTREAM_CHECK,
    Orders,
    capture_errors,
    counters_file,
    netstat_file,
    workload_hosts,
)
from .workloads import background, ping
from .workloads.outcome import Outcome
from .workloads.ping import PingOutcome

MANY_FRAMES = 200
"""So many frames tell a rate to half a percent, whichever side of an interval the first and the last fall on."""

SUSPECT_COUNTERS = (
    "TCPMemoryPressures",
    "PruneCalled",
    "RcvPruned",
    "OfoPruned",
    "TCPRcvCollapsed",
    "TCPRcvQDrop",
    "TCPBacklogDrop",
    "TCPZeroWindowDrop",
)
"""TcpExt counters that move only when a host, not the network, holds a flow back."""


@dataclass(frozen=True)
class StageEvidence:
    """One direction through one emulator, while the workload ran.

    `data_packets` were counted where periodic loss is; `oversize_packets` of them were larger than the MTU, and
    `dropped_packets` were dropped by a periodic loss. `queue_drops` were dropped because the buffer was full,
    `delay_drops` where the delay is: that is random loss, and nothing else may be. `delay_packets` went on from there.
    `qdiscs` maps handle to what the kernel says was set up; `samples` are those of the bottleneck's buffer.
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

    @property
    def peak_rate_bps(self) -> float | None:
        """The highest rate of frames, over sample intervals or runs of them that hold many frames; without enough
        samples, the mean over the whole workload. None without a rate or without traffic.
        """
        rate_bps = self.stage.asked.rate_bps
        if rate_bps is None or not self.samples:
            return None
        inner = self.samples[1:-1]  # a full bucket spoils the first interval, and the last one is cut short
        if len(inner) > 1:
            frames = rate_bps * (inner[1].time_ns - inner[0].time_ns) / (8e9 * (self.mtu_bytes + ETHERNET_BYTES))
            stride = math.ceil(MANY_FRAMES / frames)
            if len(inner) > stride:
                return max(_rate(a, b) for a, b in zip(inner[:-stride], inner[stride:], strict=True))
        return _rate(self.samples[0], self.samples[-1]) if len(self.samples) > 1 else None


@dataclass(frozen=True)
class Evidence:
    """All that the gate looks at.

    `there` are the stages that the data passed, `back` those that the answers passed. `host_counters` is by how much
    each suspect counter of the two hosts moved, `device_drops` what devices lost without being asked to, `cpu_busy`
    the share of the machine's CPU time that was used (None in virtual time, where it cannot matter), and
    `captures_dropped` how many packets captures missed. `upstream_check` are pings from the origin to its cache.
    """

    rtt_check: PingOutcome
    there: tuple[StageEvidence, ...]
    back: tuple[StageEvidence, ...]
    outcome: Outcome
    tcp: tuple[TcpSample, ...]
    host_counters: Mapping[str, int]
    device_drops: Mapping[str, int]
    cpu_busy: float | None
    captures_dropped: int
    upstream_check: PingOutcome | None = None


def read(trial: Trial, made: Orders, folder: Path) -> Evidence:
    """Raises TrialError where an output makes no sense."""
    dumps = _Dumps(made, folder)
    there, back = (
        tuple(dumps.stage(emulator, emulator.stage(way)) for emulator, way in made.plan.emulators_passed(there=ways))
        for ways in (True, False)
    )
    outcome = workloads.read(trial.workload, folder)
    if trial.background:
        others = background.read(trial.background, folder)
        outcome = replace(outcome, measured={**outcome.measured, "background": others})
    upstream = folder / UPSTREAM_CHECK
    return Evidence(
        rtt_check=ping.parse((folder / RTT_CHECK).read_text()),
        there=there,
        back=back,
        outcome=outcome,
        tcp=tuple(tcp_samples(dumps.samples, made.sampled)),
        host_counters=_moved(folder, workload_hosts(trial)),
        device_drops=dumps.device_drops(),
        cpu_busy=None if trial.kernel.is_virtual_time else _cpu_busy(folder),
        captures_dropped=sum(_missed(folder / name) for name in capture_errors(trial, made.plan)),
        upstream_check=ping.parse(upstream.read_text()) if upstream.exists() else None,
    )


class _Dumps:
    """The observer's files of a trial, and the emulators' counters."""

    def __init__(self, made: Orders, folder: Path) -> None:
        before, after = ((folder / name).read_bytes() for name in (READ_BACK, AFTER))
        self.folder = folder
        self.names = device_numbers(before, made.observed)
        self.drops_before, self.drops_after = (device_drops(data, made.observed) for data in (before, after))
        self.set_up = {self._place(each): each for each in qdiscs(before, made.observed)}
        self.before = self._by_place(queue_samples(before, made.observed))
        self.after = self._by_place(queue_samples(after, made.observed))
        self.samples = (folder / SAMPLES).read_bytes()
        self.queues: dict[tuple[str, str, str], list[QueueSample]] = {}
        for sample in queue_samples(self.samples, made.sampled):
            self.queues.setdefault(self._place(sample), []).append(sample)

    def _place(self, found: QueueSample | Qdisc) -> tuple[str, str, str]:
        return found.netns, self.names[found.netns, found.device], found.handle

    def _by_place(self, samples: Iterator[QueueSample]) -> dict[tuple[str, str, str], QueueSample]:
        return {self._place(sample): sample for sample in samples}

    def stage(self, emulator: Emulator, stage: Stage) -> StageEvidence:
        first, last = (self._counters(emulator.link, when) for when in ("before", "after"))
        packets = {name: last[name] - first.get(name, 0) for name in last}
        netns = emulator.netns
        queue_drops = self._grew((netns, *stage.rate_place), "drops")
        refused = queue_drops if stage.is_nested else 0
        places = (stage.delay_place, stage.rate_place, stage.buffer_place)
        return StageEvidence(
            link=emulator.link,
            mtu_bytes=emulator.mtu_bytes,
            stage=stage,
            data_packets=packets.get(stage.data_counter, 0),
            oversize_packets=packets.get(stage.oversize_counter, 0),
            dropped_packets=packets.get(stage.drop_counter, 0),
            queue_drops=queue_drops,
            delay_drops=self._grew((netns, *stage.delay_place), "drops") - refused,
            delay_packets=self._grew((netns, *stage.delay_place), "packets") + refused,
            qdiscs={place[1]: self.set_up[netns, *place] for place in places if (netns, *place) in self.set_up},
            samples=self._samples((netns, *stage.rate_place)),
        )

    def _samples(self, place: tuple[str, str, str]) -> tuple[QueueSample, ...]:
        """Those that were taken over time; without, the two around the workload."""
        around = (self.before.get(place), self.after.get(place))
        return tuple(self.queues.get(place, ())) or tuple(each for each in around if each is not None)

    def device_drops(self) -> dict[str, int]:
        """Namespace and device to the packets it lost while the workload ran, for those that lost any."""
        grew = {place: self.drops_after[place] - count for place, count in self.drops_before.items()}
        return {" ".join(place): count for place, count in grew.items() if count}

    def _counters(self, link: str, when: str) -> dict[str, int]:
        said = json.loads((self.folder / counters_file(link, when)).read_text())
        found = (entry["counter"] for entry in said["nftables"] if "counter" in entry)
        return {counter["name"]: counter["packets"] for counter in found}

    def _grew(self, place: tuple[str, str, str], counter: str) -> int:
        if place not in self.after:
            return 0
        first = getattr(self.before[place], counter) if place in self.before else 0
        return int(getattr(self.after[place], counter)) - first


def _rate(first: QueueSample, last: QueueSample) -> float:
    return (last.bytes - first.bytes) * 8e9 / (last.time_ns - first.time_ns)


def _moved(folder: Path, nodes: tuple[str, ...]) -> dict[str, int]:
    total: dict[str, int] = {}
    for node in nodes:
        before, after = (_netstat(folder / netstat_file(node, when)) for when in ("before", "after"))
        for name in SUSPECT_COUNTERS:
            total[name] = total.get(name, 0) + after.get(name, 0) - before.get(name, 0)
    return {name: count for name, count in total.items() if count}


def _netstat(path: Path) -> dict[str, int]:
    """/proc/net/netstat: pairs of lines, names and values, each beginning with the group's name."""
    lines = path.read_text().splitlines()
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names.startswith("TcpExt:"):
            found.update(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return found


def _cpu_busy(folder: Path) -> float | None:
    """From the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal."""
    first, last = (
        [int(word) for word in (folder / f"cpu-{when}.txt").read_text().splitlines()[0].split()[1:9]]
        for when in ("before", "after")
    )
    spent = [b - a for a, b in zip(first, last, strict=True)]
    return 1 - (spent[3] + spent[4]) / sum(spent) if sum(spent) else None


def _missed(path: Path) -> int:
    found = re.search(r"(\d+) packets dropped by kernel", path.read_text())
    return int(found[1]) if found else 0
