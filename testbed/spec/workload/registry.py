"""Workloads as a scenario file writes them: one shape for each tool, and the way to values. Pure, no I/O.

A new tool is a class here and a line in TOOLS.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, TypeAlias

from pydantic import Field

from ...error import UserError, one_of
from ...model.address import address_book
from ...model.route import way
from ...model.topology import WORKING, Topology
from ...model.workload import FlowWorkload, HttpWorkload, Iperf3Workload, PingWorkload, UdpWorkload, Workload
from ..syntax.document import Fault
from ..syntax.scalar import tagged
from .common import EndsFile
from .flow import FlowFile
from .http import HttpFile
from .iperf3 import Iperf3File
from .ping import PingFile
from .udp import UdpFile

AnyWorkloadFile: TypeAlias = FlowFile | Iperf3File | PingFile | UdpFile | HttpFile


TOOLS: dict[str, type[AnyWorkloadFile]] = {
    "flow": FlowFile,
    "iperf3": Iperf3File,
    "ping": PingFile,
    "udp": UdpFile,
    "http": HttpFile,
}


WorkloadFile: TypeAlias = Annotated[AnyWorkloadFile, Field(discriminator="tool"), tagged("tool", TOOLS)]


def workload_file(workload: Workload) -> AnyWorkloadFile:
    """The file's shape of a workload; its `workload()` is the way back."""
    match workload:
        case FlowWorkload():
            return FlowFile.of(workload)
        case Iperf3Workload():
            return Iperf3File.of(workload)
        case PingWorkload():
            return PingFile.of(workload)
        case UdpWorkload():
            return UdpFile.of(workload)
        case HttpWorkload():
            return HttpFile.of(workload)


def place_faults(workload: EndsFile, topology: Topology) -> Iterator[Fault]:
    """Whether the workload runs between different hosts of the topology that can reach each other."""
    hosts = [node.name for node in topology.nodes if node.type in WORKING]
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
