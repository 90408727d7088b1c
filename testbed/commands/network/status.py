"""`testbed status`: the networks that are up."""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from ...interactive.connection import Gone
from ...interactive.overview import as_json, overview
from ...interactive.running_network import choose, networks


class Format(StrEnum):
    table = "table"
    json = "json"


def status(
    name: Annotated[str | None, typer.Argument(help="One network (all).")] = None,
    format: Annotated[Format, typer.Option(help="How to print it: table or json.")] = Format.table,
) -> None:
    """Say which networks are up, with their nodes, their links and what has passed through these."""
    chosen = [each for each in networks() if each.is_ready] if name is None else [choose(name)]
    found: list[dict[str, Any]] = []
    for network in chosen:
        try:
            found.append(overview(network))
        except Gone:  # between two looks
            continue
    if format is Format.json:
        print(as_json(found))
    elif not found:
        print("no network is up; to have one, type: testbed up TOPOLOGY")
    else:
        print("\n\n".join(_text(each) for each in found))


def _text(network: dict[str, Any]) -> str:
    since = datetime.datetime.fromisoformat(network["since"]).astimezone()
    image = f" ({network['image']})" if network["image"] else ""
    lines = [
        f"{network['name']}: topology {network['topology']}, kernel {network['kernel']}{image}, "
        f"since {since:%Y-%m-%d %H:%M:%S}, {network['memory_bytes'] / 2**20:.0f} MiB",
        *_table([_node(name, node) for name, node in network["nodes"].items()]),
        *_table([_link(link) for link in network["links"]]),
        *(f"  ! {event}" for event in network["events"]),
    ]
    return "\n".join(lines)


def _node(name: str, node: dict[str, Any]) -> tuple[str, ...]:
    ports = [f"{device} {' '.join(addresses)}".strip() for device, addresses in node["ports"].items()]
    return name, node["type"], ", ".join(ports)


def _link(link: dict[str, Any]) -> tuple[str, ...]:
    ends = " – ".join(f"{end['node']}:{end['device']}" for end in link["ends"])
    asked = ", ".join(f"{key} {_value(value)}" for key, value in link["asked"].items())
    return link["name"], ends, asked or "plain", _counted(link["seen"])


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return " / ".join(_value(each) for each in value.values())
    return str(value)


def _counted(seen: dict[str, Any] | None) -> str:
    if seen is None:
        return ""
    forward, backward = (
        f"{seen[way]['packets']} packets {_size(seen[way]['bytes'])}" for way in ("forward", "backward")
    )
    drops = f", {seen['drops']} dropped" if seen.get("drops") else ""
    return f"→ {forward}, ← {backward}{drops}"


def _size(octets: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if octets >= size:
            return f"{octets / size:.1f} {unit}"
    return f"{octets} B"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
