"""Values of a link's key that are for both directions, for each, or for that of the data. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ....codec.fault import Fault, Faulty, faults_of
from ....codec.frozen import dataclass
from ....codec.keyed import Kind, Schema
from ....codec.schema import Definition
from ....error import ValueRefused, one_of

WAYS: tuple[Literal["forward"], Literal["backward"]] = ("forward", "backward")
"""From the first end, and from the second."""


@dataclass(frozen=True)
class PerDirection:
    """A value for each direction; None is none. Forward is from the first end to the second."""

    forward: Any = None
    backward: Any = None


def is_directional(data: object) -> bool:
    """Whether this is {forward: …, backward: …} rather than a value that is itself a mapping."""
    return isinstance(data, dict) and (not data or bool({*WAYS} & {str(key) for key in data}))


def per_direction(one: Kind, name: str) -> Kind:
    """One value for both directions, or {forward: …, backward: …}, where one that is left out has none. `name` is that
    of its JSON Schema.
    """

    def read(value: Any) -> PerDirection:
        if isinstance(value, PerDirection):
            return value
        if not is_directional(value):
            return _each(one, dict.fromkeys(WAYS, value))
        if not value:
            raise ValueRefused("the mapping is empty", ", ".join(WAYS))
        return _each(one, value)

    def write(value: PerDirection) -> Any:
        written = {way: one.write(getattr(value, way)) for way in WAYS if getattr(value, way) is not None}
        return (written.get("forward") or "none") if value.forward == value.backward else written

    def full(value: PerDirection) -> Any:
        if value.forward == value.backward:
            return write(value)
        return {way: None if getattr(value, way) is None else one.write(getattr(value, way)) for way in WAYS}

    definition = Definition(name, {"anyOf": [one.schema, {**_ways(one), "additionalProperties": False}]})
    return Kind(read, write, {"$ref": definition}, full=full)


def _ways(one: Kind) -> Schema:
    return {"type": "object", "properties": dict.fromkeys(WAYS, one.schema)}


def _each(one: Kind, data: dict[str, Any]) -> PerDirection:
    found: dict[str, Any] = {}
    faults: list[Fault] = []
    for way in WAYS:
        if data.get(way) is None:
            continue
        try:
            found[way] = one.read(data[way])
        except (ValueRefused, Faulty) as error:
            faults += faults_of(error, way)
    faults += [Fault((key,), f"unknown key {key!r}", one_of(WAYS, key)) for key in data if key not in WAYS]
    if faults:
        raise Faulty(faults)
    return PerDirection(**found)


def of_data(one: Kind, about: str, name: str, read_ways: Callable[[Any], PerDirection] | None = None) -> Kind:
    """One value for the direction of the data, or of the answers; or {forward: …, backward: …}."""
    both = per_direction(one, name)

    def read(value: Any) -> Any:
        if isinstance(value, PerDirection):
            return value
        return (read_ways or both.read)(value) if is_directional(value) else one.read(value)

    def write(value: Any) -> Any:
        if not isinstance(value, PerDirection):
            return one.write(value)
        return {way: one.write(getattr(value, way)) for way in WAYS}

    ways = {**_ways(one), "additionalProperties": False, "minProperties": 1}
    schema: Schema = {"anyOf": [*one.described()["anyOf"], ways], "description": about}
    return Kind(read, write, {"$ref": Definition(name, schema)}, none="none")
