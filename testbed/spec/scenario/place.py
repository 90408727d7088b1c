"""Where a workload and its background can be, and for how long. Pure, no I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from ...codec.fault import Fault
from ...codec.scalar import NAME_ALLOWED, NAME_PATTERN
from ...error import UserError, one_of
from ...model.address import address_book
from ...model.background import Background, names
from ...model.route import way
from ...model.topology import Topology
from ...model.workload import Workload
from ...model.workload.fact import Ends


def place_faults(workload: Ends, topology: Topology) -> Iterator[Fault]:
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


def background_faults(
    backgrounds: Mapping[str, Background], topology: Topology | None, workload: Workload | None
) -> list[Fault]:
    """What is wrong with them in this topology and beside this workload; paths are seen from the mapping."""
    faults: list[Fault] = []
    taken = Counter(own for name, each in backgrounds.items() for own in names(name, each))
    for name, background in backgrounds.items():
        wrong = [own for own in names(name, background) if not re.fullmatch(NAME_PATTERN, own)]
        twice = [own for own in names(name, background) if taken[own] > 1]
        faults += [Fault((name,), f"{own!r} is not a name", NAME_ALLOWED) for own in wrong[:1]]
        faults += [Fault((name,), f"{own!r} is another one's name, too", "other names") for own in twice[:1]]
        faults += [fault.under(name) for fault in background.faults()]
        if topology is not None:
            faults += [fault.under(name) for fault in place_faults(background, topology)]
        if workload is not None and background.duration_ns is None and workload.length_ns is None:
            what = "the length of the workload is not known in advance, so the background needs a duration"
            faults.append(Fault((name,), what, "a line such as 'duration: 60 s'", named=True))
    return faults
