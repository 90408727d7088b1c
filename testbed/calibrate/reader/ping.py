"""Output of ping: of Linux (iputils, busybox), macOS and BSD, and Windows; with or without a line for each reply.

Reads text; the formats are pinned by samples in tests/data/calibrate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..measurement import Ask, Measurement, Pings, Reading, refused

FORMAT = "ping"

_HEAD = re.compile(
    r"PING \S+ ?\(?(?P<unix>[0-9a-fA-F.:]+)\)?(?:[^(]*?\(?[^)]*\)?)?:? .*?(?P<size>\d+)(?:\(\d+\))?(?: data)? bytes"
    r"|\S+ (?:.*?[\[ ])?(?P<windows>\d+(?:\.\d+){3}|[0-9a-fA-F]*:[0-9a-fA-F:]+)[\] %]"
    r".*?(?P<wsize>\d+) .*(?:[Dd]ata|Daten|datos|données)",
)
_UNIX = re.compile(
    r"(?:\[(?P<at>\d+\.\d+)\] )?\d+ bytes from .*?(?:icmp_)?seq=(?P<seq>\d+).*? time=(?P<ms>\d+(?:\.\d+)?) ms"
)
_WINDOWS = re.compile(r"\w+ \w+ [0-9a-fA-F.:]+: .*?\w+(?P<sign>[=<])(?P<ms>\d+) ?ms TTL=\d+", re.IGNORECASE)
_UNIX_COUNTS = re.compile(r"\b(\d{1,12}) packets transmitted, (\d{1,12})(?: packets)? received(?:.*?, time (\d+) ?ms)?")
_WINDOWS_COUNTS = re.compile(r"^\s*\w+: \w+ = (\d{1,12}), \w+ = (\d{1,12}), \w+ = (\d{1,12})", re.MULTILINE)
_UNIX_TIMES = re.compile(
    r"(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev))? = (\d+\.?\d*)/(\d+\.?\d*)/(\d+\.?\d*)(?:/(\d+\.?\d*))? ms"
)
_WINDOWS_TIMES = re.compile(r"\w+ = (\d+) ?ms, \w+ = (\d+) ?ms, \w+ = (\d+) ?ms")
_BEGIN = re.compile(r"^PING ", re.MULTILINE)
_BACK = re.compile(r"time of day goes back", re.IGNORECASE)
_SAID_SECOND_S = 1.0


@dataclass
class _Lines:
    """What single lines told."""

    rtts_s: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    at_s: list[float] = field(default_factory=list)
    is_windows: bool = False
    is_below: bool = False


def is_it(text: str) -> bool:
    """Whether a text is that of a ping."""
    return bool(
        _UNIX_COUNTS.search(text) or _WINDOWS_COUNTS.search(text) or _UNIX.search(text) or _WINDOWS.search(text)
    )


def read(file: str, text: str) -> Reading:
    """Raises SpecError for pings without replies, clocks that go backward, and several pings in one file."""
    _refuse_second(file, text)
    lines = _lines(file, text)
    sent, received, took_s = _counts(text, lines)
    if received == 0:
        number = _line_of(text, "transmitted", "Sent", "=") or 1
        raise refused(file, number, f"none of {sent or 'the'} pings got a reply", "a ping with at least one reply")
    summary, step_s = _summary(text)
    if summary is None and not lines.rtts_s:
        raise refused(file, 1, "this ping tells no round-trip time", "its summary, or a line for each reply")
    pings = Pings(
        sent=sent,
        received=received,
        rtts_s=tuple(lines.rtts_s),
        times_s=tuple(lines.at_s),
        min_s=_of(summary, 0, lines.rtts_s, min),
        mean_s=_of(summary, 1, lines.rtts_s, lambda all: sum(all) / len(all)),
        max_s=_of(summary, 2, lines.rtts_s, max),
        sd_s=None if summary is None else summary[3],
        step_s=max(map(_step, lines.texts), default=0.0),
        summary_step_s=step_s if summary is not None else max(map(_step, lines.texts), default=0.0),
    )
    interval_s = _interval(lines, took_s, sent)
    head = _HEAD.search(text)
    size = None if head is None else int(head["size"] or head["wsize"])
    ask = Ask("ping", "icmp", count=sent, interval_s=interval_s or _SAID_SECOND_S, length_bytes=size)
    starts_s = lines.at_s[0] if lines.at_s else None
    one = Measurement(
        file,
        ask,
        pings=pings,
        starts_s=starts_s,
        ends_s=lines.at_s[-1] if lines.at_s else None,
        other_end=None if head is None else head["unix"] or head["windows"],
    )
    return Reading(file, FORMAT, (one,), *_said(text, pings, interval_s, lines))


def _refuse_second(file: str, text: str) -> None:
    for pattern in (_BEGIN, _UNIX_COUNTS, _WINDOWS_COUNTS):
        for second in list(pattern.finditer(text))[1:]:
            line = text.count("\n", 0, second.end()) + 1
            raise refused(file, line, "this is of a second ping", "one ping in each file")


def _lines(file: str, text: str) -> _Lines:
    found = _Lines()
    for number, line in enumerate(text.splitlines(), 1):
        if _BACK.search(line):
            raise refused(file, number, "the clock went backward during this ping", "a ping with a steady clock")
        if "DUP!" in line:
            continue
        unix, windows = _UNIX.search(line), _WINDOWS.search(line)
        if unix is not None:
            found.rtts_s.append(float(unix["ms"]) / 1000)
            found.texts.append(unix["ms"])
            if unix["at"]:
                at_s = float(unix["at"])
                if found.at_s and at_s < found.at_s[-1]:
                    what = f"the time {unix['at']} is before that of an earlier line"
                    raise refused(file, number, what, "times that never fall")
                found.at_s.append(at_s)
        elif windows is not None:
            found.is_windows = True
            found.is_below |= windows["sign"] == "<"
            found.rtts_s.append(float(windows["ms"]) / 1000)
            found.texts.append(windows["ms"])
    if len(found.at_s) < len(found.rtts_s):
        found.at_s = []
    return found


def _step(text: str) -> float:
    """The unit of the last digit of a time in ms, in s."""
    return 10.0 ** -len(text.partition(".")[2]) / 1000


def _counts(text: str, lines: _Lines) -> tuple[int, int, float | None]:
    """How many were sent and answered, and how long it took; those of an interrupted ping are of its lines."""
    unix, windows = _UNIX_COUNTS.search(text), _WINDOWS_COUNTS.search(text)
    if unix is not None:
        return int(unix[1]), int(unix[2]), None if unix[3] is None else int(unix[3]) / 1000
    if windows is not None:
        return int(windows[1]), int(windows[2]), None
    return len(lines.rtts_s), len(lines.rtts_s), None


def _summary(text: str) -> tuple[tuple[float, float, float, float | None] | None, float]:
    """The smallest, mean and largest time and the sd in s, and what they are rounded to."""
    unix, windows = _UNIX_TIMES.search(text), _WINDOWS_TIMES.search(text)
    if unix is not None:
        low, mean, high = (float(unix[n]) / 1000 for n in (1, 2, 3))
        return (low, mean, high, None if unix[4] is None else float(unix[4]) / 1000), _step(unix[1])
    if windows is not None:
        low, high, mean = (float(windows[n]) / 1000 for n in (1, 2, 3))
        return (low, mean, high, None), 1e-3
    return None, 0.0


def _of(summary: Sequence[float | None] | None, at: int, rtts_s: list[float], of: object) -> float | None:
    if summary is not None:
        return summary[at]
    return of(rtts_s) if callable(of) and rtts_s else None


def _interval(lines: _Lines, took_s: float | None, sent: int) -> float | None:
    if len(lines.at_s) > 1:
        return round((lines.at_s[-1] - lines.at_s[0]) / (len(lines.at_s) - 1), 3)
    return round(took_s / (sent - 1), 3) if took_s and sent > 1 else None


def _said(text: str, pings: Pings, interval_s: float | None, lines: _Lines) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What it told and what not; a ping without its last lines does not tell how many were sent."""
    if _UNIX_COUNTS.search(text) or _WINDOWS_COUNTS.search(text):
        return _told(pings), _untold(pings, interval_s, lines)
    lost = "how many were lost, as its last lines are missing"
    return _told(pings)[:1], (lost, *_untold(pings, interval_s, lines))


def _told(pings: Pings) -> tuple[str, ...]:
    single = f"{len(pings.rtts_s)} round-trip times" if pings.rtts_s else "the least, mean and largest round-trip time"
    return (single, f"{pings.sent - pings.received} of {pings.sent} pings lost")


def _untold(pings: Pings, interval_s: float | None, lines: _Lines) -> tuple[str, ...]:
    found = [] if pings.rtts_s else ["the distribution of round-trip times, and whether they are correlated (no -q)"]
    found += [] if interval_s is not None else ["the time between pings, taken as 1 s (Linux: -D)"]
    found += ["times below 1 ms"] if lines.is_below else []
    found += ["times finer than 1 ms"] if lines.is_windows else []
    return (*found, "rates", "which direction is the slower one")


def _line_of(text: str, *words: str) -> int | None:
    for number, line in enumerate(text.splitlines(), 1):
        if words[0] in line or words[1] in line:
            return number
    return None
