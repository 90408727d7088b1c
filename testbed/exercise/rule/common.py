"""What all kinds of rules share: the network that they ask, what they ask it, and how they say what they found. Pure,
no I/O.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_interface
from typing import ClassVar, TypeAlias

from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, named
from ...codec.kind import whole
from ...error import one_of
from ...model.expectation import NotChecked as NotChecked
from ...model.topology import Topology
from ...plan.network import Plan
from ...plan.node.control_channel import OVS_FOLDER
from ...plan.step import Run, Step

PATIENCE_S = 60
"""How long a program of a rule may take, in lab time, before it is ended."""
STATUS = "testbed-status"
ADDRESS = re.compile(r"[0-9.]+|[0-9a-f:]*:[0-9a-f:]*")
"""An address in the place of a node's name."""
PLACEHOLDER = re.compile(r"\{([a-z0-9-]+)\.(?:(ip|mac)|port\.([a-z0-9-]+))\}")

Found: TypeAlias = Mapping[str, str]
"""What programs in the network wrote, by the names of the files."""


@dataclass(frozen=True)
class Net:
    """The network of a submission."""

    topology: Topology
    plan: Plan

    def node(self, name: str) -> str:
        """The name, if there is such a node. Raises NotChecked."""
        names = [node.name for node in self.topology.nodes]
        if name not in names:
            raise NotChecked(f"the network has no node {name!r}; it has {one_of(names, name)}")
        return name

    def address(self, node: str) -> str:
        """The first address of a node, IPv4 before IPv6; an address is its own. Raises NotChecked."""
        if ADDRESS.fullmatch(node):
            return node
        known = self.addresses(node)
        if not known:
            raise NotChecked(f"{node} has no address")
        return str(min(known, key=lambda address: address.version).ip)

    def addresses(self, node: str) -> list[IPv4Interface | IPv6Interface]:
        """All of a node, in the order of its ports. Raises NotChecked."""
        ports = self.plan.book.interfaces_of(self.node(node))
        return [address for port in ports for address in port.addresses]

    def mac(self, node: str) -> str:
        """The MAC address of a node's first port. Raises NotChecked."""
        ports = self.plan.book.ports_of(self.node(node))
        if not ports:
            raise NotChecked(f"{node} has no port")
        return ports[0].mac

    def device(self, node: str, link: str | None) -> str:
        """The device of a node on a link; its first one if `link` is None. Raises NotChecked."""
        ports = self.plan.book.ports_of(self.node(node))
        found = [port.device for port in ports if link in (None, port.link)]
        if not found:
            raise NotChecked(f"{node} has no port on {'any link' if link is None else f'the link {link}'}")
        return found[0]

    @property
    def addressed(self) -> tuple[str, ...]:
        """The nodes that have an address."""
        return tuple(dict.fromkeys(port.node for port in self.plan.book.ports if port.addresses))

    def owner(self, address: str) -> str | None:
        """The node that has an address by the topology; None if there is none."""
        ports = self.plan.book.ports
        return next((port.node for port in ports if address in [str(each.ip) for each in port.addresses]), None)

    def filled(self, text: str) -> str:
        """The text with {NODE.ip}, {NODE.mac} and {SWITCH.port.NODE} replaced. Raises NotChecked."""
        ways = {"ip": self.address, "mac": self.mac}
        return PLACEHOLDER.sub(
            lambda found: ways[found[2]](found[1]) if found[2] else self.port(found[1], found[3]), text
        )

    def port(self, switch: str, node: str) -> str:
        """The number of the port of a switch towards a node, as OpenFlow has it. Raises NotChecked."""
        path = self.topology.path(self.node(switch), self.node(node))
        if not path:
            raise NotChecked(f"no port of {switch} leads to {node}")
        ports = [port.link for port in self.plan.book.ports_of(switch)]
        return str(1 + ports.index(path[0].name))

    def run(self, node: str, script: str, out: str, *words: str, patience_s: float = PATIENCE_S) -> Run:
        """A shell script in a node, whose output ends with a line that says its status, whatever becomes of it."""
        inside = self.inside(node)
        ended = f'{inside}timeout -k 1 {patience_s:g} sh -c "$0" sh "$@" 2>&1 </dev/null; s=$?; echo; echo {STATUS} $s'
        return Run(("sh", "-c", ended, script, *words), "check", self.plan.where(self.node(node)), out=out)

    def inside(self, node: str) -> str:
        """What stands before a command in a node: an Open vSwitch's own tools find it."""
        kind = self.topology.node(self.node(node)).kind
        return f"OVS_RUNDIR={OVS_FOLDER}/{node} " if kind.openflow == "switch" else ""


def said(found: Found, name: str) -> tuple[int, str]:
    """The status and the output of a script that `Net.run` ran. Raises NotChecked if it did not get to its end."""
    if name not in found:
        raise NotChecked("the network ended before this was looked at")
    text, mark, status = found[name].rpartition(f"\n{STATUS} ")
    if not mark or not status.strip().isdigit():
        raise NotChecked("the network ended while this was looked at")
    return int(status), text.removesuffix("\n")


def addresses(text: str) -> list[IPv4Address | IPv6Address]:
    """Those in what `ip -o address show` says."""
    words = [line.split() for line in text.splitlines()]
    return [ip_interface(each[3]).ip for each in words if len(each) > 3 and each[2] in ("inet", "inet6")]


@named
class Kind(Keyed, ABC):
    """One kind of rule. `refuses` says that it holds in a network in which nothing works, so that it needs others."""

    refuses: ClassVar[bool] = False

    @abstractmethod
    def steps(self, net: Net, name: str) -> Iterator[Step]:
        """What is done in the network. Files begin with `name`. Raises NotChecked."""

    @abstractmethod
    def judge(self, net: Net, name: str, found: Found) -> str | None:
        """None if the rule holds; otherwise what was seen instead. Raises NotChecked."""

    @property
    def is_negative(self) -> bool:
        """Whether a network in which nothing works would pass."""
        return self.refuses

    def faults(self) -> Iterator[Fault]:
        """What is wrong between its keys."""
        yield from ()

    def nodes(self) -> tuple[str, ...]:
        """The nodes that it names, for the check of the file."""
        return ()


COUNT = whole(1, 100_000)
"""How often, at least once."""
NUMBER = whole(0, 10**9)
"""How many, or none."""


def expression_faults(key: str, text: str | None) -> Iterator[Fault]:
    """Of a regular expression that is to be found."""
    try:
        if text is not None and re.compile(text, re.MULTILINE).search("") is not None:
            yield Fault(
                (key,), f"{text!r} is found in every text", "an expression that not everything fits", named=True
            )
    except re.error as error:
        yield Fault((key,), f"this is no regular expression: {error}", named=True)


def shortened(text: str, most: int = 400) -> str:
    """Text that may be long, for a message."""
    text = text.strip()
    return text if len(text) <= most else f"{text[:most]} …"
