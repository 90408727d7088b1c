"""Keys that several tools share: ends, flows, windows, congestion controls. Pure, no I/O."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...error import ValueRefused
from ...model.workload import FLOWS_MAX, WINDOW_MAX_BYTES, Workload
from ..syntax.document import Fault
from ..syntax.field import Name, matching, number
from ..syntax.file_model import FileModel
from ..syntax.scalar import quantity, text_of, whole, word

_CONGESTION_ALLOWED = "the kernel's name of a congestion control, such as cubic or bbr"


read_congestion = word(r"[a-z][a-z0-9_]*", "a congestion control", _CONGESTION_ALLOWED)


def read_window(value: object) -> int | None:
    text = text_of(value, f"auto, or {units.SIZE.allowed}")
    if text == "auto":
        return None
    try:
        window_bytes = quantity(units.parse_size, units.SIZE.allowed, low=1)(text)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, f"auto, or {refused.allowed}") from None
    if window_bytes is not None and window_bytes >= WINDOW_MAX_BYTES:
        raise ValueRefused(f"no TCP window is as large as {text!r}", "below 1 GiB, or auto")
    return window_bytes


def write_window(window_bytes: int | None) -> str:
    return "auto" if window_bytes is None else units.format_size(window_bytes)


CONGESTION_SCHEMA = matching("^[a-z][a-z0-9_]*$", "A congestion control.", "cubic", "bbr")

WINDOW_SCHEMA = matching(rf"^auto$|{units.SIZE.pattern}", "A size, or auto for autotuning.", "auto", "64 KiB")


Congestion = Annotated[str, PlainValidator(read_congestion), WithJsonSchema(CONGESTION_SCHEMA)]

Window = Annotated[
    int | None,
    PlainValidator(read_window),
    PlainSerializer(write_window),
    WithJsonSchema(WINDOW_SCHEMA),
]

Flows = Annotated[
    int,
    PlainValidator(whole(1, FLOWS_MAX)),
    WithJsonSchema(number(1, FLOWS_MAX, "How many flows run in parallel.")),
]


class EndsFile(FileModel):
    """The hosts between which a workload runs."""

    source: Name = Field(alias="from", description="The host that sends the data.")
    destination: Name = Field(alias="to", description="The host that receives it.")

    @property
    def between(self) -> dict[str, str]:
        """The hosts that take part, by their keys, in the order in which data passes them."""
        return {"from": self.source, "to": self.destination}

    @property
    def elsewhere(self) -> Mapping[tuple[str | int, ...], str]:
        """The hosts that take part besides, by where the file names them."""
        return {}


class ToolFile(EndsFile):
    """The keys of a tool: a subclass adds `tool: Literal[…]`, which has the name of its workload's class, and its own.

    `host_keys` are those that name a host.
    """

    host_keys: ClassVar[tuple[str, ...]] = ("from", "to")

    @abstractmethod
    def faults(self) -> Iterator[Fault]:
        """What is wrong between its keys."""

    @abstractmethod
    def workload(self) -> Workload:
        """The value, of keys without faults."""

    @classmethod
    @abstractmethod
    def of(cls, workload: Any) -> ToolFile:
        """The keys of a value of the tool's class; `workload` is the way back."""
