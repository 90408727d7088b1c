"""`testbed clean`: removes what killed commands left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from ...error import TestbedError
from ...interactive.connection import take_down
from ...interactive.leftover import Leftover, leftovers
from ...interactive.running_network import networks

EXAMPLES = (
    ("See what there is to remove", "testbed clean --dry-run"),
    ("Remove it", "testbed clean"),
    ("Stop the running networks as well", "testbed clean --all"),
)


def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")] = False,
    all_networks: Annotated[bool, typer.Option("--all", help="Also stop the running networks.")] = False,
) -> None:
    """It removes the processes, network namespaces, links and folders that the testbed noted in its journal as its
    own, and nothing else. Running networks and runs in progress stay.
    """
    said = 0
    for network in networks() if all_networks else ():
        print(f"{'would stop' if dry_run else 'stops'}: network {network.name}")
        said += 1
        if not dry_run:
            take_down(network)
    failed: list[str] = []
    with leftovers() as found:
        for entry, pieces in found:
            said += len(pieces)
            kept = [_remove(piece) for piece in pieces] if not dry_run else [_announce(piece) for piece in pieces]
            failed += [error for error in kept if error]
            if entry is not None and not dry_run and not any(kept):
                entry.path.unlink(missing_ok=True)
    if not said:
        print("nothing is left behind")
    if failed:
        raise TestbedError("not removed: " + "; ".join(failed))


def _announce(piece: Leftover) -> str:
    print(f"would remove: {piece.what}")
    return ""


def _remove(piece: Leftover) -> str:
    """Why it is still there; empty if it is gone."""
    try:
        piece.remove()
    except (TestbedError, OSError) as error:
        return f"{piece.what}: {error}"
    print(f"removed: {piece.what}")
    return ""
