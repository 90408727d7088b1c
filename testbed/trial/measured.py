"""What a tool measures besides goodput: its type, and its place in the `measured` of a result. Pure, no I/O.

Base units; absent is None. Another tool adds a type of its own, in a module of its own, and reads it with `find` too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from ..error import UserError
from . import record
from .record import ABSENT_IF_EMPTY, RecordError


@dataclass(frozen=True)
class ToolResult:
    """`KEY` is under which it stands."""

    KEY: ClassVar[str]


R = TypeVar("R")
T = TypeVar("T", bound=ToolResult)


def find(kind: type[T], measured: Mapping[str, Any]) -> T | None:
    """None if the trial has nothing of that tool. Raises UserError for a field that is missing, or of another type."""
    return _read(kind, measured[kind.KEY], kind.KEY) if kind.KEY in measured else None


def need(kind: type[T], measured: Mapping[str, Any]) -> T:
    """As `find`; raises UserError, too, if the trial has nothing of that tool."""
    found = find(kind, measured)
    if found is None:
        raise UserError(f"a result has no measured.{kind.KEY}: its trial ran another tool")
    return found


@dataclass(frozen=True)
class PingResult(ToolResult):
    """RTTs are None if no reply came. Times in seconds, with the microseconds that ping prints. `first_rtts_s` are
    those of the first pings, one by one, where controllers have a say; None elsewhere.
    """

    KEY: ClassVar[str] = "ping"

    sent: int
    received: int
    rtt_min_s: float | None
    rtt_mean_s: float | None
    rtt_max_s: float | None
    rtt_sd_s: float | None
    first_rtts_s: tuple[float | None, ...] | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class TcpSecond:
    """What the receiver got of all flows in the second that begins `time_s` after the workload."""

    time_s: float
    goodput_bps: float


@dataclass(frozen=True)
class TcpResult(ToolResult):
    """Of the tool `flow`, where samples are taken more often than once in a second."""

    KEY: ClassVar[str] = "tcp"

    series: tuple[TcpSecond, ...]


@dataclass(frozen=True)
class UdpSecond:
    """What arrived counts in the second of its arrival, what was lost in that of its sending."""

    time_s: float
    goodput_bps: float
    sent_datagrams: int
    lost_datagrams: int
    arrived_datagrams: int


@dataclass(frozen=True, kw_only=True)
class UdpResult(ToolResult):
    """All flows together. `loss` is lost over sent; `duplicates` came twice, `receiver_drops` were lost in the
    receiver's socket. Jitter is that of RFC 3550 at the end, and its mean. Delays are one-way, and None if nothing
    arrived. `send_late_max_s` is how late a datagram left at most. iperf3 tells less: what has a default is missing.
    """

    KEY: ClassVar[str] = "udp"

    offered_bps: float
    burst_datagrams: int | None = None
    sent_datagrams: int
    arrived_datagrams: int
    lost_datagrams: int
    loss: float | None = None
    duplicates: int | None = None
    out_of_order_datagrams: int
    receiver_drops: int | None = None
    jitter_s: float | None
    jitter_mean_s: float | None = None
    delay_min_s: float | None = None
    delay_mean_s: float | None = None
    delay_max_s: float | None = None
    received_bytes: int | None = None
    send_late_max_s: float | None = None
    series: tuple[UdpSecond, ...] = ()


@dataclass(frozen=True)
class Download:
    """One download. Times count from the start of the request, which with a new connection is that of connecting.

    `number` is that of the request; `connect_s` is None where the connection was there already. `cache` is what the
    proxy says: HIT, MISS, …; None without a proxy.
    """

    number: int
    object_bytes: int
    status: int
    connect_s: float | None
    first_byte_s: float
    elapsed_s: float
    goodput_bps: float
    cache: str | None = None


@dataclass(frozen=True)
class ObjectResult:
    """Means over the `downloads` of one object."""

    object_bytes: int
    downloads: int
    elapsed_s_mean: float
    first_byte_s_mean: float
    goodput_bps_mean: float


@dataclass(frozen=True)
class HttpResult(ToolResult):
    """Objects are in order of size, downloads in that of their numbers; hits and misses are None without a cache."""

    KEY: ClassVar[str] = "http"

    objects: tuple[ObjectResult, ...]
    downloads: tuple[Download, ...]
    cache_hits: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    cache_misses: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True, kw_only=True)
class BackgroundResult:
    """What one background carried. Flows are counted where it draws flows, datagrams where it sends at a constant rate;
    None is what the other kind has.
    """

    pattern: str
    source: str = field(metadata={"key": "from"})
    destination: str = field(metadata={"key": "to"})
    planned_flows: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    started_flows: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    finished_flows: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    sent_datagrams: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    arrived_datagrams: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    lost_datagrams: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    received_bytes: int
    retransmits: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)


BACKGROUND = "background"


def backgrounds(measured: Mapping[str, Any]) -> dict[str, BackgroundResult]:
    """By name; empty without any. Raises UserError as `find`."""
    found = measured.get(BACKGROUND, {}).items()
    return {name: _read(BackgroundResult, each, f"{BACKGROUND}.{name}") for name, each in found}


def _read(kind: type[R], data: object, place: str) -> R:
    try:
        return record.read(kind, data)
    except RecordError as error:
        raise UserError(f"a result is damaged: in measured.{place}, {error}") from None
