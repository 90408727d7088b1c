"""What a router has of its own: routing daemons (FRR), translated addresses, a firewall; as values. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..openflow import Rule

Protocol: TypeAlias = Literal["ospf", "rip", "bgp"]

HELLO_S, DEAD_S = 10, 40
"""What FRR's `ospf` has of its own: RFC 2328, appendix C.3."""
SPF_NS = (0, 50_000_000, 5_000_000_000)
"""FRR's `timers throttle spf`: first delay, least and greatest hold time between two calculations."""
CONVERGED_WITHIN_NS = 120_000_000_000


@dataclass(frozen=True)
class Ospf:
    """OSPF version 2 (RFC 2328), area 0, on all links of the router; `costs` are those of links that are not 10.

    The times are in seconds, as the protocol has them. `spf_ns` is the delay of the first calculation, and the least
    and the greatest time between two.
    """

    hello_s: int = HELLO_S
    dead_s: int = DEAD_S
    spf_ns: tuple[int, int, int] = SPF_NS
    costs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Bgp:
    """BGP version 4 (RFC 4271), with every neighbour on a link that has it, too; announces the router's networks."""

    asn: int


@dataclass(frozen=True)
class Frr:
    """FRR's daemons. `text` is a configuration as FRR writes it, in place of the rest; `config` the file it came from.

    A trial waits until the neighbours are there and the routes known, `within_ns` at most; None does not wait.
    """

    ospf: Ospf | None = None
    rip: bool = False
    bgp: Bgp | None = None
    config: str | None = None
    text: str | None = None
    within_ns: int | None = CONVERGED_WITHIN_NS


@dataclass(frozen=True)
class Forward:
    """Packets to a port of the outer address go to `to`, port `to_port` (None: the same)."""

    protocol: Literal["tcp", "udp"]
    port: int
    to: str
    to_port: int | None = None


@dataclass(frozen=True)
class Nat:
    """What leaves by the link `out` has the router's address there (or `source`, if it is not None)."""

    out: str
    source: str | None = None
    forwards: tuple[Forward, ...] = ()


@dataclass(frozen=True)
class Router:
    """`firewall` is rules: the first that matches decides on a new connection; without a match it is allowed. None: no
    firewall. `nftables` is a ruleset of the user's, and `nftables_file` the file that it came from.
    """

    frr: Frr | None = None
    nat: Nat | None = None
    firewall: tuple[Rule, ...] | None = None
    nftables: str | None = None
    nftables_file: str | None = None

    @property
    def filters(self) -> bool:
        """Whether it has rules of nftables."""
        return self.nat is not None or self.firewall is not None or self.nftables is not None


PLAIN = Router()
