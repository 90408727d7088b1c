"""How long trials will take on the wall clock, learned from those that have ended. Pure, no I/O.

    wall = a + b × expected packets + c × lab seconds

A lab kernel's time goes into packets; starting it costs about the same each time, and so does each second in which
next to nothing happens. The coefficients are those, none below 0, that come closest to what was seen; each trial's
error counts as a share of its time. Built-in values are the prior: all there is before anything has ended, and a few
trials outweigh them. A cell of which trials have ended takes their mean. In real time a second takes a second, and
only `a` is learned.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import tcp_model
from ..model.impairment import mean_loss
from ..model.scenario import Params, Trial
from ..model.workload import Workload
from ..plan.network import Plan
from ..trial.orders.sequence import RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS, SETTLE_S

FRAME_BYTES = 1514
PRIOR = (0.4, 2.2e-6, 0.007)
"""Seconds for a trial, for a packet and for a lab second: CPU time of `python -m benchmarks empty 1G-50ms-10-offload
10G-100ms-1in10000` (0.40, 5.91 and 1.79 s), which is wall time where a core is free. `nic: plain` takes twice as long.
"""
PRIOR_WEIGHT = 0.1
"""What a coefficient that is wrong by 100 % costs, where a trial whose time is wrong by 100 % costs 1."""
REAL_TIME_START_S = 3.0
LEAST_S = 1e-3

Coefficients = tuple[float, ...]


@dataclass(frozen=True)
class Work:
    """What makes a trial long. `packets` are those that its data is expected to need."""

    packets: float
    lab_s: float
    is_virtual: bool

    @property
    def row(self) -> tuple[float, float, float]:
        return 1.0, self.packets, self.lab_s


def work(trial: Trial, plan: Plan) -> Work:
    """The work of a trial: from its path's rate, its duration, its windows and its loss."""
    length_s, packets = _load(trial.workload, plan)
    around_s = SETTLE_S + RTT_CHECK_COUNT * RTT_CHECK_INTERVAL_NS / 1e9
    return Work(packets, length_s + around_s, trial.kernel.is_virtual_time)


def fitted(seen: Iterable[tuple[Work, float]]) -> Coefficients:
    """The coefficients for trials in virtual time, from work that was done and the wall seconds that it took.

    Non-negative least squares. With three unknowns the way that cannot fail is to try all of their subsets: the best
    one is the solution of ordinary least squares on its own support.
    """
    prior = np.array(PRIOR)
    rows = [np.array(work.row) / max(wall_s, LEAST_S) for work, wall_s in seen]
    weight = PRIOR_WEIGHT**0.5
    matrix = np.vstack([*rows, weight * np.diag(1 / prior)]) * prior  # by the prior, so that all are near 1
    target = np.array([1.0] * len(rows) + [weight] * len(prior))
    best, least = np.zeros(len(prior)), float("inf")
    for size in range(1, len(prior) + 1):
        for support in itertools.combinations(range(len(prior)), size):
            found = np.zeros(len(prior))
            found[list(support)] = np.linalg.lstsq(matrix[:, support], target)[0]
            residual = float(((matrix @ found - target) ** 2).sum())
            if (found >= 0).all() and residual < least:
                best, least = found, residual
    return tuple((best * prior).tolist())


class Forecast:
    """What trials will take. `works` has each cell's work."""

    def __init__(self, works: Mapping[Params, Work]) -> None:
        self._works = works
        self._walls_s: dict[Params, list[float]] = {}
        self._fit: Coefficients | None = None
        self.trials = 0

    def learn(self, params: Params, wall_s: float) -> None:
        """Takes note of a trial of this cell that ended."""
        self._walls_s.setdefault(params, []).append(wall_s)
        self._fit = None
        self.trials += 1

    def wall_s(self, params: Params) -> float:
        """What a trial of this cell will take."""
        walls_s, work = self._walls_s.get(params), self._works[params]
        if walls_s:
            return sum(walls_s) / len(walls_s)
        if not work.is_virtual:
            return work.lab_s + self._real_time_start_s
        return sum(a * b for a, b in zip(self._coefficients, work.row, strict=True))

    def total_s(self, cells: Iterable[Params], jobs: int) -> float:
        """Until trials of these cells are done: `jobs` at a time in virtual time, one at a time on the wall clock."""
        virtual_s, real_s, longest_s = 0.0, 0.0, 0.0
        for params in cells:
            wall_s = self.wall_s(params)
            if self._works[params].is_virtual:
                virtual_s, longest_s = virtual_s + wall_s, max(longest_s, wall_s)
            else:
                real_s += wall_s
        return max(virtual_s / jobs, longest_s) + real_s

    def lab_s(self, params: Params) -> float:
        """Lab seconds that a trial of this cell is planned to have."""
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


def _load(workload: Workload, plan: Plan) -> tuple[float, float]:
    """How long a workload is in seconds, and its packets. Tools say differently how much they send."""
    flows = int(getattr(workload, "flows", 1))
    duration_ns, flow_bytes = getattr(workload, "duration_ns", None), getattr(workload, "flow_bytes", None)
    rate_bps = _rate_bps(workload, plan, flows)
    if duration_ns is not None:
        return duration_ns / 1e9, rate_bps * duration_ns / 8e9 / FRAME_BYTES
    if flow_bytes is not None:
        total_bytes = float(flow_bytes * flows)
        return (8 * total_bytes / rate_bps if rate_bps else 0.0), total_bytes / FRAME_BYTES
    count = int(getattr(workload, "count", 0))
    return count * float(getattr(workload, "interval_ns", 0)) / 1e9, 2.0 * count


def _rate_bps(workload: Workload, plan: Plan, flows: int) -> float:
    """What the path carries, or what windows and loss leave of it."""
    path_bps, rtt_s = float(plan.rate_bps or 0), plan.rtt_ns / 1e9
    if rtt_s == 0:
        return path_bps
    loss = max((mean_loss(stage.loss) for stage in plan.stages(there=True)), default=0.0)
    windows, controls = getattr(workload, "window_bytes", None), getattr(workload, "congestion", None)
    total_bps = 0.0
    for number in range(flows):
        window, control = _of(windows, number), _of(controls, number)
        limits_bps = [path_bps]
        if window is not None:
            limits_bps.append(tcp_model.window_limit_bps(window, rtt_s))
        if loss and control in ("cubic", "reno"):
            segments = (
                tcp_model.cubic_window_segments(loss, rtt_s)
                if control == "cubic"
                else tcp_model.reno_window_segments(loss)
            )
            limits_bps.append(tcp_model.window_throughput_bps(segments, rtt_s, FRAME_BYTES))
        total_bps += min(limits_bps)
    return min(path_bps, total_bps)


def _of(values: Any, number: int) -> Any:
    """The entry of a flow: some tools have one for each, others one for all."""
    return values[number] if isinstance(values, tuple) else values
