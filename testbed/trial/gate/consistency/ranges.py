"""Values in the evidence that no trial can have, by the types of its fields. Pure, no I/O.

Every count and time must be a finite number, not negative, and of a size that a trial can reach. So a counter that went
backwards, a file that was cut short and a number that nobody parsed do not become a result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import Field, is_dataclass
from functools import partial
from typing import Any, get_args, get_origin

from ....error import UserError
from ....kernel.guest import TrialError
from ...evidence.interval import FOR_EVER_NS
from ...evidence.outcome import TcpResult
from ...evidence.stage import Evidence
from ...law import NONE, Faults, Form, Laws, Walk, is_of
from ...measured import ToolResult, find
from ...observe import tcp_info
from ...subject.registry import SUBJECTS
from ...workload.background import BACKGROUND, backgrounds
from ...workload.registry import results
from .column import Column, column

MOST, MOST_NS, MOST_RAW = 1e15, 5e17, 2.0**64
"""No trial has so many packets or bytes (10 Gbit/s for nine days), or so late a time (a computer that has run for 16
years); what netlink reports of a queueing discipline has 64 bits."""

MOST_PACED_BPS = 2e17
"""What TCP computes of a path without a delay: twice a window of 1 GiB in an eighth of a microsecond, the unit of its
smoothed round-trip time, are 1.4e17 bit/s (tcp_update_pacing_rate in Linux 7.3.4).
"""

PACED = frozenset(each.name for each in tcp_info.FIELDS if each.is_paced)
"""Rates at which nothing needs to have been sent."""


def refuse(evidence: Evidence) -> None:
    """Raises TrialError with the first faults, if there are any."""
    if found := faults(evidence)[:3]:
        raise TrialError(f"the evidence is damaged: {'; '.join(found)}")


def faults(evidence: Evidence) -> Faults:
    found: Faults = []
    SEEN.walk(Evidence)(evidence, "", found)
    for each in SUBJECTS if isinstance(evidence.things, Mapping) else ():
        SEEN.walk(each.kind)(evidence.things.get(each.name), f"things.{each.name}", found)
    if isinstance(getattr(evidence.outcome, "measured", None), Mapping):
        try:
            for place, value in _measured(evidence.outcome.measured):
                SEEN.walk(type(value))(value, f"outcome.measured.{place}", found)
        except UserError as error:
            found.append(str(error))
    return found


def _measured(measured: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What tools report, as far as the types are known here."""
    kinds: tuple[type[ToolResult], ...] = (*results(), TcpResult)
    yield from ((kind.KEY, value) for kind in kinds if (value := find(kind, measured)) is not None)
    yield from ((f"{BACKGROUND}.{name}", value) for name, value in backgrounds(measured).items())


class _Seen(Form):
    """Values as they were read of a trial. Of what was asked there is nothing to hold against laws."""

    row, mapping, most = tuple, Mapping, MOST

    def walk(self, hint: Any, laws: Laws = NONE) -> Walk:
        if laws.get("asked") and is_dataclass(hint):
            return partial(is_of, hint)
        walk = super().walk(hint, laws)
        return self._quickly(walk, column(hint, "", self.unmet, laws)) if _is_series(hint) else walk

    def _quickly(self, walk: Walk, is_fine: Column) -> Walk:
        return lambda value, at, faults: value if is_fine([value]) else walk(value, at, faults)

    def record(self, kind: Any, parts: list[tuple[Field[Any], Walk]]) -> Walk:
        members = [(each.name, walk) for each, walk in parts]

        def walk(value: Any, at: str, faults: Faults) -> Any:
            if is_of(kind, value, at, faults):
                for name, inner in members:
                    inner(getattr(value, name), f"{at}.{name}" if at else name, faults)
            return value

        return walk

    def unmet(self, number: float, at: str, laws: Laws) -> str | None:
        name = at.rpartition(".")[2].partition("[")[0]
        most = MOST_PACED_BPS if name in PACED else MOST_NS if name.endswith("_ns") else MOST
        if isinstance(number, float) and not math.isfinite(number):
            return ", not a finite number"
        if number < 0 and not (laws.get("signed") or laws.get("raw")):
            return ": it went backwards"
        is_large = abs(number) >= (MOST_RAW if laws.get("raw") else most) and number != FOR_EVER_NS
        return ", more than any trial can have" if is_large else None


def _is_series(hint: Any) -> bool:
    return get_origin(hint) is tuple and Ellipsis in get_args(hint)


SEEN = _Seen()
