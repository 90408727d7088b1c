"""What limited the throughput of a flow: by time, from samples of its socket, or else from its counters. Pure, no I/O.

`flow_time` divides the life of a flow among the kinds; the kind with the largest part is what limited it. Without
samples, the counters of TCP_INFO (linux/tcp.h) have to do: tcpi_busy_time, tcpi_rwnd_limited and tcpi_sndbuf_limited,
of which the last two are parts of the first (tcp_chrono_start and tcp_chrono_stop in net/ipv4/tcp_output.c). They do
not tell what held a congestion window down; `series_time` does for some trials, by their goodput in each second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from ...codec.frozen import dataclass

Limit: TypeAlias = Literal[
    "rate",
    "cpu",
    "application",
    "receiver buffer",
    "sender buffer",
    "policer",
    "path buffer",
    "loss",
    "slow start",
    "congestion control",
    "unknown",
]

WHAT: Mapping[Limit, str] = {
    "rate": "the bottleneck or the way back was full, or the cap of each flow",
    "cpu": "a core was busy",
    "application": "it had nothing to send, or all that it offered arrived",
    "receiver buffer": "the receiver's window was full",
    "sender buffer": "the send buffer held no more data, and the congestion window had room",
    "policer": "a policy dropped packets, which kept the congestion window small",
    "path buffer": "a full buffer of the path dropped packets, which kept the congestion window small",
    "loss": "links lost packets, which kept the congestion window small",
    "slow start": "the congestion window was full, and still in slow start",
    "congestion control": "the congestion window was full, without a loss before",
    "unknown": "no limit that was counted was reached",
}
"""What each means, in the past tense."""

FULL = 0.95
"""The share of the line-rate limit from which on the rate limits a flow; the share of a core, for the CPU; the share of
what was offered."""
BUSY = 0.9
"""A flow that has data to send for a smaller share of its time is limited by its application."""
MOST = 0.5
"""Without samples, a window or a send buffer limits a flow if it holds it back for this share of its busy time, and
another kind if it holds the trial back for this share of its seconds."""
MENTION = 0.1
"""Further kinds are mentioned from this share of the time on."""


@dataclass(frozen=True)
class FlowTotals:
    """Counters over the life of a flow; None if not counted.

    `goodput_bps` and `limit_bps` are those of the whole bottleneck, on the same layer: what all its flows
    delivered, and what it carries at most (`tcp_model.line_rate_limit_bps`). `offered_bps` is all that their tool
    wanted to send; None is all that the path takes. `cpu_share` is the load of the busiest core that sender or
    receiver used, from 0 to 1, or None where computing takes no time. `times` are the parts of its life by what held it
    back (`flow_time.parts`), together at most 1; empty without samples. `seconds` are those of the whole trial by its
    goodput in each second (`series_time.parts`).
    """

    duration_s: float
    busy_s: float | None = None
    rwnd_limited_s: float | None = None
    sndbuf_limited_s: float | None = None
    goodput_bps: float | None = None
    limit_bps: float | None = None
    offered_bps: float | None = None
    cpu_share: float | None = None
    times: Mapping[Limit, float] = field(default_factory=dict)
    seconds: Mapping[Limit, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.duration_s > 0:
            raise ValueError(f"a flow of {self.duration_s} s has no limit")
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ValueError(f"{name} is {value}, not 0 or more")
        for name in ("limit_bps", "offered_bps"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} is {value}, not above 0")

    @property
    def rate_share(self) -> float | None:
        """The goodput as a share of what the bottleneck carries."""
        return self._goodput_share(self.limit_bps)

    @property
    def offered_share(self) -> float | None:
        """The goodput as a share of what the tool offered."""
        return self._goodput_share(self.offered_bps)

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

    @property
    def largest(self) -> tuple[Limit, float] | None:
        """The kind that held it back longest, and its part; None without samples."""
        return max(self.times.items(), key=lambda each: each[1], default=None)

    def _goodput_share(self, whole_bps: float | None) -> float | None:
        return None if self.goodput_bps is None or whole_bps is None else self.goodput_bps / whole_bps

    def _of_busy(self, time_s: float | None) -> float | None:
        return None if time_s is None or not self.busy_s else time_s / self.busy_s


@dataclass(frozen=True)
class Limitation:
    """What limited a flow, and the share that shows it; `share` is None for unknown."""

    limit: Limit
    share: float | None
    why: str


def limitation(totals: FlowTotals) -> Limitation:
    """The first of these limits that applies; a limit whose counter is absent (None) does not apply.

    rate: the bottleneck is full, so nothing else matters. cpu: a core is busy. application: all that was offered
    arrived, or the flow was often idle. Then the kind that held it back longest, if it was sampled; if not, the one
    that held the trial back for half of its seconds or more, as no other can have more then. Then the receiver's or
    the sender's buffer, if the kernel counted that it held it back for most of its busy time, and longer than the other
    one. unknown: none of these.
    """
    if (found := _first(_TABLE, totals)) is not None:
        return found
    if totals.largest is not None:
        return _longest(totals.times, *totals.largest)
    kind, part = max(totals.seconds.items(), key=lambda each: each[1], default=_NOTHING)
    if kind != "unknown" and part >= MOST:
        return _longest(totals.seconds, kind, part)
    return _first(_WITHOUT_SAMPLES, totals) or Limitation("unknown", None, WHAT["unknown"])


def _first(rows: Sequence[_Row], totals: FlowTotals) -> Limitation | None:
    for limit, applies, share, why in rows:
        if applies(totals):
            value = share(totals)
            return Limitation(limit, value, why.format(share=value or 0))
    return None


def _longest(times: Mapping[Limit, float], limit: Limit, share: float) -> Limitation:
    """With what else held it back for a good part of the time."""
    others = sorted(((part, kind) for kind, part in times.items() if kind != limit and part >= MENTION), reverse=True)
    also = "".join(f"; {kind}: {part:.0%}" for part, kind in others)
    return Limitation(limit, share, f"{WHAT[limit]} for {share:.0%} of its time{also}")


def _reaches(share: float | None, threshold: float) -> bool:
    return share is not None and share >= threshold


def _is_idle(totals: FlowTotals) -> bool:
    return totals.busy_share is not None and totals.busy_share < BUSY


def _window_first(totals: FlowTotals) -> bool:
    return (totals.window_share or 0) >= (totals.sender_buffer_share or 0)


_NOTHING: tuple[Limit, float] = ("unknown", 0.0)

_COUNTS = ("busy_s", "rwnd_limited_s", "sndbuf_limited_s", "goodput_bps", "cpu_share")

_Row: TypeAlias = tuple[Limit, Callable[[FlowTotals], bool], Callable[[FlowTotals], float | None], str]

_TABLE: tuple[_Row, ...] = (
    ("rate", lambda t: _reaches(t.rate_share, FULL), lambda t: t.rate_share,
     "the bottleneck delivered {share:.0%} of what it carries"),
    ("cpu", lambda t: _reaches(t.cpu_share, FULL), lambda t: t.cpu_share,
     "a core was busy for {share:.0%} of the time"),
    ("application", lambda t: _reaches(t.offered_share, FULL), lambda t: t.offered_share,
     "{share:.0%} of what it offered arrived"),
    ("application", _is_idle, lambda t: t.busy_share,
     "it had data to send for only {share:.0%} of the time"),
)  # fmt: skip

_WITHOUT_SAMPLES: tuple[_Row, ...] = (
    ("receiver buffer", lambda t: _reaches(t.window_share, MOST) and _window_first(t), lambda t: t.window_share,
     "the receive window held it back for {share:.0%} of its busy time"),
    ("sender buffer", lambda t: _reaches(t.sender_buffer_share, MOST), lambda t: t.sender_buffer_share,
     "the send buffer held it back for {share:.0%} of its busy time"),
)  # fmt: skip
