"""What the commands of a plan leave behind, as facts that the kernel can be asked for. Pure, no I/O.

A fact has a place, a network namespace and what is meant there, and a value as text:

    tb-a   eth0 mtu                       1500
    tb-a   eth0 is                        up
    tb-a   eth0 tso                       on
    tb-a   address 10.0.0.1/24 on eth0    there
    tb-a   route default via              10.0.0.2
    tb-a   neighbour 10.0.0.2 on eth0     02:54:42:00:00:03
    tb-a   /proc/sys/net/ipv4/tcp_rmem    4096 131072 1073741824
    tb-s   vlan 10 on eth0                pvid untagged
    tb-path.emulator   qdisc 1: of wire0  netem, root
    tb-path.emulator   rule 1 of from-end0   fwd to "wire0"

What a command of another form does, and what remote nodes and other tools do, is no fact here. The gate looks for it in
other ways, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address, ip_interface, ip_network
from typing import TypeAlias

from .command import Command

Place: TypeAlias = tuple[str, str]
"""A network namespace ("": the one in which the plan starts), and what is meant in it."""
Facts: TypeAlias = dict[Place, str]
Words: TypeAlias = tuple[str, ...]

ALL_IS_ASKED = ("address", "route", "neighbour", "qdisc", "rule", "rules")
"""First words of what is there only if somebody asked for it. The same holds of a `vlan` if the bridge filters."""

FEATURES = ("tso", "gso", "gro")
"""The offloads that are looked at, by the names of ethtool."""

NEW_VETH = {"tso": "on", "gso": "on", "gso_max_segs": "65535", "gso_max_size": "65536", "txqueuelen": "1000"}
"""Of a veth device that nobody has changed, with every kernel; GRO is off since Linux 5.13, and was on before."""

BRIDGE_OPTIONS = ("stp_state", "mcast_snooping", "vlan_filtering", "vlan_default_pvid")


def facts(commands: Iterable[Command]) -> Facts:
    """All facts after the commands, in this order; a later one takes the place of an earlier one."""
    found: Facts = {}
    for command in commands:
        reader = _READERS.get(command.tool)
        if reader is not None and command.on is None:
            reader(found, command.netns or "", command.words)
    return found


def _ip(found: Facts, netns: str, words: Words) -> None:
    match words:
        case ("link", "add", "name", first, *rest) if "peer" in rest:
            at = rest.index("peer")
            _device(found, first, dict(_pairs(rest[:at])))
            _device(found, rest[at + 2], dict(_pairs(rest[at + 3 :])))
        case ("link", "add", name, "type", "bridge", *rest):
            found |= {(netns, f"{name} {key}"): value for key, value in _pairs(rest) if key in BRIDGE_OPTIONS}
        case ("link", "add", "link", _, "name", name, "type", "vlan", *rest):
            found[netns, f"{name} vlan"] = dict(_pairs(rest))["id"]
        case ("link", "set", name, "up"):
            found[netns, f"{name} is"] = "up"
        case ("link", "set", name, ("master" | "mtu") as key, value):
            found[netns, f"{name} {key}"] = value
        case ("link", "set", "dev", name, "gso_max_segs", value):
            found[netns, f"{name} gso_max_segs"] = value
        case ("address", "add", address, "dev", name, *_):
            found[netns, f"address {address} on {name}"] = "there"
        case ("neighbour", "replace", address, "lladdr", mac, "dev", name, *_):
            found[netns, f"neighbour {address} on {name}"] = mac
        case ("route", "replace", to, "via", via, *rest):
            to = {"default": "default", "::/0": "default6"}.get(to) or str(ip_network(to, strict=False))
            found[netns, f"route {to} via"] = via
            found[netns, f"route {to} on"] = rest[1] if rest else _device_to(found, netns, via)


def _device_to(found: Facts, netns: str, via: str) -> str:
    """What the kernel takes for a route that names no device: the first with an address in the router's network."""
    addresses = (what.split()[1::2] for where, what in found if where == netns and what.startswith("address "))
    return next((name for address, name in addresses if ip_address(via) in ip_interface(address).network), "none")


def _lease(found: Facts, netns: str, words: Words) -> None:
    """What a DHCP server must have given."""
    device, _, address, *through = words
    _ip(found, netns, ("address", "add", address, "dev", device))
    for to, via in _pairs(through):
        _ip(found, netns, ("route", "replace", to, "via", via, "dev", device))


def _pairs(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    each = iter(words)
    return zip(each, each, strict=False)


def _device(found: Facts, name: str, options: dict[str, str]) -> None:
    netns = options["netns"]
    found |= {(netns, f"{name} {key}"): options[key] for key in ("mtu", "address") if key in options}
    found |= {(netns, f"{name} {key}"): value for key, value in NEW_VETH.items()}


def _ethtool(found: Facts, netns: str, words: Words) -> None:
    if words[0] == "-K":
        found |= {(netns, f"{words[1]} {key}"): value for key, value in _pairs(words[2:]) if key in FEATURES}


def _write(found: Facts, netns: str, words: Words) -> None:
    path, value = words
    found[netns, path] = " ".join(value.split())


def _bridge(found: Facts, netns: str, words: Words) -> None:
    match words:
        case ("vlan", "add", "dev", name, "vid", vlan, *flags):
            found[netns, f"vlan {vlan} on {name}"] = " ".join(sorted(flags)) or "tagged"


def _tc(found: Facts, netns: str, words: Words) -> None:
    match words:
        case ("qdisc", "add", "dev", name, "root", "handle", handle, kind, *_):
            found[netns, f"qdisc {handle} of {name}"] = f"{kind}, root"
        case ("qdisc", "add", "dev", name, "parent", parent, "handle", handle, kind, *_):
            found[netns, f"qdisc {handle} of {name}"] = f"{kind}, {parent}"


def _nft(found: Facts, netns: str, words: Words) -> None:
    match words:
        case ("add", "chain", family, table, name, *rest):
            options = dict(_pairs(word for word in rest if word not in "{;}"))
            kept = f"{options['hook']}, priority {options['priority']}" if options else "jumped to"
            found[netns, f"chain {name} in {family} {table}"] = kept
        case ("add", "rule", _, _, chain, *rule):
            number = sum(place[0] == netns and place[1].endswith(f" of {chain}") for place in found) + 1
            found[netns, f"rule {number} of {chain}"] = rule_text(" ".join(rule))
        case ("flush", "chain", _, _, chain):
            for place in [each for each in found if each[0] == netns and each[1].endswith(f" of {chain}")]:
                del found[place]


def rule_text(rule: str) -> str:
    """A rule of nftables in one form: comparisons for equality without "==", numbers in decimal."""
    rule = rule.replace(" == ", " ")
    return re.sub(r"\b0x([0-9a-f]+)\b", lambda found: str(int(found[1], 16)), rule)


_READERS: dict[str, Callable[[Facts, str, Words], None]] = {
    "ip": _ip,
    "ethtool": _ethtool,
    "write": _write,
    "bridge": _bridge,
    "tc": _tc,
    "nft": _nft,
    "lease": _lease,
}
"""For each tool what its words leave behind."""
