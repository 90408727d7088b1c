"""What Mininet builds: the description that `mininet_driver.py` reads, from a topology. Pure, no I/O.

Every node gets the namespace and the devices that our own commands would give it; the same commands then set addresses,
routes and sysctls. An impaired link that no TCLink can be becomes two links of Mininet, and a node between them that
becomes the emulator. An Open vSwitch is Mininet's, and connects to the controller that the plan starts.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from ..codec.frozen import dataclass
from ..model.address import AddressBook, Port
from ..model.openflow import Datapath
from ..model.topology import Link, Node, Topology
from ..package import MININET_DRIVER, MININET_PYTHON
from .command import PREFIX, Command
from .link import tclink
from .link.emulator import emulator_netns
from .linux import TOOLS
from .node import control_channel, open_vswitch, vm
from .node.namespace import node_netns
from .step import Run

DRIVER = f'{shlex.join(MININET_PYTHON)} "${{TESTBED:-testbed}}/agent/{MININET_DRIVER}"'


@dataclass(frozen=True)
class Remove(Command):
    """Has Mininet's driver remove the network of a process."""

    pid_file: str

    tool = "mininet"
    form = "remove {pid_file}"

    @property
    def line(self) -> str:
        return f"{DRIVER} remove {shlex.quote(self.pid_file)}"


@dataclass(frozen=True)
class Build(Command):
    """Has Mininet's driver build the network of a description."""

    description: str
    pid_file: str

    tool = "mininet"
    form = "build {description}"

    @property
    def step(self) -> Run:
        words = (*MININET_PYTHON, f"{TOOLS}/{MININET_DRIVER}", "build", "/run/trial")
        return Run(words, "mininet", stdin=self.description)

    @property
    def line(self) -> str:
        return f"printf %s {shlex.quote(self.description)} | {DRIVER} build ."

    @property
    def undo(self) -> Command:
        return Remove(self.pid_file)


def command(topology: Topology, book: AddressBook, datapath: Datapath) -> Command:
    """Builds all nodes and links, but not the insides of emulators; `datapath` is that of switches without their
    own.
    """
    pid_file = f"/run/{PREFIX}{topology.name}.mininet"
    said = {"pid_file": pid_file, **description(topology, book, datapath)}
    return Build(json.dumps(said), pid_file)


def description(topology: Topology, book: AddressBook, datapath: Datapath = "kernel") -> dict[str, Any]:
    """The description, for JSON. A link has its two ends, in order, and the options of a TCLink; None for a plain
    link.
    """
    impaired = [link for link in topology.links if tclink.is_emulated(topology, link)]
    return {
        "hosts": [
            *(_host(node) for node in topology.nodes if not node.kind.switches_frames),
            *(_emulator(link) for link in impaired),
        ],
        "switches": [_switch(node, topology, datapath) for node in topology.nodes if node.kind.switches_frames],
        "links": [made for link in topology.links for made in _links(topology, link, book)],
    }


def tc_ports(topology: Topology, book: AddressBook) -> tuple[tclink.TcPort, ...]:
    """Both ends of every TCLink."""
    return tuple(
        tclink.TcPort(
            link.name,
            "forward" if end == link.ends[0] else "backward",
            end,
            node_netns(end),
            book.port(end, link.name).device,
            link.forward.rate_bps,
            link.forward.delay_ns,
            tclink.limit(link),
            link.mtu_bytes,
            topology.node(end).kind.is_local_host,
        )
        for link in topology.links
        if tclink.is_tclink(topology, link)
        for end in link.ends
    )


def _host(node: Node) -> dict[str, Any]:
    return {"name": node.name, "netns": node_netns(node.name), "kind": node.kind.mininet}


def _emulator(link: Link) -> dict[str, Any]:
    netns = emulator_netns(link.name)
    return {"name": netns, "netns": netns, "kind": "node"}


def _switch(node: Node, topology: Topology, datapath: Datapath) -> dict[str, Any]:
    bridge = {"stp": node.stp, "vlans": bool(node.vlans)}
    options = _open_vswitch(node, topology, datapath) if node.kind.mininet == "ovs" else bridge
    return {"name": node.name, "netns": node_netns(node.name), "kind": node.kind.mininet, "options": options}


def _open_vswitch(node: Node, topology: Topology, datapath: Datapath) -> dict[str, Any]:
    """The options of Mininet's OVSSwitch; `folder` and `targets` are the driver's."""
    return {
        "folder": f"{control_channel.OVS_FOLDER}/{node.name}",
        "targets": [each.target for each in control_channel.channels(topology) if node.name in each.switches],
        "dpid": f"{control_channel.dpid(topology, node):016x}",
        "failMode": control_channel.fail_mode(topology, node),
        "datapath": control_channel.datapath(node, datapath),
        "protocols": open_vswitch.PROTOCOLS,
        "reconnectms": open_vswitch.BACKOFF_MS,
    }


def _links(topology: Topology, link: Link, book: AddressBook) -> Iterator[dict[str, Any]]:
    first, second = (book.port(end, link.name) for end in link.ends)
    if not tclink.is_emulated(topology, link):
        tc = tclink.options(link) if tclink.is_tclink(topology, link) else None
        yield _link(link, _end(topology, first), _end(topology, second), tc)
        return
    yield _link(link, _end(topology, first), _inner(link, "end0", first))
    yield _link(link, _inner(link, "end1", second), _end(topology, second))


def _link(
    link: Link, first: dict[str, str], second: dict[str, str], tc: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {"ends": [first, second], "mtu_bytes": link.mtu_bytes, "tc": tc}


def _end(topology: Topology, port: Port) -> dict[str, str]:
    return {"node": port.node, "device": port.device, "mac": vm.device_mac(topology, port)}


def _inner(link: Link, device: str, outer: Port) -> dict[str, str]:
    """An emulator's device. Mininet needs a MAC address for it: its neighbour's, with another third byte."""
    mac = ":".join((*outer.mac.split(":")[:2], "43", *outer.mac.split(":")[3:]))
    return {"node": emulator_netns(link.name), "device": device, "mac": mac}
