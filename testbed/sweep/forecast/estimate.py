"""Estimates the wall time of trials from what they will do, and from the trials that have ended. Pure, no I/O.

    wall = a × start + b × data + c × time

`start` is what the processes and namespaces of a trial take, `data` its packets, connections and downloads, `time` its
samples and changes, by the table in `work`. The coefficients hold the speed of this machine, and what the table does
not know. Before any trial has ended they are 1. Then they are fitted to the ended ones, none below 0, around the median
ratio of what these took to the table. Twice too long counts as much as half as long, and nothing more than ODD times.
A cell with ended trials takes their mean. In real time a second takes a second, and only a start is learned.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping

import numpy as np

from ...model.scenario import Params
from .work import Work

PRIOR = (1.0, 1.0, 1.0)
PRIOR_WEIGHT = 0.1
"""The cost of an error of 100 % in a coefficient, if an error of 100 % in the time of a trial costs 1."""
ODD = 4.0
REAL_TIME_START_S = 3.0
LEAST_S = 1e-3

Coefficients = tuple[float, ...]


def forecast_s(work: Work, coefficients: Coefficients) -> float:
    """The wall seconds of a trial in virtual time."""
    return sum(a * b for a, b in zip(coefficients, work.row, strict=True))


def fitted(ended: Iterable[tuple[Work, float]]) -> Coefficients:
    """The coefficients for trials in virtual time, from the work and the wall seconds of ended trials.

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
        return forecast_s(work, self._coefficients)

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
