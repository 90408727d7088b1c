"""The kinds of value a spec file holds: how each is read, written and described to an editor. Pure, no I/O.

Each is an annotation for a pydantic field: read (text to value in base units), write (value to canonical
text) and a JSON Schema stand side by side. "none" is None: no such impairment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    BeforeValidator,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ... import units
from ...error import ValueRefused
from ...model.topology import MTU_MAX, MTU_MIN
from . import scalar
from .file_model import FileModel

T = TypeVar("T")


def or_none(write: Callable[[T], str]) -> Callable[[T | None], str]:
    return lambda value: "none" if value is None else write(value)


def matching(pattern: str, description: str, *examples: Any, none: bool = False) -> dict[str, Any]:
    """JSON Schema of text; `none` lets the word itself in."""
    full = f"^none$|{pattern}" if none else pattern
    return {"type": "string", "pattern": full, "description": description, "examples": list(examples)}


def number(low: int, high: int, description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "description": description}


def byte_count_schema(low: int, high: int, description: str) -> dict[str, Any]:
    return {"anyOf": [number(low, high, description), matching(units.SIZE.pattern, description, f"{low} B")]}


_TIME = {"anyOf": [matching(units.TIME.pattern, "A time.", "100 ms", "2.5 us", "30 s"), {"const": 0}]}
_ADDRESS_SCHEMA = matching(r"^[0-9A-Fa-f:.]+/[0-9]{1,3}$", "Address and prefix length.", "10.0.0.1/24")

Name = Annotated[
    str,
    PlainValidator(scalar.name),
    WithJsonSchema(matching(f"^{scalar.NAME_PATTERN}$", f"A name: {scalar.NAME_ALLOWED}.")),
]
RealNic = Annotated[
    str,
    PlainValidator(scalar.real_nic),
    WithJsonSchema(matching(f"^{scalar.NIC_PATTERN}$", f"A NIC: {scalar.NIC_ALLOWED}.", "eth1")),
]
EndName = Annotated[
    str,
    PlainValidator(scalar.end_name),
    WithJsonSchema(matching(f"^{scalar.END_PATTERN}$", f"An end: {scalar.END_ALLOWED}.")),
]
IpVersionsField = Annotated[
    Any,
    PlainValidator(scalar.word("4|6|both", "a choice of IP versions", "4, 6, both")),
    WithJsonSchema({"anyOf": [{"enum": ["4", "6", "both"]}, {"enum": [4, 6]}]}),
]
Text = Annotated[str, PlainValidator(lambda value: scalar.text_of(value, "text")), WithJsonSchema({"type": "string"})]
Lines = Annotated[str, PlainValidator(scalar.lines_of), WithJsonSchema({"type": "string"})]
Ends = Annotated[
    tuple[str, str],
    PlainValidator(scalar.ends),
    PlainSerializer(list),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "string", "pattern": f"^{scalar.NAME_PATTERN}$"},
            "minItems": 2,
            "maxItems": 2,
            "description": "Two nodes; forward is from the first.",
        }
    ),
]
EcnField = Annotated[
    Any,
    PlainValidator(scalar.ecn),
    WithJsonSchema({"anyOf": [{"enum": ["off", "on", "accurate"]}, {"type": "boolean"}]}),
]
Flag = Annotated[bool, PlainValidator(scalar.flag), WithJsonSchema({"type": "boolean"})]
Rate = Annotated[
    int | None,
    PlainValidator(scalar.quantity(units.parse_rate, units.RATE.allowed, low=1, none=True)),
    PlainSerializer(or_none(units.format_rate)),
    WithJsonSchema(matching(units.RATE.pattern, "A rate in bits per second, or none.", "10 Gbit/s", none=True)),
]
LONGEST = (87_600 * 3600 * 10**9, "up to 87600 h")
"""Ten years, in ns, which no clock of a kernel exceeds; and in words."""
Time = Annotated[
    int,
    PlainValidator(scalar.quantity(units.parse_time, units.TIME.allowed, high=LONGEST)),
    PlainSerializer(units.format_time),
    WithJsonSchema(_TIME),
]
Span = Annotated[
    int,
    PlainValidator(scalar.quantity(units.parse_time, units.TIME.allowed, low=1, high=LONGEST)),
    PlainSerializer(units.format_time),
    WithJsonSchema(matching(units.TIME.pattern, "A time, more than 0.", "10 s", "500 ms")),
]
Size = Annotated[
    int,
    PlainValidator(scalar.quantity(units.parse_size, units.SIZE.allowed, low=1)),
    PlainSerializer(units.format_size),
    WithJsonSchema(matching(units.SIZE.pattern, "A size, more than 0.", "64 KiB", "1 MB")),
]
Mtu = Annotated[
    int,
    PlainValidator(scalar.byte_count(MTU_MIN, MTU_MAX)),
    WithJsonSchema(byte_count_schema(MTU_MIN, MTU_MAX, "The largest IP packet, in bytes.")),
]
ADDRESSES_SCHEMA: dict[str, Any] = {"anyOf": [_ADDRESS_SCHEMA, {"type": "array", "items": _ADDRESS_SCHEMA}]}
Addresses = Annotated[
    tuple[str, ...],
    PlainValidator(scalar.addresses),
    PlainSerializer(list),
    WithJsonSchema(ADDRESSES_SCHEMA),
]
Prefix = Annotated[
    str,
    PlainValidator(scalar.prefix),
    WithJsonSchema(
        matching(r"^default$|^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$", scalar.PREFIX_ALLOWED, "10.0.2.0/24", "default")
    ),
]
Ip = Annotated[
    str,
    PlainValidator(scalar.ip),
    WithJsonSchema(matching(r"^[0-9A-Fa-f:.]+$", scalar.IP_ALLOWED, "10.0.0.1")),
]
Mac = Annotated[
    str,
    PlainValidator(scalar.mac),
    WithJsonSchema(matching(r"^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$", scalar.MAC_ALLOWED, "00:00:00:00:00:01")),
]
SysctlName = Annotated[
    str, PlainValidator(scalar.sysctl_name), WithJsonSchema(matching(f"^{scalar.SYSCTL_PATTERN}$", "A kernel setting."))
]
SysctlValue = Annotated[
    str,
    PlainValidator(scalar.sysctl_value),
    WithJsonSchema({"anyOf": [matching(f"^{scalar.SYSCTL_VALUE_PATTERN}$", "Its value."), {"type": "number"}]}),
]
Sysctls = Annotated[
    dict[SysctlName, SysctlValue],
    BeforeValidator(scalar.sysctls),
    WithJsonSchema(
        {
            "type": "object",
            "propertyNames": {"pattern": f"^{scalar.SYSCTL_PATTERN}$"},
            "additionalProperties": {"type": ["string", "number"]},
            "description": "Kernel settings by name, such as net.ipv4.tcp_ecn.",
        }
    ),
]


class PerDirection(FileModel, Generic[T]):
    """One value for both directions, or {forward: …, backward: …}, where one that is left out has none.

    Forward is from the first end to the second.
    """

    forward: T | None = None
    backward: T | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_is_both(cls, data: Any) -> Any:
        if isinstance(data, PerDirection):
            return data
        if not is_directional(data):
            return {"forward": data, "backward": data}
        if not data:
            raise ValueRefused("the mapping is empty", "forward, backward")
        return data

    @model_serializer(mode="wrap")
    def _both_are_one(self, handler: SerializerFunctionWrapHandler) -> Any:
        written = handler(self)
        return written.get("forward") or "none" if self.forward == self.backward else written

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        both = handler.resolve_ref_schema(handler(core_schema))
        return {"anyOf": [both["properties"]["forward"], both]}


def is_directional(data: object) -> bool:
    """Whether this is {forward: …, backward: …} rather than a value that is itself a mapping."""
    return isinstance(data, dict) and (not data or bool({"forward", "backward"} & {str(key) for key in data}))
