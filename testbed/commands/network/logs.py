"""`testbed logs`: prints what a controller, a switch or a router of a running network has said."""

from __future__ import annotations

from typing import Annotated

import typer

from ...error import UserError, one_of
from ...interactive import connection, node_files
from ...interactive.running_network import choose
from .exec import OfNode

EXAMPLES = (
    ("See what the app of a controller prints and logs", "testbed logs c0"),
    ("Wait for more", "testbed logs c0 --follow"),
)


def logs(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A controller, an ovs, a router with FRR, a server.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    name: OfNode = None,
) -> None:
    """For a controller: the output and logs (INFO and above) of its app, and why it ended, if it did. For an ovs: the
    log of Open vSwitch; for a router: the log of FRR; for a DHCP or DNS server: requests and answers.
    """
    network = choose(name, node)
    where = network.where(node)
    files = {
        each: node_files.logs(about["type"], each, finds_routes="routing" in about, serves="serves" in about)
        for each, about in network.about["nodes"].items()
    }
    if not files[node]:
        able = [each for each, has in files.items() if has]
        allowed = one_of(able, node, "none, it has no controller, no ovs, no router with routing and no server")
        raise UserError(f"{node} of {network.name} keeps no log; allowed: {allowed}")
    words = ["tail", "-n", "+1", *(["-F"] if follow else []), *files[node]]
    raise typer.Exit(connection.attend(network, node, where, words, terminal=False, is_text=True))
