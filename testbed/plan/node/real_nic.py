"""A real NIC of this computer as a port of a switch: the commands that attach it, and that restore it. Pure, no I/O.

The NIC itself stays in the host's namespace, so that a network that breaks off cannot take it along. A veth leads from
there into the network. A table of nftables passes each frame between NIC and veth before the host sees it.

    switch ── port ══ veth ═► table ═► NIC ── the world
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ...agent.syscall import OUTSIDE
from ...codec.frozen import dataclass
from ...model.topology import MTU_MAX
from ..linux import Move

NAME_MAX = 15
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A NIC that a network needs; it must carry packets of up to `mtu_bytes`."""

    nic: str
    mtu_bytes: int

    @property
    def outer(self) -> str:
        """The veth's end that stays outside."""
        return _short("tbo-", self.nic)

    @property
    def inner(self) -> str:
        """The veth's end that the network takes."""
        return inner(self.nic)

    @property
    def table(self) -> str:
        return f"testbed-{self.nic}"

    def script(self) -> Iterator[str]:
        """The lines for a root shell that attach a NIC that is down."""
        for words in attach(self, DOWN):
            yield f"echo {words[2]} > {words[1]}" if words[0] == "write" else shlex.join(words)

    def undo_script(self) -> Iterator[str]:
        """The lines for a root shell that restore it."""
        yield from (f"ip link set {self.nic} {word}" for word in ("down", "promisc off"))
        yield f"nft delete table netdev {self.table}"


def inner(nic: str) -> str:
    """The name, in the host's namespace, of the veth's end that a network takes for a NIC."""
    return _short("tbi-", nic)


def _short(prefix: str, nic: str) -> str:
    full = prefix + nic
    return full if len(full) <= NAME_MAX else prefix + hashlib.sha256(nic.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Before:
    """The state of a NIC before we changed it. `index` is the kernel's number for it."""

    index: int
    up: bool
    promiscuous: bool
    mtu_bytes: int
    lro: bool
    no_ipv6: str | None


DOWN = Before(index=0, up=False, promiscuous=False, mtu_bytes=MTU_MAX, lro=False, no_ipv6="0")


def in_use(nic: str, told: Facts) -> tuple[str, str] | None:
    """Why a NIC is not available, and what to type about it; None if it is free.

    An address that the kernel assigned itself (link-local IPv6) does not count as use.
    """
    link = told["link"]
    own = [each for each in told["addresses"] if each.get("scope") != "link" or each["family"] != "inet6"]
    routes = [each for each in told["routes"] if not _of_kernel(each)]
    ssh = told["ssh"].split()
    if "LOOPBACK" in link["flags"]:
        return f"{nic} is the loopback device", "a real NIC instead"
    if len(ssh) == 4 and any(each["local"] == ssh[2] for each in own):
        return f"{nic} carries your SSH connection (from {ssh[0]})", "another NIC, or the console"
    if any(each["dst"] == "default" for each in routes):
        return f"{nic} carries the default route of this computer", "another NIC; this one keeps the computer reachable"
    if own:
        address = f"{own[0]['local']}/{own[0]['prefixlen']}"
        return f"{nic} has the address {address}", f"sudo ip address del {address} dev {nic}"
    if routes:
        return f"the route to {routes[0]['dst']} goes through {nic}", f"sudo ip route del {routes[0]['dst']} dev {nic}"
    if "master" in link:
        return f"{nic} is a port of {link['master']}", f"sudo ip link set {nic} nomaster"
    if told["above"]:
        return f"{nic} carries {', '.join(told['above'])}", f"sudo ip link del {told['above'][0]}"
    if told["wireless"]:
        return f"{nic} is a wireless NIC, which sends only from its own address", "a wired NIC instead"
    return None


def _of_kernel(route: Mapping[str, Any]) -> bool:
    return str(route["dst"]).startswith(("fe80:", "ff00:", "multicast"))


def attach(wanted: Wanted, before: Before) -> Iterator[tuple[str, ...]]:
    """The commands, and the files to write, in the host's namespace."""
    nic, outer, inner = wanted.nic, wanted.outer, wanted.inner
    mtu = str(wanted.mtu_bytes)
    yield ("ip", "link", "add", outer, "mtu", mtu, "type", "veth", "peer", "name", inner, "mtu", mtu)
    if before.no_ipv6 is not None:
        for device in (outer, inner, *(() if before.up else (nic,))):
            yield ("write", no_ipv6(device), "1")
    yield ("nft", rules(wanted))
    if before.lro:
        yield ("ethtool", "-K", nic, "lro", "off")
    if before.mtu_bytes < wanted.mtu_bytes:
        yield ("ip", "link", "set", nic, "mtu", mtu)
    yield ("ip", "link", "set", nic, "promisc", "on")
    yield ("ip", "link", "set", outer, "up")
    yield ("ip", "link", "set", nic, "up")


def no_ipv6(device: str) -> str:
    """The file that says whether a device has no IPv6."""
    return f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6"


def rules(wanted: Wanted) -> str:
    """The nftables rules that pass each frame unchanged to the other side, so that the host does not see it."""
    chains = "".join(
        f'  chain {name} {{\n    type filter hook ingress device "{device}" priority -400; policy accept;\n'
        f'    fwd to "{to}"\n  }}\n'
        for name, device, to in (("in", wanted.nic, wanted.outer), ("out", wanted.outer, wanted.nic))
    )
    return f"table netdev {wanted.table} {{\n{chains}}}\n"


@dataclass(frozen=True)
class Now:
    """The present state. `nic` None: the NIC is gone. `others` is true if somebody else uses the NIC by now."""

    nic: Before | None
    outer: bool
    inner: bool
    table: bool
    others: bool


def undo(wanted: Wanted, before: Before, now: Now) -> Iterator[tuple[str, ...]]:
    """The commands that restore a NIC, given its state before and now.

    The table and the veth go last: if the commands break off, these still show that something is left to restore.
    """
    nic = wanted.nic
    if now.nic is not None and now.nic.index == before.index:
        if not before.up and now.nic.up and not now.others:
            yield ("ip", "link", "set", nic, "down")
        if not before.promiscuous and now.nic.promiscuous:
            yield ("ip", "link", "set", nic, "promisc", "off")
        if now.nic.mtu_bytes == wanted.mtu_bytes and before.mtu_bytes < wanted.mtu_bytes:
            yield ("ip", "link", "set", nic, "mtu", str(before.mtu_bytes))
        if before.lro and not now.nic.lro:
            yield ("ethtool", "-K", nic, "lro", "on")
        if not before.up and before.no_ipv6 == "0" and now.nic.no_ipv6 == "1":
            yield ("write", no_ipv6(nic), "0")
    if now.table:
        yield ("nft", "delete", "table", "netdev", wanted.table)
    if now.outer:
        yield ("ip", "link", "del", wanted.outer)
    elif now.inner:
        yield ("ip", "link", "del", wanted.inner)


def take_in(nic: str, netns: str, device: str) -> Move:
    """The command that moves a NIC's port into a network and renames it."""
    return Move(inner(nic), netns, device, netns=OUTSIDE)
