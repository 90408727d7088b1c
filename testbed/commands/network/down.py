"""`testbed down`: takes a network down."""

from __future__ import annotations

from typing import Annotated

import typer

from ...error import UserError
from ...interactive.connection import take_down
from ...interactive.running_network import choose, networks


def down(
    name: Annotated[str | None, typer.Argument(help="Which network, if several are up.")] = None,
    all_networks: Annotated[bool, typer.Option("--all", help="Every network of this user.")] = False,
) -> None:
    """Take a network down, with all that runs in it."""
    if all_networks and name is not None:
        raise UserError(f"--all and {name} exclude each other; allowed: one of them")
    found = [each for each in networks() if each.is_ready] if all_networks else [choose(name)]
    for network in found:
        take_down(network)
        print(f"{network.name} is down")
