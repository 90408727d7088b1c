"""What an emulator does to packets, as values. Pure, no I/O.

Times are one-way unless a name says rtt; probabilities are exact Fractions; absent is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

EVERY_MIN, EVERY_MAX = 2, 10**8
"""The range of X in "1 in X"."""


@dataclass(frozen=True)
class PeriodicLoss:
    """Exactly one in `every` data packets is dropped.

    With phase 0 it is the `every`-th, the 2·`every`-th, …; phase k (up to `every` - 1) makes the first drop
    come k packets earlier; "seeded" draws k from the trial's seed. SYNs and pure ACKs are not counted.
    """

    every: int
    phase: int | Literal["seeded"] = 0


@dataclass(frozen=True)
class RandomLoss:
    """Each packet is dropped independently with a probability strictly between 0 and 1."""

    probability: Fraction


@dataclass(frozen=True)
class GilbertElliott:
    """Loss in bursts: a two-state Markov chain, advanced by each packet.

    `p` is the probability to go from good to bad and `r` from bad to good, both above 0; `loss_bad` and
    `loss_good` are the probabilities to lose a packet in each state (Elliott's 1-h and 1-k).
    """

    p: Fraction
    r: Fraction
    loss_bad: Fraction = Fraction(1)
    loss_good: Fraction = Fraction(0)


Loss: TypeAlias = PeriodicLoss | RandomLoss | GilbertElliott

Distribution: TypeAlias = Literal["uniform", "normal", "pareto", "paretonormal"]


@dataclass(frozen=True)
class Jitter:
    """Variation of the one-way delay, at least 1 ns.

    `sd_ns` is what netem calls jitter: the standard deviation of the distribution, or half the width of a
    uniform one. `reorder` says whether a packet may overtake one sent before it.
    """

    sd_ns: int
    distribution: Distribution = "uniform"
    reorder: bool = False


@dataclass(frozen=True)
class Buffer:
    """How much a drop-tail queue holds beyond the packet being sent; more than 0.

    One "bdp" is the rate of the direction times the round-trip time of the link.
    """

    amount: Fraction
    unit: Literal["packets", "bytes", "bdp"]


@dataclass(frozen=True)
class Policy:
    """After a volume a direction is policed: what comes faster than `rate_bps` is dropped, nothing waits.

    Both count IP packets, without the Ethernet header. The volume is drawn from `low_bytes` to `high_bytes`, uniformly
    and from the trial's seed; it is fixed where they are the same. `rate_bps` is a multiple of 8.
    """

    rate_bps: int
    low_bytes: int
    high_bytes: int


@dataclass(frozen=True)
class Direction:
    """What one direction of a link does; the rate counts whole Ethernet frames, 1514 bytes for MTU 1500.

    `rate_bps` None is no limit, `delay_ns` 0 no delay; `buffer` None leaves the size to the plan.
    """

    rate_bps: int | None = None
    delay_ns: int = 0
    jitter: Jitter | None = None
    loss: Loss | None = None
    buffer: Buffer | None = None
    policy: Policy | None = None

    @property
    def is_emulated(self) -> bool:
        """Whether it does anything at all."""
        return self != UNIMPAIRED


UNIMPAIRED = Direction()
"""A direction that passes on everything as it comes."""


def mean_loss(loss: Loss | None) -> float:
    """The share of packets that are dropped in the long run; of the two-state chain, in its stationary state."""
    if loss is None:
        return 0.0
    if isinstance(loss, PeriodicLoss):
        return 1 / loss.every
    if isinstance(loss, RandomLoss):
        return float(loss.probability)
    assert isinstance(loss, GilbertElliott), f"BUG: {loss}"
    bad: Fraction = loss.p / (loss.p + loss.r)
    return float(bad * loss.loss_bad + (1 - bad) * loss.loss_good)


Way = Literal["forward", "backward"]
