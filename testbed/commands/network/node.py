"""`testbed node`: stops and starts a switch, a router or a controller of a running network."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ...interactive import power
from ...interactive.running_network import choose
from .exec import OfNode

EXAMPLES = (
    ("See what a network does without a switch", "testbed node s1 stop; testbed pingall; testbed node s1 start"),
    ("Lose the flow tables of a switch", "testbed node s1 restart"),
    ("Take the controller away", "testbed node c0 stop"),
)


class Order(StrEnum):
    stop = "stop"
    start = "start"
    restart = "restart"


def node(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A switch, a router or a controller.")],
    order: Annotated[Order, typer.Argument(metavar="stop|start|restart", help="What to do.")],
    name: OfNode = None,
) -> None:
    """A node that is stopped keeps its cables, and their carrier: whoever is at the other end notices by silence. An
    Open vSwitch forgets all flows, a bridge passes nothing on, a router loses its routing daemons and takes no packet.

    The exit code is 1 if a switch and its controller do not find each other within 60 s after a start.
    """
    network = choose(name, node)
    if order is Order.stop:
        power.switch_off(network, node)
        print(f"{node} of {network.name} is off; testbed node {node} start")
        return
    missing = power.switch_on(network, node) if order is Order.start else power.restart(network, node)
    print(f"{node} of {network.name} is on")
    if missing:
        print(f"not connected: {', '.join(missing)}")
    raise typer.Exit(1 if missing else 0)
