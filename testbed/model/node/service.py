"""Servers that a host or router has beside its own work: DHCP and DNS (dnsmasq), as values. Pure, no I/O."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address

from ... import units
from ...codec import scalar
from ...codec.fault import Fault, Faulty, faults_of
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import ADDRESSES_SCHEMA, NAME, mapped, matching
from ...codec.scalar import quantity, text_of
from ...error import ValueRefused

LEASE_S = 3600
DOMAIN = "lab"
LEASE = "dhcp"
"""The word in place of addresses."""
SECOND_NS = 10**9
LEASE_MIN_S = 120
"""dnsmasq makes shorter leases as long as this."""
RANGE_ALLOWED = "two IPv4 addresses such as 10.0.0.100-10.0.0.199, the first one first"
LEASE_ALLOWED = "whole seconds from 120 s to 87600 h, such as 1 h"
DOMAIN_NAME = r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*"
DOMAIN_ALLOWED = "lower-case letters, digits and - in parts with dots between them, such as www.example.org"


def read_range(value: object) -> tuple[str, str]:
    first, _, last = text_of(value, RANGE_ALLOWED).replace(" ", "").partition("-")
    try:
        low, high = IPv4Address(first), IPv4Address(last)
    except AddressValueError as error:
        raise ValueRefused(f"{value!r} is no range of addresses: {error}", RANGE_ALLOWED) from None
    if low > high:
        raise ValueRefused(f"{first} comes after {last}", RANGE_ALLOWED)
    return str(low), str(high)


def read_lease(value: object) -> int:
    found = quantity(units.parse_time, units.TIME.allowed, high=(87_600 * 3600 * SECOND_NS, "87600 h"))(value)
    if not found or found % SECOND_NS or found < LEASE_MIN_S * SECOND_NS:
        raise ValueRefused(f"a lease cannot last {value}", LEASE_ALLOWED)
    return found // SECOND_NS


def read_domain(value: object) -> str:
    text = text_of(value, DOMAIN_ALLOWED)
    if not re.fullmatch(DOMAIN_NAME, text):
        raise ValueRefused(f"{text!r} is no name in the DNS", DOMAIN_ALLOWED)
    return text


def _node_or_address(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return scalar.name(value)
    except ValueRefused as refused:
        raise Faulty([*faults_of(refused), Fault((), "this is not text", "text", named=True)]) from None


RANGE = Kind(read_range, "-".join, matching(r"^[0-9.]+ *- *[0-9.]+$", "Two IPv4 addresses.", "10.0.0.100-10.0.0.199"))
LEASE_TIME = Kind(
    read_lease,
    lambda seconds: units.format_time(seconds * SECOND_NS),
    matching(units.TIME.pattern, "A time in whole seconds.", "1 h"),
)
DOMAIN_KIND = Kind(read_domain, schema=matching(f"^{DOMAIN_NAME}$", "A name in the DNS.", "www.example.org"))
NODE_OR_ADDRESS = Kind(_node_or_address, schema={"anyOf": [NAME.schema, {"type": "string"}]})
HOST_ADDRESSES = Kind(
    lambda value: LEASE if value == LEASE else scalar.addresses(value),
    lambda value: value if value == LEASE else list(value),
    {"anyOf": [{"const": LEASE}, *ADDRESSES_SCHEMA["anyOf"]]},
)
"""Of a host: those of its own, or LEASE."""


@keyed
class Dhcp(Keyed):
    """A DHCP server for the network of one of the node's addresses.

    Leases the IPv4 addresses of `range`, from its first to its last, to whoever asks, for `lease_s`; the plan says
    which of them each node gets that takes a lease.
    """

    range: tuple[str, str] = key("range", RANGE, "The addresses that it leases, in a network of this node.")
    lease_s: int = key("lease", LEASE_TIME, "How long a lease lasts.", default=LEASE_S)

    @property
    def first(self) -> str:
        return self.range[0]

    @property
    def last(self) -> str:
        return self.range[1]


@keyed
class Dns(Keyed):
    """A DNS server, which knows each node as NODE.domain.

    Answers NODE.domain with the addresses of each node, and `names`: pairs (name, node or address). `upstream` is a
    node or an address that is asked for all other names; None: there are no others.
    """

    domain: str = key("domain", DOMAIN_KIND, default=DOMAIN)
    names: tuple[tuple[str, str], ...] = key(
        "names", mapped(DOMAIN_KIND, NODE_OR_ADDRESS), "More names, each with a node or an address.", default=()
    )
    upstream: str | None = key(
        "upstream",
        NODE_OR_ADDRESS,
        "A node or an address that is asked for other names; default: there are none.",
        default=None,
    )
