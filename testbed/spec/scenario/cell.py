"""Cells: the product of dimensions, each combination checked as if it had been written out. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from itertools import chain, product
from typing import Any, TypeVar

from ...codec.fault import Fault, Path
from ...codec.frozen import dataclass
from ...error import UserError, ValueRefused, one_of
from ...model.address import address_book
from ...model.background import Background, Backgrounds, Constant, one_by_one
from ...model.background import names as background_names
from ...model.data_path import DataPath, data_path_between
from ...model.event_need import event_faults, late_faults
from ...model.link.impairment import IMPAIRMENTS
from ...model.network_need import datagram_fault, rate_fault, vm_faults
from ...model.openflow import Neighbours
from ...model.run_setting import Kernel
from ...model.scenario import Cell
from ...model.topology import Engine, IpVersions, Link, Nic, Node, Topology
from ...model.workload import Iperf3Workload, UdpWorkload, Workload, measure_faults
from ...model.workload.fact import ToolKeys
from ..syntax.document import Document, mapping
from ..topology.file import LinkFile, TopologyFile
from ..topology.link.direction import PerDirection
from ..topology.node import NodeKeys
from ..topology.openflow import ControlFile, ControllerNodeFile
from ..topology.rules import link_faults
from ..topology.segment_rules import engine_faults, mtu_faults
from .axis import EXCLUSIVE, AxisKey, Change, Names, Part, canonical, members, read_value
from .dimension import Dimension
from .place import background_faults, place_faults

SHOWN = 20
"""How many values an error lists."""


@dataclass(frozen=True)
class Rule:
    """The canonical texts of the values that a rule names, by axis."""

    texts: Mapping[str, frozenset[str]]

    def covers(self, own: Mapping[str, str]) -> bool:
        """Whether a combination, as the text of each axis, is left out."""
        return all(own.get(key) in texts for key, texts in self.texts.items())


def excluded(changes: Sequence[Change], rules: Sequence[Rule]) -> bool:
    """Whether any rule leaves a combination of one value of each axis out."""
    own = {change.key.text: change.text for change in changes} if rules else {}
    return any(rule.covers(own) for rule in rules)


def rules(
    document: Document, dimensions: Sequence[Dimension], names: Names, *, strict: bool
) -> tuple[list[Rule], list[Fault]]:
    """The rules of a scenario document that can be read, and the faults of the others.

    Not `strict` is for axes that options changed: a rule about what is gone then leaves out nothing.
    """
    unread = unread_axes(document, dimensions)
    found: list[Rule] = []
    faults: list[Fault] = []
    written = mapping(document.data).get("exclude")
    for index, rule in enumerate(written if isinstance(written, list) else ()):
        path: Path = ("exclude", index)
        if not mapping(rule) or unread & set(map(canonical, rule)):
            continue
        texts, wrong = texts_of(rule, path, dimensions, names, strict=strict)
        found.append(Rule(texts))
        faults += wrong
        if strict and not wrong and not _matches(found[-1], dimensions):
            faults.append(Fault(path, "this rule excludes no cell", "values that occur together in a cell"))
    return found, faults


def unread_axes(document: Document, dimensions: Sequence[Dimension]) -> set[str]:
    """The axes that the sweep names and whose values could not be read."""
    named = {axis for text in mapping(mapping(document.data).get("sweep")) for axis in members(text)}
    return named - {key.text for each in dimensions for key in each.keys}


def texts_of(
    choice: Mapping[str, Any], path: Path, dimensions: Sequence[Dimension], names: Names, *, strict: bool
) -> tuple[dict[str, frozenset[str]], list[Fault]]:
    """The canonical texts of the values that a mapping from axes to values names, by axis, and its faults. Not `strict`
    is for axes that options changed: one that is gone has no value, and nothing is a fault.
    """
    keys = {key.text: (key, each.values(key)) for each in dimensions for key in each.keys}
    wrong: list[Fault] = []
    texts: dict[str, frozenset[str]] = {}
    for axis, data in choice.items():
        if canonical(axis) not in keys:
            wrong += [Fault((*path, axis), f"{axis!r} is not varied", one_of([*keys], axis))] if strict else []
            texts[axis] = frozenset[str]()
            continue
        key, known = keys[canonical(axis)]
        if key.text in texts:
            wrong.append(Fault((*path, axis), f"{key.text} is named twice", "each axis once", named=True))
        texts[key.text], faulty = _texts(key, data, (*path, axis), names, known)
        wrong += faulty if strict else []
    return texts, wrong


def _texts(
    key: AxisKey, data: Any, path: Path, names: Names, known: Mapping[str, Any]
) -> tuple[frozenset[str], list[Fault]]:
    """The canonical texts of the values of one axis; one that is not known is a fault, and a file that is another one
    under the same name.
    """
    texts: set[str] = set()
    faults = []
    if data == []:
        faults.append(Fault(path, "this is empty", "a value, or a list of values", named=True))
    for position, each in _values(data, path):
        value, text, unread = read_value(key, each, names)
        faults += [fault.under(*position) for fault in unread]
        if not unread and text not in known:
            listed = ", ".join([*known][:SHOWN]) + (", …" if len(known) > SHOWN else "")
            faults.append(Fault(position, f"the axis has no {text!r}", listed, named=True))
        elif not unread and isinstance(each, dict) and value != known[text]:
            faults.append(Fault(position, f"the axis has another {text!r}", "what the sweep names", named=True))
        texts.add(text)
    return frozenset(texts), faults


def _values(data: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(data, list):
        yield from (((*path, index), each) for index, each in enumerate(data))
    else:
        yield path, data


def _matches(rule: Rule, dimensions: Sequence[Dimension]) -> bool:
    """Whether any cell is left out: dimensions vary independently, so a step of each that fits is enough."""
    return all(any(_fits(rule, step) for step in each.steps) for each in dimensions)


def _fits(rule: Rule, step: Sequence[Change]) -> bool:
    return all(change.text in rule.texts.get(change.key.text, (change.text,)) for change in step)


T = TypeVar("T")


@dataclass(frozen=True)
class _Base:
    """The topology file under a cell, and the value of the axis that chose it, if one did."""

    file: TopologyFile
    chosen: tuple[Change, ...] = ()

    @property
    def path(self) -> tuple[Path, ...]:
        return _paths(self.chosen)


@dataclass(frozen=True)
class _Place:
    """Where a part of a topology stands: in the topology of a cell at a path, or `axis` if one sets it."""

    base: _Base
    at: Path
    axis: Change | None

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The same wherever an axis names the same topology."""
        return (id(self.base.file), self.at) if self.axis is None else (self.axis.path,)


@dataclass
class Resolver:
    """Makes cells from what a scenario says apart from its sweep; parts that cells share are made once.

    `topology_file` is None where an axis of topologies says it. What is wrong with combinations of values is gathered
    in `faults`, each thing once, where it first occurs; what stands in a file of its own, in `in_topologies` with it.
    """

    topology_file: TopologyFile | None
    workload_file: ToolKeys
    kernel: Kernel
    nic: Nic | None
    background: Mapping[str, Background] = field(default_factory=dict)
    neighbours: Neighbours | None = None
    engine: Engine | None = None
    ip: IpVersions | None = None
    faults: dict[tuple[Path, str], Fault] = field(default_factory=dict)
    in_topologies: dict[tuple[Hashable, ...], tuple[TopologyFile, Fault]] = field(default_factory=dict)
    _made: dict[Hashable, Any] = field(default_factory=dict)

    def cells(self, dimensions: Sequence[Dimension], rules: Sequence[Rule] = ()) -> list[Cell]:
        """One for each combination that is fine and that no rule excludes, the last dimension varying fastest."""
        combinations = (tuple(chain(*steps)) for steps in product(*(each.steps for each in dimensions)))
        kept = (changes for changes in combinations if not excluded(changes, rules))
        return [cell for changes in kept if (cell := self._cell(changes)) is not None]

    def _cell(self, changes: tuple[Change, ...]) -> Cell | None:
        whole = {change.key.key: change.value for change in changes if change.key.part == "scenario"}
        nic: Nic | None = whole.get("nic", self.nic)
        ip: IpVersions | None = whole.get("ip", self.ip)
        neighbours: Neighbours | None = whole.get("neighbours", self.neighbours)
        engine: Engine | None = whole.get("engine", self.engine)
        base = self._base(changes)
        here, about, asked = (
            _of(changes, "link", "node", "controller"),
            _of(changes, "workload"),
            _of(changes, "sysctl"),
        )
        network = ("topology", base.path, nic, ip, neighbours, engine, _paths(here))
        topology = self._once(
            network,
            lambda: self._topology(base, nic, ip, neighbours, engine, here),
        )
        workload = self._once(("workload", base.path, _paths(about)), lambda: self._workload(base, about))
        is_heard = self._once(("sysctls", base.path, _paths(asked)), lambda: self._is_heard(base, asked))
        if topology is None or workload is None or not is_heard or not self._is_built(topology, changes):
            return None
        beside = _of(changes, "background")
        background = self._once(
            ("background", base.path, _paths(about), _paths(beside)),
            lambda: self._background(base, topology, workload, beside),
        )
        if background is None:
            return None
        kernel: Kernel = whole.get("kernel", self.kernel)
        self._see_schedules(base, topology, workload, background, kernel, changes)
        self._see_network(base, topology, kernel, changes)
        crossed = partial(self._data_path, network, topology)
        if kernel.is_virtual_time:
            self._see_rates(base, topology, crossed, workload, background, changes)
        self._see_datagrams(base, crossed, workload, background, changes)
        params = tuple((change.key.text, change.text) for change in changes if change.shown)
        sysctls = tuple((change.key.name, change.value) for change in asked)
        return Cell(params, topology, workload, kernel, topology.nic, sysctls, background)

    def _base(self, changes: tuple[Change, ...]) -> _Base:
        chosen = next((change for change in changes if change.key.key == "topology"), None)
        if chosen is not None:
            return _Base(chosen.value, (chosen,))
        assert self.topology_file is not None, "BUG: a scenario without a topology"
        return _Base(self.topology_file)

    def _unvaried(self, base: _Base) -> Topology:
        return self._once(("base", base.path), base.file.topology)

    def _topology(
        self,
        base: _Base,
        nic: Nic | None,
        ip: IpVersions | None,
        neighbours: Neighbours | None,
        engine: Engine | None,
        changes: tuple[Change, ...],
    ) -> Topology | None:
        unvaried = self._unvaried(base)
        names = dict.fromkeys(change.key.name for change in changes if change.key.part == "link")
        links = {name: self._varied_link(base, name, changes) for name in names}
        controllers = self._controllers(base, _of(changes, "controller"))
        if None in links.values() or controllers is None:
            return None
        own = {name: _of_node(changes, name) for name in (node.name for node in unvaried.nodes)}
        varied = replace(
            unvaried,
            nic=nic or unvaried.nic,
            engine=engine or unvaried.engine,
            ip=ip or unvaried.ip,
            neighbours=neighbours or unvaried.neighbours,
            nodes=tuple(
                controllers.get(node.name) or _varied(node, base.file.nodes[node.name], own[node.name], nic)
                for node in unvaried.nodes
            ),
            links=tuple(links.get(link.name) or link for link in unvaried.links),
        )
        sizes = tuple(change for change in changes if change.key.key == "mtu")
        faults = list(mtu_faults(varied, address_book(varied))) if sizes or varied.ip != unvaried.ip else []
        for fault in faults:
            self._blame((*sizes, *base.chosen), replace(fault, path=fault.path[-1:]), () if sizes else ("ip",))
        return None if faults else varied

    def _is_built(self, topology: Topology, changes: tuple[Change, ...]) -> bool:
        """Whether the engine can build every node."""
        asked = tuple(change for change in changes if change.key.key in ("engine", "topology"))
        faults = list(engine_faults(topology))
        for fault in faults:
            self._blame(asked, replace(fault, path=()), () if asked else ("engine",))
        return not faults

    def _varied_link(self, base: _Base, name: str, changes: tuple[Change, ...]) -> Link | None:
        mine = tuple(change for change in _of(changes, "link") if change.key.name == name)
        return self._once(("link", base.path, _paths(mine)), lambda: self._link(base, name, mine))

    def _link(self, base: _Base, name: str, changes: tuple[Change, ...]) -> Link | None:
        link = base.file.links[name]
        for change in changes:
            try:
                link = changed_link(link, change)
            except ValueRefused as refused:
                fault = Fault((change.key.key,), refused.what, refused.allowed)
                self._blame((change, *base.chosen), fault, ())
                return None
        faults = list(link_faults(link))
        for fault in faults:
            self._blame((*changes, *base.chosen), fault, ())
        return None if faults else link.link(name)

    def _controllers(self, base: _Base, changes: tuple[Change, ...]) -> dict[str, Node] | None:
        """The controllers whose channels change; None if that cannot be."""
        found: dict[str, Node] = {}
        for name in dict.fromkeys(change.key.name for change in changes):
            file = base.file.nodes[name]
            assert isinstance(file, ControllerNodeFile), f"BUG: {name} is no controller"
            control = file.control or ControlFile()
            for change in (each for each in changes if each.key.name == name):
                control = control.varied(change.key.key, change.key.way, change.value)
            faults = list(control.conflicts())
            for fault in faults:
                self._blame((*changes, *base.chosen), fault, ())
            if faults:
                return None
            found[name] = replace(file, control=control).node(name)
        return found

    def _is_heard(self, base: _Base, changes: tuple[Change, ...]) -> bool:
        """Whether no host has a sysctl of its own, which would go before the axis."""
        deaf = [
            (change, node.name)
            for change in changes
            for node in self._unvaried(base).nodes
            if change.key.name in dict(node.sysctls)
        ]
        for change, host in deaf:
            what = f"the host {host!r} sets {change.key.name} itself, which overrides this"
            self._blame((change, *base.chosen), Fault(("sysctls",), what, "one of the two"), ())
        return not deaf

    def _workload(self, base: _Base, changes: tuple[Change, ...]) -> Workload | None:
        known = self.workload_file.known_keys()
        update: dict[str, Any] = {}
        for change in changes:
            key = change.key.key
            update |= {key: change.value}
            if EXCLUSIVE.get(key) in known:
                update[EXCLUSIVE[key]] = None
        workload = self.workload_file.changed(update)
        own, placing = list(workload.faults()), list(place_faults(workload, self._unvaried(base)))
        ends = tuple(change for change in changes if change.key.key in self.workload_file.host_keys)
        for fault in placing:
            self._blame((*ends, *base.chosen), fault, () if ends else ("workload",))
        made = None if own or placing else workload.workload()
        for fault in own if made is None else measure_faults(made):
            self._blame(changes, fault, ("workload",))
        return made

    def _background(
        self, base: _Base, topology: Topology, workload: Workload, changes: tuple[Change, ...]
    ) -> Backgrounds | None:
        files = dict(self.background)
        for change in changes:
            files[change.key.name] = files[change.key.name].changed({change.key.key: change.value})
        faults = background_faults(files, topology, workload)
        for fault in faults:
            name, *rest = fault.path
            mine = tuple(change for change in changes if change.key.name == name)
            own = replace(fault, path=tuple(rest))
            self._blame((*mine, *base.chosen), own, ("background", name))
        return None if faults else one_by_one(tuple(files.items()))

    def _see_schedules(
        self,
        base: _Base,
        topology: Topology,
        workload: Workload,
        background: Backgrounds,
        kernel: Kernel,
        changes: tuple[Change, ...],
    ) -> None:
        """Notes events that could never come in this cell."""
        about = _of(changes, "workload", "background", "scenario")
        for link in topology.links if any(link.schedule for link in topology.links) else ():
            own = (each for each in _of(changes, "link") if each.key.name == link.name and each.key.key == "schedule")
            entry = _Place(base, ("links", link.name, "schedule"), next(own, None))
            for fault in (*event_faults(link, topology, workload, background, kernel), *late_faults(link, workload)):
                self._blame_place(entry, fault, about)

    def _see_network(self, base: _Base, topology: Topology, kernel: Kernel, changes: tuple[Change, ...]) -> None:
        """Notes machines that the kernel of this cell cannot have."""
        about = tuple(change for change in changes if change.key.key == "kernel")
        for fault in vm_faults(topology, kernel):
            mine = (each for each in _of(changes, "node") if ("nodes", each.key.name, each.key.key) == fault.path)
            self._blame_place(_Place(base, (), next(mine, None)), fault, about)

    def _data_path(
        self, network: tuple[Hashable, ...], topology: Topology, source: str, destination: str
    ) -> DataPath | None:
        """None if there is none, which the plan says. Axes of links and nodes, the last of `network`, change no
        addresses.
        """

        def found() -> DataPath | None:
            with suppress(UserError):
                book = self._once(("addresses", *network[:-1]), lambda: address_book(topology))
                return data_path_between(topology, book, source, destination)
            return None

        return self._once(("data path", network, source, destination), found)

    def _see_rates(
        self,
        base: _Base,
        topology: Topology,
        crossed: Callable[[str, str], DataPath | None],
        workload: Workload,
        background: Backgrounds,
        changes: tuple[Change, ...],
    ) -> None:
        """Notes paths of this cell, which runs in virtual time, that nothing slows down."""
        about = tuple(change for change in changes if change.key.key in ("kernel", *self.workload_file.host_keys))
        pairs = dict.fromkeys(((each.source, each.destination) for _, each in background), "background")
        pairs |= dict.fromkeys(workload.pairs if workload.sends_data else (), "workload")
        for pair, traffic in pairs.items():
            path = crossed(*pair)
            fault = None if path is None else rate_fault(topology, path, traffic)
            if path is not None and fault is not None:
                links = {hop.link.name for hop in path.path}
                rates = (each for each in _of(changes, "link") if each.key.key == "rate" and each.key.name in links)
                self._blame_place(_Place(base, (), next(rates, None)), fault, about)

    def _see_datagrams(
        self,
        base: _Base,
        crossed: Callable[[str, str], DataPath | None],
        workload: Workload,
        background: Backgrounds,
        changes: tuple[Change, ...],
    ) -> None:
        """Notes datagrams of this cell that do not fit into its links."""
        sizes = tuple(change for change in changes if (change.key.part, change.key.key) == ("link", "mtu"))
        owners = {own: name for name, each in self.background.items() for own in background_names(name, each)}
        sent: list[tuple[Background | Workload, Path]] = [(workload, ("workload",))]
        sent += [(each, ("background", owners.get(own, own))) for own, each in background]
        for each, at in sent:
            if not isinstance(each, Constant | UdpWorkload | Iperf3Workload) or each.length_bytes is None:
                continue
            path = crossed(each.source, each.destination)
            fault = None if path is None else datagram_fault(each.length_bytes, path)
            if fault is not None:
                mine = (change for change in changes if (change.key.part, change.key.key) == (at[0], "length"))
                own = tuple(change for change in mine if change.key.name in ("", *at))
                self._blame((*own, *sizes, *base.chosen), fault, at)

    def _blame_place(self, place: _Place, fault: Fault, about: tuple[Change, ...]) -> None:
        """Note a fault of a part of a topology where that stands."""
        others = [f"{each.key.text} = {each.text}" for each in about if each not in place.base.chosen]
        what = fault.what + (f" (with {', '.join(others)})" if others else "")
        if place.axis is not None:
            path = (*place.axis.path, *fault.path)
            self.faults.setdefault((path, fault.what), Fault(path, what, fault.allowed, fault.named))
        else:
            found = replace(fault, what=what).under(*place.at)
            self.in_topologies.setdefault((*place.key, fault.path, (fault.what,)), (place.base.file, found))

    def _blame(self, changes: tuple[Change, ...], fault: Fault, elsewhere: Path) -> None:
        """Note a fault at the axis that sets its key, else in the file, else at the first axis there is."""
        key = fault.path[0] if fault.path else None
        guilty = [change for change in changes if change.key.key == key] or ([] if elsewhere else [*changes[:1]])
        path = guilty[0].path if guilty else (*elsewhere, *fault.path)
        unsaid = [change for change in changes if change not in guilty or change.derived]
        others = [f"{change.key.text} = {change.text}" for change in unsaid]
        what = fault.what + (f" (with {', '.join(others)})" if others else "")
        self.faults.setdefault((path, fault.what), Fault(path, what, fault.allowed, fault.named))

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made


def changed_link(link: LinkFile, change: Change) -> LinkFile:
    """Raises ValueRefused where one direction is to change of what the file gives for both in one."""
    key, way = change.key.key, change.key.way
    row = IMPAIRMENTS[key] if way else None
    if row is not None and row.total is not None and link.said(row.total) is not None:
        what = f"the link has an {row.total}, which is split evenly"
        raise ValueRefused(what, f"{key}: {{forward: …, backward: …}} in the topology")
    if row is not None and row.is_of_data and not isinstance(link.said(key), PerDirection | None):
        what = f"the link's {key} is for the direction of the data, whichever that is"
        raise ValueRefused(what, f"{key}: {{forward: …, backward: …}} in the topology")
    return link.varied(key, way, change.value)


def _varied(node: Node, file: NodeKeys, changed: Mapping[str, Any], nic: Nic | None) -> Node:
    """A node with what its axes set. The scenario's nic goes before the node's, and the node's axis before both."""
    node = file.changed(changed).node(node.name) if changed else node
    return node if nic is None or not node.kind.has_offloads else replace(node, nic=changed.get("nic"))


def _of_node(changes: Iterable[Change], name: str) -> dict[str, Any]:
    """Key to value."""
    return {each.key.key: each.value for each in changes if (each.key.part, each.key.name) == ("node", name)}


def _of(changes: Iterable[Change], *parts: Part) -> tuple[Change, ...]:
    return tuple(change for change in changes if change.key.part in parts)


def _paths(changes: Iterable[Change]) -> tuple[Path, ...]:
    return tuple(change.path for change in changes)
