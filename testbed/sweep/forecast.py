"""Estimates the time of trials from what they will do, and from the trials that have ended. Pure, no I/O.

    CPU = a × start + b × data + c × time

`start` is what the processes and namespaces of a trial take, `data` its packets, connections and downloads, `time` its
samples and changes, by the table of costs. The coefficients hold the speed of this machine, and what the table does
not know. Before any trial has ended they are 1. Then they are fitted to the ended ones, none below 0, around the median
ratio of what these took to the table. Twice too long counts as much as half as long, and nothing more than ODD times.
A cell with ended trials takes their mean.

    wall = CPU × slowdown

The slowdown is what the last trials of this run had; before one has ended, what the load of the computer makes of it.
In real time a second takes a second, and only a start is learned.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..analysis import tcp_model
from ..analysis.condition import MSS_BYTES
from ..codec.frozen import dataclass
from ..kernel.consumption import Load
from ..model.background import Constant
from ..model.data_path import PathHop, data_ways, lowest_rate_bps, path_loss
from ..model.link.bucket import carried_bytes
from ..model.scenario import Params, Trial
from ..model.workload import AskedFlow, Transfer, Workload
from ..plan import mininet
from ..plan.link.timeline import looks
from ..plan.network import Plan
from ..plan.node import controller, frr
from ..plan.step import Run
from ..trial.orders.sequence import SETTLE_S, Orders
from ..trial.start.memory import MAP_SHARE
from ..trial.subject.round_trip import RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS
from ..trial.workload import udp

FRAME_BYTES = 1514
INITIAL_BYTES = 10 * MSS_BYTES
"""The window of a new connection: RFC 6928."""
WINDOW_SHARE = 0.6
"""How much of a socket's buffer can be payload; the rest is what the kernel counts for its packets."""
FIRST_LOSSES = 6
"""After so many losses in the time of each flow its window is no longer that of slow start: measured, 1 and 10 flows of
CUBIC and HTCP, 22 to 366 ms, 1 in 10 000 and 1 in 100 000, within 30 %."""
SCALABLE_SEGMENTS = 0.08
"""Scalable's window times its loss: 0.01 for each ACK, against an eighth for each loss. Kelly, Scalable TCP, 2003."""


@dataclass(frozen=True)
class _Path:
    """One path of the data: its lowest rate, infinite if it has none; its round trip, with the time that a packet takes
    to leave each hop; the share of packets it loses.
    """

    rate_bps: float
    rtt_s: float
    loss: float


@dataclass(frozen=True)
class Others:
    """The packets of other traffic: those of its flows, its datagrams, and the groups that these leave in."""

    packets: float = 0.0
    datagrams: float = 0.0
    groups: float = 0.0

    @property
    def all(self) -> float:
        return self.packets + self.datagrams


def others(trial: Trial, made: Orders) -> Others:
    """Flows without a size fill the slowest link while they last, as far as the workload leaves it."""
    packets = datagrams = groups = 0.0
    for (name, each), path in zip(trial.background, made.plan.background, strict=True):
        if isinstance(each, Constant):
            count = each.rate_bps / 8 / each.length_bytes * (each.duration_ns or _asked_ns(trial.workload)) / 1e9
            datagrams += count
            groups += count / udp.burst(each.rate_bps, each.length_bytes)
        rate_bps = lowest_rate_bps(path.path) or 0
        sent = 0.0
        for burst in made.drawn[name]:
            spell_s = 0.0 if burst.stop_ns is None else (burst.stop_ns - burst.start_ns) / 1e9
            sent += (burst.flow_bytes or rate_bps * spell_s / 8) / FRAME_BYTES
        left_bps = max(rate_bps - trial.workload.unyielding_bps, rate_bps / 10)
        longest_s = (each.lead_ns + (each.duration_ns or _asked_ns(trial.workload))) / 1e9
        packets += min(sent, left_bps * longest_s / 8 / FRAME_BYTES) if rate_bps else sent
    return Others(packets, datagrams, groups)


def groups_of(transfer: Transfer) -> int:
    """How many datagrams leave together."""
    rate_bps = max((flow.rate_bps or 0 for flow in transfer.flows), default=0)
    return transfer.at_once or udp.burst(rate_bps, transfer.datagram_bytes or FRAME_BYTES)


def _asked_ns(workload: Workload) -> int:
    return workload.length_ns or sum(each.times * (each.duration_ns or 0) for each in workload.load)


def load(trial: Trial, plan: Plan, beside: float) -> tuple[float, float]:
    """The duration of a workload in seconds, and its packets, `beside` so many of other traffic."""
    workload = trial.workload
    limit_bytes = WINDOW_SHARE * min(_largest_bytes(trial, name) for name in ("rmem", "wmem"))
    asked_bytes = sum(each.times * (each.flow_bytes or 0) * len(each.flows) for each in workload.load)
    paths, seconds, packets = _paths(plan, beside, _asked_ns(workload) / 1e9, asked_bytes), 0.0, 0.0
    for transfer in workload.load:
        once_s, sent = _transfer(transfer, paths[-transfer.paths :], limit_bytes)
        seconds += transfer.times * (once_s + transfer.pause_ns / 1e9)
        packets += transfer.times * sent
    seconds -= workload.load[-1].pause_ns / 1e9  # it lies between transfers
    return (seconds if workload.length_ns is None else workload.length_ns / 1e9), packets


def _largest_bytes(trial: Trial, name: str) -> float:
    """The largest buffer that net.ipv4.tcp_rmem or tcp_wmem allows; infinite if the trial leaves them alone."""
    last = dict(trial.sysctls).get(f"net.ipv4.tcp_{name}", "").split()[-1:]
    return float(last[0]) if last and last[0].isdecimal() else math.inf


def _paths(plan: Plan, beside: float, seconds: float, asked_bytes: int) -> list[_Path]:
    """`beside` packets cross the same paths in these seconds, or while so many bytes are sent; a tenth of a rate is
    left in any case.
    """
    data_paths = [each for each in (plan.upstream, plan.data_path) if each is not None]
    ways = data_ways(data_paths)
    taken_bps = beside * FRAME_BYTES * 8 / seconds if seconds else 0.0
    shared = {hop for other in plan.background for hop in other.path}
    found = []
    for each in data_paths:
        rates = {hop: _mean_bps(hop, seconds, asked_bytes) for hop in each.path}
        left = (max(rate - taken_bps, rate / 10) if hop in shared else rate for hop, rate in rates.items() if rate)
        rtt_s = each.rtt_ns / 1e9 + sum(8 * FRAME_BYTES / rate for rate in rates.values() if rate)
        found.append(_Path(min(left, default=math.inf), rtt_s, path_loss(each.path, ways)))
    return found


def _mean_bps(hop: PathHop, seconds: float, asked_bytes: int) -> float | None:
    """The rate of a hop; of a shaper the mean over these seconds, or else while it sends so many bytes. None if it has
    none.
    """
    shaper = hop.link.own(hop.way).shaper
    if shaper is None:
        return lowest_rate_bps((hop,))
    if seconds:
        return carried_bytes(shaper, round(seconds * 1e9)) * 8 / seconds
    takes_s = max(8 * asked_bytes / shaper.rate_bps, 8 * (asked_bytes - shaper.burst_bytes) / shaper.refill_bps)
    return 8 * asked_bytes / takes_s if asked_bytes else shaper.rate_bps


def _transfer(transfer: Transfer, paths: list[_Path], limit_bytes: float) -> tuple[float, float]:
    """The duration of one transfer in seconds, and its packets on all of its paths."""
    if transfer.duration_ns and transfer.spread_ns:  # a path is in use for longer than each of the flows
        longer = 1 + transfer.spread_ns / transfer.duration_ns
        paths = [replace(path, rate_bps=path.rate_bps * longer) for path in paths]
    rate_bps = min(_rate_bps(transfer.flows, path, limit_bytes) for path in paths)
    rate_bps = rate_bps if math.isfinite(rate_bps) else 0.0  # in real time only, where the length counts
    rtt_s = sum(path.rtt_s for path in paths)
    if transfer.duration_ns is not None:
        seconds = transfer.duration_ns / 1e9
        full_bytes = min(path.rate_bps for path in paths) * seconds / 8
        sent_bytes = rate_bps / 8 * (seconds - _ramp_s(transfer.flows, rate_bps, rtt_s, seconds))
        sent_bytes += min(_before_loss_bytes(transfer.flows, paths), max(0.0, full_bytes - sent_bytes))
    else:
        sent_bytes = float((transfer.flow_bytes or 0) * len(transfer.flows))
        seconds = transfer.round_trips * rtt_s
        if rate_bps:
            share_bps = rate_bps / len(transfer.flows)
            seconds += _sending_s(transfer.flow_bytes or 0, share_bps, rtt_s if transfer.slow_start else 0.0)
    if transfer.packets is not None:
        return seconds, float(transfer.packets)
    return seconds, sent_bytes / (transfer.datagram_bytes or FRAME_BYTES) * len(paths)


def _before_loss_bytes(flows: Sequence[AskedFlow], paths: Sequence[_Path]) -> float:
    """What flows send beyond the window that loss leaves them, until it does."""
    loss = max(path.loss for path in paths)
    losing = sum(flow.congestion not in (None, "bbr") and flow.rate_bps is None for flow in flows)
    return losing * FIRST_LOSSES / loss * FRAME_BYTES if loss else 0.0


def _ramp_s(flows: Sequence[AskedFlow], rate_bps: float, rtt_s: float, most_s: float) -> float:
    """How many seconds of its rate slow start costs a transfer: it takes that much longer than the window it fills."""
    window_bytes = rate_bps * rtt_s / 8 / max(1, len(flows))
    if window_bytes <= INITIAL_BYTES or any(flow.congestion is None for flow in flows):
        return 0.0
    return min(most_s, max(0.0, tcp_model.slow_start_s(window_bytes / MSS_BYTES, rtt_s) - rtt_s))


def _sending_s(size_bytes: int, rate_bps: float, rtt_s: float) -> float:
    """The sending time of a flow: in slow start until it fills the path or has sent all, then at this rate."""
    window_bytes = min(rate_bps * rtt_s / 8, size_bytes + INITIAL_BYTES)
    if window_bytes <= INITIAL_BYTES:
        return 8 * size_bytes / rate_bps
    start_s = tcp_model.slow_start_s(window_bytes / MSS_BYTES, rtt_s)
    return start_s + 8 * (size_bytes - (window_bytes - INITIAL_BYTES)) / rate_bps


def _rate_bps(flows: Sequence[AskedFlow], path: _Path, limit_bytes: float) -> float:
    """The rate of all flows together: for TCP what the path carries, reduced by windows and loss."""
    yielding = [flow for flow in flows if flow.congestion is not None]
    offered_bps = sum(flow.rate_bps or 0 for flow in flows if flow.congestion is None)
    return offered_bps + min(path.rate_bps, sum(_tcp_bps(flow, path, limit_bytes) for flow in yielding))


def _tcp_bps(flow: AskedFlow, path: _Path, limit_bytes: float) -> float:
    limits_bps = [path.rate_bps, math.inf if flow.rate_bps is None else float(flow.rate_bps)]
    window_bytes = limit_bytes if flow.window_bytes is None else min(limit_bytes, flow.window_bytes)
    if math.isfinite(window_bytes) and path.rtt_s:
        limits_bps.append(tcp_model.window_limit_bps(window_bytes, path.rtt_s))
    if path.loss and path.rtt_s and flow.congestion != "bbr":
        segments = {
            "reno": tcp_model.reno_window_segments(path.loss),
            "scalable": SCALABLE_SEGMENTS / path.loss,
        }.get(flow.congestion or "", tcp_model.cubic_window_segments(path.loss, path.rtt_s))
        limits_bps.append(tcp_model.window_throughput_bps(segments, path.rtt_s, FRAME_BYTES))
    return min(limits_bps)


SECONDS = {
    # start
    "boot": 0.08,
    "process": 0.005,  # a program that a step starts
    "namespace": 0.0015,
    "daemon": 0.5,  # of FRR
    "controller": 0.7,  # in Python
    "program": 0.2,  # of users
    "mininet": 1.2,
    "machine": 3.5,  # virtual, from its start to its end
    # data, for each packet on its way from end to end, with its share of ACKs
    "late": 0.22e-6,  # in superpackets as far as the bucket
    "superpacket": 3.5e-6,  # more, for each of these
    "cut": 1.2e-6,  # in superpackets as far as the end of the delay
    "plain": 1.45e-6,
    "others": 0.35e-6,  # of other traffic
    "single": 1.0e-6,  # more, if the slowest link keeps it too far from the next one to be merged
    "hop": 1.0e-6,  # more, for each link after the first
    "datagram": 4.4e-6,
    "group": 14e-6,  # of datagrams that leave together
    "read": 42e-6,  # by a program that wakes up for whatever has come
    "fill": 1.5e-6,  # by our library that reads for curl
    "object": 16e-3,  # that is downloaded
    "flow": 0.1e-3,  # of other traffic
    "busy": 14.5,  # a second of lab time in which a virtual machine sends or receives
    # time
    "round": 0.25e-3,  # of samples
    "socket": 6e-6,  # in a round
    "moment": 11e-3,  # at which something changes
    "look": 0.14e-3,  # at a sender, until it is in the state of an event
}
"""Processor seconds of a trial, each time that something happens; `python -m benchmarks forecast` measures them all
together, and perf what a packet's share consists of (docs/internals/speed.md).
"""
BOOT_BYTES, NAMESPACE_BYTES, FLOW_BYTES = 24 << 20, 400 << 10, 6 << 10
PROGRAMS_BYTES, CONNECTION_BYTES = 12 << 20, 300 << 10
NODE_BYTES = {"mininet": 28 << 20, "daemon": 4 << 20, "controller": 45 << 20, "machine": 340 << 20}
OFFLOAD_SHARE, PLAIN_SHARE = 0.22, 1.3
"""How much memory a byte on the path takes: as superpackets, and as single packets."""
GRO_FLUSH_S = 20e-6
"""For how long a NIC merges what it receives."""
PACKET_S = 5e-6
"""For how long a packet keeps a virtual machine of 1 GIPS busy: 800 to 4 900 instructions, by the window."""
SUPERPACKET_PACKETS = 2, 44
"""How many packets a superpacket stands for, at least and at most."""
PACING, PACED_S, NEAR = 1.2, 1 / 1024, 9
"""A superpacket is what leaves in PACED_S at the rate at which TCP paces, some more than it gets, and 64 KiB more, half
of that for each 2^NEAR us of RTT (tcp_tso_autosize and tcp_update_pacing_rate in Linux 7.3.4).
"""
MERGED = 16
"""How many packets a program gets at once that reads as data comes, where NICs merge."""


@dataclass(frozen=True)
class Work:
    """What determines the wall time of a trial. `packets` are those expected for its data; the other three are the
    terms of the forecast, in seconds of SECONDS. `touched_bytes` is the memory that a lab kernel will probably take of
    the host; its ceiling is above that.
    """

    start_s: float
    data_s: float
    time_s: float
    lab_s: float
    is_virtual: bool
    packets: float = 0.0
    touched_bytes: int = 0
    counts: tuple[tuple[str, float], ...] = ()

    @property
    def row(self) -> tuple[float, float, float]:
        return self.start_s, self.data_s, self.time_s


def work(trial: Trial, made: Orders) -> Work:
    """The work of a trial: from what its workload sends, and what rates, windows and losses leave of it."""
    plan, workload = made.plan, trial.workload
    beside = others(trial, made)
    length_s, packets = load(trial, plan, beside.all)
    around_s = SETTLE_S + RTT_CHECK_COUNT * RTT_CHECK_INTERVAL_NS / 1e9
    rounds = 0.0 if trial.samples_interval_ns is None else length_s / (trial.samples_interval_ns / 1e9)
    at_once = max((groups_of(each) for each in workload.load), default=1)
    is_datagrams = any(each.datagram_bytes or each.packets is not None for each in workload.load)
    is_slow = _is_slow(workload, plan)
    merged = 1 if is_slow or _come_apart(packets, length_s) else MERGED
    is_ours = bool(workload.reports) and not workload.programs  # its receiver sleeps until much has come
    objects = sum(each.times * len(each.flows) for each in workload.load if each.flow_bytes and workload.programs)
    machines = sum(node.vm is not None for node in trial.topology.nodes) if trial.kernel.is_virtual_time else 0
    start = {
        "boot": 1,
        "mininet": plan.count(mininet.Build) > 0,
        "daemon": plan.count(frr.Daemon),
        "controller": plan.count(controller.Start),
        "machine": machines,
        "program": not (is_ours or is_datagrams or workload.programs),
        "process": sum(isinstance(step, Run) for step in made.steps),
        "namespace": plan.namespaces,
    }
    way = "datagram" if is_datagrams else _way(trial, plan)
    each_bytes_s = packets * FRAME_BYTES / length_s / workload.connections if length_s and workload.connections else 0.0
    data = {
        **({} if is_datagrams else {way: packets}),
        "superpacket": packets / _packets_of_one(each_bytes_s, _rtt_s(plan)) if way == "late" else 0.0,
        "datagram": beside.datagrams + (packets if is_datagrams else 0.0),
        "group": beside.groups + (packets / at_once if is_datagrams else 0.0),
        "others": beside.packets,
        "single": (packets if is_slow else 0.0) + (beside.all if _come_apart(beside.all, length_s) else 0.0),
        "hop": packets * max(0, len(plan.path) - 1),
        "read": 0.0 if is_datagrams or objects or is_ours else packets / merged,
        "fill": packets / merged if objects else 0.0,
        "object": objects,
        "flow": sum(map(len, made.drawn.values())),
        "busy": machines * (min(length_s, packets * PACKET_S) if packets else length_s),
    }
    time = {
        **{"round": rounds, "socket": rounds * 2 * workload.connections},
        **{"moment": len(plan.timeline) + 2 * len(plan.events), "look": looks(plan.events, length_s)},
    }
    counts = tuple({**start, **data, **time}.items())
    terms = (_seconds(start), _seconds(data), _seconds(time))
    flying = 2 * packets / length_s * FRAME_BYTES * _rtt_s(plan) if length_s else 0.0
    touched = _touched_bytes(trial, made, flying, dict(counts))
    lab_s = length_s + around_s
    return Work(*terms, lab_s, trial.kernel.is_virtual_time, packets, round(touched), counts)


def _rtt_s(plan: Plan) -> float:
    return sum(each.rtt_ns for each in (plan.upstream, plan.data_path) if each is not None) / 1e9


def _touched_bytes(trial: Trial, made: Orders, flying_bytes: float, counts: Mapping[str, float]) -> float:
    """What the guest touches of its memory; `flying_bytes` are on the path, and wait in a buffer of one BDP. Payload is
    not copied, so what packets take is mostly their headers and their place in queues.
    """
    touched = BOOT_BYTES + MAP_SHARE * made.memory_bytes + NAMESPACE_BYTES * made.plan.namespaces
    touched += (PLAIN_SHARE if counts.get("plain") else OFFLOAD_SHARE) * flying_bytes
    touched += FLOW_BYTES * counts["flow"]
    if counts["read"] or counts["object"]:
        touched += PROGRAMS_BYTES + CONNECTION_BYTES * trial.workload.connections
    for key, each_bytes in NODE_BYTES.items():
        touched += each_bytes * counts[key]
    return touched


def _seconds(counts: Mapping[str, float]) -> float:
    return sum(SECONDS[key] * count for key, count in counts.items())


def _way(trial: Trial, plan: Plan) -> str:
    """How the packets of the data pass: as superpackets to the bucket, to the end of the delay, or never."""
    if dict(plan.nics).get(trial.workload.source) == "plain":
        return "plain"
    on_path = [emulator for emulator, _ in plan.emulators_passed(is_data=True)]
    return "late" if on_path and all(s.cuts_late for e in on_path for s in e.stages) else "cut"


def _packets_of_one(rate_bytes: float, rtt_s: float) -> float:
    """How many packets a superpacket stands for, of a flow that gets `rate_bytes` a second."""
    size = PACING * rate_bytes * PACED_S + 2.0 ** (16 - (round(rtt_s * 1e6) >> NEAR))
    least, most = SUPERPACKET_PACKETS
    return min(most, max(least, size / FRAME_BYTES))


def _is_slow(workload: Workload, plan: Plan) -> bool:
    """Whether packets come too far apart to be merged again."""
    rates = [lowest_rate_bps(plan.path), *(flow.rate_bps for flow in workload.asked_flows)]
    rate_bps = min((rate for rate in rates if rate is not None), default=math.inf)
    return _is_apart(rate_bps)


def _come_apart(packets: float, length_s: float) -> bool:
    """Whether they do if they come evenly."""
    return length_s > 0 and _is_apart(8 * FRAME_BYTES * packets / length_s)


def _is_apart(rate_bps: float) -> bool:
    return rate_bps * GRO_FLUSH_S < 8 * FRAME_BYTES


PRIOR = (1.0, 1.0, 1.0)
PRIOR_WEIGHT = 0.1
"""The cost of an error of 100 % in a coefficient, if an error of 100 % in the time of a trial costs 1."""
ODD = 4.0
REAL_TIME_START_S = 3.0
LEAST_S = 1e-3

MODEL_ERROR, LEAST_ERROR, MOST_ERROR = 1.3, 1.1, 3.0
"""How many times as long, or as short, trials take as was told: without ended trials, as 52 of 62 scenarios; at least;
at most."""
CROWDED = 3.0
"""How many times the processor time, at most, where trials share cores with others: caches and hyperthreads are shared,
too. At a load of 19 on two cores an empty trial took 0.47 and 0.56 s of a processor, and the table says 0.17.
"""
RECENT = 8
"""So many trials of this run say what the next ones will meet."""

Coefficients = tuple[float, ...]


def forecast_s(work: Work, coefficients: Coefficients) -> float:
    """The processor seconds of a trial in virtual time."""
    return sum(a * b for a, b in zip(coefficients, work.row, strict=True))


def fitted(ended: Iterable[tuple[Work, float]]) -> Coefficients:
    """The coefficients for trials in virtual time, from the work and the processor seconds of ended trials.

    Non-negative least squares, around the speed of this machine: the median ratio of what trials took to what the table
    says. With three unknowns it is safe to try all of their subsets: the best one is the solution of ordinary least
    squares on its own support.
    """
    seen = [(work, max(wall_s, LEAST_S)) for work, wall_s in ended]
    speed = statistics.median([wall_s / forecast_s(work, PRIOR) for work, wall_s in seen]) if seen else 1.0
    prior = speed * np.array(PRIOR)
    told = [speed * forecast_s(work, PRIOR) for work, _ in seen]
    seen = [(work, min(max(wall_s, s / ODD), s * ODD)) for (work, wall_s), s in zip(seen, told, strict=True)]
    scales = [(wall_s * s) ** 0.5 for (_, wall_s), s in zip(seen, told, strict=True)]
    rows = [np.array(work.row) / scale for (work, _), scale in zip(seen, scales, strict=True)]
    weight = PRIOR_WEIGHT**0.5
    matrix = np.vstack([*rows, weight * np.diag(1 / prior)]) * prior  # scaled by the prior, so that all are near 1
    walls = [wall_s / scale for (_, wall_s), scale in zip(seen, scales, strict=True)]
    target = np.array([*walls, *([weight] * len(prior))])
    best, least = np.zeros(len(prior)), float("inf")
    for size in range(1, len(prior) + 1):
        for support in itertools.combinations(range(len(prior)), size):
            coefficients = np.zeros(len(prior))
            coefficients[list(support)] = np.linalg.lstsq(matrix[:, support], target)[0]
            residual = float(((matrix @ coefficients - target) ** 2).sum())
            if (coefficients >= 0).all() and residual < least:
                best, least = coefficients, residual
    return tuple((best * prior).tolist())


@dataclass(frozen=True)
class Range:
    """What is expected, and between what it will be in most cases."""

    least: float
    expected: float
    most: float


@dataclass(frozen=True)
class Told:
    """What trials will take: processor seconds, and wall seconds."""

    cpu_s: Range
    wall_s: Range


class Forecast:
    """The expected time of trials. `works` has the work of each cell, `load` how busy the computer is on which they
    run (None: that is not known; each has a core).
    """

    def __init__(self, works: Mapping[Params, Work], load: Load | None = None) -> None:
        self._works = works
        self.load = load
        self._costs_s: dict[Params, list[float]] = {}
        self._slowdowns: deque[float] = deque(maxlen=RECENT)
        self._errors: deque[float] = deque(maxlen=RECENT)
        self._fit: Coefficients | None = None
        self.trials = 0

    def recall(self, params: Params, wall_s: float, cpu_s: float | None = None) -> None:
        """Records what a trial of this cell took that ended before this run, when the computer was as busy as it was.
        `cpu_s` None: it was not measured.
        """
        self._record(params, cpu_s or wall_s)

    def learn(self, params: Params, wall_s: float, cpu_s: float | None = None) -> None:
        """Records what a trial of this cell took that has just ended."""
        if self._works[params].is_virtual:
            cost_s = cpu_s or wall_s / self.slowdowns(1).expected
            if self.trials:
                self._errors.append(max(cost_s, LEAST_S) / max(self.cpu_s(params), LEAST_S))
            if cpu_s:
                self._slowdowns.append(max(1.0, wall_s / cpu_s))
            self._record(params, cost_s)
        else:
            self._record(params, wall_s)

    def _record(self, params: Params, cost_s: float) -> None:
        self._costs_s.setdefault(params, []).append(cost_s)
        self._fit = None
        self.trials += 1

    @property
    def is_measured(self) -> bool:
        """Whether trials of this run have shown how busy the computer is."""
        return bool(self._slowdowns)

    def slowdowns(self, jobs: int) -> Range:
        """The wall time of a trial over its processor time, with so many side by side."""
        if self._slowdowns:
            return Range(min(self._slowdowns), statistics.median(self._slowdowns), max(self._slowdowns))
        now = 1.0 if self.load is None else self.load.slowdown(jobs)
        return Range(1.0, now, now)

    @property
    def error(self) -> float:
        """How many times as long, or as short, a trial probably takes on a processor as was told: the geometric mean of
        the last errors.
        """
        if not self._errors:
            return MODEL_ERROR
        far = statistics.fmean(abs(math.log(each)) for each in self._errors)
        return min(MOST_ERROR, max(LEAST_ERROR, math.exp(far)))

    def cpu_s(self, params: Params) -> float:
        """The expected processor seconds of a trial of this cell; in real time its wall seconds."""
        costs_s, work = self._costs_s.get(params), self._works[params]
        if costs_s:
            return sum(costs_s) / len(costs_s)
        if not work.is_virtual:
            return work.lab_s + self._real_time_start_s
        return forecast_s(work, self._coefficients)

    def wall_s(self, params: Params, jobs: int = 1) -> float:
        """The expected wall seconds of a trial of this cell, with so many side by side."""
        return self.cpu_s(params) * (self.slowdowns(jobs).expected if self._works[params].is_virtual else 1.0)

    def told(self, cells: Iterable[Params], jobs: int) -> Told:
        """For trials of these cells: `jobs` at a time in virtual time, one at a time in real time."""
        virtual_s, real_s, longest_s = 0.0, 0.0, 0.0
        for params in cells:
            cpu_s = self.cpu_s(params)
            if self._works[params].is_virtual:
                virtual_s, longest_s = virtual_s + cpu_s, max(longest_s, cpu_s)
            else:
                real_s += cpu_s
        once_s, slow = max(virtual_s / jobs, longest_s), self.slowdowns(jobs)
        most = self.error * (1.0 if self.is_measured or slow.most == 1 else CROWDED)
        cost_s = Range(virtual_s / self.error, virtual_s, virtual_s * most)
        low_s, high_s = once_s * slow.least / self.error, once_s * slow.most * most
        return Told(cost_s, Range(low_s + real_s, once_s * slow.expected + real_s, high_s + real_s))

    def total_s(self, cells: Iterable[Params], jobs: int) -> float:
        """The wall seconds of trials of these cells."""
        return self.told(cells, jobs).wall_s.expected

    def touched_bytes(self, params: Params) -> int:
        """The memory that a trial of this cell will probably take in a lab kernel; its ceiling is higher."""
        return self._works[params].touched_bytes

    def lab_s(self, params: Params) -> float:
        """The planned lab seconds of a trial of this cell."""
        return self._works[params].lab_s

    @property
    def _coefficients(self) -> Coefficients:
        if self._fit is None:
            self._fit = fitted(
                (work, sum(costs_s) / len(costs_s))
                for params, costs_s in self._costs_s.items()
                if (work := self._works[params]).is_virtual
            )
        return self._fit

    @property
    def _real_time_start_s(self) -> float:
        over_s = [
            cost_s - work.lab_s
            for params, costs_s in self._costs_s.items()
            if not (work := self._works[params]).is_virtual
            for cost_s in costs_s
        ]
        return max(0.0, sum(over_s) / len(over_s)) if over_s else REAL_TIME_START_S
