"""A trace: when a link can send, as opportunities for a packet of 1500 bytes, again and again. Pure, no I/O.

A text in the format of Mahimahi (Netravali et al., USENIX ATC 2015) has the time of one opportunity in each line, in
ms, and repeats after the last one. A table of times and rates has an opportunity whenever the rate has brought the
bits of another packet since the table began. Either is kept as `packed` text, from which the runs of opportunities
follow:

    ms 1x3 2 1x12               3 opportunities after 1 ms, one 2 ms later, 12 after one more ms
    ns 500000000:12000000 …     12 Mbit/s for half a second, …
"""

from __future__ import annotations

import math
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from ...codec.frozen import dataclass

PACKET_BYTES = 1514
"""What an opportunity can send: a packet of 1500 bytes with its Ethernet header."""
RATE_MAX_BPS = 10**11
COUNT_MAX = 2**32 - 1
"""Of the opportunities of a row, which the kernel counts in 32 bits."""
RUNS_MAX = 200_000
"""Of different times, or of rows. An hour of an opportunity in every 20 ms is 180 000."""
PERIOD_MAX_NS = 24 * 3600 * 10**9

GAP_BITS = 32
MS = 10**6


@dataclass(frozen=True)
class Trace:
    """`name` is that of its file; `packed` says when opportunities come, as above."""

    name: str
    packed: str

    @property
    def runs(self) -> tuple[Run, ...]:
        return _read(self.packed)[0]

    @property
    def period_ns(self) -> int:
        """After this time it begins anew."""
        return _read(self.packed)[1]

    @property
    def opportunities(self) -> int:
        """In one period."""
        return sum(run.count for run in self.runs)

    @property
    def rate_bps(self) -> int:
        """The mean over a period, of whole frames; at least 1."""
        return max(1, round(Fraction(8 * PACKET_BYTES * self.opportunities * 10**9, self.period_ns)))

    @property
    def crc(self) -> int:
        """CRC-32 of the runs as the kernel keeps them."""
        return _crc(self.packed)

    def until(self, time_ns: int) -> int:
        """How many opportunities come from the beginning to `time_ns` after it, including one right then."""
        if time_ns < 0:
            return 0
        ends, before = _index(self.packed)
        cycles, rest_ns = divmod(time_ns, self.period_ns)
        place = bisect_right(ends, rest_ns)
        found = cycles * self.opportunities + before[place]
        return found + (self.runs[place].until(rest_ns) if place < len(ends) else 0)

    def times_ns(self) -> Iterator[int]:
        """When each opportunity comes, without end."""
        begin_ns = 0
        while True:
            yield from (begin_ns + run.at_ns + (n * run.gap >> GAP_BITS) for run in self.runs for n in range(run.count))
            begin_ns += self.period_ns

    @property
    def longest_gap_ns(self) -> int:
        """The longest time without an opportunity, also from the end of a period into the next one."""
        firsts = [run.at_ns for run in self.runs]
        nexts = [*firsts[1:], firsts[0] + self.period_ns]
        inner = max((run.gap + 2**GAP_BITS - 1 >> GAP_BITS for run in self.runs if run.count > 1), default=0)
        between = (later - run.last_ns for run, later in zip(self.runs, nexts, strict=True))
        return max(inner, *between)


@dataclass(frozen=True)
class Run:
    """`count` opportunities: the first `at_ns` after the beginning, the others `gap` * 2^-32 ns one after the other,
    each rounded down to a whole ns.
    """

    at_ns: int
    count: int = 1
    gap: int = 0

    @property
    def last_ns(self) -> int:
        return self.at_ns + ((self.count - 1) * self.gap >> GAP_BITS)

    def until(self, time_ns: int) -> int:
        """How many have come at a time."""
        if time_ns < self.at_ns:
            return 0
        if not self.gap:
            return self.count
        return min(self.count, (((time_ns - self.at_ns + 1) << GAP_BITS) - 1) // self.gap + 1)


def pack_times(times_ms: list[int]) -> str:
    """The opportunities of a Mahimahi file, in the order of time."""
    words, last, count = [], None, 0
    before = 0
    for time_ms in times_ms:
        if time_ms == last:
            count += 1
            continue
        if last is not None:
            words.append(_word(last - before, count))
            before = last
        last, count = time_ms, 1
    words += [] if last is None else [_word(last - before, count)]
    return " ".join(("ms", *words))


def pack_rates(rows: list[tuple[int, int]]) -> str:
    """The rates of a table: for so many ns, so many bit/s."""
    return " ".join(("ns", *(f"{time_ns}:{rate_bps}" for time_ns, rate_bps in rows)))


def _word(delta: int, count: int) -> str:
    return f"{delta}x{count}" if count > 1 else str(delta)


@lru_cache(maxsize=64)
def _read(packed: str) -> tuple[tuple[Run, ...], int]:
    unit, *words = packed.split(" ")
    return _of_times(words) if unit == "ms" else _of_rates(words)


def _of_times(words: list[str]) -> tuple[tuple[Run, ...], int]:
    parts = [word.partition("x") for word in words]
    ends = accumulate(int(delta) * MS for delta, _, _ in parts)
    runs = tuple(Run(at_ns, int(count or 1)) for at_ns, (_, _, count) in zip(ends, parts, strict=True))
    return runs, runs[-1].at_ns


def _of_rates(words: list[str]) -> tuple[tuple[Run, ...], int]:
    """Between two opportunities are the bits of a packet. What is left of one row counts in the next one."""
    runs, at_ns, left_bits = [], 0, Fraction(8 * PACKET_BYTES)
    for span_ns, rate_bps in (map(int, word.split(":")) for word in words):
        bits = Fraction(span_ns * rate_bps, 10**9)
        if bits >= left_bits:
            first_ns = at_ns + -(-left_bits * 10**9 // rate_bps)
            gap = (8 * PACKET_BYTES * 10**9 << GAP_BITS) // rate_bps
            count = 1 + int((bits - left_bits) // (8 * PACKET_BYTES))
            if gap < 2**64:
                runs.append(Run(first_ns, count, gap if count > 1 else 0))
            else:  # the kernel counts a gap in 64 bits: one by one
                each = Fraction(8 * PACKET_BYTES * 10**9, rate_bps)
                first = at_ns + left_bits * 10**9 / rate_bps
                runs += [Run(math.ceil(first + n * each)) for n in range(count)]
            bits -= left_bits + (count - 1) * 8 * PACKET_BYTES
            left_bits = Fraction(8 * PACKET_BYTES)
        left_bits -= bits
        at_ns += span_ns
    return tuple(runs), at_ns


@lru_cache(maxsize=64)
def _index(packed: str) -> tuple[list[int], list[int]]:
    """The last time of each run, and the opportunities before it, and before none."""
    runs, _ = _read(packed)
    return [run.last_ns for run in runs], [0, *accumulate(run.count for run in runs)]


@lru_cache(maxsize=64)
def _crc(packed: str) -> int:
    found = 0
    for run in _read(packed)[0]:
        numbers = (run.at_ns.to_bytes(8, "little"), run.gap.to_bytes(8, "little"), run.count.to_bytes(4, "little"))
        found = zlib.crc32(b"".join(numbers), found)
    return found


def words(trace: Trace) -> str:
    """Such as "lte.trace, 12 Mbit/s on average"."""
    return f"{trace.name}, {trace.rate_bps / 1e6:.4g} Mbit/s on average"
