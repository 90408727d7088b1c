"""What tools measure besides goodput: a type for each tool, and its key in the `measured` of a result. Pure, no I/O.

Base units; absent is None. A new tool adds its own type, in its own module, and reads it with `find`, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from ..error import UserError
from . import record
from .record import ABSENT_IF_EMPTY, SIGNED, RecordError


@dataclass(frozen=True)
class ToolResult:
    """What a tool measures; `measured` has it under `KEY`."""

    KEY: ClassVar[str]


R = TypeVar("R")
T = TypeVar("T", bound=ToolResult)


def find(kind: type[T], measured: Mapping[str, Any]) -> T | None:
    """None if the trial ran another tool. Raises UserError for a field that is missing or has another type."""
    return _read(kind, measured[kind.KEY], kind.KEY) if kind.KEY in measured else None


def need(kind: type[T], measured: Mapping[str, Any]) -> T:
    """As `find`, but raises UserError if the trial ran another tool, too."""
    result = find(kind, measured)
    if result is None:
        raise UserError(f"a result has no measured.{kind.KEY}: its trial ran another tool")
    return result


@dataclass(frozen=True)
class PingResult(ToolResult):
    """RTTs are None if no reply came. Times are in seconds, with the microseconds that ping prints. With controllers,
    `first_rtts_s` has the RTTs of the first pings one by one; None without.
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
    """What the receiver got from all flows in the second that begins `time_s` after the start of the workload."""

    time_s: float
    goodput_bps: float


@dataclass(frozen=True)
class TcpResult(ToolResult):
    """Measured by the tool `flow`, if samples are taken more often than once a second."""

    KEY: ClassVar[str] = "tcp"

    series: tuple[TcpSecond, ...]


@dataclass(frozen=True)
class UdpSecond:
    """One second of all flows. Arrived datagrams count in the second of arrival, lost ones in the second of sending."""

    time_s: float
    goodput_bps: float
    sent_datagrams: int
    lost_datagrams: int
    arrived_datagrams: int


@dataclass(frozen=True, kw_only=True)
class UdpResult(ToolResult):
    """All flows together. `loss` is lost over sent. `duplicates` came twice; the receiver's socket lost
    `receiver_drops`. `jitter_s` is the jitter of RFC 3550 at the end, `jitter_mean_s` its mean. Delays are one-way, and
    None if nothing arrived. `send_late_max_s` is how late a datagram left at most. iperf3 reports only the fields
    without a default.
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
    """One download. Times count from the start of the request, which includes connecting if the connection is new.

    `number` is that of the request. `connect_s` is None if the connection existed before. `cache` is the proxy's
    status: HIT, MISS, …; None without a proxy.
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
    """Objects are sorted by size, downloads by number. Hits and misses are None without a cache."""

    KEY: ClassVar[str] = "http"

    objects: tuple[ObjectResult, ...]
    downloads: tuple[Download, ...]
    cache_hits: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    cache_misses: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program: when it began, from the first client on, how long it took, and its exit status."""

    program: str
    number: int
    begin_s: float
    elapsed_s: float
    status: int = field(metadata=SIGNED)


@dataclass(frozen=True)
class MeasuredValue:
    """What the runs said, in `base_unit`, of which a `unit` is `scale`; None where a run did not say it, for the
    reasons in `missing`. `mean` is None if one is missing.
    """

    unit: str
    base_unit: str
    scale: float
    is_more_better: bool
    values: tuple[float | None, ...]
    mean: float | None
    missing: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True, kw_only=True)
class HostTraffic:
    """What a host sent and received while the clients ran, by its kernel's counters. Bytes are those of IP packets;
    `payload_` is without the headers of IP, UDP and TCP, of which duplicates count. `udp_lost_datagrams` found no room
    in a socket.
    """

    in_bytes: int
    out_bytes: int
    payload_in_bytes: int
    payload_out_bytes: int
    tcp_in_segments: int
    tcp_out_segments: int
    tcp_resent_segments: int
    udp_in_datagrams: int
    udp_out_datagrams: int
    udp_lost_datagrams: int


@dataclass(frozen=True, kw_only=True)
class CommandResult(ToolResult):
    """`goodput_from` is bytes, program or counters. `uncollected` are patterns without a file, `left` the processes
    that outlived their program, `stopped` says how each server ended.
    """

    KEY: ClassVar[str] = "command"

    runs: tuple[ProgramRun, ...]
    values: Mapping[str, MeasuredValue]
    traffic: Mapping[str, HostTraffic]
    goodput_from: str
    collected: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    uncollected: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    left: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    stopped: Mapping[str, str] = field(default_factory=dict, metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True, kw_only=True)
class BackgroundResult:
    """What one background carried. A background that draws flows counts flows, one with a constant rate counts
    datagrams; the other counts are None.
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
    """The results of the backgrounds by name; empty without any. Raises UserError as `find`."""
    found = measured.get(BACKGROUND, {})
    if not isinstance(found, Mapping):
        raise UserError(f"a result is damaged: measured.{BACKGROUND} is {found!r:.40}, not an object")
    return {name: _read(BackgroundResult, each, f"{BACKGROUND}.{name}") for name, each in found.items()}


def _read(kind: type[R], data: object, place: str) -> R:
    try:
        return record.read(kind, data)
    except RecordError as error:
        raise UserError(f"a result is damaged: in measured.{place}, {error}") from None
