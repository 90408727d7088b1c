"""Open vSwitch: commands that turn a namespace with cables into a switch with its own daemons. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...codec.frozen import dataclass
from ...error import UserError
from ...model.address import AddressBook, Port
from ...model.forwarding import switches_around
from ...model.openflow import VERSIONS, Datapath
from ...model.topology import Node, Topology
from ..command import PREFIX, Command, Words, new_folder
from ..linux import CUTS, Offloads
from . import control_channel
from .control_channel import OVS_FOLDER

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"

UP_S = 10
"""ovs-vswitchd counts the CPUs once the clock passes 10 s. Started sooner, it has no thread for packets that the kernel
has no flow for, and loses them."""

WAIT_S = 30
"""How long a switch may take to carry out a command, and to connect to its controller."""

BACKOFF_MS = 1000
"""How long a switch waits, at most, before it tries to connect again."""

PROTOCOLS = ",".join(VERSIONS.values())
"""The versions that a switch offers, unless its controller says which. The app chooses one; our apps choose 1.3."""

DATAPATH_TYPES: dict[Datapath, str] = {"kernel": "system", "user": "netdev"}


@dataclass(frozen=True)
class Ovs(Command):
    """A tool of Open vSwitch, for one switch. `ends`: it starts a daemon, which these words for ovs-appctl end."""

    switch: str
    name: str
    said: Words
    ends: Words = ()

    @property
    def tool(self) -> str:
        return self.name

    @property
    def words(self) -> Words:
        return self.said

    @property
    def process(self) -> Words:
        return ("env", f"OVS_RUNDIR={OVS_FOLDER}/{self.switch}", self.name, *self.said)

    @property
    def undo(self) -> Command | None:
        return Ovs(self.switch, "ovs-appctl", ("-t", self.name, *self.ends)) if self.ends else None


def _ovs(switch: str, name: str, said: Words, ends: Words = ()) -> Ovs:
    return Ovs(switch, name, said, ends, netns=f"{PREFIX}{switch}")


def databases(switch: Node) -> Iterator[Command]:
    folder = f"{OVS_FOLDER}/{switch.name}"
    yield new_folder(folder)
    yield _ovs(switch.name, "ovsdb-tool", ("create", f"{folder}/conf.db", SCHEMA))
    remote = f"--remote=punix:{folder}/db.sock"
    words = (remote, *_daemon("ovsdb-server", folder), f"{folder}/conf.db")
    yield _ovs(switch.name, "ovsdb-server", words, ("exit",))


def daemon(switch: Node) -> Command:
    """Starts ovs-vswitchd; must run after the clock passes UP_S."""
    words = _daemon("ovs-vswitchd", f"{OVS_FOLDER}/{switch.name}")
    return _ovs(switch.name, "ovs-vswitchd", words, ("exit", "--cleanup"))


def bridge(switch: Node, topology: Topology, book: AddressBook, default: Datapath) -> Command:
    """One transaction: the bridge with its ports, whose OpenFlow numbers count from 1, and its controller."""
    words = [
        *("add-br", "br0", "--", "set", "bridge", "br0"),
        f"datapath_type={DATAPATH_TYPES[control_channel.datapath(switch, default)]}",
        f"fail_mode={control_channel.fail_mode(topology, switch)}",
        f"protocols={protocols(topology, switch)}",
        f"other_config:datapath-id={control_channel.dpid(topology, switch):016x}",
    ]
    for port in book.ports_of(switch.name):
        words += ["--", "add-port", "br0", port.device]
        words += ["--", "set", "interface", port.device, f"ofport_request={port_number(port)}"]
    for channel in control_channel.channels(topology):
        if switch.name in channel.switches:
            words += ["--", "set-controller", "br0", channel.target]
            words += ["--", "set", "controller", "br0", "connection_mode=out-of-band", f"max_backoff={BACKOFF_MS}"]
    return _ovs(switch.name, "ovs-vsctl", (f"--timeout={WAIT_S}", *words))


def protocols(topology: Topology, switch: Node) -> str:
    """The versions that a switch offers, and no others."""
    channel = next((each for each in control_channel.channels(topology) if switch.name in each.switches), None)
    asked = () if channel is None else channel.controller.versions
    return ",".join(VERSIONS[version] for version in asked) or PROTOCOLS


def connected(switch: str) -> Command:
    """Waits until a switch is connected to its controller."""
    words = (f"--timeout={WAIT_S}", "wait-until", "controller", "br0", "is_connected=true")
    return _ovs(switch, "ovs-vsctl", words)


def port_number(port: Port) -> int:
    """The OpenFlow number of a switch's port: eth0 is 1."""
    return int(port.device.removeprefix("eth")) + 1


def plain_ports(topology: Topology, book: AddressBook, default: Datapath) -> tuple[Port, ...]:
    """The ports of hosts and routers that send packets to a user-space datapath, which accepts neither superpackets nor
    packets whose checksum a NIC must still compute.
    """
    user = [
        node.name for node in control_channel.switches(topology) if control_channel.datapath(node, default) == "user"
    ]
    around = frozenset(name for switch in user for name in switches_around(topology, switch))
    return tuple(
        port
        for port in book.ports
        if not topology.node(port.node).kind.switches_frames and topology.link(port.link).other_end(port.node) in around
    )


def check_nic(node: Node, asked: str | None) -> None:
    """Raises UserError for a host with `nic: offload`: a user-space datapath does not accept superpackets."""
    if asked == "offload":
        raise UserError(
            f"{node.name} is on a switch with datapath: user, which accepts only single packets; "
            "allowed: nic: plain, or datapath: kernel"
        )


def plain(port: Port) -> Command:
    return Offloads(port.device, (*CUTS, "gro", "off", "tx", "off"), netns=f"{PREFIX}{port.node}")


def _daemon(name: str, folder: str) -> tuple[str, ...]:
    return (
        *("--detach", "--no-chdir", "--pidfile", f"--log-file={folder}/{name}.log"),
        *("-vconsole:off", "-vsyslog:off"),
    )
