"""Spec files: a topology or a scenario read from disk, or all that is wrong with it. Reads files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from .axis import Change, Names, axes
from .backgroundfile import background_faults
from .cell import Resolver
from .document import Document, Fault, Place, mapping, parse
from .error import Problem, SpecError, one_of
from .option import with_options
from .scenario import Axis, Scenario
from .scenariofile import ScenarioFile
from .shape import check
from .topology import Topology
from .topologycheck import check_topology
from .topologyfile import TopologyFile
from .workloadfile import TOOLS, AnyWorkloadFile, WorkloadFile, place_faults

TRIALS_MAX = 100_000


def load_topology(path: str | os.PathLike[str]) -> Topology:
    """Raises SpecError with all the problems of the file."""
    document = read(path)
    file, faults = check_topology(document)
    if file is None:
        raise SpecError(document.problems(faults))
    return file.topology()


def load_scenario(path: str | os.PathLike[str], settings: Sequence[str] = ()) -> Scenario:
    """The scenario of a file, changed by `settings`, which are KEY=VALUE with VALUE in YAML.

    KEY is a key of the file ("seed", "limits.wall", "sweep.flows") or what an axis can be ("path.rtt",
    "flows", "workload.bytes"). The latter replaces the axis if there is one; otherwise a list becomes an
    axis, and any other value is simply set. A topology is looked for from the folder of the scenario file.

    Raises SpecError with all the problems of the file, the settings and the topology.
    """
    document, fixed = with_options(read(path), settings)
    network = _network(document, os.path.dirname(os.fspath(path)))
    spec, changes, faults = _checked(document, network, fixed)
    if spec is None or network.file is None or faults or network.problems:
        raise SpecError(_problems(document, faults, network))
    resolver = Resolver(network.file, spec.workload, spec.kernel, spec.nic)
    cells = resolver.cells(changes)
    if spec.background:
        workloads = [*dict.fromkeys(cell.workload for cell in cells)]
        known = network.file.topology()
        found = [f for each in workloads for f in background_faults(spec.background, known, each)]
        resolver.faults |= {(f.path, f.what): f.under("background") for f in found}
    if resolver.faults:
        raise SpecError(_problems(document, [*resolver.faults.values()], network))
    return Scenario(
        name=spec.name,
        description=spec.description,
        axes=tuple(Axis(axis[0].key.text, tuple(each.text for each in axis)) for axis in changes if axis[0].shown),
        cells=tuple(cells),
        repetitions=spec.repetitions,
        seed=spec.seed,
        samples_interval_ns=spec.samples_interval_ns,
        captures=tuple(each.capture() for each in spec.capture),
        limits=spec.limits.limits(),
        sysctls=tuple(spec.sysctls.items()),
        background=spec.backgrounds,
    )


def read(path: str | os.PathLike[str]) -> Document:
    """Raises SpecError for what cannot be read, or is not YAML."""
    name = os.path.normpath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise SpecError([Problem(name, None, f"this cannot be read: {error.strerror}")]) from None
    try:
        return parse(data.decode("utf-8-sig"), Place(name, 1))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError([Problem(name, line, "this is not text in UTF-8")]) from None


@dataclass(frozen=True)
class _Network:
    """The topology of a scenario: its file, None if it has problems; its names, `links` None if unread."""

    file: TopologyFile | None
    problems: tuple[Problem, ...] = ()
    links: tuple[str, ...] | None = None
    hosts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def _network(scenario: Document, folder: str) -> _Network:
    """The topology that a scenario names or contains."""
    data = mapping(scenario.data).get("topology")
    if isinstance(data, dict):
        return _known(scenario.at("topology"))
    if not isinstance(data, str):
        return _Network(None)
    try:
        return _known(read(os.path.join(folder, data)))
    except SpecError as error:
        if error.problems[0].line is not None:
            return _Network(None, error.problems)
        problem = scenario.problem(Fault(("topology",), f"{data!r}: {error.problems[0].what}"))
        return _Network(None, (problem,))


def _known(document: Document) -> _Network:
    file, faults = check_topology(document)
    data = mapping(document.data)
    nodes, links = mapping(data.get("nodes")), mapping(data.get("links"))
    types = {name: mapping(node).get("type") for name, node in nodes.items()}
    hosts = tuple(name for name, type in types.items() if type == "host")
    others = tuple(name for name in types if name not in hosts)
    return _Network(file, tuple(document.problems(faults)), tuple(links), hosts, others)


def _checked(
    document: Document, network: _Network, fixed: frozenset[str]
) -> tuple[ScenarioFile | None, list[list[Change]], list[Fault]]:
    """The parts of a scenario document, each by itself; None if it is not well-formed or not good YAML."""
    data = mapping(document.data)
    inline = {"topology": "inline"} if isinstance(data.get("topology"), dict) else {}
    spec, faults = check(TypeAdapter(ScenarioFile), {**data, **inline} if data else document.data)
    workload, _ = check(TypeAdapter[Any](WorkloadFile), data.get("workload"))
    changes, unread = axes(document, Names(network.links, network.hosts, _tool(data)), fixed)
    faults += [*unread, *_capture_faults(data, network)]
    trials = math.prod(map(len, changes)) * (spec.repetitions if spec else 1)
    if trials > TRIALS_MAX:
        faults.append(Fault(("sweep",), f"these are {trials} trials", f"up to {TRIALS_MAX}", named=True))
    is_varied = any(axis[0].key.part == "workload" for axis in changes)
    if workload is not None and not is_varied and (faults or document.faults):
        faults += [fault.under("workload") for fault in _workload_faults(workload, network)]
    return (None if document.faults else spec), changes, faults


def _workload_faults(workload: AnyWorkloadFile, network: _Network) -> Iterator[Fault]:
    """What cells would show, if there were any."""
    yield from workload.faults()
    if network.file is not None:
        yield from place_faults(workload, network.file.topology())


def _tool(data: dict[str, Any]) -> str | None:
    tool = mapping(data.get("workload")).get("tool")
    return tool if isinstance(tool, str) and tool in TOOLS else None


def _capture_faults(data: dict[str, Any], network: _Network) -> Iterator[Fault]:
    known = (*network.hosts, *network.others, *(network.links or ()))
    captures = data.get("capture")
    for index, capture in enumerate(captures if isinstance(captures, list) else ()):
        at = mapping(capture).get("at")
        if isinstance(at, str) and network.links is not None and at not in known:
            yield Fault(("capture", index, "at"), f"there is no node or link {at!r}", one_of(known, at), named=True)


def _problems(document: Document, faults: list[Fault], network: _Network) -> list[Problem]:
    """Those of the scenario and then those of the topology; of one file, in the order of its lines."""
    own = document.problems(faults)
    both = [*own, *(problem for problem in network.problems if problem not in own)]
    files = list(dict.fromkeys(problem.file for problem in both))
    return sorted(both, key=lambda problem: (files.index(problem.file), problem.line or 0))


def is_scenario(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant as a scenario: it says what runs, or over which topology. Raises SpecError."""
    return bool({"workload", "topology", "sweep"} & set(mapping(read(path).data)))


def files_of(scenario: str | os.PathLike[str]) -> dict[str, str]:
    """The scenario's file and that of the topology it names, as paths, by what they are."""
    named = mapping(read(scenario).data).get("topology")
    own = os.fspath(scenario)
    files = {"scenario.yaml": own}
    return files | {"topology.yaml": os.path.join(os.path.dirname(own), named)} if isinstance(named, str) else files
