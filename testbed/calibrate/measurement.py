"""A measurement of a path, as a file tells it: how it was made, and what it saw. Pure, no I/O.

What a file does not tell is None or an empty tuple, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..error import Problem, SpecError
from ..units import counted

Tool: TypeAlias = Literal["ping", "iperf3"]
Protocol: TypeAlias = Literal["icmp", "tcp", "udp"]
Way: TypeAlias = Literal["forward", "backward"]

SAME_START_S = 1.0
"""Clocks of one computer, of which iperf3 prints whole seconds."""
ENOUGH = 10


@dataclass(frozen=True)
class Ask:
    """How a measurement was made, and what makes it again.

    `reverse`: the server sends. `congestion` and `window_bytes` None are what the sender's kernel chose, and the file
    does not tell. `rate_bps` is that of each flow, in payload; None is no limit. `omit_s` is left out at the start.
    """

    tool: Tool
    protocol: Protocol
    flows: int = 1
    duration_s: float | None = None
    reverse: bool = False
    congestion: str | None = None
    window_bytes: int | None = None
    rate_bps: float | None = None
    length_bytes: int | None = None
    omit_s: float = 0.0
    interval_s: float = 1.0
    count: int | None = None

    @property
    def way(self) -> Way:
        return "backward" if self.reverse else "forward"

    @property
    def is_bulk(self) -> bool:
        """TCP that sends all it can."""
        return self.protocol == "tcp" and self.rate_bps is None

    def words(self) -> tuple[str, ...]:
        """The command, with $SERVER for the other end."""
        if self.tool == "ping":
            size = () if self.length_bytes is None else ("-s", str(self.length_bytes))
            return ("ping", "-n", "-i", f"{self.interval_s:g}", "-c", str(self.count), *size, "$SERVER")
        found = ["iperf3", "--client", "$SERVER", "--json", "--time", f"{self.duration_s or 10:g}"]
        found += ["--parallel", str(self.flows)] if self.flows > 1 else []
        found += ["--reverse"] if self.reverse else []
        found += ["--udp"] if self.protocol == "udp" else []
        found += ["--congestion", self.congestion] if self.congestion else []
        found += ["--window", str(self.window_bytes)] if self.window_bytes else []
        found += ["--bitrate", f"{self.rate_bps:.0f}"] if self.rate_bps is not None else []
        found += ["--length", str(self.length_bytes)] if self.length_bytes and self.protocol == "udp" else []
        found += ["--omit", f"{self.omit_s:g}"] if self.omit_s else []
        found += ["--interval", f"{self.interval_s:g}"] if self.interval_s != 1 else []
        return tuple(found)

    def said(self) -> str:
        """In words, such as "iperf3, tcp, 4 flows, 20 s, cubic"."""
        if self.tool == "ping":
            return f"ping, {self.count} every {self.interval_s:g} s"
        parts = [self.tool, self.protocol, counted(self.flows, "flow")]
        parts += [] if self.duration_s is None else [f"{self.duration_s:g} s"]
        parts += ["backward"] if self.reverse else []
        parts += [self.congestion] if self.congestion else []
        parts += [f"window {self.window_bytes} B"] if self.window_bytes else []
        parts += [f"{self.rate_bps / 1e6:g} Mbit/s each"] if self.rate_bps is not None else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Second:
    """One interval of a transfer, usually a second, of all its flows together.

    `octets` are what the side that reports wrote or read; `rtts_s` are the smoothed RTTs of the flows at its end,
    `windows_bytes` their congestion windows.
    """

    start_s: float
    end_s: float
    octets: float
    retransmits: int | None = None
    rtts_s: tuple[float, ...] = ()
    windows_bytes: tuple[float, ...] = ()

    @property
    def rate_bps(self) -> float:
        return self.octets * 8 / (self.end_s - self.start_s)


@dataclass(frozen=True)
class Pings:
    """Round-trip times one by one, in order, where they are told, and the summary of the tool.

    `step_s` is what the tool rounds single times to, `summary_step_s` what it rounds those of the summary to. `times_s`
    are when the replies came, by the computer's clock; empty if not told.
    """

    sent: int
    received: int
    rtts_s: tuple[float, ...] = ()
    times_s: tuple[float, ...] = ()
    min_s: float | None = None
    mean_s: float | None = None
    max_s: float | None = None
    sd_s: float | None = None
    step_s: float = 0.0
    summary_step_s: float = 0.0


@dataclass(frozen=True)
class Transfer:
    """A TCP or UDP transfer. `goodput_bps` is what arrived over the whole time, without what was omitted.

    `by_receiver`: the intervals are of the end that received, so that nothing waits in a buffer. `retransmits` and
    `segments` are TCP's; `lost` and `datagrams` UDP's. `window_limit_bytes` is the largest window that the other end
    offered to a flow.
    """

    goodput_bps: float
    seconds: tuple[Second, ...] = ()
    flows_bps: tuple[float, ...] = ()
    by_receiver: bool = False
    retransmits: int | None = None
    segments: float | None = None
    lost: int | None = None
    datagrams: int | None = None
    jitter_s: float | None = None
    mss_bytes: int | None = None
    window_limit_bytes: float | None = None
    rtt_min_s: float | None = None


@dataclass(frozen=True)
class Measurement:
    """One run of one tool. `ask` None: nothing here can make it again, so that it is fitted and never judged.

    `starts_s` is the time of day at which it began. `loaded_by` is the transfer during which pings ran.
    """

    file: str
    ask: Ask | None
    pings: Pings | None = None
    transfer: Transfer | None = None
    way: Way = "forward"
    starts_s: float | None = None
    ends_s: float | None = None
    other_end: str | None = None
    is_loaded: bool = False


@dataclass(frozen=True)
class Reading:
    """What one file told, and could not tell, in words. `trace` is a file that a link can play as its rate."""

    file: str
    format: str
    measurements: tuple[Measurement, ...]
    told: tuple[str, ...]
    untold: tuple[str, ...]
    trace: str | None = None
    notes: tuple[str, ...] = field(default=())


def refused(file: str, line: int | None, what: str, allowed: str | None = None) -> SpecError:
    """The error of a file of measurements."""
    return SpecError([Problem(file, line, what, allowed)])


def with_load(readings: Sequence[Reading]) -> list[Reading]:
    """The same, with the pings apart that ran while a transfer did, by the clock that both print."""
    spans = [
        (each.starts_s, each.ends_s)
        for reading in readings
        for each in reading.measurements
        if each.transfer is not None and each.starts_s is not None and each.ends_s is not None
    ]
    return [_marked(reading, spans) for reading in readings]


def _marked(reading: Reading, spans: Sequence[tuple[float, float]]) -> Reading:
    found = tuple(part for each in reading.measurements for part in _parts(each, spans))
    if found == reading.measurements:
        return reading
    loaded = _received(each for each in found if each.is_loaded)
    notes = [f"{loaded} of its pings ran beside a transfer, so they are under load"] if loaded else []
    if left := _received(reading.measurements) - _received(found):
        notes.append(f"{left} of its pings were too near to a transfer to tell whether they are under load")
    return replace(reading, measurements=found, notes=(*reading.notes, *notes))


def _received(runs: Iterable[Measurement]) -> int:
    return sum(each.pings.received for each in runs if each.pings is not None)


def _parts(each: Measurement, spans: Sequence[tuple[float, float]]) -> Iterator[Measurement]:
    """The pings of a run that met no transfer, and those under its load. What is too near to its ends to tell, and a
    rest without load of fewer than ENOUGH, counts as neither.
    """
    pings = each.pings
    if pings is None or each.is_loaded or not pings.times_s:
        yield each
        return
    timed = list(zip(pings.times_s, pings.rtts_s, strict=True))
    idle = [one for one in timed if all(not s - SAME_START_S <= one[0] <= e + SAME_START_S for s, e in spans)]
    loaded = [one for one in timed if any(s + SAME_START_S <= one[0] <= e for s, e in spans)]
    if len(idle) == len(timed):
        yield each
        return
    if len(idle) >= ENOUGH:
        yield replace(each, pings=_part(pings, idle), starts_s=idle[0][0], ends_s=idle[-1][0])
    if loaded:
        under = _part(pings, loaded)
        yield replace(each, pings=under, is_loaded=True, starts_s=loaded[0][0], ends_s=loaded[-1][0])


def _part(whole: Pings, timed: Sequence[tuple[float, float]]) -> Pings:
    """Some pings of a run, with a summary of these alone, which is as coarse as single times are."""
    return replace(summed([rtt_s for _, rtt_s in timed], whole.step_s), times_s=tuple(at_s for at_s, _ in timed))


def summed(rtts_s: Sequence[float], step_s: float = 0.0, *, has_sd: bool = True) -> Pings:
    """Pings that were all answered, with the summary of their round-trip times, which are rounded to `step_s`; without
    their sd where it says nothing of the path.
    """
    mean_s = sum(rtts_s) / len(rtts_s)
    return Pings(
        sent=len(rtts_s),
        received=len(rtts_s),
        rtts_s=tuple(rtts_s),
        min_s=min(rtts_s),
        mean_s=mean_s,
        max_s=max(rtts_s),
        sd_s=math.sqrt(sum((rtt_s - mean_s) ** 2 for rtt_s in rtts_s) / len(rtts_s)) if has_sd else None,
        step_s=step_s,
        summary_step_s=step_s,
    )
