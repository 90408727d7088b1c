"""`testbed clean`: removes what killed commands left behind."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from ... import journal
from ...error import TestbedError, visible
from ...interactive.connection import take_down
from ...interactive.leftover import Leftover, leftovers
from ...interactive.running_network import networks

EXAMPLES = (
    ("See what there is to remove", "testbed clean --dry-run"),
    ("Remove it", "testbed clean"),
    ("Stop the running networks as well", "testbed clean --all"),
)


def clean(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be removed, and remove nothing.")
    ] = False,
    all_networks: Annotated[bool, typer.Option("--all", help="Also stop the running networks.")] = False,
) -> None:
    """It removes the processes, network namespaces, links and folders that the testbed recorded in its journal as its
    own, and nothing else. Running networks and runs in progress stay.
    """
    said = 0
    for network in networks() if all_networks else ():
        print(f"{'would stop' if dry_run else 'stops'}: network {network.name}")
        said += 1
        if not dry_run:
            take_down(network)
    failed = [f"{each}; if it is of no use, type: rm {quote(str(each.path))}" for each in journal.unreadable()]
    with leftovers() as found:
        for entry, pieces in found:
            said += len(pieces)
            kept = [_stays(piece) or (_announce(piece) if dry_run else _remove(piece)) for piece in pieces]
            failed += [error for error in kept if error]
            if entry is not None and not dry_run and not any(kept):
                entry.path.unlink(missing_ok=True)
    if not said and not failed:
        print("nothing is left behind")
    if failed:
        raise TestbedError("not removed: " + "; ".join(failed))


def _stays(piece: Leftover) -> str:
    """Why it must not be removed; empty if it may be."""
    return f"{piece.what}: {piece.stays}" if piece.stays is not None else ""


def _announce(piece: Leftover) -> str:
    print(f"would remove: {visible(piece.what)}")
    return ""


def _remove(piece: Leftover) -> str:
    """Why it is still there; empty if it is gone."""
    try:
        piece.remove()
    except (TestbedError, OSError) as error:
        return f"{piece.what}: {error}"
    print(f"removed: {visible(piece.what)}")
    return ""
