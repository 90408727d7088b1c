"""Instruction: what the process of a controller is told, as data for JSON. Pure, no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...codec.frozen import dataclass
from ...model.address import AddressBook
from ...model.forwarding import towards, tree
from ...model.openflow import MONITOR_INTERVAL_NS, ControllerProgram, Rule
from ...model.topology import Topology
from ..command import PREFIX, Command, File, Raw, Signal, Words, new_folder
from ..step import Placeholder, Run, StartController, StartProgram
from . import control_channel
from .control_channel import Channel
from .open_vswitch import port_number

CONTROLLER = ("python3", "-m", "testbed.agent.controller")
"""Starts a controller, where our package can be imported."""

STARTED = 'cd "$0/work" && echo $$ >"$0/pid" && exec "$@"'
"""Starts a program in the folder `work` of a controller's folder."""

TOLD = "told.json"
FILES = "files"
SYSTEM_PYTHON = ("/usr/bin/python3", "-B")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Of a controller that is a program; it has no other, so that what this computer's user has does not matter."""

STARTERS = """mkdir "$1"
for each in "$0"/*; do
  [ -f "$each" ] || continue
  read -r first <"$each" 2>/dev/null || first=
  case "$first" in '#!'*python*) python="\\"$0/python\\" " ;; *) python= ;; esac
  printf '#!/bin/sh\\nexec %s"%s" "$@"\\n' "$python" "$each" >"$1/${each##*/}"
done
chmod 755 "$1"/*"""
"""For each program of a virtual environment one that starts it where the environment is now: by themselves they name
the folder in which it was made.
"""

IP_PROTOCOLS = {("tcp", 4): 6, ("tcp", 6): 6, ("udp", 4): 17, ("udp", 6): 17, ("icmp", 4): 1, ("icmp", 6): 58}
ETHER_TYPES = {4: 0x0800, 6: 0x86DD}


@dataclass(frozen=True)
class Start(Command):
    """Starts a controller with its folder."""

    name: str
    folder: str

    tool = "controller"
    form = "{name} {folder}"

    @property
    def process(self) -> Words:
        return (*CONTROLLER, self.folder)

    @property
    def step(self) -> Run:
        return StartController(
            self.process, "controller", self.where, background=f"controller-{self.name}", folder=self.folder
        )

    @property
    def line(self) -> str:
        return f"{super().line} &"

    @property
    def undo(self) -> Command:
        return Signal("TERM", f"{self.folder}/pid")


@dataclass(frozen=True)
class StartOwn(Start):
    """Starts a controller that is a program of its user's, in the folder `work` of its folder."""

    program_words: Words

    tool = "program"

    @property
    def words(self) -> Words:
        return (*super().words, *self.program_words)

    @property
    def process(self) -> Words:
        return ("sh", "-c", STARTED, self.folder, *self.program_words)

    @property
    def step(self) -> Run:
        name = f"controller-{self.name}"
        return StartProgram(
            self.process, "controller", self.where, background=name, out=f"{name}.out", folder=self.folder
        )


def commands(channel: Channel, topology: Topology, book: AddressBook) -> Iterator[Command]:
    """Starts the controller; one that must start late waits for a signal."""
    folder, controller = channel.folder, channel.controller
    if controller.program is not None:
        yield from _of_program(channel, folder, controller.program)
        return
    yield new_folder(folder)
    if controller.text is not None:
        yield File(f"{folder}/{_file_name(controller.app)}", controller.text)
    for name, text in controller.files:
        yield File(f"{folder}/{name}", text)
    text = json.dumps(told(channel, topology, book), sort_keys=True)
    yield File(f"{folder}/{TOLD}", f"{text}\n")
    yield Start(channel.name, folder, netns=f"{PREFIX}{channel.name}")


def told(channel: Channel, topology: Topology, book: AddressBook) -> dict[str, Any]:
    """`listen` is its address and port, `waits` whether a signal (SIGUSR1) starts it, `names` those of its
    switches, by their decimal numbers; the rest is what its app needs.
    """
    controller = channel.controller
    numbers = {name: str(control_channel.dpid(topology, topology.node(name))) for name in channel.switches}
    found: dict[str, Any] = {
        "app": controller.app if controller.is_ours else _file_name(controller.app),
        "is_ours": controller.is_ours,
        "listen": [channel.address(channel.name).partition("/")[0], channel.controller.port],
        "waits": controller.start_ns is not None,
        "names": {number: name for name, number in numbers.items()},
    }
    if controller.app == "monitor":
        found["interval_s"] = (controller.interval_ns or MONITOR_INTERVAL_NS) / 1e9
    if controller.app == "firewall":
        found["rules"] = [{"action": rule.action, "matches": list(_matches(rule, book))} for rule in controller.rules]
    if controller.app == "static":
        found["switches"] = _tables(numbers, topology, book)
    return found


def _of_program(channel: Channel, folder: str, program: ControllerProgram) -> Iterator[Command]:
    """In a folder of its own with links to its files, and in no environment but its own."""
    work, files = f"{folder}/work", f"{folder}/{FILES}"
    yield new_folder(folder, work, files)
    if program.files:
        yield mounted(channel.name, folder)
        links = tuple(f"{files}/{name}" for name, _ in program.files)
        yield Raw("ln", ("-s", *links, work))
    settings = {**ENVIRONMENT, "HOME": work, "OVS_RUNDIR": folder}
    if program.python is not None:
        yield Raw("sh", ("-c", STARTERS, f"{files}/{program.python}/bin", f"{folder}/bin"))
        settings |= {"PATH": f"{folder}/bin:{settings['PATH']}", "VIRTUAL_ENV": f"{files}/{program.python}"}
    settings |= dict(program.environment)
    words = ("env", "-i", *(f"{key}={value}" for key, value in settings.items()), *_words(program))
    yield StartOwn(channel.name, folder, words, netns=f"{PREFIX}{channel.name}")


def mounted(name: str, folder: str) -> Command:
    """The files of a controller that is a program; the kernel knows where they are."""
    target = f"{folder}/{FILES}"
    return Raw("mount", ("-o", "bind,ro", str(files_of(name)), target), Raw("umount", (target,)))


def files_of(name: str) -> Placeholder:
    return Placeholder(f"files-of-{name}")


def _words(program: ControllerProgram) -> tuple[str, ...]:
    """A script is started by the Python of its virtual environment, or else by the system's."""
    if not program.words[0].endswith(".py"):
        return program.words
    return (*(SYSTEM_PYTHON if program.python is None else ("python",)), *program.words)


def _file_name(app: str) -> str:
    return app.rpartition("/")[2]


def _tables(numbers: Mapping[str, str], topology: Topology, book: AddressBook) -> dict[str, dict[str, Any]]:
    """For each switch, by its decimal number: the port for each MAC address, and the ports for frames to all."""
    found: dict[str, dict[str, Any]] = {number: {"ways": {}, "flood": []} for number in numbers.values()}
    for name, number in numbers.items():
        kept = tree(topology, name)
        found[number]["flood"] = [port_number(port) for port in book.ports_of(name) if port.link in kept]
    for port in (port for port in book.ports if not topology.node(port.node).kind.switches_frames):
        for name, link in towards(topology, book, port).items():
            if name in numbers:
                found[numbers[name]]["ways"][port.mac] = port_number(book.port(name, link.name))
    return found


def _matches(rule: Rule, book: AddressBook) -> Iterator[dict[str, Any]]:
    """The OpenFlow fields that a rule matches, one mapping for each pair of addresses."""
    for version in (4, 6):
        for source in book.addresses_of(rule.source, version):
            for destination in book.addresses_of(rule.destination, version):
                match: dict[str, Any] = {"eth_type": ETHER_TYPES[version]}
                match |= {f"ipv{version}_src": source} if source else {}
                match |= {f"ipv{version}_dst": destination} if destination else {}
                match |= {"ip_proto": IP_PROTOCOLS[rule.protocol, version]} if rule.protocol else {}
                match |= {f"{rule.protocol}_dst": rule.port} if rule.port else {}
                yield match
