"""The keys of `tool: command`: programs as they are, and what is measured of them. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

from ...error import ValueRefused
from ...model.run_setting import METRIC_UNITS
from ...model.workload.command import GOODPUT, CommandWorkload, Started
from ...model.workload.command_word import ROLES, named
from ..syntax.document import Fault
from ..syntax.field import Name, Size, Span, Text
from ..syntax.file_model import FileModel
from ..syntax.program import Files
from ..syntax.scalar import text_of
from .command_measure import MeasureFile, measure_file, unit_of
from .command_program import ClientFile, ServerFile, client_file, server_file
from .common import ToolFile

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
    if isinstance(value, dict | FileModel):
        value = [value]
    if not isinstance(value, list | tuple):
        raise ValueRefused("this is no program", _CLIENTS_ALLOWED)
    if len(value) > PROGRAMS_MAX:
        raise ValueRefused(f"these are {len(value)} programs", f"up to {PROGRAMS_MAX}")
    return list(value)


Patterns = Annotated[
    tuple[str, ...],
    PlainValidator(_patterns),
    PlainSerializer(list),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]


def _one_or_more(each: type[FileModel]) -> BeforeValidator:
    return BeforeValidator(_listed, json_schema_input_type=each | list[each])  # type: ignore[valid-type]


_Written = PlainSerializer(lambda found: [each.written() for each in found])


class CommandFile(ToolFile):
    """Programs as they are, which know nothing of the testbed."""

    tool: Literal["command"]
    source: Name | None = Field(None, alias="from", description="Who sends the data; left out, the server's host.")  # type: ignore[assignment]
    destination: Name | None = Field(None, alias="to", description="Who receives it; left out, the client's host.")  # type: ignore[assignment]
    background: Annotated[list[ServerFile], _one_or_more(ServerFile), _Written] = Field(
        [], description="Programs that start before the server, in this order."
    )
    server: ServerFile | None = Field(None, description="The program that the clients talk to.")
    client: Annotated[list[ClientFile], Field(min_length=1), _one_or_more(ClientFile), _Written] = Field(
        description="The program that is measured, or a list of them."
    )
    measure: dict[Name, MeasureFile] = Field({}, description="Numbers that become metrics, by name.")
    collect: Patterns = Field((), description="Patterns of files to keep, from each program's folder.")
    files: Files = Field({}, description="Files and folders beside this one, for the programs' folders.")
    duration: Span | None = Field(None, description="How long a run of a client takes, if its words say so.")
    space: Size = Field(128 << 20, description="For all files and output of the programs together.")
    variant: Text = Field("", description="A text for the placeholder {variant}, to be an axis.")

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
            for name in named((*each.run, *each.env.values())):
                node = name.removesuffix(".address")
                if name != node and node not in ROLES:
                    found[(*path, "run")] = node
        return found

    def _placed(self) -> Iterator[tuple[tuple[str | int, ...], ServerFile | ClientFile]]:
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
            for name in named((*each.run, *each.env.values())):
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
        for name, measure in self.measure.items():
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
            measures=tuple(each.measure(name) for name, each in self.measure.items()),
            collect=self.collect,
            files=tuple(sorted(self.files.items())),
            duration_ns=self.duration,
            space_bytes=self.space,
            variant=self.variant,
        )

    @classmethod
    def of(cls, workload: CommandWorkload) -> CommandFile:
        servers = [server_file(each) for each in workload.servers]
        return cls.model_construct(
            tool="command",
            source=workload.source,
            destination=workload.destination,
            background=servers[:-1],
            server=servers[-1] if servers else None,
            client=[client_file(each) for each in workload.clients],
            measure={each.name: measure_file(each) for each in workload.measures},
            collect=workload.collect,
            files=dict(workload.files),
            duration=workload.duration_ns,
            space=workload.space_bytes,
            variant=workload.variant,
        )


FILE: type[ToolFile] = CommandFile
