"""Queues of a bottleneck: the types that there are, each with its parameters by their names in tc. Pure, no I/O.

Defaults are those of Linux 7.3 (net/sched/sch_*.c). How a queue is set up, and what stands for a default that depends
on the link, is in `plan.link.queue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from ... import units
from ...codec.frozen import dataclass

FIFO = "fifo"
"""The type of a queue that drops at its tail. It is no value: a link without a queue has it."""

Unit: TypeAlias = Literal["time", "packets", "bytes", "number", "flag", "share", "percent", "rate", "decimal", "choice"]
"""A time is in ns, a rate in bit/s; a share, a percentage and a decimal number are Fractions, a choice is a word."""

LimitUnit: TypeAlias = Literal["packets", "bytes", "memory"]
"""What a queue's limit counts. Memory is bytes with what the kernel needs around each packet."""


@dataclass(frozen=True)
class Parameter:
    """A parameter, from `low` to `high` in its unit.

    `default` None is off, or follows from the link. `off` is tc's word for a flag that is false ("": it has none, the
    flag is just not said). `is_fixed` cannot change while packets wait.
    """

    name: str
    unit: Unit
    default: Any = None
    low: int = 0
    high: int = 2**31 - 1
    off: str = ""
    choices: tuple[str, ...] = ()
    is_fixed: bool = False


@dataclass(frozen=True)
class QueueType:
    """A type. `limit` is the kernel's own limit in full frames, for a link that says no buffer; None: it has none, and
    the link's default is taken. `is_aqm`: it drops or marks before it is full. `in_place`: `tc qdisc change` keeps what
    waits.
    """

    name: str
    limit_unit: LimitUnit
    limit: int | None
    parameters: tuple[Parameter, ...]
    is_aqm: bool = True
    in_place: bool = True

    def parameter(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters if each.name == name), None)


@dataclass(frozen=True)
class Queue:
    """A queue of a type, with the parameters that were asked; the others have their defaults."""

    type: str
    asked: tuple[tuple[str, Any], ...] = ()

    @property
    def kind(self) -> QueueType:
        return QUEUES[self.type]

    @property
    def marks(self) -> bool:
        """Whether it ever marks a packet (ECN) in place of dropping it."""
        return self.type in ("cake", "dualpi2") or bool(self.value("ecn")) or self.value("ce_threshold") is not None

    def value(self, name: str) -> Any:
        """What was asked, or else the default."""
        found = self.kind.parameter(name)
        return dict(self.asked).get(name, None if found is None else found.default)


def _ms(count: int) -> int:
    return count * 10**6


LONGEST_NS = _ms(10**6)
_ECN = Parameter("ecn", "flag", False, off="noecn")
_CE_THRESHOLD = Parameter("ce_threshold", "time", None, high=LONGEST_NS)


def _time(name: str, default_ns: int | None, low_ns: int = 1000) -> Parameter:
    return Parameter(name, "time", default_ns, low_ns, LONGEST_NS)


def _pie(ecn: Parameter) -> tuple[Parameter, ...]:
    return (
        _time("target", _ms(15)),
        _time("tupdate", _ms(15), _ms(1)),
        Parameter("alpha", "number", 2, 0, 32),
        Parameter("beta", "number", 20, 0, 32),
        ecn,
        Parameter("bytemode", "flag", False, off="nobytemode"),
        Parameter("dq_rate_estimator", "flag", False, off="no_dq_rate_estimator"),
    )


QUEUES: dict[str, QueueType] = {
    row.name: row
    for row in (
        QueueType(
            "codel",
            "packets",
            1000,
            (_time("target", _ms(5)), _time("interval", _ms(100)), _ECN, _CE_THRESHOLD),
        ),
        QueueType(
            "fq_codel",
            "packets",
            10_240,
            (
                Parameter("flows", "number", 1024, 1, 65_536, is_fixed=True),
                Parameter("quantum", "bytes", None, 256, 2**20),
                _time("target", _ms(5)),
                _time("interval", _ms(100)),
                Parameter("memory_limit", "bytes", None, 1),
                Parameter("drop_batch", "packets", 64, 1),
                Parameter("ecn", "flag", True, off="noecn"),
                _CE_THRESHOLD,
            ),
        ),
        QueueType("pie", "packets", 1000, _pie(_ECN)),
        QueueType(
            "fq_pie",
            "packets",
            10_240,
            (
                Parameter("flows", "number", 1024, 1, 65_536, is_fixed=True),
                *_pie(_ECN),
                Parameter("quantum", "bytes", None, 256, 2**20),
                Parameter("memory_limit", "bytes", None, 1),
                Parameter("ecn_prob", "percent", Fraction(10), 0, 100),
            ),
        ),
        QueueType(
            "cake",
            "memory",
            10_240,
            (
                Parameter(
                    "diffserv",
                    "choice",
                    "diffserv3",
                    choices=("besteffort", "diffserv3", "diffserv4", "diffserv8"),
                ),
                Parameter(
                    "isolation",
                    "choice",
                    "triple-isolate",
                    choices=(
                        *("flowblind", "srchost", "dsthost", "hosts", "flows"),
                        *("dual-srchost", "dual-dsthost", "triple-isolate"),
                    ),
                ),
                _time("rtt", _ms(100)),
                Parameter("nat", "flag", False, off="nonat"),
                Parameter("wash", "flag", False, off="nowash"),
                Parameter(
                    "ack_filter",
                    "choice",
                    "no-ack-filter",
                    choices=("no-ack-filter", "ack-filter", "ack-filter-aggressive"),
                ),
            ),
        ),
        QueueType(
            "dualpi2",
            "packets",
            10_000,
            (
                Parameter("memlimit", "bytes", None, 1),
                _time("target", _ms(15)),
                _time("tupdate", _ms(16)),
                Parameter("alpha", "decimal", Fraction(41, 256), 0, 255),
                Parameter("beta", "decimal", Fraction(819, 256), 0, 255),
                _time("step_thresh", _ms(1)),
                Parameter("min_qlen_step", "packets", 0),
                Parameter("coupling_factor", "number", 2, 1, 255),
                Parameter("drop_on_overload", "flag", True, off="overflow"),
                Parameter("drop_enqueue", "flag", False, off="drop_dequeue"),
                Parameter("any_ect", "flag", False, off="l4s_ect"),
                Parameter("classic_protection", "percent", Fraction(10), 0, 100),
                Parameter("split_gso", "flag", True, off="no_split_gso"),
            ),
        ),
        QueueType(
            "red",
            "bytes",
            None,
            (
                Parameter("min", "bytes", None, 1),
                Parameter("max", "bytes", None, 1),
                Parameter("avpkt", "bytes", None, 1),
                Parameter("burst", "packets", None, 1),
                Parameter("probability", "share", Fraction(1, 50)),
                Parameter("bandwidth", "rate", None, 1),
                Parameter("ecn", "flag", False),
                Parameter("harddrop", "flag", False),
                Parameter("nodrop", "flag", False),
                Parameter("adaptive", "flag", False),
            ),
            in_place=False,
        ),
        QueueType(
            "sfq",
            "packets",
            127,
            (
                Parameter("perturb", "time", 0, 0, _ms(10**6)),
                Parameter("quantum", "bytes", None, 256, 2**20),
                Parameter("divisor", "number", 1024, 1, 65_536, is_fixed=True),
                Parameter("flows", "number", 128, 1, 65_408, is_fixed=True),
                Parameter("depth", "packets", 127, 1, 127, is_fixed=True),
                Parameter("headdrop", "flag", False, is_fixed=True),
            ),
            is_aqm=False,
        ),
        QueueType(
            "fq",
            "packets",
            10_000,
            (
                Parameter("flow_limit", "packets", 100, 1),
                Parameter("quantum", "bytes", None, 256, 2**20),
                Parameter("initial_quantum", "bytes", None, 1, 2**20),
                Parameter("buckets", "number", 1024, 2, 2**18),
            ),
            is_aqm=False,
        ),
    )
}
"""By the names that they have in files and in tc, in the order in which messages list them."""

TYPES = (FIFO, *QUEUES)


_WRITERS: Mapping[Unit, Any] = {
    "time": units.format_time,
    "packets": str,
    "bytes": units.format_size,
    "number": str,
    "flag": lambda value: "true" if value else "false",
    "share": units.format_fraction,
    "percent": lambda value: units.format_fraction(value / 100),
    "rate": units.format_rate,
    "decimal": lambda value: f"{float(value):.6g}",
    "choice": str,
}


def queue_words(queue: Queue) -> str:
    """Such as "codel" or "codel target 5 ms, ecn true"."""
    said = (f"{name} {written(queue.kind.parameter(name), value)}" for name, value in queue.asked)
    return f"{queue.type} {', '.join(said)}".strip()


def written(parameter: Parameter | None, value: Any) -> str:
    """A value of a parameter as files write it."""
    assert parameter is not None, "BUG: a queue with a parameter of another type"
    text: str = _WRITERS[parameter.unit](value)
    return text
