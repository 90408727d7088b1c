"""The drawing of a run's networks: nodes with their places, links with what they do, control channels. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..browser import placement
from ..browser.placement import EMULATED, PLAIN, Control
from ..codec.frozen import dataclass
from ..model.node.type import Mark
from ..model.scenario import Trial
from ..model.topology import Link, Topology
from .caption import Fact, facts
from .stored_run import StoredRun

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
    channels = placement.channels(topology, written)
    links = {link.name: [trial.topology.link(link.name) for trial in trials] for link in topology.links}
    lengths = {link.name: _length(links[link.name]) for link in topology.links}
    places = placement.places(topology, lengths, (first.workload.source, first.workload.destination), channels)
    spots = tuple(
        Spot(node.name, node.type, *places[node.name], _about(written.get(node.name, {})), placement.mark(node.type))
        for node in topology.nodes
    )
    by_name = {spot.name: spot for spot in spots}
    return Drawing(
        name=topology.name,
        description=topology.description,
        spots=spots,
        lines=tuple(
            _line(link, links[link.name], bend, by_name)
            for link, bend in zip(topology.links, placement.bends(topology), strict=True)
        ),
        controls=channels,
        trials=len(trials),
    )


def _line(link: Link, in_trials: Sequence[Link], bend: float, spots: Mapping[str, Spot]) -> Line:
    known = facts(in_trials)
    is_backward = spots[link.ends[0]].x > spots[link.ends[1]].x
    drawn = tuple(each.turned() for each in known) if is_backward else known
    return Line(link.name, link.ends, bend, any(each.is_emulated for each in in_trials), known, drawn)


def _length(links: Sequence[Link]) -> float:
    return EMULATED if any(link.is_emulated for link in links) else PLAIN


def _about(written: Mapping[str, Any]) -> str:
    """Such as "memory 1 GiB, cpus 1"; empty for a plain node."""
    own = {key: value for key, value in written.items() if key not in GENERAL and value not in (None, [], {}, False)}
    return ", ".join(f"{key} {placement.words(value)}" for key, value in own.items())
