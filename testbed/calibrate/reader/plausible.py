"""What no path and no tool can have measured, whatever the format says: such a file is refused. Pure, no I/O."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from ..measurement import Ask, Measurement, Pings, Reading, Second, Transfer, refused

RTT_MOST_S, RATE_MOST_BPS = 3600.0, 1e13
FLOWS_MOST, LENGTH_MOST_S, COUNT_MOST = 1000, 30 * 86400.0, 10**9
CONTROL = re.compile(r"[a-z][a-z0-9_]{0,14}")
"""A congestion control's name. It becomes a word of a command, so that nothing else may be in it."""
SLACK_S = 1e-9
ALLOWED = "what the tool wrote, unchanged"


def refuse_impossible(reading: Reading) -> Reading:
    """The same reading. Raises SpecError for numbers that contradict one another, or that nothing can have."""
    for each in reading.measurements:
        for what in _impossible(each):
            raise refused(reading.file, None, what, ALLOWED)
    return reading


def _impossible(each: Measurement) -> Iterator[str]:
    for name, at_s in (("begins", each.starts_s), ("ends", each.ends_s)):
        if at_s is not None and not math.isfinite(at_s):
            yield f"it {name} at {at_s:g}, which is no time"
    yield from () if each.ask is None else _of_ask(each.ask)
    yield from () if each.pings is None else _of_pings(each.pings)
    yield from () if each.transfer is None else _of_transfer(each.transfer)


def _out(name: str, value: float | None, most: float, least: float = 0.0) -> Iterator[str]:
    if value is not None and not least <= value <= most:
        yield f"{name} is {value:g}, which is not from {least:g} to {most:g}"


def _of_ask(ask: Ask) -> Iterator[str]:
    yield from _out("the number of flows", ask.flows, FLOWS_MOST, 1)
    yield from _out("the duration in s", ask.duration_s, LENGTH_MOST_S, 0.01)
    yield from _out("what is omitted in s", ask.omit_s, LENGTH_MOST_S)
    yield from _out("the rate of a flow in bit/s", ask.rate_bps, RATE_MOST_BPS, 1)
    yield from _out("the length of a datagram or ping", ask.length_bytes, 1 << 20)
    yield from _out("the number of pings", ask.count, COUNT_MOST, 1)
    yield from _out("the time between pings in s", ask.interval_s, LENGTH_MOST_S)
    if ask.congestion is not None and CONTROL.fullmatch(ask.congestion) is None:
        yield f"the congestion control is {ask.congestion[:40]!r}, which is no name of one"


def _of_pings(pings: Pings) -> Iterator[str]:
    yield from _out("the number of pings", pings.sent, COUNT_MOST, 1)
    if pings.received > pings.sent:
        yield f"{pings.received} of {pings.sent} pings got a reply"
    if len(pings.rtts_s) > pings.received:
        yield f"there are {len(pings.rtts_s)} round-trip times of {pings.received} replies"
    summary = (pings.min_s, pings.mean_s, pings.max_s)
    for rtt_s in (*pings.rtts_s, *summary, pings.sd_s):
        yield from _out("a round-trip time in s", rtt_s, RTT_MOST_S)
    off_s = pings.summary_step_s + SLACK_S
    told = [each for each in summary if each is not None]
    if any(one > other + off_s for one, other in pairwise(told)):
        yield f"the least, mean and largest round-trip time are {', '.join(f'{each * 1e3:g}' for each in told)} ms"
    off_s += pings.step_s
    ends = (pings.min_s, pings.max_s)
    if pings.rtts_s and None not in ends:
        least, most = min(pings.rtts_s), max(pings.rtts_s)
        if least < (ends[0] or 0.0) - off_s or most > (ends[1] or 0.0) + off_s:
            yield (
                f"its replies took {least * 1e3:g} to {most * 1e3:g} ms, and its summary says "
                f"{(ends[0] or 0.0) * 1e3:g} to {(ends[1] or 0.0) * 1e3:g} ms"
            )


def _of_transfer(transfer: Transfer) -> Iterator[str]:
    yield from _out("the goodput in bit/s", transfer.goodput_bps, RATE_MOST_BPS)
    yield from _out("the segments sent again", transfer.retransmits, 1e15)
    yield from _out("the segments sent", transfer.segments, 1e15)
    yield from _out("the datagrams lost", transfer.lost, transfer.datagrams or 0)
    yield from _out("the jitter in s", transfer.jitter_s, RTT_MOST_S)
    yield from _out("the size of a segment", transfer.mss_bytes, 1 << 16, 1)
    yield from _out("the least round-trip time in s", transfer.rtt_min_s, RTT_MOST_S)
    yield from _out("the window in bytes", transfer.window_limit_bytes, 1e15)
    for each in transfer.seconds:
        yield from _of_second(each)
    for one, other in pairwise(transfer.seconds):
        if other.start_s <= one.start_s:
            yield f"the interval that begins at {other.start_s:g} s follows that at {one.start_s:g} s"


def _of_second(each: Second) -> Iterator[str]:
    if not -math.inf < each.start_s < each.end_s < math.inf:
        yield f"an interval is from {each.start_s:g} to {each.end_s:g} s"
        return
    yield from _out("the rate of an interval in bit/s", each.rate_bps, RATE_MOST_BPS)
    yield from _out("the segments sent again in an interval", each.retransmits, 1e15)
    for rtt_s in each.rtts_s:
        yield from _out("a round-trip time in s", rtt_s, RTT_MOST_S)
    for window in each.windows_bytes:
        yield from _out("a congestion window in bytes", window, 1e15)
