"""What a router has of its own: routing daemons (FRR), translated addresses, a firewall; as values. Pure, no I/O."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ... import units
from ...codec.keyed import Keyed, Kind, key, keyed, named
from ...codec.kind import IP, LINES, NAME, listed, mapped, matching, record, whole, word
from ...codec.scalar import quantity, text_of
from ...error import ValueRefused
from ..openflow import PORT_NUMBER, RULES, Rule

Protocol: TypeAlias = Literal["ospf", "rip", "bgp"]
PROTOCOLS: tuple[Protocol, ...] = ("ospf", "rip", "bgp")

HELLO_S, DEAD_S = 10, 40
"""What FRR's `ospf` has of its own: RFC 2328, appendix C.3."""
SPF_NS = (0, 50_000_000, 5_000_000_000)
"""FRR's `timers throttle spf`: first delay, least and greatest hold time between two calculations."""
CONVERGED_WITHIN_NS = 120_000_000_000


SECOND_NS = 10**9
SECONDS_ALLOWED = "whole seconds from 1 s to 65535 s"
SPF_ALLOWED = (
    "three times such as [0 ms, 50 ms, 5 s]: the first delay, the least hold time, the greatest; at most 600 s"
)
SPF_MAX_NS = 600 * SECOND_NS
FILE_ALLOWED = "a file in UTF-8, relative to the topology file's folder"
WITHIN_ALLOWED = f"{units.TIME.allowed}, at least 1 s; or none, which does not wait"


def read_seconds(value: object) -> int:
    found = quantity(units.parse_time, units.TIME.allowed)(value)
    if not found or found % SECOND_NS or found > 65535 * SECOND_NS:
        raise ValueRefused(f"{value!r} is no time that the protocol can say", SECONDS_ALLOWED)
    return found // SECOND_NS


def read_spf(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise ValueRefused("these are not three times", SPF_ALLOWED)
    found = tuple(quantity(units.parse_time, units.TIME.allowed)(each) or 0 for each in value)
    if any(each % 1_000_000 or each > SPF_MAX_NS for each in found) or found[1] > found[2]:
        raise ValueRefused("these are not whole milliseconds in order", SPF_ALLOWED)
    return found


def read_within(value: object) -> int | None:
    if value == "none":
        return None
    found = quantity(units.parse_time, WITHIN_ALLOWED)(value)
    if found is None or found < SECOND_NS:
        raise ValueRefused(f"{value!r} is too short", WITHIN_ALLOWED)
    return found


SECONDS = Kind(
    read_seconds,
    lambda seconds: f"{seconds} s",
    matching(units.TIME.pattern, "A time in whole seconds.", "10 s"),
)
SPF = Kind(
    read_spf,
    lambda times: [units.format_time(each) for each in times],
    {"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": ["string", "number"]}},
)
WITHIN = Kind(
    read_within,
    units.format_time,
    matching(units.TIME.pattern, "A time, or none.", "120 s", none=True),
    none="none",
)
COST = whole(1, 65535, "A cost of OSPF.")
FILE = Kind(lambda value: text_of(value, FILE_ALLOWED), schema={"type": "string", "minLength": 1})


@keyed
class Ospf(Keyed):
    """OSPF on all links of the router, area 0; {} is FRR's own times.

    Version 2 (RFC 2328); `costs` are those of links that are not 10. The times are in seconds, as the protocol has
    them. `spf_ns` is the delay of the first calculation, and the least and the greatest time between two.
    """

    hello_s: int = key("hello", SECONDS, "The time between two Hellos.", default=HELLO_S)
    dead_s: int = key("dead", SECONDS, "Without a Hello for so long, a neighbour is down.", default=DEAD_S)
    spf_ns: tuple[int, int, int] = key(
        "spf", SPF, "The delay of the first calculation, and the hold times: least, greatest.", default=SPF_NS
    )
    costs: tuple[tuple[str, int], ...] = key(
        "costs", mapped(NAME, COST), "The costs of links; default: 10 each.", default=()
    )


@keyed
class Rip(Keyed):
    """RIP version 2 on all links of the router."""


@keyed
class Bgp(Keyed):
    """BGP with each neighbour on its links that has BGP, too.

    Version 4 (RFC 4271); announces the router's networks.
    """

    asn: int = key("as", whole(1, 2**32 - 2, "An AS number."), "The number of its autonomous system.")


@keyed
class Frr(Keyed):
    """FRR: one protocol or more, or a configuration file.

    `text` is a configuration as FRR writes it, in place of the rest; `config` the file it came from. A trial waits
    until the neighbours are there and the routes known, `within_ns` at most; None does not wait.
    """

    ospf: Ospf | None = key("ospf", record(Ospf), default=None)
    rip: Rip | None = key("rip", record(Rip), default=None)
    bgp: Bgp | None = key("bgp", record(Bgp), default=None)
    config: str | None = key(
        "config", FILE, "A configuration as FRR writes it, instead of the protocols.", default=None
    )
    text: str | None = key(
        "text", LINES, "The text of that file; default: read from the topology's folder.", default=None
    )
    within_ns: int | None = key(
        "within",
        WITHIN,
        "How long a trial waits for neighbours and routes; or none.",
        default=CONVERGED_WITHIN_NS,
    )


@named
class Forward(Keyed):
    """A port of the outer address, passed on to a host inside.

    Packets to `port` go to `to`, port `to_port` (None: the same).
    """

    protocol: Literal["tcp", "udp"] = key("protocol", word("tcp", "udp"), default="tcp")
    port: int = key("port", PORT_NUMBER)
    to: str = key("to", IP)
    to_port: int | None = key("to_port", PORT_NUMBER, "The port of the host inside; default: the same.", default=None)


@keyed
class Nat(Keyed):
    """Translated addresses: all that leaves by one link comes from one address.

    What leaves by the link `out` has the router's address there (or `source`, if it is not None).
    """

    out: str = key("out", NAME, "The link to the outside.")
    source: str | None = key(
        "source", IP, "The address outside; default: the router's own there (masquerade).", default=None
    )
    forwards: tuple[Forward, ...] = key(
        "forward", listed(record(Forward)), "Ports that are passed on to hosts inside.", default=()
    )


@keyed
class Router(Keyed):
    """`firewall` is rules: the first that matches decides on a new connection; without a match it is allowed. None: no
    firewall. `nftables` is a ruleset of the user's, and `nftables_file` the file that it came from.
    """

    frr: Frr | None = key(
        "frr", record(Frr), "Routing daemons, which find the routes instead of the plan.", default=None
    )
    nat: Nat | None = key("nat", record(Nat), "Translated addresses; default: none.", default=None)
    firewall: tuple[Rule, ...] | None = key(
        "firewall",
        RULES,
        "A stateful firewall: the first rule that matches decides on a new connection; without one, allow.",
        default=None,
    )
    nftables_file: str | None = key("nftables", FILE, "A ruleset for nft, instead of nat and firewall.", default=None)
    nftables: str | None = key(
        "nftables_text", LINES, "The text of that file; default: read from the topology's folder.", default=None
    )

    @property
    def filters(self) -> bool:
        """Whether it has rules of nftables."""
        return self.nat is not None or self.firewall is not None or self.nftables is not None


PLAIN = Router()
