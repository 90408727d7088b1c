"""Cells: the product of axes, each combination checked as if it had been written out. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal, TypeVar

from .axis import EXCLUSIVE, Change
from .document import Fault, Path
from .error import ValueRefused
from .field import PerDirection
from .scenario import Cell
from .setting import Kernel
from .topology import Link, Nic, Node, Topology
from .topologycheck import link_faults
from .topologyfile import LinkFile, TopologyFile
from .workload import Workload
from .workloadfile import AnyWorkloadFile, place_faults

T = TypeVar("T")


@dataclass
class Resolver:
    """Makes cells from what a scenario says apart from its sweep; parts that cells share are made once.

    What is wrong with combinations of values is gathered in `faults`, each thing once, where it first occurs.
    """

    topology_file: TopologyFile
    workload_file: AnyWorkloadFile
    kernel: Kernel
    nic: Nic | None
    faults: dict[tuple[Path, str], Fault] = field(default_factory=dict)
    _made: dict[Hashable, Any] = field(default_factory=dict)

    def cells(self, axes: Sequence[Sequence[Change]]) -> list[Cell]:
        """One for each combination that is fine, the last axis varying fastest."""
        return [cell for changes in product(*axes) if (cell := self._cell(changes)) is not None]

    def _cell(self, changes: tuple[Change, ...]) -> Cell | None:
        whole = {change.key.key: change.value for change in changes if change.key.part == "scenario"}
        nic: Nic | None = whole.get("nic", self.nic)
        here = _of(changes, "link", "node")
        topology = self._once(("topology", nic, _paths(here)), lambda: self._topology(nic, here))
        about = _of(changes, "workload")
        workload = self._once(("workload", _paths(about)), lambda: self._workload(about))
        if topology is None or workload is None:
            return None
        params = tuple((change.key.text, change.text) for change in changes if change.shown)
        return Cell(params, topology, workload, whole.get("kernel", self.kernel), topology.nic)

    def _topology(self, nic: Nic | None, changes: tuple[Change, ...]) -> Topology | None:
        base = self._once("base", self.topology_file.topology)
        names = dict.fromkeys(change.key.name for change in changes if change.key.part == "link")
        links = {name: self._varied_link(name, changes) for name in names}
        if None in links.values():
            return None
        nics = {change.key.name: change.value for change in changes if change.key.part == "node"}
        return replace(
            base,
            nic=nic or base.nic,
            nodes=tuple(_with_nic(node, nic, nics.get(node.name)) for node in base.nodes),
            links=tuple(links.get(link.name) or link for link in base.links),
        )

    def _varied_link(self, name: str, changes: tuple[Change, ...]) -> Link | None:
        mine = tuple(change for change in _of(changes, "link") if change.key.name == name)
        return self._once(("link", _paths(mine)), lambda: self._link(name, mine))

    def _link(self, name: str, changes: tuple[Change, ...]) -> Link | None:
        link = self.topology_file.links[name]
        for change in changes:
            try:
                link = changed_link(link, change)
            except ValueRefused as refused:
                self._blame((change,), Fault((change.key.key,), refused.what, refused.allowed), ())
                return None
        faults = list(link_faults(link))
        for fault in faults:
            self._blame(changes, fault, ())
        return None if faults else link.link(name)

    def _workload(self, changes: tuple[Change, ...]) -> Workload | None:
        base = self._once("base", self.topology_file.topology)
        names = {info.alias or name: name for name, info in type(self.workload_file).model_fields.items()}
        update: dict[str, Any] = {}
        for change in changes:
            key = change.key.key
            update |= {names[key]: change.value}
            if EXCLUSIVE.get(key) in names:
                update[EXCLUSIVE[key]] = None
        workload = self.workload_file.model_copy(update=update)
        own, placing = list(workload.faults()), list(place_faults(workload, base))
        ends = tuple(change for change in changes if change.key.key in ("from", "to", "cache"))
        for fault in own:
            self._blame(changes, fault, ("workload",))
        for fault in placing:
            self._blame(ends, fault, () if ends else ("workload",))
        return None if own or placing else workload.workload()

    def _blame(self, changes: tuple[Change, ...], fault: Fault, elsewhere: Path) -> None:
        """Note a fault at the axis that sets its key, else in the file, else at the first axis there is."""
        key = fault.path[0] if fault.path else None
        guilty = [change for change in changes if change.key.key == key] or ([] if elsewhere else [*changes[:1]])
        path = guilty[0].path if guilty else (*elsewhere, *fault.path)
        others = [f"{change.key.text} = {change.text}" for change in changes if change not in guilty]
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
    if not way:
        other = EXCLUSIVE.get(key)
        return link.model_copy(update={key: change.value} | ({other: None} if other else {}))
    pair = getattr(link, key)
    if key == "delay" and link.rtt is not None:
        raise ValueRefused(
            "the link has an rtt, which is split evenly", "delay: {forward: …, backward: …} in the topology"
        )
    if key == "loss" and not isinstance(pair, PerDirection | None):
        what = "the link's loss is for the direction of the data, whichever that is"
        raise ValueRefused(what, "loss: {forward: …, backward: …} in the topology")
    pair = pair or PerDirection[Any].model_construct()
    return link.model_copy(update={key: pair.model_copy(update={way: change.value})})


def _with_nic(node: Node, nic: Nic | None, own: Nic | None) -> Node:
    """The scenario's nic goes before the node's, and the node's axis before both."""
    if node.type != "host" or (nic is None and own is None):
        return node
    return replace(node, nic=own)


def _of(changes: Iterable[Change], *parts: Literal["link", "node", "workload"]) -> tuple[Change, ...]:
    return tuple(change for change in changes if change.key.part in parts)


def _paths(changes: Iterable[Change]) -> tuple[Path, ...]:
    return tuple(change.path for change in changes)
