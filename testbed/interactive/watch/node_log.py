"""The end of the log of a node of a running network. Asks the running network."""

from __future__ import annotations

from typing import Any

from ...error import UserError, harmless, one_of
from .. import node_files
from ..connection import run
from ..running_network import RunningNetwork

LINES, BYTES = 200, 1 << 18


def logged(network: RunningNetwork) -> dict[str, tuple[str, ...]]:
    """The files of the log of each node that has one, as programs in it see them."""
    files = {
        name: node_files.logs(about["type"], name, finds_routes="routing" in about, serves="serves" in about)
        for name, about in network.about["nodes"].items()
    }
    return {name: each for name, each in files.items() if each}


def node_log(network: RunningNetwork, node: str) -> dict[str, Any]:
    """JSON: the last LINES of what the last run of a node's program has said, and the nodes that have a log.

    Raises UserError for a node that has none.
    """
    able = logged(network)
    if node not in able:
        allowed = one_of(tuple(able), node, "none: no controller, no ovs, no router with routing, no server")
        raise UserError(f"{node} of {network.name} keeps no log; allowed: {allowed}")
    words = ["sh", "-c", node_files.LAST_RUN, able[node][0]]
    last = f'sh -c "$0" "$1" | tail -n {LINES} | tail -c {BYTES}'
    _, out, _ = run(network, network.where(node), ["sh", "-c", last, words[2], words[3]])
    return {"node": node, "nodes": list(able), "text": harmless(out.decode(errors="replace"))}
