"""`testbed link`: changes a link of a running network."""

from __future__ import annotations

from typing import Annotated

import typer

from ...error import UserError
from ...interactive import link_change
from ...interactive.running_network import choose
from ...spec.topology.change import STATES
from ..text_table import TIED
from .status import written

EXAMPLES = (
    ("Make a link longer and lossy", "testbed link path rtt=200ms loss=1%"),
    ("Pull out a cable, and put it in again", "testbed link path down; testbed link path up"),
    ("Take a loss away", "testbed link path loss=none"),
)


def link(
    link: Annotated[str, typer.Argument(metavar="LINK", help="A link of a running network.")],
    words: Annotated[
        list[str], typer.Argument(metavar="KEY=VALUE|down|up", help="Keys of links as in topology files.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", "-n", metavar="NETWORK", help="The network, if several are up.")
    ] = None,
) -> None:
    """Packets that wait in the link are lost when it changes. A link that is down has no carrier at either end,
    unless its file says `down: by hand`. `loss=1%` is random loss; the other kinds are written as in topology files.

    A link without impairments has no emulator: it can go down and up, and all else takes a rate in the topology file.
    """
    network = choose(name)
    pulled = [word for word in words if word in STATES]
    if pulled and len(words) > 1:
        raise UserError(f"{pulled[0]} goes alone; allowed: testbed link {link} {pulled[0]}")
    if pulled:
        link_change.pull(network, link, down=pulled == ["down"])
        print(f"{link} of {network.name} is {pulled[0]}")
    else:
        now = written(link_change.change(network, link, words)).replace(TIED, " ")
        print(f"{link} of {network.name}: {now}")
