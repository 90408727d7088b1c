"""The commands that set up Linux's network: devices, addresses, routes, settings, queueing disciplines, rules, each
with the facts that can be read back. Pure, no I/O.
"""

from __future__ import annotations

import shlex
from ipaddress import ip_address, ip_interface, ip_network
from itertools import count, takewhile
from typing import Literal, TypeAlias

from ..codec.frozen import dataclass
from .command import BRIDGE_OPTIONS, FEATURES, NEW_VETH, Command, Facts, Place, Raw, Words, rule_text
from .step import Run

CUTS: Words = ("tso", "off", "gso", "off", "tx-udp-segmentation", "off")
"""The words of `ethtool -K` by which a device cuts superpackets before it sends them. `gso` does not mean those that a
program makes of datagrams (UDP_SEGMENT).
"""

OWN_QDISCS = ("tbshaper", "tbpolicer", "tbtrace", "tbflow")
"""Queueing disciplines of ours, by the names of the lab kernel, which `kernel/lab/patches/` adds them to."""

OWN_QDISC_PROGRAM = "qdisc"
"""Our program that sets them up, with lines as `tc -batch` reads them: tc does not know them."""

EXACT_NETEM = "netem-ns"
"""What that program calls a netem whose delay it sets to the nanosecond: tc 6.1 cuts off what is less than 1 us."""

OWN_PROGRAM = "dualpi2"
"""A queueing discipline that Debian 12's tc does not know: our program of this name takes the words of later tc."""

TOOLS = "/run/tools"
"""The folder of our programs where the agent is."""

End: TypeAlias = tuple[str, str, str | None]
"""A device's name, its namespace and its MAC address."""


@dataclass(frozen=True)
class Namespace(Command):
    """A network namespace."""

    name: str

    tool = "ip"
    form = "netns add {name}"
    undone = "netns del {name}"

    @property
    def named(self) -> Words:
        return (self.name,)


@dataclass(frozen=True)
class Cable(Command):
    """A veth pair between two namespaces. Removing one of them removes both ends."""

    first: End
    second: End
    mtu_bytes: int

    tool = "ip"

    @property
    def words(self) -> Words:
        return ("link", "add", *self._end(self.first), "type", "veth", "peer", *self._end(self.second))

    def _end(self, end: End) -> Words:
        device, netns, mac = end
        return ("name", device, *(("address", mac) if mac else ()), "mtu", str(self.mtu_bytes), "netns", netns)

    @property
    def named(self) -> Words:
        return (self.first[1], self.second[1])

    @property
    def facts(self) -> Facts:
        found: Facts = {}
        for device, netns, mac in (self.first, self.second):
            new = {"mtu": str(self.mtu_bytes), **({"address": mac} if mac else {}), **NEW_VETH}
            found |= {(netns, f"{device} {key}"): value for key, value in new.items()}
        return found


@dataclass(frozen=True)
class Bridge(Command):
    """A bridge without ports, with options as pairs of words. `goes_with_namespace`: nothing else undoes it."""

    name: str
    options: Words
    goes_with_namespace: bool = False

    tool = "ip"
    form = "link add {name} type bridge"
    undone = "link del {name}"

    @property
    def words(self) -> Words:
        return (*super().words, *self.options)

    @property
    def undo(self) -> Command | None:
        return None if self.goes_with_namespace else super().undo

    @property
    def features(self) -> Words:
        return self.options

    @property
    def facts(self) -> Facts:
        return _kept(self, self.name, self.options, BRIDGE_OPTIONS)


def _kept(command: Command, device: str, options: Words, kept: Words) -> Facts:
    pairs = zip(options[::2], options[1::2], strict=True)
    return {command.at(f"{device} {key}"): value for key, value in pairs if key in kept}


@dataclass(frozen=True)
class VlanDevice(Command):
    """A device for the frames of one VLAN. It disappears with the device below."""

    name: str
    below: str
    tag: int

    tool = "ip"
    form = "link add link {below} name {name} type vlan protocol 802.1Q id {tag}"
    fact = ("{name} vlan", "{tag}")
    features = ("802.1Q",)


@dataclass(frozen=True)
class Up(Command):
    """Sets a device up."""

    device: str

    tool = "ip"
    form = "link set {device} up"
    fact = ("{device} is", "up")


@dataclass(frozen=True)
class Device(Command):
    """Gives a device an MTU, or makes it a port of a bridge. `back` undoes it, where removing the device does not."""

    device: str
    key: Literal["mtu", "master"]
    value: str
    back: Command | None = None

    tool = "ip"
    form = "link set {device} {key} {value}"
    fact = ("{device} {key}", "{value}")

    @property
    def undo(self) -> Command | None:
        return self.back


@dataclass(frozen=True)
class Move(Command):
    """Moves a device into another namespace, and gives it another name."""

    device: str
    to: str
    name: str

    tool = "ip"
    form = "link set {device} netns {to} name {name}"

    @property
    def named(self) -> Words:
        return (self.to,)


@dataclass(frozen=True)
class Segments(Command):
    """How many packets a superpacket of a device stands for, at most."""

    device: str
    most: int

    tool = "ip"
    form = "link set dev {device} gso_max_segs {most}"
    fact = ("{device} gso_max_segs", "{most}")


@dataclass(frozen=True)
class Address(Command):
    """An address with its prefix length."""

    address: str
    device: str

    tool = "ip"
    form = "address add {address} dev {device}"
    fact = ("address {address} on {device}", "there")

    @property
    def words(self) -> Words:
        return (*super().words, *(("nodad",) if ":" in self.address else ()))


@dataclass(frozen=True)
class Neighbour(Command):
    """A static neighbour."""

    address: str
    mac: str
    device: str

    tool = "ip"
    form = "neighbour replace {address} lladdr {mac} dev {device} nud permanent"
    fact = ("neighbour {address} on {device}", "{mac}")


@dataclass(frozen=True)
class Route(Command):
    """A route to a network, "default" (IPv4) or "::/0". Without a device the kernel takes the first that has an address
    in the network of `via`.
    """

    to: str
    via: str
    device: str | None = None

    tool = "ip"
    form = "route replace {to} via {via}"

    @property
    def words(self) -> Words:
        return (*super().words, *(() if self.device is None else ("dev", self.device)))

    def leave(self, facts: Facts) -> None:
        to = {"default": "default", "::/0": "default6"}.get(self.to) or str(ip_network(self.to, strict=False))
        facts[self.at(f"route {to} via")] = self.via
        facts[self.at(f"route {to} on")] = self.device or self._device(facts)

    def _device(self, facts: Facts) -> str:
        here = (what for where, what in facts if where == (self.netns or ""))
        addresses = (what.split()[1::2] for what in here if what.startswith("address "))
        via = ip_address(self.via)
        return next((device for address, device in addresses if via in ip_interface(address).network), "none")


@dataclass(frozen=True)
class Offloads(Command):
    """What a device leaves to its NIC, as pairs of words of `ethtool -K`."""

    device: str
    options: Words

    tool = "ethtool"
    form = "-K {device}"

    @property
    def words(self) -> Words:
        return (*super().words, *self.options)

    @property
    def facts(self) -> Facts:
        return _kept(self, self.device, self.options, FEATURES)


@dataclass(frozen=True)
class Write(Command):
    """Gives a file below /proc/sys or /sys a value."""

    path: str
    value: str

    tool = "write"
    form = "{path} {value}"

    @property
    def process(self) -> Words:
        return ("sh", "-c", f"echo {shlex.quote(self.value)} > {shlex.quote(self.path)}")

    @property
    def facts(self) -> Facts:
        return {self.at(self.path): " ".join(self.value.split())}


@dataclass(frozen=True)
class Member(Command):
    """Makes a port of a bridge a member of a VLAN; its frames of that VLAN have no tag with `flags`."""

    device: str
    vlan: int
    flags: Words = ()

    tool = "bridge"
    form = "vlan add dev {device} vid {vlan}"

    @property
    def words(self) -> Words:
        return (*super().words, *self.flags)

    @property
    def facts(self) -> Facts:
        return {self.at(f"vlan {self.vlan} on {self.device}"): " ".join(sorted(self.flags)) or "tagged"}


@dataclass(frozen=True)
class Qdisc(Command):
    """A queueing discipline: its kind, and the words of its options. `parent` is that of a class, None the device."""

    verb: Literal["add", "change"]
    device: str
    parent: str | None
    handle: str
    kind: str
    options: Words = ()

    tool = "tc"

    @property
    def _place(self) -> Words:
        return ("dev", self.device, *(("root",) if self.parent is None else ("parent", self.parent)))

    @property
    def words(self) -> Words:
        return ("qdisc", self.verb, *self._place, "handle", self.handle, self.kind, *self.options)

    @property
    def is_own(self) -> bool:
        """Whether only the lab kernel has it."""
        return self.kind in OWN_QDISCS

    @property
    def program(self) -> str:
        """A program of ours for what tc does not know, or may be too old for."""
        if self.is_own or self.kind == EXACT_NETEM:
            return OWN_QDISC_PROGRAM
        return OWN_PROGRAM if self.kind == OWN_PROGRAM else self.tool

    @property
    def step(self) -> Run:
        return Run((f"{TOOLS}/{self.program}", *self.words), where=self.where)

    @property
    def line(self) -> str:
        """One for OWN_QDISC_PROGRAM works where that can be called."""
        if self.program != OWN_QDISC_PROGRAM:
            return super().line
        text = f"echo {shlex.quote(' '.join(self.words))} | {OWN_QDISC_PROGRAM}"
        inside = text if self.netns is None else self.inside(("sh", "-c", text))
        if self.kind == EXACT_NETEM:
            return f"{inside}  # to the nanosecond: testbed/agent/native/qdisc.c"
        return f"{inside}  # {self.kind} is ours: kernel/lab/patches/"

    @property
    def undo(self) -> Command | None:
        return Raw("tc", ("qdisc", "del", *self._place)) if (self.verb, self.parent) == ("add", None) else None

    @property
    def features(self) -> Words:
        return (self.kind, *self.options)

    @property
    def facts(self) -> Facts:
        added = {self.at(f"qdisc {self.handle} of {self.device}"): f"{self.kind}, {self.parent or 'root'}"}
        return added if self.verb == "add" else {}


@dataclass(frozen=True)
class OfTable(Command):
    """A line of nftables about a table."""

    family: str
    table: str

    tool = "nft"

    @property
    def features(self) -> Words:
        return (self.tool, *self.words)


@dataclass(frozen=True)
class NewTable(OfTable):
    """The table itself."""

    form = "add table {family} {table}"
    undone = "delete table {family} {table}"


@dataclass(frozen=True)
class Counter(OfTable):
    """A counter that rules can name."""

    name: str

    form = "add counter {family} {table} {name}"


@dataclass(frozen=True)
class Hook:
    """Where packets meet a chain."""

    type: str
    name: str
    priority: int
    device: str | None = None

    @property
    def words(self) -> Words:
        device = () if self.device is None else ("device", f'"{self.device}"')
        return ("{", "type", self.type, "hook", self.name, *device, "priority", str(self.priority), ";", "}")


@dataclass(frozen=True)
class Chain(OfTable):
    """A chain; without a hook, only other chains jump to it."""

    name: str
    hook: Hook | None = None

    form = "add chain {family} {table} {name}"

    @property
    def words(self) -> Words:
        return (*super().words, *(() if self.hook is None else self.hook.words))

    @property
    def facts(self) -> Facts:
        kept = "jumped to" if self.hook is None else f"{self.hook.name}, priority {self.hook.priority}"
        return {self.at(f"chain {self.name} in {self.family} {self.table}"): kept}


@dataclass(frozen=True)
class OfChain(OfTable):
    """A line about the rules of a chain."""

    chain: str

    def rules(self, facts: Facts) -> list[Place]:
        """The places of the rules that the chain has, in order."""
        return list(takewhile(facts.__contains__, (self.at(f"rule {n} of {self.chain}") for n in count(1))))


@dataclass(frozen=True)
class Rule(OfChain):
    """The last rule of a chain."""

    rule: Words

    form = "add rule {family} {table} {chain}"

    @property
    def words(self) -> Words:
        return (*super().words, *self.rule)

    def leave(self, facts: Facts) -> None:
        number = len(self.rules(facts)) + 1
        facts[self.at(f"rule {number} of {self.chain}")] = rule_text(" ".join(self.rule))


@dataclass(frozen=True)
class Flush(OfChain):
    """Removes the rules of a chain."""

    form = "flush chain {family} {table} {chain}"

    def leave(self, facts: Facts) -> None:
        for place in self.rules(facts):
            del facts[place]


@dataclass(frozen=True)
class Table:
    """A table of nftables in a namespace: makes its commands."""

    family: str
    name: str
    netns: str

    def add(self) -> NewTable:
        return NewTable(self.family, self.name, netns=self.netns)

    def counter(self, name: str) -> Counter:
        return Counter(self.family, self.name, name, netns=self.netns)

    def chain(self, name: str, hook: Hook | None = None) -> Chain:
        return Chain(self.family, self.name, name, hook, netns=self.netns)

    def rule(self, chain: str, *rule: str) -> Rule:
        return Rule(self.family, self.name, chain, rule, netns=self.netns)

    def flush(self, chain: str) -> Flush:
        return Flush(self.family, self.name, chain, netns=self.netns)
