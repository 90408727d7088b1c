"""Models of TCP throughput: laws of loss, limits of window and rate, the time of slow start. Pure, no I/O.

Loss is periodic, one packet in 1/p; p is above 0 and at most 1. RTTs are round trips in seconds, above 0.
Windows are averages over a loss epoch in segments of one MSS. Every function raises ValueError for an
argument outside its range.
"""

from __future__ import annotations

import math

CUBIC_C = 0.4
CUBIC_BETA = 0.7
"""CUBIC's constants: RFC 9438, sections 4.1 and 4.6 (C in segments/s^3, beta the share kept after a loss)."""

_TCP_BYTES, _TIMESTAMP_BYTES = 20, 12
_IP_BYTES = {4: 20, 6: 40}


def square_root_window_segments(loss: float, segments_per_ack: int = 1) -> float:
    """The window of the square-root law: sqrt(3 / (2 b p)), with one ACK for b segments.

    Mathis, Semke, Mahdavi and Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm,
    Computer Communication Review 27(3), 1997: the constant is sqrt(3/2) = 1.22 with an ACK for each segment
    and sqrt(3/4) = 0.87 for every other one. Linux counts bytes, not ACKs: b is 1.
    """
    _loss(loss)
    if segments_per_ack < 1:
        raise ValueError(f"{segments_per_ack} segments per ACK, and at least 1 is needed")
    return math.sqrt(3 / (2 * segments_per_ack * loss))


def reno_window_segments(loss: float) -> float:
    """Reno's average window as RFC 9438 tabulates it (section 5.1, Tables 1 and 2): 1.2 / sqrt(p).

    The constant is that of RFC 3649; it is the square-root law's 1.22, rounded.
    """
    _loss(loss)
    return 1.2 / math.sqrt(loss)


def cubic_alone_window_segments(loss: float, rtt_s: float, c: float = CUBIC_C, beta: float = CUBIC_BETA) -> float:
    """CUBIC's average window outside the Reno-friendly region: RFC 9438, section 5, its first formula.

    (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), with 0 < beta < 1.
    """
    _loss(loss)
    _positive(rtt_s, "RTT")
    return _cubic_factor(c, beta) * float((rtt_s / loss) ** 0.75)


def cubic_window_segments(loss: float, rtt_s: float, c: float = CUBIC_C, beta: float = CUBIC_BETA) -> float:
    """CUBIC's average window with the Reno-friendly region: the larger of its own and Reno's.

    This is what Tables 1 and 2 of RFC 9438 hold.
    """
    return max(cubic_alone_window_segments(loss, rtt_s, c, beta), reno_window_segments(loss))


def cubic_resting_windows_segments(
    loss: float, rtt_s: float, c: float = CUBIC_C, beta: float = CUBIC_BETA
) -> tuple[float, float]:
    """The lowest and the highest average window that CUBIC can settle at under periodic loss.

    RFC 9438 lets every epoch end just where the cubic function is back at W_max, after K = cbrt(W_max (1 - beta) / C)
    seconds. With whole segments (Linux's `bic_target` is an integer) the window is back at W_max for all of the last
    cbrt(1 / C) seconds before that, so losses at any point in them recur at the same point. The first value is the
    RFC's, the second that of epochs that end cbrt(1 / C) earlier; a flow that comes down from slow start settles near
    the second. Without the Reno-friendly region, for epochs of 1/p segments.
    """
    _loss(loss)
    _positive(rtt_s, "RTT")
    return tuple(_resting_window(1 / loss, rtt_s, lead_s, c, beta) for lead_s in (0.0, (1 / c) ** (1 / 3)))  # type: ignore[return-value]


def _resting_window(segments: float, rtt_s: float, lead_s: float, c: float, beta: float) -> float:
    """The mean window of the epoch of K - lead_s seconds that carries this many segments; bisects for its W_max."""

    def carried(top: float) -> tuple[float, float]:
        k = ((1 - beta) * top / c) ** (1 / 3)
        epoch_s = max(0.0, k - lead_s)
        return (top * epoch_s - c / 4 * (k**4 - (k - epoch_s) ** 4)) / rtt_s, epoch_s

    low, high = 1.0, 2.0
    while carried(high)[0] < segments:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if carried(middle)[0] < segments else (low, middle)
    return segments * rtt_s / carried(high)[1]


def window_throughput_bps(window_segments: float, rtt_s: float, mss_bytes: int) -> float:
    """The goodput of an average window in segments of `mss_bytes` of payload: W MSS / RTT."""
    _positive(mss_bytes, "MSS")
    return window_limit_bps(window_segments * mss_bytes, rtt_s)


def window_limit_bps(window_bytes: float, rtt_s: float) -> float:
    """The most that a flow carries, a window in each round trip: 8 W / RTT, in bit/s of payload."""
    if not (window_bytes >= 0 and math.isfinite(window_bytes)):
        raise ValueError(f"a window of {window_bytes} bytes makes no sense")
    _positive(rtt_s, "RTT")
    return 8 * window_bytes / rtt_s


def mss_bytes(mtu_bytes: int = 1500, timestamps: bool = True, ip_version: int = 4) -> int:
    """The payload of a full segment: the MTU without the headers of IP (no options) and TCP.

    The timestamp option takes 12 bytes with its padding (RFC 7323, appendix A). The MTU must leave at least
    1 byte; the IP version is 4 or 6.
    """
    if ip_version not in _IP_BYTES:
        raise ValueError(f"IP version {ip_version}; allowed: 4, 6")
    payload = mtu_bytes - _IP_BYTES[ip_version] - _TCP_BYTES - (_TIMESTAMP_BYTES if timestamps else 0)
    if payload < 1:
        raise ValueError(f"an MTU of {mtu_bytes} bytes has no room for payload")
    return payload


def line_rate_limit_bps(
    rate_bps: float,
    mtu_bytes: int = 1500,
    timestamps: bool = True,
    ip_version: int = 4,
    framing_bytes: int = 14,
) -> float:
    """The goodput of a saturated link: rate MSS / (MTU + framing).

    `framing_bytes` is what the rate counts beyond the MTU: 14 for the Ethernet header, which is what Linux'
    queueing disciplines count (so 1448/1514 of the rate for IPv4 with timestamps); 38 on a real wire, with
    frame check sequence, preamble and gap (IEEE 802.3); 0 for a rate of IP packets.
    """
    if not (rate_bps >= 0 and math.isfinite(rate_bps)):
        raise ValueError(f"a rate of {rate_bps} bit/s makes no sense")
    if framing_bytes < 0:
        raise ValueError(f"{framing_bytes} bytes of framing are below 0")
    return rate_bps * mss_bytes(mtu_bytes, timestamps, ip_version) / (mtu_bytes + framing_bytes)


def slow_start_s(window_segments: float, rtt_s: float, initial_segments: float = 10.0, growth: float = 2.0) -> float:
    """The time of slow start from its initial window to this one: RTT log(W / W_0) / log(growth).

    W_0 is 10 (RFC 6928). The window grows by `growth` (above 1) in a round trip: 2 if every byte that is
    acknowledged counts (RFC 5681, section 3.1, and RFC 3465), 1.5 with delayed ACKs where ACKs count. 0 if
    the initial window is as large. HyStart, loss and pacing, which end or stretch slow start, are left out.
    """
    _positive(rtt_s, "RTT")
    _positive(window_segments, "window")
    _positive(initial_segments, "initial window")
    if not growth > 1:
        raise ValueError(f"a window that grows by {growth} in a round trip never reaches it")
    return rtt_s * max(0.0, math.log(window_segments / initial_segments) / math.log(growth))


def _cubic_factor(c: float, beta: float) -> float:
    _positive(c, "C")
    if not 0 < beta < 1:
        raise ValueError(f"beta is {beta}, not strictly between 0 and 1")
    return float((c * (3 + beta) / (4 * (1 - beta))) ** 0.25)


def _loss(loss: float) -> None:
    if not 0 < loss <= 1:
        raise ValueError(f"a loss of {loss} is not above 0 and at most 1")


def _positive(value: float, what: str) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"the {what} is {value}, not above 0")
