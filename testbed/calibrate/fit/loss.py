"""Residual loss of one direction: what is lost although no queue is full. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ...analysis import tcp_model
from ..measurement import Second
from .fitted import Explanation, Fitted, Found, Status, poisson_interval, unique, unknown
from .rate import Load
from .steady import MSS_BYTES, Group

NEXT = "run `iperf3 --json -u -b {rate}M -t 60` at half of the rate"
EMPTY = 0.05
"""In so few intervals may a queue stand if its drops are to be none."""
BELOW_FULL = 0.8
ENOUGH_SEGMENTS = 2000
ENOUGH_LOST = 5
"""The interval of a smaller count spans more than a factor of nine."""
OVERLOADED = 0.9


def fit(loads: Sequence[Load], datagrams: Sequence[Group], rate_bps: float | None, rtt_s: float | None) -> Found:
    """From datagrams below the rate, TCP without a queue, or the intervals in which the queue cannot have been full."""
    hint = NEXT.format(rate=round((rate_bps or 2e7) / 2e6) or 1)
    for counted in (_of_datagrams(datagrams, rate_bps), _of_empty(loads), _of_rising(loads)):
        if counted is not None:
            lost, sent, rule, files = counted
            return Found((_fitted(lost, sent, rule, files, hint),), _law(lost / sent, loads, rtt_s))
    return Found((_bounded(loads, hint),))


Counted = tuple[int, float, str, tuple[str, ...]]


def _of_datagrams(groups: Sequence[Group], rate_bps: float | None) -> Counted | None:
    lost, sent, files = 0, 0, []
    for group in groups:
        if group.ask is None or group.ask.protocol != "udp" or group.ask.rate_bps is None:
            continue
        offered = group.ask.rate_bps * group.ask.flows * 1.05
        if rate_bps is None or offered > OVERLOADED * rate_bps:
            continue
        for each in group.transfers:
            if each.lost is not None and each.datagrams:
                lost, sent = lost + each.lost, sent + each.datagrams
                files += list(group.files)
    if not sent:
        return None
    return lost, sent, f"{lost} of {sent} datagrams lost, sent below the rate of the link", unique(files)


def _of_empty(loads: Sequence[Load]) -> Counted | None:
    """All of TCP that never had a queue: each segment sent again was lost on the way."""
    mine = [each for each in loads if each.risen is not None and each.risen <= EMPTY]
    return _counted(mine, lambda load: load.seconds, "in the steady part of flows that had no queue")


def _of_rising(loads: Sequence[Load]) -> Counted | None:
    """Single flows: intervals in which the round-trip time did not fall and stayed below four fifths of the highest."""
    mine = [each for each in loads if each.group.flows == 1 and each.standing is not None]

    def chosen(load: Load) -> list[Second]:
        top = max((max(each.rtts_s) for each in load.seconds if each.rtts_s), default=0.0)
        found = []
        for run in load.steady:
            for before, each in pairwise(run):
                if before.rtts_s and each.rtts_s and before.rtts_s[0] <= each.rtts_s[0] < BELOW_FULL * top:
                    found.append(each)
        return found

    return _counted(mine, chosen, "in intervals of a single flow in which the queue grew and was not full")


def _counted(loads: Sequence[Load], chosen: Callable[[Load], list[Second]], where: str) -> Counted | None:
    lost, sent, files = 0, 0.0, []
    for load in loads:
        mss = load.group.transfers[0].mss_bytes or MSS_BYTES
        for each in chosen(load):
            if each.retransmits is None:
                continue
            lost, sent = lost + each.retransmits, sent + each.octets / mss
            files += list(load.group.files)
    if sent < ENOUGH_SEGMENTS:
        return None
    return lost, sent, f"{lost} of {sent:.0f} segments were sent again {where}", unique(files)


def _fitted(lost: int, sent: float, rule: str, files: tuple[str, ...], hint: str) -> Fitted:
    low, high = (each / sent for each in poisson_interval(lost))
    if lost == 0:
        return Fitted("loss", "ratio", "bound", f"{rule}: none, or less than can be seen", 0.0, None, high, files, hint)
    few = lost < ENOUGH_LOST
    rule = f"{rule}; the interval is that of the count{', which is too small for a number' if few else ''}"
    status: Status = "bound" if few else "identified"
    return Fitted("loss", "ratio", status, rule, lost / sent, low, min(1.0, high), files, hint if few else None)


def _bounded(loads: Sequence[Load], hint: str) -> Fitted:
    """What the queue dropped is among what was sent again, so that all of it is a bound."""
    found = []
    for load in loads:
        resent, segments = load.group.retransmits, load.group.segments
        if resent is not None and segments:
            found.append((poisson_interval(resent)[1] / segments, load.group))
    if not found:
        return unknown("loss", "ratio", "no file tells what was lost or sent again", hint)
    most, group = min(found, key=lambda pair: pair[0])
    rule = f"a full queue drops segments too, so that what {group.said} sent again is the most"
    return Fitted("loss", "ratio", "bound", rule, 0.0, None, min(1.0, most), group.files, hint)


def _law(loss: float, loads: Sequence[Load], rtt_s: float | None) -> tuple[Explanation, ...]:
    """What CUBIC and Reno reach at this loss, against what a single flow reached."""
    found = []
    laws = {"cubic": lambda p: tcp_model.cubic_window_segments(p, rtt_s or 0.0), "reno": tcp_model.reno_window_segments}
    for load in loads:
        control = None if load.group.ask is None else load.group.ask.congestion
        if load.group.flows != 1 or control not in laws or not rtt_s or not 0 < loss < 1:
            continue
        mss = load.group.transfers[0].mss_bytes or MSS_BYTES
        told = tcp_model.window_throughput_bps(laws[control](loss), rtt_s, mss)
        share = load.rate_bps / told
        found.append(
            Explanation(
                "one flow",
                f"{control} at this loss reaches {told / 1e6:.4g} Mbit/s by its law",
                share < 1.5,
                f"it got {load.rate_bps / 1e6:.4g} Mbit/s, {share:.2f} of that",
            )
        )
    return tuple(found)
