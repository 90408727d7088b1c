"""OpenFlow switches and controllers as values. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from ..codec.fault import Fault
from ..codec.frozen import dataclass
from ..codec.keyed import Keyed, key, keyed
from ..codec.kind import NAME, listed, record, whole, word
from .link.impairment import UNIMPAIRED, Direction

Datapath: TypeAlias = Literal["kernel", "user"]
FailMode: TypeAlias = Literal["secure", "standalone"]
Neighbours: TypeAlias = Literal["static", "learned"]
"""Whether hosts know the MAC addresses of their segment from the start, or ask for them (ARP, ND)."""

APPS = ("learning-switch", "static", "firewall", "monitor")
"""Built-in apps; any other app is a file."""

NOBODY = "none"
"""In place of a controller's name: the switch has none."""

CONTROLLER_PORT = 6653
"""Of TCP, where switches find a controller that says nothing else."""

VERSIONS = {f"1.{minor}": f"OpenFlow1{minor}" for minor in range(6)}
"""Of OpenFlow, with the names that Open vSwitch has for them."""

APPS_SPEAK = "1.3"
"""The version of the built-in apps."""

MONITOR_INTERVAL_NS = 1_000_000_000
DPID_MAX = 2**64 - 1


PORT_MAX = 65_535
PORT_NUMBER = whole(1, PORT_MAX, "A port of TCP or UDP.")
NEIGHBOURS = word("static", "learned")


@keyed
class Ovs(Keyed):
    """An Open vSwitch. `controller` None is the topology's only one, if it has one; NOBODY is none.

    `fail_mode` None is secure with a controller and standalone without, `datapath` None the kernel's where it has one,
    `dpid` None the number of the switch in the file, from 1 on.
    """

    controller: str | None = key(
        "controller",
        NAME,
        "The name of its controller, or none; default: the only controller of the file.",
        default=None,
    )
    fail_mode: FailMode | None = key(
        "fail_mode",
        word("secure", "standalone"),
        "What it does when it has lost its controller; default: secure if it has one.",
        default=None,
    )
    datapath: Datapath | None = key(
        "datapath",
        word("kernel", "user"),
        "The data path: kernel or user; default: the kernel's, if the kernel has one.",
        default=None,
    )
    dpid: int | None = key(
        "dpid",
        whole(1, DPID_MAX, "The number by which the controller knows it."),
        "Its OpenFlow number; default: its position among the Open vSwitches of the file.",
        default=None,
    )


@keyed
class Rule(Keyed):
    """One rule of a firewall; what is left out fits all.

    `port` is the destination's.
    """

    action: Literal["allow", "deny"] = key("action", word("allow", "deny"))
    source: str | None = key("from", NAME, "The sending host; default: any.", default=None)
    destination: str | None = key("to", NAME, "The receiving host; default: any.", default=None)
    protocol: Literal["tcp", "udp", "icmp"] | None = key("protocol", word("tcp", "udp", "icmp"), default=None)
    port: int | None = key("port", PORT_NUMBER, "The port of the destination; default: any.", default=None)

    def faults(self) -> Iterator[Fault]:
        if self.port is not None and self.protocol not in ("tcp", "udp"):
            yield Fault(("port",), "only tcp and udp have ports", "'protocol: tcp' or 'protocol: udp' with it")


RULES = listed(record(Rule))


@dataclass(frozen=True)
class ControllerProgram:
    """A controller that is a program of its user's. `files` are files and folders for it, by name with the SHA-256 of
    what is in each; `python` is the one among them that is a virtual environment (None: the system's Python).
    """

    words: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    python: str | None = None
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Controller:
    """An OpenFlow controller: `app` is one of APPS, or the name of a file with `text` (None for APPS); or that of a
    `program`.

    `files` are names and texts of files beside the app. `forward` and `backward` are the channel from its switches to
    it, and back. `rules` are the firewall's,
    `interval_ns` the monitor's. It starts `start_ns` after the workload, or before it (None), and is killed `stop_ns`
    after the workload's start, or never (None). `loops` says that an app in a file copes with rings of switches. It
    listens at the TCP port `port`. `versions` are those of OpenFlow that its switches offer; empty: all.
    """

    app: str
    text: str | None = None
    forward: Direction = UNIMPAIRED
    backward: Direction = UNIMPAIRED
    rules: tuple[Rule, ...] = ()
    interval_ns: int | None = None
    start_ns: int | None = None
    stop_ns: int | None = None
    loops: bool = False
    files: tuple[tuple[str, str], ...] = ()
    program: ControllerProgram | None = None
    port: int = CONTROLLER_PORT
    versions: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        return self.text is None and self.program is None

    @property
    def rtt_ns(self) -> int:
        """The round trip of its channel."""
        return self.forward.delay_ns + self.backward.delay_ns

    @property
    def breaks_loops(self) -> bool:
        """Whether it keeps packets from circling for ever in a ring of its switches."""
        return self.loops or self.app == "static"

    @property
    def is_proactive(self) -> bool:
        """Whether it sets up all flows before the first packet."""
        return self.app == "static"
