"""When the flows of a workload begin: arrival processes, and the draw of their times. Pure, no I/O."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

SECOND_NS = 10**9


class Arrivals(ABC):
    """An arrival process. `rate` is that of the process, in a second; None if a load says it, or a file the times."""

    rate: Fraction | None

    @property
    @abstractmethod
    def share(self) -> float:
        """Of the time in which flows arrive at this rate."""

    @abstractmethod
    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        """The times of arrivals before `until_ns` after the start, in order."""

    def mean_count(self, until_ns: int) -> float | None:
        """How many flows arrive before `until_ns`, on average; None if only a load tells it."""
        return None if self.rate is None else float(self.rate) * self.share * until_ns / SECOND_NS


@dataclass(frozen=True)
class Poisson(Arrivals):
    """A Poisson process: the times between arrivals are exponential. For each rate they are the same but for their
    scale.
    """

    rate: Fraction | None = None

    share = 1.0

    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        assert rate is not None, "BUG: a Poisson process without a rate"
        at_ns = 0.0
        while (at_ns := at_ns + draw.expovariate(1.0) / rate * SECOND_NS) < until_ns:
            yield int(at_ns)


@dataclass(frozen=True)
class OnOff(Arrivals):
    """A Poisson process of `rate` while it is busy, nothing while it is idle, both for exponential times with these
    means. At the start it is busy with the probability of its share of the time, which is its steady state.
    """

    busy_ns: int
    idle_ns: int
    rate: Fraction | None = None

    @property
    def share(self) -> float:
        return self.busy_ns / (self.busy_ns + self.idle_ns)

    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        """It has no memory, so the first gap of a spell is drawn anew."""
        assert rate is not None, "BUG: an on-off process without a rate"
        is_busy, begin_ns = draw.random() < self.share, 0.0
        while begin_ns < until_ns:
            end_ns = begin_ns + draw.expovariate(1.0) * (self.busy_ns if is_busy else self.idle_ns)
            at_ns = begin_ns
            while is_busy and (at_ns := at_ns + draw.expovariate(1.0) / rate * SECOND_NS) < min(end_ns, until_ns):
                yield int(at_ns)
            begin_ns, is_busy = end_ns, not is_busy


@dataclass(frozen=True)
class TraceOfTimes(Arrivals):
    """Arrivals at the times of a file, whatever the seed."""

    file: str
    arrivals_ns: tuple[int, ...]

    rate = None
    share = 1.0

    def times_ns(self, rate: float | None, draw: random.Random, until_ns: int) -> Iterator[int]:
        return (at_ns for at_ns in self.arrivals_ns if at_ns < until_ns)

    def mean_count(self, until_ns: int) -> float:
        return float(sum(at_ns < until_ns for at_ns in self.arrivals_ns))
