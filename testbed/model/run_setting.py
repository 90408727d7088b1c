"""Settings of a scenario besides network and workload: kernel, captures, limits. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from .. import units
from ..codec.fault import Fault
from ..codec.frozen import dataclass
from ..codec.keyed import Keyed, Kind, key, keyed, read
from ..codec.kind import FLAG, FRACTION, NAME, SIZE, SPAN, byte_count, whole
from ..codec.scalar import text_of
from ..error import ValueRefused

KernelKind: TypeAlias = Literal["lab", "lab-realtime", "host"]

SAMPLES_INTERVAL_NS = 100_000_000
SNAPLEN_BYTES = 96
SNAPLEN_MIN, SNAPLEN_MAX = 14, 262_144
REPETITIONS_MAX = 100_000
RARE_MIN = Fraction(1, 1000)
"""The least share of rare trials that a comparison excludes: that takes 2995 seeds."""
TRIALS_LEAST, LEAST = 2, 3
"""How few trials have an interval at all, and how few a cell gets that does not say."""
SEED_MAX = 2**31 - 1

PRIMARY = "goodput"
"""The metric that decides a comparison, if the scenario says no other."""
METRIC_UNITS = {PRIMARY: "bit/s", "retransmits": "ratio", "rtt": "s", "rtt-p95": "s", "rtt-p99": "s"}
METRIC_UNITS |= {"ping-p50": "s", "ping-p95": "s", "ping-p99": "s", "fairness": "ratio"}
METRIC_UNITS |= {"convergence": "s", "fct": "s", "fct-p95": "s", "fct-p99": "s"}
METRIC_UNITS |= {"slowdown": "ratio", "slowdown-p99": "ratio", "unfinished": "ratio"}
"""What a scenario can say is primary, and its rules ask, with base units. `analysis.metric` has what they are; its
`register` adds to them.
"""


ON_TRIAL = "cc-"
"""Begins the names of the kernels that `testbed cc` builds."""


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

    @property
    def is_on_trial(self) -> bool:
        """Whether it is one that `testbed cc` built."""
        return self.kind != "host" and self.name is not None and self.name.startswith(ON_TRIAL)


LAB = Kernel()
_KERNELS = {"lab": Kernel("lab"), "lab-realtime": Kernel("lab-realtime"), "host": Kernel("host")}

_KERNEL_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]*"

_KERNEL_ALLOWED = "lab, lab-realtime, host, or {lab: NAME}"


def read_kernel(value: object) -> Kernel:
    if isinstance(value, dict):
        name = str(value.get("lab", ""))
        if list(value) != ["lab"] or not re.fullmatch(_KERNEL_NAME, name):
            raise ValueRefused("this does not name a lab kernel", _KERNEL_ALLOWED)
        return Kernel("lab", name)
    text = text_of(value, _KERNEL_ALLOWED)
    if text not in _KERNELS:
        raise ValueRefused(f"{text!r} is not a kernel", _KERNEL_ALLOWED)
    return _KERNELS[text]


def write_kernel(kernel: Kernel) -> Any:
    return kernel.kind if kernel.name is None else {kernel.kind: kernel.name}


KERNEL = Kind(
    read_kernel,
    write_kernel,
    {
        "anyOf": [
            {"enum": list(_KERNELS)},
            {
                "type": "object",
                "properties": {
                    "lab": {
                        "type": "string",
                        "pattern": f"^{_KERNEL_NAME}$",
                        "description": "The name of a lab kernel, as `testbed kernel list` prints it.",
                    }
                },
                "required": ["lab"],
                "additionalProperties": False,
            },
        ],
        "description": "lab: virtual time; lab-realtime: the wall clock; host: this computer's own kernel.",
    },
)


@keyed
class Samples(Keyed):
    """How often every flow and queue is looked at; and whether each ACK that a sender takes is recorded, too."""

    interval_ns: int = key(
        "interval", SPAN, "The interval between two samples, in lab time.", default=SAMPLES_INTERVAL_NS
    )
    acks: bool | None = key("acks", FLAG, "Whether each ACK that a sender takes is recorded.", default=None)


_SAMPLES_ALLOWED = "none, acks, {interval: 100 ms}, or {interval: 100 ms, acks: true}"


def _read_samples(value: object) -> Samples | None:
    if isinstance(value, dict | Samples):
        return read(Samples, value)
    text = text_of(value, _SAMPLES_ALLOWED)
    if text == "acks":
        return Samples(acks=True)
    if text != "none":
        raise ValueRefused(f"{text!r} does not give an interval", _SAMPLES_ALLOWED)
    return None


SAMPLES = Kind(
    _read_samples,
    lambda samples: samples.written(),
    {"anyOf": [{"enum": ["none", "acks"]}, {"$ref": Samples}]},
    none="none",
)
SEED = whole(0, SEED_MAX, "The seed of the first repetition.")
REPETITIONS = whole(1, REPETITIONS_MAX, "How many trials each cell gets, with consecutive seeds.")
SNAPLEN = byte_count(SNAPLEN_MIN, SNAPLEN_MAX, "How many bytes of each packet the capture keeps.")
TRIALS = whole(TRIALS_LEAST, REPETITIONS_MAX, "How many trials a cell gets.")


@keyed
class Capture(Keyed):
    """A pcap of what passes a node or a link."""

    at: str = key("at", NAME, "The node or link to capture at.")
    snaplen_bytes: int = key("snaplen", SNAPLEN, default=SNAPLEN_BYTES)


@keyed
class Limits(Keyed):
    """What a trial may use.

    None leaves it to the kernel.
    """

    wall_ns: int | None = key("wall", SPAN, "The longest time a trial may take on the wall clock.", default=None)
    memory_bytes: int | None = key("memory", SIZE, "The memory of the lab kernel.", default=None)


UNLIMITED = Limits()


@keyed
class Until(Keyed):
    """How well the mean goodput of a cell is to be known before it is not repeated any more.

    A cell is repeated until half of the 95 % t interval of its mean goodput is at most the share `ci` of the mean. It
    gets at least `least` and never more than `most` trials.
    """

    ci: Fraction = key(
        "ci", FRACTION, "The width to reach: half of the 95 % confidence interval, as a share of the mean."
    )
    most: int = key("max", TRIALS, "The most trials a cell gets, however wide the interval is.")
    least: int = key("min", TRIALS, "The fewest trials a cell gets.", default=LEAST)

    def faults(self) -> Iterator[Fault]:
        if not 0 < self.ci < 1:
            what = f"{units.format_fraction(self.ci)} is out of range"
            yield Fault(("ci",), what, "more than 0 % and less than 100 %", named=True)
        if self.most < self.least:
            what = f"a cell gets at least {self.least} trials"
            yield Fault(("max",), what, f"{self.least} or more, or a smaller min", named=True)
