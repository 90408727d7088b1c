"""The life of a flow divided by what held it back at each time, from samples of its socket and of the path's queues.
Pure, no I/O.

The first of these that applies decides an interval between two samples:

- idle: nothing in flight, nothing to send: the application.
- The bottleneck sent at FULL of its rate, over two round trips around the interval, or a shaper without credit at that
  of its refill, or a way back at its own, whose ACKs clock the data; or the flow got FULL of its cap: the rate.
- The kernel's chronograph tcpi_rwnd_limited ran (tcp_write_xmit in net/ipv4/tcp_output.c), for the part of the interval
  in which it did: the receiver's buffer.
- Data in flight and none waiting (tcpi_notsent_bytes 0): the congestion window had room, and the sender had no data. If
  the tool always has more, that is its send buffer. The chronograph tcpi_sndbuf_limited misses this where a buffer
  grows by itself: it starts only when the congestion window is known not to be the limit (tcp_cwnd_validate in
  net/ipv4/tcp_input.c), which slow start believes until the window is twice what is in flight (tcp_is_cwnd_limited in
  include/net/tcp.h).
- Otherwise data waited for the congestion window, or for the pace that follows from it. The cause is that of the last
  reduction: a recovery (tcpi_ca_state CA_Recovery or CA_Loss), or a retransmission, with what had dropped packets in
  the round trip before.

The division by time follows T-RAT (Zhang, Breslau, Paxson, Shenker, On the Characteristics and Origins of Internet Flow
Rates, SIGCOMM 2002, section 4), which had to guess from packets what the socket says here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...codec.frozen import dataclass
from ..statistic import FloatArray
from .limitation import Limit

FULL = 0.9
"""The share of its rate at which a bottleneck counts as full: two round trips may begin and end between frames."""
CA_RECOVERY = 3
"""TCP_CA_Recovery of include/uapi/linux/tcp.h; the next, TCP_CA_Loss, is a timeout. Below, nothing was lost."""

CAUSES: tuple[Limit, ...] = ("slow start", "congestion control", "path buffer", "policer", "loss", "unknown")
_SLOW_START, _CONTROL, _BUFFER, _POLICER, _LOSS, _UNKNOWN = range(len(CAUSES))


@dataclass(frozen=True)
class SenderSamples:
    """Samples of a sender's socket, one array for each field of TCP_INFO. `snd_ssthresh` is NaN until it is set."""

    time_s: FloatArray
    bytes_acked: FloatArray
    unacked: FloatArray
    notsent_bytes: FloatArray
    rwnd_limited_s: FloatArray
    snd_ssthresh: FloatArray
    ca_state: FloatArray
    total_retrans: FloatArray
    srtt_s: FloatArray


@dataclass(frozen=True)
class QueueSamples:
    """Samples of a bottleneck's queue on the data's way. `rate_bps` is what was asked at each time (NaN: no rate)."""

    time_s: FloatArray
    sent_bytes: FloatArray
    drops: FloatArray
    rate_bps: FloatArray


@dataclass(frozen=True)
class Path:
    """What a flow met. `queues` are the bottlenecks of its data; `others` are those of its answers, or have another
    rate than their link, so their drops count for nothing. `cap_bps` is the goodput of a flow at the cap that each has
    (None: no cap). `rtt_s` is the path's without queues; `policed_from_s` when a policy began (None: never).

    `is_lossy` says whether a periodic or random loss dropped packets. `always_sends` says whether the sender's tool
    always has more data.
    """

    queues: tuple[QueueSamples, ...]
    rtt_s: float
    policed_from_s: float | None
    is_lossy: bool
    always_sends: bool
    others: tuple[QueueSamples, ...] = ()
    cap_bps: float | None = None


def parts(flow: SenderSamples, path: Path) -> dict[Limit, float]:
    """The part of its life by what held it back, the largest first; together 1. Empty if it never sent, or if it was
    sampled only once while it did.

    Its life is from its first data to the last acknowledged byte.
    """
    first, last = _life(flow)
    if last - first < 1:
        return {}
    now = slice(first, last)
    seconds = np.diff(flow.time_s[first : last + 1])
    windowed = np.clip(np.nan_to_num(np.diff(flow.rwnd_limited_s[first : last + 1])) / seconds, 0, 1)
    idle = (flow.unacked[now] == 0) & (flow.notsent_bytes[now] == 0)
    life = slice(first, last + 1)
    capped = _is_capped(flow.time_s[life], flow.bytes_acked[life], path)
    full = (_is_full(flow.time_s[life], path) | capped) & ~idle
    empty = (flow.notsent_bytes[now] == 0) & ~idle & ~full
    rest = np.where(idle | full, 0.0, 1 - windowed)
    found: dict[Limit, float] = {
        "application": float(seconds[idle].sum()),
        "rate": float(seconds[full].sum()),
        "receiver buffer": float((seconds * windowed)[~idle & ~full].sum()),
    }
    starved: Limit = "sender buffer" if path.always_sends else "application"
    found[starved] = found.get(starved, 0.0) + float((seconds * rest)[empty].sum())
    cause = _causes(flow, path)[now]
    for number, name in enumerate(CAUSES):
        found[name] = float((seconds * rest)[~empty & (cause == number)].sum())
    total = float(seconds.sum())
    return {name: time / total for name, time in sorted(found.items(), key=lambda each: -each[1]) if time > 0}


def _life(flow: SenderSamples) -> tuple[int, int]:
    """The first sample with data to send or in flight, and the first with all acknowledged bytes."""
    sending = np.flatnonzero((flow.unacked > 0) | (flow.notsent_bytes > 0))
    moved = np.flatnonzero(np.diff(flow.bytes_acked) > 0)
    return (int(sending[0]), int(moved[-1]) + 1) if len(sending) and len(moved) else (0, 0)


def _is_full(time_s: FloatArray, path: Path) -> NDArray[np.bool_]:
    """For each interval, whether a bottleneck sent at its rate, over two round trips or the interval if it is longer:
    packets come in bursts, and a link that is full for a moment is not full.
    """
    found = np.zeros(len(time_s) - 1, dtype=bool)
    for queue in (*path.queues, *path.others):
        if len(queue.time_s) > 1:
            rate = queue.rate_bps[np.clip(np.searchsorted(queue.time_s, time_s[:-1], "right") - 1, 0, None)]
            with np.errstate(invalid="ignore"):
                found |= _mean_bps(time_s, path.rtt_s, queue.time_s, queue.sent_bytes) >= FULL * rate
    return found


def _is_capped(time_s: FloatArray, bytes_acked: FloatArray, path: Path) -> NDArray[np.bool_]:
    """For each interval, whether the flow got FULL of its cap, likewise."""
    if path.cap_bps is None:
        return np.zeros(len(time_s) - 1, dtype=bool)
    found: NDArray[np.bool_] = _mean_bps(time_s, path.rtt_s, time_s, bytes_acked) >= FULL * path.cap_bps
    return found


def _mean_bps(time_s: FloatArray, rtt_s: float, at_s: FloatArray, count_bytes: FloatArray) -> FloatArray:
    """The mean rate of a counter that was looked at `at_s`, around each interval; NaN where nobody looked."""
    begin, end = time_s[:-1], time_s[1:]
    more = np.maximum(2 * rtt_s - (end - begin), 0) / 2
    low, high = np.maximum(begin - more, at_s[0]), np.minimum(end + more, at_s[-1])
    counted = np.interp(high, at_s, count_bytes) - np.interp(low, at_s, count_bytes)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: FloatArray = counted * 8 / np.where(high > low, high - low, np.nan)
    return found


def _causes(flow: SenderSamples, path: Path) -> NDArray[np.int64]:
    """For each sample, the number in CAUSES of what the congestion window was due to."""
    recovering = flow.ca_state >= CA_RECOVERY
    before = np.concatenate([[False], recovering[:-1]])
    again = np.concatenate([[False], np.diff(flow.total_retrans) > 0])
    begins = (recovering | again) & ~before
    found = np.where(np.isnan(flow.snd_ssthresh), _SLOW_START, _CONTROL)
    starts = np.flatnonzero(begins)
    for at, until in pairwise([*starts.tolist(), len(found)]):
        found[at:until] = _cause(flow, at, path)
    return found


def _cause(flow: SenderSamples, at: int, path: Path) -> int:
    """Of a recovery that was seen first in this sample."""
    end = flow.time_s[at]
    rtt_s = np.nan_to_num(flow.srtt_s[at])
    begin = flow.time_s[max(at - 1, 0)] - 1.5 * max(float(rtt_s), path.rtt_s)
    for queue in path.queues:
        if len(queue.time_s):
            before = np.searchsorted(queue.time_s, begin, "right") - 1
            after = min(int(np.searchsorted(queue.time_s, end, "left")), len(queue.time_s) - 1)
            if queue.drops[after] > (queue.drops[before] if before >= 0 else 0):
                return _BUFFER
    if path.policed_from_s is not None and end >= path.policed_from_s:
        return _POLICER
    return _LOSS if path.is_lossy else _UNKNOWN


def mean(found: Sequence[dict[Limit, float]]) -> dict[Limit, float]:
    """The mean parts of several flows, the largest first; empty without any."""
    kinds = dict.fromkeys(kind for each in found for kind in each)
    means = {kind: sum(each.get(kind, 0.0) for each in found) / len(found) for kind in kinds}
    return dict(sorted(means.items(), key=lambda each: -each[1]))
