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

What remote nodes and other commands do is no fact here. The gate looks for it in other ways, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .command import Command
from .command import Facts as Facts

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
        if command.on is None:
            command.leave(found)
    return found


def rule_text(rule: str) -> str:
    """A rule of nftables in one form: comparisons for equality without "==", numbers in decimal."""
    rule = rule.replace(" == ", " ")
    return re.sub(r"\b0x([0-9a-f]+)\b", lambda found: str(int(found[1], 16)), rule)
