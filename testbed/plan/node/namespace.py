"""Commands that set up a node's network namespace: sysctls, addresses, neighbours, routes, and NIC features.

`make` combines them for each node type. Pure, no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Literal, TypeAlias

from ...model.address import AddressBook
from ...model.route import routes
from ...model.topology import Ecn, Nic, Node, Topology
from ..command import PREFIX, Command
from ..link.tclink import is_emulated, is_tclink
from ..linux import CUTS, Address, Neighbour, Offloads, Route, Segments, Up, VlanDevice, Write
from .control_channel import NO_IPV6

NIC_DEFAULT: Nic = "offload"
TCLINK_NIC_DEFAULT: Nic = "plain"
"""A TCLink counts buffers of the kernel, each with a packet or a superpacket of up to 64 KB; `plain` avoids those."""

NEIGHBOURS_MAX = 32
"""All nodes of a segment with at most so many members get static neighbours, so that no packet waits for ARP. In larger
segments only the ends of the workload and the routers are static neighbours."""

PACKET_BY_PACKET = (*CUTS, "gro", "off", "lro", "off")

GRO_FLUSH_NS, DEFER_INTERRUPTS = 20_000, 1
"""The interrupt coalescing of a NIC with offloads, which merges received packets for up to this long."""

Sysctls: TypeAlias = tuple[tuple[str, str], ...]

SYSCTLS = "/proc/sys/"
MODULES = "/sys/module/"
"""Where the parameters of modules are; a kernel has them once, for all network namespaces."""
ECN_SYSCTL = "net.ipv4.tcp_ecn"
ECN_VALUES: Mapping[Ecn, str] = {"off": "0", "on": "1", "accurate": "3"}
"""What Linux 7.3 (Documentation/networking/ip-sysctl.rst) asks for and accepts with each value."""

HOST_ALLOWED = "kernel: lab, or sysctls of the network (net.…)"

QUIET_IPV6 = ("accept_dad", "accept_ra")
"""Off for every device, and by default for VLAN devices: duplicate address detection, and router advertisements."""


def node_netns(node: str) -> str:
    """The network namespace of a node."""
    return f"{PREFIX}{node}"


def nic_of(node: Node, topology: Topology) -> Nic:
    counts = any(is_tclink(topology, link) for link in topology.links)
    return node.nic or topology.nic or (TCLINK_NIC_DEFAULT if counts else NIC_DEFAULT)


def set_sysctls(node: Node, book: AddressBook, common: Sysctls) -> Iterator[Command]:
    """Sets the sysctls. IPv6 is off on nodes without IPv6 addresses, as its neighbour discovery would add traffic."""
    netns = node_netns(node.name)
    has_v6 = any(a.version == 6 for port in book.interfaces_of(node.name) for a in port.addresses)
    yield Write(NO_IPV6, "0" if has_v6 else "1", netns=netns)
    for device in ("default", *(port.device for port in book.ports_of(node.name))) if has_v6 else ():
        for key in QUIET_IPV6:
            yield Write(f"/proc/sys/net/ipv6/conf/{device}/{key}", "0", netns=netns)
    for key, value in (*common, *(of_namespace(node.sysctls) if node.kind.runs_in == "computer" else node.sysctls)):
        yield Write(_sysctl_path(key), value, netns=netns)
    if node.ecn is not None:
        yield Write(_sysctl_path(ECN_SYSCTL), ECN_VALUES[node.ecn], netns=netns)


def of_namespace(sysctls: Sysctls) -> Sysctls:
    """Those sysctls of a machine that every network namespace has for itself."""
    return tuple((key, value) for key, value in sysctls if re.match(r"net[./]ipv[46][./]", key))


def of_machine(sysctls: Sysctls) -> Sysctls:
    """The other sysctls, which `testbed machines prepare` sets permanently."""
    return tuple(pair for pair in sysctls if pair not in of_namespace(sysctls))


def _sysctl_path(key: str) -> str:
    """Of module.tcp_cubic.beta, the file of that parameter."""
    words = (key if "/" in key else key.replace(".", "/")).split("/")
    if words[0] == "module" and len(words) == 3:
        return f"{MODULES}{words[1]}/parameters/{words[2]}"
    return SYSCTLS + "/".join(words)


def written_sysctls(commands: Iterable[Command]) -> Iterator[tuple[str, str | None]]:
    """The sysctls, such as net/ipv4/tcp_ecn, that commands set in the kernel that they run on, and the namespaces."""
    for command in commands:
        if isinstance(command, Write) and command.on is None and command.path.startswith((SYSCTLS, MODULES)):
            yield command.path.removeprefix(SYSCTLS), command.netns


def refused_by_host(sysctl: str) -> str | None:
    """Why a trial must not set a sysctl of the host's kernel; None if a network namespace may have its own."""
    if sysctl.startswith("net/"):
        return None
    if sysctl.startswith(MODULES):
        module, _, name = sysctl.removeprefix(MODULES).split("/")
        return f"the parameter {name} of {module} belongs to the whole computer and would stay as the trial set it"
    return f"the sysctl {sysctl.replace('/', '.')} belongs to the whole computer and would stay as the trial set it"


def add_vlan_devices(node: Node, book: AddressBook) -> Iterator[Command]:
    """Adds a device for each VLAN of a trunk to a host or router. It disappears with the device below."""
    for port in book.interfaces_of(node.name):
        if port.tag is not None:
            below = book.port(node.name, port.link).device
            yield VlanDevice(port.device, below, port.tag, netns=node_netns(node.name))


def add_addresses(node: Node, book: AddressBook) -> Iterator[Command]:
    """Those that no DHCP server gives."""
    for port in () if node.takes_lease else book.interfaces_of(node.name):
        for address in port.addresses:
            yield Address(str(address), port.device, netns=node_netns(node.name))


def add_neighbours(node: Node, book: AddressBook, always: frozenset[str], unknown: frozenset[str]) -> Iterator[Command]:
    """Adds static neighbours, except those in `unknown`, whose MAC addresses the plan does not know."""
    for port in book.interfaces_of(node.name):
        members = book.members(port.segment)
        if len(members) > NEIGHBOURS_MAX:
            members = tuple(member for member in members if member.node in always)
        for other in members:
            for address in other.addresses if other.node not in (node.name, *unknown) else ():
                yield Neighbour(str(address.ip), other.mac, port.device, netns=node_netns(node.name))


def add_routes(node: Node, topology: Topology, book: AddressBook) -> Iterator[Command]:
    """Those of the plan, unless routing daemons find them, and those of the user."""
    netns = node_netns(node.name)
    for hop in () if node.finds_routes else routes(topology, book, node.name):
        for via in hop.via.addresses:
            if hop.to is None or hop.to.version == via.version:
                to = _everything(via.version) if hop.to is None else str(hop.to)
                yield Route(to, str(via.ip), hop.port.device, netns=netns)
    for route in node.routes:
        to = _everything(ip_address(route.via).version) if route.to == "default" else route.to
        yield Route(to, route.via, netns=netns)


def _everything(version: int) -> str:
    return "default" if version == 4 else "::/0"  # a batch has no -6


def ups(netns: str, devices: tuple[str, ...]) -> Iterator[Command]:
    for device in devices:
        yield Up(device, netns=netns)


def nic_commands(
    node: str, kind: Literal["offload", "plain"], topology: Topology, book: AddressBook
) -> Iterator[Command]:
    """Sets the offloads of a node's NICs. `offload`: TSO on, received packets merged (veth merges only if the device
    that feeds it does no TSO). `plain`: every packet stays single from end to end. A virtual machine's NIC merges only
    behind an emulator, which cuts superpackets; a bridge between machines passes them on whole.
    """
    netns = node_netns(node)
    if topology.node(node).kind.runs_in == "computer":
        yield from _machine_nics(topology.node(node), kind, book)
        return
    is_vm = topology.node(node).kind.runs_in == "virtual machine"
    for port in book.ports_of(node):
        link = topology.link(port.link)
        if kind == "plain":
            whole = Offloads(port.device, (*CUTS, "gro", "off"), netns=netns)
            yield whole
            if is_vm:
                yield replace(whole, netns=None, on=node)
            if is_tclink(topology, link):  # what `gso off` leaves whole is cut below the queues, not above
                yield Segments(port.device, 1, netns=netns)
            continue
        other = link.other_end(node)
        if is_vm and not link.is_emulated:
            continue
        if not is_emulated(topology, link) and not topology.node(other).kind.has_offloads:
            feeder = book.port(other, link.name)
            yield Offloads(feeder.device, CUTS, netns=node_netns(other))
        yield merging(port.device, netns)
        queue = f"/sys/class/net/{port.device}"
        yield Write(f"{queue}/gro_flush_timeout", str(GRO_FLUSH_NS), netns=netns)
        yield Write(f"{queue}/napi_defer_hard_irqs", str(DEFER_INTERRUPTS), netns=netns)


def merging(device: str, netns: str) -> Offloads:
    """Makes a device merge the packets that it receives."""
    return Offloads(device, ("gro", "on"), netns=netns)


def _machine_nics(node: Node, kind: Nic, book: AddressBook) -> Iterator[Command]:
    """A real NIC with offloads stays as it is, except that a router must not merge packets."""
    if kind == "plain" or node.is_router:
        for port in book.ports_of(node.name):
            yield Offloads(port.device, PACKET_BY_PACKET, netns=node_netns(node.name))
