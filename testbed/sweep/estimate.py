"""Estimates the wall time of trials from the trials that have ended. Pure, no I/O.

    wall = a + b × expected packets + c × lab seconds

A lab kernel spends its time on packets; its start costs about the same each time, and so does each idle second. The
coefficients, none below 0, are fitted to the trials that have ended; each trial's error counts as a share of its time.
Built-in values are the prior: they are used before any trial has ended, and a few trials outweigh them. A cell with
ended trials takes their mean. In real time a second takes a second, and only `a` is learned.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..analysis import tcp_model
from ..analysis.condition import MSS_BYTES
from ..model.data_path import data_ways, lowest_rate_bps, path_loss
from ..model.scenario import Params, Trial
from ..model.workload import AskedFlow, Transfer, Workload
from ..plan.network import Plan
from ..trial.orders.sequence import RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS, SETTLE_S

FRAME_BYTES = 1514
INITIAL_BYTES = 10 * MSS_BYTES
"""The window of a new connection: RFC 6928."""
PRIOR = (0.4, 2.2e-6, 0.007)
"""Seconds for a trial, for a packet and for a lab second: CPU time of `python -m benchmarks empty 1G-50ms-10-offload
10G-100ms-1in10000` (0.40, 5.91 and 1.79 s), which is wall time where a core is free. `nic: plain` takes twice as long.
"""
PRIOR_WEIGHT = 0.1
"""The cost of an error of 100 % in a coefficient, if an error of 100 % in the time of a trial costs 1."""
REAL_TIME_START_S = 3.0
LEAST_S = 1e-3

Coefficients = tuple[float, ...]


@dataclass(frozen=True)
class Work:
    """What determines the wall time of a trial. `packets` are those expected for its data."""

    packets: float
    lab_s: float
    is_virtual: bool

    @property
    def row(self) -> tuple[float, float, float]:
        return 1.0, self.packets, self.lab_s


def work(trial: Trial, plan: Plan) -> Work:
    """The work of a trial: from what its workload sends, and what rates, windows and losses leave of it."""
    length_s, packets = _load(trial.workload, plan)
    around_s = SETTLE_S + RTT_CHECK_COUNT * RTT_CHECK_INTERVAL_NS / 1e9
    return Work(packets, length_s + around_s, trial.kernel.is_virtual_time)


def fitted(ended: Iterable[tuple[Work, float]]) -> Coefficients:
    """The coefficients for trials in virtual time, from the work and the wall seconds of ended trials.

    Non-negative least squares. With three unknowns it is safe to try all of their subsets: the best one is the solution
    of ordinary least squares on its own support.
    """
    prior = np.array(PRIOR)
    rows = [np.array(work.row) / max(wall_s, LEAST_S) for work, wall_s in ended]
    weight = PRIOR_WEIGHT**0.5
    matrix = np.vstack([*rows, weight * np.diag(1 / prior)]) * prior  # scaled by the prior, so that all are near 1
    target = np.array([1.0] * len(rows) + [weight] * len(prior))
    best, least = np.zeros(len(prior)), float("inf")
    for size in range(1, len(prior) + 1):
        for support in itertools.combinations(range(len(prior)), size):
            coefficients = np.zeros(len(prior))
            coefficients[list(support)] = np.linalg.lstsq(matrix[:, support], target)[0]
            residual = float(((matrix @ coefficients - target) ** 2).sum())
            if (coefficients >= 0).all() and residual < least:
                best, least = coefficients, residual
    return tuple((best * prior).tolist())


class Forecast:
    """The expected wall time of trials. `works` has the work of each cell."""

    def __init__(self, works: Mapping[Params, Work]) -> None:
        self._works = works
        self._walls_s: dict[Params, list[float]] = {}
        self._fit: Coefficients | None = None
        self.trials = 0

    def learn(self, params: Params, wall_s: float) -> None:
        """Records the wall time of an ended trial of this cell."""
        self._walls_s.setdefault(params, []).append(wall_s)
        self._fit = None
        self.trials += 1

    def wall_s(self, params: Params) -> float:
        """The expected wall seconds of a trial of this cell."""
        walls_s, work = self._walls_s.get(params), self._works[params]
        if walls_s:
            return sum(walls_s) / len(walls_s)
        if not work.is_virtual:
            return work.lab_s + self._real_time_start_s
        return sum(a * b for a, b in zip(self._coefficients, work.row, strict=True))

    def total_s(self, cells: Iterable[Params], jobs: int) -> float:
        """The wall seconds of trials of these cells: `jobs` at a time in virtual time, one at a time in real time."""
        virtual_s, real_s, longest_s = 0.0, 0.0, 0.0
        for params in cells:
            wall_s = self.wall_s(params)
            if self._works[params].is_virtual:
                virtual_s, longest_s = virtual_s + wall_s, max(longest_s, wall_s)
            else:
                real_s += wall_s
        return max(virtual_s / jobs, longest_s) + real_s

    def lab_s(self, params: Params) -> float:
        """The planned lab seconds of a trial of this cell."""
        return self._works[params].lab_s

    @property
    def _coefficients(self) -> Coefficients:
        if self._fit is None:
            self._fit = fitted(
                (work, sum(walls_s) / len(walls_s))
                for params, walls_s in self._walls_s.items()
                if (work := self._works[params]).is_virtual
            )
        return self._fit

    @property
    def _real_time_start_s(self) -> float:
        over_s = [
            wall_s - work.lab_s
            for params, walls_s in self._walls_s.items()
            if not (work := self._works[params]).is_virtual
            for wall_s in walls_s
        ]
        return max(0.0, sum(over_s) / len(over_s)) if over_s else REAL_TIME_START_S


@dataclass(frozen=True)
class _Path:
    """One path of the data: its lowest rate, infinite if it has none; its round trip; the share of packets it loses."""

    rate_bps: float
    rtt_s: float
    loss: float


def _load(workload: Workload, plan: Plan) -> tuple[float, float]:
    """The duration of a workload in seconds, and its packets."""
    paths, seconds, packets = _paths(plan), 0.0, 0.0
    for transfer in workload.load:
        once_s, sent = _transfer(transfer, paths[-transfer.paths :])
        seconds += transfer.times * (once_s + transfer.pause_ns / 1e9)
        packets += transfer.times * sent
    seconds -= workload.load[-1].pause_ns / 1e9  # it lies between transfers
    return (seconds if workload.length_ns is None else workload.length_ns / 1e9), packets


def _paths(plan: Plan) -> list[_Path]:
    data_paths = [each for each in (plan.upstream, plan.data_path) if each is not None]
    ways = data_ways(data_paths)
    rates = [lowest_rate_bps(each.path) for each in data_paths]
    return [
        _Path(math.inf if rate is None else rate, each.rtt_ns / 1e9, path_loss(each.path, ways))
        for rate, each in zip(rates, data_paths, strict=True)
    ]


def _transfer(transfer: Transfer, paths: list[_Path]) -> tuple[float, float]:
    """The duration of one transfer in seconds, and its packets on all of its paths."""
    rate_bps = min(_rate_bps(transfer.flows, path) for path in paths)
    rate_bps = rate_bps if math.isfinite(rate_bps) else 0.0  # in real time only, where the length counts
    if transfer.duration_ns is not None:
        seconds = transfer.duration_ns / 1e9
        sent_bytes = rate_bps * seconds / 8
    else:
        sent_bytes = float((transfer.flow_bytes or 0) * len(transfer.flows))
        rtt_s = sum(path.rtt_s for path in paths)
        seconds = transfer.round_trips * rtt_s
        if rate_bps:
            share_bps = rate_bps / len(transfer.flows)
            seconds += _sending_s(transfer.flow_bytes or 0, share_bps, rtt_s if transfer.slow_start else 0.0)
    if transfer.packets is not None:
        return seconds, float(transfer.packets)
    return seconds, sent_bytes / (transfer.datagram_bytes or FRAME_BYTES) * len(paths)


def _sending_s(size_bytes: int, rate_bps: float, rtt_s: float) -> float:
    """The sending time of a flow: in slow start until it fills the path or has sent all, then at this rate."""
    window_bytes = min(rate_bps * rtt_s / 8, size_bytes + INITIAL_BYTES)
    if window_bytes <= INITIAL_BYTES:
        return 8 * size_bytes / rate_bps
    start_s = tcp_model.slow_start_s(window_bytes / MSS_BYTES, rtt_s)
    return start_s + 8 * (size_bytes - (window_bytes - INITIAL_BYTES)) / rate_bps


def _rate_bps(flows: Sequence[AskedFlow], path: _Path) -> float:
    """The rate of all flows together: for TCP what the path carries, reduced by windows and loss."""
    yielding = [flow for flow in flows if flow.congestion is not None]
    offered_bps = sum(flow.rate_bps or 0 for flow in flows if flow.congestion is None)
    return offered_bps + min(path.rate_bps, sum(_tcp_bps(flow, path) for flow in yielding))


def _tcp_bps(flow: AskedFlow, path: _Path) -> float:
    limits_bps = [path.rate_bps, math.inf if flow.rate_bps is None else float(flow.rate_bps)]
    if flow.window_bytes is not None and path.rtt_s:
        limits_bps.append(tcp_model.window_limit_bps(flow.window_bytes, path.rtt_s))
    if path.loss and path.rtt_s and flow.congestion in ("cubic", "reno"):
        segments = (
            tcp_model.cubic_window_segments(path.loss, path.rtt_s)
            if flow.congestion == "cubic"
            else tcp_model.reno_window_segments(path.loss)
        )
        limits_bps.append(tcp_model.window_throughput_bps(segments, path.rtt_s, FRAME_BYTES))
    return min(limits_bps)
