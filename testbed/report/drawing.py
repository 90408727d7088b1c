"""The drawing of a run's networks: nodes with their places, links with what they do, control channels. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.node.type import NODE_TYPES, Mark
from ..model.scenario import Trial
from ..model.topology import Link, Topology
from .graph_layout import place
from .link_fact import Fact, facts
from .stored_run import StoredRun

PLAIN, EMULATED = 1.0, 2.0
"""How long links are: one with an emulator has its facts beside it."""
ABOVE = 1.2
"""How far above the rest the nodes without a link are."""
MANY_NETWORKS = 6
GENERAL = frozenset({"type", "addresses", "sysctls", "nic", "routes", "stp"})
"""What a node of any type can have; the rest tells what this one is."""


@dataclass(frozen=True)
class Spot:
    """A node: x and y in lengths of a plain link, y pointing down. `about` is what it is beyond its type; `mark` None
    is for a type that this version does not have.
    """

    name: str
    type: str
    x: float
    y: float
    about: str = ""
    mark: Mark | None = None


@dataclass(frozen=True)
class Line:
    """A link between two spots. `bend` sets links between the same ends apart: 0 is straight, -1 and 1 are arcs.

    An emulator stands in the middle of it if `is_emulated`. The arrows of `drawn` fit the places of the ends.
    """

    name: str
    ends: tuple[str, str]
    bend: float
    is_emulated: bool
    facts: tuple[Fact, ...]
    drawn: tuple[Fact, ...]


@dataclass(frozen=True)
class Control:
    """A controller's channel to a switch, out of band."""

    controller: str
    switch: str
    about: str


@dataclass(frozen=True)
class Drawing:
    """One network. `trials` is how many trials of the run were over it."""

    name: str
    description: str
    spots: tuple[Spot, ...]
    lines: tuple[Line, ...]
    controls: tuple[Control, ...]
    trials: int

    def spot(self, name: str) -> Spot:
        """Raises StopIteration for a node that is not there."""
        return next(each for each in self.spots if each.name == name)


def drawings(run: StoredRun) -> tuple[Drawing, ...]:
    """One for each network that differs in nodes or in its links' ends, in the order of the trials; at most 6."""
    groups: dict[Any, list[Trial]] = {}
    for trial in run.trials.values():
        groups.setdefault(_shape(trial.topology), []).append(trial)
    return tuple(_drawing(members, run.settings) for members in [*groups.values()][:MANY_NETWORKS])


def _shape(topology: Topology) -> Any:
    nodes = tuple((node.name, node.type) for node in topology.nodes)
    return topology.name, nodes, tuple((link.name, link.ends) for link in topology.links)


def _drawing(trials: Sequence[Trial], settings: Mapping[str, Mapping[str, Any]]) -> Drawing:
    first = trials[0]
    topology = first.topology
    written = settings[first.id]["topology"]["nodes"]
    channels = _channels(topology, written)
    links = {link.name: [trial.topology.link(link.name) for trial in trials] for link in topology.links}
    lengths = {link.name: _length(links[link.name]) for link in topology.links}
    places = _places(topology, lengths, (first.workload.source, first.workload.destination), channels)
    spots = tuple(
        Spot(node.name, node.type, *places[node.name], _about(written.get(node.name, {})), _mark(node.type))
        for node in topology.nodes
    )
    by_name = {spot.name: spot for spot in spots}
    return Drawing(
        name=topology.name,
        description=topology.description,
        spots=spots,
        lines=tuple(
            _line(link, links[link.name], bend, by_name)
            for link, bend in zip(topology.links, _bends(topology), strict=True)
        ),
        controls=channels,
        trials=len(trials),
    )


def _places(
    topology: Topology, lengths: Mapping[str, float], ends: tuple[str, str], channels: Sequence[Control]
) -> dict[str, tuple[float, float]]:
    """Of all nodes. What no link leads to, as a controller out of band, stands above the rest."""
    joined = [node.name for node in topology.nodes if topology.links_of(node.name)]
    apart = [node.name for node in topology.nodes if node.name not in joined]
    if not joined:
        joined, apart = apart, []
    numbers = {name: number for number, name in enumerate(joined)}
    edges = [(numbers[link.ends[0]], numbers[link.ends[1]], lengths[link.name]) for link in topology.links]
    found = place(len(joined), edges, *(numbers.get(end, 0) for end in ends))
    if apart:
        found[:, 1] += ABOVE
    places = {name: (round(float(x), 4), round(float(y), 4)) for name, (x, y) in zip(joined, found, strict=True)}
    middle = float(found[:, 0].min() + found[:, 0].max()) / 2
    wanted = {}
    for name in apart:
        below = [places[each.switch][0] for each in channels if each.controller == name and each.switch in places]
        wanted[name] = sum(below) / len(below) if below else middle
    last = -np.inf
    for name in sorted(apart, key=lambda name: wanted[name]):
        last = max(last + PLAIN, wanted[name])
        places[name] = (round(float(last), 4), 0.0)
    return places


def _line(link: Link, in_trials: Sequence[Link], bend: float, spots: Mapping[str, Spot]) -> Line:
    known = facts(in_trials)
    is_backward = spots[link.ends[0]].x > spots[link.ends[1]].x
    drawn = tuple(each.turned() for each in known) if is_backward else known
    return Line(link.name, link.ends, bend, any(each.is_emulated for each in in_trials), known, drawn)


def _length(links: Sequence[Link]) -> float:
    return EMULATED if any(link.is_emulated for link in links) else PLAIN


def _bends(topology: Topology) -> list[float]:
    """Of the links between the same two nodes the first is bent most to one side, the last to the other."""
    groups: dict[frozenset[str], list[str]] = {}
    for link in topology.links:
        groups.setdefault(frozenset(link.ends), []).append(link.name)
    found = {}
    for ends, names in groups.items():
        turns = np.linspace(-1, 1, len(names)) if len(names) > 1 else [0.0]
        for name, turn in zip(names, turns, strict=True):
            found[name] = float(turn) * (1 if topology.link(name).ends[0] == min(ends) else -1)
    return [found[link.name] for link in topology.links]


def _channels(topology: Topology, written: Mapping[str, Mapping[str, Any]]) -> tuple[Control, ...]:
    """From each controller to each Open vSwitch, or to those that name it."""
    parts = {node.name: NODE_TYPES[node.type].openflow for node in topology.nodes if node.type in NODE_TYPES}
    controllers = [name for name, part in parts.items() if part == "controller"]
    found = []
    for node in topology.nodes:
        own = written.get(node.name, {})
        if parts.get(node.name) != "switch" or not controllers:
            continue
        named = own.get("controller")
        wanted = [named] if isinstance(named, str) else named if isinstance(named, list) else controllers
        for name in wanted:
            if name in controllers:
                channel = own.get("control") or written.get(name, {}).get("control")
                found.append(Control(name, node.name, _words(channel)))
    return tuple(found)


def _mark(type: str) -> Mark | None:
    kind = NODE_TYPES.get(type)
    return None if kind is None else kind.mark


def _about(written: Mapping[str, Any]) -> str:
    """Such as "memory 1 GiB, cpus 1"; empty for a plain node."""
    own = {key: value for key, value in written.items() if key not in GENERAL and value not in (None, [], {}, False)}
    return ", ".join(f"{key} {_words(value)}" for key, value in own.items())


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_words(each) for each in value)
    return "" if value is None else str(value)
