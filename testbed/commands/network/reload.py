"""`testbed reload`: starts a controller of a running network anew, with its changed app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...interactive import reload as reloading
from ...interactive.overview import HAD_EXCEPTION, raised
from ...interactive.running_network import choose
from ...interactive.watch.node_log import node_log
from ...model.run_setting import Kernel
from ...spec.load import load_topology
from ...spec.syntax.attachment import permitted
from ...trial.subject.openflow import NOT_STARTED
from .. import foreign_code
from ..foreign_code import AllowCode, AllowFile
from .exec import OfNode

EXAMPLES = (
    ("Try the app that you have just changed", "testbed reload c0"),
    ("See what it prints", "testbed reload c0; testbed logs c0 --follow"),
)


def reload(
    node: Annotated[str, typer.Argument(metavar="NODE", help="A controller of a running network.")],
    name: OfNode = None,
    allow_code: AllowCode = False,
    allow_file: AllowFile = None,
) -> None:
    """The file that the network was started from is read again, and so is the app that it names. The switches forget
    their flows, groups and meters and connect to the new app; hosts, links and everything else continue.

    The exit code is 1 if a switch has not connected after 60 s, or the app has ended; `testbed logs` then says why.
    """
    network = choose(name, node)
    file = Path(network.about["file"])
    if allow_code:
        foreign_code.allow()
    wanted = load_topology(file, permitted(allow_file or ()))
    if not allow_code:
        foreign_code.refuse_unconfined(str(file), [(wanted, None, Kernel(network.about["kernel"]))])
    found = reloading.reload(network, wanted, node)
    lost = [switch for switch, is_back in found.items() if not is_back]
    print(f"{node} of {network.name} has started anew, with {len(found) - len(lost)} of {len(found)} switches")
    for line in node_log(network, node)["text"].splitlines() if lost else ():
        if why := NOT_STARTED.search(line):
            print(why[0])
    if lost:
        print(f"not connected: {', '.join(lost)}; see testbed logs {node}")
    elif node in raised(network):
        print(HAD_EXCEPTION.format(name=node))
    raise typer.Exit(1 if lost else 0)
