"""What limited the throughput of a flow, from the kernel's counters. Pure, no I/O.

The times are those of TCP_INFO (linux/tcp.h): tcpi_busy_time, tcpi_rwnd_limited and tcpi_sndbuf_limited; the
last two are parts of the first (tcp_chrono_start and tcp_chrono_stop in net/ipv4/tcp_output.c).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Limit: TypeAlias = Literal["rate", "cpu", "application", "window", "sender buffer", "loss", "unknown"]

FULL = 0.95
"""The share of the line-rate limit from which on the rate limits a flow; the share of a core, for the CPU."""
BUSY = 0.9
"""A flow that has data to send for a smaller share of its time is limited by its application."""
MOST = 0.5
"""A window or a send buffer limits a flow if it holds it back for this share of its busy time."""


@dataclass(frozen=True)
class FlowTotals:
    """Counters over the life of a flow; None if not counted.

    `goodput_bps` and `limit_bps` are those of the whole bottleneck, on the same layer: what all its flows
    delivered, and what it carries at most (`tcp_model.line_rate_limit_bps`). `retransmits` counts segments.
    `cpu_share` is the load of the busiest core that sender or receiver used, from 0 to 1, or None where
    computing takes no time.
    """

    duration_s: float
    busy_s: float | None = None
    rwnd_limited_s: float | None = None
    sndbuf_limited_s: float | None = None
    retransmits: int | None = None
    goodput_bps: float | None = None
    limit_bps: float | None = None
    cpu_share: float | None = None

    def __post_init__(self) -> None:
        if not self.duration_s > 0:
            raise ValueError(f"a flow of {self.duration_s} s has no limit")
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ValueError(f"{name} is {value}, not 0 or more")
        if self.limit_bps is not None and not self.limit_bps > 0:
            raise ValueError(f"limit_bps is {self.limit_bps}, not above 0")

    @property
    def rate_share(self) -> float | None:
        """The goodput as a share of what the bottleneck carries."""
        if self.goodput_bps is None or self.limit_bps is None:
            return None
        return self.goodput_bps / self.limit_bps

    @property
    def busy_share(self) -> float | None:
        """The share of its life in which the flow had data to send or in flight."""
        return None if self.busy_s is None else self.busy_s / self.duration_s

    @property
    def window_share(self) -> float | None:
        return self._of_busy(self.rwnd_limited_s)

    @property
    def sender_buffer_share(self) -> float | None:
        return self._of_busy(self.sndbuf_limited_s)

    def _of_busy(self, time_s: float | None) -> float | None:
        return None if time_s is None or not self.busy_s else time_s / self.busy_s


@dataclass(frozen=True)
class Limitation:
    """What limited a flow, and the share that shows it; `share` is None for loss and unknown."""

    limit: Limit
    share: float | None
    why: str


def limitation(totals: FlowTotals) -> Limitation:
    """The first of these limits that applies; a limit whose counter is absent (None) does not apply.

    rate: the bottleneck is full, so nothing else matters. cpu: a core is busy. application: the flow was often
    idle. window, sender buffer: it held the flow back for most of its busy time, and longer than the other one.
    loss: none of these, and the flow retransmitted. unknown: none at all; the flow may have been in slow start.
    """
    for limit, applies, share, why in _TABLE:
        if applies(totals):
            value = share(totals)
            return Limitation(limit, value, why.format(share=value or 0, totals=totals))
    return Limitation("unknown", None, "no limit that was counted was reached")


def _reaches(share: float | None, threshold: float) -> bool:
    return share is not None and share >= threshold


def _is_idle(totals: FlowTotals) -> bool:
    return totals.busy_share is not None and totals.busy_share < BUSY


def _window_first(totals: FlowTotals) -> bool:
    return (totals.window_share or 0) >= (totals.sender_buffer_share or 0)


_COUNTS = ("busy_s", "rwnd_limited_s", "sndbuf_limited_s", "retransmits", "goodput_bps", "cpu_share")

_Row: TypeAlias = tuple[Limit, Callable[[FlowTotals], bool], Callable[[FlowTotals], float | None], str]

_TABLE: tuple[_Row, ...] = (
    ("rate", lambda t: _reaches(t.rate_share, FULL), lambda t: t.rate_share,
     "the bottleneck delivered {share:.0%} of what it carries"),
    ("cpu", lambda t: _reaches(t.cpu_share, FULL), lambda t: t.cpu_share,
     "a core was busy for {share:.0%} of the time"),
    ("application", _is_idle, lambda t: t.busy_share,
     "it had data to send for only {share:.0%} of the time"),
    ("window", lambda t: _reaches(t.window_share, MOST) and _window_first(t), lambda t: t.window_share,
     "the receive window held it back for {share:.0%} of its busy time"),
    ("sender buffer", lambda t: _reaches(t.sender_buffer_share, MOST), lambda t: t.sender_buffer_share,
     "the send buffer held it back for {share:.0%} of its busy time"),
    ("loss", lambda t: bool(t.retransmits), lambda t: None,
     "it retransmitted {totals.retransmits} segments"),
)  # fmt: skip
