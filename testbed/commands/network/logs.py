"""`testbed logs`: prints what a controller or a switch of a running network has said."""

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
    node: Annotated[str, typer.Argument(metavar="NODE", help="A controller or an ovs of a running network.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    name: OfNode = None,
) -> None:
    """Of a controller: what its app prints and logs (INFO and above), and why it ended if it did. Of an ovs: the log of
    Open vSwitch.
    """
    network = choose(name, node)
    where, types = network.where(node), {each: about["type"] for each, about in network.about["nodes"].items()}
    file = node_files.log(types[node], node)
    if file is None:
        able = [each for each, type in types.items() if node_files.log(type, each)]
        raise UserError(f"{node} of {network.name} keeps no log; allowed: {one_of(able, node)}")
    words = ["tail", "-n", "+1", *(["-F"] if follow else []), file]
    raise typer.Exit(connection.attend(network, node, where, words, terminal=False, is_text=True))
