"""Control channels: which controller has which switches, and how they connect. Pure, no I/O.

A channel is separate from the network: a bridge in its own namespace, to which each switch and the controller have a
device `ctl0`. If the channel is impaired, an emulator is between the bridge and the controller. Every channel uses the
addresses of 198.18.0.0/15, which no other channel and no host ever sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from ipaddress import IPv4Network

from ...codec.frozen import dataclass
from ...model.openflow import NOBODY, VERSIONS, Controller, Datapath, FailMode, Ovs
from ...model.topology import MTU_DEFAULT, Link, Node, Topology
from ..command import PREFIX, Command, Signal
from ..link.emulator import emulator_netns
from ..linux import Address, Bridge, Cable, Device, End, Neighbour, Up, Write

NETWORK = IPv4Network("198.18.0.0/15")
SPOKEN = "1.3"
"""Our own tools speak this version of OpenFlow, unless a switch has to offer others only."""

DEVICE = "ctl0"
NO_IPV6 = "/proc/sys/net/ipv6/conf/all/disable_ipv6"

OVS_FOLDER = f"/run/{PREFIX}ovs"
"""Has a folder for each switch and controller: sockets, database, process numbers, apps."""


@dataclass(frozen=True)
class Channel:
    """A controller with its switches, in file order. `link` is the channel as a link between them."""

    name: str
    controller: Controller
    switches: tuple[str, ...]

    @property
    def link(self) -> Link:
        """The dot in its name keeps the link, and its emulator's namespace, apart from all others."""
        return Link(f"{self.name}.control", ("switches", self.name), self.controller.forward, self.controller.backward)

    @property
    def netns(self) -> str:
        """The namespace of the bridge."""
        return f"{PREFIX}{self.link.name}"

    @property
    def folder(self) -> str:
        return f"{OVS_FOLDER}/{self.name}"

    def address(self, node: str) -> str:
        """The address with its prefix length; the controller has the first one."""
        return f"{NETWORK[self._numbers[node]]}/{NETWORK.prefixlen}"

    def mac(self, node: str) -> str:
        number = self._numbers[node]
        return f"02:54:43:00:{number >> 8:02x}:{number & 255:02x}"

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate((self.name, *self.switches), 1)}

    @property
    def target(self) -> str:
        """What a switch connects to."""
        return f"tcp:{NETWORK[1]}:{self.controller.port}"

    @property
    def version(self) -> str:
        """The version of OpenFlow, as Open vSwitch calls it, in which its switches can be asked about all they have."""
        asked = self.controller.versions
        return VERSIONS[SPOKEN if not asked or SPOKEN in asked else asked[-1]]


def channels(topology: Topology) -> tuple[Channel, ...]:
    """One for each controller."""
    has = {node.name: controller_of(topology, node) for node in switches(topology)}
    return tuple(
        Channel(node.name, node.controller, tuple(switch for switch, name in has.items() if name == node.name))
        for node in topology.nodes
        if node.controller is not None
    )


def switches(topology: Topology) -> tuple[Node, ...]:
    return tuple(node for node in topology.nodes if node.kind.openflow == "switch")


def controller_of(topology: Topology, switch: Node) -> str | None:
    """The name of its controller; None if it has none."""
    named = _ovs(switch).controller
    if named is not None:
        return None if named == NOBODY else named
    return next((node.name for node in topology.nodes if node.kind.openflow == "controller"), None)


def fail_mode(topology: Topology, switch: Node) -> FailMode:
    lone: FailMode = "standalone" if controller_of(topology, switch) is None else "secure"
    return _ovs(switch).fail_mode or lone


def dpid(topology: Topology, switch: Node) -> int:
    """The datapath id of the file, or the number of the switch in file order, from 1 on."""
    own = _ovs(switch).dpid
    return switches(topology).index(switch) + 1 if own is None else own


def datapath(switch: Node, default: Datapath) -> Datapath:
    return _ovs(switch).datapath or default


def _ovs(switch: Node) -> Ovs:
    assert switch.ovs is not None, f"BUG: {switch.name} is no Open vSwitch"
    return switch.ovs


def commands(channel: Channel) -> Iterator[Command]:
    """The commands for a channel; the namespaces exist already."""
    bridge, end = channel.netns, (DEVICE, f"{PREFIX}{channel.name}", channel.mac(channel.name))
    for number, switch in enumerate(channel.switches, 1):
        yield _cable((DEVICE, f"{PREFIX}{switch}", channel.mac(switch)), (f"port{number}", bridge, None))
    if channel.link.is_emulated:
        emulator = emulator_netns(channel.link.name)
        yield _cable(("uplink", bridge, None), ("end0", emulator, None))
        yield _cable(("wire0", emulator, None), ("wire1", emulator, None))
        yield _cable(("end1", emulator, None), end)
    else:
        yield _cable(("uplink", bridge, None), end)
    yield Write(NO_IPV6, "1", netns=bridge)
    yield Bridge("br0", ("stp_state", "0", "mcast_snooping", "0"), goes_with_namespace=True, netns=bridge)
    ports = ("uplink", *(f"port{number}" for number, _ in enumerate(channel.switches, 1)))
    for port in ports:
        yield Device(port, "master", "br0", netns=bridge)
    for device in ("br0", *ports):
        yield Up(device, netns=bridge)
    for node in (channel.name, *channel.switches):
        yield from _end(channel, node)


def _cable(first: End, second: End) -> Cable:
    return Cable(first, second, MTU_DEFAULT)


def _end(channel: Channel, node: str) -> Iterator[Command]:
    netns = f"{PREFIX}{node}"
    yield Address(channel.address(node), DEVICE, netns=netns)
    yield Up(DEVICE, netns=netns)
    for other in channel.switches if node == channel.name else (channel.name,):
        ip = channel.address(other).partition("/")[0]
        yield Neighbour(ip, channel.mac(other), DEVICE, netns=netns)


def moments(channel: Channel) -> Iterator[tuple[int, Command]]:
    """(ns after the start of the workload, command) for what happens to a controller while the workload runs."""
    for at_ns, signal in ((channel.controller.start_ns, "USR1"), (channel.controller.stop_ns, "KILL")):
        if at_ns is not None:
            yield at_ns, Signal(signal, f"{channel.folder}/pid")
