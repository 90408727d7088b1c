"""A machine, which is a real computer, as a topology file writes it. Pure, no I/O."""

from __future__ import annotations

from ....codec.keyed import inline, key, keyed
from ....codec.kind import ADDRESSES, ECN, SYSCTLS
from ....model.node.machine import Machine
from ....model.topology import NIC, Ecn, Nic
from .keys import ECN_ABOUT, NIC_ABOUT, NodeKeys


@keyed
class MachineFile(NodeKeys):
    """A machine: a real computer, reached over SSH."""

    type = "machine"
    varied = ("nic",)
    ORDER = ("host", "nics", "nic", "addresses", "sysctls", "ecn", "forward", "ssh")

    machine: Machine = inline(Machine)
    nic: Nic | None = key("nic", NIC, NIC_ABOUT, default=None)
    addresses: tuple[str, ...] = key(
        "addresses", ADDRESSES, "The addresses on its only link; a link can set them too.", default=()
    )
    sysctls: tuple[tuple[str, str], ...] = key(
        "sysctls", SYSCTLS, "Kernel settings in the network namespace that it uses.", default=()
    )
    ecn: Ecn | None = key("ecn", ECN, ECN_ABOUT, default=None)
