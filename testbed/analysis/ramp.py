"""The ramp at the start of a throughput series, and the steady state after it. Pure, no I/O."""

from __future__ import annotations

import numpy as np

from ..codec.frozen import dataclass
from . import statistic
from .statistic import Values


@dataclass(frozen=True)
class Phases:
    """The means of ramp and steady state; `ramp_bps` is None if there is no ramp."""

    ramp_s: float
    ramp_bps: float | None
    steady_bps: float


def split(throughput_bps: Values, ramp_s: float, interval_s: float = 1.0) -> Phases:
    """The means of the samples before and after `ramp_s` (0 or more; 0: no ramp).

    A sample covers `interval_s`; a sample that the ramp covers in part belongs to the ramp. Raises ValueError
    if no sample is left for the steady state.
    """
    samples = statistic.checked(throughput_bps)
    if ramp_s < 0 or interval_s <= 0:
        raise ValueError(f"a ramp of {ramp_s} s in samples of {interval_s} s makes no sense")
    first = int(np.ceil(round(ramp_s / interval_s, 9)))
    if first >= len(samples):
        raise ValueError(f"the ramp of {ramp_s} s leaves nothing of {len(samples) * interval_s} s")
    before = float(samples[:first].mean()) if first else None
    return Phases(first * interval_s, before, float(samples[first:].mean()))


def end_s(throughput_bps: Values, interval_s: float = 1.0) -> float:
    """The end of the ramp by the marginal standard error rule, in seconds from the start; 0 if there is no ramp.

    Among all truncations that leave at least half of the series, take the one with the smallest standard
    error of the rest: MSER of White, Simulation 69, 1997. Needs 2 samples.
    """
    samples = statistic.checked(throughput_bps, 2)
    errors = [_squared_error(samples[start:]) for start in range(len(samples) // 2 + 1)]
    return int(np.argmin(errors)) * interval_s


def _squared_error(rest: statistic.FloatArray) -> float:
    return float(rest.var() / len(rest))
