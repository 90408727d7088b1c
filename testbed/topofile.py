"""A Mininet topology in Python, as a topology file names it, and the nodes and links that it comes to. Pure, no I/O.

What the class says in Mininet's words becomes what a topology file says: bw, delay, jitter, loss and max_queue_size of
links, the addresses of hosts, and STP of switches. An option that we cannot follow is refused, not left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field, PlainValidator, TypeAdapter, WithJsonSchema

from .error import ValueRefused
from .reader import NAME_PATTERN
from .shape import Shape

PLACE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)")
ALLOWED = "FILE.py:CLASS, or {file: FILE.py, class: CLASS, args: {…}}"
HOST_CLASSES = {None, "Host", "CPULimitedHost", "Node"}
LINK_CLASSES = {None, "Link", "TCLink", "TCULink"}
SWITCH_CLASSES = {None, "LinuxBridge", "OVSSwitch", "OVSKernelSwitch", "OVSBridge"}
WITHOUT_EFFECT = {
    "cpu",
    "cores",
    "sched",
    "defaultRoute",
    "batch",
    "dpid",
    "listenPort",
    "failMode",
    "protocols",
    "prio",
}
"""Options of nodes that change nothing here: computing is free in virtual time, routes are worked out from the links,
and the switches are bridges."""
OF_LINKS = {"gro", "txo", "rxo", "fast", "port", "delete"}
"""Options of links that change nothing here; ports are in the order of the links."""
TC_UNITS = {"": 1e3, "us": 1e3, "usec": 1e3, "usecs": 1e3, "ms": 1e6, "msec": 1e6, "msecs": 1e6}
TC_UNITS |= {"ns": 1.0, "s": 1e9, "sec": 1e9, "secs": 1e9}
"""A time without a unit is in µs for tc."""


class TopoFile(Shape):
    """A class of a Python file."""

    file: str = Field(description="Seen from the folder of this one.")
    name: str = Field(alias="class", description="A class derived from Mininet's Topo, or a key of the file's topos.")
    args: dict[str, Any] = Field({}, description="What its build() is called with.")


def read_topo(value: object) -> TopoFile:
    if isinstance(value, dict):
        args = value.get("args")
        typed = {"args": {key: _typed(one) for key, one in args.items()}} if isinstance(args, dict) else {}
        return TopoFile.model_validate({**value, **typed})
    found = PLACE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueRefused("this names no class in a Python file", ALLOWED)
    return TopoFile.model_validate({"file": found["file"], "class": found["name"]})


def _typed(value: object) -> object:
    """Spec files are read as text: numbers, true and false for the class."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


TopoField = Annotated[
    TopoFile,
    PlainValidator(read_topo),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "pattern": r"^.+\.py:[A-Za-z_].*$"}, TopoFile.model_json_schema()],
            "description": "A Mininet topology in Python, in place of nodes and links.",
        }
    ),
]
TOPO = TypeAdapter[Any](TopoField)


def network(said: Mapping[str, Any]) -> dict[str, Any]:
    """The nodes and links of a topology file, from what the driver read. Raises ValueRefused for what we cannot do."""
    names = _names([node["name"] for node in said["nodes"]])
    degree = [end for link in said["links"] for end in link["ends"]]
    hosts = [node["name"] for node in said["nodes"] if not node["is_switch"]]
    alone = all(degree.count(name) <= 1 for name in hosts)
    nodes = {}
    for node in said["nodes"]:
        number = hosts.index(node["name"]) + 1 if node["name"] in hosts and alone else None
        nodes[names[node["name"]]] = _switch(node) if node["is_switch"] else _host(node, number)
    links = {}
    for link in said["links"]:
        first, second = (names[end] for end in link["ends"])
        links[f"{first}-{second}"[:32]] = {"ends": [first, second], **_link(link)}
    return {"nodes": nodes, "links": links}


def _names(given: list[str]) -> dict[str, str]:
    """Mininet's names to ours, which are in lower case and have no '_'."""
    names = {name: re.sub(r"[^a-z0-9-]", "-", name.lower()) for name in given}
    for name, ours in names.items():
        if not re.fullmatch(NAME_PATTERN, ours):
            raise ValueRefused(f"the node name {name!r} cannot be one here", f"names that match {NAME_PATTERN}")
    taken: dict[str, str] = {}
    for name, ours in names.items():
        if taken.setdefault(ours, name) != name:
            raise ValueRefused(f"the node names {taken[ours]!r} and {name!r} are both {ours!r} here", "other names")
    return names


def _host(node: Mapping[str, Any], number: int | None) -> dict[str, Any]:
    """`number` gives the address that Mininet would: 10.0.0.NUMBER/8; None leaves it to the plan."""
    options = _known(node, HOST_CLASSES, {"ip", *WITHOUT_EFFECT})
    ip = options.get("ip") or (f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}/8" if number else None)
    if ip and "/" not in ip:
        ip += "/8"
    return {"type": "host", **({"addresses": [ip]} if ip else {})}


def _switch(node: Mapping[str, Any]) -> dict[str, Any]:
    options = _known(node, SWITCH_CLASSES, {"stp", *WITHOUT_EFFECT})
    return {"type": "switch", "stp": "true" if options.get("stp") else "false"}


def _link(link: Mapping[str, Any]) -> dict[str, Any]:
    """Of two ways that differ, each has its own; `params1` is for the way from the first end."""
    options = _known(link, LINK_CLASSES, {*LINK_KEYS, *OF_LINKS, "params1", "params2"})
    ways = [
        {key: one for key, one in {**options, **(options.get(side) or {})}.items() if one is not None}
        for side in ("params1", "params2")
    ]
    found: dict[str, Any] = {}
    for key, (ours, read) in LINK_KEYS.items():
        forward, backward = (read(way[key]) if key in way and way[key] != 0 else None for way in ways)
        if forward == backward and ours != "loss":  # one loss for both would be for the data's direction only
            found |= {ours: forward} if forward is not None else {}
        elif forward is not None or backward is not None:
            found[ours] = {w: v for w, v in (("forward", forward), ("backward", backward)) if v is not None}
    if "buffer" in found and "rate" not in found:
        raise ValueRefused(f"{_of(link)} has a max_queue_size and no bw", "bw with it: a queue builds before a rate")
    return found


def _known(part: Mapping[str, Any], classes: set[str | None], allowed: set[str]) -> dict[str, Any]:
    options = {key: value for key, value in part["options"].items() if value not in (None, [], {}, "")}
    if part["class"] not in classes:
        known = ", ".join(sorted(name for name in classes if name))
        raise ValueRefused(f"{_of(part)} is a {part['class']}", known)
    for key in options:
        if key not in allowed:
            raise ValueRefused(f"{_of(part)} has the option {key!r}", ", ".join(sorted(allowed)))
    return options


def _of(part: Mapping[str, Any]) -> str:
    return str(part["name"]) if "name" in part else f"the link {part['ends'][0]}-{part['ends'][1]}"


def _rate(bw: Any) -> str:
    return f"{round(float(bw) * 10**6)} bit/s"


def _time(text: Any) -> str:
    found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", str(text))
    if found is None or found[2] not in TC_UNITS:
        raise ValueRefused(f"{text!r} is no time for tc", "such as '5ms'")
    return f"{round(float(found[1]) * TC_UNITS[found[2]])} ns"


def _loss(percent: Any) -> dict[str, str] | None:
    return {"random": f"{float(percent):.5f} %"}


def _packets(count: Any) -> str:
    return f"{math.floor(count)} packets"


LINK_KEYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "bw": ("rate", _rate),
    "delay": ("delay", _time),
    "jitter": ("jitter", _time),
    "loss": ("loss", _loss),
    "max_queue_size": ("buffer", _packets),
}
