"""What a workload sends: how long it takes, and how many packets. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...analysis import tcp_model
from ...analysis.condition import MSS_BYTES
from ...model.background import Constant
from ...model.data_path import PathHop, data_ways, lowest_rate_bps, path_loss
from ...model.link.bucket import carried_bytes
from ...model.scenario import Trial
from ...model.workload import AskedFlow, Transfer, Workload
from ...plan.network import Plan
from ...trial.orders.sequence import Orders
from ...trial.workload import udp

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
