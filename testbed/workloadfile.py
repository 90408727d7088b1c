"""Workloads as a scenario file writes them: one shape for each tool, and the way to values. Pure, no I/O.

A new tool is a class here and a line in TOOLS.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from . import units
from .address import address_book
from .document import Fault
from .error import UserError, ValueRefused, one_of
from .field import Rate, Size, Span, matching, number
from .flowfile import Congestion, EndsFile, FlowFile, Flows, Window
from .httpfile import HttpFile
from .reader import quantity, tagged, whole
from .route import way
from .topology import WORKING, Topology
from .udpfile import DATAGRAM_MAX, UdpFile
from .workload import FlowWorkload, HttpWorkload, Iperf3Workload, PingWorkload, UdpWorkload, Workload

_INTERVAL_ALLOWED = "10 ms or more"


def _interval(value: object) -> int | None:
    found = quantity(units.parse_time, units.TIME.allowed)(value)
    if found is not None and found < 10_000_000:
        raise ValueRefused(f"{value} is too short", _INTERVAL_ALLOWED)
    return found


Interval = Annotated[
    int,
    PlainValidator(_interval),
    PlainSerializer(units.format_time),
    WithJsonSchema(matching(units.TIME.pattern, f"A time, {_INTERVAL_ALLOWED}.", "100 ms")),
]


class Iperf3File(EndsFile):
    """iperf3, whose own control connection crosses the network too."""

    tool: Literal["iperf3"]
    protocol: Literal["tcp", "udp"] = "tcp"
    duration: Span | None = Field(None, description="Whole seconds.")
    flows: Flows = 1
    congestion: Congestion | None = Field(None, description="For tcp; left out, cubic.")
    window: Window = None
    rate: Rate = Field(None, description="Of each flow, counted in payload; needed for udp.")
    length: Size | None = Field(None, description="Payload of a datagram, for udp.")

    def faults(self) -> Iterator[Fault]:
        if self.duration is None:
            yield Fault((), "the key 'duration' is missing", "a line such as 'duration: 10 s'", named=True)
        elif self.duration % 10**9:
            yield Fault(("duration",), "iperf3 counts in whole seconds", "a time such as 10 s", named=True)
        yield from self._udp_faults() if self.protocol == "udp" else self._tcp_faults()

    def _udp_faults(self) -> Iterator[Fault]:
        if self.rate is None:
            yield Fault((), "udp needs a rate", "a line such as 'rate: 100 Mbit/s'", named=True)
        if self.congestion is not None:
            yield Fault(("congestion",), "udp has no congestion control", "'protocol: tcp', or no such line")
        if self.length is not None and self.length > DATAGRAM_MAX:
            yield Fault(("length",), "no datagram is as long", f"up to {DATAGRAM_MAX} B", named=True)

    def _tcp_faults(self) -> Iterator[Fault]:
        if self.length is not None:
            yield Fault(("length",), "tcp has no datagrams", "'protocol: udp', or no such line", named=True)

    def workload(self) -> Iperf3Workload:
        assert self.duration is not None, "BUG: an iperf3 workload that was not checked"
        return Iperf3Workload(
            source=self.source,
            destination=self.destination,
            duration_ns=self.duration,
            protocol=self.protocol,
            flows=self.flows,
            congestion=None if self.protocol == "udp" else self.congestion or "cubic",
            window_bytes=self.window,
            rate_bps=self.rate,
            length_bytes=self.length,
        )

    @classmethod
    def of(cls, workload: Iperf3Workload) -> Iperf3File:
        return cls.model_construct(
            tool="iperf3",
            source=workload.source,
            destination=workload.destination,
            protocol=workload.protocol,
            duration=workload.duration_ns,
            flows=workload.flows,
            congestion=workload.congestion,
            window=workload.window_bytes,
            rate=workload.rate_bps,
            length=workload.length_bytes,
        )


class PingFile(EndsFile):
    """ICMP echo requests at a steady pace."""

    tool: Literal["ping"]
    count: Annotated[int, PlainValidator(whole(1, 10**6)), WithJsonSchema(number(1, 10**6, "How many."))] = 10
    interval: Interval = 100_000_000
    size: Annotated[
        int,
        PlainValidator(whole(0, DATAGRAM_MAX)),
        WithJsonSchema(number(0, DATAGRAM_MAX, "Payload in bytes.")),
    ] = 56

    def faults(self) -> Iterator[Fault]:
        return iter(())

    def workload(self) -> PingWorkload:
        return PingWorkload(self.source, self.destination, self.count, self.interval, self.size)

    @classmethod
    def of(cls, workload: PingWorkload) -> PingFile:
        return cls.model_construct(
            tool="ping",
            source=workload.source,
            destination=workload.destination,
            count=workload.count,
            interval=workload.interval_ns,
            size=workload.size_bytes,
        )


AnyWorkloadFile: TypeAlias = FlowFile | Iperf3File | PingFile | UdpFile | HttpFile

TOOLS: dict[str, type[AnyWorkloadFile]] = {
    "flow": FlowFile,
    "iperf3": Iperf3File,
    "ping": PingFile,
    "udp": UdpFile,
    "http": HttpFile,
}

WorkloadFile: TypeAlias = Annotated[AnyWorkloadFile, Field(discriminator="tool"), tagged("tool", TOOLS)]


def workload_file(workload: Workload) -> AnyWorkloadFile:
    """The file's shape of a workload; its `workload()` is the way back."""
    match workload:
        case FlowWorkload():
            return FlowFile.of(workload)
        case Iperf3Workload():
            return Iperf3File.of(workload)
        case PingWorkload():
            return PingFile.of(workload)
        case UdpWorkload():
            return UdpFile.of(workload)
        case HttpWorkload():
            return HttpFile.of(workload)


def place_faults(workload: EndsFile, topology: Topology) -> Iterator[Fault]:
    """Whether the workload runs between different hosts of the topology that can reach each other."""
    hosts = [node.name for node in topology.nodes if node.type in WORKING]
    unknown = {key: end for key, end in workload.between.items() if end not in hosts}
    for key, end in unknown.items():
        is_node = any(node.name == end for node in topology.nodes)
        what = f"{end!r} is a {topology.node(end).type}, no host" if is_node else f"there is no host {end!r}"
        yield Fault((key,), what, one_of(hosts, end), named=True)
    if unknown:
        return
    if len(workload.between) > 2 and workload.source == workload.destination:
        yield Fault(("to",), f"from and to are both {workload.source!r}", "two different hosts", named=True)
        return
    for (first, source), (second, destination) in pairwise(workload.between.items()):
        key = second if second != "to" or first == "from" else first
        if source == destination:
            yield Fault((key,), f"{first} and {second} are both {source!r}", "two different hosts")
        elif topology.path(source, destination) is None:
            what = f"no path leads from {source!r} to {destination!r}"
            yield Fault((key,), what, "hosts that links, switches and routers connect")
        else:
            yield from _addressed(topology, source, destination, key)


def _addressed(topology: Topology, source: str, destination: str, key: str) -> Iterator[Fault]:
    """Whether addresses and routes lead from one to the other too."""
    try:
        way(topology, address_book(topology), source, destination)
    except UserError as error:
        yield Fault((key,), str(error), named=True)
