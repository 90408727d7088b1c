"""The servers of a host or router as a topology file writes them: DHCP, DNS; and who takes a lease. Pure, no I/O."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from .... import units
from ....error import ValueRefused
from ....model.node.service import DOMAIN, LEASE_S, Dhcp, Dns
from ...syntax import scalar
from ...syntax.field import ADDRESSES_SCHEMA, Name, matching
from ...syntax.file_model import FileModel

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
    first, _, last = scalar.text_of(value, RANGE_ALLOWED).replace(" ", "").partition("-")
    try:
        low, high = IPv4Address(first), IPv4Address(last)
    except AddressValueError as error:
        raise ValueRefused(f"{value!r} is no range of addresses: {error}", RANGE_ALLOWED) from None
    if low > high:
        raise ValueRefused(f"{first} comes after {last}", RANGE_ALLOWED)
    return str(low), str(high)


def read_lease(value: object) -> int:
    found = scalar.quantity(units.parse_time, units.TIME.allowed, high=(87_600 * 3600 * SECOND_NS, "87600 h"))(value)
    if not found or found % SECOND_NS or found < LEASE_MIN_S * SECOND_NS:
        raise ValueRefused(f"a lease cannot last {value}", LEASE_ALLOWED)
    return found // SECOND_NS


def read_domain(value: object) -> str:
    text = scalar.text_of(value, DOMAIN_ALLOWED)
    if not re.fullmatch(DOMAIN_NAME, text):
        raise ValueRefused(f"{text!r} is no name in the DNS", DOMAIN_ALLOWED)
    return text


def read_addresses(value: object) -> tuple[str, ...] | str:
    return LEASE if value == LEASE else scalar.addresses(value)


Range = Annotated[
    Any,
    PlainValidator(read_range),
    PlainSerializer("-".join),
    WithJsonSchema(matching(r"^[0-9.]+ *- *[0-9.]+$", "Two IPv4 addresses.", "10.0.0.100-10.0.0.199")),
]
Lease = Annotated[
    int,
    PlainValidator(read_lease),
    PlainSerializer(lambda seconds: units.format_time(seconds * SECOND_NS)),
    WithJsonSchema(matching(units.TIME.pattern, "A time in whole seconds.", "1 h")),
]
Domain = Annotated[
    str,
    PlainValidator(read_domain),
    WithJsonSchema(matching(f"^{DOMAIN_NAME}$", "A name in the DNS.", "www.example.org")),
]
HostAddresses = Annotated[
    Any,
    PlainValidator(read_addresses),
    PlainSerializer(lambda value: value if value == LEASE else list(value)),
    WithJsonSchema({"anyOf": [{"const": LEASE}, *ADDRESSES_SCHEMA["anyOf"]]}),
]


class DhcpFile(FileModel):
    """A DHCP server for the network of one of the node's addresses."""

    range: Range = Field(description="The addresses that it leases, in a network of this node.")
    lease: Lease = Field(LEASE_S, description="How long a lease lasts.")

    def dhcp(self) -> Dhcp:
        return Dhcp(self.range[0], self.range[1], self.lease)

    @classmethod
    def of(cls, dhcp: Dhcp) -> DhcpFile:
        return cls.model_construct(range=(dhcp.first, dhcp.last), lease=dhcp.lease_s)


class DnsFile(FileModel):
    """A DNS server, which knows each node as NODE.domain."""

    domain: Domain = DOMAIN
    names: dict[Domain, Name | str] = Field({}, description="More names, each with a node or an address.")
    upstream: Name | str | None = Field(
        None, description="A node or an address that is asked for other names; default: there are none."
    )

    def dns(self) -> Dns:
        return Dns(self.domain, tuple(self.names.items()), self.upstream)

    @classmethod
    def of(cls, dns: Dns) -> DnsFile:
        return cls.model_construct(domain=dns.domain, names=dict(dns.names), upstream=dns.upstream)
