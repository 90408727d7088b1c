"""The `flow` workload as a file writes it, and the fields that other workloads share. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...model.workload import FlowWorkload, ShortFlowWorkload, Workload
from ..syntax.document import Fault
from ..syntax.field import Rate, Size, Span, Time, matching, number
from ..syntax.file_model import FileModel
from ..syntax.scalar import quantity, whole
from . import short_flow
from .arrival import ArrivalsField
from .common import CONGESTION_SCHEMA, WINDOW_SCHEMA, Flows, ToolFile, read_congestion, read_window, write_window
from .size import SizesField

RATE_LEAST_BPS = 1_000
_LEAVE_OUT_ALLOWED = "a time such as 2 s, or {rtts: 20}"


def read_leave_out(value: object) -> Any:
    if isinstance(value, dict):
        return RttsFile.model_validate(value)
    return quantity(units.parse_time, _LEAVE_OUT_ALLOWED, low=1)(value)


def write_leave_out(value: Any) -> Any:
    return value.written() if isinstance(value, RttsFile) else units.format_time(value)


def _each(read: Callable[[Any], Any]) -> PlainValidator:
    """Reads one value for all flows, or a list into a tuple with one for each."""
    return PlainValidator(lambda value: tuple(map(read, value)) if isinstance(value, list | tuple) else read(value))


def _write_each(write: Callable[[Any], Any]) -> PlainSerializer:
    return PlainSerializer(lambda value: list(map(write, value)) if isinstance(value, tuple) else write(value))


def _each_schema(one: dict[str, Any], description: str) -> WithJsonSchema:
    both = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}
    return WithJsonSchema({**both, "description": f"{description}; a list has one for each flow."})


_START_SCHEMA = {"anyOf": [matching(units.TIME.pattern, "A time.", "0 s", "2 s"), {"const": 0}]}

Congestions = Annotated[
    str | tuple[str, ...],
    _each(read_congestion),
    _write_each(str),
    _each_schema(CONGESTION_SCHEMA, "Congestion control"),
]

Windows = Annotated[
    int | tuple[int | None, ...] | None,
    _each(read_window),
    _write_each(write_window),
    _each_schema(WINDOW_SCHEMA, "Socket buffers"),
]

Starts = Annotated[
    int | tuple[int, ...],
    _each(quantity(units.parse_time, units.TIME.allowed)),
    _write_each(units.format_time),
    _each_schema(_START_SCHEMA, "Time from one flow's start to the next one's"),
]


class RttsFile(FileModel):
    """A time counted in round trips of the path."""

    rtts: Annotated[int, PlainValidator(whole(1, 10**6)), WithJsonSchema(number(1, 10**6, "Round trips."))]


LeaveOut = Annotated[
    int | RttsFile,
    PlainValidator(read_leave_out),
    PlainSerializer(write_leave_out),
    WithJsonSchema(
        {
            "anyOf": [matching(units.TIME.pattern, _LEAVE_OUT_ALLOWED, "2 s"), RttsFile.model_json_schema()],
            "description": "The ramp: how long after the last flow's start the steady state begins.",
        }
    ),
]


class WritesFile(FileModel):
    """An application that writes a piece of `size` every so often, and nothing in between."""

    size: Size
    every: Span


class FlowFile(ToolFile):
    """TCP flows by the testbed's own sender: cheap in virtual time, with samples of every flow."""

    tool: Literal["flow"]
    duration: Span | None = Field(None, description="How long each flow sends, or how long flows arrive.")
    bytes: Size | None = Field(None, description="How much each flow sends; instead of duration.")
    flows: Flows = 1
    congestion: Congestions = "cubic"
    window: Windows = None
    start: Starts = 0
    leave_out: LeaveOut | None = None
    rate: Rate = Field(None, description="The most that each flow may send, in payload: TCP paces it.")
    writes: WritesFile | None = Field(None, description="What the application of each flow writes; else all it can.")
    arrivals: ArrivalsField | None = None
    size: SizesField | None = None
    load: short_flow.LoadField | None = None
    drain: Time | None = Field(None, description="How long flows may go on after the last arrivals: 10 s if left out.")
    requests: short_flow.RequestsFile | None = None

    def faults(self) -> Iterator[Fault]:
        if self.rate is not None and self.rate < RATE_LEAST_BPS:
            yield Fault(("rate",), "TCP paces in whole bytes a second", "1 kbit/s and more", named=True)
        if self.arrivals is not None:
            yield from short_flow.faults(self)
            return
        for key in short_flow.OWN:
            if getattr(self, key) is not None:
                yield Fault((key,), f"{key} is for flows that arrive", "a line such as 'arrivals: {poisson: 200 /s}'")
        if self.duration is None and self.bytes is None:
            yield Fault((), "the workload has neither duration nor bytes", "one of the two", named=True)
        if self.duration is not None and self.bytes is not None:
            yield Fault(("bytes",), "duration and bytes exclude each other", "one of the two")
        for key in ("congestion", "window", "start"):
            values = getattr(self, key)
            if isinstance(values, tuple) and len(values) != self.flows:
                what = f"the number of values is {len(values)} and the number of flows {self.flows}"
                yield Fault((key,), what, "one value for all flows, or a list with one for each", named=True)
        if isinstance(self.leave_out, int) and self.duration is not None:
            yield from self._ramp_faults(self.leave_out, self.duration)

    def _ramp_faults(self, leave_out_ns: int, duration_ns: int) -> Iterator[Fault]:
        """The steady state lies between the ramp, which begins with the last flow, and the end of the first."""
        starts = self.start if isinstance(self.start, tuple) else (0, (self.flows - 1) * self.start)
        together_ns = duration_ns - (max(starts) - min(starts))
        if leave_out_ns >= together_ns:
            run = f"run together for {units.format_time(together_ns)}" if together_ns > 0 else "never run all together"
            what = f"leave_out leaves nothing: the flows {run}"
            yield Fault(("leave_out",), what, "a longer duration, or a shorter leave_out")

    def workload(self) -> Workload:
        return self._bulk() if self.arrivals is None else short_flow.workload(self)

    def _bulk(self) -> FlowWorkload:
        rtts = self.leave_out.rtts if isinstance(self.leave_out, RttsFile) else None
        start_ns = self.start if isinstance(self.start, tuple) else tuple(i * self.start for i in range(self.flows))
        return FlowWorkload(
            source=self.source,
            destination=self.destination,
            duration_ns=self.duration,
            flow_bytes=self.bytes,
            flows=self.flows,
            congestion=_spread(self.congestion, self.flows),
            window_bytes=_spread(self.window, self.flows),
            start_ns=start_ns,
            leave_out_ns=None if isinstance(self.leave_out, RttsFile) else self.leave_out,
            leave_out_rtts=rtts,
            rate_bps=self.rate,
            write_bytes=None if self.writes is None else self.writes.size,
            write_every_ns=None if self.writes is None else self.writes.every,
        )

    @classmethod
    def of(cls, workload: FlowWorkload | ShortFlowWorkload) -> FlowFile:
        if isinstance(workload, ShortFlowWorkload):
            return cls.model_construct(**{"tool": "flow", **short_flow.values(workload)})
        rtts, flows = workload.leave_out_rtts, workload.flows
        step_ns = workload.start_ns[1] if flows > 1 else 0
        is_even = workload.start_ns == tuple(i * step_ns for i in range(flows))
        return cls.model_construct(
            tool="flow",
            source=workload.source,
            destination=workload.destination,
            duration=workload.duration_ns,
            bytes=workload.flow_bytes,
            flows=flows,
            congestion=_gathered(workload.congestion),
            window=_gathered(workload.window_bytes),
            start=step_ns if is_even else workload.start_ns,
            leave_out=workload.leave_out_ns if rtts is None else RttsFile.model_construct(rtts=rtts),
            rate=workload.rate_bps,
            writes=None
            if workload.write_bytes is None
            else WritesFile.model_construct(size=workload.write_bytes, every=workload.write_every_ns),
        )


def _spread(values: Any, flows: int) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,) * flows


def _gathered(values: tuple[Any, ...]) -> Any:
    return values[0] if len(set(values)) == 1 else values


FILE: type[ToolFile] = FlowFile
