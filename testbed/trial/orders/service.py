"""DHCP and DNS servers in a trial: the steps that look after the workload whether they run, and whose leases they have.

Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...model.topology import Topology
from ...plan.node import service
from ...plan.step import Run, Step


def state_file(server: str) -> str:
    return f"server-{server}.txt"


def leases_file(server: str) -> str:
    return f"leases-{server}.txt"


def asks(topology: Topology) -> Iterator[Step]:
    for node in service.servers(topology):
        at = service.folder(node.name)
        state = f"grep State: /proc/$(cat {at}/dnsmasq.pid)/status"
        yield Run(("sh", "-c", state), "servers", out=state_file(node.name), may_fail=True)
        if node.dhcp is not None:
            yield Run(("cat", f"{at}/{service.LEASES}"), "servers", out=leases_file(node.name), may_fail=True)
