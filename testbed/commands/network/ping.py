"""`testbed ping`: pings one node of a running network from another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ...interactive import connection, reachability
from ...interactive.running_network import choose
from .exec import OfNode

EXAMPLES = (
    ("Ping one node from another, until Ctrl-C", "testbed ping client server"),
    ("Three times", "testbed ping client server --count 3"),
)


def ping(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A node of a running network.")],
    destination: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    count: Annotated[
        int | None, typer.Option("--count", "-c", min=1, help="How many pings; until Ctrl-C if left out.")
    ] = None,
    name: OfNode = None,
) -> None:
    """The output and the exit code are those of ping(8)."""
    network = choose(name, source)
    where, address = network.where(source), reachability.address(network, destination)
    if count is None:
        print("Ctrl-C ends it; --count 5 sends five", file=sys.stderr, flush=True)
    words = ["ping", "-n", *([] if count is None else ["-c", str(count)]), address]
    raise typer.Exit(connection.attend(network, source, where, words, terminal=connection.is_terminal()))
