"""Steps, as values: what the agent executes, one after the other. Pure, no I/O.

`data` turns a step into the JSON that `agent.step` documents, and `step_of` turns it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, Self, TypeAlias

from ..codec.frozen import dataclass


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

    def with_word(self, word: str, other: str) -> Self:
        """With the other word wherever it has this one."""
        return replace(self, words=tuple(other if each == word else each for each in self.words))


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
class Align:
    """Waits until lab time is a whole multiple of `seconds`: what comes next does not depend on what came before."""

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
class Awaited:
    """An event of a link, the one at `place` in its schedule: a socket of `netns` with this `port` of its peer, over IP
    `version`, comes into one of the `states` and one of the `phases` (empty: any) for the `occurrence`-th time. It is
    looked for from `after_ns` on, and once the one before it of the link is over; then come the `steps`, and `for_ns`
    later (None: never) the steps of its `ending`. `alone`: no second socket has that port.
    """

    link: str
    place: int
    netns: str
    version: int
    port: int
    alone: bool
    states: tuple[str, ...]
    phases: tuple[str, ...]
    occurrence: int
    after_ns: int
    for_ns: int | None
    steps: tuple[Step, ...]
    ending: tuple[Step, ...]


@dataclass(frozen=True)
class Timeline:
    """Moments that happen while the next steps go on, until a `Stop` of "timeline"; and `events`, which happen when
    flows are in a state, each followed by the steps `then`.

    The start is that of the step, or the time (ns of CLOCK_MONOTONIC) that the pattern of `begin` = (file, pattern)
    finds in a file of the trial's folder.
    """

    moments: tuple[Moment, ...]
    begin: tuple[str, str] | None = None
    events: tuple[Awaited, ...] = ()
    then: tuple[Step, ...] = ()


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
    | Align
    | ReachMachine
    | LendNics
    | AwaitCables
    | ReachVm
    | Timeline
    | Serve
)

TIMELINE = "timeline"
"""The name of a timeline among the programs in the background."""


WHERE = "where"


@dataclass(frozen=True)
class Told:
    """What a key always has: text in which the step can be named, or another value."""

    value: Any


@dataclass(frozen=True)
class Form:
    """A kind of step in JSON. The agent knows it by the keys `marks`. `keys` has its keys in order, each with the field
    that it holds; WHERE stands for the keys of a location.
    """

    marks: tuple[str, ...]
    keys: Mapping[str, str | Told]


def _own(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def _remote(mark: str, title: str, keys: Mapping[str, str | Told]) -> Form:
    way: dict[str, str | Told] = {"title": Told(title), "reach": "node", "by": Told("machine"), "machine": "machine"}
    return Form(("reach", mark), {**way, **keys})


OPTIONS = ("out", "err", "background", "may_fail", "timeout_s")
"""Keys of a program, which may say None or False."""

FORMS: dict[type[Step], Form] = {
    Run: Form(("run",), {"title": "title", "run": "words", **_own("stdin", WHERE, *OPTIONS)}),
    Stop: Form(("stop",), {"stop": "name"}),
    Write: Form(("write",), {"write": "values", WHERE: WHERE}),
    Read: Form(("read",), {"title": "title", "read": "files", **_own(WHERE, "of")}),
    Await: Form(("await",), {"title": Told("wait for programs"), "await": "names", "watched": "watched"}),
    Bring: Form(("bring",), {"bring": "files", WHERE: WHERE}),
    Sleep: Form(("sleep",), {"sleep": "seconds"}),
    Align: Form(("align",), {"align": "seconds"}),
    ReachMachine: _remote("needs", "reach {0.machine}", _own("needs", "tools", "out")),
    LendNics: _remote("nics", "lend {0.machine}", {"inside": "netns", "nics": "nics"}),
    AwaitCables: _remote("is_built", "cables of {0.node}", {"inside": "netns", "is_built": Told(True)}),
    ReachVm: Form(
        ("reach", "program"),
        {
            **{"title": Told("wait for {0.node}"), "reach": "node", "by": Told("vm")},
            **_own("program", "console", "socket", "limit_s", "devices"),
        },
    ),
    Timeline: Form(
        ("timeline",),
        {
            **{"title": Told(TIMELINE), "timeline": "moments", "background": Told(TIMELINE)},
            **_own("begin", "events", "then"),
        },
    ),
    Serve: Form(("serve",), {"title": Told("up"), "serve": "channel"}),
}

PAIRS = ("files", "devices", "probes", "versions", "sysctls")
"""Fields that hold pairs, which are a mapping in JSON."""


def data(step: Step) -> dict[str, Any]:
    """The step for JSON. A key whose field has nothing, or its default, is left out."""
    form = next((form for kind, form in FORMS.items() if isinstance(step, kind)), None)
    assert form is not None, f"BUG: no JSON for a step of type {type(step).__name__}"
    defaults = {each.name: each.default for each in fields(step)}
    found: dict[str, Any] = {}
    for key, name in form.keys.items():
        if isinstance(name, Told):
            found[key] = name.value.format(step) if isinstance(name.value, str) else name.value
        elif (value := getattr(step, name)) is not None and value != defaults[name]:
            found |= value.data() if isinstance(value, Location) else {key: _written(name, value)}
    return found


def step_of(found: Mapping[str, Any]) -> Step:
    """The step of which `data` is `found`. What starts a controller or a machine comes back as `Run`.

    Raises ValueError for a key that no step has, or not a step of this kind, and for one that is missing.
    """
    kind = next((kind for kind, form in FORMS.items() if found.keys() >= {*form.marks}), None)
    if kind is None:
        raise ValueError(f"no step has the keys {', '.join(found)}")
    held: dict[str, Any] = {"title": None} if kind is Read else {}
    if not found.keys().isdisjoint(("netns", "on")):
        held[WHERE] = Location(found.get("netns"), found.get("on"))
    keys = {key: name for key, name in FORMS[kind].keys.items() if isinstance(name, str)}
    held |= {name: _read(name, found[key]) for key, name in keys.items() if key in found}
    needed = {each.name for each in fields(kind) if each.default is MISSING}
    for key, name in keys.items():
        if name in needed - held.keys():
            raise ValueError(f"a step with the keys {', '.join(found)} has no {key!r}")
    step = kind(**{name: value for name, value in held.items() if name in keys.values()})
    _only(found, (*data(step), *(OPTIONS if kind is Run else ())))
    return step


def _written(name: str, value: Any) -> Any:
    if isinstance(value, Moment | Needs | Awaited):
        return {each.name: _written(each.name, getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return {key: _written("", each) for key, each in value} if name in PAIRS else [_written("", v) for v in value]
    return data(value) if type(value) in FORMS or isinstance(value, Run) else value


def _read(name: str, found: Any) -> Any:
    return READERS.get(name, _tuple)(found)


def _tuple(found: Any) -> Any:
    return tuple(map(_tuple, found)) if isinstance(found, list | tuple) else found


def _pairs(found: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((key, _tuple(value)) for key, value in found.items())


def _part(kind: type[Moment] | type[Needs] | type[Awaited]) -> Callable[[Mapping[str, Any]], Any]:
    names = tuple(each.name for each in fields(kind))

    def read(found: Mapping[str, Any]) -> Any:
        _only(found, names)
        lacking = [name for name in names if name not in found]
        if lacking:
            raise ValueError(f"a step has no {lacking[0]!r}")
        return kind(**{name: _read(name, found[name]) for name in names})

    return read


def _steps(found: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    return tuple(map(step_of, found))


READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(PAIRS, _pairs),
    "steps": _steps,
    "then": _steps,
    "ending": _steps,
    "moments": lambda found: tuple(map(_part(Moment), found)),
    "events": lambda found: tuple(map(_part(Awaited), found)),
    "needs": _part(Needs),
}
"""How fields are read back that hold more than words and numbers."""


def _only(found: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    unknown = [key for key in found if key not in keys]
    if unknown:
        raise ValueError(f"a step has no key {unknown[0]!r}; it can have {', '.join(keys)}")
