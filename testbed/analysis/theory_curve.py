"""Overlays: the goodput that theory predicts at each RTT, to draw over a measured series. Pure, no I/O.

Goodput in bit/s over the RTT in seconds, for all flows together; `tcp_model` has the formulas and their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from ..codec.frozen import dataclass
from . import tcp_model
from .condition import Conditions

OverlayKind: TypeAlias = Literal["line rate", "window limit", "square-root law", "CUBIC average"]

OTHER_HEADERS_BYTES = {4: 52, 6: 72}
"""IP and TCP with timestamps, by the version of IP."""


@dataclass(frozen=True)
class Overlay:
    """One curve: its kind and its points."""

    kind: OverlayKind
    rtt_s: tuple[float, ...]
    goodput_bps: tuple[float, ...]


def overlays(conditions: Conditions, rtt_s: Sequence[float]) -> tuple[Overlay, ...]:
    """The overlays that apply: the line rate if there is one, W/RTT for a fixed window, the two laws under loss.

    The laws are bounded by the line rate, since no flow can exceed a full link. CUBIC's law applies only to flows of
    CUBIC. RTTs are above 0.
    """
    limit = line_rate_bps(conditions)
    curves = []
    for kind, applies, value in _TABLE:
        if applies(conditions):
            rates = [value(conditions, rtt) for rtt in rtt_s]
            bounded = rates if limit is None or kind == "window limit" else [min(rate, limit) for rate in rates]
            curves.append(Overlay(kind, tuple(rtt_s), tuple(bounded)))
    return tuple(curves)


def line_rate_bps(conditions: Conditions) -> float | None:
    """The goodput of the full link, without the headers of Ethernet, IP and TCP; None without a rate."""
    if conditions.rate_bps is None:
        return None
    version = conditions.ip_version
    mtu_bytes = conditions.mss_bytes + OTHER_HEADERS_BYTES[version]
    return tcp_model.line_rate_limit_bps(conditions.rate_bps, mtu_bytes, ip_version=version)


def _line_rate(conditions: Conditions, rtt_s: float) -> float:
    rate = line_rate_bps(conditions)
    assert rate is not None, "BUG: the line rate of a link without one"
    return rate


def _window(conditions: Conditions, rtt_s: float) -> float:
    return tcp_model.window_limit_bps(conditions.flows * (conditions.window_bytes or 0), rtt_s)


def _square_root(conditions: Conditions, rtt_s: float) -> float:
    segments = tcp_model.square_root_window_segments(conditions.loss or 0)
    return conditions.flows * tcp_model.window_throughput_bps(segments, rtt_s, conditions.mss_bytes)


def _cubic(conditions: Conditions, rtt_s: float) -> float:
    segments = tcp_model.cubic_window_segments(conditions.loss or 0, rtt_s)
    return conditions.flows * tcp_model.window_throughput_bps(segments, rtt_s, conditions.mss_bytes)


_Row: TypeAlias = tuple[OverlayKind, Callable[[Conditions], bool], Callable[[Conditions, float], float]]

_TABLE: tuple[_Row, ...] = (
    ("line rate", lambda c: c.rate_bps is not None, _line_rate),
    ("window limit", lambda c: c.window_bytes is not None, _window),
    ("square-root law", lambda c: bool(c.loss), _square_root),
    ("CUBIC average", lambda c: bool(c.loss) and c.congestion == ("cubic",), _cubic),
)
