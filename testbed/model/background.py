"""Background traffic as values, and the draw of the start and size of each flow. Pure, no I/O.

The draw depends on the seed, the name and the values only: a schedule is part of the plan.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

from ..error import UserError

FLOWS_MAX = 20_000
"""The most flows of one background. Each needs its own client port, of which there are 28 232."""


@dataclass(frozen=True)
class OnOff:
    """A sender that is on and off for exponential times with these means; while on, a flow sends all it can."""

    pattern: ClassVar[str] = "on-off"

    source: str
    destination: str
    busy_ns: int
    idle_ns: int
    congestion: str = "cubic"
    lead_ns: int = 0
    duration_ns: int | None = None


@dataclass(frozen=True)
class HeavyTailed:
    """Flows that arrive as a Poisson process, `arrivals` in a second, with sizes of a Pareto distribution.

    `shape` is more than 1, so that the mean, `mean_bytes`, exists.
    """

    pattern: ClassVar[str] = "heavy-tailed"

    source: str
    destination: str
    arrivals: Fraction
    mean_bytes: int
    shape: Fraction
    congestion: str = "cubic"
    lead_ns: int = 0
    duration_ns: int | None = None


@dataclass(frozen=True)
class Constant:
    """Datagrams of `length_bytes` of payload at a constant rate, counted in payload."""

    pattern: ClassVar[str] = "constant"

    source: str
    destination: str
    rate_bps: int
    length_bytes: int = 1400
    lead_ns: int = 0
    duration_ns: int | None = None


Background: TypeAlias = OnOff | HeavyTailed | Constant
"""It starts `lead_ns` before the workload and runs for `duration_ns` at most; None is until the workload ends.
"""


Backgrounds: TypeAlias = tuple[tuple[str, Background], ...]
"""Each with its name."""


@dataclass(frozen=True)
class Burst:
    """One flow of a background: starts at `start_ns`, from the background's start, and sends `flow_bytes` or, if that
    is None, all it can until `stop_ns`.
    """

    start_ns: int
    stop_ns: int | None
    flow_bytes: int | None


def schedule(background: OnOff | HeavyTailed, *, name: str, seed: int, length_ns: int) -> tuple[Burst, ...]:
    """The flows that start in the first `length_ns`, in order. Raises UserError if there are too many."""
    draw = random.Random(f"{seed}/background/{name}")
    if isinstance(background, OnOff):
        drawn = _on_off(background, draw, length_ns)
    else:
        drawn = _heavy_tailed(background, draw, length_ns)
    found = []
    for burst in drawn:
        found.append(burst)
        if len(found) > FLOWS_MAX:
            raise UserError(
                f"background {name}: these are more than {FLOWS_MAX} flows in {length_ns / 1e9:g} s; allowed: fewer "
                "arrivals, longer times, or a shorter duration"
            )
    return tuple(found)


def _on_off(background: OnOff, draw: random.Random, length_ns: int) -> Iterator[Burst]:
    """Is on at the start with the probability of its share of time: exponential times have no memory, so this is its
    steady state.
    """
    is_on = draw.random() < background.busy_ns / (background.busy_ns + background.idle_ns)
    at_ns = 0
    while at_ns < length_ns:
        spell_ns = max(1, round(draw.expovariate(1 / (background.busy_ns if is_on else background.idle_ns))))
        if is_on:
            yield Burst(at_ns, min(at_ns + spell_ns, length_ns), None)
        at_ns += spell_ns
        is_on = not is_on


def _heavy_tailed(background: HeavyTailed, draw: random.Random, length_ns: int) -> Iterator[Burst]:
    """Sizes by inversion: the least is mean × (shape − 1) / shape, and a share of x^(−shape) is larger than x times
    that.
    """
    shape = float(background.shape)
    least_bytes = background.mean_bytes * (shape - 1) / shape
    at_ns = draw.expovariate(float(background.arrivals)) * 1e9
    while at_ns < length_ns:
        size = least_bytes * (1.0 - draw.random()) ** (-1 / shape)
        yield Burst(int(at_ns), None, max(1, math.ceil(size)))
        at_ns += draw.expovariate(float(background.arrivals)) * 1e9
