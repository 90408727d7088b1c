"""`testbed logs`: prints what a controller, a switch or a router of a running network has said."""

from __future__ import annotations

from typing import Annotated

import typer

from ...error import UserError, one_of
from ...interactive import connection, node_files
from ...interactive.running_network import choose
from ...interactive.watch.node_log import logged
from .exec import OfNode

EXAMPLES = (
    ("See what the app of a controller prints and logs", "testbed logs c0"),
    ("Wait for more", "testbed logs c0 --follow"),
    ("Compare with what it said before the reload", "testbed logs c0 --all"),
)


def logs(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A controller, an ovs, a router with FRR, a server.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Earlier runs, too, each with its beginning.")] = False,
    name: OfNode = None,
) -> None:
    """For a controller: the output and logs (INFO and above) of its app, what switches refused, and why it ended, if it
    did. For an ovs: the log of Open vSwitch; for a router: the log of FRR; for a DHCP or DNS server: requests and
    answers. Lines have their time; only what was said since the last start or reload is printed.
    """
    network = choose(name, node)
    where = network.where(node)
    files = logged(network)
    if node not in files:
        allowed = one_of(tuple(files), node, "none, it has no controller, no ovs, no router with routing and no server")
        raise UserError(f"{node} of {network.name} keeps no log; allowed: {allowed}")
    more = ["-F"] if follow else []
    if all or len(files[node]) > 1:
        words = ["tail", "-n", "+1", *more, *files[node]]
    else:
        words = ["sh", "-c", node_files.LAST_RUN, *files[node], *more]
    raise typer.Exit(connection.attend(network, node, where, words, terminal=False, is_text=True))
