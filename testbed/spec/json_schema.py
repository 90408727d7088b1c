"""JSON Schema of the spec files, from the keys that read them, for editors. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from ..codec.keyed import Keyed, Schema, keys
from ..codec.scalar import NAME_PATTERN, SYSCTL_PATTERN
from ..codec.schema import of_key, of_keys, shared, whole
from ..model.node.type import NODE_TYPES
from ..model.workload.tool import TOOLS
from .scenario.axis import CONTROL_KEYS, DIRECTIONAL, LINK_KEYS, SHORT, WHOLE, RangeFile
from .scenario.file import ScenarioFile
from .topology.file import NODE_FILES, LinkFile, TopologyFile
from .topology.link.impairment import FILE_FIELDS
from .topology.mininet import MININET_TOPOLOGY
from .topology.openflow import ControlFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: Literal["topology", "scenario"]) -> dict[str, Any]:
    """It judges each value by itself; what must hold between values only loading can tell."""
    root = _topology() if kind == "topology" else _scenario()
    return {"$schema": DIALECT, "title": f"Testbed {kind}", **whole(root)}


def _topology() -> Schema:
    """A Mininet topology in Python stands for nodes and links."""
    own = of_keys(TopologyFile)
    return {
        **own,
        "properties": {**own["properties"], "topo": MININET_TOPOLOGY.described()},
        "required": [key for key in own["required"] if key != "nodes"],
        "anyOf": [{"required": ["nodes"]}, {"required": ["topo"]}],
    }


def _scenario() -> Schema:
    """With what no key says by itself: what axes, rules and the quick size hold; an axis can be the topology."""
    own = of_keys(ScenarioFile)
    properties, axes = own["properties"], _axes()
    any_axis = "|".join(axes)
    sweep = {
        **{f"^{key}$": {"anyOf": [_list_of(one), {"$ref": RangeFile}]} for key, one in axes.items()},
        rf"^({any_axis})(\s*\+\s*({any_axis}))+$": _list_of({"type": "array", "minItems": 2}),
    }
    rule = {
        **properties["exclude"]["items"],
        "patternProperties": {f"^{key}$": {"anyOf": [one, _list_of(one)]} for key, one in axes.items()},
        "additionalProperties": False,
    }
    topology = {**properties["topology"], "oneOf": [{"type": "string"}, shared("Topology", _topology())]}
    quick = {
        **properties["quick"],
        "type": "object",
        "properties": {"note": {"type": "string", "description": "What is scaled, and what that changes."}},
        "required": ["note"],
        "minProperties": 2,
    }
    changed = {
        "topology": topology,
        "sweep": {
            **{key: value for key, value in properties["sweep"].items() if key != "additionalProperties"},
            "patternProperties": sweep,
            "additionalProperties": False,
        },
        "exclude": {**properties["exclude"], "items": rule},
        "quick": quick,
    }
    varied = {"patternProperties": {r"(^|\+\s*)topology(\s*\+|$)": True}, "minProperties": 1}
    return {
        **own,
        "properties": {**properties, **changed},
        "required": [key for key in own["required"] if key != "topology"],
        "anyOf": [{"required": ["topology"]}, {"required": ["sweep"], "properties": {"sweep": varied}}],
    }


def _axes() -> dict[str, Schema]:
    """What each axis takes, by a regular expression of its key."""
    known = dict(_impairments(LinkFile, f"{NAME_PATTERN}\\.", LINK_KEYS, "Link"))
    for type, cls in NODE_FILES.items():
        for key in cls.varied:
            one = shared(f"Axis{type.title()}{_title(key)}", of_key(keys(cls)[key]))
            known.setdefault(f"{NAME_PATTERN}\\.{key}", one)
        if NODE_TYPES[type].openflow == "controller":
            known |= _impairments(ControlFile, f"{NAME_PATTERN}\\.control\\.", CONTROL_KEYS, "Control")
    for key in (each for each in WHOLE if each != "topology"):
        known[key] = shared(f"Axis{key.title()}", of_key(keys(ScenarioFile)[key]))
    known["topology"] = {"type": "string", "description": "A topology file, relative to the folder of this file."}
    known[f"sysctls\\.{SYSCTL_PATTERN}"] = {"type": ["string", "number"]}
    for key, values in _workload_keys().items():
        one = shared(f"AxisWorkload{_title(key)}", values[0] if len(values) == 1 else {"anyOf": values})
        known |= {f"workload\\.{key}": one} | ({key: one} if key in SHORT else {})
    return known


def _impairments(cls: type[Keyed], prefix: str, names: tuple[str, ...], owner: str) -> Iterator[tuple[str, Schema]]:
    """The axes of a link or a channel: of both directions, and of each."""
    for key in names:
        yield f"{prefix}{key}", shared(f"Axis{owner}{_title(key)}", of_key(keys(cls)[key]))
    for key in names:
        if key in DIRECTIONAL:
            yield f"{prefix}{key}\\.(forward|backward)", FILE_FIELDS[key].one.described()


def _workload_keys() -> dict[str, list[Any]]:
    """The keys of all tools, each with what the tools take for it."""
    found: dict[str, list[Any]] = {}
    for cls in TOOLS.values():
        for key, own in keys(cls).items():
            one = of_key(own)
            if one not in found.setdefault(key, []):
                found[key].append(one)
    return found


def _list_of(one: Schema) -> Schema:
    return {"type": "array", "items": one, "minItems": 1}


def _title(key: str) -> str:
    return key.title().replace("_", "")
