"""Settings of a scenario besides network and workload: kernel, captures, limits. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

KernelKind: TypeAlias = Literal["lab", "lab-realtime", "host"]

SAMPLES_INTERVAL_NS = 100_000_000
SNAPLEN_BYTES = 96
SEED_MAX = 2**31 - 1

PRIMARY = "goodput"
"""The metric that decides a comparison, if the scenario says no other."""
METRIC_UNITS = {PRIMARY: "bit/s", "retransmits": "ratio", "rtt": "s", "rtt-p95": "s", "fairness": "ratio"}
METRIC_UNITS |= {"convergence": "s", "fct": "s", "fct-p95": "s", "fct-p99": "s"}
METRIC_UNITS |= {"slowdown": "ratio", "slowdown-p99": "ratio", "unfinished": "ratio"}
"""What a scenario can say is primary, and its rules ask, with base units. `analysis.metric` has what they are; its
`register` adds to them.
"""


@dataclass(frozen=True)
class Kernel:
    """Where a plan runs: `lab` is User-Mode Linux in virtual time, `lab-realtime` the same on the wall clock,
    `host` this machine's own kernel. `name` picks one of several lab kernels; None is the newest default one.
    """

    kind: KernelKind = "lab"
    name: str | None = None

    @property
    def is_virtual_time(self) -> bool:
        return self.kind == "lab"


LAB = Kernel()


@dataclass(frozen=True)
class Capture:
    """A capture at the node or link `at`, with `snaplen_bytes` of each packet."""

    at: str
    snaplen_bytes: int = SNAPLEN_BYTES


@dataclass(frozen=True)
class Limits:
    """Limits of a trial: wall-clock time, and memory of the lab kernel. None leaves it to the kernel."""

    wall_ns: int | None = None
    memory_bytes: int | None = None


UNLIMITED = Limits()


@dataclass(frozen=True)
class Until:
    """Repeat a cell until half of the 95 % t interval of its mean goodput is at most the share `ci` of the mean.

    A cell gets at least `least` and never more than `most` trials.
    """

    ci: Fraction
    most: int
    least: int = 3
