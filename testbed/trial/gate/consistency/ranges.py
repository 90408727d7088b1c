"""Values in the evidence that no trial can have, by the types of its fields. Pure, no I/O.

Every count and time must be a finite number, not negative, and of a size that a trial can reach. So a counter that went
backwards, a file that was cut short and a number that nobody parsed do not become a result.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache, partial
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from ....error import UserError
from ....kernel.guest import TrialError
from ....model.node.vm import Vm
from ....plan.link.stage import Stage, State
from ....plan.link.tclink import TcPort
from ... import law
from ...evidence.outcome import TcpResult
from ...evidence.stage import Evidence
from ...measured import ToolResult, find
from ...observe import tcp_info
from ...subject.registry import SUBJECTS
from ...workload.background import BACKGROUND, backgrounds
from ...workload.registry import results

MOST, MOST_NS, MOST_RAW = 1e15, 5e17, 2.0**64
"""No trial has so many packets or bytes (10 Gbit/s for nine days), or so late a time (a computer that has run for 16
years); what netlink reports of a queueing discipline has 64 bits."""

MOST_PACED_BPS = 2e17
"""What TCP computes of a path without a delay: twice a window of 1 GiB in an eighth of a microsecond, the unit of its
smoothed round-trip time, are 1.4e17 bit/s (tcp_update_pacing_rate in Linux 7.3.4).
"""

FOR_EVER_NS = 2**63 - 1
"""The end of an interval that nothing ended."""

PACED = frozenset(each.name for each in tcp_info.FIELDS if each.is_paced)
"""Rates at which nothing needs to have been sent."""

PLANNED = (Stage, State, TcPort, Vm)
"""What the plan asked, which is no evidence."""

Check: TypeAlias = Callable[[Any, str], Iterator[str]]
"""Takes a value and the name of its place."""


def refuse(evidence: Evidence) -> None:
    """Raises TrialError with the first faults, if there are any."""
    found = []
    for fault in faults(evidence):
        found.append(fault)
        if len(found) == 3:
            break
    if found:
        raise TrialError(f"the evidence is damaged: {'; '.join(found)}")


def faults(evidence: Evidence) -> Iterator[str]:
    yield from _check(Evidence)(evidence, "")
    for each in SUBJECTS if isinstance(evidence.things, Mapping) else ():
        yield from _check(each.kind)(evidence.things.get(each.name), f"things.{each.name}")
    if isinstance(getattr(evidence.outcome, "measured", None), Mapping):
        yield from _measured(evidence.outcome.measured)


def _measured(measured: Mapping[str, Any]) -> Iterator[str]:
    """What tools report, as far as the types are known here."""
    try:
        kinds: tuple[type[ToolResult], ...] = (*results(), TcpResult)
        found: list[tuple[str, Any]] = [
            (kind.KEY, value) for kind in kinds if (value := find(kind, measured)) is not None
        ]
        found += [(f"{BACKGROUND}.{name}", value) for name, value in backgrounds(measured).items()]
    except UserError as error:
        yield str(error)
        return
    for place, value in found:
        yield from _of(type(value))(value, f"outcome.measured.{place}")


def _of(kind: Any) -> Check:
    return _check(kind)


Way: TypeAlias = Literal["counted", "signed", "raw"]
"""Whether numbers are 0 or more, may be negative, or are those of the kernel, with 64 bits."""


def _way(each: Field[Any]) -> Way:
    if each.metadata.get("law", law.NONE).is_raw:
        return "raw"
    return "signed" if each.metadata.get("sign") == "any" else "counted"


@cache
def _check(hint: Any, way: Way = "counted") -> Check:
    if is_dataclass(hint):
        return _record(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = tuple(_check(part, way) for part in parts if part is not type(None))
        return lambda value, at: iter(()) if value is None else _any_of(inner, value, at)
    if origin is tuple:
        return _row(parts, way)
    if origin in (Mapping, dict):
        return _mapping(_check(parts[1], way))
    if origin is Literal:
        return lambda value, at: _told(value in parts, value, at, " or ".join(map(str, parts)))
    if hint in (int, float):
        return partial(_whole if hint is int else _number, way)
    return _SCALARS.get(hint, lambda value, at: iter(()))


def _record(kind: Any) -> Check:
    hints = get_type_hints(kind)
    members = [(each.name, _check(hints[each.name], _way(each))) for each in fields(kind) if kind not in PLANNED]

    def check(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, kind):
            yield f"{at} is {value!r:.40}, not a {kind.__name__}"
            return
        for name, inner in members:
            yield from inner(getattr(value, name), f"{at}.{name}" if at else name)

    return check


def _row(parts: tuple[Any, ...], way: Way) -> Check:
    each = [_check(part, way) for part in parts if part is not Ellipsis]
    is_series = Ellipsis in parts

    def check(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, tuple) or not (is_series or len(value) == len(each)):
            yield f"{at} is {value!r:.40}, not a row" + ("" if is_series else f" of {len(each)}")
            return
        for number, one in enumerate(value):
            yield from each[0 if is_series else number](one, f"{at}[{number}]")

    return check


def _mapping(inner: Check) -> Check:
    def check(value: Any, at: str) -> Iterator[str]:
        if not isinstance(value, Mapping):
            yield f"{at} is {value!r:.40}, not a mapping"
            return
        for key, each in value.items():
            yield from inner(each, f"{at}.{key}")

    return check


def _any_of(checks: tuple[Check, ...], value: Any, at: str) -> Iterator[str]:
    """The faults of the type with the fewest."""
    return iter(sorted((tuple(check(value, at)) for check in checks), key=_length)[0])


def _length(told: tuple[str, ...]) -> int:
    return len(told)


def _number(way: Way, value: Any, at: str) -> Iterator[str]:
    name = at.rpartition(".")[2].partition("[")[0]
    most = MOST_RAW if way == "raw" else MOST_PACED_BPS if name in PACED else MOST_NS if name.endswith("_ns") else MOST
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{at} is {value!r:.40}, not a number"
    elif not math.isfinite(value):
        yield f"{at} is {value}"
    elif value < 0 and way == "counted":
        yield f"{at} is {value}: it went backwards"
    elif abs(value) >= most and value != FOR_EVER_NS:
        yield f"{at} is {value:g}, more than any trial can have"


def _whole(way: Way, value: Any, at: str) -> Iterator[str]:
    if isinstance(value, float):
        yield f"{at} is {value}, not a whole number"
    else:
        yield from _number(way, value, at)


def _told(is_right: bool, value: Any, at: str, what: str) -> Iterator[str]:
    return iter(() if is_right else (f"{at} is {value!r:.40}, not {what}",))


_SCALARS: dict[Any, Check] = {
    bool: lambda value, at: _told(isinstance(value, bool), value, at, "true or false"),
    str: lambda value, at: _told(isinstance(value, str), value, at, "text"),
}
