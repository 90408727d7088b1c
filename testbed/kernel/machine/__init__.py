"""Computers over SSH: connections, the relay over them, Ansible playbooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ...model.node.machine import Machine


@contextmanager
def connected(machines: Mapping[str, Machine], folder: Path) -> Iterator[None]:
    """Keeps a socket NODE.sock in the trial's folder for each machine until the block ends."""
    if not machines:
        yield
        return
    from .ssh import Relay  # imports all that SSH needs

    relay = Relay(machines, folder)
    relay.open()
    try:
        yield
    finally:
        relay.close()
