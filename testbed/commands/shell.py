"""`testbed shell`: a shell in a node of a network that is up."""

from __future__ import annotations

from typing import Annotated

import typer

from ..interactive import connection
from ..interactive.network import choose

WORDS = ["sh", "-c", "command -v bash >/dev/null && exec bash --rcfile /run/trial/shellrc -i; exec sh -i"]
FAR = ["sh", "-i"]


def shell(
    node: Annotated[str, typer.Argument(help="A node of the network.")],
    name: Annotated[
        str | None, typer.Option("--name", "-n", metavar="NAME", help="Which network, if several have such a node.")
    ] = None,
) -> None:
    """Work in a node: a shell there, whose prompt says where. Its end is the end of the command."""
    network = choose(name, node)
    where = network.where(node)
    words = FAR if "on" in where else WORDS
    raise typer.Exit(connection.attend(network, node, where, words, terminal=connection.is_terminal()))
