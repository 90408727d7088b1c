"""What each metric needs of a trial, so that it can have a value: one table. Pure, no I/O.

A need is met unless no trial could ever have the metric. Tools from outside are not known here, and meet all that is
asked of a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType

from ..codec.frozen import dataclass
from .background import Backgrounds
from .topology import Topology
from .workload import (
    BUILT_IN,
    CommandWorkload,
    FlowWorkload,
    HttpWorkload,
    PingWorkload,
    ShortFlowWorkload,
    Workload,
)
from .workload.ping import FIRST

SHORT_TERM_S = 1.0
"""The time over which a short-term average is taken."""
TOGETHER_LEAST_S = 4.0
"""Convergence is looked for in flows that run together for at least so long."""
TOGETHER = 0.9
"""Flows without samples ran at the same time if each was busy for this share of the workload."""


@dataclass(frozen=True)
class Asked:
    """A trial of which a metric is asked. `number` is which flow, ping or background; `samples_interval_ns` None takes
    no samples.
    """

    workload: Workload
    topology: Topology
    samples_interval_ns: int | None
    background: Backgrounds = ()
    number: int = 0

    @property
    def is_known(self) -> bool:
        return isinstance(self.workload, (*BUILT_IN, ShortFlowWorkload))

    @property
    def flows(self) -> int:
        return len(self.workload.asked_flows)

    @property
    def times_ns(self) -> tuple[tuple[int, ...], int] | None:
        """When flows start, and for how long each sends; None if that depends on the path."""
        workload = self.workload
        if not isinstance(workload, FlowWorkload) or workload.duration_ns is None:
            return None
        return tuple(sorted(workload.start_ns)), workload.duration_ns


def _counts_again(asked: Asked) -> bool:
    workload = asked.workload
    if isinstance(workload, CommandWorkload):
        return asked.flows == 1
    return bool(workload.controls) and not isinstance(workload, HttpWorkload)


def _is_sampled(asked: Asked) -> bool:
    return asked.samples_interval_ns is not None and (not asked.is_known or asked.workload.port_is_senders)


def _meet(asked: Asked) -> bool:
    if asked.times_ns is None:
        return asked.flows > 1
    starts, duration_ns = asked.times_ns
    if asked.samples_interval_ns is None and duration_ns < TOGETHER * (starts[-1] - starts[0] + duration_ns):
        return False
    return any(second - first < duration_ns for first, second in pairwise(starts))


def _may_converge(asked: Asked) -> bool:
    """Samples may begin before the flows, and end after them."""
    if not _is_sampled(asked) or asked.times_ns is None:
        return _is_sampled(asked)
    starts, duration_ns = asked.times_ns
    return duration_ns - (starts[-1] - starts[0]) + (asked.samples_interval_ns or 0) >= TOGETHER_LEAST_S * 1e9


def _is_flow(asked: Asked) -> bool:
    return asked.workload.sends_data and asked.number < asked.flows


def _arrive(asked: Asked) -> bool:
    return isinstance(asked.workload, ShortFlowWorkload)


def _is_ping(asked: Asked) -> bool:
    """Single pings are told apart only where a controller makes the first ones slow."""
    workload, topology = asked.workload, asked.topology
    if not isinstance(workload, PingWorkload) or asked.number >= min(FIRST, workload.count):
        return False
    has_controller = any(node.kind.openflow == "controller" for node in topology.nodes)
    return has_controller and not topology.node(workload.source).kind.has_own_kernel


@dataclass(frozen=True)
class Need:
    """What a metric needs, in words, and whether a trial has it. `of_tool`: what tools from outside may have, too."""

    what: str
    has: Callable[[Asked], bool]
    of_tool: bool = True

    def is_met(self, asked: Asked) -> bool:
        return (self.of_tool and not asked.is_known) or self.has(asked)


DATA = Need("a tool that sends data", lambda asked: asked.workload.sends_data)
SAMPLED = Need("samples, and flows of `tool: flow` without arrivals", _is_sampled, of_tool=False)
PINGS = Need("`tool: ping`", lambda asked: isinstance(asked.workload, PingWorkload), of_tool=False)
ARRIVALS = Need("flows of `tool: flow` that arrive and end (arrivals)", _arrive)

NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "goodput": DATA,
        "retransmits": Need("TCP flows of flow or iperf3, or one flow of a command", _counts_again),
        "rtt": SAMPLED,
        "rtt-p95": SAMPLED,
        "rtt-p99": SAMPLED,
        **dict.fromkeys(("ping-p50", "ping-p95", "ping-p99"), PINGS),
        "fairness": Need("two flows that run at the same time", _meet),
        "convergence": Need(
            f"samples, and flows of `tool: flow` without arrivals that all run together for {TOGETHER_LEAST_S:g} s",
            _may_converge,
            of_tool=False,
        ),
        "fct": ARRIVALS,
        "fct-p95": ARRIVALS,
        "fct-p99": ARRIVALS,
        "slowdown": ARRIVALS,
        "slowdown-p99": ARRIVALS,
        "unfinished": ARRIVALS,
        "share": Need("two flows, and one of this number, from 0", lambda asked: max(1, asked.number) < asked.flows),
        "ping": Need(f"a controller, and one of the first {FIRST} pings of `tool: ping`, from 0", _is_ping),
        "against": Need(
            "data, and a background of this number, from 0",
            lambda asked: asked.workload.sends_data and asked.number < len(asked.background),
            of_tool=False,
        ),
        "flow-goodput": Need("data, and a flow of this number, from 0", _is_flow),
        "starved": Need(
            f"{SAMPLED.what}, two of them, and one of this number, from 0",
            lambda asked: _is_sampled(asked) and max(1, asked.number) < asked.flows,
            of_tool=False,
        ),
    }
)
"""By the names of `run_setting.METRIC_UNITS` and `expectation.EXTRA_UNITS`; a metric from outside needs nothing."""


def lacking_of(metric: str, asked: Asked, is_part: bool = False) -> str | None:
    """What such a trial lacks, so that it never has this metric, or has none of a part of the time; None if it may."""
    need = NEEDS.get(metric)
    if is_part and not SAMPLED.is_met(asked):
        return SAMPLED.what
    return None if need is None or need.is_met(asked) else need.what


def least_part_ns(metric: str) -> int:
    """How long a part of the time is at least, so that it can have this metric."""
    return round(SHORT_TERM_S * 1e9) if metric == "starved" else 1


def possible(asked: Asked) -> tuple[str, ...]:
    """The metrics that such a trial may have."""
    return tuple(name for name, need in NEEDS.items() if need.is_met(asked))
