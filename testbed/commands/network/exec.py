"""`testbed exec`: runs a command in a node of a running network."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ...error import UserError, visible
from ...interactive import connection
from ...interactive.running_network import choose

SETTINGS = {"context_settings": {"allow_interspersed_args": False}}
"""Options after the node are those of the command, except for `-n NETWORK` right after it."""
EXAMPLES = (
    ("Ping one node from another", "testbed exec client -- ping -c 3 server"),
    ("Look at the addresses of a node in one of several networks", "testbed exec -n wan client -- ip address"),
    ("Save what a node prints", "testbed exec server -- ss -tin > sockets.txt"),
)


OfNode = Annotated[
    str | None,
    typer.Option("--name", "-n", metavar="NETWORK", help="The network, if several have a node of this name."),
]


def exec(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A node of a running network.")],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The command and its arguments.")
    ] = None,
    name: OfNode = None,
) -> None:
    """Its input, output and signals are those of this command, and so is its exit code; 127 means that the node has no
    such program.
    """
    words = command or []
    if name is None and words[:1] in (["-n"], ["--name"]):  # no program has such a name
        name, words = words[1] if len(words) > 1 else None, words[2:]
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise UserError(f"there is no command to run; allowed: testbed exec {node} -- COMMAND, such as -- ip address")
    network = choose(name, node)
    where = network.where(node)
    for event in connection.ask(network, "status")["events"]:
        print(f"! {visible(event)}", file=sys.stderr)
    raise typer.Exit(connection.attend(network, node, where, words, terminal=connection.is_terminal()))
