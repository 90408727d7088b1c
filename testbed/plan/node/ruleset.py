"""Translated addresses and firewalls: the rules of nftables of a router. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.address import AddressBook
from ...model.node.router import Nat
from ...model.openflow import Rule
from ...model.topology import Node, Topology
from ..command import PREFIX, Command

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
        yield Command("mkdir", ("-p", FOLDER))
        yield Command("file", (file, router.nftables))
        yield Command("nft", ("include", f'"{file}"'), netns, ("flush", "ruleset"))
    if router.nat is not None:
        yield from _table("ip", netns)
        yield from _nat(router.nat, node, book, netns)
    if router.firewall is not None:
        yield from _table("inet", netns)
        yield _chain("inet", "forwarded", "filter", "forward", 0, netns)
        yield _rule("inet", "forwarded", KNOWN, netns)
        for rule in router.firewall:
            for words in _matches(rule, book):
                action = ALLOWED if rule.action == "allow" else DENIED
                yield _rule("inet", "forwarded", (*words, "counter", action), netns)


def _nat(nat: Nat, node: Node, book: AddressBook, netns: str) -> Iterator[Command]:
    out = book.port(node.name, nat.out).device
    yield _chain("ip", "leaving", "nat", "postrouting", 100, netns)
    to = ("masquerade",) if nat.source is None else ("snat", "to", nat.source)
    yield _rule("ip", "leaving", ("meta", "oifname", out, "counter", *to), netns)
    yield _chain("ip", "coming", "nat", "prerouting", -100, netns)
    for each in nat.forwards:
        inside = f"{each.to}:{each.to_port or each.port}"
        port = (each.protocol, "dport", str(each.port))
        yield _rule("ip", "coming", ("meta", "iifname", out, *port, "counter", "dnat", "to", inside), netns)


def _table(family: str, netns: str) -> Iterator[Command]:
    yield Command("nft", ("add", "table", family, TABLE), netns, ("delete", "table", family, TABLE))


def _chain(family: str, name: str, kind: str, hook: str, priority: int, netns: str) -> Command:
    base = ("type", kind, "hook", hook, "priority", str(priority), ";")
    return Command("nft", ("add", "chain", family, TABLE, name, "{", *base, "}"), netns)


def _rule(family: str, chain: str, words: tuple[str, ...], netns: str) -> Command:
    return Command("nft", ("add", "rule", family, TABLE, chain, *words), netns)


def _matches(rule: Rule, book: AddressBook) -> Iterator[tuple[str, ...]]:
    """The words of a rule, for each pair of addresses of one version; without nodes in it, once."""
    versions = (4, 6) if rule.source or rule.destination or rule.protocol == "icmp" else (None,)
    for version in versions:
        for source in _addresses(rule.source, book, version):
            for destination in _addresses(rule.destination, book, version):
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


def _addresses(node: str | None, book: AddressBook, version: int | None) -> list[str | None]:
    if node is None:
        return [None]
    return [str(each.ip) for port in book.interfaces_of(node) for each in port.addresses if each.version == version]
