"""`testbed shell`: opens a shell in a node of a running network."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ...interactive import connection, node_files
from ...interactive.running_network import RunningNetwork, choose
from ..terminal import behind
from .exec import OfNode

EXAMPLES = (
    ("Open a shell in a node", "testbed shell client"),
    ("Open a shell in one of several networks", "testbed shell client -n wan"),
)


def shell(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A node of a running network.")],
    name: OfNode = None,
) -> None:
    """The prompt shows the node. Leaving the shell ends the command; the network keeps running. Virtual machines and
    real machines have no terminal: their shell runs one line at a time.
    """
    network = choose(name, node)
    where = network.where(node)
    if "on" in where:
        raise typer.Exit(_line_by_line(network, node, where))
    raise typer.Exit(connection.attend(network, node, where, [*node_files.SHELL], terminal=connection.is_terminal()))


def _line_by_line(network: RunningNetwork, node: str, where: dict[str, str]) -> int:
    """For a node with a kernel of its own, which has no terminal: each line is a command of its own."""
    status = 0
    if sys.stdin.isatty():
        print(f"{node} has no terminal: each line is a command of its own, run in /; Ctrl-D leaves", file=sys.stderr)
    while True:
        try:
            line = input(f"{node}# " if sys.stdin.isatty() else "")
        except EOFError:
            return status
        if line.split()[:1] in (["exit"], ["logout"]):
            return status
        done, out, err = connection.run(network, where, ["sh", "-c", line])
        status = done if done >= 0 else 128 - done
        for stream, text in ((sys.stdout, out), (sys.stderr, err)):
            print(text.decode(errors="replace"), end="", file=behind(stream), flush=True)
