"""Background traffic as values, and the draw of the start and size of each flow. Pure, no I/O.

The draw depends on the seed, the name and the values only: a schedule is part of the plan.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, TypeAlias

from ..codec.fault import Fault
from ..codec.frozen import dataclass
from ..codec.keyed import key, keyed
from ..codec.kind import RATE, SPAN, TIME, variant, whole
from ..error import UserError
from .workload.arrival import ARRIVAL_RATE, PARETO, Pareto
from .workload.control import CONGESTION
from .workload.fact import LENGTH, Ends

FLOWS_MAX = 20_000
"""The most flows of one background. Each needs its own client port, of which there are 28 232."""

COUNT_MAX = 100


@keyed
class _Background(Ends):
    """What all patterns have: it starts `lead_ns` before the workload and runs for `duration_ns` at most; None is until
    the workload ends.
    """

    TAG = "pattern"
    pattern: ClassVar[str]

    lead_ns: int = key("lead", TIME, "How long before the workload it starts.", default=0, kw_only=True)
    duration_ns: int | None = key(
        "duration",
        SPAN,
        "How long it runs at most; default: as long as the workload.",
        default=None,
        kw_only=True,
    )
    count: int | None = key(
        "count",
        whole(1, COUNT_MAX),
        "How many there are; default: one. More are called NAME-1, NAME-2 and so on.",
        default=None,
        kw_only=True,
    )


@keyed
class OnOff(_Background):
    """A flow that comes and goes.

    A sender that is on and off for exponential times with these means; while on, a flow sends all it can.
    """

    pattern = "on-off"

    busy_ns: int = key("busy", SPAN, "How long it sends, on average.")
    idle_ns: int = key("idle", SPAN, "How long it pauses, on average.")
    congestion: str = key("congestion", CONGESTION, default="cubic")


@keyed
class HeavyTailed(_Background):
    """Flows that arrive at random, most of them small and a few very large.

    They arrive as a Poisson process, `arrivals` in a second.
    """

    pattern = "heavy-tailed"

    arrivals: Fraction = key("arrivals", ARRIVAL_RATE)
    size: Pareto = key("size", PARETO)
    congestion: str = key("congestion", CONGESTION, default="cubic")


@keyed
class Constant(_Background):
    """Datagrams at a constant rate.

    They have `length_bytes` of payload, and the rate is counted in payload.
    """

    pattern = "constant"

    rate_bps: int = key("rate", RATE, "The rate of its payload.")
    length_bytes: int = key("length", LENGTH, default=1400)

    def faults(self) -> Iterator[Fault]:
        if self.rate_bps is None:
            yield Fault(("rate",), "a constant background needs a rate", "a rate such as 10 Mbit/s", named=True)


Background: TypeAlias = OnOff | HeavyTailed | Constant
PATTERNS: dict[str, type[_Background]] = {each.pattern: each for each in (OnOff, HeavyTailed, Constant)}
BACKGROUND = variant("pattern", PATTERNS)

Backgrounds: TypeAlias = tuple[tuple[str, Background], ...]
"""Each with its name."""


def names(name: str, background: Background) -> tuple[str, ...]:
    """What as many as there are of a background are called."""
    count = background.count or 1
    return (name,) if count == 1 else tuple(f"{name}-{n}" for n in range(1, count + 1))


def one_by_one(backgrounds: Backgrounds) -> Backgrounds:
    """Each of them by itself, without a `count`."""
    return tuple((own, replace(each, count=None)) for name, each in backgrounds for own in names(name, each))


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
    shape = float(background.size.shape)
    least_bytes = background.size.pareto_mean_bytes * (shape - 1) / shape
    at_ns = draw.expovariate(float(background.arrivals)) * 1e9
    while at_ns < length_ns:
        size = least_bytes * (1.0 - draw.random()) ** (-1 / shape)
        yield Burst(int(at_ns), None, max(1, math.ceil(size)))
        at_ns += draw.expovariate(float(background.arrivals)) * 1e9
