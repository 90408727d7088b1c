"""The tools that a scenario file can name, each with its keys, and where a workload can be. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any, TypeAlias, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ...error import UserError, one_of
from ...model.address import address_book
from ...model.route import way
from ...model.topology import Topology
from ...model.workload import BUILT_IN, Workload
from ..syntax.document import Fault
from ..syntax.scalar import tag_of
from .common import EndsFile, ToolFile

TOOLS: dict[str, type[ToolFile]] = {
    each.tool: import_module(f".{each.tool}", __package__).FILE for each in BUILT_IN
}  # each has its module here, which is named after it


def register(file: type[ToolFile]) -> None:
    """Takes in the keys of a tool from outside; trial.workload.registry takes in what runs it."""
    (tool,) = get_args(file.model_fields["tool"].annotation)
    assert tool not in TOOLS, f"BUG: two tools with the name {tool!r}"
    TOOLS[tool] = file


@dataclass(frozen=True)
class _ByTool:
    """Reads a mapping by the keys of the tool that it names."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {}  # `json_schema` has it, of the tools that are there when it is asked


def _read(value: Any) -> ToolFile:
    return value if isinstance(value, ToolFile) else TOOLS[tag_of(value, "tool", TOOLS)].model_validate(value)


WorkloadFile: TypeAlias = Annotated[ToolFile, _ByTool()]


def json_schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """Of a workload, and the definitions to which it refers."""
    definitions: dict[str, Any] = {}
    for file in TOOLS.values():
        one = file.model_json_schema()
        definitions |= {**one.pop("$defs", {}), file.__name__: one}
    refs = {tool: f"#/$defs/{file.__name__}" for tool, file in TOOLS.items()}
    one_of = {"oneOf": [{"$ref": ref} for ref in refs.values()]}
    return {"discriminator": {"mapping": refs, "propertyName": "tool"}, **one_of}, definitions


def workload_file(workload: Workload) -> ToolFile:
    """The file's shape of a workload; its `workload()` is the way back."""
    return TOOLS[workload.tool].of(workload)


def place_faults(workload: EndsFile, topology: Topology) -> Iterator[Fault]:
    """Whether the workload runs between different hosts of the topology that can reach each other."""
    hosts = [node.name for node in topology.nodes if node.kind.runs_workloads]
    unknown = {key: end for key, end in workload.between.items() if end not in hosts}
    for key, end in unknown.items():
        is_node = any(node.name == end for node in topology.nodes)
        what = f"{end!r} is a {topology.node(end).type}, no host" if is_node else f"there is no host {end!r}"
        yield Fault((key,), what, one_of(hosts, end), named=True)
    if unknown:
        return
    if len(workload.between) > 2 and workload.source == workload.destination:
        yield Fault(("to",), f"from and to are both {workload.source!r}", "two different hosts", named=True)
        return
    for (first, source), (second, destination) in pairwise(workload.between.items()):
        key = second if second != "to" or first == "from" else first
        if source == destination:
            yield Fault((key,), f"{first} and {second} are both {source!r}", "two different hosts")
        elif topology.path(source, destination) is None:
            what = f"no path leads from {source!r} to {destination!r}"
            yield Fault((key,), what, "hosts that links, switches and routers connect")
        else:
            yield from _addressed(topology, source, destination, key)


def _addressed(topology: Topology, source: str, destination: str, key: str) -> Iterator[Fault]:
    """Whether addresses and routes lead from one to the other too."""
    try:
        way(topology, address_book(topology), source, destination)
    except UserError as error:
        yield Fault((key,), str(error), named=True)
