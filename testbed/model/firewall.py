"""What the firewalls of routers deny for certain: new connections along a data path. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .data_path import DataPath
from .openflow import PORT_MAX, Rule
from .topology import Topology
from .workload import Workload

ANY_PORT = (0, PORT_MAX)


def data_denied_by(topology: Topology, data_path: DataPath, workload: Workload) -> str | None:
    """The first router whose firewall denies for certain what a workload sends to the ports of its receiver."""
    ports = workload.data_ports
    if ports is None or ports.destination == ANY_PORT:
        return None
    return denied_by(topology, data_path, ports.protocol, ports.destination)


def denied_by(
    topology: Topology,
    data_path: DataPath,
    protocol: Literal["tcp", "udp", "icmp"],
    ports: tuple[int, int] = ANY_PORT,
) -> str | None:
    """The first router whose firewall denies what the source sends first, to any of these ports; None if none does for
    certain. A ruleset of the user's, a router that passes ports on, and one that says a source of the user's, may lead
    to anything.
    """
    source = data_path.source
    for hop, onward in zip(data_path.path, data_path.path[1:], strict=False):
        name = hop.link.leads_to(hop.way)
        router = topology.node(name).router
        if router is None:
            continue
        nat = router.nat if data_path.destination_ip.version == 4 else None
        if router.nftables is not None or (nat is not None and nat.out == hop.link.name and nat.forwards):
            return None
        verdict = _verdict(router.firewall or (), source, data_path.destination, protocol, ports)
        if verdict != "allow":
            return name if verdict == "deny" else None
        if nat is not None and nat.out == onward.link.name:
            if nat.source is not None:
                return None
            source = name
    return None


def _verdict(
    rules: Sequence[Rule], source: str, destination: str, protocol: str, ports: tuple[int, int]
) -> Literal["allow", "deny"] | None:
    """Of the first rule that matches; None if that depends on the port."""
    for rule in rules:
        is_elsewhere = rule.source not in (None, source) or rule.destination not in (None, destination)
        if is_elsewhere or rule.protocol not in (None, protocol):
            continue
        if rule.port is not None and ports[0] <= rule.port <= ports[1]:
            return rule.action if ports[0] == ports[1] else None
        if rule.port is None:
            return rule.action
    return "allow"
