"""ScenarioTopologies: the topologies a scenario runs over, with the names that its axes can use. Reads files."""

from __future__ import annotations

import errno
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any

from ...codec.fault import Fault, Path
from ...codec.frozen import dataclass
from ...error import Problem, SpecError
from ...library import TOPOLOGIES, did_you_mean_file, spec_file
from ...model.background import PATTERNS
from ...model.node.type import NODE_TYPES
from ...model.workload.tool import TOOLS
from ..controller_app import with_apps
from ..inventory import with_inventory
from ..mininet_import import described, expanded, is_python, path_of, python_file
from ..program_file import with_controller_programs
from ..syntax import input_file
from ..syntax.attachment import Folder, Outside, unread
from ..syntax.document import Document, Position, mapping, parse
from ..topology.file import NODE_FILES, TopologyFile
from ..topology.node import anchored
from ..topology.rules import check_topology
from ..trace_file import with_traces
from .axis import Names, members

OWN = ""
"""In place of a file, where the scenario's `topology` key says it."""


@dataclass(frozen=True)
class CheckedTopology:
    """One topology: its file, None if it has problems; its names, `links` None if unread. `document` is where the file
    was read.
    """

    file: TopologyFile | None
    problems: tuple[Problem, ...] = ()
    links: tuple[str, ...] | None = None
    hosts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    document: Document | None = None


@dataclass(frozen=True)
class ScenarioTopologies:
    """The topologies of a scenario: those that an axis names, by what it says, or (under OWN) its only one."""

    by_name: Mapping[str, CheckedTopology]

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(dict.fromkeys(problem for each in self.by_name.values() for problem in each.problems))

    @property
    def is_axis(self) -> bool:
        return OWN not in self.by_name

    @property
    def files(self) -> tuple[TopologyFile | None, ...]:
        return tuple(each.file for each in self.by_name.values())

    def names(self, scenario: Document) -> Names:
        """What the axes of the scenario can refer to."""
        each = tuple(self.by_name.values())
        links, hosts, controllers = (
            _common(names)
            for names in (
                [one.links or () for one in each],
                [one.hosts for one in each],
                [one.controllers for one in each],
            )
        )
        every = dict.fromkeys(name for one in each for name in (*(one.links or ()), *one.hosts, *one.controllers))
        return Names(
            None if any(one.links is None for one in each) else links,
            hosts,
            _tool(mapping(scenario.data)),
            tuple(name for name in every if name not in (*links, *hosts, *controllers)),
            {said: one.file for said, one in self.by_name.items()},
            _backgrounds(mapping(scenario.data)),
            controllers,
            {name: tuple(one.types[name] for one in each) for name in hosts},
        )

    def problem(self, file: TopologyFile, fault: Fault) -> Problem:
        """Of a fault in one of the files that is sound by itself: where it stands."""
        document = next(each.document for each in self.by_name.values() if each.file is file)
        assert document is not None, "BUG: a topology that nobody read"
        return document.problem(fault)

    def positions(self) -> tuple[str, ...] | None:
        """The nodes and links that all topologies have; None if one could not be read."""
        if any(one.links is None for one in self.by_name.values()):
            return None
        return _common([(*one.hosts, *one.others, *(one.links or ())) for one in self.by_name.values()])


def _common(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    first, *rest = names
    return tuple(name for name in first if all(name in other for other in rest))


def scenario_topologies(scenario: Document, folder: Folder) -> ScenarioTopologies:
    """The topologies that a scenario names or contains; an axis of topologies goes before its `topology` key."""
    named = dict(topology_axis(scenario))
    found = {said: _named(scenario, path, said, folder) for said, path in named.items()}
    return ScenarioTopologies(found or {OWN: _own(scenario, folder)})


def topology_axis(scenario: Document) -> Iterator[tuple[str, Path]]:
    """What an axis of topologies says, and where; nothing without one."""
    for key, values in mapping(mapping(scenario.data).get("sweep")).items():
        if "topology" not in members(key):
            continue
        column = members(key).index("topology")
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, str) and "+" not in key:
                yield value, ("sweep", key, index)
            elif isinstance(value, list) and column < len(value) and isinstance(value[column], str):
                yield value[column], ("sweep", key, index, column)


def topology_files(scenario: Document, folder: Folder) -> dict[str, str]:
    """The files that `scenario_topologies` would read, as paths, by names that differ."""
    found = _yaml_files(scenario, folder)
    for name, path in list(found.items()):
        with suppress(SpecError):
            python = python_file(read(path), folder.other(path))
            found |= {} if python is None else {name.replace(".yaml", ".py"): python}
    return found


def _yaml_files(scenario: Document, folder: Folder) -> dict[str, str]:
    own = mapping(scenario.data).get("topology")
    named = list(dict(topology_axis(scenario)))
    if not named:
        return {_stored("topology", own): _file(own, folder)} if isinstance(own, str) else {}
    names: dict[str, str] = {}
    for said in named:
        stem = os.path.splitext(os.path.basename(said))[0]
        again = sum(name.startswith(f"topology-{stem}") for name in names)
        name = f"topology-{stem}" if not again else f"topology-{stem}-{again + 1}"
        names[_stored(name, said)] = _file(said, folder)
    return names


def _stored(name: str, said: str) -> str:
    return f"{name}.py" if is_python(said) else f"{name}.yaml"


def _own(scenario: Document, folder: Folder) -> CheckedTopology:
    data = mapping(scenario.data).get("topology")
    if isinstance(data, dict):
        return _inline(scenario.at("topology"), folder)
    return _named(scenario, ("topology",), data, folder) if isinstance(data, str) else CheckedTopology(None)


def _file(said: str, folder: Folder) -> str:
    """The file that a scenario in a folder names, or else the topology of this name that comes with the testbed."""
    return os.fspath(spec_file(pathlib.Path(said), pathlib.Path(folder.path), (TOPOLOGIES,)))


def _named(scenario: Document, path: Path, said: str, folder: Folder) -> CheckedTopology:
    file = _file(said, folder)
    try:
        return _known(completed(_topology(scenario, path, said, folder), folder.other(file)))
    except OSError as error:
        return CheckedTopology(None, (scenario.problem(unread(path, said, error, "")),))
    except SpecError as error:
        first = error.problems[0]
        if first.line is not None or first.file != os.path.normpath(file):
            return CheckedTopology(None, error.problems)
        return CheckedTopology(None, (scenario.problem(Fault(path, f"{said!r}: {error.problems[0].what}")),))


def _topology(scenario: Document, path: Path, said: str, folder: Folder) -> Document:
    """A scenario may name topology files wherever they are, and no other files: an error would quote what is in them.

    Raises SpecError, and OSError for what cannot be read or is Outside.
    """
    file, asking = _file(said, folder), scenario.positions[()].file
    if is_python(said):
        folder.find(scenario, path, path_of(said))
        return described(file)
    try:
        with folder.held(scenario, path, said) as held:
            return read(file, held)
    except FileNotFoundError as error:
        if os.path.isfile(file):
            return read(file)
        raise _unreadable(file, error, asking) from None
    except Outside as outside:
        if not os.path.isfile(file):
            raise _unreadable(file, _why_not(file), asking) from None
        document = _document(file)
        if document is None:
            why = f"it is outside the folder of this file, and no topology (testbed check {file} says what it lacks)"
            raise Outside(said, why, outside.real) from None
        return document


def _document(file: str) -> Document | None:
    """That of a topology file; None for any other file."""
    try:
        document = read(file)
    except SpecError:
        return None
    keys = set(mapping(document.data))
    return document if "name" in keys and bool(keys & {"nodes", "topo"}) else None


def _inline(topology: Document, folder: Folder) -> CheckedTopology:
    try:
        return _known(completed(topology, folder))
    except SpecError as error:
        return CheckedTopology(None, error.problems)


def _known(document: Document) -> CheckedTopology:
    file, faults = check_topology(document)
    data = mapping(document.data)
    nodes, links = mapping(data.get("nodes")), mapping(data.get("links"))
    said = {name: mapping(node).get("type") for name, node in nodes.items()}
    types = {name: type for name, type in said.items() if isinstance(type, str) and type in NODE_FILES}
    hosts = tuple(name for name, type in types.items() if NODE_FILES[type].varied)
    controllers = tuple(name for name, type in types.items() if NODE_TYPES[type].openflow == "controller")
    others = tuple(name for name in said if name not in hosts)
    problems = tuple(document.problems(faults))
    return CheckedTopology(file, problems, tuple(links), hosts, others, controllers, types, document)


def _tool(data: dict[str, Any]) -> str | None:
    tool = mapping(data.get("workload")).get("tool")
    return tool if isinstance(tool, str) and tool in TOOLS else None


def _backgrounds(data: dict[str, Any]) -> dict[str, str | None]:
    patterns = {name: mapping(each).get("pattern") for name, each in mapping(data.get("background")).items()}
    return {name: said if isinstance(said, str) and said in PATTERNS else None for name, said in patterns.items()}


def read_topology(path: str | os.PathLike[str], folder: Folder) -> Document:
    """The document of a topology file in a folder, complete. Raises SpecError."""
    return completed(read(path), folder)


def completed(topology: Document, folder: Folder) -> Document:
    """With what the files say that a topology names: the nodes and links of a Mininet topology in Python, apps of
    controllers, where images are, traces of links.
    """
    built = with_traces(anchored(expanded(topology, folder), folder), folder)
    return with_inventory(with_controller_programs(with_apps(built, folder), folder), folder)


def read(path: str | os.PathLike[str], held: str | None = None) -> Document:
    """A Python file is a topology, and no more: its class is not read yet. `held` is the path by which the file is
    read, if it is another one. Raises SpecError for what cannot be read, or is not YAML.
    """
    if is_python(path):
        return described(path)
    name = os.path.normpath(path)
    try:
        data = input_file.read(held or path, input_file.SPEC_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from None
    try:
        return parse(input_file.decoded(data), Position(name, 1))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError([Problem(name, line, f"this is {input_file.no_text(data)}")]) from None


def _why_not(file: str) -> OSError:
    """Why what is no file cannot be read; nothing of it is."""
    try:
        input_file.read(file, 0)
    except OSError as error:
        return error
    return OSError(errno.ENOENT, os.strerror(errno.ENOENT))


def _unreadable(path: str | os.PathLike[str], error: OSError, asking: str = "") -> SpecError:
    name = os.path.normpath(path)
    meant = did_you_mean_file(name, asking) if isinstance(error, FileNotFoundError) else ""
    return SpecError([Problem(name, None, f"this cannot be read: {error.strerror}{meant}")])
