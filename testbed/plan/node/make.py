"""Node types as commands: what turns a network namespace with cables into a node of each type. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ...model.address import AddressBook
from ...model.node.type import NODE_TYPES
from ...model.topology import Node, Topology
from ..command import Command
from ..linux import Bridge, Device, Member, Write
from . import namespace, ruleset, vm
from .control_channel import NO_IPV6
from .namespace import Sysctls, node_netns, ups
from .real_nic import take_in

REAL_NIC = "nic0"
"""The port of a switch that is a real NIC."""

HOST_SYSCTLS: Sysctls = (
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_rmem", "4096 131072 1073741824"),
    ("net.ipv4.tcp_wmem", "4096 16384 1073741824"),
)
"""Autotuning may go up to 1 GiB. With 2 GiB, the int in which the kernel counts a socket's memory would overflow."""
ROUTER_SYSCTLS: Sysctls = (
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.default.send_redirects", "0"),
)
"""Those of a router; `_forwarding` adds its devices."""

Maker: TypeAlias = Callable[[Node, Topology, AddressBook, Sysctls], Iterator[Command]]
"""Makes the commands for a node whose namespace and cables exist; the sysctls are those of all hosts."""


def commands(
    node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls, ends: frozenset[str]
) -> Iterator[Command]:
    """Turns a namespace with its cables into a node of its type; `ends` are the nodes of the workload. For a virtual
    machine, the commands that run inside it follow those outside.
    """
    own = _commands(node, topology, book, sysctls, ends)
    if node.kind.runs_in != "virtual machine":
        yield from own
        return
    netns = node_netns(node.name)
    yield Write(NO_IPV6, "1", netns=netns)
    yield from vm.outside(node, topology, book, netns)
    for port in book.ports_of(node.name):
        yield Device(port.device, "mtu", str(topology.link(port.link).mtu_bytes), on=node.name)
    yield from (vm.inside(command, node.name) for command in own)


def _commands(
    node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls, ends: frozenset[str]
) -> Iterator[Command]:
    yield from MAKERS[node.type](node, topology, book, sysctls)
    yield from ups(node_netns(node.name), ("lo", *(port.device for port in book.interfaces_of(node.name))))
    if not node.kind.has_addresses:
        return
    if node.kind.runs_in != "computer" and topology.neighbours == "static":
        routers = {each.name for each in topology.nodes if each.is_router}
        computers = frozenset(each.name for each in topology.nodes if each.kind.runs_in == "computer")
        yield from namespace.add_neighbours(node, book, ends | routers, computers)
    if not node.takes_lease:
        yield from namespace.add_routes(node, topology, book)


def _host(node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    yield from namespace.set_sysctls(node, book, (*HOST_SYSCTLS, *sysctls))
    yield from namespace.add_vlan_devices(node, book)
    yield from namespace.add_addresses(node, book)


def _forwarding(node: Node, book: AddressBook) -> Sysctls:
    """The sysctls of a router. It sends ICMP redirects if `all` or the device says so; VLAN devices take `default`."""
    devices = (port.device for port in book.ports_of(node.name))
    return (*ROUTER_SYSCTLS, *((f"net/ipv4/conf/{device}/send_redirects", "0") for device in devices))


def _router(node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    yield from namespace.set_sysctls(node, book, _forwarding(node, book))
    yield from namespace.add_vlan_devices(node, book)
    yield from namespace.add_addresses(node, book)
    yield from ruleset.commands(node, book)


def _switch(node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    """A switch. Mininet makes the bridge itself."""
    netns = node_netns(node.name)
    yield Write(NO_IPV6, "1", netns=netns)
    if topology.engine == "mininet":
        yield from _vlans(node, book)
        return
    filtering = ("vlan_filtering", "1", "vlan_default_pvid", "0") if node.vlans else ()
    yield from bridge(node, book, ("stp_state", "1" if node.stp else "0", "mcast_snooping", "0", *filtering))
    if node.real_nic is not None:
        yield take_in(node.real_nic, netns, REAL_NIC)
        yield Device(REAL_NIC, "master", "br0", netns=netns)
        yield from ups(netns, (REAL_NIC,))
    yield from _vlans(node, book)
    yield from ups(netns, ("br0",))


def bridge(node: Node, book: AddressBook, options: tuple[str, ...]) -> Iterator[Command]:
    """The bridge br0 with all ports of the node. The bridge is not up yet."""
    netns = node_netns(node.name)
    yield Bridge("br0", options, netns=netns)
    for port in book.ports_of(node.name):
        yield Device(port.device, "master", "br0", netns=netns)


def _vlans(node: Node, book: AddressBook) -> Iterator[Command]:
    netns = node_netns(node.name)
    for member in node.vlans:
        device = book.port(node.name, member.link).device
        for vlan in member.vlans:
            yield Member(device, vlan, () if member.is_trunk else ("pvid", "untagged"), netns=netns)


def _machine(node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    common = _forwarding(node, book) if node.is_router else HOST_SYSCTLS
    yield from namespace.set_sysctls(node, book, (*common, *sysctls))
    yield from namespace.add_addresses(node, book)


def _of_openflow(node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    """An Open vSwitch or a controller, which is started after the network is built."""
    yield Write(NO_IPV6, "1", netns=node_netns(node.name))


def _vm(node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    yield from _host(node, topology, book, (*vm.SYSCTLS, *sysctls))


MAKERS: dict[str, Maker] = {
    "host": _host,
    "switch": _switch,
    "router": _router,
    "ovs": _of_openflow,
    "controller": _of_openflow,
    "vm": _vm,
    "machine": _machine,
}
"""One for each name of NODE_TYPES."""


def register(name: str, maker: Maker) -> None:
    """Adds the maker of a node type from outside this package."""
    assert name in NODE_TYPES, f"BUG: {name!r} is no node type"
    assert name not in MAKERS, f"BUG: two node types with the name {name!r}"
    MAKERS[name] = maker
