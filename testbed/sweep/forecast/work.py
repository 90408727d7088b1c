"""What a trial does, in seconds of a processor. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ...model.data_path import lowest_rate_bps
from ...model.scenario import Trial
from ...model.workload import Workload
from ...plan import mininet
from ...plan.network import Plan
from ...plan.node import controller, frr
from ...plan.step import Run
from ...trial.orders.sequence import RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS, SETTLE_S, Orders
from ...trial.start.memory import MAP_SHARE
from .load import FRAME_BYTES, groups_of, load, others

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
    "late": 0.5e-6,  # in superpackets as far as the bucket
    "superpacket": 2.5e-6,  # more, for each of these
    "cut": 1.2e-6,  # in superpackets as far as the end of the delay
    "plain": 1.45e-6,
    "others": 0.35e-6,  # of other traffic
    "single": 1.0e-6,  # more, if the slowest link keeps it too far from the next one to be merged
    "hop": 1.0e-6,  # more, for each link after the first
    "datagram": 4.4e-6,
    "group": 14e-6,  # of datagrams that leave together
    "read": 42e-6,  # by a program that wakes up for whatever has come
    "object": 16e-3,  # that is downloaded
    "flow": 0.1e-3,  # of other traffic
    "busy": 14.5,  # a second of lab time in which a virtual machine sends or receives
    # time
    "round": 0.25e-3,  # of samples
    "socket": 6e-6,  # in a round
    "moment": 11e-3,  # at which something changes
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
    machines = sum(node.vm is not None for node in trial.topology.nodes) if trial.kernel.is_virtual_time else 0
    start = {
        "boot": 1,
        "mininet": plan.count(mininet.Build) > 0,
        "daemon": plan.count(frr.Daemon),
        "controller": plan.count(controller.Start),
        "machine": machines,
        "program": not (_reads_whole(workload) or is_datagrams or workload.programs),
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
        "read": 0.0 if is_datagrams or _reads_whole(workload) else packets / merged,
        "object": sum(each.times * len(each.flows) for each in workload.load if each.flow_bytes and workload.programs),
        "flow": sum(map(len, made.drawn.values())),
        "busy": machines * (min(length_s, packets * PACKET_S) if packets else length_s),
    }
    time = {"round": rounds, "socket": rounds * 2 * workload.connections, "moment": len(plan.timeline)}
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


def _reads_whole(workload: Workload) -> bool:
    """Whether its receiver sleeps until much has come, as our own do; others wake up for each packet."""
    return not workload.programs and bool(workload.reports)
