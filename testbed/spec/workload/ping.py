"""The keys of `tool: ping`. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...error import ValueRefused
from ...model.workload import PingWorkload
from ..syntax.document import Fault
from ..syntax.field import matching, number
from ..syntax.scalar import quantity, whole
from .common import ToolFile
from .udp import DATAGRAM_MAX

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


class PingFile(ToolFile):
    """ICMP echo requests at a steady pace."""

    tool: Literal["ping"]
    count: Annotated[int, PlainValidator(whole(1, 10**6)), WithJsonSchema(number(1, 10**6, "How many requests."))] = 10
    interval: Interval = 100_000_000
    size: Annotated[
        int,
        PlainValidator(whole(0, DATAGRAM_MAX)),
        WithJsonSchema(number(0, DATAGRAM_MAX, "The payload of a request, in bytes.")),
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


FILE: type[ToolFile] = PingFile
