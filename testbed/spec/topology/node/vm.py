"""A virtual machine as a topology file writes it. Pure, no I/O."""

from __future__ import annotations

import os
from dataclasses import replace

from ....codec.fault import Path
from ....codec.keyed import inline, key, named
from ....codec.kind import ADDRESSES, ECN, SYSCTLS
from ....model.node.vm import IMAGE_ALLOWED, Vm
from ....model.topology import NIC, Ecn, Nic
from ...syntax.attachment import Folder, unread
from ...syntax.document import Document
from .keys import ECN_ABOUT, NIC_ABOUT, NodeKeys, nodes_that


@named
class VmFile(NodeKeys):
    """A virtual machine: QEMU, with a kernel of its own."""

    type = "vm"
    varied = ("nic", "ecn", "memory", "cpus", "model", "kernel", "vhost", "cpu")

    nic: Nic | None = key("nic", NIC, NIC_ABOUT, default=None)
    addresses: tuple[str, ...] = key(
        "addresses", ADDRESSES, "The addresses on its only link; a link can set them too.", default=()
    )
    sysctls: tuple[tuple[str, str], ...] = key("sysctls", SYSCTLS, "Kernel settings of this machine.", default=())
    ecn: Ecn | None = key("ecn", ECN, ECN_ABOUT, default=None)
    vm: Vm = inline(Vm)


def anchored(topology: Document, folder: Folder) -> Document:
    """The same document, in which images are named as seen from the root and not from the topology's folder."""
    for name, node in nodes_that(topology.data, lambda kind: kind.runs_in == "virtual machine").items():
        if isinstance(node.get("image"), str):
            place: Path = ("nodes", name, "image")
            said = node["image"]
            try:
                image = os.path.abspath(folder.find(topology, place, os.path.expanduser(said)))
            except OSError as error:
                topology = replace(topology, faults=(*topology.faults, unread(place, said, error, IMAGE_ALLOWED)))
                continue
            nodes = {**topology.data["nodes"], name: {**node, "image": image}}
            topology = replace(topology, data={**topology.data, "nodes": nodes})
    return topology
