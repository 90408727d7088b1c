"""What came out of a workload, whichever tool it was. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FlowOutcome:
    """One flow. `goodput_bps` is payload that the receiver got in order, over the flow's own steady state.

    `retransmits` are segments over the flow's life; `sndbuf_bytes` and `rcvbuf_bytes` what the kernel says of the two
    sockets (twice what was asked); the `_limited` are fractions of the time in which the flow had data to send.
    None is what the tool does not tell.
    """

    goodput_bps: float | None
    retransmits: int | None
    rtt_min_s: float | None
    congestion: str | None
    port: int | None = None
    received_bytes: int | None = None
    sndbuf_bytes: int | None = None
    rcvbuf_bytes: int | None = None
    snd_wnd_bytes: int | None = None
    mss_bytes: int | None = None
    busy_s: float | None = None
    rwnd_limited: float | None = None
    sndbuf_limited: float | None = None


@dataclass(frozen=True)
class Outcome:
    """A whole workload. Times are ns of CLOCK_MONOTONIC; `steady_ns` is when the ramp that is left out ended.

    `goodput_bps` is that of all flows together, from `steady_ns` to `end_ns`; `ramp_goodput_bps` the same for what was
    left out, None if nothing was. `measured` has what only this tool measures.
    """

    begin_ns: int | None
    steady_ns: int | None
    end_ns: int | None
    goodput_bps: float | None
    ramp_goodput_bps: float | None
    flows: tuple[FlowOutcome, ...]
    measured: dict[str, Any] = field(default_factory=dict)
