"""The outcome of a workload, the same for every tool. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from ...codec.frozen import dataclass
from ..measured import ToolResult
from ..observe.sample import TcpSecond
from ..result import FlowResult
from .completion import Completion


@dataclass(frozen=True)
class TcpResult(ToolResult):
    """What sockets show of flows that have ports of their own, if samples are taken more often than once a second."""

    KEY: ClassVar[str] = "tcp"

    series: tuple[TcpSecond, ...]


@dataclass(frozen=True)
class Sent:
    """What sockets at one end sent until their flows stopped, also what was sent again: `packets` with `data_packets`
    among them, which carried `payload_bytes`, at most `largest_bytes` each.
    """

    packets: int
    data_packets: int
    payload_bytes: int
    largest_bytes: int


@dataclass(frozen=True)
class Outcome:
    """A whole workload. Times are ns of CLOCK_MONOTONIC; at `steady_ns` the ramp ended, which is left out.

    `goodput_bps` is the goodput of all flows together, from `steady_ns` to `end_ns`, and `ramp_goodput_bps` that of the
    ramp; None if none was left out. Where receivers handed over more from then on than what arrived, because it had
    come before and waited for a lost segment, `goodput_bps` counts what arrived, and `handed_over_bps` is the rate at
    which they handed it over (None: no more than that). `measured` has what only this tool measures. `took_ns` is how
    long a tool sent that does not report when. `completions` are the flows of a workload whose flows arrive and end, in
    the order of their arrival; empty for others. For them `connections` were accepted (None: the tool does not tell).
    Until their flows stopped, `sent_segments` of data left the senders, also those sent again, and `arrived_segments`
    came to the receivers, also those that came twice (None: the tool does not tell). `sent` is all that the senders'
    sockets sent, `answered` the receivers' (None: the tool does not tell). `elsewhere_bytes` of payload left each of
    the other hosts, and may have come to the destination, too. `counted_ns` is the time over which a tool that pauses
    has its goodput; None for one that does not. `counted_bps` is what it says that it got in that time, where its
    goodput is the mean of what runs of different lengths say; None where that is the same.
    """

    begin_ns: int | None
    steady_ns: int | None
    end_ns: int | None
    goodput_bps: float | None
    ramp_goodput_bps: float | None
    flows: tuple[FlowResult, ...]
    measured: dict[str, Any] = field(default_factory=dict)
    took_ns: int | None = None
    completions: tuple[Completion, ...] = ()
    connections: int | None = None
    sent_segments: int | None = None
    arrived_segments: int | None = None
    sent: Sent | None = None
    answered: Sent | None = None
    handed_over_bps: float | None = None
    elsewhere_bytes: Mapping[str, int] = field(default_factory=dict)
    counted_ns: int | None = None
    counted_bps: float | None = None

    @property
    def received_bytes(self) -> int:
        """What all flows together received; a flow of which nothing is known counts as 0."""
        return sum(flow.received_bytes or 0 for flow in self.flows)

    @property
    def in_order_bps(self) -> float:
        """The rate at which receivers handed data over, in order, after the ramp; 0 without a goodput."""
        return self.handed_over_bps or self.goodput_bps or 0.0

    @property
    def lasted_ns(self) -> int | None:
        """How long it took; None if the tool does not report it."""
        known = self.begin_ns is not None and self.end_ns is not None
        return (self.end_ns or 0) - (self.begin_ns or 0) if known else self.took_ns
