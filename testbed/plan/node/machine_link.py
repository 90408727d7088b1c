"""Links that reach machines: moves the machines' interfaces to where the plan needs them. Pure, no I/O.

The interface that a machine lends to a link moves into a network namespace on that machine. Namespace and interface get
the names that they would have on this computer: `tb-NODE` with eth0, …, or the emulator's with end0 and end1. So all
later commands are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ...error import UserError
from ...model.address import AddressBook, Port
from ...model.topology import Link, Node, Topology
from ..command import Command, Raw, home
from ..link.stage import Emulator
from ..linux import Cable, Device, Move, Offloads
from .namespace import PACKET_BY_PACKET, node_netns


def reaches_machine(link: Link, topology: Topology) -> bool:
    return link.emulator is not None or any(topology.node(end).kind.runs_in == "computer" for end in link.ends)


def has_place(node: Node, topology: Topology) -> bool:
    """Whether a node has a network namespace: a machine that only emulates links between others has none."""
    return node.kind.runs_in != "computer" or bool(topology.links_of(node.name))


def cables(link: Link, emulator_netns: str, topology: Topology, book: AddressBook) -> Iterator[Command]:
    """The commands that connect a link. Real cables exist already, so a machine's interface only moves in. An emulator
    and a node on the same machine get a virtual cable.
    """
    ports = tuple(book.port(end, link.name) for end in link.ends)
    for node in map(topology.node, link.ends):
        if node.kind.runs_in != "computer":
            _check_here(link, node)
    if not link.is_emulated:
        for port in ports:
            yield from _lent(link, topology, port)
        return
    for number, port in enumerate(ports):
        end = f"end{number}"
        if link.emulator == port.node:
            first = (port.device, node_netns(port.node), port.mac)
            yield Cable(first, (end, emulator_netns, None), link.mtu_bytes)
            continue
        yield from _lent(link, topology, port)
        yield from _move(link, _middle_nic(link, topology, number), end, emulator_netns)
    yield Cable(("wire0", emulator_netns, None), ("wire1", emulator_netns, None), link.mtu_bytes)


def ports_here(node: Node, topology: Topology, book: AddressBook) -> AddressBook:
    """The book without the ports of a switch that lead to machines: the switch's real NIC carries them all."""
    if not node.kind.switches_frames:
        return book
    outside = [link.name for link in topology.links_of(node.name) if reaches_machine(link, topology)]
    if not outside:
        return book
    return replace(book, ports=tuple(p for p in book.ports if p.node != node.name or p.link not in outside))


def _check_here(link: Link, node: Node) -> None:
    """Raises UserError unless the node, which is on this computer, is a switch with a real NIC."""
    where = f"the link {link.name} leads from a machine to {node.name}, which is on this computer"
    if not node.kind.switches_frames or node.real_nic is None:
        raise UserError(
            f"{where} and has no network interface for it; allowed: a switch with 'nic: eth1', or a machine"
        )
    if link.is_emulated and link.emulator is None:
        raise UserError(
            f"{where}, and there is no emulator between them to impair it; allowed: the impairment on another link "
            f"of {node.name}, or emulator: NODE, a machine with two NICs"
        )


def _middle_nic(link: Link, topology: Topology, number: int) -> str:
    """The emulator's interface towards an end: the one with the end's number, or the only one."""
    machine = topology.node(link.emulator or "").machine
    assert machine is not None, "BUG: an emulator that is no machine"
    return machine.nics_of(link.name)[-1 if number else 0]


def _lent(link: Link, topology: Topology, port: Port) -> Iterator[Command]:
    machine = topology.node(port.node).machine
    if machine is not None:
        yield from _move(link, machine.nics_of(link.name)[0], port.device, node_netns(port.node))


def _move(link: Link, nic: str, device: str, netns: str) -> Iterator[Command]:
    """Moves an interface. The undo is for a shell on the machine: after a trial the machine daemon moves it back."""
    yield Move(nic, netns, device)
    back = Move(device, "1", nic)
    yield Device(device, "mtu", str(link.mtu_bytes), back, netns=netns)


def lent(link: Link, topology: Topology, emulator_netns: str) -> Iterator[tuple[str, str, str]]:
    """(machine, interface, namespace) for every interface that moves."""
    for number, end in enumerate(link.ends):
        if link.emulator == end:
            continue
        machine = topology.node(end).machine
        if machine is not None:
            yield end, machine.nics_of(link.name)[0], node_netns(end)
        if link.emulator is not None:
            yield link.emulator, _middle_nic(link, topology, number), emulator_netns


def on_machines(commands: Iterable[Command], machines: Mapping[str, str]) -> Iterator[Command]:
    """The commands, each with its machine: that of the first namespace that the command names. `machines` maps
    namespaces to machines.
    """
    for command in commands:
        names = (command.netns or "", *command.named)
        on = next((machines[name] for name in names if name in machines), None)
        yield command if on is None else replace(command, on=home(on))


def places(topology: Topology, emulators: Iterable[Emulator]) -> tuple[tuple[str, str], ...]:
    """(namespace, machine) for everything that is on machines."""
    computers = (node for node in topology.nodes if node.kind.runs_in == "computer")
    ends = ((node_netns(node.name), node.name) for node in computers if has_place(node, topology))
    return (*ends, *((each.netns, each.on) for each in emulators if each.on is not None))


def emulator_nics(emulator: Emulator) -> Iterator[Command]:
    """Makes real NICs receive frames for others, one by one: a merged frame would be counted and dropped as a whole."""
    for end in ("end0", "end1") if emulator.on is not None else ():
        yield Raw("ip", ("link", "set", end, "promisc", "on"), netns=emulator.netns)
        yield Offloads(end, PACKET_BY_PACKET, netns=emulator.netns)
