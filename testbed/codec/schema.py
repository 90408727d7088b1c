"""JSON Schema of classes of keys, for editors. Pure, no I/O."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING
from typing import Any

from .frozen import dataclass
from .keyed import Key, Keyed, Schema, keys

ENDINGS = re.compile("(Keys|NodeFile|File|Workload)$")
"""What names of classes say of themselves, and not of what is in a file."""


@dataclass(frozen=True, eq=False)
class Definition:
    """A schema that stands once, under its name, whatever refers to it."""

    name: str
    schema: Schema


def shared(name: str, schema: Schema) -> Schema:
    """A reference to a schema that stands once, under this name."""
    return {"$ref": Definition(name, schema)}


def of_keys(cls: type[Keyed]) -> Schema:
    """A mapping with the keys of a class; "$ref" in it are classes and definitions."""
    known = keys(cls)
    properties: dict[str, Any] = {}
    required = []
    for name in cls.known_keys():
        if name == cls.TAG:
            properties[name] = {"const": getattr(cls, name), "type": "string"}
            required.append(name)
        elif name in known:
            properties[name] = of_key(known[name])
            required += [name] if known[name].is_required else []
    about = {"description": inspect.cleandoc(cls.__doc__).partition("\n\n")[0]} if cls.__doc__ else {}
    found = {"type": "object", **about, "properties": properties, "additionalProperties": False}
    return {**found, "required": required} if required else found


def of_key(own: Key) -> Schema:
    about = {"description": own.about} if own.about else {}
    default = None if own.shown is MISSING or own.shown is None else own.kind.write(own.shown)
    return {**own.kind.described(), **about, **({} if default is None else {"default": default})}


def name_of_keys(cls: type[Keyed]) -> str:
    """Under which its schema stands: Host for HostFile."""
    return cls.__dict__.get("DEFINITION", "") or ENDINGS.sub("", cls.__name__)


def whole(root: Schema) -> dict[str, Any]:
    """The schema with all that it refers to under "$defs"."""
    definitions: dict[str, Any] = {}
    named: dict[int, str] = {}
    kept: list[Any] = []

    def name_of(what: Any) -> str:
        if id(what) not in named:
            name = what.name if isinstance(what, Definition) else name_of_keys(what)
            assert name not in definitions, f"BUG: two definitions with the name {name!r}"
            named[id(what)], definitions[name] = name, None
            kept.append(what)
            definitions[name] = plain(what.schema if isinstance(what, Definition) else of_keys(what))
        return named[id(what)]

    def plain(part: Any) -> Any:
        if isinstance(part, list | tuple):
            return [plain(each) for each in part]
        if isinstance(part, type | Definition):
            return f"#/$defs/{name_of(part)}"
        if not hasattr(part, "items"):
            return part
        return {key: plain(value) for key, value in part.items()}

    found: dict[str, Any] = plain(root)
    return {**found, "$defs": dict(sorted(definitions.items()))}


def resolved(part: Schema) -> Schema:
    """A schema in which what it refers to stands in place of the reference."""
    if "$ref" not in part:
        return part
    what = part["$ref"]
    rest = {key: value for key, value in part.items() if key != "$ref"}
    return {**(what.schema if isinstance(what, Definition) else of_keys(what)), **rest}
