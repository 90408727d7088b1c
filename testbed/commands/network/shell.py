"""`testbed shell`: a shell in a node of a network that is up."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ...interactive import connection
from ...interactive.running_network import RunningNetwork, choose

WORDS = ["sh", "-c", "command -v bash >/dev/null && exec bash --rcfile /run/trial/shellrc -i; exec sh -i"]


def shell(
    node: Annotated[str, typer.Argument(help="A node of the network.")],
    name: Annotated[
        str | None, typer.Option("--name", "-n", metavar="NAME", help="Which network, if several have such a node.")
    ] = None,
) -> None:
    """Work in a node: a shell there, whose prompt says where. Its end is the end of the command."""
    network = choose(name, node)
    where = network.where(node)
    if "on" in where:
        raise typer.Exit(_line_by_line(network, node, where))
    raise typer.Exit(connection.attend(network, node, where, WORDS, terminal=connection.is_terminal()))


def _line_by_line(network: RunningNetwork, node: str, where: dict[str, str]) -> int:
    """For a node with a kernel of its own, to which no terminal leads: each line is a command by itself."""
    status = 0
    if sys.stdin.isatty():
        print(f"{node} is reached line by line: each is a command by itself, from /; end with Ctrl-D", file=sys.stderr)
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
            print(text.decode(errors="replace"), end="", file=stream, flush=True)
