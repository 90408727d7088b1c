"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass

LAB, HOST, BUILD, SDN, VM, MININET, ROUTE = "lab", "host", "build", "sdn", "vm", "mininet", "route"
CONFINED = "confinement"


@dataclass(frozen=True)
class Examination:
    """`fix` is what to type: empty if all is well, "# …" if nothing helps.

    `needed_for` is "lab" (trials in the lab kernel), "build" (building one), "host" (`kernel: host`), "sdn" (nodes
    of the types ovs and controller), "vm", "mininet" (`engine: mininet`), "route" (FRR, DHCP, DNS) or "confinement"
    (what others wrote).
    """

    what: str
    ok: bool
    detail: str
    fix: str = ""
    needed_for: str = LAB
