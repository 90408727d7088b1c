"""`testbed down`: stops a running network."""

from __future__ import annotations

from typing import Annotated

import typer

from ...error import UserError
from ...interactive.connection import take_down
from ...interactive.running_network import choose, networks

EXAMPLES = (
    ("Stop the only running network", "testbed down"),
    ("Stop one of several", "testbed down wan"),
    ("Stop all of them", "testbed down --all"),
)


def down(
    name: Annotated[
        str | None, typer.Argument(metavar="NETWORK", help="Needed only if several networks are running.")
    ] = None,
    all_networks: Annotated[bool, typer.Option("--all", help="Stop all your networks.")] = False,
) -> None:
    """All programs in it end."""
    if all_networks and name is not None:
        raise UserError(f"--all and {name} exclude each other; allowed: one of them")
    found = [each for each in networks() if each.is_ready] if all_networks else [choose(name)]
    for network in found:
        take_down(network)
        print(f"{network.name} is down")
