"""What must hold between routers with daemons, translated addresses or firewalls and the rest of a topology file.

Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...codec.fault import Fault
from ...error import one_of
from ...model.node.router import Frr
from .file import LinkFile
from .node.keys import NodeKeys
from .node.router import RouterFile

PROTOCOLS = ("ospf", "rip", "bgp")


def router_faults(
    nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile], names: tuple[str, ...]
) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed, `names` those of all nodes; paths begin at the topology."""
    for name, router in nodes.items():
        if isinstance(router, RouterFile):
            own = tuple(link for link in links if name in links[link].ends)
            for check in (_frr, _nat, _rules):
                yield from (fault.under("nodes", name) for fault in check(router, own, names))


def _frr(router: RouterFile, own: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Fault]:
    frr = router.router.frr
    if frr is None:
        return
    said = [key for key in PROTOCOLS if getattr(frr, key) is not None]
    if not said and frr.config is None:
        yield Fault(("frr",), "this names no protocol", "ospf: {}, rip: {}, bgp: {as: 65001}, or config: FILE")
    if said and frr.config is not None:
        yield Fault(("frr", said[0]), "config has the whole configuration", "one of the two")
    if frr.text is not None and frr.config is None:
        yield Fault(("frr", "text"), "there is no config that this would be the text of", "config: FILE with it")
    yield from _ospf(frr, own)


def _ospf(frr: Frr, own: tuple[str, ...]) -> Iterator[Fault]:
    if frr.ospf is None:
        return
    if frr.ospf.dead_s <= frr.ospf.hello_s:
        what = "every neighbour would be down before its next Hello"
        yield Fault(("frr", "ospf", "dead"), what, f"more than hello, such as {4 * frr.ospf.hello_s} s")
    for link, _ in frr.ospf.costs:
        if link not in own:
            yield Fault(("frr", "ospf", "costs", link), f"the router has no link {link!r}", one_of(own, link))


def _nat(router: RouterFile, own: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Fault]:
    nat = router.router.nat
    if nat is None:
        return
    if nat.out not in own:
        yield Fault(("nat", "out"), f"the router has no link {nat.out!r}", one_of(own, nat.out))
    taken: set[tuple[str, int]] = set()
    for number, forward in enumerate(nat.forwards):
        if (forward.protocol, forward.port) in taken:
            what = f"the {forward.protocol} port {forward.port} is passed on already"
            yield Fault(("nat", "forward", number, "port"), what, "each port of a protocol once")
        taken.add((forward.protocol, forward.port))
        if ":" in forward.to:
            yield Fault(("nat", "forward", number, "to"), "addresses are translated in IPv4", "an IPv4 address")
    if nat.source is not None and ":" in nat.source:
        yield Fault(("nat", "source"), "addresses are translated in IPv4", "an IPv4 address")


def _rules(router: RouterFile, own: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Fault]:
    for number, rule in enumerate(router.router.firewall or ()):
        yield from (fault.under("firewall", number) for fault in rule.faults())
        for key, name in (("from", rule.source), ("to", rule.destination)):
            if name is not None and name not in names:
                yield Fault(("firewall", number, key), f"there is no node {name!r}", one_of(names, name))
    if router.router.nftables_file is not None and (
        router.router.nat is not None or router.router.firewall is not None
    ):
        yield Fault(("nftables",), "a ruleset replaces nat and firewall", "one of the two")
    if router.router.nftables is not None and router.router.nftables_file is None:
        what = "there is no nftables that this would be the text of"
        yield Fault(("nftables_text",), what, "nftables: FILE with it")
