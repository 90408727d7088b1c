"""The programs of `tool: command` as files write them. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ...error import ValueRefused
from ...model.workload.command import Ready, Started
from ..syntax.document import Fault
from ..syntax.field import Name, Span, Text, Time, number
from ..syntax.file_model import FileModel
from ..syntax.program import Words
from ..syntax.scalar import text_of, whole

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
        return Ready(kind, str(whole(1, 65535)(text)))
    if kind not in ("output", "file") or not text:
        raise ValueRefused(f"{kind!r} does not say when it is ready", _READY_ALLOWED)
    return Ready(kind, text)


def _write_ready(ready: Ready) -> Any:
    return ready.kind if ready.kind == "end" else {ready.kind: ready.value}


ReadyField = Annotated[
    Ready,
    PlainValidator(_ready),
    PlainSerializer(_write_ready),
    WithJsonSchema(_READY_SCHEMA),
]
Runs = Annotated[
    int,
    PlainValidator(whole(1, RUNS_MAX)),
    WithJsonSchema(number(1, RUNS_MAX, "How often it runs, one after the other.")),
]


class StartedFile(FileModel):
    """What every program has."""

    name: Name | None = Field(None, description="The name of its files; left out, what it is, with a number.")
    at: Name = Field(description="The host that it runs on.")
    run: Words = Field(description="Its words. One with a slash is a file beside this one.")
    env: dict[str, Text] = Field({}, description="Environment variables.")
    user: Text | None = Field(None, description="The user that it runs as; root if left out.")

    def _started(self, name: str, **rest: Any) -> Started:
        environment = tuple(self.env.items())
        return Started(self.name or name, self.at, self.run, environment=environment, user=self.user, **rest)

    def faults(self) -> Iterator[Fault]:
        for name in self.env:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name == "TESTBED_PROGRAM":
                yield Fault(("env", name), f"{name!r} is no name of a variable", "letters, digits and _")
        if self.user is not None and not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", self.user):
            yield Fault(("user",), f"{self.user!r} is no name of a user", "a name of /etc/passwd", named=True)


class ServerFile(StartedFile):
    """A program that is there before the clients, and ends after them."""

    ready: ReadyField | None = Field(None, description="When the next program may start; left out, at once.")
    ready_limit: Span = Field(10 * 10**9, description="How long it may take until it is ready, in lab time.")
    stop: Literal["TERM", "INT", "HUP", "QUIT"] = "TERM"

    def started(self, name: str) -> Started:
        return self._started(name, role="server", ready=self.ready, ready_limit_ns=self.ready_limit, stop=self.stop)


class ClientFile(StartedFile):
    """A program that is measured."""

    runs: Runs = 1
    start: Time = Field(0, description="When it starts, after all servers are ready.")
    pause: Time = Field(0, description="The time from the end of one run to the next.")
    limit: Span = Field(600 * 10**9, description="How long a run may take, in lab time.")

    def started(self, name: str) -> Started:
        return self._started(
            name, role="client", runs=self.runs, start_ns=self.start, pause_ns=self.pause, limit_ns=self.limit
        )


def _common(started: Started) -> dict[str, Any]:
    about = {"name": started.name, "at": started.at, "run": started.run, "user": started.user}
    return about | {"env": dict(started.environment)}


def server_file(started: Started) -> ServerFile:
    return ServerFile.model_construct(
        **_common(started), ready=started.ready, ready_limit=started.ready_limit_ns, stop=started.stop
    )


def client_file(started: Started) -> ClientFile:
    return ClientFile.model_construct(
        **_common(started), runs=started.runs, start=started.start_ns, pause=started.pause_ns, limit=started.limit_ns
    )
