"""What a secret may draw of an exercise's network, so that marking has a network that no student has seen. Pure, no
I/O.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..codec.keyed import Keyed, Kind, key, named
from ..codec.kind import FLAG, LINES, NAME, listed, table, whole
from ..codec.scalar import word

FILE_NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
FILE_NAME_ALLOWED = "letters, digits, '.', '_' and '-', without folders"
FILE_NAME = Kind(
    word(FILE_NAME_PATTERN, "the name of a file", FILE_NAME_ALLOWED),
    schema={"type": "string", "pattern": f"^{FILE_NAME_PATTERN}$"},
)


@named
class DrawFile(Keyed):
    """`draw` of exercise.yaml."""

    addresses: tuple[str, ...] = key(
        "addresses", listed(NAME), "Hosts that get another address of their network.", default=()
    )
    macs: tuple[str, ...] = key("macs", listed(NAME), "Hosts that get another MAC address.", default=())
    hosts: int = key("hosts", whole(0, 20), "Up to so many more hosts, at least one, at the switches.", default=0)
    ports: bool = key("ports", FLAG, "Whether the ports of all nodes have other numbers.", default=False)
    files: Mapping[str, str] = key(
        "files",
        table(FILE_NAME, LINES),
        "Given files that describe the network, with {NODE.ip}, {NODE.mac} and {SWITCH.port.NODE}.",
        default={},
    )
