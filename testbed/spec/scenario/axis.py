"""Axes: which keys can be varied, and what their values mean. Pure, no I/O.

An axis stands for a key of the topology, of the workload or of the scenario, and its values are read by the
very field that reads that key in a file. `dimension` has what a sweep makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...codec.fault import Fault, Path
from ...codec.keyed import Keyed, keys
from ...codec.kind import SYSCTLS
from ...codec.scalar import SYSCTL_PATTERN
from ...error import ValueRefused, nearest, one_of
from ...model.background import PATTERNS
from ...model.link.impairment import IMPAIRMENTS
from ...model.node.type import NODE_TYPES
from ...model.run_setting import Kernel
from ...model.workload.tool import TOOLS
from ..topology.file import NODE_FILES, LinkFile, TopologyFile
from ..topology.link.direction import WAYS
from ..topology.link.impaired import EITHER_OR, TOTALS
from ..topology.link.impairment import in_params
from ..topology.link.trace import short
from ..topology.node.openflow import ControlFile
from .file import ScenarioFile

_DIRECTIONAL = tuple(row for row in IMPAIRMENTS.values() if row.varies_by_direction)
_WHOLE = tuple(key for row in IMPAIRMENTS.values() if not row.varies_by_direction for key in row.keys)
DIRECTIONAL = tuple(row.key for row in _DIRECTIONAL)
LINK_KEYS = (*(key for row in _DIRECTIONAL for key in row.keys), "mtu", "schedule", *_WHOLE)
CONTROL_KEYS = tuple(key for row in IMPAIRMENTS.values() if row.on_channel for key in row.keys)
"""Of the channel to a controller."""
SHORT = ("congestion", "window", "flows", "duration")
"""Keys of the workload that need no "workload." before them."""
WHOLE = ("nic", "ip", "neighbours", "kernel", "engine", "topology")
"""Keys of the scenario itself."""
SYSCTL = "sysctls."
"""Before the name of a sysctl of all hosts."""
EXCLUSIVE = {**EITHER_OR, "duration": "bytes", "bytes": "duration"}
"""Setting one of these takes the other away."""

_GENERAL = ("NODE.nic", "VM.KEY", "NODE.control.KEY", "workload.KEY", "background.NAME.KEY", "sysctls.NAME")
_ALLOWED = f"LINK.KEY (with {', '.join(LINK_KEYS)}), {', '.join((*_GENERAL, *SHORT, *WHOLE))}"


Part: TypeAlias = Literal["link", "node", "controller", "workload", "background", "scenario", "sysctl"]


@dataclass(frozen=True)
class AxisKey:
    """What an axis varies: `key` of the link, node, controller or background `name`, of the workload or of the
    scenario (name "").

    `text` is the canonical spelling; `way` is one direction of a link, or "" for both. A sysctl has its own name.
    """

    text: str
    part: Part
    name: str
    key: str
    way: str = ""

    def excludes(self, other: AxisKey) -> bool:
        """Whether the two set the same thing, or things of which there can be one only."""
        if (self.part, self.name) != (other.part, other.name):
            return False
        same = self.key == other.key and (self.way == other.way or not (self.way and other.way))
        return same or EXCLUSIVE.get(self.key) == other.key


@dataclass(frozen=True)
class Names:
    """What axes can refer to. `links` None is an unreadable topology, `tool` None an unknown tool.

    `backgrounds` has the pattern of each, None for an unknown one.

    Of several topologies, `links` and `hosts` are what all of them have, and `partial` what only some have.
    `types` are the node types that each host has in them.
    `topologies` are the files that an axis names, by what it says; None is one with problems of its own.
    """

    links: tuple[str, ...] | None
    hosts: tuple[str, ...]
    tool: str | None
    partial: tuple[str, ...] = ()
    topologies: Mapping[str, TopologyFile | None] = field(default_factory=dict)
    backgrounds: Mapping[str, str | None] = field(default_factory=dict)
    controllers: tuple[str, ...] = ()
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One value of an axis: what it sets, to what, the canonical text of that, and where it is written.

    Only what is `shown` becomes part of a trial's params. A value that no line says is `derived` from a range.
    """

    key: AxisKey
    value: Any
    text: str
    path: Path
    shown: bool = True
    derived: bool = False


def canonical(text: str) -> str:
    """The spelling that stands in params: "flows" for "workload.flows"."""
    word = text.removeprefix("workload.")
    return word if word in SHORT else text


def members(text: str) -> tuple[str, ...]:
    """The axes, in canonical spelling, that a key of a sweep names: several in a group, "path.rtt+flows"."""
    return tuple(canonical(part.strip()) for part in text.split("+"))


def axis_key(text: str, names: Names) -> AxisKey | None:
    """None if it refers to what could not be read. Raises ValueRefused for what cannot be varied."""
    text = canonical(text)
    first, _, rest = text.partition(".")
    if text in WHOLE:
        return AxisKey(text, "scenario", "", text)
    if text in SHORT or (first == "workload" and rest):
        return _workload_key(text, rest or text, names)
    if first == "background" and "." in rest:
        return _background_key(text, rest, names)
    if first == "sysctls" and rest:
        return _sysctl_key(text, rest)
    if not rest:
        raise ValueRefused(f"unknown axis {text!r}", one_of((*SHORT, *WHOLE, "LINK.KEY", *_GENERAL), text))
    if names.links is None:
        return None
    if first in names.links:
        return _link_key(text, first, rest)
    if first in names.hosts:
        return _node_key(text, first, rest, names)
    if first in names.controllers:
        return _control_key(text, first, rest)
    if first in names.partial:
        raise ValueRefused(
            f"not every topology has a link or host {first!r}, and an axis varies it in all of them",
            ", ".join((*names.links, *names.hosts, *names.controllers)) or "names that all of them have",
        )
    near = nearest(first, (*names.links, *names.hosts, *names.controllers, "workload"))
    raise ValueRefused(
        f"there is no link or host {first!r}",
        _ALLOWED + (f" (did you mean '{near}.{rest}'?)" if near else ""),
    )


def read_value(key: AxisKey, data: Any, names: Names) -> tuple[Any, str, list[Fault]]:
    """The value that the key would have in its file, its canonical text, and what is wrong with it.

    A topology with problems of its own is None with nothing wrong.
    """
    if key.part == "sysctl":
        named, faults = SYSCTLS.checked({key.name: data})
        text = "" if named is None else dict(named)[key.name]
        return text, text, faults
    if key.key == "topology":
        return _read_topology(data, names)
    own = keys(_keys_of(key, names))[key.key]
    value, faults = own.checked({key.way: data} if key.way else data)
    if faults:
        return None, "", faults
    written = own.full(value)
    one = written.get(key.way) if key.way and isinstance(written, dict) else written
    found = getattr(value, key.way) if key.way else value
    text = _text(value if isinstance(value, Kernel) else one)
    return found, in_params(key.key, text) if key.part == "link" else text, []


def _read_topology(data: Any, names: Names) -> tuple[TopologyFile | None, str, list[Fault]]:
    if not isinstance(data, str):
        return (
            None,
            "",
            [
                Fault(
                    (), "this does not name a file", "a topology file, relative to the folder of this file", named=True
                )
            ],
        )
    if data not in names.topologies:
        return (
            None,
            "",
            [Fault((), f"{data!r} is not one of the topologies", one_of([*names.topologies], data), named=True)],
        )
    file = names.topologies[data]
    return file, file.name if file else "", []


def _keys_of(key: AxisKey, names: Names) -> type[Keyed]:
    if key.part == "workload":
        return TOOLS[names.tool or "flow"]
    if key.part == "background":
        return PATTERNS[names.backgrounds[key.name] or "constant"]
    if key.part == "node":
        return NODE_FILES[names.types[key.name][0]]
    classes: dict[str, type[Keyed]] = {"link": LinkFile, "controller": ControlFile, "scenario": ScenarioFile}
    return classes[key.part]


def _text(written: Any) -> str:
    """One line for what a file would say."""
    written = short(written)
    if isinstance(written, Kernel):
        return written.kind if written.name is None else f"{written.kind}:{written.name}"
    if isinstance(written, dict):
        return ", ".join(f"{key} {_text(value)}" for key, value in written.items())
    if isinstance(written, list):
        return " + ".join(map(_text, written))
    return "none" if written is None else str(written)


def _workload_key(text: str, key: str, names: Names) -> AxisKey | None:
    if names.tool is None:
        return None
    known = [each for each in TOOLS[names.tool].known_keys() if each != "tool"]
    if key not in known:
        raise ValueRefused(f"{names.tool} has no {key!r} to vary", one_of([f"workload.{each}" for each in known], text))
    return AxisKey(text, "workload", "", key)


def _background_key(text: str, rest: str, names: Names) -> AxisKey | None:
    name, _, key = rest.partition(".")
    if name not in names.backgrounds:
        allowed = one_of([f"background.{each}.{key}" for each in names.backgrounds], text)
        raise ValueRefused(f"there is no background {name!r} to vary", allowed or "names under the key 'background'")
    pattern = names.backgrounds[name]
    if pattern is None:
        return None
    known = [each for each in PATTERNS[pattern].known_keys() if each != "pattern"]
    if key not in known:
        allowed = one_of([f"background.{name}.{each}" for each in known], text)
        raise ValueRefused(f"{pattern} has no {key!r} to vary", allowed)
    return AxisKey(text, "background", name, key)


def _sysctl_key(text: str, name: str) -> AxisKey:
    if not re.fullmatch(SYSCTL_PATTERN, name):
        raise ValueRefused(f"{name!r} is not the name of a sysctl", "a name such as sysctls.net.ipv4.tcp_ecn")
    return AxisKey(text, "sysctl", name, "sysctls")


def _node_key(text: str, host: str, key: str, names: Names) -> AxisKey:
    types = names.types[host]
    known = [each for each in NODE_FILES[types[0]].varied if all(each in NODE_FILES[type].varied for type in types)]
    if key not in known:
        nouns = " or a ".join(dict.fromkeys(NODE_TYPES[type].noun for type in types))
        raise ValueRefused(f"a {nouns} has no {key!r} to vary", one_of([f"{host}.{each}" for each in known], text))
    return AxisKey(text, "node", host, key)


def _control_key(text: str, controller: str, rest: str) -> AxisKey:
    _, *keys = rest.split(".")
    known = [f"{controller}.control.{each}" for each in CONTROL_KEYS]
    if not (rest.startswith("control.") and keys[0] in CONTROL_KEYS):
        raise ValueRefused(f"a controller has no {rest!r} to vary", one_of(known, text))
    key, *way = keys
    if way and (len(way) > 1 or way[0] not in WAYS or key not in DIRECTIONAL):
        directed = TOTALS.get(key, key)
        ways = [f"{controller}.control.{directed}.{each}" for each in WAYS]
        raise ValueRefused(f"{key} has no {'.'.join(way)!r}", one_of([f"{controller}.control.{key}", *ways], text))
    return AxisKey(text, "controller", controller, key, *way)


def _link_key(text: str, link: str, rest: str) -> AxisKey:
    key, _, way = rest.partition(".")
    if key not in LINK_KEYS:
        raise ValueRefused(f"a link has no {key!r} to vary", one_of([f"{link}.{each}" for each in LINK_KEYS], text))
    if way and (way not in WAYS or key not in DIRECTIONAL):
        directed = TOTALS.get(key, key)
        ways = [f"{link}.{directed}.{each}" for each in WAYS if directed in DIRECTIONAL]
        raise ValueRefused(f"{key} has no {way!r}", one_of([f"{link}.{key}", *ways], text))
    return AxisKey(text, "link", link, key, way)
