"""Commands that build a network. Each is a value that knows its words, its process, its step, its undo and the facts
that can be read back. Pure, no I/O.

The commands that set up Linux's network are in `linux`; those that start switches, routers, servers, controllers and
virtual machines are in the modules of these nodes.

A fact is what commands leave behind and the kernel can be asked for. It has a place, a network namespace and what is
meant there, and a value as text:

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

What virtual machines and other commands do is no fact here. The gate looks for it in other ways, or not at all.
"""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, TypeAlias

from ..agent.syscall import OUTSIDE
from ..codec.frozen import dataclass
from ..error import visible
from .step import Location, Run, Step, Timeline

Words: TypeAlias = tuple[str, ...]

Place: TypeAlias = tuple[str, str]
"""A network namespace ("": the one in which the plan starts), and what is meant in it."""
Facts: TypeAlias = dict[Place, str]
"""What a kernel can be asked for; the head of this module shows the forms."""

HOME = ".home"

PREFIX = "tb-"
"""The beginning of the name of each of our network namespaces, and of nothing else."""

OF_IPROUTE2 = ("ip", "tc", "bridge")
"""Tools that enter a namespace by themselves (`-n`), and read many lines (`-batch`)."""


@dataclass(frozen=True, kw_only=True)
class Command(ABC):
    """One order to one tool, in one network namespace (None: the one in which the plan starts; OUTSIDE: the one that
    has this computer's real NICs), or `on` a remote node: a virtual machine or, as `home` calls it, a computer.
    """

    netns: str | None = None
    on: str | None = None

    form: ClassVar[str] = ""
    """The words, with fields of the command in braces. A field stays one word, whatever is in it."""
    undone: ClassVar[str] = ""
    """The words of the same tool that undo it, likewise; empty where removing the namespace or the device does."""
    fact: ClassVar[tuple[str, str]] = ("", "")
    """What can be read back after it, and its value, likewise; empty for nothing."""

    @property
    @abstractmethod
    def tool(self) -> str:
        """The name of the tool, or what a script says in its place."""

    @property
    def words(self) -> Words:
        """What the tool gets, without its name."""
        assert self.form, f"BUG: {type(self).__name__} has no words"
        return self.filled(self.form)

    def filled(self, form: str) -> Words:
        """Words with the values of fields in place of their names."""
        return tuple(word.format_map(vars(self)) for word in form.split())

    @property
    def program(self) -> str:
        """What carries it out; commands in a row with the same program in the same place make one batch."""
        return self.tool

    @property
    def process(self) -> Words:
        """The words of the process that does it; nft takes a line."""
        return (self.tool, " ".join(self.words)) if self.tool == "nft" else (self.tool, *self.words)

    @property
    def is_of_computer(self) -> bool:
        """Whether a computer carries it out: this one or a machine, and no virtual machine."""
        return self.on is None or self.on.endswith(HOME)

    @property
    def where(self) -> Location:
        return Location(self.netns) if self.on is None else Location(on=remote_name(self.on, self.netns))

    @property
    def step(self) -> Step:
        """What the agent does, unless the program reads a whole batch (see `batch`)."""
        return Run(self.process, where=self.where)

    @property
    def line(self) -> str:
        """For a root shell on the computer where it happens."""
        if self.tool in OF_IPROUTE2 and self.netns not in (None, OUTSIDE):
            return shlex.join((self.tool, "-n", str(self.netns), *self.words))
        return self.inside(self.process)

    def inside(self, process: Words) -> str:
        """The line of a process in the namespace."""
        inside = () if self.netns in (None, OUTSIDE) else ("ip", "netns", "exec", str(self.netns))
        return shlex.join((*inside, *process))

    @property
    def undo(self) -> Command | None:
        """The command that undoes it in the same place."""
        return Raw(self.tool, self.filled(self.undone)) if self.undone else None

    @property
    def named(self) -> Words:
        """The network namespaces that its words name."""
        return ()

    @property
    def features(self) -> Words:
        """Words that may be names of what the kernel must have for it, such as `netem`; others do no harm."""
        return ()

    @property
    def facts(self) -> Facts:
        """What can be read back after it, whatever was before."""
        what, value = (each.format_map(vars(self)) for each in self.fact)
        return {self.at(what): value} if what else {}

    def leave(self, facts: Facts) -> None:
        """Changes the facts that the commands before it left to those after it."""
        facts |= self.facts

    def at(self, what: str) -> Place:
        """What is meant in its namespace."""
        return (self.netns or "", what)


@dataclass(frozen=True)
class Raw(Command):
    """Words without facts, for any tool. `back` is the command that undoes it."""

    name: str
    said: Words
    back: Command | None = None

    @property
    def tool(self) -> str:
        return self.name

    @property
    def words(self) -> Words:
        return self.said

    @property
    def features(self) -> Words:
        return (self.name,)

    @property
    def undo(self) -> Command | None:
        return self.back


def new_folder(path: str, *inside: str) -> Raw:
    """Makes a folder of one node, or the folders `inside` it; the undo removes it with all that is in it."""
    return Raw("mkdir", ("-p", *(inside or (path,))), Raw("rm", ("-r", path)))


@dataclass(frozen=True)
class File(Command):
    """A file with a text. `back` removes it if it is in no folder that is removed."""

    path: str
    text: str
    back: Command | None = None

    tool = "file"
    form = "{path} {text}"

    @property
    def process(self) -> Words:
        return ("tee", self.path)

    @property
    def step(self) -> Step:
        return Run(self.process, "file", stdin=self.text)

    @property
    def line(self) -> str:
        return f"printf %s {shlex.quote(self.text)} | {super().line} > /dev/null"

    @property
    def undo(self) -> Command | None:
        return self.back


@dataclass(frozen=True)
class Wait(Command):
    """Waits until the machine has been up for so long."""

    up_s: int

    tool = "wait"
    form = "{up_s}"

    @property
    def process(self) -> Words:
        return ("awk", f'$1 < {self.up_s} {{ system("sleep " {self.up_s} - $1) }}', "/proc/uptime")


@dataclass(frozen=True)
class Signal(Command):
    """Sends a signal to the process whose number is in a file."""

    signal: str
    pid_file: str

    tool = "signal"
    form = "{signal} {pid_file}"

    @property
    def process(self) -> Words:
        return ("sh", "-c", f'kill -{self.signal} "$(cat {shlex.quote(self.pid_file)})"')


def output_file(name: str) -> str:
    """The file for the output of a program in the background."""
    return f"{name}.log"


def undos(commands: Iterable[Command]) -> tuple[Command, ...]:
    """The commands that undo these, last first. What is in a virtual machine ends with it."""
    return tuple(
        replace(command.undo, netns=command.netns, on=command.on)
        for command in reversed(tuple(commands))
        if command.undo is not None and command.is_of_computer
    )


def home(machine: str) -> str:
    """The name of a machine itself in steps, outside of its namespaces; no node's name has a dot."""
    return f"{machine}{HOME}"


def remote_name(on: str, netns: str | None) -> str:
    """The name of a namespace on a machine in steps; with None, that of the machine."""
    return on if netns is None else netns.removeprefix(PREFIX)


SHELLS = ("sh", "awk")
"""Programs that start others, which their words and their input name."""

WORD = re.compile(r"(?<![\w/.-])[\w-]+")
"""Not the name of a file in a folder, such as `/run/frr/r1/zebra.pid`."""


def programs(steps: Iterable[Step], known: Collection[str]) -> Iterator[str]:
    """Their names, each as often as it is started. Of what a shell starts, those that are `known`. Without programs on
    remote nodes, and those that a path or a placeholder names: they are ours.
    """
    for step in steps:
        if isinstance(step, Timeline):
            for moment in step.moments:
                yield from programs((*moment.steps, *moment.then), known)
        elif isinstance(step, Run) and (step.where is None or step.where.on is None):
            yield from _of(step.words, step.stdin or "", known)


def _of(words: tuple[str, ...], text: str, known: Collection[str]) -> Iterator[str]:
    program, *rest = words
    if "/" not in program and "@" not in program:
        yield program
    if program == "env":
        started = tuple(rest[next(at for at, word in enumerate(rest) if "=" not in word) :])
        yield from _of(started, text, known)
    elif program in SHELLS:
        yield from (word for part in (*rest, text) for word in WORD.findall(part) if word in known)


def script(commands: Iterable[Command]) -> str:
    """The commands as a script for a root shell."""
    return "".join(map(_shell_lines, commands))


def comment(text: str) -> str:
    """Text as lines that a shell skips, whatever is in it."""
    return "".join(f"# {visible(line)}\n" for line in text.split("\n"))


def _shell_lines(command: Command) -> str:
    if command.on is None:
        return f"{command.line}\n"
    if not command.on.endswith(HOME):
        return comment(f"on {command.on}: {command.line}")
    return f"{shlex.join(('ssh', command.on.removesuffix(HOME), command.line))}\n"


ALL_IS_ASKED = ("address", "route", "neighbour", "qdisc", "rule", "rules")
"""First words of what is there only if somebody asked for it. The same holds of a `vlan` if the bridge filters."""

FEATURES = ("tso", "gso", "gro")
"""The offloads that are looked at, by the names of ethtool."""

NEW_VETH = {"tso": "on", "gso": "on", "gso_max_segs": "65535", "gso_max_size": "65536", "txqueuelen": "1000"}
"""Of a veth device that nobody has changed, with every kernel; GRO is off since Linux 5.13, and was on before."""

BRIDGE_OPTIONS = ("stp_state", "mcast_snooping", "vlan_filtering", "vlan_default_pvid")


def facts(commands: Iterable[Command], before: Facts | None = None) -> Facts:
    """All facts after the commands, in this order: those of `before`, and of each what a later one does not replace."""
    found: Facts = dict(before or {})
    for command in commands:
        if command.is_of_computer:
            command.leave(found)
    return found


def rule_text(rule: str) -> str:
    """A rule of nftables in one form: comparisons for equality without "==", numbers in decimal."""
    rule = rule.replace(" == ", " ")
    return re.sub(r"\b0x([0-9a-f]+)\b", lambda found: str(int(found[1], 16)), rule)
