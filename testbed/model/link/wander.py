"""A round-trip time that is correlated in time: how it goes on, step by step. Pure, no I/O.

Three ways to say it. With `sd` it is a Gaussian process of first order, AR(1), which is an Ornstein-Uhlenbeck process
looked at every step (Uhlenbeck and Ornstein, Physical Review 36, 1930; Gillespie, Physical Review E 54, 1996):

    z[0] = e[0],  z[k+1] = a z[k] + sqrt(1 - a²) e[k+1],  a = exp(-step / correlation),  e independent, N(0, 1)
    rtt[k] = rtt + sd z[k]

So every value has the same distribution, and two that are t apart have the correlation exp(-t / correlation). With
`quantiles` the same z gives values of any distribution, of which the table is the inverse (Cario and Nelson, "Modeling
and generating random vectors with arbitrary marginal distributions", 1997):

    rtt[k] = Q(F(z[k])),  F that of N(0, 1), Q linear between the rows of the table

With `trace` the values are those of the table, again and again.
"""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from ... import units
from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, Kind, key, keyed, read
from ...codec.kind import SPAN, TEXT, none_or
from ...error import ValueRefused
from .extent import DELAY_MAX

WHOLE = 10**9
"""A quantile of 1: tables have them in parts of it."""
STEP_LEAST_NS = 10**6
STEPS = 5
"""In the time of a correlation, if no step is asked."""
ROWS_MAX = 10_000
LEAST_SDS = 4
"""An RTT is at least so many of its standard deviations: it is cut off at 0 in less than one step of 30 000."""
TABLE_ALLOWED = "a file with a table, relative to the folder of this file"


@dataclass(frozen=True)
class Table:
    """`name` is that of its file. `packed` has a pair for each row, such as "0:20000000 500000000:25000000": of
    quantiles the quantile in 10^-9, of a trace for how many ns it holds, and then the RTT in ns.
    """

    name: str
    packed: str

    @property
    def rows(self) -> tuple[tuple[int, int], ...]:
        return _rows(self.packed)


@lru_cache(maxsize=64)
def _rows(packed: str) -> tuple[tuple[int, int], ...]:
    pairs = (row.split(":") for row in packed.split(" "))
    return tuple((int(first), int(rtt_ns)) for first, rtt_ns in pairs)


@keyed
class TableKeys(Keyed):
    """A table that was read from a file."""

    file: str = key("file", TEXT, "The name of the file that it was read from.")
    rows: str = key("rows", TEXT, "Its rows: see model/link/wander.py.")


_PACKED = re.compile(r"[0-9]{1,16}:[0-9]{1,12}( [0-9]{1,16}:[0-9]{1,12})*")


def _read(value: Any) -> Table:
    if isinstance(value, str):
        raise ValueRefused(f"the file {value!r} was not read", TABLE_ALLOWED)
    if not isinstance(value, dict):
        raise ValueRefused("this is no table", TABLE_ALLOWED)
    found = read(TableKeys, value)
    if not _PACKED.fullmatch(found.rows) or found.rows.count(":") > ROWS_MAX:
        raise ValueRefused("these are no rows of a table", f"up to {ROWS_MAX} of numbers")
    return Table(found.file, found.rows)


TABLE = Kind(
    _read,
    lambda table: {"file": table.name, "rows": table.packed},
    {"anyOf": [{"type": "string", "description": TABLE_ALLOWED, "examples": ["rtt.csv"]}, {"$ref": TableKeys}]},
)


@keyed
class Wander(Keyed):
    """How the round-trip time of a link goes on while a workload runs.

    One of `sd`, `quantiles` and `trace`; the first two with a `correlation`. `step_ns` None is a fifth of it.
    """

    sd_ns: int | None = key("sd", SPAN, "The standard deviation of the RTT, which is Gaussian.", default=None)
    quantiles: Table | None = key("quantiles", TABLE, "A table of quantiles and RTTs.", default=None)
    trace: Table | None = key("trace", TABLE, "A table of times and RTTs.", default=None)
    correlation_ns: int | None = key(
        "correlation", SPAN, "The time in which the correlation falls to 1/e.", default=None
    )
    step_ns: int | None = key("step", SPAN, "The time between two values; default: a fifth of that.", default=None)

    def faults(self) -> Iterator[Fault]:
        said = [each for each in (self.sd_ns, self.quantiles, self.trace) if each is not None]
        if len(said) != 1:
            yield Fault((), "this does not say how the RTT wanders", WANDER_ALLOWED)
        elif self.trace is not None:
            for name in ("correlation", "step"):
                if getattr(self, f"{name}_ns") is not None:
                    yield Fault((name,), f"a trace has no {name}: its rows say when", f"no {name}", named=True)
        elif self.correlation_ns is None:
            yield Fault((), "this does not say how long the RTT is correlated", "correlation: such as 500 ms")
        elif not STEP_LEAST_NS <= self.each_ns <= self.correlation_ns:
            least, most = map(units.format_time, (STEP_LEAST_NS, self.correlation_ns))
            at = ("step",) if self.step_ns is not None else ("correlation",)
            what = f"a step of {units.format_time(self.each_ns)} is out of range"
            yield Fault(at, what, f"{least} to the correlation of {most}", named=True)

    @property
    def each_ns(self) -> int:
        """The step of a process."""
        return self.step_ns or (self.correlation_ns or 0) // STEPS

    def count(self, until_ns: int) -> int:
        """How many values there are up to a time, without making them."""
        if self.trace is None:
            return until_ns // max(1, self.each_ns) + 1
        rows = self.trace.rows
        period_ns = sum(span_ns for span_ns, _ in rows)
        return len(rows) * (until_ns // period_ns + 1)

    def values(self, rtt_ns: int, seed: str, until_ns: int) -> Iterator[tuple[int, int]]:
        """When each value begins, and the RTT in whole us; `rtt_ns` is that of the link."""
        found = _played(self.trace.rows, until_ns) if self.trace is not None else self._drawn(rtt_ns, seed, until_ns)
        return ((at_ns, max(0, round(value_ns / 1000)) * 1000) for at_ns, value_ns in found)

    def _drawn(self, rtt_ns: int, seed: str, until_ns: int) -> Iterator[tuple[int, float]]:
        draw = random.Random(seed)
        keeps = math.exp(-self.each_ns / (self.correlation_ns or 1))
        z = draw.gauss(0, 1)
        for at_ns in range(0, until_ns + 1, self.each_ns):
            yield at_ns, rtt_ns + self.sd_ns * z if self.sd_ns else self._quantile(_NORMAL.cdf(z))
            z = keeps * z + math.sqrt(1 - keeps * keeps) * draw.gauss(0, 1)

    def _quantile(self, share: float) -> float:
        assert self.quantiles is not None, "BUG: no distribution"
        rows = self.quantiles.rows
        at = bisect_right(rows, share * WHOLE, key=lambda row: row[0], hi=len(rows) - 1)
        (low, least_ns), (high, most_ns) = rows[at - 1], rows[at]
        return least_ns + (most_ns - least_ns) * (share * WHOLE - low) / (high - low)


_NORMAL = NormalDist()


def _played(rows: tuple[tuple[int, int], ...], until_ns: int) -> Iterator[tuple[int, int]]:
    at_ns = 0
    while True:
        for span_ns, rtt_ns in rows:
            if at_ns > until_ns:
                return
            yield at_ns, rtt_ns
            at_ns += span_ns


def table_faults(rows: tuple[tuple[int, int], ...], *, is_trace: bool) -> tuple[int, str, str] | None:
    """What is wrong with the rows of a table: the row, what, and what is allowed; None if nothing is."""
    for number, (first, rtt_ns) in enumerate(rows):
        if rtt_ns > 2 * DELAY_MAX[0]:
            return number, "the RTT is too long", "up to 540 s"
        if is_trace and first < STEP_LEAST_NS:
            return number, "the RTT holds for too short a time", f"{units.format_time(STEP_LEAST_NS)} or more"
        if not is_trace and number and (first <= rows[number - 1][0] or rtt_ns < rows[number - 1][1]):
            return number, "a quantile or its RTT falls", "quantiles that rise, and RTTs that do not fall"
    if not is_trace and (len(rows) < 2 or rows[0][0] != 0 or rows[-1][0] != WHOLE):
        return len(rows) - 1, "the quantiles are not those of a whole distribution", "a first row of 0, a last one of 1"
    return None


WANDER_ALLOWED = "none, {sd: 2 ms, correlation: 500 ms}, {quantiles: FILE, correlation: 500 ms}, {trace: FILE}"
WANDER = none_or(Wander, "this does not say how the RTT wanders", WANDER_ALLOWED, about=WANDER_ALLOWED)


def words(wander: Wander) -> str:
    """Such as "sd 2 ms, correlated over 500 ms, every 100 ms"."""
    if wander.trace is not None:
        return f"{wander.trace.name}, {len(wander.trace.rows)} rows"
    what = f"sd {units.format_time(wander.sd_ns or 0)}" if wander.quantiles is None else wander.quantiles.name
    correlation, step = units.format_time(wander.correlation_ns or 0), units.format_time(wander.each_ns)
    return f"{what}, correlated over {correlation}, every {step}"
