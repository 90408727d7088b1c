"""Transfers of the same kind together, and their steady part. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...analysis import statistic
from ..measurement import Ask, Measurement, Second, Transfer, Way
from .fitted import mean_interval

ETHERNET_BYTES, HEADERS_BYTES = 14, 52
"""Of a frame as links count it; of IPv4 and TCP with time stamps."""
DATAGRAM_HEADERS_BYTES = 28
MSS_BYTES = 1448
FRAME_BYTES = MSS_BYTES + HEADERS_BYTES + ETHERNET_BYTES
RAMP_S, RAMP_SHARE, RAMP_RTTS = 2.0, 0.2, 15
STANDING_SHARE, STANDING_S = 0.03, 0.0005
"""A round-trip time is above the base by so much if a queue stands."""


@dataclass(frozen=True)
class Group:
    """The repetitions of one measurement."""

    ask: Ask | None
    way: Way
    runs: tuple[Measurement, ...]

    @property
    def flows(self) -> int:
        return len(self.transfers[0].flows_bps) or (1 if self.ask is None else self.ask.flows)

    @property
    def transfers(self) -> list[Transfer]:
        return [each.transfer for each in self.runs if each.transfer is not None]

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.file for each in self.runs))

    @property
    def goodput_bps(self) -> float:
        return statistic.mean([each.goodput_bps for each in self.transfers])

    @property
    def said(self) -> str:
        return self.files[0] if self.ask is None else self.ask.said()

    @property
    def framing(self) -> float:
        """Bits of frames for each bit of payload; 1 for datagrams whose length is not told."""
        if self.ask is not None and self.ask.protocol == "udp":
            length = self.ask.length_bytes or 0
            return (length + DATAGRAM_HEADERS_BYTES + ETHERNET_BYTES) / length if length else 1.0
        mss = next((each.mss_bytes for each in self.transfers if each.mss_bytes), MSS_BYTES)
        return (mss + HEADERS_BYTES + ETHERNET_BYTES) / mss

    @property
    def segments(self) -> float | None:
        known = [each.segments for each in self.transfers]
        return None if None in known else sum(each for each in known if each is not None)

    @property
    def retransmits(self) -> int | None:
        known = [each.retransmits for each in self.transfers]
        return None if None in known else sum(each for each in known if each is not None)

    def steady(self, rtt_s: float | None) -> list[list[Second]]:
        """The intervals of each run after its ramp."""
        return [steady(each.seconds, rtt_s) for each in self.transfers]

    def queues(self, rtt_s: float, seconds: Iterable[Second]) -> list[float]:
        """How far each flow's round-trip time is above the base."""
        return [max(0.0, each - rtt_s) for second in seconds for each in second.rtts_s]


def grouped(measurements: Sequence[Measurement]) -> list[Group]:
    """Of transfers that were asked for alike; each file without an ask is a group of its own."""
    found: dict[object, list[Measurement]] = {}
    for each in measurements:
        if each.transfer is not None:
            key = (each.file, each.way) if each.ask is None else replace(each.ask, duration_s=None)
            found.setdefault(key, []).append(each)
    return [Group(runs[0].ask, runs[0].way, tuple(runs)) for runs in found.values()]


def steady(seconds: Sequence[Second], rtt_s: float | None) -> list[Second]:
    """Without the first 2 s or 15 round trips, and at most half of it."""
    if not seconds:
        return []
    length_s = seconds[-1].end_s - seconds[0].start_s
    ramp_s = min(max(RAMP_S, RAMP_SHARE * length_s, RAMP_RTTS * (rtt_s or 0.0)), length_s / 2)
    begin_s = seconds[0].start_s + ramp_s
    return [each for each in seconds if each.start_s >= begin_s - 1e-3]


def above_s(rtt_s: float, rate_bps: float = math.inf) -> float:
    """The round-trip time from which on a queue stood before a link that carried `rate_bps` of payload: two segments
    that are acknowledged together wait for each other on such a link without any queue. Below that of an infinite rate
    there may have been none.
    """
    return rtt_s * (1 + STANDING_SHARE) + STANDING_S + 2 * 8 * FRAME_BYTES / rate_bps


def is_standing(second: Second, from_s: float) -> bool | None:
    """Whether a queue stood at the end of an interval, for all flows; None if no round-trip time is told."""
    return min(second.rtts_s) > from_s if second.rtts_s else None


def share(marks: Iterable[bool | None]) -> float | None:
    """Of the marks that are known; None without any."""
    known = [mark for mark in marks if mark is not None]
    return sum(known) / len(known) if known else None


def rate(groups_seconds: Sequence[Sequence[Second]]) -> tuple[float, tuple[float, float] | None]:
    """The mean rate of runs, and its interval: over the runs if there are three, else within them."""
    means = [total(seconds) for seconds in groups_seconds if seconds]
    value = statistic.mean(means)
    if len(means) >= 3:
        found = statistic.t_interval(means)
        return value, (found.low, found.high)
    within = [mean_interval([each.rate_bps for each in seconds]) for seconds in groups_seconds if seconds]
    known = [each for each in within if each is not None]
    if not known:
        return value, None
    return value, (min(low for low, _ in known), max(high for _, high in known))


def total(seconds: Sequence[Second]) -> float:
    return sum(each.octets for each in seconds) * 8 / sum(each.end_s - each.start_s for each in seconds)
