"""A router as a topology file writes it: routes, FRR, translated addresses, a firewall. Pure, no I/O."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from .... import units
from ....error import ValueRefused
from ....model.node.router import (
    CONVERGED_WITHIN_NS,
    DEAD_S,
    HELLO_S,
    PLAIN,
    SPF_NS,
    Bgp,
    Forward,
    Frr,
    Nat,
    Ospf,
    Router,
)
from ....model.topology import Node
from ...syntax.field import Ip, Lines, Name, matching, number
from ...syntax.file_model import FileModel
from ...syntax.scalar import quantity, text_of, whole
from .keys import NodeKeys, RouteFile, servers_of, with_servers
from .openflow import PortNumber, RuleFile
from .service import DhcpFile, DnsFile

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


Seconds = Annotated[
    int,
    PlainValidator(read_seconds),
    PlainSerializer(lambda seconds: f"{seconds} s"),
    WithJsonSchema(matching(units.TIME.pattern, "A time in whole seconds.", "10 s")),
]
Spf = Annotated[
    Any,
    PlainValidator(read_spf),
    PlainSerializer(lambda times: [units.format_time(each) for each in times]),
    WithJsonSchema({"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": ["string", "number"]}}),
]
Within = Annotated[
    Any,
    PlainValidator(read_within),
    PlainSerializer(lambda time: "none" if time is None else units.format_time(time)),
    WithJsonSchema(matching(units.TIME.pattern, "A time, or none.", "120 s", none=True)),
]
Cost = Annotated[int, PlainValidator(whole(1, 65535)), WithJsonSchema(number(1, 65535, "A cost of OSPF."))]
Asn = Annotated[int, PlainValidator(whole(1, 2**32 - 2)), WithJsonSchema(number(1, 2**32 - 2, "An AS number."))]
File = Annotated[
    str, PlainValidator(lambda value: text_of(value, FILE_ALLOWED)), WithJsonSchema({"type": "string", "minLength": 1})
]


class OspfFile(FileModel):
    """OSPF on all links of the router, area 0; {} is FRR's own times."""

    hello: Seconds = Field(HELLO_S, description="The time between two Hellos.")
    dead: Seconds = Field(DEAD_S, description="Without a Hello for so long, a neighbour is down.")
    spf: Spf = Field(SPF_NS, description="The delay of the first calculation, and the hold times: least, greatest.")
    costs: dict[Name, Cost] = Field({}, description="The costs of links; default: 10 each.")

    def ospf(self) -> Ospf:
        return Ospf(self.hello, self.dead, self.spf, tuple(self.costs.items()))

    @classmethod
    def of(cls, ospf: Ospf) -> OspfFile:
        return cls.model_construct(hello=ospf.hello_s, dead=ospf.dead_s, spf=ospf.spf_ns, costs=dict(ospf.costs))


class RipFile(FileModel):
    """RIP version 2 on all links of the router."""


class BgpFile(FileModel):
    """BGP with each neighbour on its links that has BGP, too."""

    asn: Asn = Field(alias="as", description="The number of its autonomous system.")


class FrrFile(FileModel):
    """FRR: one protocol or more, or a configuration file."""

    ospf: OspfFile | None = None
    rip: RipFile | None = None
    bgp: BgpFile | None = None
    config: File | None = Field(None, description="A configuration as FRR writes it, in place of the protocols.")
    text: Lines | None = Field(None, description="The text of that file; default: read from the topology's folder.")
    within: Within = Field(
        CONVERGED_WITHIN_NS, description="How long a trial waits for neighbours and routes; or none."
    )

    def frr(self) -> Frr:
        return Frr(
            ospf=None if self.ospf is None else self.ospf.ospf(),
            rip=self.rip is not None,
            bgp=None if self.bgp is None else Bgp(self.bgp.asn),
            config=self.config,
            text=self.text,
            within_ns=self.within,
        )

    @classmethod
    def of(cls, frr: Frr) -> FrrFile:
        return cls.model_construct(
            ospf=None if frr.ospf is None else OspfFile.of(frr.ospf),
            rip=RipFile.model_construct() if frr.rip else None,
            bgp=None if frr.bgp is None else BgpFile.model_construct(asn=frr.bgp.asn),
            config=frr.config,
            text=frr.text,
            within=frr.within_ns,
        )


class ForwardFile(FileModel):
    """A port of the outer address, passed on to a host inside."""

    protocol: Literal["tcp", "udp"] = "tcp"
    port: PortNumber
    to: Ip
    to_port: PortNumber | None = Field(None, description="The port of the host inside; default: the same.")

    def forward(self) -> Forward:
        return Forward(self.protocol, self.port, self.to, self.to_port)

    @classmethod
    def of(cls, forward: Forward) -> ForwardFile:
        return cls.model_construct(**vars(forward))


class NatFile(FileModel):
    """Translated addresses: all that leaves by one link comes from one address."""

    out: Name = Field(description="The link to the outside.")
    source: Ip | None = Field(None, description="The address outside; default: the router's own there (masquerade).")
    forward: list[ForwardFile] = Field([], description="Ports that are passed on to hosts inside.")

    def nat(self) -> Nat:
        return Nat(self.out, self.source, tuple(each.forward() for each in self.forward))

    @classmethod
    def of(cls, nat: Nat) -> NatFile:
        forward = [ForwardFile.of(each) for each in nat.forwards]
        return cls.model_construct(out=nat.out, source=nat.source, forward=forward)


class RouterFile(NodeKeys):
    """A router: a network namespace that forwards."""

    type: Literal["router"]
    routes: list[RouteFile] = Field([], description="Routes in addition to those that the plan computes.")
    frr: FrrFile | None = Field(None, description="Routing daemons, which find the routes in place of the plan.")
    nat: NatFile | None = Field(None, description="Translated addresses; default: none.")
    firewall: list[RuleFile] | None = Field(
        None,
        description="A stateful firewall: the first rule that matches decides on a new connection; without one, allow.",
    )
    nftables: File | None = Field(None, description="A ruleset for nft, in place of nat and firewall.")
    nftables_text: Lines | None = Field(
        None, description="The text of that file; default: read from the topology's folder."
    )
    dhcp: DhcpFile | None = Field(None, description="A DHCP server; default: none.")
    dns: DnsFile | None = Field(None, description="A DNS server; default: none.")

    def node(self, name: str) -> Node:
        rules = None if self.firewall is None else tuple(each.rule() for each in self.firewall)
        router = Router(
            frr=None if self.frr is None else self.frr.frr(),
            nat=None if self.nat is None else self.nat.nat(),
            firewall=rules,
            nftables=self.nftables_text,
            nftables_file=self.nftables,
        )
        own = None if router == PLAIN else router
        node = Node(name, self.type, routes=tuple(each.route() for each in self.routes), router=own)
        return with_servers(node, self.dhcp, self.dns)

    @classmethod
    def of(cls, node: Node) -> RouterFile:
        router = node.router or PLAIN
        rules = None if router.firewall is None else [RuleFile.of(rule) for rule in router.firewall]
        return cls.model_construct(
            type="router",
            routes=[RouteFile.of(route) for route in node.routes],
            frr=None if router.frr is None else FrrFile.of(router.frr),
            nat=None if router.nat is None else NatFile.of(router.nat),
            firewall=rules,
            nftables=router.nftables_file,
            nftables_text=router.nftables,
            **servers_of(node),
        )
