"""`testbed exec`: one command in a node of a network that is up."""

from __future__ import annotations

from typing import Annotated

import typer

from ...error import UserError
from ...interactive import connection
from ...interactive.running_network import choose

SETTINGS = {"context_settings": {"allow_interspersed_args": False}}
"""What follows the node is the command's."""


def exec(
    node: Annotated[str, typer.Argument(help="A node of the network.")],
    command: Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND…", help="What to run there.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", metavar="NAME", help="Which network, if several have such a node.")
    ] = None,
) -> None:
    """Run a command in a node, with this command's input, output and exit code (127: no such program there)."""
    words = command or []
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise UserError(f"say what to run; allowed: testbed exec {node} -- COMMAND, such as -- ip address")
    network = choose(name, node)
    where = network.where(node)
    raise typer.Exit(connection.attend(network, node, where, words, terminal=connection.is_terminal()))
