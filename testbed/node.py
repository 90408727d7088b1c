"""Nodes: commands that turn a network namespace with cables into a host, router or switch. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from .address import AddressBook
from .attachment import take_in
from .command import PREFIX, Command
from .route import routes
from .topology import Nic, Node, Topology

NIC_DEFAULT: Nic = "offload"

NEIGHBOURS_MAX = 32
"""Segments with at most so many addresses get static neighbours, so that no first packet pays for ARP; in larger ones
the ends of the workload and the routers are known to all."""

GRO_FLUSH_NS, DEFER_INTERRUPTS = 20_000, 1
"""Interrupt coalescing of a NIC with offloads: received packets are merged for up to this long."""

Sysctls: TypeAlias = tuple[tuple[str, str], ...]

REAL_NIC = "nic0"
"""The port of a switch that is a real NIC."""

NO_IPV6 = "/proc/sys/net/ipv6/conf/all/disable_ipv6"

HOST_SYSCTLS: Sysctls = (
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_rmem", "4096 131072 1073741824"),
    ("net.ipv4.tcp_wmem", "4096 16384 1073741824"),
)
"""Autotuning may go up to 1 GiB, not 2: the kernel counts what a socket holds in an int, which then overflows."""
ROUTER_SYSCTLS: Sysctls = (
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.all.send_redirects", "0"),
)


def node_netns(node: str) -> str:
    """The network namespace of a node."""
    return f"{PREFIX}{node}"


def nic_of(node: Node, topology: Topology) -> Nic:
    return node.nic or topology.nic or NIC_DEFAULT


def commands(
    node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls, ends: frozenset[str]
) -> Iterator[Command]:
    """Turns a namespace with its cables into a node of its type; `ends` are the nodes of the workload."""
    ports = book.ports_of(node.name)
    netns = node_netns(node.name)
    yield from _NODES[node.type](node, book, sysctls)
    yield from ups(netns, ("lo", *(port.device for port in ports)))
    if node.type != "switch":
        routers = {each.name for each in topology.nodes if each.type == "router"}
        yield from _neighbours(node, book, ends | routers)
        yield from _routes(node, topology, book)


def _host(node: Node, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    yield from _sysctls(node, book, (*HOST_SYSCTLS, *sysctls))
    yield from _addresses(node, book)


def _router(node: Node, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    yield from _sysctls(node, book, ROUTER_SYSCTLS)
    yield from _addresses(node, book)


def _switch(node: Node, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    netns = node_netns(node.name)
    yield Command("write", (NO_IPV6, "1"), netns)
    stp = "1" if node.stp else "0"
    bridge = ("link", "add", "br0", "type", "bridge", "stp_state", stp, "mcast_snooping", "0")
    yield Command("ip", bridge, netns, ("link", "del", "br0"))
    for port in book.ports_of(node.name):
        yield Command("ip", ("link", "set", port.device, "master", "br0"), netns)
    if node.real_nic is not None:
        yield take_in(node.real_nic, netns, REAL_NIC)
        yield Command("ip", ("link", "set", REAL_NIC, "master", "br0"), netns)
        yield from ups(netns, (REAL_NIC,))
    yield from ups(netns, ("br0",))


_NODES = {"host": _host, "router": _router, "switch": _switch}


def _sysctls(node: Node, book: AddressBook, common: Sysctls) -> Iterator[Command]:
    """IPv6 is off where no address asks for it: neighbour discovery would be traffic that nobody described."""
    netns = node_netns(node.name)
    has_v6 = any(a.version == 6 for port in book.ports_of(node.name) for a in port.addresses)
    yield Command("write", (NO_IPV6, "0" if has_v6 else "1"), netns)
    for key, value in (*common, *node.sysctls):
        yield Command("write", (_sysctl_path(key), value), netns)


def _sysctl_path(key: str) -> str:
    return "/proc/sys/" + (key if "/" in key else key.replace(".", "/"))


def _addresses(node: Node, book: AddressBook) -> Iterator[Command]:
    for port in book.ports_of(node.name):
        for address in port.addresses:
            nodad = ("nodad",) if address.version == 6 else ()
            yield Command("ip", ("address", "add", str(address), "dev", port.device, *nodad), node_netns(node.name))


def _neighbours(node: Node, book: AddressBook, always: frozenset[str]) -> Iterator[Command]:
    for port in book.ports_of(node.name):
        members = book.members(port.segment)
        if len(members) > NEIGHBOURS_MAX:
            members = tuple(member for member in members if member.node in always)
        for other in members:
            for address in other.addresses if other.node != node.name else ():
                words = ("neighbour", "replace", str(address.ip), "lladdr", other.mac, "dev", port.device)
                yield Command("ip", (*words, "nud", "permanent"), node_netns(node.name))


def _routes(node: Node, topology: Topology, book: AddressBook) -> Iterator[Command]:
    netns = node_netns(node.name)
    for hop in routes(topology, book, node.name):
        for via in hop.via.addresses:
            if hop.to is None or hop.to.version == via.version:
                everything = "default" if via.version == 4 else "::/0"  # a batch has no -6
                to = everything if hop.to is None else str(hop.to)
                words = ("route", "replace", to, "via", str(via.ip), "dev", hop.port.device)
                yield Command("ip", words, netns)
    for route in node.routes:
        yield Command("ip", ("route", "replace", route.to, "via", route.via), netns)


def ups(netns: str, devices: tuple[str, ...]) -> Iterator[Command]:
    for device in devices:
        yield Command("ip", ("link", "set", device, "up"), netns)


def nic_commands(
    node: str, kind: Literal["offload", "plain"], topology: Topology, book: AddressBook
) -> Iterator[Command]:
    """`offload`: TSO on, and what arrives is merged (veth does so only if the device that feeds it does no TSO).
    `plain`: every packet on its own from end to end.
    """
    netns = node_netns(node)
    for port in book.ports_of(node):
        if kind == "plain":
            yield Command("ethtool", ("-K", port.device, "tso", "off", "gso", "off", "gro", "off"), netns)
            continue
        link = topology.link(port.link)
        other = link.other_end(node)
        if not link.is_emulated and topology.node(other).type != "host":
            feeder = book.port(other, link.name)
            yield Command("ethtool", ("-K", feeder.device, "tso", "off", "gso", "off"), node_netns(other))
        yield Command("ethtool", ("-K", port.device, "gro", "on"), netns)
        queue = f"/sys/class/net/{port.device}"
        yield Command("write", (f"{queue}/gro_flush_timeout", str(GRO_FLUSH_NS)), netns)
        yield Command("write", (f"{queue}/napi_defer_hard_irqs", str(DEFER_INTERRUPTS)), netns)
