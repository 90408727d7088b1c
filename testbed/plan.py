"""The plan: the exact commands that build a topology out of network namespaces, and take it down. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from . import emulator as emulation
from . import node as nodes
from . import timeline as times
from .address import AddressBook, Port, address_book
from .attachment import Wanted
from .command import Command, script, undos
from .error import UserError
from .node import node_netns
from .route import trace
from .stage import Emulator, Stage, Way
from .timeline import Moment
from .topology import ELSEWHERE, Link, Nic, Topology
from .workload import Iperf3Workload, Workload, legs


@dataclass(frozen=True)
class PathHop:
    """A link on the way of the workload's data, and the way the data crosses it."""

    link: Link
    way: Way


@dataclass(frozen=True)
class Leg:
    """The way of data from one host to another, and of what answers it, by the routes that are set up.

    `source_ip` is the sender's address, on the first link there; `destination_ip` the receiver's, on the last.
    """

    source: str
    destination: str
    path: tuple[PathHop, ...]
    back: tuple[PathHop, ...]
    source_ip: IPv4Address | IPv6Address
    destination_ip: IPv4Address | IPv6Address

    @property
    def rtt_ns(self) -> int:
        """There and back, without serialisation, queues and jitter."""
        hops = (*self.path, *self.back)
        return sum((hop.link.forward if hop.way == "forward" else hop.link.backward).delay_ns for hop in hops)

    @property
    def mtu_bytes(self) -> int:
        """The smallest MTU on the data's way."""
        return min((hop.link.mtu_bytes for hop in self.path), default=1500)


@dataclass(frozen=True)
class Plan:
    """What to do to have the network, and what is then where.

    `path` is the way of the workload's data, from the host that the receiver gets it from, and `back` that of what
    answers it, both by the routes that are set up; empty without a workload. `leg` is the same with its addresses,
    `upstream` the leg before it where a cache stands between the workload's ends, None where none does. `background`
    are the ways of other traffic. `timeline` is what happens while the workload runs, up to `until_ns` after its start.
    The nodes `elsewhere` have a kernel of their own. `real_nics` are to be attached before the commands are done.
    """

    commands: tuple[Command, ...]
    book: AddressBook
    emulators: tuple[Emulator, ...]
    path: tuple[PathHop, ...]
    back: tuple[PathHop, ...]
    nics: tuple[tuple[str, Nic], ...]
    upstream: Leg | None = None
    leg: Leg | None = None
    background: tuple[Leg, ...] = ()
    timeline: tuple[Moment, ...] = ()
    until_ns: int = 0
    elsewhere: frozenset[str] = frozenset()
    real_nics: tuple[Wanted, ...] = ()

    def where(self, node: str) -> dict[str, str]:
        """The key of a step that happens at a node: its namespace here, or the node that is elsewhere."""
        return {"on": node} if node in self.elsewhere else {"netns": node_netns(node)}

    @property
    def undos(self) -> tuple[Command, ...]:
        return undos(self.commands)

    def emulator(self, link: str) -> Emulator | None:
        return next((found for found in self.emulators if found.link == link), None)

    def stages(self, *, there: bool) -> tuple[Stage, ...]:
        """The emulators' stages on the way of the data, or (`there` False) on the way of what answers it."""
        return tuple(emulator.stage(way) for emulator, way in self.emulators_passed(there=there))

    def emulators_passed(self, *, there: bool) -> tuple[tuple[Emulator, Way], ...]:
        """The emulators on the way of the data or of the answers, each with the way it is crossed, and each once: what
        the data of one leg crosses is no way of answers, though those of another leg take it too.
        """
        data, answers = self.path, self.back
        if self.upstream is not None:
            data, answers = (*data, *self.upstream.path), (*answers, *self.upstream.back)
        hops = dict.fromkeys(data) if there else dict.fromkeys(hop for hop in answers if hop not in data)
        return tuple((found, hop.way) for hop in hops if (found := self.emulator(hop.link.name)) is not None)

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
        """There on the data's path and back on that of the answers, without serialisation, queues and jitter."""
        hops = (*self.path, *self.back)
        return sum((hop.link.forward if hop.way == "forward" else hop.link.backward).delay_ns for hop in hops)

    @property
    def rtts_ns(self) -> tuple[int, int]:
        """The least and the most that `rtt_ns` can be while schedules are at work."""
        low_ns = high_ns = self.rtt_ns
        for stage in (*self.stages(there=True), *self.stages(there=False)):
            delays = [state.asked.delay_ns for state in stage.history]
            low_ns, high_ns = low_ns + min(delays) - delays[0], high_ns + max(delays) - delays[0]
        return low_ns, high_ns

    @property
    def rate_bps(self) -> int | None:
        """The lowest rate that the data meets at the start; None if it meets none."""
        return lowest_rate_bps(self.path)

    @property
    def mtu_bytes(self) -> int:
        """The smallest MTU on the data's path."""
        return min((hop.link.mtu_bytes for hop in self.path), default=1500)

    def script(self) -> str:
        """The plan for a root shell, with what takes it down again as comments at the end."""
        undo = "".join(f"#   {line}\n" for line in script(self.undos).splitlines())
        later = times.comments(self.timeline)
        told = f"\n# While the workload runs, counted from its start:\n{later}" if later else ""
        nics = "".join(f"{line}\n" for wanted in self.real_nics for line in wanted.script())
        given = "".join(f"#   {line}\n" for wanted in self.real_nics for line in wanted.undo_script())
        return f"#!/bin/sh -e\n{nics}{script(self.commands)}{told}\n# To take it down:\n{undo}{given}"


def lowest_rate_bps(hops: tuple[PathHop, ...]) -> int | None:
    """The lowest rate on a way; None if no link on it has one."""
    asked = [hop.link.forward if hop.way == "forward" else hop.link.backward for hop in hops]
    return min((each.rate_bps for each in asked if each.rate_bps is not None), default=None)


def plan(
    topology: Topology,
    workload: Workload | None = None,
    *,
    seed: int = 1,
    sysctls: tuple[tuple[str, str], ...] = (),
    real_time: bool = False,
    background: tuple[tuple[str, str], ...] = (),
) -> Plan:
    """The plan for a topology with what a workload needs, and other traffic between the pairs (sender, receiver) of
    `background`.

    `seed` draws what is drawn while planning; `sysctls` are for every host, before its own. `real_time` is for
    kernels on the wall clock, where timers are late. Raises UserError for addresses that clash.
    """
    book = address_book(topology)
    pairs = legs(workload) if workload else ()
    found = tuple(leg(topology, book, *pair) for pair in pairs)
    path, back = (found[-1].path, found[-1].back) if found else ((), ())
    others = tuple(leg(topology, book, *pair) for pair in background)
    # The workload's data has the say of what the data direction of a link is, and its last leg the last word.
    ways = {hop.link.name: hop.way for each in (*others, *found) for hop in each.path}
    ends = frozenset(host for pair in (*pairs, *background) for host in pair)
    nics = tuple((node.name, nodes.nic_of(node, topology)) for node in topology.nodes if node.type == "host")
    superpackets = any(kind == "offload" for _, kind in nics)
    until_ns = times.until_ns(workload, topology.links)
    times.check(topology.links, until_ns)
    emulators = tuple(
        emulation.emulator(link, ways.get(link.name, "forward"), seed, until_ns, superpackets=superpackets)
        for link in topology.links
        if link.is_emulated
    )
    commands = [
        *(c for node in topology.nodes for c in _namespace(node_netns(node.name))),
        *(c for e in emulators for c in _namespace(e.netns)),
        *(c for link in topology.links for c in _cables(link, book)),
        *(c for node in topology.nodes for c in nodes.commands(node, topology, book, sysctls, ends)),
        *(c for node, kind in nics for c in nodes.nic_commands(node, kind, topology, book)),
        *(Command("write", (nodes.NO_IPV6, "1"), e.netns) for e in emulators),
        *(c for e in emulators for c in nodes.ups(e.netns, ("end0", "end1", "wire0", "wire1"))),
    ]
    exempt = isinstance(workload, Iperf3Workload)
    for e in emulators:
        commands += emulation.commands(e, superpackets=superpackets, real_time=real_time, exempt_control=exempt)
    return Plan(
        tuple(commands),
        book,
        emulators,
        path,
        back,
        nics,
        upstream=found[0] if len(found) > 1 else None,
        leg=found[-1] if found else None,
        background=others,
        timeline=times.timeline(emulators, real_time=real_time),
        until_ns=until_ns,
        elsewhere=frozenset(node.name for node in topology.nodes if node.type in ELSEWHERE),
        real_nics=tuple(_real_nics(topology)),
    )


def _real_nics(topology: Topology) -> Iterator[Wanted]:
    """A NIC takes the largest frames of its switch's links."""
    for node in topology.nodes:
        if node.real_nic is not None:
            yield Wanted(node.real_nic, max((link.mtu_bytes for link in topology.links_of(node.name)), default=1500))


def leg(topology: Topology, book: AddressBook, source: str, destination: str) -> Leg:
    """The way to the receiver's address on the last link of a shortest path, and the way back to the sender's."""
    links = topology.path(source, destination)
    assert links, "BUG: a workload without a path"
    to = book.port(destination, links[-1].name).addresses[0].ip
    there = _hops(trace(topology, book, source, to), source, destination)
    sender = book.port(source, there[0].link.name).addresses
    back_to = next((address.ip for address in sender if address.version == to.version), None)
    if back_to is None:
        raise UserError(
            f"{source} has no IPv{to.version} address on the link {there[0].link.name}, over which it would "
            f"reach {to}; allowed: addresses of the same kind at both ends"
        )
    back = _hops(trace(topology, book, destination, back_to), source, destination)
    return Leg(source, destination, there, back, back_to, to)


def _hops(found: tuple[tuple[Link, str], ...] | None, source: str, destination: str) -> tuple[PathHop, ...]:
    if not found:
        raise UserError(
            f"by the addresses and routes there is no way between {source} and {destination}; "
            "allowed: addresses of one network on each segment, or none, which makes them automatic"
        )
    return tuple(PathHop(link, "forward" if entered == link.ends[0] else "backward") for link, entered in found)


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
