"""JSON Schema of the spec files, from the models that read them, for editors. Pure, no I/O."""

from __future__ import annotations

from typing import Any, Literal

from ..model.link.impairment import IMPAIRMENTS
from ..model.node.type import NODE_TYPES
from .scenario.axis import CONTROL_KEYS, DIRECTIONAL, LINK_KEYS, SHORT, WHOLE
from .scenario.axis_range import RangeFile
from .scenario.file import ScenarioFile
from .syntax.scalar import NAME_PATTERN, SYSCTL_PATTERN
from .topology.file import NODE_FILES, LinkFile, TopologyFile
from .topology.link.impairment import FILE_FIELDS
from .topology.mininet_topology import MININET_TOPOLOGY
from .workload import registry

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: Literal["topology", "scenario"]) -> dict[str, Any]:
    """It judges each value by itself; what must hold between values only loading can tell."""
    model = TopologyFile if kind == "topology" else ScenarioFile
    found: dict[str, Any] = _without_null(model.model_json_schema())
    if kind == "scenario":
        _complete(found)
    _complete_topology(found if kind == "topology" else found["$defs"]["TopologyFile"])
    return {"$schema": DIALECT, **found, "title": f"Testbed {kind}"}


def _complete_topology(topology: dict[str, Any]) -> None:
    """A Mininet topology in Python stands for nodes and links."""
    topology["properties"]["topo"] = _without_null(MININET_TOPOLOGY.json_schema())
    topology["required"] = [key for key in topology["required"] if key != "nodes"]
    topology["anyOf"] = [{"required": ["nodes"]}, {"required": ["topo"]}]


def _complete(scenario: dict[str, Any]) -> None:
    """Adds what no model says: what axes, rules and the quick size hold, and that an axis can be the topology."""
    axes, properties = _axes(scenario), scenario["properties"]
    ranges = _without_null(RangeFile.model_json_schema())
    properties["sweep"] |= {
        "patternProperties": {
            **{f"^{key}$": {"anyOf": [_list_of(one), ranges]} for key, one in axes.items()},
            rf"^({_any(axes)})(\s*\+\s*({_any(axes)}))+$": _list_of({"type": "array", "minItems": 2}),
        },
        "additionalProperties": False,
    }
    properties["exclude"]["items"] |= {
        "patternProperties": {f"^{key}$": {"anyOf": [one, _list_of(one)]} for key, one in axes.items()},
        "additionalProperties": False,
    }
    properties["quick"] |= {"properties": {"note": {"type": "string"}}, "required": ["note"], "minProperties": 2}
    properties["quick"].pop("anyOf", None)
    properties["quick"]["type"] = "object"
    scenario["required"] = [key for key in scenario["required"] if key != "topology"]
    varied = {"patternProperties": {r"(^|\+\s*)topology(\s*\+|$)": True}, "minProperties": 1}
    scenario["anyOf"] = [{"required": ["topology"]}, {"required": ["sweep"], "properties": {"sweep": varied}}]


def _axes(scenario: dict[str, Any]) -> dict[str, Any]:
    """What each axis takes, by a regular expression of its key."""
    definitions = scenario["$defs"]
    link = definitions[LinkFile.__name__]["properties"]
    known = {f"{NAME_PATTERN}\\.{key}": link[key] for key in LINK_KEYS}
    known |= {
        f"{NAME_PATTERN}\\.{key}\\.(forward|backward)": _one_way(key, link[key], definitions) for key in DIRECTIONAL
    }
    for type, file_model in NODE_FILES.items():
        for key in file_model.varied:
            known.setdefault(f"{NAME_PATTERN}\\.{key}", definitions[file_model.__name__]["properties"][key])
        known |= _control_axes(definitions) if NODE_TYPES[type].openflow == "controller" else {}
    known |= {key: scenario["properties"][key] for key in WHOLE if key != "topology"}
    known |= {"topology": {"type": "string", "description": "A topology file, relative to the folder of this file."}}
    known |= {f"sysctls\\.{SYSCTL_PATTERN}": {"type": ["string", "number"]}}
    for key, values in _workload_keys(definitions).items():
        one = values[0] if len(values) == 1 else {"anyOf": values}
        known |= {f"workload\\.{key}": one} | ({key: one} if key in SHORT else {})
    return known


def _control_axes(definitions: dict[str, Any]) -> dict[str, Any]:
    """What the axes of a controller's channel take."""
    control = definitions["ControlFile"]["properties"]
    known = {f"{NAME_PATTERN}\\.control\\.{key}": control[key] for key in CONTROL_KEYS}
    directional = [key for key in CONTROL_KEYS if key in DIRECTIONAL]
    for key in directional:
        known[f"{NAME_PATTERN}\\.control\\.{key}\\.(forward|backward)"] = _one_way(key, control[key], definitions)
    return known


def _list_of(one: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": one, "minItems": 1}


def _any(axes: dict[str, Any]) -> str:
    return "|".join(axes)


def _workload_keys(definitions: dict[str, Any]) -> dict[str, list[Any]]:
    """The keys of all tools but `tool` itself, each with what the tools take for it."""
    found: dict[str, list[Any]] = {}
    for file_model in registry.TOOLS.values():
        for key, one in definitions[file_model.__name__]["properties"].items():
            if key != "tool" and one not in found.setdefault(key, []):
                found[key].append(one)
    return found


def _one_way(key: str, both: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """What one direction takes, of a key that has a value for each."""
    if IMPAIRMENTS[key].is_of_data:
        return FILE_FIELDS[key].schema
    if "$ref" in both:
        return _one_way(key, definitions[both["$ref"].rpartition("/")[2]], definitions)
    return both["anyOf"][0]


def _without_null(part: Any) -> Any:
    """Absent is left out in a spec file, never null."""
    if isinstance(part, list):
        return [_without_null(each) for each in part if each != {"type": "null"}]
    if not isinstance(part, dict):
        return part
    kept = {key: _without_null(value) for key, value in part.items() if (key, value) != ("default", None)}
    if "anyOf" in kept and len(kept["anyOf"]) == 1:
        return {**kept.pop("anyOf")[0], **kept}
    return kept
