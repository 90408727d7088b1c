"""The keys of `tool: iperf3`. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from ...model.workload import Iperf3Workload
from ..syntax.document import Fault
from ..syntax.field import Rate, Size, Span
from .common import Congestion, Flows, ToolFile, Window
from .udp import DATAGRAM_MAX


class Iperf3File(ToolFile):
    """iperf3, whose own control connection crosses the network too."""

    tool: Literal["iperf3"]
    protocol: Literal["tcp", "udp"] = "tcp"
    duration: Span | None = Field(None, description="How long each flow sends, in whole seconds.")
    flows: Flows = 1
    congestion: Congestion | None = Field(None, description="The congestion control, for tcp; default: cubic.")
    window: Window = None
    rate: Rate = Field(None, description="The rate of each flow, in payload; udp needs it.")
    length: Size | None = Field(None, description="The payload of a datagram, for udp.")

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
            yield Fault(("length",), "no datagram is that long", f"up to {DATAGRAM_MAX} B", named=True)

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


FILE: type[ToolFile] = Iperf3File
