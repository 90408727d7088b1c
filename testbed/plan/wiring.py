"""What a network is made of: its namespaces, the cables between them, its Open vSwitches. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.address import AddressBook, Port
from ..model.openflow import Datapath
from ..model.topology import Link, Node, Topology
from . import mininet
from .command import Command, Wait
from .link import emulator as emulation
from .link import fault
from .link.stage import Emulator
from .linux import Cable, End, Namespace
from .node import control_channel, controller, frr, machine_link, open_vswitch, service, vm
from .node.control_channel import Channel
from .node.namespace import node_netns


def building(
    topology: Topology,
    book: AddressBook,
    built: Iterable[Node],
    emulators: tuple[Emulator, ...],
    aside: tuple[Emulator, ...],
    channels: tuple[Channel, ...],
    datapath: Datapath,
) -> Iterator[Command]:
    """Namespaces, and the cables between them. What is apart from the network is never Mininet's."""
    apart = (*(each.netns for each in aside), *(each.netns for each in channels))
    if topology.engine == "mininet":
        yield mininet.command(topology, book, datapath)
        for each in emulators:
            yield Cable(("wire0", each.netns, None), ("wire1", each.netns, None), each.mtu_bytes)
        for netns in apart:
            yield Namespace(netns)
        return
    impairing = (each.netns for each in emulators)
    for netns in (*(node_netns(node.name) for node in built), *impairing, *apart):
        yield Namespace(netns)
    for link in topology.links:
        yield from _cables(link, topology, book)


def _cables(link: Link, topology: Topology, book: AddressBook) -> Iterator[Command]:
    """One veth pair, or three where the emulator stands in the middle. Removing a namespace removes its devices."""
    if machine_link.reaches_machine(link, topology):
        yield from machine_link.cables(link, emulation.emulator_netns(link.name), topology, book)
        return
    first, second = (_end(topology, book.port(end, link.name)) for end in link.ends)
    if not link.is_emulated:
        yield Cable(first, second, link.mtu_bytes)
        return
    netns = emulation.emulator_netns(link.name)
    yield Cable(first, ("end0", netns, None), link.mtu_bytes)
    yield Cable(("wire0", netns, None), ("wire1", netns, None), link.mtu_bytes)
    yield Cable(second, ("end1", netns, None), link.mtu_bytes)


def _end(topology: Topology, port: Port) -> End:
    return port.device, node_netns(port.node), vm.device_mac(topology, port)


def inner_cables(emulator: Emulator) -> Iterator[Command]:
    """The pairs of devices that the faults of a link need in its emulator."""
    for pair in fault.pairs(*emulator.stages):
        yield Cable((f"{pair}0", emulator.netns, None), (f"{pair}1", emulator.netns, None), emulator.mtu_bytes)


def openflow(
    topology: Topology, book: AddressBook, channels: tuple[Channel, ...], datapath: Datapath
) -> Iterator[Command]:
    """Controllers first, so that switches find them at once; Mininet has started its switches by then."""
    switches = control_channel.switches(topology) if topology.engine == "netns" else ()
    for switch in switches:
        yield from open_vswitch.databases(switch)
    for channel in channels:
        yield from controller.commands(channel, topology, book)
    if switches:
        yield Wait(open_vswitch.UP_S)
    for switch in switches:
        yield open_vswitch.daemon(switch)
        yield open_vswitch.bridge(switch, topology, book, datapath)
    for channel in channels:
        if channel.controller.start_ns is None:
            yield from (open_vswitch.connected(switch) for switch in channel.switches)


def routing(topology: Topology, book: AddressBook) -> Iterator[Command]:
    """Routing daemons, servers and leases, once all networks are there."""
    yield from frr.commands(topology, book)
    yield from service.commands(topology, book)
