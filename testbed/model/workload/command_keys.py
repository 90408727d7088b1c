"""The keys of `tool: command`: programs as they are, and what is measured of them. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...codec.fault import Fault
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import NAME, SIZE, SPAN, TEXT, listed, mapped, record
from ...codec.program import FILES
from ...codec.scalar import text_of
from ...error import ValueRefused
from ..run_setting import METRIC_UNITS
from .command import GOODPUT, CommandWorkload, Started
from .command_measure import MeasuredKeys, measure_keys, unit_of
from .command_program import ClientKeys, ServerKeys, client_keys, server_keys
from .command_word import ROLES, named
from .fact import ToolKeys

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
