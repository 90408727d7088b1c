"""`testbed status`: shows the running networks."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from ... import journal
from ...error import MachineError, visible
from ...interactive.connection import Gone
from ...interactive.overview import as_json, overview
from ...interactive.running_network import choose, networks
from ...units import counted
from ..text_table import TIED, Column, Format, FormatOption, Table, literal, paragraph, show, terminal_width

NODE_COLUMNS = (Column("node", names=True), Column("type"), Column("interfaces", wraps=True))
LINK_COLUMNS = (
    Column("link", names=True),
    Column("ends", wraps=True),
    Column("settings", wraps=True),
    Column("passed", wraps=True),
)

MET = {"corrupt": "damaged", "duplicate": "doubled", "reorder": "late"}
"""What faults of links did, beside dropping."""

EXAMPLES = (
    ("Show all running networks", "testbed status"),
    ("Show one of them", "testbed status wan"),
    ("Read the addresses of its nodes in a program", "testbed status wan --format json"),
)


def status(
    name: Annotated[str | None, typer.Argument(metavar="NETWORK", help="A running network; all if left out.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Each link is shown with its settings and with the packets and bytes that it carried forward (→) and backward (←)
    since the start of the network.
    """
    chosen = [each for each in networks() if each.is_ready] if name is None else [choose(name)]
    found: list[dict[str, Any]] = []
    for error in journal.unreadable():
        print(f"passed over: {error}", file=sys.stderr)
    for network in chosen:
        try:
            found.append(overview(network))
        except Gone:  # between two looks
            continue
        except MachineError as damaged:
            print(f"passed over: {damaged}", file=sys.stderr)
    if format is Format.json:
        print(as_json(found))
    elif not found:
        print("no network is running; to start one, type: testbed up TOPOLOGY")
    else:
        for at, each in enumerate(found):
            show([*([""] if at else []), *_lines(each, terminal_width())])


def _lines(network: dict[str, Any], width: int | None) -> list[str]:
    since = datetime.datetime.fromisoformat(network["since"]).astimezone()
    image = f" ({network['image']})" if network["image"] else ""
    head = (
        f"{network['name']}: topology {network['topology']}, kernel {network['kernel']}{image}, "
        f"since {since:%Y-%m-%d %H:%M:%S}, {network['memory_bytes'] / 2**20:.0f} MiB"
    )
    inside = None if width is None else width - 2
    nodes = Table(NODE_COLUMNS, tuple(_node(name, node) for name, node in network["nodes"].items()))
    links = Table(LINK_COLUMNS, tuple(_link(link) for link in network["links"]))
    return [
        *(literal(line) for line in paragraph(head, width).split("\n")),
        *(f"  {line}" for table in (nodes, links) if table.rows for line in table.lines(inside)),
        *(f"  ! {literal(visible(event))}" for event in network["events"]),
    ]


def _node(name: str, node: dict[str, Any]) -> tuple[str, ...]:
    ports = [f"{device} {' '.join(addresses)}".strip() for device, addresses in node["ports"].items()]
    return name, _type(node), _listed(ports)


def _type(node: dict[str, Any]) -> str:
    """With what routing daemons and services have: "router, ospf 2 of 2, dhcp 2 leases, dns office.lab"."""
    found = node.get("routing", {}).get("neighbours", {})
    there = (f"{name} {sum(each.values())} of {len(each)}" for name, each in found.items())
    services = node.get("services", {})
    leases, domain = services.get("leases"), services.get("dns")
    leased = [] if leases is None else [f"dhcp {counted(len(leases), 'lease')}"]
    return visible(", ".join((node["type"], *there, *leased, *([] if domain is None else [f"dns {domain}"]))))


def _link(link: dict[str, Any]) -> tuple[str, ...]:
    ends = f"{TIED}– ".join(f"{end['node']}:{end['device']}" for end in link["ends"])
    return link["name"], ends, written(link["asked"]), _counted(link["seen"])


def written(asked: Mapping[str, Any]) -> str:
    """What is asked of a link, in words."""
    return _listed(f"{key} {_value(value)}" for key, value in asked.items()) or "plain"


def _listed(items: Iterable[str]) -> str:
    """An item is not broken into lines."""
    return ", ".join(item.replace(" ", TIED) for item in items)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return " / ".join(_value(each) for each in value.values())
    return str(value)


def _counted(seen: dict[str, Any] | None) -> str:
    if seen is None:
        return ""
    forward, backward = (
        f"{counted(seen[way]['packets'], 'packet')} {_size(seen[way]['bytes'])}" for way in ("forward", "backward")
    )
    met = [f"{seen[key]} {word}" for key, word in MET.items() if seen.get(key)]
    dropped = [f"{seen['drops']} dropped"] if seen.get("drops") else []
    return _listed([f"→ {forward}", f"← {backward}", *dropped, *met])


def _size(octets: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if octets >= size:
            return f"{octets / size:.1f} {unit}"
    return f"{octets} B"
