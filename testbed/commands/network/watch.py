"""`testbed watch`: shows running networks on a live page."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import typer

from ...interactive.running_network import choose, networks

EXAMPLES = (
    ("Show all running networks", "testbed watch"),
    ("Show one of them, at a port that SSH forwards", "testbed watch wan --port 8123"),
)


def over_ssh(port: int, environment: Mapping[str, str]) -> tuple[str, ...]:
    """What to type on the computer in front of somebody who came here by SSH; nothing for others."""
    words = environment.get("SSH_CONNECTION", "").split()
    if len(words) != 4:
        return ()
    user = environment.get("USER") or environment.get("LOGNAME") or str(os.geteuid())
    at = "" if words[3] == "22" else f"-p {words[3]} "
    return (
        "from your own computer, first type this there; if its port is taken, take another, and in the address, too:",
        f"  ssh -N {at}-L {port}:localhost:{port} {user}@{words[2]}",
    )


def watch(
    name: Annotated[str | None, typer.Argument(metavar="NETWORK", help="A running network; all if left out.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of the page; 0 for one that is free.")] = 0,
) -> None:
    """Prints the address of a page that only this computer can open, and serves it until Ctrl-C. Anybody with the
    address can type in the terminals of all nodes: keep it to yourself.

    Each link shows its traffic in each direction and its queue, each switch its flow table; a
    click on a node opens a terminal in it.
    """
    if name is not None or not any(each.is_ready for each in networks()):
        choose(name)
    from ...browser.server import LocalServer  # SciPy, which the drawing needs, takes a second to import
    from ...interactive.watch.site import Watch

    shown = Watch(name)
    try:
        with LocalServer(shown.answer, "testbed watch", port) as server, suppress(KeyboardInterrupt):
            print(server.url)
            print("open this address in a browser of this computer; Ctrl-C ends the page, and its terminals")
            for line in over_ssh(server.server_port, os.environ):
                print(line)
            sys.stdout.flush()
            threading.Event().wait()
    finally:
        shown.terminals.close_all()
