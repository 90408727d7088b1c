"""The inventory: how the machines of a topology are reached, from `inventory.yml` beside its file. Reads that file.

    hosts:
      alpha: {address: 192.0.2.11, user: root, port: 22, key: ~/.ssh/id_ed25519}

A machine that it does not have is left to the user's SSH configuration.
"""

from __future__ import annotations

import os
from typing import Any

from ..codec.keyed import Keyed, key, named
from ..codec.kind import LINES, mapped, record
from ..error import Problem, SpecError
from ..model.node.machine import HOST, Ssh
from .syntax import input_file
from .syntax.attachment import Folder, Outside
from .syntax.document import Document, Position, parse
from .topology.node import nodes_that

INVENTORY = "inventory.yml"
PATHS = ("key", "known_hosts")


@named
class InventoryFile(Keyed):
    """The computers that topologies beside this file can name."""

    description: str = key("description", LINES, default="")
    hosts: tuple[tuple[str, Ssh], ...] = key("hosts", mapped(HOST, record(Ssh), least=1))


def with_inventory(topology: Document, folder: Folder) -> Document:
    """The document of a topology with an `ssh` key in every machine that the inventory of the folder has.

    Raises SpecError with all the problems of the inventory; it is read only if there are machines.
    """
    machines = nodes_that(topology.data, lambda kind: kind.runs_in == "computer")
    wanted = {name: node.get("host", name) for name, node in machines.items() if "ssh" not in node}
    path = os.path.join(folder.path, INVENTORY)
    if not wanted or not os.path.exists(path):
        return topology
    hosts = _hosts(path, folder)
    for name, host in wanted.items():
        if isinstance(host, str) and host in hosts.data:
            topology = topology.grafted(("nodes", name, "ssh"), hosts.at(host))
    return topology


def _hosts(path: str, beside: Folder) -> Document:
    name = os.path.normpath(path)
    try:
        with beside.held_here(INVENTORY) as held:
            document = parse(input_file.read_text(held, input_file.SPEC_BYTES), Position(name, 1))
    except OSError as error:
        allowed = error.allowed if isinstance(error, Outside) else None
        raise SpecError([Problem(name, None, f"this cannot be read: {error.strerror}", allowed)]) from None
    document.checked(InventoryFile)
    hosts = document.at("hosts")
    folder = os.path.dirname(os.path.abspath(path))
    return Document({host: _found_from(folder, entry) for host, entry in hosts.data.items()}, hosts.positions)


def _found_from(folder: str, entry: dict[str, Any]) -> dict[str, Any]:
    """With the paths of files as they are from anywhere."""
    paths = {key: os.path.join(folder, os.path.expanduser(entry[key])) for key in PATHS if key in entry}
    return {**entry, **paths}
