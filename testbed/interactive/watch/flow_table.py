"""The flows of an Open vSwitch, read from what ovs-ofctl prints. Asks the running network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...codec.frozen import dataclass
from ...error import UserError
from ..connection import run
from ..running_network import RunningNetwork

SCRIPT = 'bridges=$(ovs-vsctl --timeout=30 list-br) && for each in $bridges; do ovs-ofctl dump-flows "$each"; done'
ROWS_MAX = 500
COUNTED = re.compile(r"(table|n_packets|n_bytes|duration)=([\d.]+)s?")
PORT = re.compile(r"eth(\d+)")
"""The device of a port: eth0 has the number 1."""
USUAL_PRIORITY = 32768
"""That of a flow of which ovs-ofctl prints none."""
HEAD = re.compile(r"^\s*cookie=")
WORTH_A_NAME = re.compile(
    r"\b(?:in_port=|output:|enqueue:)(\d+)\b(?![.\w])"
    r"|(?:(?<==)|(?<=set_field:)|(?<=mod_[dn][lw]_(?:src|dst):))"
    r"((?:[0-9a-f]{2}:){5}[0-9a-f]{2}|\d{1,3}(?:\.\d{1,3}){3})(?![\w./:])",
    re.IGNORECASE,
)
"""The number of a port, or a whole address: of networks nobody is the owner."""


def flow_table(network: RunningNetwork, switch: str) -> dict[str, Any]:
    """JSON: `rows` in the order in which a switch looks at them, the first ROWS_MAX, and `total`. What a row matches
    and does is there twice: as ovs-ofctl has it, and `told` with the names behind ports and addresses.

    Raises UserError for a node that has no flows, with what Open vSwitch says.
    """
    where = network.where(switch)
    status, out, err = run(network, where, ["sh", "-c", SCRIPT], environment=network.environment(switch))
    if status:
        said = err.decode(errors="replace").strip().splitlines()[-1:] or [f"status {status}"]
        raise UserError(f"{switch} shows no flows: {said[0]}")
    rows, names = parsed(out.decode(errors="replace")), names_at(network.about, switch)
    rows = [{**row, "told": {key: names.told(row[key]) for key in ("match", "actions")}} for row in rows]
    return {"switch": switch, "rows": rows[:ROWS_MAX], "total": len(rows)}


@dataclass(frozen=True)
class Names:
    """What numbers and addresses in the flow tables of a switch mean: the node behind each of its ports, and the owner
    of each address, MAC addresses too.
    """

    ports: Mapping[int, str]
    owners: Mapping[str, str]

    def told(self, text: str) -> str:
        """A match or actions, with the name behind each number of a port and each address: "output:2 (s2)"."""
        return WORTH_A_NAME.sub(lambda found: found[0] + self._name(found), text)

    def _name(self, found: re.Match[str]) -> str:
        number, address = found[1], found[2]
        name = self.ports.get(int(number)) if number is not None else self.owners.get(address.lower())
        return "" if name is None else f" ({name})"


def names_at(about: Mapping[str, Any], switch: str) -> Names:
    """The names for a switch of a running network, as it was started."""
    ports: dict[int, str] = {}
    owners: dict[str, str] = {}
    for link in about["links"]:
        for end, other in (link["ends"], link["ends"][::-1]):
            if end["node"] == switch and (number := PORT.fullmatch(end["device"])) is not None:
                ports[int(number[1]) + 1] = other["node"]
    for name, node in about["nodes"].items():
        owners |= {mac: name for mac in node.get("macs", ())}
        owners |= {address.partition("/")[0]: name for known in node["ports"].values() for address in known}
    return Names(ports, owners)


def parsed(text: str) -> list[dict[str, Any]]:
    """The flows in what ovs-ofctl dump-flows prints, tables first, then the highest priority."""
    rows = [_row(line) for line in text.splitlines() if HEAD.match(line)]
    return sorted(rows, key=lambda row: (row["table"], -row["priority"]))


def _row(line: str) -> dict[str, Any]:
    """`match` is empty for all packets; `actions` are those of ovs-ofctl."""
    head, _, actions = line.strip().partition(" actions=")
    *about, last = head.split(", ")
    counted = dict(COUNTED.findall(", ".join(about)))
    words = last.rpartition(" ")[2].split(",")  # flags stand before the match
    named = [word.removeprefix("priority=") for word in words if word.startswith("priority=")]
    return {
        "table": int(counted.get("table", 0)),
        "priority": int(named[0]) if named and named[0].isdigit() else USUAL_PRIORITY,
        "packets": int(counted["n_packets"]) if "n_packets" in counted else None,
        "bytes": int(counted["n_bytes"]) if "n_bytes" in counted else None,
        "age_s": float(counted["duration"]) if "duration" in counted else None,
        "match": ",".join(word for word in words if not word.startswith(("priority=", "cookie="))),
        "actions": actions,
    }
