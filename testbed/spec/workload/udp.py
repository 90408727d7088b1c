"""The `udp` workload as a file writes it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...model.workload import UdpWorkload
from ..syntax.document import Fault
from ..syntax.field import Rate, Span, byte_count_schema, number
from ..syntax.scalar import byte_count, whole
from .common import Flows, ToolFile

DATAGRAM_MAX = 65_507
"""The payload of the longest IPv4 datagram with a header of 8 bytes."""

STAMP_BYTES = 16
"""What a datagram of ours carries: its number and when it was sent."""

BURST_MAX = 1024

Length = Annotated[
    int,
    PlainValidator(byte_count(STAMP_BYTES, DATAGRAM_MAX)),
    PlainSerializer(units.format_size),
    WithJsonSchema(byte_count_schema(STAMP_BYTES, DATAGRAM_MAX, "The payload of a datagram, in bytes.")),
]
Burst = Annotated[
    int,
    PlainValidator(whole(1, BURST_MAX)),
    WithJsonSchema(number(1, BURST_MAX, "How many datagrams leave back to back.")),
]


class UdpFile(ToolFile):
    """Datagrams at a constant rate: loss, jitter, delay one way."""

    tool: Literal["udp"]
    rate: Rate = Field(None, description="The rate of each flow, in payload.")
    duration: Span | None = Field(None, description="How long each flow sends.")
    length: Length = 1400
    flows: Flows = 1
    burst: Burst | None = Field(
        None,
        description="Default: one up to 10 000 datagrams per second, more above that.",
    )

    def faults(self) -> Iterator[Fault]:
        if self.rate is None:
            yield Fault((), "udp needs a rate", "a line such as 'rate: 100 Mbit/s'", named=True)
        if self.duration is None:
            yield Fault((), "the key 'duration' is missing", "a line such as 'duration: 10 s'", named=True)

    def workload(self) -> UdpWorkload:
        assert self.duration is not None, "BUG: a udp workload that was not checked"
        assert self.rate is not None, "BUG: a udp workload that was not checked"
        return UdpWorkload(
            source=self.source,
            destination=self.destination,
            rate_bps=self.rate,
            duration_ns=self.duration,
            length_bytes=self.length,
            flows=self.flows,
            burst=self.burst,
        )

    @classmethod
    def of(cls, workload: UdpWorkload) -> UdpFile:
        return cls.model_construct(
            tool="udp",
            source=workload.source,
            destination=workload.destination,
            rate=workload.rate_bps,
            duration=workload.duration_ns,
            length=workload.length_bytes,
            flows=workload.flows,
            burst=workload.burst,
        )


FILE: type[ToolFile] = UdpFile
