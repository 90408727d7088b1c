"""Translated addresses and firewalls: the rules of nftables of a router. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...model.address import AddressBook
from ...model.node.router import Nat
from ...model.openflow import Rule
from ...model.topology import Node, Topology
from ..command import PREFIX, Command, File, Raw
from ..linux import Hook, Table

TABLE = "testbed"
FOLDER = f"/run/{PREFIX}rules"
ALLOWED, DENIED = "accept", "drop"
KNOWN = ("ct", "state", "established,related", "counter", ALLOWED)
ICMP = {4: "icmp", 6: "ipv6-icmp"}


def routers(topology: Topology) -> tuple[Node, ...]:
    """The routers with rules, in file order."""
    return tuple(node for node in topology.nodes if node.router is not None and node.router.filters)


def commands(node: Node, book: AddressBook) -> Iterator[Command]:
    """One table for each family; a ruleset of the user's is loaded as it is."""
    router, netns = node.router, f"{PREFIX}{node.name}"
    if router is None:
        return
    if router.nftables is not None:
        file = f"{FOLDER}/{node.name}.nft"
        yield Raw("mkdir", ("-p", FOLDER))
        yield File(file, router.nftables)
        yield Raw("nft", ("include", f'"{file}"'), Raw("nft", ("flush", "ruleset")), netns=netns)
    if router.nat is not None:
        yield from _nat(router.nat, node, book, Table("ip", TABLE, netns))
    if router.firewall is not None:
        yield from _firewall(router.firewall, book, Table("inet", TABLE, netns))


def _nat(nat: Nat, node: Node, book: AddressBook, nft: Table) -> Iterator[Command]:
    out = book.port(node.name, nat.out).device
    yield nft.add()
    yield nft.chain("leaving", Hook("nat", "postrouting", 100))
    to = ("masquerade",) if nat.source is None else ("snat", "to", nat.source)
    yield nft.rule("leaving", "meta", "oifname", out, "counter", *to)
    yield nft.chain("coming", Hook("nat", "prerouting", -100))
    for each in nat.forwards:
        inside = f"{each.to}:{each.to_port or each.port}"
        port = (each.protocol, "dport", str(each.port))
        yield nft.rule("coming", "meta", "iifname", out, *port, "counter", "dnat", "to", inside)


def _firewall(rules: Iterable[Rule], book: AddressBook, nft: Table) -> Iterator[Command]:
    yield nft.add()
    yield nft.chain("forwarded", Hook("filter", "forward", 0))
    yield nft.rule("forwarded", *KNOWN)
    for rule in rules:
        for words in _matches(rule, book):
            yield nft.rule("forwarded", *words, "counter", ALLOWED if rule.action == "allow" else DENIED)


def _matches(rule: Rule, book: AddressBook) -> Iterator[tuple[str, ...]]:
    """The words of a rule, for each pair of addresses of one version; without nodes in it, once."""
    versions = (4, 6) if rule.source or rule.destination or rule.protocol == "icmp" else (None,)
    for version in versions:
        for source in book.addresses_of(rule.source, version):
            for destination in book.addresses_of(rule.destination, version):
                family = "ip6" if version == 6 else "ip"
                words: tuple[str, ...] = (family, "saddr", source) if source else ()
                words += (family, "daddr", destination) if destination else ()
                if rule.protocol == "icmp":
                    words += ("meta", "l4proto", ICMP[version or 4])
                elif rule.protocol is not None and rule.port is not None:
                    words += (rule.protocol, "dport", str(rule.port))
                elif rule.protocol is not None:
                    words += ("meta", "l4proto", rule.protocol)
                yield words
