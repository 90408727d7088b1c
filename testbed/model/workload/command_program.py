"""The programs of `tool: command` as files write them. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from ...codec.fault import Fault
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import NAME, SPAN, TEXT, TIME, WORD, mapped, number, whole, word
from ...codec.program import WORDS
from ...codec.scalar import text_of
from ...codec.scalar import whole as read_whole
from ...error import ValueRefused
from .command import Ready, Started

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
