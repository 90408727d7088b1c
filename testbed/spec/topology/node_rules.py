"""What must hold between a node of one type and the rest of a topology file: machines, routers with daemons, translated
addresses or firewalls, DHCP and DNS servers and those who take leases, switches with controllers. Pure, no I/O.

Paths of faults begin at the topology.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network, ip_address
from typing import Any

from ...codec.fault import Fault
from ...error import one_of
from ...model.address import AddressBook, lease_network
from ...model.node.machine import SSH_PORT
from ...model.node.router import PROTOCOLS, Frr
from ...model.node.service import LEASE
from ...model.openflow import DPID_MAX, NOBODY
from ...model.topology import Topology
from .file import LinkFile
from .node import HostFile, MachineFile, NodeKeys, RouterFile
from .openflow import ControllerNodeFile, OvsNodeFile

SYSCTLS = ("net.", "net/", "vm.", "vm/")
"""What a topology may set on somebody's computer."""


def machine_faults(nodes: Mapping[str, Any], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed by themselves."""
    machines = {name: node for name, node in nodes.items() if isinstance(node, MachineFile)}
    for name, link in links.items():
        yield from (fault.under("links", name) for fault in _emulator(name, link, nodes, machines))
        for end in link.ends:
            if end in machines:
                yield from _nic(end, machines[end], name, 1, f"it is an end of {name!r}")
        if link.emulator in machines and link.emulator not in link.ends:
            yield from _nic(link.emulator, machines[link.emulator], name, 2, f"it stands in the middle of {name!r}")
    yield from _same(machines)
    for name, machine in machines.items():
        yield from _unused(name, machine, links)
        yield from _twice(name, machine)
        yield from _sysctls(name, machine)


def _emulator(
    name: str, link: LinkFile, nodes: Mapping[str, Any], machines: Mapping[str, MachineFile]
) -> Iterator[Fault]:
    of_machines = [end for end in link.ends if end in machines]
    if link.emulator is None:
        if len(of_machines) == 2 and link.link(name).is_emulated:
            what = (
                f"{of_machines[0]!r} and {of_machines[1]!r} are machines, and nothing between them can impair the link"
            )
            yield Fault((), what, "emulator: NODE, a machine with two NICs in the middle of the link")
        return
    if link.emulator not in machines:
        is_node = link.emulator in nodes
        what = f"{link.emulator!r} is not a machine" if is_node else f"there is no node {link.emulator!r}"
        yield Fault(("emulator",), what, one_of(tuple(machines), link.emulator, "a node of type machine"), named=True)
    elif link.emulator in link.ends and not machines[link.emulator].machine.forward:
        what = f"{link.emulator!r} is an end of the link, so it must route between this link and others"
        yield Fault(("emulator",), what, f"'forward: true' at {link.emulator}", named=True)
    if link.schedule or link.wander:
        what = "the emulator is a machine with a clock of its own: the gate could not judge what a schedule does there"
        yield Fault(("schedule",), what, "no schedule, or no emulator: the link of this computer", named=True)


def _nic(node: str, machine: MachineFile, link: str, count: int, why: str) -> Iterator[Fault]:
    have = machine.machine.nics_of(link)
    if len(have) != count:
        example = "eth1" if count == 1 else "[eth1, eth2]"
        lacks = f"names {len(have)} of its NICs for the link, and needs {count}: {why}"
        yield Fault(("nodes", node, "nics"), f"{node!r} {lacks}", f"nics: {{{link}: {example}}}")


def _same(machines: Mapping[str, MachineFile]) -> Iterator[Fault]:
    """A computer serves one node, which has it for a whole trial."""
    seen: dict[tuple[str, int | None], str] = {}
    for name, each in machines.items():
        ssh = each.machine.ssh
        where = (each.machine.host or name, None) if ssh is None else (ssh.address, ssh.port or SSH_PORT)
        if seen.setdefault(where, name) != name:
            what = f"{name!r} is the same computer as {seen[where]!r}: {each.machine.described(name)}"
            yield Fault(("nodes", name), what, "a computer for each node of type machine")


def _unused(name: str, machine: MachineFile, links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    own = [link for link, each in links.items() if name in each.ends or each.emulator == name]
    for link, _ in machine.machine.nics:
        if link not in own:
            allowed = one_of(own, link, "links that it is an end or the emulator of")
            yield Fault(("nodes", name, "nics", link), f"{link!r} is not a link of {name!r}", allowed, named=False)


def _sysctls(name: str, machine: MachineFile) -> Iterator[Fault]:
    for key, _ in machine.sysctls:
        if not key.startswith(SYSCTLS):
            what = (
                f"{key!r} is not about the network, and `testbed machines prepare` would set it for the whole computer"
            )
            yield Fault(("nodes", name, "sysctls", key), what, "sysctls of a machine that begin with net. or vm.")


def _twice(name: str, machine: MachineFile) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for link, nics in machine.machine.nics:
        for nic in nics:
            if seen.setdefault(nic, link) != link:
                what = f"{nic} of {name!r} already carries {seen[nic]!r}"
                yield Fault(("nodes", name, "nics", link), what, "a NIC for each link")


def router_faults(
    nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile], names: tuple[str, ...]
) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed, `names` those of all nodes; paths begin at the topology."""
    for name, router in nodes.items():
        if isinstance(router, RouterFile):
            own = tuple(link for link in links if name in links[link].ends)
            for check in (_frr, _nat, _firewall):
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


def _firewall(router: RouterFile, own: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Fault]:
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


def service_faults(
    nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile], names: tuple[str, ...]
) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed, `names` those of all nodes."""
    for name, node in nodes.items():
        if isinstance(node, HostFile) and node.addresses == LEASE:
            yield from (fault.under("nodes", name) for fault in _client(name, node, links))
        if isinstance(node, HostFile | RouterFile) and node.dns is not None:
            yield from (fault.under("nodes", name, "dns") for fault in _dns(name, node, nodes, names))


def _client(name: str, host: HostFile, links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    own = [link for link in links if name in links[link].ends]
    if len(own) != 1:
        yield Fault(("addresses",), f"{name!r} has {len(own)} links, and a lease is for one", "a host with one link")
    if any(name in dict(links[link].addresses) for link in own):
        yield Fault(("addresses",), f"the link {own[0]!r} gives {name!r} an address, too", "one of the two")
    if host.dhcp is not None:
        yield Fault(("dhcp",), "a DHCP server cannot take its own address from one", "an address of its own")
    if host.routes:
        yield Fault(("routes",), "its routes come with its lease", "no routes")


def _dns(
    name: str, node: HostFile | RouterFile, nodes: Mapping[str, NodeKeys], names: tuple[str, ...]
) -> Iterator[Fault]:
    assert node.dns is not None, "BUG: the names of a node without a DNS server"
    own = {f"{each.lower()}.{node.dns.domain}": each for each in names}
    for key, meant in node.dns.names:
        if own.get(key, meant) != meant:
            yield Fault(("names", key), "a node has this name already", "another name")
        if not _is_address(meant) and (meant not in names or (meant in nodes and not nodes[meant].kind.has_addresses)):
            what = f"{meant!r} is no address, and no node with one"
            yield Fault(("names", key), what, one_of(_with_addresses(nodes), meant))
    upstream = node.dns.upstream
    if upstream is None or _is_address(upstream):
        return
    other = nodes.get(upstream)
    if upstream == name or (upstream in nodes and getattr(other, "dns", None) is None) or upstream not in names:
        others = [each for each in nodes if each != name and getattr(nodes[each], "dns", None) is not None]
        yield Fault(("upstream",), f"{upstream!r} is no other node with dns", one_of(others, upstream))


def _is_address(text: str) -> bool:
    """Without a scope, which may be any text and means nothing to other nodes."""
    try:
        return getattr(ip_address(text), "scope_id", None) is None
    except ValueError:
        return False


def _with_addresses(nodes: Mapping[str, NodeKeys]) -> list[str]:
    return [name for name, node in nodes.items() if node.kind.has_addresses]


def range_faults(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """Ranges outside of the server's networks, and addresses of others in them; servers without an address."""
    for node in topology.nodes:
        if node.dns is not None and not any(port.addresses for port in book.interfaces_of(node.name)):
            yield Fault(("nodes", node.name, "dns"), f"{node.name!r} has no address to answer at", "a host with a link")
        if node.dhcp is None:
            continue
        ports = book.interfaces_of(node.name)
        own = next((port for port in ports if lease_network(node.dhcp, port.addresses) is not None), None)
        where = ("nodes", node.name, "dhcp", "range")
        if own is None:
            networks = ", ".join(str(a.network) for port in ports for a in port.addresses if a.version == 4)
            yield Fault(where, f"{node.name!r} has no address in the network of this range", networks or None)
            continue
        first, last = IPv4Address(node.dhcp.first), IPv4Address(node.dhcp.last)
        server = lease_network(node.dhcp, own.addresses)
        network = None if server is None else server.network
        assert isinstance(network, IPv4Network), "BUG: a range of no network"
        ends = (network.network_address, network.broadcast_address) if network.prefixlen < 31 else ()
        for each in ends:
            if first <= each <= last:
                what = f"{each} is the network's own or its broadcast address, which no host can have"
                yield Fault(where, what, f"from {network[1]} to {network[-2]}")
        for port in book.members(own.segment):
            taken = [a.ip for a in port.addresses if isinstance(a.ip, IPv4Address) and first <= a.ip <= last]
            if taken and not topology.node(port.node).takes_lease:
                yield Fault(where, f"{taken[0]} is the address of {port.node!r}", "a range of free addresses")
        if any(other.dhcp is not None and other is not node and _meets(other.name, own.segment, topology, book)
               for other in topology.nodes):  # fmt: skip
            yield Fault(where, "another node has a DHCP server on this segment, too", "one of the two")


def upstream_faults(topology: Topology, book: AddressBook) -> Iterator[Fault]:
    """DNS servers that ask one another in a ring for the names that none of them knows."""
    owners = {str(ip): node for ip, node in book.owners.items()}
    told = [(node.name, node.dns.upstream) for node in topology.nodes if node.dns is not None]
    asks = {name: owners.get(upstream, upstream) for name, upstream in told if upstream is not None}
    known: set[str] = set()
    for name in asks:
        ring = [name]
        while asks.get(ring[-1]) not in (None, *ring):
            ring.append(asks[ring[-1]])
        if asks.get(ring[-1]) == name and not known.intersection(ring):
            known.update(ring)
            what = f"{' asks '.join((*ring, name))} for names that none of them knows, and never gets an answer"
            yield Fault(
                ("nodes", name, "dns", "upstream"), what, "a server outside of this ring, or no upstream at one"
            )


def _meets(name: str, segment: int, topology: Topology, book: AddressBook) -> bool:
    """Whether a node leases addresses on a segment."""
    dhcp = topology.node(name).dhcp
    return dhcp is not None and any(
        port.segment == segment and lease_network(dhcp, port.addresses) is not None for port in book.interfaces_of(name)
    )


DPID_TAKEN = f"a number of its own from 1 to {DPID_MAX}"


def openflow_faults(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed; paths begin at the topology."""
    for check in CHECKS:
        yield from check(nodes, links)


def _own(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    for name, controller in _of(nodes, ControllerNodeFile):
        yield from (fault.under("nodes", name) for fault in controller.faults())
        if name == NOBODY:
            yield Fault(("nodes", name), f"{NOBODY!r} is how a switch says that it has no controller", "another name")


def _no_links(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    for name, link in links.items():
        for index, end in enumerate(link.ends):
            if end in nodes and nodes[end].kind.openflow == "controller":
                what = f"{end!r} is a controller, which switches reach over its channel, not over a link"
                yield Fault(("links", name, "ends", index), what, "'control: {rtt: 10 ms}' at the controller")


def _controllers(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    known = [name for name, _ in _of(nodes, ControllerNodeFile)]
    for name, switch in _of(nodes, OvsNodeFile):
        controller_name = switch.ovs.controller
        if controller_name is None and len(known) > 1:
            what = f"the switch {name!r} does not say which of the controllers {', '.join(known)} it has"
            yield Fault(("nodes", name), what, f"'controller: {known[0]}', or 'controller: none'")
        elif controller_name is not None and controller_name != NOBODY and controller_name not in known:
            yield Fault(
                ("nodes", name, "controller"),
                f"there is no controller {controller_name!r}",
                one_of((*known, NOBODY), controller_name),
            )


def _dpids(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    owners: dict[int, str] = {}
    for number, (name, switch) in enumerate(_of(nodes, OvsNodeFile), 1):
        dpid = switch.ovs.dpid or number
        other = owners.setdefault(dpid, name)
        if other != name:
            how = "" if switch.ovs.dpid else ", which it has by its position in the file,"
            path = ("nodes", name, "dpid") if switch.ovs.dpid else ("nodes", name)
            yield Fault(path, f"the dpid {dpid} of {name!r}{how} is also that of {other!r}", DPID_TAKEN)


def _flow_rules(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    hosts = [name for name, node in nodes.items() if node.kind.is_local_host]
    for name, controller in _of(nodes, ControllerNodeFile):
        for number, rule in enumerate(controller.rules):
            for key, host in (("from", rule.source), ("to", rule.destination)):
                if host is not None and host not in hosts:
                    path = ("nodes", name, "rules", number, key)
                    yield Fault(path, f"there is no host {host!r}", one_of(hosts, host))


def _rings(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    """In a ring of switches a broadcast goes round for ever, unless the controller of all knows better."""
    switching = {name for name, node in nodes.items() if node.kind.switches_frames}
    ways: dict[str, list[str]] = {name: [] for name in switching}
    for name, link in links.items():
        first, second = link.ends
        if first == second or not switching.issuperset(link.ends):
            continue
        ring = _shortest_path(ways, first, second)
        unsafe = [each for each in ring or () if not _breaks_loops(nodes, each)]
        if unsafe and any(nodes[each].kind.openflow == "switch" for each in ring or ()):
            what = f"link {name!r} closes a ring of switches, in which a broadcast never ends: {_why(nodes, unsafe[0])}"
            allowed = (
                "Open vSwitches with 'app: static' (or an app with 'loops: true') and fail_mode: secure, or no ring"
            )
            yield Fault(("links", name, "ends"), what, allowed)
        ways[first].append(second)
        ways[second].append(first)


def _breaks_loops(nodes: Mapping[str, NodeKeys], name: str) -> bool:
    switch, controller = nodes[name], _controller_of(nodes, name)
    return (
        controller is not None
        and isinstance(switch, OvsNodeFile)
        and switch.ovs.fail_mode != "standalone"
        and controller.controller().breaks_loops
    )


def _why(nodes: Mapping[str, NodeKeys], name: str) -> str:
    switch, controller = nodes[name], _controller_of(nodes, name)
    if not isinstance(switch, OvsNodeFile):
        return f"{name!r} is a plain switch"
    if controller is None:
        return f"{name!r} has no controller"
    if switch.ovs.fail_mode == "standalone":
        return f"{name!r} floods when its controller is away (fail_mode: standalone)"
    return f"the app {controller.app} of {name!r} does not break rings"


def _controller_of(nodes: Mapping[str, NodeKeys], name: str) -> ControllerNodeFile | None:
    switch = nodes[name]
    if not isinstance(switch, OvsNodeFile):
        return None
    known, controller_name = dict(_of(nodes, ControllerNodeFile)), switch.ovs.controller
    return next(iter(known.values()), None) if controller_name is None else known.get(controller_name)


def _shortest_path(ways: Mapping[str, list[str]], start: str, end: str) -> list[str] | None:
    """The switches of a shortest path; None if there is none."""
    before: dict[str, str] = {start: start}
    waiting = deque([start])
    while waiting and end not in before:
        switch = waiting.popleft()
        for neighbour in ways[switch]:
            if neighbour not in before:
                before[neighbour] = switch
                waiting.append(neighbour)
    if end not in before:
        return None
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path


def _of(nodes: Mapping[str, NodeKeys], kind: type[Any]) -> Iterator[tuple[str, Any]]:
    return ((name, node) for name, node in nodes.items() if isinstance(node, kind))


CHECKS = (_own, _no_links, _controllers, _dpids, _flow_rules, _rings)
