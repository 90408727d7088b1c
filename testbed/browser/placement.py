"""Where a topology's nodes, the bends of its links and its control channels are drawn. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.statistic import FloatArray
from ..codec.frozen import dataclass
from ..model.node.type import NODE_TYPES, Mark
from ..model.topology import Topology
from . import layered
from .graph_layout import place

PLAIN, EMULATED = 1.0, 2.0
"""How long links are: one with an emulator has its facts beside it."""
MANY = 10
"""Fewer nodes need no layers."""
ABOVE = 1.2
"""How far above the rest the nodes without a link are."""


@dataclass(frozen=True)
class Control:
    """A controller's channel to a switch, out of band."""

    controller: str
    switch: str
    about: str


def places(
    topology: Topology, lengths: Mapping[str, float], ends: tuple[str, str], channels: Sequence[Control]
) -> dict[str, tuple[float, float]]:
    """Of all nodes: x and y in lengths of a plain link, y pointing down; of `ends` the first is left of the second.
    `lengths` are those of the links. What no link leads to, as a controller out of band, stands above the rest.
    """
    joined = [node.name for node in topology.nodes if topology.links_of(node.name)]
    apart = [node.name for node in topology.nodes if node.name not in joined]
    if not joined:
        joined, apart = apart, []
    numbers = {name: number for number, name in enumerate(joined)}
    edges = [(numbers[link.ends[0]], numbers[link.ends[1]], lengths[link.name]) for link in topology.links]
    found = _layered(topology, numbers, edges)
    if found is None:
        found = place(len(joined), edges, *(numbers.get(end, 0) for end in ends))
    if apart:
        found[:, 1] += ABOVE
    placed = {name: (round(float(x), 4), round(float(y), 4)) for name, (x, y) in zip(joined, found, strict=True)}
    middle = float(found[:, 0].min() + found[:, 0].max()) / 2
    wanted = {}
    for name in apart:
        below = [placed[each.switch][0] for each in channels if each.controller == name and each.switch in placed]
        wanted[name] = sum(below) / len(below) if below else middle
    last = -np.inf
    for name in sorted(apart, key=lambda name: wanted[name]):
        last = max(last + PLAIN, wanted[name])
        placed[name] = (round(float(last), 4), 0.0)
    return placed


def _layered(
    topology: Topology, numbers: Mapping[str, int], edges: Sequence[tuple[int, int, float]]
) -> FloatArray | None:
    """Of a network of switches and routers over layers of them, with its hosts below; None for another one."""
    if len(numbers) < MANY:
        return None
    pairs = [(a, b) for a, b, _ in edges]
    ends = [numbers[node.name] for node in topology.nodes if node.name in numbers and node.kind.runs_workloads]
    found = layered.layers(len(numbers), pairs, ends)
    return None if found is None else layered.place(found, pairs)


def bends(topology: Topology) -> list[float]:
    """How links between the same ends are set apart: 0 is straight, -1 and 1 are arcs. Of the links between the same
    two nodes the first is bent most to one side, the last to the other.
    """
    groups: dict[frozenset[str], list[str]] = {}
    for link in topology.links:
        groups.setdefault(frozenset(link.ends), []).append(link.name)
    found = {}
    for ends, names in groups.items():
        turns = np.linspace(-1, 1, len(names)) if len(names) > 1 else [0.0]
        for name, turn in zip(names, turns, strict=True):
            found[name] = float(turn) * (1 if topology.link(name).ends[0] == min(ends) else -1)
    return [found[link.name] for link in topology.links]


def channels(topology: Topology, written: Mapping[str, Mapping[str, Any]]) -> tuple[Control, ...]:
    """From each controller to each Open vSwitch, or to those that name it. `written` are the nodes as in a file."""
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
                found.append(Control(name, node.name, words(channel)))
    return tuple(found)


def mark(type: str) -> Mark | None:
    """How nodes of a type are drawn; None for a type that this version does not have."""
    kind = NODE_TYPES.get(type)
    return None if kind is None else kind.mark


def words(value: Any) -> str:
    """A value of a file, in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {words(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(words(each) for each in value)
    return "" if value is None else str(value)
