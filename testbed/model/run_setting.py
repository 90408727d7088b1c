"""What a scenario says besides its network and its workload: kernel, captures, limits. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

KernelPlace: TypeAlias = Literal["lab", "lab-realtime", "host"]

SAMPLES_INTERVAL_NS = 100_000_000
SNAPLEN_BYTES = 96
SEED_MAX = 2**31 - 1


@dataclass(frozen=True)
class Kernel:
    """Where a plan runs: `lab` is User-Mode Linux in virtual time, `lab-realtime` the same on the wall clock,
    `host` this machine's own kernel. `name` picks one of several lab kernels; None is the newest default one.
    """

    place: KernelPlace = "lab"
    name: str | None = None

    @property
    def is_virtual_time(self) -> bool:
        return self.place == "lab"


LAB = Kernel()


@dataclass(frozen=True)
class Capture:
    """A pcap of what passes at the node or link `at`, with `snaplen_bytes` of each packet."""

    at: str
    snaplen_bytes: int = SNAPLEN_BYTES


@dataclass(frozen=True)
class Limits:
    """What a trial may use: wall-clock time, and memory of the lab kernel. None leaves it to the kernel."""

    wall_ns: int | None = None
    memory_bytes: int | None = None


UNLIMITED = Limits()


@dataclass(frozen=True)
class Until:
    """Repeat a cell until its mean goodput is known well enough.

    That is when half of the 95 % t interval is at most the share `ci` of the mean, which takes at least `least`
    trials; a cell never gets more than `most`.
    """

    ci: Fraction
    most: int
    least: int = 3
