"""Spec files: a topology or a scenario read from disk, or all that is wrong with it. Reads files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..codec.fault import Fault
from ..codec.keyed import check
from ..error import Problem, SpecError, one_of
from ..model.expectation import Expectation
from ..model.scenario import Axis, Scenario, Size
from ..model.topology import Topology
from ..model.workload.fact import ToolKeys
from ..model.workload.tool import WORKLOAD
from . import number_file
from .congestion import object_files, with_objects
from .program_file import program_files, with_programs
from .scenario.cell import Resolver, Rule, rules
from .scenario.dimension import Dimension, dimensions
from .scenario.expectation import (
    absent_cells,
    absent_events,
    expectations,
    other_backgrounds,
    unanswered,
    without_round_trip,
)
from .scenario.file import ScenarioFile
from .scenario.override import Changed, with_options
from .scenario.place import place_faults
from .scenario.topologies import OWN, ScenarioTopologies, read_topology, scenario_topologies, topology_files
from .scenario.topologies import read as read
from .syntax.attachment import NOTHING_MORE, Folder, Permission
from .syntax.document import Document, mapping
from .topology.rules import topology_of
from .trace_file import with_axis_traces

TRIALS_MAX = 100_000
COPY = "file-"
COPIED_BYTES = 32 << 20
"""So large a program file is copied into a run's folder; a larger one is only named there, by its SHA-256."""


def load_topology(path: str | os.PathLike[str], permission: Permission = NOTHING_MORE) -> Topology:
    """Raises SpecError with all the problems of the file."""
    folder = Folder.of(path, permission)
    document = read_topology(path, folder)
    made = topology_of(document)
    folder.carry_out()
    return made


def load_scenario(
    path: str | os.PathLike[str],
    settings: Sequence[str] = (),
    quick: bool = False,
    permission: Permission = NOTHING_MORE,
) -> Scenario:
    """The scenario of a file, in its quick size if that is wanted, changed by `settings`, which are KEY=VALUE with
    VALUE in YAML.

    KEY is a key of the file ("seed", "limits.wall", "sweep.flows") or what an axis can be ("path.rtt",
    "flows", "workload.bytes"). The latter replaces the axis if there is one; otherwise a list or a range becomes an
    axis, and any other value is simply set. A topology is looked for from the folder of the scenario file.

    Raises SpecError with all the problems of the file, the settings and the topology.
    """
    changed, folder = with_options(read(path), settings, quick), Folder.of(path, permission)
    for attached in (with_programs, with_objects, number_file.with_files, with_axis_traces):
        changed = replace(changed, document=attached(changed.document, folder))
    topologies = scenario_topologies(changed.document, folder)
    spec, varied, excluded, expected, faults = _checked(changed, topologies)
    if spec is None or None in topologies.files or faults or topologies.problems:
        raise SpecError(_problems(changed.document, faults, topologies))
    interval_ns = None if spec.samples is None else spec.samples.interval_ns
    own = None if topologies.is_axis else topologies.by_name[OWN].file
    resolver = Resolver(
        own,
        spec.workload,
        spec.kernel,
        spec.nic,
        dict(spec.background or ()),
        ip=spec.ip,
        neighbours=spec.neighbours,
        engine=spec.engine,
    )
    cells = resolver.cells(varied, excluded)
    if not cells and not resolver.faults:
        what = "these rules exclude every cell"
        faults = [Fault(("exclude",), what, "rules that leave at least one cell", named=True)]
    if changed.is_strict and not resolver.faults:
        faults += absent_cells(expected, cells)
        faults += absent_events(expected, cells)
        faults += unanswered(expected, cells, interval_ns, spec.metric_units)
    if not resolver.faults:
        faults += other_backgrounds(expected, cells)
        faults += without_round_trip(expected, cells, interval_ns, strict=changed.is_strict)
    found = [topologies.problem(*each) for each in resolver.in_topologies.values()]
    if resolver.faults or faults or found:
        raise SpecError(_problems(changed.document, [*resolver.faults.values(), *faults], topologies, found))
    size: Size = "quick" if quick else "full"
    folder.carry_out()
    return Scenario(
        name=spec.name,
        description=spec.description,
        axes=tuple(Axis(key.text, each.texts(key)) for each in varied if each.is_shown for key in each.keys),
        cells=tuple(cells),
        repetitions=spec.repetitions,
        seed=spec.seed,
        samples_interval_ns=interval_ns,
        acks=spec.samples is not None and bool(spec.samples.acks),
        captures=spec.captures,
        limits=spec.limits,
        sysctls=spec.sysctls,
        until=spec.until,
        size=size,
        quick_note=spec.quick["note"] if spec.quick and quick else None,
        primary=spec.primary,
        rare=spec.rare,
        expect=expected,
    )


def _checked(
    changed: Changed, topologies: ScenarioTopologies
) -> tuple[ScenarioFile | None, list[Dimension], list[Rule], tuple[Expectation, ...], list[Fault]]:
    """The parts of a scenario document, each by itself; None if it is not well-formed or not good YAML."""
    document = changed.document
    data, names = mapping(document.data), topologies.names(document)
    is_apart = topologies.is_axis or isinstance(data.get("topology"), dict)
    spec, faults = check(
        ScenarioFile, {**data, **({"topology": "apart"} if is_apart else {})} if data else document.data
    )
    faults += [] if spec is None else list(spec.faults())
    workload, _ = WORKLOAD.checked(data.get("workload"))
    varied, unread = dimensions(document, names, changed.unshown)
    excluded, unmatched = rules(document, varied, names, strict=changed.is_strict)
    expected: tuple[Expectation, ...] = ()
    if spec is not None and spec.expect and not faults:
        units = spec.metric_units
        expected, unfit = expectations(document, spec.expect, units, varied, names, strict=changed.is_strict)
        faults += unfit
    faults += [*unread, *unmatched, *_capture_faults(data, topologies), *_too_many(spec, varied)]
    is_varied = topologies.is_axis or any(key.part == "workload" for each in varied for key in each.keys)
    if workload is not None and not is_varied and (faults or document.faults):
        faults += [fault.under("workload") for fault in _workload_faults(workload, topologies)]
    return (None if document.faults else spec), varied, excluded, expected, faults


def _too_many(spec: ScenarioFile | None, varied: Sequence[Dimension]) -> Iterator[Fault]:
    """Counted before any cell is made."""
    most = 1 if spec is None else spec.repetitions
    trials = math.prod(len(each.steps) for each in varied) * most
    if trials > TRIALS_MAX:
        yield Fault(("sweep",), f"this makes {trials} trials", f"up to {TRIALS_MAX}", named=True)


def _workload_faults(workload: ToolKeys, topologies: ScenarioTopologies) -> Iterator[Fault]:
    """What cells would show, if there were any."""
    yield from workload.faults()
    for file in topologies.files:
        if file is not None:
            yield from place_faults(workload, file.topology())


def _capture_faults(data: dict[str, Any], topologies: ScenarioTopologies) -> Iterator[Fault]:
    known, captures = topologies.positions(), data.get("capture")
    before: set[str] = set()
    for index, capture in enumerate(captures if isinstance(captures, list) else ()):
        at = mapping(capture).get("at")
        if isinstance(at, str) and at in before:
            yield Fault(("capture", index, "at"), f"{at!r} is captured already", "each node or link once", named=True)
        before |= {at} if isinstance(at, str) else set()
        if isinstance(at, str) and known is not None and at not in known:
            allowed = one_of(known, at, "names that all topologies have")
            yield Fault(("capture", index, "at"), f"there is no node or link {at!r}", allowed, named=True)


def _problems(
    document: Document, faults: list[Fault], topologies: ScenarioTopologies, more: Sequence[Problem] = ()
) -> list[Problem]:
    """Those of the scenario and then those of the topologies, with `more` that cells showed; of one file, in the order
    of its lines.
    """
    own = document.problems(faults)
    both = [*own, *(problem for problem in dict.fromkeys((*topologies.problems, *more)) if problem not in own)]
    files = list(dict.fromkeys(problem.file for problem in both))
    return sorted(both, key=lambda problem: (files.index(problem.file), problem.line or 0))


def is_scenario(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant as a scenario: it says what runs, or over which topology. Raises SpecError."""
    return bool({"workload", "topology", "sweep"} & set(mapping(read(path).data)))


def is_topology(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant as a topology: it says what there is, and nothing of a scenario. Raises SpecError."""
    return bool({"nodes", "topo"} & set(mapping(read(path).data))) and not is_scenario(path)


def is_profile(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant as a profile: it cites somebody, or has facts or series. Raises SpecError."""
    return bool({"citation", "facts", "series"} & set(mapping(read(path).data)))


def sizes_of(scenario: str | os.PathLike[str]) -> tuple[Size, ...]:
    """The sizes that a scenario file has: full, and quick if it says what that is. Raises SpecError."""
    return ("full", "quick") if "quick" in mapping(read(scenario).data) else ("full",)


def files_of(scenario: str | os.PathLike[str], settings: Sequence[str] = (), quick: bool = False) -> dict[str, str]:
    """The scenario's file and those of the topologies it names, as paths, by names that differ.

    With the same `settings` and size as for `load_scenario` they are the files that it reads.
    """
    document = with_options(read(scenario), settings, quick).document
    return {"scenario.yaml": os.fspath(scenario)} | topology_files(document, Folder.of(scenario))


def programs_of(
    scenario: str | os.PathLike[str],
    settings: Sequence[str] = (),
    quick: bool = False,
    permission: Permission = NOTHING_MORE,
) -> dict[str, str]:
    """The files that its workload names, without folders and large ones, as paths, by the names that copies get."""
    document = with_options(read(scenario), settings, quick).document
    folder = Folder.of(scenario, permission)
    named = {**program_files(document, folder), **object_files(document, folder)}.items()
    return {f"{COPY}{name}": path for name, path in named if os.path.getsize(path) <= COPIED_BYTES}
