"""Servers that a host or router has beside its own work: DHCP and DNS (dnsmasq), as values. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

LEASE_S = 3600
DOMAIN = "lab"


@dataclass(frozen=True)
class Dhcp:
    """Leases the IPv4 addresses from `first` to `last` to whoever asks, for `lease_s`; the plan says which of them each
    node gets that takes a lease.
    """

    first: str
    last: str
    lease_s: int = LEASE_S


@dataclass(frozen=True)
class Dns:
    """Answers NODE.domain with the addresses of each node, and `names`: pairs (name, node or address). `upstream` is a
    node or an address that is asked for all other names; None: there are no others.
    """

    domain: str = DOMAIN
    names: tuple[tuple[str, str], ...] = ()
    upstream: str | None = None
