"""Commands that build a network, each with its undo. Pure, no I/O."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Tool: TypeAlias = Literal[
    "ip",
    "tc",
    "bridge",
    "nft",
    "ethtool",
    "write",
    "vm",
    "file",
    "mkdir",
    "rm",
    "wait",
    "signal",
    "controller",
    "program",
    "mount",
    "umount",
    "ln",
    "sh",
    "ovsdb-tool",
    "ovsdb-server",
    "ovs-vswitchd",
    "ovs-vsctl",
    "ovs-appctl",
    "mininet",
    "frr",
    "vtysh",
    "dnsmasq",
    "lease",
]

CUTS: tuple[str, ...] = ("tso", "off", "gso", "off", "tx-udp-segmentation", "off")
"""The words of `ethtool -K` by which a device cuts superpackets before it sends them. `gso` does not mean those that a
program makes of datagrams (UDP_SEGMENT).
"""


HOME = ".home"

PREFIX = "tb-"
"""The beginning of the name of each of our network namespaces, and of nothing else."""


OWN_QDISCS = ("tbshaper", "tbpolicer", "tbtrace")
"""Queueing disciplines of ours, by the names of the lab kernel, which `kernel/lab/patches/` adds them to."""

OWN_QDISC_PROGRAM = "qdisc"
"""Our program that sets them up, with lines as `tc -batch` reads them: tc does not know them."""


EXACT_NETEM = "netem-ns"
"""What that program calls a netem whose delay it sets to the nanosecond: tc 6.1 cuts off what is less than 1 us."""


OVS_FOLDER = f"/run/{PREFIX}ovs"
"""Has a folder for each switch and controller: sockets, database, process numbers, apps."""


FRR_FOLDER = "/run/frr"
"""Has a folder for each router: sockets of its daemons, their configuration, log and process numbers."""
FRR_DAEMONS = "/usr/lib/frr"

SERVICE_FOLDER = f"/run/{PREFIX}service"
"""Has a folder for each node that has a DHCP or DNS server, takes a lease or asks for names: resolv.conf, a server's
configuration, log and leases."""
LEASE_SCRIPT = f"{SERVICE_FOLDER}/lease.sh"
ASKS, ASK_AGAIN_S = 60, 1
"""How often a client asks for an address, a second apart: switches listen and learn for up to 30 s before they pass it
on."""
TAKE_LEASE = """export resolver="$5/resolv.conf"
busybox udhcpc -i "$1" -O staticroutes -n -t "$2" -T "$3" -s "$4" -p "$5/udhcpc.pid" || exit
ip -4 address show dev "$1" | grep -qF " $6 " && exit
echo "$1 got another address than $6:" $(ip -4 -brief address show dev "$1") >&2
exit 1"""

OWN_PROGRAM = "dualpi2"
"""A queueing discipline that Debian 12's tc does not know: our program of this name takes the words of later tc."""

CONTROLLER = ("python3", "-m", "testbed.agent.controller")
"""Starts a controller, where our package can be imported."""


STARTED = 'cd "$0/work" && echo $$ >"$0/pid" && exec "$@"'
"""Starts a program in the folder `work` of a controller's folder."""


@dataclass(frozen=True)
class Command:
    """One order to one tool, in one network namespace (None: the one the plan starts in; OUTSIDE: the one that has this
    computer's real NICs), or `on` a remote node.

    `words` leave out the name of the tool. For some tools they mean something else:

        write       a file below /proc/sys or /sys, and the value that it gets
        file        a path, and the text that it gets
        vm          a name, and the program that is the virtual machine
        controller  its name, and its folder
        program     the name of a controller that is a program, its folder, and its words
        wait        a number of seconds that the machine must have been up
        signal      the signal, and a file with the number of the process
        mininet     what the driver reads
        ovs…        the tools of Open vSwitch run for the switch that the namespace belongs to
        frr         a daemon of FRR, and its words
        vtysh       runs for the router that the namespace belongs to
        lease       a device, a folder, the address that a DHCP server must give it, and its routes: networks, each with
                    the neighbour that it goes through

    `undo` are words for the same tool, or for `undo_tool`; None where removing the namespace or the device undoes it.
    `on` is a virtual machine or, as `home` calls it, a computer; None is this one.
    """

    tool: Tool
    words: tuple[str, ...]
    netns: str | None = None
    undo: tuple[str, ...] | None = None
    undo_tool: Tool | None = None
    on: str | None = None


def is_of_own_qdisc(command: Command) -> bool:
    """Whether it is about one of OWN_QDISCS."""
    return command.tool == "tc" and not set(OWN_QDISCS).isdisjoint(command.words)


def takes_own_program(command: Command) -> bool:
    """Whether tc cannot do it, and OWN_QDISC_PROGRAM does."""
    return is_of_own_qdisc(command) or (command.tool == "tc" and EXACT_NETEM in command.words)


def output_file(name: str) -> str:
    """The file for the output of a program in the background."""
    return f"{name}.log"


def undos(commands: Iterable[Command]) -> tuple[Command, ...]:
    """The commands that undo these, last first."""
    return tuple(
        Command(command.undo_tool or command.tool, command.undo, command.netns, on=command.on)
        for command in reversed(tuple(commands))
        if command.undo is not None
    )


def process_words(command: Command) -> tuple[str, ...]:
    """The words of the process that does what a command says."""
    words = command.words
    match command.tool:
        case "write":
            path, value = words
            return ("sh", "-c", f"echo {shlex.quote(value)} > {shlex.quote(path)}")
        case "nft":
            return ("nft", " ".join(words))
        case "vm":
            return words[1:]
        case "file":
            return ("tee", words[0])
        case "wait":
            return ("awk", f'$1 < {words[0]} {{ system("sleep " {words[0]} - $1) }}', "/proc/uptime")
        case "signal":
            return ("sh", "-c", f'kill -{words[0]} "$(cat {shlex.quote(words[1])})"')
        case "controller":
            return (*CONTROLLER, words[1])
        case "frr":
            return (f"{FRR_DAEMONS}/{words[0]}", *words[1:])
        case "vtysh":
            assert command.netns is not None, "BUG: a router without a namespace"
            return vtysh_words(command.netns.removeprefix(PREFIX), *words)
        case "lease":
            device, folder, address = words[:3]
            asked = (device, str(ASKS), str(ASK_AGAIN_S), LEASE_SCRIPT, folder, address)
            return ("sh", "-c", TAKE_LEASE, "lease", *asked)
        case "program":
            return ("sh", "-c", STARTED, words[1], *words[2:])
        case tool if tool.startswith("ovs"):
            assert command.netns is not None, "BUG: a switch without a namespace"
            folder = f"{OVS_FOLDER}/{command.netns.removeprefix(PREFIX)}"
            return ("env", f"OVS_RUNDIR={folder}", tool, *words)
    return (command.tool, *words)


def vtysh_words(router: str, *words: str) -> tuple[str, ...]:
    """vtysh, talking to the daemons of this router."""
    return ("vtysh", "--config_dir", FRR_FOLDER, "-N", router, *words)


def home(machine: str) -> str:
    """The name of a machine itself in steps, outside of its namespaces; no node's name has a dot."""
    return f"{machine}{HOME}"


def remote_name(on: str, netns: str | None) -> str:
    """The name of a namespace on a machine in steps; with None, that of the machine."""
    return on if netns is None else netns.removeprefix(PREFIX)
