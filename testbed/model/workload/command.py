"""The tool `command` as a value: programs that know nothing of us, and what is measured of them. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

from ...codec.frozen import dataclass
from ...codec.keyed import keyed
from .fact import AskedFlow, Program, Transfer, Workload

Role: TypeAlias = Literal["server", "client"]
ReadyKind: TypeAlias = Literal["udp", "tcp", "output", "file", "end"]
Signal: TypeAlias = Literal["TERM", "INT", "HUP", "QUIT"]

GOODPUT = "goodput"
"""The measure that is the trial's goodput."""
GUESS_NS = 10 * 10**9
"""For the estimate of a workload that says neither how long it takes nor how much it sends."""
PROGRAM_BYTES = 64 << 20
"""For the memory of a lab kernel: what a program takes besides its files."""


@dataclass(frozen=True)
class Ready:
    """By what a program shows that others may start: a port, a text in its output, a file, or its end."""

    kind: ReadyKind
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}" if self.value else self.kind


@dataclass(frozen=True)
class Started:
    """A program `name` on the host `at`; `run` are its words, with placeholders.

    Clients run `runs` times, first `start_ns` after all servers are ready, then `pause_ns` after the end before. Every
    run may take `limit_ns` of lab time, and a server `ready_limit_ns` until it is `ready` (None: at once). `user` None
    is the one of the kernel's programs, root in a guest. A server gets the signal `stop` when the clients have ended.
    """

    name: str
    at: str
    run: tuple[str, ...]
    role: Role
    ready: Ready | None = None
    ready_limit_ns: int = 10 * 10**9
    runs: int = 1
    start_ns: int = 0
    pause_ns: int = 0
    limit_ns: int = 600 * 10**9
    environment: tuple[tuple[str, str], ...] = ()
    user: str | None = None
    stop: Signal = "TERM"


@dataclass(frozen=True)
class Measure:
    """A number that each run of the program `of` (None: of every client) yields: `run_bytes` over its time, the last
    match of the regular expression `output` in what it wrote, or what is at `key` in the JSON file `json`.

    `unit` is the one of that number; `base_unit` and `scale` say how it is stored: in `base_unit`, the number times
    `scale`. `may_be_zero` says whether 0 is a value at all.
    """

    name: str
    run_bytes: int | None = None
    output: str | None = None
    json: str | None = None
    key: str = "$"
    of: str | None = None
    unit: str = ""
    base_unit: str = ""
    scale: float = 1.0
    is_more_better: bool = False
    may_be_zero: bool = False


@keyed
class CommandWorkload(
    Workload,
    tool="command",
    programs=(),
    one_kernel=False,
    sends_data=True,
    reports=frozenset(),
    port_is_senders=False,
    control=None,
):
    """Programs as they are: servers, then clients. The data is what `destination` receives.

    `servers` are background programs, in their order, and the last of them is the server, if there is one. `files` are
    those that stand beside the scenario, as (name, SHA-256). `collect` are patterns of files to keep. `duration_ns` is
    how long a run of a client takes, if its words say that. `space_bytes` is for the programs' files. `variant` is a
    text for the placeholder of that name, so that an axis can vary words.
    """

    servers: tuple[Started, ...]
    clients: tuple[Started, ...]
    measures: tuple[Measure, ...] = ()
    collect: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    duration_ns: int | None = None
    space_bytes: int = 128 << 20
    variant: str = ""

    relays = ()
    opening_round_trips = 1
    data_ports = None
    echo_bytes = None

    @property
    def started(self) -> tuple[Started, ...]:
        """All programs, in the order in which they start."""
        return (*self.servers, *self.clients)

    @property
    def goodput(self) -> Measure | None:
        """The measure of the goodput; None if counters of the destination tell."""
        return next((each for each in self.measures if each.name == GOODPUT), None)

    @property
    def needed_programs(self) -> tuple[Program, ...]:
        """Those that are looked for by name; versions are not asked, as no option of theirs is known."""
        names = dict.fromkeys(each.run[0] for each in self.started if "/" not in each.run[0])
        return tuple(Program(name, "", "") for name in names)

    def needed_at(self, host: str) -> tuple[Program, ...]:
        names = dict.fromkeys(each.run[0] for each in self.started if each.at == host and "/" not in each.run[0])
        return tuple(Program(name, "", "") for name in names)

    @property
    def is_one_path(self) -> bool:
        """Counters of the destination count what took it; clients elsewhere count what did not."""
        return self.goodput is None or len({each.at for each in self.clients}) == 1

    @property
    def counts_twice(self) -> bool:
        """Counters do, and programs may; but not what each run is known to transfer."""
        return self.goodput is None or self.goodput.run_bytes is None

    @property
    def is_users_code(self) -> bool:
        return True

    @property
    def needed_files(self) -> tuple[tuple[str, str], ...]:
        return self.files

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.source, self.destination, *(each.at for each in self.started))))

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        return ((self.source, self.destination),)

    @property
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        """What a client got is a flow if the clients tell; else all that arrived is one. Which congestion control they
        use, if any, is theirs to say.
        """
        return (AskedFlow(None),) * (1 if self.goodput is None else len(self.clients))

    @property
    def load(self) -> tuple[Transfer, ...]:
        return tuple(self._transfers())

    def _transfers(self) -> Iterator[Transfer]:
        one = self.goodput.run_bytes if self.goodput is not None else None
        runs, pause_ns = max(each.runs for each in self.clients), max(each.pause_ns for each in self.clients)
        if self.duration_ns is not None or one is None:
            yield Transfer(self.asked_flows, self.duration_ns or GUESS_NS, None, runs, pause_ns=pause_ns)
        else:
            yield Transfer(self.asked_flows, None, one, runs, 2, pause_ns, slow_start=True)

    @property
    def length_ns(self) -> int | None:
        if self.duration_ns is None:
            return None
        return max(c.start_ns + c.runs * self.duration_ns + (c.runs - 1) * c.pause_ns for c in self.clients)

    @property
    def sending_ns(self) -> int | None:
        """A program may pause whenever it likes."""
        return None

    @property
    def connections(self) -> int:
        return 2 * len(self.started)

    @property
    def buffer_bytes(self) -> int:
        return self.space_bytes + PROGRAM_BYTES * len(self.started)


FIXED = ("out", "seed", "duration", "variant")
ROLES = ("server", "client")
PLACEHOLDER = re.compile(r"(?<![%$])\{(?:([a-z0-9][a-z0-9-]{0,31})\.address|(" + "|".join(FIXED) + r"))\}")


def named(words: Iterable[str]) -> Iterator[str]:
    """What the words name: each of FIXED, and the names before `.address`."""
    for word in words:
        for found in PLACEHOLDER.finditer(word):
            yield found[2] or f"{found[1]}.address"


def filled(word: str, value_of: Callable[[str], str]) -> str:
    """The word with its placeholders replaced by their values."""
    return PLACEHOLDER.sub(lambda found: value_of(found[2] or f"{found[1]}.address"), word)
