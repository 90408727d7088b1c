"""The tools that a scenario file can name, each with its keys, and where a workload can be. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from typing import Annotated, TypeAlias, get_args

from ...error import UserError, one_of
from ...model.address import address_book
from ...model.route import way
from ...model.topology import Topology
from ...model.workload import BUILT_IN, Workload
from ..syntax.document import Fault
from ..syntax.variant import Variant
from .common import EndsFile, ToolFile

TOOLS: dict[str, type[ToolFile]] = {
    each.tool: import_module(f".{each.tool}", __package__).FILE for each in BUILT_IN
}  # each has its module here, which is named after it


def register(file: type[ToolFile]) -> None:
    """Takes in the keys of a tool from outside; trial.workload.registry takes in what runs it."""
    (tool,) = get_args(file.model_fields["tool"].annotation)
    assert tool not in TOOLS, f"BUG: two tools with the name {tool!r}"
    TOOLS[tool] = file


WorkloadFile: TypeAlias = Annotated[ToolFile, Variant("tool", TOOLS)]


def workload_file(workload: Workload) -> ToolFile:
    """The file model of a workload; its `workload()` returns the value again."""
    return TOOLS[workload.tool].of(workload)


def place_faults(workload: EndsFile, topology: Topology) -> Iterator[Fault]:
    """Whether the workload runs between different hosts of the topology that can reach each other."""
    hosts = [node.name for node in topology.nodes if node.kind.runs_workloads]
    unknown = {key: end for key, end in workload.between.items() if end not in hosts}
    for key, end in unknown.items():
        is_node = any(node.name == end for node in topology.nodes)
        what = f"{end!r} is a {topology.node(end).type}, not a host" if is_node else f"there is no host {end!r}"
        yield Fault((key,), what, one_of(hosts, end), named=True)
    for path, end in workload.elsewhere.items():
        if end not in hosts:
            yield Fault(path, f"there is no host {end!r}", one_of(hosts, end), named=True)
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
