"""A client of a running network that sends what cannot be meant is told so; the network stays, and serves others."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed.agent import frame
from testbed.codec import scalar
from testbed.error import ValueRefused
from testbed.interactive.session_relay import Relay
from testbed.process import start


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[tuple[Relay, Path]]:
    with socket.socket(socket.AF_UNIX) as listening, start(("sleep", "1000"), outlives_us=True) as guest:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        listening.setblocking(False)
        hears, telling = os.pipe()
        told, says = os.pipe()
        made = Relay(hears, says, listening, guest)
        yield made, tmp_path / "s"
        for client in made.clients.values():
            client.connection.close()
        for descriptor in (hears, telling, told, says, made.ended):
            os.close(descriptor)


def say(relay: Relay, path: Path, *messages: bytes) -> list[tuple[int, bytes]]:
    """What the relay answers."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b"".join(messages))
        with open(os.eventfd(1), "rb", buffering=0) as always:  # there is always something to see
            for _ in range(4):
                relay.look({always.fileno(): select.POLLIN})
        client.setblocking(False)
        try:
            return [(kind, payload) for _, kind, payload in frame.Reader().feed(client.recv(65536))]
        except BlockingIOError:
            return []


def opening(**asked: Any) -> bytes:
    return frame.pack(0, frame.OPEN, json.dumps(asked).encode())


SESSION = {"do": "session", "words": ["true"], "tty": False}


@pytest.mark.parametrize(
    "message",
    [
        frame.pack(0, frame.OPEN, b"{"),
        frame.pack(0, frame.OPEN, b"\xff\xfe"),
        frame.pack(0, frame.OPEN, b"[" * 16_000),
        frame.pack(0, frame.OPEN, b"[]"),
        frame.pack(0, frame.OPEN, b"null"),
        opening(),
        opening(do="x"),
        opening(do=["down"]),
        opening(do="session"),
        opening(**{**SESSION, "words": []}),
        opening(**{**SESSION, "words": "true"}),
        opening(**{**SESSION, "words": [1]}),
        opening(**{**SESSION, "words": ["a\0b"]}),
        opening(**{**SESSION, "environment": ["A"]}),
        opening(**{**SESSION, "environment": {"A": 1}}),
        opening(**{**SESSION, "environment": {"A=": "1"}}),
        opening(**{**SESSION, "rows": 1 << 20}),
        opening(**{**SESSION, "columns": "80"}),
        opening(**{**SESSION, "folder": 1}),
        opening(**{**SESSION, "netns": {}}),
        opening(**SESSION) + frame.pack(0, frame.QUIT),
        opening(**SESSION) + frame.pack(0, 99, b"x"),
        opening(**SESSION) + frame.pack(0, frame.RESIZE, b"x"),
        opening(**SESSION) + frame.pack(0, frame.TAKEN, b""),
        opening(**SESSION) + frame.pack(0, frame.SIGNAL, frame.COUNT.pack(1000)),
        opening(**SESSION) + opening(**SESSION),
    ],
)
def test_a_message_that_cannot_be_meant_is_refused_and_the_network_stays(
    relay: tuple[Relay, Path], message: bytes
) -> None:
    """It ended the network, without a word."""
    kinds = say(*relay, message)
    assert kinds[0][0] == frame.REFUSED
    assert kinds[0][1].startswith(b"this message is refused: ")
    assert not relay[0].wants_down
    assert say(*relay, opening(do="status"))[-1][0] == frame.ENDED


def test_what_our_own_clients_send_is_passed_on(relay: tuple[Relay, Path]) -> None:
    after = [
        frame.pack(0, frame.INPUT, b"x"), frame.pack(0, frame.RESIZE, frame.SIZE.pack(24, 80)),
        frame.pack(0, frame.SIGNAL, frame.COUNT.pack(2)), frame.pack(0, frame.TAKEN, frame.COUNT.pack(1)),
        frame.pack(0, frame.END_OF_INPUT),
    ]  # fmt: skip
    more = {"netns": "a", "folder": "/tmp/\udc80", "environment": {"TERM": "x"}, "rows": 24, "columns": 80}
    assert say(*relay, opening(**SESSION, **more), *after) == []
    assert say(*relay, opening(do="down")) == []
    assert relay[0].wants_down


@pytest.mark.parametrize(
    ("read", "text"),
    [(scalar.address, "fe80::1%eth0/64"), (scalar.ip, "fe80::1%eth0"), (scalar.prefix, "fe80::%eth0/64")],
)
def test_an_address_with_a_scope_is_refused_where_it_is_written(read: Any, text: str) -> None:
    """`check` took it, and `up` failed."""
    with pytest.raises(ValueRefused, match=r"has a scope \(eth0"):
        read(text)
