"""A table of a path over time: `time_s` and any of `rate_mbps`, `rtt_ms`, `loss`. Reads text.

The columns stand in any order, a cell may be empty, and lines that begin with # are comments. A row's rate and loss
hold from its time to that of the next row. A round-trip time in a row with a rate above 0 is one under that load.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from itertools import pairwise

from ..measurement import Measurement, Reading, Second, Transfer, refused, summed

FORMAT = "table"
TIME, RATE, RTT, LOSS = "time_s", "rate_mbps", "rtt_ms", "loss"
COLUMNS = (TIME, RATE, RTT, LOSS)
ALLOWED = "a header of time_s and at least one of rate_mbps, rtt_ms and loss, such as time_s,rate_mbps,rtt_ms,loss"
ROWS_MAX, LARGEST = 1_000_000, 1e12

Row = dict[str, float | None]


def is_it(text: str) -> bool:
    """Whether the first line is the header of such a table."""
    head = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return TIME in [word.strip() for word in re.split("[,;\t]", head.lower())]


def read(file: str, text: str) -> Reading:
    """Raises SpecError, with its line, for a value that makes no sense and for times that do not rise."""
    rows = list(_rows(file, text))
    if len(rows) < 2:
        raise refused(file, None, f"there are {len(rows)} rows", "at least two")
    seconds = tuple(
        Second(
            _time(one),
            _time(other),
            rate * 1e6 / 8 * (_time(other) - _time(one)),
            rtts_s=() if one[RTT] is None or not rate else (_rtt_s(one),),
        )
        for one, other in pairwise(rows)
        if (rate := one[RATE]) is not None
    )
    losses = [loss for row in rows if (loss := row[LOSS]) is not None]
    rtts = {
        is_loaded: [_rtt_s(row) for row in rows if row[RTT] is not None and bool(row[RATE]) == is_loaded]
        for is_loaded in (False, True)
    }
    found = [Measurement(file, None, pings=summed(each), is_loaded=is_it) for is_it, each in rtts.items() if each]
    told = [f"{len(each)} round-trip times{' under load' if is_it else ''}" for is_it, each in rtts.items() if each]
    loaded = [n for n, each in enumerate(seconds) if each.octets]
    seconds = seconds[loaded[0] : loaded[-1] + 1] if loaded else ()  # before and after it nothing was sent
    if seconds:
        total_s = sum(each.end_s - each.start_s for each in seconds)
        goodput = sum(each.octets for each in seconds) * 8 / total_s
        least_s = min(rtts[True], default=None)
        found.append(Measurement(file, None, transfer=Transfer(goodput, seconds, by_receiver=True, rtt_min_s=least_s)))
        told.append(f"the rate over {total_s:g} s, mean {goodput / 1e6:.4g} Mbit/s")
    untold = ["how it was measured, so that it is fitted and not measured again"]
    untold += [] if rtts[False] else ["round-trip times without load" if rtts[True] else "round-trip times"]
    untold += [] if seconds else ["rates"]
    if losses:
        mean = 100 * sum(losses) / len(losses)
        told.append(f"loss, mean {mean / 100:.3g}")
        untold.append(
            "of how many packets the loss is a share, so that it is not fitted: "
            f"--set path.loss='{{random: {mean:.3g} %}}'"
        )
    return Reading(file, FORMAT, tuple(found), tuple(told), tuple(untold))


def _rtt_s(row: Row) -> float:
    rtt_ms = row[RTT]
    assert rtt_ms is not None, "BUG: a row without a round-trip time"
    return rtt_ms / 1000


def _time(row: Row) -> float:
    time_s = row[TIME]
    assert time_s is not None, "BUG: a row without a time"
    return time_s


def _rows(file: str, text: str) -> Iterator[Row]:
    names: list[str] | None = None
    last = -math.inf
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if number > ROWS_MAX:
            raise refused(file, number, "this table is too long", f"up to {ROWS_MAX} lines")
        cells = [cell.strip() for cell in next(csv.reader([line]))]
        if names is None:
            names = [cell.lower() for cell in cells]
            unknown = [name for name in names if name not in COLUMNS]
            if unknown or len(set(names)) < len(names) or len(names) < 2:
                raise refused(file, number, f"{line[:60]!r} is no header", ALLOWED)
            continue
        if len(cells) != len(names):
            raise refused(file, number, f"this row has {len(cells)} values", f"{len(names)}: {', '.join(names)}")
        row: Row = {
            **dict.fromkeys(COLUMNS),
            **{n: _number(file, number, n, c) for n, c in zip(names, cells, strict=True)},
        }
        time_s = row[TIME]
        if time_s is None:
            raise refused(file, number, "this row has no time", "a time in s")
        if time_s <= last:
            raise refused(file, number, f"the time {time_s:g} is not after the {last:g} before it", "times that rise")
        last = time_s
        yield row


def _number(file: str, line: int, name: str, cell: str) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    most = 1.0 if name == LOSS else LARGEST
    if not math.isfinite(value) or value < 0 or value > most or (name == RTT and value == 0):
        allowed = "a share from 0 to 1" if name == LOSS else f"a number from 0 to {LARGEST:g}, or nothing"
        raise refused(file, line, f"{name} is {cell[:40]!r}", allowed)
    return value
