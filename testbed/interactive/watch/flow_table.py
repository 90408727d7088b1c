"""The flows of an Open vSwitch, read from what ovs-ofctl prints. Asks the running network."""

from __future__ import annotations

import re
from typing import Any

from ...error import UserError
from ..connection import run
from ..running_network import RunningNetwork

SCRIPT = 'bridges=$(ovs-vsctl --timeout=5 list-br) && for each in $bridges; do ovs-ofctl dump-flows "$each"; done'
ROWS_MAX = 500
COUNTED = re.compile(r"(table|n_packets|n_bytes|duration)=([\d.]+)s?")
USUAL_PRIORITY = 32768
"""That of a flow of which ovs-ofctl prints none."""
HEAD = re.compile(r"^\s*cookie=")


def flow_table(network: RunningNetwork, switch: str) -> dict[str, Any]:
    """JSON: `rows` in the order in which a switch looks at them, the first ROWS_MAX, and `total`.

    Raises UserError for a node that has no flows, with what Open vSwitch says.
    """
    where = network.where(switch)
    status, out, err = run(network, where, ["sh", "-c", SCRIPT], environment=network.environment(switch))
    if status:
        said = err.decode(errors="replace").strip().splitlines()[-1:] or [f"status {status}"]
        raise UserError(f"{switch} shows no flows: {said[0]}")
    rows = parsed(out.decode(errors="replace"))
    return {"switch": switch, "rows": rows[:ROWS_MAX], "total": len(rows)}


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
