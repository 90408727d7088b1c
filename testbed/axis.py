"""Axes: which keys can be varied, and what their values mean. Pure, no I/O.

An axis stands for a key of the topology, of the workload or of the scenario, and its values are read by the
very field that reads that key in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from .document import Document, Fault, Path, mapping
from .error import ValueRefused, nearest, one_of
from .scenariofile import ScenarioFile
from .shape import Shape, check
from .topologyfile import HostFile, LinkFile
from .workloadfile import TOOLS

LINK_KEYS = ("rtt", "delay", "rate", "loss", "buffer", "jitter", "mtu", "schedule", "policy")
DIRECTIONAL = ("delay", "rate", "loss", "buffer", "jitter")
WAYS = ("forward", "backward")
SHORT = ("congestion", "window", "flows", "duration")
"""Keys of the workload that need no "workload." before them."""
WHOLE = ("nic", "kernel")
"""Keys of the scenario itself."""
EXCLUSIVE = {"rtt": "delay", "delay": "rtt", "duration": "bytes", "bytes": "duration"}
"""Setting one of these takes the other away."""

_ALLOWED = f"LINK.KEY (with {', '.join(LINK_KEYS)}), NODE.nic, workload.KEY, {', '.join((*SHORT, *WHOLE))}"


@dataclass(frozen=True)
class AxisKey:
    """What an axis varies: `key` of the link or node `name`, of the workload or of the scenario (name "").

    `text` is the canonical spelling; `way` is one direction of a link, or "" for both.
    """

    text: str
    part: Literal["link", "node", "workload", "scenario"]
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
    """What axes can refer to. `links` None is an unreadable topology, `tool` None an unknown tool."""

    links: tuple[str, ...] | None
    hosts: tuple[str, ...]
    tool: str | None


@dataclass(frozen=True)
class Change:
    """One value of an axis: what it sets, to what, the canonical text of that, and where it is written.

    Only what is `shown` becomes part of a trial's params.
    """

    key: AxisKey
    value: Any
    text: str
    path: Path
    shown: bool = True


def canonical(text: str) -> str:
    """The spelling that stands in params: "flows" for "workload.flows"."""
    word = text.removeprefix("workload.")
    return word if word in SHORT else text


def axis_key(text: str, names: Names) -> AxisKey | None:
    """None if it refers to what could not be read. Raises ValueRefused for what cannot be varied."""
    text = canonical(text)
    first, _, rest = text.partition(".")
    if text in WHOLE:
        return AxisKey(text, "scenario", "", text)
    if text in SHORT or (first == "workload" and rest):
        return _workload_key(text, rest or text, names)
    if not rest:
        raise ValueRefused(
            f"unknown axis {text!r}", one_of((*SHORT, *WHOLE, "LINK.KEY", "NODE.nic", "workload.KEY"), text)
        )
    if names.links is None:
        return None
    if first in names.links:
        return _link_key(text, first, rest)
    if first in names.hosts:
        return _node_key(text, first, rest)
    near = nearest(first, (*names.links, *names.hosts, "workload"))
    raise ValueRefused(
        f"there is no link or host {first!r}",
        _ALLOWED + (f" (did you mean '{near}.{rest}'?)" if near else ""),
    )


def axes(document: Document, names: Names, unshown: frozenset[str]) -> tuple[list[list[Change]], list[Fault]]:
    """The values of every axis of a scenario document that can be read, and the faults of the others."""
    sweep = mapping(mapping(document.data).get("sweep"))
    faults: list[Fault] = []
    found: list[list[Change]] = []
    for text, values in sweep.items():
        path: Path = ("sweep", text)
        try:
            key = axis_key(text, names)
        except ValueRefused as refused:
            faults.append(Fault(path, refused.what, refused.allowed))
            continue
        if key is None or not isinstance(values, list):
            continue
        changes, unread = _changes(key, values, path, names, text not in unshown)
        faults += [*_excluded(key, path, found), *unread, *_repeated(changes)]
        found += [changes] if changes else []
    return found, faults


def _changes(
    key: AxisKey, values: list[Any], path: Path, names: Names, shown: bool
) -> tuple[list[Change], list[Fault]]:
    changes, faults = [], []
    for index, data in enumerate(values):
        value, text, unread = read_value(key, data, names)
        faults += [fault.under(*path, index) for fault in unread]
        if not unread:
            changes.append(Change(key, value, text, (*path, index), shown))
    return changes, faults


def read_value(key: AxisKey, data: Any, names: Names) -> tuple[Any, str, list[Fault]]:
    """The value that the key would have in its file, its canonical text, and what is wrong with it."""
    adapter = _adapter(_shape(key, names), key.key)
    value, faults = check(adapter, {key.way: data} if key.way else data)
    if faults:
        return None, "", faults
    written = adapter.dump_python(value)
    if key.way:
        return getattr(value, key.way), _text(written[key.way] if isinstance(written, dict) else written), []
    return value, _text(written), []


def _shape(key: AxisKey, names: Names) -> type[Shape]:
    if key.part == "workload":
        return TOOLS[names.tool or "flow"]
    shapes: dict[str, type[Shape]] = {"link": LinkFile, "node": HostFile, "scenario": ScenarioFile}
    return shapes[key.part]


@cache
def _adapter(shape: type[Shape], key: str) -> TypeAdapter[Any]:
    info = next(info for name, info in shape.model_fields.items() if (info.alias or name) == key)
    return TypeAdapter(info.rebuild_annotation())


def _text(written: Any) -> str:
    """One line for what a file would say."""
    if isinstance(written, dict):
        return ", ".join(f"{key} {_text(value)}" for key, value in written.items())
    if isinstance(written, list):
        return " + ".join(map(_text, written))
    return "none" if written is None else str(written)


def _excluded(key: AxisKey, path: Path, others: list[list[Change]]) -> Iterator[Fault]:
    for other in (each[0].key for each in others if each[0].key.excludes(key)):
        same = other.text == key.text
        what = (
            f"the axis {key.text} is there twice"
            if same
            else f"the axes {other.text} and {key.text} exclude each other"
        )
        yield Fault(path, what, "one of the two")


def _repeated(changes: list[Change]) -> Iterator[Fault]:
    seen: dict[str, Change] = {}
    for change in changes:
        if seen.setdefault(change.text, change) is not change:
            yield Fault(change.path, f"the value {change.text!r} is there twice", "each value once", named=True)


def _workload_key(text: str, key: str, names: Names) -> AxisKey | None:
    if names.tool is None:
        return None
    known = [each for each in TOOLS[names.tool].known_keys() if each != "tool"]
    if key not in known:
        raise ValueRefused(f"{names.tool} has no {key!r} to vary", one_of([f"workload.{each}" for each in known], text))
    return AxisKey(text, "workload", "", key)


def _node_key(text: str, host: str, key: str) -> AxisKey:
    if key != "nic":
        raise ValueRefused(f"a host has no {key!r} to vary", f"{host}.nic")
    return AxisKey(text, "node", host, key)


def _link_key(text: str, link: str, rest: str) -> AxisKey:
    key, _, way = rest.partition(".")
    if key not in LINK_KEYS:
        raise ValueRefused(f"a link has no {key!r} to vary", one_of([f"{link}.{each}" for each in LINK_KEYS], text))
    if way and (way not in WAYS or key not in DIRECTIONAL):
        directed = "delay" if key == "rtt" else key
        ways = [f"{link}.{directed}.{each}" for each in WAYS if directed in DIRECTIONAL]
        raise ValueRefused(f"{key} has no {way!r}", one_of([f"{link}.{key}", *ways], text))
    return AxisKey(text, "link", link, key, way)
