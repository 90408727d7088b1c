"""What every workload states about itself, whichever tool it is. Pure, no I/O.

Plan, trial, gate, estimate and analysis ask the value and know no tool. A class that forgets a fact does not
type-check, and raises TypeError when it is defined or made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias

from ... import units
from ...codec.fault import Fault, Path
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import NAME, byte_count, matching, whole
from ...codec.scalar import quantity, text_of
from ...error import ValueRefused
from .control import BpfControl

SocketFact: TypeAlias = Literal["congestion", "window"]


@dataclass(frozen=True)
class Program:
    """A program of the computer that a tool runs: its name, the option that prints its version, its Debian package."""

    name: str
    version: str
    package: str


@dataclass(frozen=True)
class AskedFlow:
    """What one flow asks for. `congestion` None is datagrams, which give way to nothing. `window_bytes` None is the
    kernel's choice. `rate_bps`, of payload, is what it offers; None is all that the path takes.
    """

    congestion: str | None
    window_bytes: int | None = None
    rate_bps: int | None = None


@dataclass(frozen=True)
class Transfer:
    """A part of a workload's load: `flows` side by side, each for `duration_ns` or with `flow_bytes`; one is None.

    It happens `times` over, one after the other. Each time `round_trips` pass before the data moves, and `pause_ns`
    after it before the next transfer. `slow_start` says whether its time is mostly that of new connections. Its data
    crosses the last `paths` of the workload's data paths. `packets` None is as many as the data needs: full ones, or
    datagrams of `datagram_bytes` of payload, which leave so many
    `at_once`; None is as many as our own sender of datagrams chooses for their rate. The last of the flows starts
    `spread_ns` after the first.
    """

    flows: tuple[AskedFlow, ...]
    duration_ns: int | None = None
    flow_bytes: int | None = None
    times: int = 1
    round_trips: int = 0
    pause_ns: int = 0
    slow_start: bool = False
    paths: int = 1
    packets: int | None = None
    datagram_bytes: int | None = None
    at_once: int | None = 1
    spread_ns: int = 0


@dataclass(frozen=True)
class DataPorts:
    """By what the packets of a workload's data are known: ranges of ports, both ends included."""

    protocol: Literal["tcp", "udp"]
    source: tuple[int, int]
    destination: tuple[int, int]


@dataclass(frozen=True)
class ControlConnection:
    """A connection of the tool's own, whose packets no emulator counts as data or drops.

    It goes to the server's `port` like the data, but not from one of the clients' `data_ports`. Datagrams of up to
    `greeting_bytes`, from the IP header on, belong to it too.
    """

    port: int
    data_ports: tuple[int, int]
    greeting_bytes: int


@keyed
class Ends(Keyed):
    """The hosts between which a workload or a background runs."""

    source: str = key("from", NAME, "The host that sends the data.")
    destination: str = key("to", NAME, "The host that receives it.")

    @property
    def between(self) -> Mapping[str, str]:
        """The hosts that take part, by their keys, in the order in which data passes them."""
        return {"from": self.source, "to": self.destination}

    @property
    def elsewhere(self) -> Mapping[Path, str]:
        """The hosts that take part besides, by where the file names them."""
        return {}


@keyed
class ToolKeys(Ends, ABC):
    """The keys of a tool, whose name is `tool`. `host_keys` are those that name a host."""

    TAG = "tool"
    tool: ClassVar[str]
    host_keys: ClassVar[tuple[str, ...]] = ("from", "to")

    @property
    def measured_units(self) -> Mapping[str, str]:
        """The base units of what only it measures, by name."""
        return {}

    @abstractmethod
    def workload(self) -> Workload:
        """The value, of keys without faults."""

    @classmethod
    @abstractmethod
    def of(cls, workload: Any) -> ToolKeys:
        """The keys of a value of the tool; `workload` is the way back."""


@keyed
class Workload(ToolKeys):
    """Data from the host `source` to the host `destination`.

    The same for all values of a class, stated in its header: `tool` is its name in files. `programs` are those of the
    computer that it runs. `one_kernel` says whether both ends must be in one kernel. `sends_data` says whether it sends
    data packets, TCP or UDP, and can fill a path. `reports` is what its output says of each flow's sockets, which the
    gate then compares with what was asked. `port_is_senders` says whether a flow's port in the outcome is that of its
    sender's socket, which tells its samples. `control` is a connection that emulators leave alone.
    """

    programs: ClassVar[tuple[Program, ...]]
    one_kernel: ClassVar[bool]
    sends_data: ClassVar[bool]
    reports: ClassVar[frozenset[SocketFact]]
    port_is_senders: ClassVar[bool]
    control: ClassVar[ControlConnection | None]

    def __init_subclass__(
        cls,
        *,
        tool: str,
        programs: tuple[Program, ...],
        one_kernel: bool,
        sends_data: bool,
        reports: frozenset[SocketFact],
        port_is_senders: bool,
        control: ControlConnection | None,
    ) -> None:
        super().__init_subclass__()
        cls.tool, cls.programs, cls.one_kernel, cls.sends_data = tool, programs, one_kernel, sends_data
        cls.reports, cls.port_is_senders, cls.control = reports, port_is_senders, control

    def workload(self) -> Workload:
        return self

    @classmethod
    def of(cls, workload: Any) -> ToolKeys:
        """A value says its keys itself, unless its class has others for files."""
        keys: ToolKeys = workload
        return keys

    @property
    @abstractmethod
    def relays(self) -> tuple[str, ...]:
        """The hosts between the two, such as a cache, that take the data and send it on, in its order."""

    @property
    @abstractmethod
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        """What each flow asks for, in the order of the outcome's flows; empty for a tool without flows."""

    @property
    @abstractmethod
    def load(self) -> tuple[Transfer, ...]:
        """What it sends, in this order."""

    @property
    @abstractmethod
    def length_ns(self) -> int | None:
        """From its start to its end; None if that depends on the path."""

    @property
    @abstractmethod
    def opening_round_trips(self) -> int:
        """How many round trips its connections take to open before it starts."""

    @property
    @abstractmethod
    def data_ports(self) -> DataPorts | None:
        """By what its data is known in a capture; None if ports do not tell."""

    @property
    @abstractmethod
    def echo_bytes(self) -> int | None:
        """The payload of its ICMP echo requests, of which the gate checks the RTT; None for all else."""

    @property
    @abstractmethod
    def connections(self) -> int:
        """Pairs of sockets that exist at the same time, for the memory of a lab kernel."""

    @property
    @abstractmethod
    def buffer_bytes(self) -> int:
        """The memory that it takes in a lab kernel beyond its connections."""

    @property
    def needed_programs(self) -> tuple[Program, ...]:
        """The programs of the computer that this workload runs."""
        return self.programs

    def needed_at(self, host: str) -> tuple[Program, ...]:
        """Those that this host runs."""
        return self.needed_programs if host in self.hosts else ()

    @property
    def is_one_path(self) -> bool:
        """Whether all that its flows bring takes the last of its data paths."""
        return True

    @property
    def counts_twice(self) -> bool:
        """Whether what comes twice counts twice."""
        return False

    @property
    def is_users_code(self) -> bool:
        """Whether it runs what a user's file says, and not a tool that we know."""
        return False

    @property
    def needed_files(self) -> tuple[tuple[str, str], ...]:
        """The files of users that it needs, by name, each with the SHA-256 of what is in it."""
        return ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """All that take part, in the order in which the data passes them."""
        return (self.source, *self.relays, self.destination)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(sender, receiver) of each path of its data; the last one leads to the destination."""
        return tuple(pairwise(self.hosts))

    @property
    def bpf_controls(self) -> tuple[BpfControl, ...]:
        """The congestion controls that it brings to the kernel of its source, each once."""
        return ()

    @property
    def controls(self) -> tuple[str, ...]:
        """The congestion controls of its flows, each once."""
        return tuple(dict.fromkeys(flow.congestion for flow in self.asked_flows if flow.congestion is not None))

    @property
    def unyielding_bps(self) -> int:
        """What it sends whatever the path carries: the rate of its datagrams."""
        return sum(flow.rate_bps or 0 for flow in self.asked_flows if flow.congestion is None)

    @property
    def sending_ns(self) -> int | None:
        """How long each flow sends; None if an amount or the path says when it ends."""
        return self.load[0].duration_ns if self.asked_flows and len(self.load) == 1 else None


FLOWS_MAX = 128
WINDOW_LEAST_BYTES = 2304
"""Half of the smallest send buffer of Linux (SOCK_MIN_SNDBUF); for a smaller window the kernel makes a larger one."""
WINDOW_MAX_BYTES = 2**30
"""Windows are smaller than this, the largest that TCP can announce (RFC 7323) and that the kernel accepts."""
DATAGRAM_MAX = 65_507
"""The payload of the longest IPv4 datagram with a header of 8 bytes."""
STAMP_BYTES = 16
"""What a datagram of ours carries, its number and when it was sent, and what ping needs for the time."""


def read_window(value: object) -> int | None:
    text = text_of(value, f"auto, or {units.SIZE.allowed}")
    if text == "auto":
        return None
    try:
        window_bytes = quantity(units.parse_size, units.SIZE.allowed, low=1)(text)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, f"auto, or {refused.allowed}") from None
    if window_bytes is not None and window_bytes >= WINDOW_MAX_BYTES:
        raise ValueRefused(f"no TCP window is as large as {text!r}", "below 1 GiB, or auto")
    return window_bytes


def measure_faults(workload: Workload) -> Iterator[Fault]:
    """What cannot be measured as it is asked, though stored trials may have it: windows for which the kernel does not
    make the buffers that they ask for, and pings without the time of their sending.
    """
    sizes = [flow.window_bytes for flow in workload.asked_flows if flow.window_bytes is not None]
    if sizes and min(sizes) < WINDOW_LEAST_BYTES:
        what = f"for a window of {units.format_size(min(sizes))} the kernel makes a larger buffer, its smallest one"
        yield Fault(("window",), what, f"{WINDOW_LEAST_BYTES} B and more, or auto")
    if workload.echo_bytes is not None and workload.echo_bytes < STAMP_BYTES:
        what = f"pings of {units.format_size(workload.echo_bytes)} have no room for the time, and tell no round trip"
        yield Fault(("size",), what, f"{STAMP_BYTES} B and more")


WINDOW = Kind(
    read_window,
    lambda window_bytes: "auto" if window_bytes is None else units.format_size(window_bytes),
    matching(rf"^auto$|{units.SIZE.pattern}", "A size, or auto for autotuning.", "auto", "64 KiB"),
    none="auto",
)
FLOWS = whole(1, FLOWS_MAX, "How many flows run in parallel.")
LENGTH = byte_count(STAMP_BYTES, DATAGRAM_MAX, "The payload of a datagram, in bytes.", units.format_size)
