"""A check of the gate: did DHCP and DNS servers run, and does each client have its lease? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.node import service
from ..evidence.case import Case
from ..stored_result import Finding

LOG = "look at its log: testbed up, then testbed logs NODE"


def servers(case: Case) -> Iterator[Finding]:
    """After the workload every dnsmasq runs, and has leased each client of its segment the address of the plan."""
    seen = {each.name: each for each in case.evidence.routing.servers}
    for node in service.servers(case.trial.topology):
        found = seen.get(node.name)
        if found is None or not found.runs:
            yield Finding("servers", "invalid", f"dnsmasq of {node.name} did not run after the workload", LOG)
    leased = {pair for each in seen.values() for pair in each.leases}
    for node in case.trial.topology.nodes:
        for port in case.plan.book.ports_of(node.name) if node.takes_lease else ():
            address = str(port.addresses[0].ip)
            if (port.mac, address) not in leased:
                what = f"no DHCP server has a lease of {address} for {node.name} after the workload"
                yield Finding("servers", "invalid", what, LOG)
