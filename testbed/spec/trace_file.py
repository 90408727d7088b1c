"""Trace files: what links name is read and becomes part of the topology, or of the scenario's axis. Reads files.

Two formats of a `trace`: that of Mahimahi, one whole number in each line, the ms of an opportunity for a packet of 1500
bytes; and a table with a header, a row for each time from which a rate holds, and a last row TIME,end:

    time_s,rate_bps
    0,12000000
    0.5,3000000
    20,end

A `wander` has tables of RTTs: of times, as above but with `rtt_…` for `rate_…`, or of quantiles, from 0 to 1:

    quantile,rtt_ms
    0,18.5
    0.5,20
    1,90
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, TypeAlias

from .. import units
from ..codec.fault import Fault, Path
from ..error import Problem, SpecError, ValueRefused
from ..model.link import trace, wander
from ..model.link.trace import Trace
from .syntax import input_file
from .syntax.attachment import Folder, unread
from .syntax.document import Document, Position, mapping
from .topology.link.impairment import OPPORTUNITIES, TRACE_ALLOWED, made

TRACE_BYTES = 64 << 20
"""A minute at 1 Gbit/s in the format of Mahimahi has 35 MB. A table has a row for each rate, however high it is."""
DIGITS = 12
TIMES = {"time_ns": 0, "time_us": 3, "time_ms": 6, "time_s": 9}
RATES = {"rate_bps": 0, "rate_kbps": 3, "rate_mbps": 6, "rate_gbps": 9}
"""Columns of a table, and the power of ten that makes them ns and bit/s."""

HEADERS = (
    "a header of time_s, time_ms, time_us or time_ns, and rate_bps, rate_kbps or rate_mbps: such as time_s,rate_bps"
)
RTTS = {"rtt_ns": 0, "rtt_us": 3, "rtt_ms": 6, "rtt_s": 9}
RTT_HEADERS = (
    "a header of time_s, time_ms, time_us or time_ns, and rtt_s, rtt_ms, rtt_us or rtt_ns: such as time_s,rtt_ms"
)
QUANTILE_HEADERS = "a header of quantile, and rtt_s, rtt_ms, rtt_us or rtt_ns: such as quantile,rtt_ms"
END = "end"
_NUMBER = re.compile(rf"[0-9]{{1,{DIGITS}}}(\.[0-9]{{1,{DIGITS}}})?")


_Table: TypeAlias = tuple[list[str], list[tuple[int, list[str]]]]
"""The two columns of a table, and the cells of each row below its header, with their lines."""


class _Bad(Exception):
    """What is wrong in a line, counted from 0; None is the whole file."""

    def __init__(self, line: int | None, what: str, allowed: str) -> None:
        super().__init__(what)
        self.line, self.what, self.allowed = line, what, allowed


def with_traces(document: Document, folder: Folder) -> Document:
    """The document of a topology with the text of each trace that its links name. A file that cannot be read is a fault
    of the document. Raises SpecError for what is wrong in a file.
    """
    links = mapping(mapping(document.data).get("links"))
    for name, link in links.items():
        document = _filled(document, ("links", name, "trace"), mapping(link).get("trace"), folder)
        document = _with_tables(document, ("links", name, "wander"), mapping(link).get("wander"), folder)
    return document


def with_axis_traces(document: Document, folder: Folder) -> Document:
    """The same of a scenario, with the traces that its axes name."""
    for key, values in mapping(mapping(document.data).get("sweep")).items():
        members = [part.strip().split(".") for part in key.split("+")]
        of_traces = [n for n, words in enumerate(members) if len(words) in (2, 3) and words[1] == "trace"]
        of_tables = [n for n, words in enumerate(members) if len(words) == 2 and words[1] == "wander"]
        for columns, fill in ((of_traces, _filled), (of_tables, _with_tables)):
            for row, value in enumerate(values if isinstance(values, list) else ()):
                for column in columns:
                    if len(members) == 1:
                        document = fill(document, ("sweep", key, row), value, folder)
                    elif isinstance(value, list) and column < len(value):
                        document = fill(document, ("sweep", key, row, column), value[column], folder)
    return document


def _with_tables(document: Document, path: Path, said: Any, folder: Folder) -> Document:
    """With the tables that the `wander` at a path names."""
    for key in ("quantiles", "trace"):
        name = mapping(said).get(key)
        if not isinstance(name, str):
            continue
        place = (*path, key)
        try:
            with folder.held(document, place, name) as held:
                packed = read_rtts(held, os.path.join(folder.path, name), is_trace=key == "trace")
        except OSError as error:
            document = _with_fault(document, unread(place, name, error, wander.TABLE_ALLOWED))
            continue
        position = document.positions.get(place, Position(name))
        twig = {"file": name, "rows": packed}
        document = document.planted(place, Document(twig, {at: position for at in ((), ("file",), ("rows",))}))
    return document


def _filled(document: Document, path: Path, said: Any, folder: Folder) -> Document:
    """With what the file says that is named at a path, or in the directions below it."""
    if isinstance(said, dict):
        for way in ("forward", "backward"):
            document = _filled(document, (*path, way), said.get(way), folder)
        return document
    if not isinstance(said, str) or said == "none":
        return document
    try:
        with folder.held(document, path, said) as held:
            found = read(held, said, os.path.join(folder.path, said))
    except OSError as error:
        fault = unread(path, said, error, TRACE_ALLOWED)
        return _with_fault(document, fault)
    position = document.positions.get(path, Position(said))
    twig = {"file": said, OPPORTUNITIES: found.packed}
    return document.planted(path, Document(twig, {(): position, ("file",): position, (OPPORTUNITIES,): position}))


def _with_fault(document: Document, fault: Fault) -> Document:
    return Document(document.data, document.positions, (*document.faults, fault))


def read(path: str, name: str, shown: str | None = None) -> Trace:
    """Raises OSError for a file that cannot be read, SpecError, with the path `shown`, for what is wrong in it."""
    with _opened(path, shown or path, "trace") as text:
        return _read(text, name)


def read_rtts(path: str, shown: str, *, is_trace: bool) -> str:
    """The rows of a table of RTTs, as a `wander` keeps them. Raises as read()."""
    with _opened(path, shown, "table") as text:
        lines = text.splitlines()
        numbers = [number for number, line in enumerate(lines) if _has_row(line)]
        if not numbers:
            raise _Bad(None, "this is empty", RTT_HEADERS if is_trace else QUANTILE_HEADERS)
        found = _rows(lines, RTTS, "RTT in whole ns", RTT_HEADERS) if is_trace else _quantiles(lines)
        rows = list(found)
        wrong = wander.table_faults(tuple(rows), is_trace=is_trace)
        if wrong is not None:
            raise _Bad(numbers[wrong[0] + 1], *wrong[1:])
        if len(rows) > wander.ROWS_MAX:
            raise _Bad(numbers[wander.ROWS_MAX + 1], "there are too many rows", f"up to {wander.ROWS_MAX}")
        return " ".join(f"{first}:{rtt_ns}" for first, rtt_ns in rows)


@contextmanager
def _opened(path: str, shown: str, noun: str) -> Iterator[str]:
    """The text of a file. What is found to be wrong in it is a SpecError with its line."""
    text = input_file.read_text(path, TRACE_BYTES)
    try:
        if not text.isascii() or "\0" in text:
            raise _Bad(None, f"this is not a {noun}", "numbers and commas")
        yield text
    except _Bad as bad:
        line = None if bad.line is None else bad.line + 1
        raise SpecError([Problem(os.path.normpath(shown), line, bad.what, bad.allowed)]) from None


def _table(lines: list[str], firsts: Collection[str], seconds: Collection[str], headers: str) -> _Table:
    found = [(n, [cell.strip() for cell in line.split(",")]) for n, line in enumerate(lines) if _has_row(line)]
    (head, columns), *rows = found
    if len(columns) != 2 or columns[0] not in firsts or columns[1] not in seconds:
        raise _Bad(head, f"{','.join(columns)[:40]!r} is no header", headers)
    return columns, rows


def _quantiles(lines: list[str]) -> Iterator[tuple[int, int]]:
    """The quantile of each row in 10^-9, and its RTT in ns."""
    columns, rows = _table(lines, ("quantile",), RTTS, QUANTILE_HEADERS)
    for number, cells in rows:
        if len(cells) != 2:
            raise _Bad(number, f"{len(cells)} values in this row", "two: a quantile and an RTT")
        share = _scaled(number, cells[0], 9, "quantile with up to nine decimals")
        if share > wander.WHOLE:
            raise _Bad(number, f"{cells[0][:40]!r} is not a quantile", "0 to 1")
        yield share, _scaled(number, cells[1], RTTS[columns[1]], "RTT in whole ns")


def _read(text: str, name: str) -> Trace:
    lines = text.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise _Bad(None, "this is empty", "a trace: times in ms, or a table of times and rates")
    is_table = any("," in line for line in lines[:100])
    packed = (
        trace.pack_rates(list(_rows(lines, RATES, "rate in whole bit/s", HEADERS)))
        if is_table
        else trace.pack_times(_times(lines))
    )
    try:
        return made(name, packed)
    except ValueRefused as refused:
        raise _Bad(None, refused.what, refused.allowed or "") from None


def _times(lines: list[str]) -> list[int]:
    found, last = [], 0
    for number, line in enumerate(lines):
        word = line.strip()
        if not word.isdigit() or len(word) > DIGITS:
            raise _Bad(number, f"{line[:40]!r} is not a time", "a whole number of ms, 0 or more, in each line")
        time_ms = int(word)
        if time_ms < last:
            raise _Bad(number, f"the time {time_ms} is before the {last} of an earlier line", "times that never fall")
        found.append(time_ms)
        last = time_ms
    return found


def _rows(lines: list[str], units_of: Mapping[str, int], noun: str, headers: str) -> Iterator[tuple[int, int]]:
    """For how many ns each rate or RTT holds, in bit/s or ns."""
    columns, rows = _table(lines, TIMES, units_of, headers)
    held: tuple[int, int] | None = None
    for number, cells in rows:
        if len(cells) != 2:
            raise _Bad(number, f"{len(cells)} values in this row", f"two: a time and {noun.split(' ')[0]}")
        time_ns = _scaled(number, cells[0], TIMES[columns[0]], "time in whole ns")
        if held is None and time_ns:
            raise _Bad(number, "the first time is not 0", "a first row of 0")
        if held is not None:
            if time_ns <= held[0]:
                raise _Bad(number, f"the time {cells[0]} is not after the one before", "times that rise")
            if units_of is RATES and (time_ns - held[0]) * held[1] > trace.COUNT_MAX * 8 * 10**9 * trace.PACKET_BYTES:
                allowed = f"up to {trace.COUNT_MAX} packets from one row to the next: the same rate in two rows"
                raise _Bad(number, "the rate of the row before holds for too long", allowed)
            yield time_ns - held[0], held[1]
        if cells[1] == END and number == rows[-1][0] and held is not None:
            return
        held = time_ns, _scaled(number, cells[1], units_of[columns[1]], noun)
        if units_of is RATES and held[1] > trace.RATE_MAX_BPS:
            raise _Bad(number, f"the rate {cells[1]} is too high", f"up to {units.format_rate(trace.RATE_MAX_BPS)}")
    what = "the table has no end" if held else "the table has no rows"
    raise _Bad(len(lines) - 1, what, "a last row that says when it begins anew, such as 20,end")


def _has_row(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _scaled(number: int, word: str, power: int, noun: str) -> int:
    value = Decimal(word).scaleb(power) if _NUMBER.fullmatch(word) else None
    if value is None or value != int(value):
        raise _Bad(number, f"{word[:40]!r} is not a {noun}", "a decimal number, 0 or more")
    return int(value)
