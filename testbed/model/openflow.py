"""OpenFlow switches and controllers as values. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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

MONITOR_INTERVAL_NS = 1_000_000_000
DPID_MAX = 2**64 - 1


@dataclass(frozen=True)
class Ovs:
    """An Open vSwitch. `controller` None is the topology's only one, if it has one; NOBODY is none.

    `fail_mode` None is secure with a controller and standalone without, `datapath` None the kernel's where it has one,
    `dpid` None the number of the switch in the file, from 1 on.
    """

    controller: str | None = None
    fail_mode: FailMode | None = None
    datapath: Datapath | None = None
    dpid: int | None = None


@dataclass(frozen=True)
class Rule:
    """A rule of a firewall; None matches everything. `port` is the destination's."""

    action: Literal["allow", "deny"]
    source: str | None = None
    destination: str | None = None
    protocol: Literal["tcp", "udp", "icmp"] | None = None
    port: int | None = None


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
