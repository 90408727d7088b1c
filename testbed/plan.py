"""The plan: the exact commands that build a topology out of network namespaces, and take it down. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Literal, TypeAlias

from . import emulator as emulation
from .address import AddressBook, Port, address_book
from .command import PREFIX, Command, script, undos
from .emulator import Emulator, Stage, Way
from .route import routes
from .topology import Link, Nic, Node, Topology
from .workload import Iperf3Workload, Workload

NIC_DEFAULT: Nic = "offload"

NEIGHBOURS_MAX = 32
"""Segments with at most so many addresses get static neighbours, so that no first packet pays for ARP."""

GRO_FLUSH_NS, DEFER_INTERRUPTS = 20_000, 1
"""Interrupt coalescing of a NIC with offloads: received packets are merged for up to this long."""

WINDOW_MAX_BYTES = 2**30
"""The largest window that TCP can announce (RFC 7323), and that the kernel accepts for a socket."""

Sysctls: TypeAlias = tuple[tuple[str, str], ...]

HOST_SYSCTLS: Sysctls = (
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_rmem", "4096 131072 2147483647"),
    ("net.ipv4.tcp_wmem", "4096 16384 2147483647"),
)
ROUTER_SYSCTLS: Sysctls = (
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.all.send_redirects", "0"),
)


@dataclass(frozen=True)
class PathHop:
    """A link on the way of the workload's data, and the way the data crosses it."""

    link: Link
    way: Way


@dataclass(frozen=True)
class Plan:
    """What to do to have the network, and what is then where.

    `path` is the way of the workload's data, from the sender to the receiver; empty without a workload.
    """

    commands: tuple[Command, ...]
    book: AddressBook
    emulators: tuple[Emulator, ...]
    path: tuple[PathHop, ...]
    nics: tuple[tuple[str, Nic], ...]

    @property
    def undos(self) -> tuple[Command, ...]:
        return undos(self.commands)

    def emulator(self, link: str) -> Emulator | None:
        return next((found for found in self.emulators if found.link == link), None)

    def stages(self, *, there: bool) -> tuple[Stage, ...]:
        """The emulators' stages on the way of the data, or (`there` False) on the way of what answers it."""
        found = []
        for hop in self.path if there else reversed(self.path):
            emulator = self.emulator(hop.link.name)
            if emulator is not None:
                found.append(emulator.stage(hop.way if there else _opposite(hop.way)))
        return tuple(found)

    @property
    def namespaces(self) -> int:
        """How many network namespaces it makes."""
        return sum(command.words[:2] == ("netns", "add") for command in self.commands)

    @property
    def destination(self) -> IPv4Address | IPv6Address:
        """The address that the workload's data goes to: on the last link of its path."""
        last = self.path[-1]
        node = last.link.ends[1 if last.way == "forward" else 0]
        return self.book.port(node, last.link.name).addresses[0].ip

    @property
    def rtt_ns(self) -> int:
        """Of the data's path, without serialisation, queues and jitter."""
        return sum(hop.link.rtt_ns for hop in self.path)

    @property
    def rate_bps(self) -> int | None:
        """The lowest rate that the data meets; None if it meets none."""
        rates = [stage.asked.rate_bps for stage in self.stages(there=True) if stage.asked.rate_bps is not None]
        return min(rates, default=None)

    @property
    def mtu_bytes(self) -> int:
        """The smallest MTU on the data's path."""
        return min((hop.link.mtu_bytes for hop in self.path), default=1500)

    def script(self) -> str:
        """The plan for a root shell, with what takes it down again as comments at the end."""
        undo = "".join(f"#   {line}\n" for line in script(self.undos).splitlines())
        return f"#!/bin/sh -e\n{script(self.commands)}\n# To take it down:\n{undo}"


def plan(
    topology: Topology,
    workload: Workload | None = None,
    *,
    seed: int = 1,
    sysctls: tuple[tuple[str, str], ...] = (),
    real_time: bool = False,
) -> Plan:
    """The plan for a topology with what a workload needs.

    `seed` draws what is drawn while planning; `sysctls` are for every host, before its own. `real_time` is for
    kernels on the wall clock, where timers are late. Raises UserError for addresses that clash.
    """
    book = address_book(topology)
    path = _path(topology, workload)
    ways = {hop.link.name: hop.way for hop in path}
    nics = tuple((node.name, _nic(node, topology)) for node in topology.nodes if node.type == "host")
    superpackets = any(kind == "offload" for _, kind in nics)
    emulators = tuple(
        emulation.emulator(link, ways.get(link.name, "forward"), seed, superpackets=superpackets)
        for link in topology.links
        if link.is_emulated
    )
    commands = [
        *(c for node in topology.nodes for c in _namespace(node_netns(node.name))),
        *(c for e in emulators for c in _namespace(e.netns)),
        *(c for link in topology.links for c in _cables(link, book)),
        *(c for node in topology.nodes for c in _node(node, topology, book, sysctls)),
        *(c for node, kind in nics for c in _nic_commands(node, kind, topology, book)),
        *(c for e in emulators for c in _ups(e.netns, ("end0", "end1", "wire0", "wire1"))),
    ]
    exempt = isinstance(workload, Iperf3Workload)
    for e in emulators:
        commands += emulation.commands(e, superpackets=superpackets, real_time=real_time, exempt_control=exempt)
    return Plan(tuple(commands), book, emulators, path, nics)


def node_netns(node: str) -> str:
    """The network namespace of a node."""
    return f"{PREFIX}{node}"


def _path(topology: Topology, workload: Workload | None) -> tuple[PathHop, ...]:
    if workload is None:
        return ()
    links = topology.path(workload.source, workload.destination)
    assert links is not None, "BUG: a workload without a path"
    hops, here = [], workload.source
    for link in links:
        hops.append(PathHop(link, "forward" if link.ends[0] == here else "backward"))
        here = link.other_end(here)
    return tuple(hops)


def _opposite(way: Way) -> Way:
    return "backward" if way == "forward" else "forward"


def _nic(node: Node, topology: Topology) -> Nic:
    return node.nic or topology.nic or NIC_DEFAULT


def _namespace(netns: str) -> Iterator[Command]:
    yield Command("ip", ("netns", "add", netns), None, ("netns", "del", netns))


def _cables(link: Link, book: AddressBook) -> Iterator[Command]:
    """One veth pair, or three where the emulator stands in the middle. Removing a namespace removes its devices."""
    first, second = (book.port(end, link.name) for end in link.ends)
    if not link.is_emulated:
        yield _cable(_end(first), _end(second), link.mtu_bytes)
        return
    netns = emulation.emulator_netns(link.name)
    yield _cable(_end(first), ("end0", netns, None), link.mtu_bytes)
    yield _cable(("wire0", netns, None), ("wire1", netns, None), link.mtu_bytes)
    yield _cable(_end(second), ("end1", netns, None), link.mtu_bytes)


_End = tuple[str, str, str | None]
"""A device's name, its namespace and its MAC address."""


def _end(port: Port) -> _End:
    return port.device, node_netns(port.node), port.mac


def _cable(first: _End, second: _End, mtu_bytes: int) -> Command:
    def words(end: _End) -> tuple[str, ...]:
        device, netns, mac = end
        address = ("address", mac) if mac else ()
        return ("name", device, *address, "mtu", str(mtu_bytes), "netns", netns)

    return Command("ip", ("link", "add", *words(first), "type", "veth", "peer", *words(second)))


def _node(node: Node, topology: Topology, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    """Turns a namespace with its cables into a node of its type."""
    ports = book.ports_of(node.name)
    netns = node_netns(node.name)
    yield from _NODES[node.type](node, book, sysctls)
    yield from _ups(netns, ("lo", *(port.device for port in ports)))
    if node.type != "switch":
        yield from _neighbours(node, book)
        yield from _routes(node, topology, book)


def _host(node: Node, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    yield from _sysctls(node, book, (*HOST_SYSCTLS, *sysctls))
    yield from _addresses(node, book)


def _router(node: Node, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    yield from _sysctls(node, book, ROUTER_SYSCTLS)
    yield from _addresses(node, book)


def _switch(node: Node, book: AddressBook, sysctls: Sysctls) -> Iterator[Command]:
    netns = node_netns(node.name)
    yield Command("write", (_sysctl_path("net.ipv6.conf.all.disable_ipv6"), "1"), netns)
    stp = "1" if node.stp else "0"
    bridge = ("link", "add", "br0", "type", "bridge", "stp_state", stp, "mcast_snooping", "0")
    yield Command("ip", bridge, netns, ("link", "del", "br0"))
    for port in book.ports_of(node.name):
        yield Command("ip", ("link", "set", port.device, "master", "br0"), netns)
    yield from _ups(netns, ("br0",))


_NODES = {"host": _host, "router": _router, "switch": _switch}


def _sysctls(node: Node, book: AddressBook, common: Sysctls) -> Iterator[Command]:
    """IPv6 is off where no address asks for it: neighbour discovery would be traffic that nobody described."""
    netns = node_netns(node.name)
    has_v6 = any(a.version == 6 for port in book.ports_of(node.name) for a in port.addresses)
    yield Command("write", (_sysctl_path("net.ipv6.conf.all.disable_ipv6"), "0" if has_v6 else "1"), netns)
    for key, value in (*common, *node.sysctls):
        yield Command("write", (_sysctl_path(key), value), netns)


def _sysctl_path(key: str) -> str:
    return "/proc/sys/" + (key if "/" in key else key.replace(".", "/"))


def _addresses(node: Node, book: AddressBook) -> Iterator[Command]:
    for port in book.ports_of(node.name):
        for address in port.addresses:
            nodad = ("nodad",) if address.version == 6 else ()
            yield Command("ip", ("address", "add", str(address), "dev", port.device, *nodad), node_netns(node.name))


def _neighbours(node: Node, book: AddressBook) -> Iterator[Command]:
    for port in book.ports_of(node.name):
        members = book.members(port.segment)
        if len(members) > NEIGHBOURS_MAX:
            continue
        for other in members:
            for address in other.addresses if other.node != node.name else ():
                words = ("neighbour", "replace", str(address.ip), "lladdr", other.mac, "dev", port.device)
                yield Command("ip", (*words, "nud", "permanent"), node_netns(node.name))


def _routes(node: Node, topology: Topology, book: AddressBook) -> Iterator[Command]:
    netns = node_netns(node.name)
    for hop in routes(topology, book, node.name):
        for via in hop.via.addresses:
            if hop.to is None or hop.to.version == via.version:
                to = "default" if hop.to is None else str(hop.to)
                family = ("-6",) if via.version == 6 and hop.to is None else ()
                words = (*family, "route", "replace", to, "via", str(via.ip), "dev", hop.port.device)
                yield Command("ip", words, netns)
    for route in node.routes:
        yield Command("ip", ("route", "replace", route.to, "via", route.via), netns)


def _ups(netns: str, devices: tuple[str, ...]) -> Iterator[Command]:
    for device in devices:
        yield Command("ip", ("link", "set", device, "up"), netns)


def _nic_commands(
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
