"""What tools measure besides goodput, in the `measured` of a result; the type of each lies in its module, only that of
pings, which every trial has, here. Pure, no I/O.

Base units; absent is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, TypeVar

from ..codec.frozen import dataclass
from ..error import UserError
from . import record
from .record import ABSENT_IF_EMPTY, RecordError


@dataclass(frozen=True)
class ToolResult:
    """What a tool measures; `measured` has it under `KEY`."""

    KEY: ClassVar[str]


R = TypeVar("R")
T = TypeVar("T", bound=ToolResult)


def find(kind: type[T], measured: Mapping[str, Any]) -> T | None:
    """None if the trial ran another tool. Raises UserError for a field that is missing or has another type."""
    return read(kind, measured[kind.KEY], kind.KEY) if kind.KEY in measured else None


def need(kind: type[T], measured: Mapping[str, Any]) -> T:
    """As `find`, but raises UserError if the trial ran another tool, too."""
    result = find(kind, measured)
    if result is None:
        raise UserError(f"a result has no measured.{kind.KEY}: its trial ran another tool")
    return result


@dataclass(frozen=True)
class PingResult(ToolResult):
    """RTTs are None if no reply came. Times are in seconds, with the microseconds that ping prints. With controllers,
    `first_rtts_s` has the RTTs of the first pings one by one; None without. `rtts_s` has the RTT of each ping of a
    workload in the order in which they were sent, with the three digits or more that ping prints of it; None for one
    without a reply. `interval_s` is the mean time from one ping of a workload to the next (with controllers, of those
    after the first ones), of whole milliseconds in all; None for fewer than two, or if ping does not tell.
    """

    KEY: ClassVar[str] = "ping"

    sent: int
    received: int
    rtt_min_s: float | None
    rtt_mean_s: float | None
    rtt_max_s: float | None
    rtt_sd_s: float | None
    first_rtts_s: tuple[float | None, ...] | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    rtts_s: tuple[float | None, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    interval_s: float | None = field(default=None, metadata=ABSENT_IF_EMPTY)


def read(kind: type[R], data: object, place: str) -> R:
    """A part of `measured`, whose place the error names."""
    try:
        return record.read(kind, data)
    except RecordError as error:
        raise UserError(f"a result is damaged: in measured.{place}, {error}") from None
