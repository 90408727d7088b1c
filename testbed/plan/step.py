"""Steps, as values: what the agent executes, one after the other. Pure, no I/O.

`step_json` turns a step into the JSON that `agent.step` documents, and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Location:
    """Where a step happens: in the namespace `netns` of this computer, or `on` a remote node. Both None, or no location
    at all, is the namespace of the agent itself.
    """

    netns: str | None = None
    on: str | None = None

    def data(self) -> dict[str, str | None]:
        """Its key in a step."""
        return {"netns": self.netns} if self.on is None else {"on": self.on}


@dataclass(frozen=True)
class Placeholder:
    """A word, or a part of one, that depends on the computer; the kernel replaces it before a trial runs."""

    name: str

    def __str__(self) -> str:
        return f"@{self.name}@"


@dataclass(frozen=True)
class Run:
    """Starts a program and waits for its end; with a `background` name, goes on at once.

    `stdin` is the text that the program reads. `out` and `err` are files of the trial's folder for its output; None
    keeps it for the log. `may_fail`: an exit status other than 0 is a result, not an error. `timeout_s` is in lab time;
    None waits for ever.
    """

    words: tuple[str, ...]
    title: str | None = None
    where: Location | None = None
    stdin: str | None = None
    out: str | None = None
    err: str | None = None
    background: str | None = None
    may_fail: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True)
class StartController(Run):
    """Starts an OpenFlow controller, whose folder is `folder`. Its first words are `plan.node.controller.CONTROLLER`;
    the kernel puts the interpreter of this computer in their place.
    """

    folder: str = ""


@dataclass(frozen=True)
class StartProgram(Run):
    """Starts a controller that is a program of its user's; `folder` is the controller's."""

    folder: str = ""


@dataclass(frozen=True)
class Resumed:
    """A virtual machine that starts from a snapshot: what the snapshot has."""

    memory_bytes: int
    cards: int


@dataclass(frozen=True)
class StartVm(Run):
    """Starts a virtual machine; its words contain placeholders. `resumed` is None for one that boots."""

    resumed: Resumed | None = None


@dataclass(frozen=True)
class Stop:
    """Ends the background program `name` with SIGTERM and waits for it."""

    name: str


@dataclass(frozen=True)
class Write:
    """Writes values to files below /proc/sys or /sys, as (file, value); reads each back and compares."""

    values: tuple[tuple[str, str], ...]
    where: Location | None = None


@dataclass(frozen=True)
class Read:
    """Copies files of /proc or /sys into the trial's folder, as (name there, file); of a folder, or of several files
    with spaces between them, a line for each file.

    `of` names a background program whose process number replaces {pid} in the files; None where none has it.
    """

    title: str | None
    files: tuple[tuple[str, str], ...]
    where: Location | None = None
    of: str | None = None


@dataclass(frozen=True)
class Await:
    """Waits until the background programs `names` have ended. One that fails, or one of `watched`, is an error."""

    names: tuple[str, ...]
    watched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bring:
    """Puts files where a remote node keeps ours, as (name there, path here); a folder becomes one tar file."""

    files: tuple[tuple[str, str], ...]
    where: Location


@dataclass(frozen=True)
class Sleep:
    """Waits for `seconds` of lab time."""

    seconds: float


@dataclass(frozen=True)
class Needs:
    """What a trial needs of a computer over SSH. `probes` maps what each is for to the words that try it."""

    nics: tuple[str, ...]
    programs: tuple[str, ...]
    probes: tuple[tuple[str, tuple[str, ...]], ...]
    controls: tuple[str, ...]
    sysctls: tuple[tuple[str, str], ...]
    architecture: str
    versions: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class ReachMachine:
    """Connects to the computer `machine`, which steps then call `node`; checks what it needs to have.

    `tools` is the folder with the programs that it gets, `out` the file for what it says of itself.
    """

    node: str
    machine: str
    needs: Needs
    tools: str
    out: str


@dataclass(frozen=True)
class LendNics:
    """Moves NICs of the computer `machine` into its namespace `netns`, which steps then call `node`."""

    node: str
    machine: str
    netns: str
    nics: tuple[str, ...]


@dataclass(frozen=True)
class AwaitCables:
    """Waits until all that `LendNics` moved into `netns` has a cable that is up."""

    node: str
    machine: str
    netns: str


@dataclass(frozen=True)
class ReachVm:
    """Waits until the virtual machine `node` has booted and its guest agent answers, `limit_s` at most.

    `program` is the background program that it is, `console` its output file, `socket` that of the guest agent;
    `devices` gives each of its NICs, by MAC address, a name.
    """

    node: str
    program: str
    console: str
    socket: str
    limit_s: float
    devices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Moment:
    """A point of a timeline, `at_ns` after its start. `then` follows at once and is not part of what is due."""

    at_ns: int
    steps: tuple[Step, ...]
    then: tuple[Step, ...]


@dataclass(frozen=True)
class Timeline:
    """Moments that happen while the next steps go on, until a `Stop` of "timeline".

    The start is that of the step, or the time (ns of CLOCK_MONOTONIC) that the pattern of `begin` = (file, pattern)
    finds in a file of the trial's folder.
    """

    moments: tuple[Moment, ...]
    begin: tuple[str, str] | None = None


@dataclass(frozen=True)
class Serve:
    """Keeps the network up and starts programs for those who ask through the channel: a path or two descriptors."""

    channel: str | tuple[int, int]


Step: TypeAlias = (
    Run
    | Stop
    | Write
    | Read
    | Await
    | Bring
    | Sleep
    | ReachMachine
    | LendNics
    | AwaitCables
    | ReachVm
    | Timeline
    | Serve
)

TIMELINE = "timeline"
"""The name of a timeline among the programs in the background."""
