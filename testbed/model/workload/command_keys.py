"""The keys of `tool: command`: programs as they are, and what is measured of them. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from ...codec.fault import Fault
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import (
    FILES,
    FLAG,
    NAME,
    SIZE,
    SPAN,
    TEXT,
    TIME,
    WORD,
    WORDS,
    listed,
    mapped,
    number,
    record,
    whole,
    word,
)
from ...codec.scalar import text_of
from ...codec.scalar import whole as read_whole
from ...error import ValueRefused
from ..run_setting import METRIC_UNITS
from .command import GOODPUT, ROLES, CommandWorkload, Measure, Ready, Started, named
from .fact import ToolKeys

JSON_KEY = r"\$((\.[A-Za-z0-9_-]+)|(\[[0-9]{1,6}\]))*"
JSON_KEY_ALLOWED = "$ with .name and [number], such as $.end.streams[0].rtt"

UNITS: dict[str, tuple[str, float, bool]] = {
    "s": ("s", 1.0, False),
    "ms": ("s", 1e-3, False),
    "us": ("s", 1e-6, False),
    "ns": ("s", 1e-9, False),
    "bit/s": ("bit/s", 1.0, True),
    "kbit/s": ("bit/s", 1e3, True),
    "Mbit/s": ("bit/s", 1e6, True),
    "Gbit/s": ("bit/s", 1e9, True),
    "B/s": ("bit/s", 8.0, True),
    "kB/s": ("bit/s", 8e3, True),
    "MB/s": ("bit/s", 8e6, True),
    "KiB/s": ("bit/s", 8.0 * 2**10, True),
    "MiB/s": ("bit/s", 8.0 * 2**20, True),
    "B": ("B", 1.0, True),
    "kB": ("B", 1e3, True),
    "MB": ("B", 1e6, True),
    "KiB": ("B", 2.0**10, True),
    "MiB": ("B", 2.0**20, True),
    "%": ("ratio", 1e-2, False),
}
"""What people write: the base unit, how much of it that is, and whether more of it is better, as a rule."""


def unit_of(text: str) -> tuple[str, float, bool]:
    """The same for any word; one that is not known is its own base unit, of which less is better."""
    return UNITS.get(text, (text, 1.0, False))


def _pattern(value: object) -> str:
    """A regular expression with one group."""
    allowed = "a regular expression whose only group is the number, such as 'handshake ([0-9.]+) ms'"
    text = text_of(value, allowed)
    try:
        found = re.compile(text)
    except re.error as error:
        raise ValueRefused(f"{text!r} is no regular expression: {error}", allowed) from None
    if found.groups != 1:
        raise ValueRefused(f"{text!r} has {found.groups} groups", allowed)
    return text


def _key(value: object) -> str:
    text = text_of(value, JSON_KEY_ALLOWED)
    if not re.fullmatch(JSON_KEY, text):
        raise ValueRefused(f"{text!r} is no place in JSON", JSON_KEY_ALLOWED)
    return text


PATTERN = Kind(_pattern, schema={"type": "string"})
PLACE = Kind(_key, schema={"type": "string"})


@keyed
class MeasuredKeys(Keyed):
    """A number that every run yields."""

    bytes: int | None = key("bytes", SIZE, "What a run transfers; over its time, that is a rate.", default=None)
    output: str | None = key(
        "output", PATTERN, "A regular expression with one group; its last match in the output.", default=None
    )
    file: str | None = key("json", TEXT, "A JSON file in the program's folder, or stdout.", default=None)
    place: str | None = key("key", PLACE, "The place in the JSON, such as $.rtt or $.end.streams[0].rtt.", default=None)
    of: str | None = key("of", NAME, "The program that says it; left out, every client.", default=None)
    unit: str = key("unit", TEXT, "The unit of the number, such as ms or Mbit/s.", default="")
    better: Literal["more", "less"] | None = key("better", word("more", "less"), default=None)
    zero: bool = key("zero", FLAG, "Whether 0 is a value at all.", default=False)

    def faults(self) -> Iterator[Fault]:
        said = [name for name in ("bytes", "output", "file") if getattr(self, name) is not None]
        if len(said) != 1:
            yield Fault((), "where the number comes from is not clear", "one of bytes, output and json", named=True)
        if (self.place is None) != (self.file is None):
            yield Fault(("key",), "json and key go together", "both, or none", named=True)
        if self.bytes is not None and self.unit:
            yield Fault(("unit",), "bytes over time are bit/s", "no such line", named=True)
        if self.file is not None and (self.file.startswith("/") or ".." in self.file):
            yield Fault(("json",), "this is outside the program's folder", "a name such as out/stats.json", named=True)

    def measure(self, name: str) -> Measure:
        unit = "bit/s" if self.bytes is not None else self.unit
        base_unit, scale, is_more_better = unit_of(unit)
        better = is_more_better if self.better is None else self.better == "more"
        return Measure(
            name,
            self.bytes,
            self.output,
            self.file,
            self.place or "$",
            self.of,
            unit,
            base_unit,
            scale,
            better,
            self.zero,
        )


def measure_keys(measure: Measure) -> MeasuredKeys:
    """The way back."""
    return MeasuredKeys(
        bytes=measure.run_bytes,
        output=measure.output,
        file=measure.json,
        place=measure.key if measure.json is not None else None,
        of=measure.of,
        unit="" if measure.run_bytes is not None else measure.unit,
        better="more" if measure.is_more_better else "less",
        zero=measure.may_be_zero,
    )


RUNS_MAX = 1000
_READY_ALLOWED = '{udp: 4433}, {tcp: 80}, {output: "listening"}, {file: ready}, or end'


_READY_SCHEMA = {
    "anyOf": [
        {"const": "end"},
        {
            "type": "object",
            "properties": {
                "udp": number(1, 65535, "A port that it is bound to."),
                "tcp": number(1, 65535, "A port that it listens on."),
                "output": {"type": "string", "description": "A text in what it writes."},
                "file": {"type": "string", "description": "A file, in its folder unless the name begins with /."},
            },
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
        },
    ],
    "description": "When the next program may start; end: when it has ended.",
}


def _ready(value: object) -> Ready:
    if value == "end":
        return Ready("end")
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueRefused("this does not say when it is ready", _READY_ALLOWED)
    ((kind, said),) = value.items()
    text = text_of(said, _READY_ALLOWED)
    if kind in ("udp", "tcp"):
        return Ready(kind, str(read_whole(1, 65535)(text)))
    if kind not in ("output", "file") or not text:
        raise ValueRefused(f"{kind!r} does not say when it is ready", _READY_ALLOWED)
    return Ready(kind, text)


def _write_ready(ready: Ready) -> Any:
    return ready.kind if ready.kind == "end" else {ready.kind: ready.value}


READY = Kind(_ready, _write_ready, _READY_SCHEMA)
RUNS = whole(1, RUNS_MAX, "How often it runs, one after the other.")


@keyed
class StartedKeys(Keyed):
    """What every program has."""

    name: str | None = key(
        "name", NAME, "The name of its files; left out, what it is, with a number.", default=None, kw_only=True
    )
    at: str = key("at", NAME, "The host that it runs on.")
    run: tuple[str, ...] = key("run", WORDS, "Its words. One with a slash is a file beside this one.")
    env: tuple[tuple[str, str], ...] = key("env", mapped(WORD, TEXT), "Environment variables.", default=())
    user: str | None = key("user", TEXT, "The user that it runs as; root if left out.", default=None)

    def _started(self, name: str, **rest: Any) -> Started:
        return Started(self.name or name, self.at, self.run, environment=self.env, user=self.user, **rest)

    def faults(self) -> Iterator[Fault]:
        for name, _ in self.env:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name == "TESTBED_PROGRAM":
                yield Fault(("env", name), f"{name!r} is no name of a variable", "letters, digits and _")
        if self.user is not None and not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", self.user):
            yield Fault(("user",), f"{self.user!r} is no name of a user", "a name of /etc/passwd", named=True)


@keyed
class ServerKeys(StartedKeys):
    """A program that is there before the clients, and ends after them."""

    ready: Ready | None = key("ready", READY, "When the next program may start; left out, at once.", default=None)
    ready_limit: int = key(
        "ready_limit", SPAN, "How long it may take until it is ready, in lab time.", default=10 * 10**9
    )
    stop: Literal["TERM", "INT", "HUP", "QUIT"] = key("stop", word("TERM", "INT", "HUP", "QUIT"), default="TERM")

    def started(self, name: str) -> Started:
        return self._started(name, role="server", ready=self.ready, ready_limit_ns=self.ready_limit, stop=self.stop)


@keyed
class ClientKeys(StartedKeys):
    """A program that is measured."""

    runs: int = key("runs", RUNS, default=1)
    start: int = key("start", TIME, "When it starts, after all servers are ready.", default=0)
    pause: int = key("pause", TIME, "The time from the end of one run to the next.", default=0)
    limit: int = key("limit", SPAN, "How long a run may take, in lab time.", default=600 * 10**9)

    def started(self, name: str) -> Started:
        return self._started(
            name, role="client", runs=self.runs, start_ns=self.start, pause_ns=self.pause, limit_ns=self.limit
        )


def _common(started: Started) -> dict[str, Any]:
    about = {"name": started.name, "at": started.at, "run": started.run, "user": started.user}
    return about | {"env": started.environment}


def server_keys(started: Started) -> ServerKeys:
    return ServerKeys(**_common(started), ready=started.ready, ready_limit=started.ready_limit_ns, stop=started.stop)


def client_keys(started: Started) -> ClientKeys:
    return ClientKeys(
        **_common(started), runs=started.runs, start=started.start_ns, pause=started.pause_ns, limit=started.limit_ns
    )


PROGRAMS_MAX, PATTERNS_MAX = 32, 32
_CLIENTS_ALLOWED = "a mapping with 'at' and 'run', or a list of such mappings"


def _patterns(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > PATTERNS_MAX:
        raise ValueRefused("this is no list of patterns", f'up to {PATTERNS_MAX} names such as "*.qlog"')
    found = tuple(text_of(each, 'a name such as "*.qlog"') for each in value)
    for each in found:
        if not each or each.startswith("/") or ".." in each:
            raise ValueRefused(f"{each!r} is outside the program's folder", 'a name such as "*.qlog" or "out/*.json"')
    return found


def _listed(value: object) -> Any:
    """The mappings of a list; one alone counts as a list."""
    if isinstance(value, dict | Keyed):
        value = [value]
    if not isinstance(value, list | tuple):
        raise ValueRefused("this is no program", _CLIENTS_ALLOWED)
    if len(value) > PROGRAMS_MAX:
        raise ValueRefused(f"these are {len(value)} programs", f"up to {PROGRAMS_MAX}")
    return list(value)


PATTERNS = Kind(_patterns, list, {"type": "array", "items": {"type": "string"}})


def _one_or_more(keys: type[Keyed], least: int = 0) -> Kind:
    each = listed(record(keys), least)
    one = {"$ref": keys}
    return Kind(lambda value: each.read(_listed(value)), each.write, {"anyOf": [one, {"type": "array", "items": one}]})


@keyed
class CommandKeys(ToolKeys):
    """Programs as they are, which know nothing of the testbed."""

    tool = "command"

    source: str | None = key("from", NAME, "The host that sends the data; left out, the server's.", default=None)  # type: ignore[assignment]
    destination: str | None = key("to", NAME, "The host that receives it; left out, the client's.", default=None)  # type: ignore[assignment]
    background: tuple[ServerKeys, ...] = key(
        "background", _one_or_more(ServerKeys), "Programs that start before the server, in this order.", default=()
    )
    server: ServerKeys | None = key("server", record(ServerKeys), "The program that the clients talk to.", default=None)
    client: tuple[ClientKeys, ...] = key(
        "client", _one_or_more(ClientKeys, 1), "The program that is measured, or a list of them.", kw_only=True
    )
    measure: tuple[tuple[str, MeasuredKeys], ...] = key(
        "measure", mapped(NAME, record(MeasuredKeys)), "Numbers that become metrics, by name.", default=()
    )
    collect: tuple[str, ...] = key(
        "collect", PATTERNS, "Patterns of files to keep, from each program's folder.", default=()
    )
    files: Mapping[str, str] = key(
        "files", FILES, "Files and folders beside this one, for the programs' folders.", default={}
    )
    duration: int | None = key("duration", SPAN, "How long a run of a client takes, if its words say so.", default=None)
    space: int = key("space", SIZE, "For all files and output of the programs together.", default=128 << 20)
    variant: str = key("variant", TEXT, "A text for the placeholder {variant}, to be an axis.", default="")

    @property
    def measured_units(self) -> Mapping[str, str]:
        """The base units of what is measured, by name."""
        return {name: each.measure(name).base_unit for name, each in self.measure}

    @property
    def _ends(self) -> tuple[str | None, str]:
        """Where the servers and the clients are."""
        servers = [*self.background, *([] if self.server is None else [self.server])]
        return (servers[-1].at if servers else None), self.client[0].at

    @property
    def between(self) -> dict[str, str]:
        """The data goes from the server to the client, unless one of them is said to be at its other end."""
        server, client = self._ends
        source = self.source or (client if self.destination is not None and self.destination == server else server)
        destination = self.destination or (server if source == client else client)
        return {"from": source or "", "to": destination or ""}

    @property
    def elsewhere(self) -> dict[tuple[str | int, ...], str]:
        found: dict[tuple[str | int, ...], str] = {}
        for path, each in self._placed():
            found[(*path, "at")] = each.at
            for name in named((*each.run, *(text for _, text in each.env))):
                node = name.removesuffix(".address")
                if name != node and node not in ROLES:
                    found[(*path, "run")] = node
        return found

    def _placed(self) -> Iterator[tuple[tuple[str | int, ...], ServerKeys | ClientKeys]]:
        """All programs in the order of their start, and where they stand."""
        yield from ((("background", number), each) for number, each in enumerate(self.background))
        yield from ((("server",), each) for each in [self.server] if each is not None)
        yield from ((("client", number), each) for number, each in enumerate(self.client))

    def _all(self) -> tuple[Started, ...]:
        numbers = {"background": len(self.background), "client": len(self.client)}
        return tuple(
            each.started(str(path[0]) if numbers.get(str(path[0]), 1) == 1 else f"{path[0]}-{int(path[1]) + 1}")
            for path, each in self._placed()
        )

    def faults(self) -> Iterator[Fault]:
        if self._ends[0] is None and (self.source is None or self.destination is None):
            yield Fault((), "without a server, from and to must be said", "lines such as 'from: a' and 'to: b'")
        for path, each in self._placed():
            yield from (fault.under(*path) for fault in each.faults())
            for name in named((*each.run, *(text for _, text in each.env))):
                if name == "server.address" and self._ends[0] is None:
                    yield Fault((*path, "run"), "there is no server", "{HOST.address}", named=True)
                if name == "duration" and self.duration is None:
                    what = "{duration} has no value"
                    yield Fault((*path, "run"), what, "a line such as 'duration: 10 s' in the workload", named=True)
                if name == "variant" and not self.variant:
                    yield Fault((*path, "run"), "{variant} has no value", "a line 'variant: …', or an axis", named=True)
        names = [each.name for each in self._all()]
        for name in {name for name in names if names.count(name) > 1}:
            yield Fault(("client",), f"two programs have the name {name!r}", "each name once", named=True)
        for name, measure in self.measure:
            yield from (fault.under("measure", name) for fault in measure.faults())
            if measure.of is not None and measure.of not in names:
                what = f"there is no program {measure.of!r}"
                yield Fault(("measure", name, "of"), what, ", ".join(names), named=True)
            if name == GOODPUT and measure.unit and unit_of(measure.unit)[0] != "bit/s":
                yield Fault(("measure", name, "unit"), f"{measure.unit} is no rate", "Mbit/s, MB/s", named=True)
            if name == GOODPUT and measure.bytes is None and not measure.unit:
                yield Fault(("measure", name), "the goodput has no unit", "a line such as 'unit: Mbit/s'", named=True)
            if name == GOODPUT and measure.of is not None:
                yield Fault(("measure", name, "of"), "the goodput is that of the clients", "no such line", named=True)
            if name in METRIC_UNITS and name != GOODPUT:
                what = f"{name!r} is a metric of every trial"
                yield Fault(("measure", name), what, "another name", named=True)

    def workload(self) -> CommandWorkload:
        ends, started = self.between, self._all()
        return CommandWorkload(
            ends["from"],
            ends["to"],
            servers=tuple(each for each in started if each.role == "server"),
            clients=tuple(each for each in started if each.role == "client"),
            measures=tuple(each.measure(name) for name, each in self.measure),
            collect=self.collect,
            files=tuple(sorted(self.files.items())),
            duration_ns=self.duration,
            space_bytes=self.space,
            variant=self.variant,
        )

    @classmethod
    def of(cls, workload: CommandWorkload) -> CommandKeys:
        servers = [server_keys(each) for each in workload.servers]
        return cls(
            source=workload.source,
            destination=workload.destination,
            background=tuple(servers[:-1]),
            server=servers[-1] if servers else None,
            client=tuple(map(client_keys, workload.clients)),
            measure=tuple((each.name, measure_keys(each)) for each in workload.measures),
            collect=workload.collect,
            files=dict(workload.files),
            duration=workload.duration_ns,
            space=workload.space_bytes,
            variant=workload.variant,
        )
