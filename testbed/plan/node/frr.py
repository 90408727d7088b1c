"""FRR: commands that start a router's daemons, the configuration that they get, and what they must come to know.

Pure, no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any

from ...codec.frozen import dataclass
from ...error import UserError
from ...model.address import AddressBook, Port
from ...model.node.router import PROTOCOLS, Frr, Ospf
from ...model.route import OSPF_COST
from ...model.routing_protocol import autonomous_system, domain, networks, others, says_anything, speaks
from ...model.topology import Node, Topology
from ..command import PREFIX, Command, File, Raw, Signal, Words, new_folder
from ..step import Run, Step

FRR_FOLDER = "/run/frr"
"""Has a folder for each router: sockets of its daemons, their configuration, log and process numbers."""
FRR_DAEMONS = "/usr/lib/frr"
CONFIG, LOG = "frr.conf", "frr.log"
DAEMONS = {
    "ospfd": r"router ospf\b|ip ospf\b",
    "ospf6d": r"router ospf6\b|ipv6 ospf6\b",
    "ripd": r"router rip\b",
    "ripngd": r"router ripng\b",
    "bgpd": r"router bgp\b",
    "isisd": r"router isis\b|ip(v6)? router isis\b",
    "babeld": r"router babel\b",
    "eigrpd": r"router eigrp\b",
    "bfdd": r"bfd\b",
    "staticd": r"ip(v6)? route\b",
}
"""The daemons, each with the lines of a configuration that need it."""
QUIET = " no proactive-arp"
"""Otherwise zebra would forget the MAC addresses of neighbours that the plan set, and lose packets meanwhile."""
ORDERS = ("output", "write", "copy", "do")
"""Words of vtysh that begin no line of a configuration, and nor does a part of one, which vtysh takes for the whole."""
LINE_BYTES = 1000
"""vtysh reads a longer line (of 4095 bytes) as two, of which the second may be an order."""
ABOUT = ("frr defaults traditional", "log timestamp precision 6")


SLACK_NS = 1_100_000
"""FRR's daemons wait for their next timer in whole milliseconds, rounded down, and then ask without end until it has
come: up to 2000 times in virtual time. Who wakes a millisecond later, and the time of a system call, need not ask.
"""
PATIENT = 'echo "$0" > /proc/self/timerslack_ns && exec "$@"'
"""A shell's: a program that may wake so much later."""


@dataclass(frozen=True)
class Knowledge:
    """What a router must come to know: its neighbours by protocol, as pairs (address, node), and networks.

    `is_told` False: a configuration of the user's, of which we know neither.
    """

    router: str
    neighbours: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    networks: tuple[str, ...] = ()
    is_told: bool = True


@dataclass(frozen=True)
class Daemon(Command):
    """Starts a daemon of a router."""

    router: str
    name: str

    tool = "frr"
    form = f"{{name}} -d -N {{router}} --log file:{FRR_FOLDER}/{{router}}/{LOG} --log-level informational"

    @property
    def process(self) -> Words:
        return (f"{FRR_DAEMONS}/{self.name}", *self.words[1:])

    @property
    def undo(self) -> Command:
        return Signal("TERM", f"{FRR_FOLDER}/{self.router}/{self.name}.pid")


@dataclass(frozen=True)
class Configure(Command):
    """Gives a router its configuration, by vtysh: a line that FRR does not know is an error."""

    router: str

    tool = "vtysh"
    form = f"-f {FRR_FOLDER}/{{router}}/{CONFIG}"

    @property
    def process(self) -> Words:
        return vtysh_words(self.router, *self.words)


def patient(step: Step) -> Step:
    """A step that starts a daemon, so that each of its timers acts up to SLACK_NS later, for a sixth of the processor
    time; other steps as they are. Not for what is measured to the millisecond.
    """
    if not isinstance(step, Run) or not step.words[0].startswith(f"{FRR_DAEMONS}/"):
        return step
    return replace(step, words=("sh", "-c", PATIENT, str(SLACK_NS), *step.words))


def vtysh_words(router: str, *words: str) -> Words:
    """vtysh, talking to the daemons of this router."""
    return ("vtysh", "--config_dir", FRR_FOLDER, "-N", router, *words)


def routers(topology: Topology) -> tuple[tuple[Node, Frr], ...]:
    """The routers with FRR, in file order."""
    found = ((node, node.router.frr) for node in topology.nodes if node.router is not None)
    return tuple((node, frr) for node, frr in found if frr is not None)


def commands(topology: Topology, book: AddressBook) -> Iterator[Command]:
    """Starts the daemons of all routers, and then gives each router its configuration."""
    for node, frr in routers(topology):
        folder, text = f"{FRR_FOLDER}/{node.name}", config(node, frr, topology, book)
        yield new_folder(folder)
        yield Raw("sh", ("-c", f"chown frr:frr {folder}"))  # its daemons run as this user
        yield File(f"{folder}/vtysh.conf", "")
        yield File(f"{folder}/{CONFIG}", text)
        for daemon in daemons(text):
            yield Daemon(node.name, daemon, netns=f"{PREFIX}{node.name}")
    for node, _ in routers(topology):
        yield Configure(node.name, netns=f"{PREFIX}{node.name}")


def daemons(text: str) -> tuple[str, ...]:
    """Those that a configuration needs; zebra, which talks to the kernel, is the first."""
    found = (name for name, lines in DAEMONS.items() if re.search(rf"^\s*({lines})", text, re.MULTILINE))
    return ("zebra", *found)


def config(node: Node, frr: Frr, topology: Topology, book: AddressBook) -> str:
    """The configuration as a file of FRR's. Raises UserError for a router without an IPv4 address, or orders."""
    lines = [*ABOUT, f"hostname {node.name}"]
    if frr.config is not None:
        assert frr.text is not None, "BUG: a configuration that nobody read"
        _refuse_orders(node.name, frr.text)
        lines += ["router ospf", QUIET, "exit"] if "ospfd" in daemons(frr.text) else []
        return "".join(f"{line}\n" for line in lines) + frr.text.rstrip("\n") + "\n"
    own = [(port, each) for port in book.interfaces_of(node.name) for each in port.addresses if each.version == 4]
    if not own:
        raise UserError(f"{node.name} has no IPv4 address, which ospf, rip and bgp need here; allowed: ip: 4 or both")
    identity = str(own[0][1].ip)
    if frr.ospf is not None:
        delays = " ".join(str(each // 10**6) for each in frr.ospf.spf_ns)
        lines += ["router ospf", f" ospf router-id {identity}", f" timers throttle spf {delays}", QUIET, "exit"]
        for port in dict.fromkeys(port for port, _ in own):
            lines += _interface(frr.ospf, port, topology, book)
    if frr.rip:
        ports = [port for port, _ in own]
        alone = [p for p in ports if not others("rip", p, topology, book) and not _is_open(p, topology, book)]
        silent = [f" passive-interface {p.device}" for p in alone]
        lines += ["router rip", " version 2", *(f" network {p.device}" for p in ports), *silent, "exit"]
    if frr.bgp is not None:
        lines += _bgp(frr.bgp.asn, identity, own, topology, book)
    return "".join(f"{line}\n" for line in lines)


def _refuse_orders(router: str, text: str) -> None:
    """vtysh is root, and after `exit` or `end` it takes orders, too, some of which write files."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line.encode()) > LINE_BYTES:
            what = f"the configuration of {router}, line {number}, is too long"
            raise UserError(f"{what}; allowed: up to {LINE_BYTES} bytes")
        first = "".join(line.split()[:1]).lower()
        if first and any(order.startswith(first) for order in ORDERS):
            what = f"the configuration of {router}, line {number}: {line.strip()[:60]!r} writes a file"
            raise UserError(f"{what}; allowed: what show running-config prints")


def _interface(ospf: Ospf, port: Port, topology: Topology, book: AddressBook) -> Iterator[str]:
    """OSPF begins on an interface with its area, so that is said last."""
    yield from (f"interface {port.device}", f" ip ospf hello-interval {ospf.hello_s}")
    yield f" ip ospf dead-interval {ospf.dead_s}"
    yield f" ip ospf cost {dict(ospf.costs).get(port.link, OSPF_COST)}"
    if not _is_open(port, topology, book):
        if not others("ospf", port, topology, book):
            yield " ip ospf passive"
        elif len(book.members(port.segment)) == 2:
            yield " ip ospf network point-to-point"
    yield from (" ip ospf area 0", "exit")


def _is_open(port: Port, topology: Topology, book: AddressBook) -> bool:
    """Whether a router with a configuration of the user's is on a port's segment, which may speak anything."""
    around = (topology.node(each.node) for each in book.members(port.segment) if each.node != port.node)
    return any(map(says_anything, around))


def _bgp(asn: int, identity: str, own: list[tuple[Port, Any]], topology: Topology, book: AddressBook) -> Iterator[str]:
    yield from (f"router bgp {asn}", f" bgp router-id {identity}", " no bgp ebgp-requires-policy")
    for port, _ in own:
        for other, address in others("bgp", port, topology, book):
            yield f" neighbor {address.ip} remote-as {autonomous_system(topology.node(other))}"
    yield " address-family ipv4 unicast"
    yield from (f"  network {address.network}" for _, address in own)
    yield from (" exit-address-family", "exit")


def knowledge(topology: Topology, book: AddressBook) -> tuple[Knowledge, ...]:
    """For each router with FRR, what it must come to know: all networks of routers that it reaches by a protocol."""
    return tuple(_knowledge(node, topology, book) for node, _ in routers(topology))


def _knowledge(node: Node, topology: Topology, book: AddressBook) -> Knowledge:
    if says_anything(node):
        return Knowledge(node.name, is_told=False)
    neighbours: dict[str, tuple[tuple[str, str], ...]] = {}
    wanted: dict[str, None] = {}
    for protocol in PROTOCOLS:
        if speaks(node, protocol):
            ports = book.interfaces_of(node.name)
            neighbours[protocol] = tuple(
                (str(address.ip), other) for p in ports for other, address in others(protocol, p, topology, book)
            )
            for name in domain(node.name, protocol, topology, book):
                wanted |= {str(network): None for network in networks(name, book)}
    return Knowledge(node.name, neighbours, tuple(wanted))
