"""A connection to a running network: one session or request. Uses our standard streams, terminal and signals."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..agent import frame
from ..error import MachineError, UserError, harmless
from ..kernel.guest_file import ANSWER_BYTES, OUTPUT_BYTES
from .running_network import RunningNetwork

READ_BYTES = 65536
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that we pass on to the program in the node."""


class Gone(MachineError):
    """The network went down during the session."""

    def __init__(self, network: RunningNetwork) -> None:
        super().__init__(f"the network {network.name} has gone down", "testbed up, to start it again")


@contextmanager
def connected(network: RunningNetwork) -> Iterator[socket.socket]:
    """Raises MachineError if nobody listens any more."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            folder = os.open(network.folder, os.O_PATH | os.O_DIRECTORY)
        except OSError:
            raise Gone(network) from None
        try:  # a socket's path must be shorter than a file's
            connection.connect(f"/proc/self/fd/{folder}/socket")
        except OSError:
            raise Gone(network) from None
        finally:
            os.close(folder)
        yield connection


def ask(network: RunningNetwork, what: str) -> dict[str, Any]:
    """Asks the network's keeper; the answer is JSON."""
    with connected(network) as connection:
        connection.sendall(frame.pack(0, frame.OPEN, json.dumps({"do": what}).encode()))
        text = b""
        for kind, payload in _frames(connection):
            text += payload if kind == frame.OUTPUT else b""
            if len(text) > ANSWER_BYTES:
                raise _nonsense(network)
    if not text:
        raise Gone(network)
    return json.loads(text)  # type: ignore[no-any-return]


def carry_out(network: RunningNetwork, steps: Sequence[Mapping[str, Any]]) -> None:
    """Has the agent do more steps in the network, in their order. Raises UserError if one fails; the later ones are not
    done then.
    """
    with tempfile.NamedTemporaryFile("w", dir=network.folder / "trial", prefix="steps-") as file:
        json.dump(list(steps), file)
        file.flush()
        _carry_out(network, Path(file.name).name)


def _carry_out(network: RunningNetwork, file: str) -> None:
    with connected(network) as connection:
        connection.sendall(frame.pack(0, frame.OPEN, json.dumps({"do": "steps", "file": file}).encode()))
        for kind, payload in _frames(connection):
            if kind == frame.REFUSED:
                raise UserError(payload.decode(errors="replace"))
            if kind == frame.ENDED:
                return
    raise Gone(network)


def take_down(network: RunningNetwork) -> None:
    """Waits until the network is gone."""
    with contextlib.suppress(Gone), connected(network) as connection:
        connection.sendall(frame.pack(0, frame.OPEN, json.dumps({"do": "down"}).encode()))
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(READ_BYTES):
                pass


def _frames(connection: socket.socket) -> Iterator[tuple[int, bytes]]:
    reader = frame.Reader()
    while data := connection.recv(READ_BYTES):
        yield from ((kind, payload) for _, kind, payload in reader.feed(data))


class SaysTooMuch(MachineError):
    """A program wrote more than is read of it."""


def run(
    network: RunningNetwork, where: dict[str, str], words: list[str], most_bytes: int = OUTPUT_BYTES, **more: Any
) -> tuple[int, bytes, bytes]:
    """Runs a program without input: its status, standard output and standard error. Raises SaysTooMuch if one of them
    has more than `most_bytes`, which ends the program.
    """
    texts = {frame.OUTPUT: b"", frame.ERRORS: b""}
    with connected(network) as connection:
        asked = {"do": "session", **where, "words": words, "tty": False, **more}
        connection.sendall(frame.pack(0, frame.OPEN, json.dumps(asked).encode()))
        connection.sendall(frame.pack(0, frame.END_OF_INPUT))
        for kind, payload in _frames(connection):
            if kind in texts:
                texts[kind] += payload
                if len(texts[kind]) > most_bytes:
                    raise SaysTooMuch(
                        f"a program said more than {most_bytes >> 20} MiB", f"testbed down {network.name}"
                    )
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have ended
                    connection.sendall(frame.pack(0, frame.TAKEN, frame.COUNT.pack(len(payload))))
            elif kind == frame.REFUSED:
                raise MachineError(payload.decode(errors="replace"), f"testbed status {network.name}")
            elif kind == frame.ENDED:
                return _number(frame.STATUS, payload, network), texts[frame.OUTPUT], texts[frame.ERRORS]
    raise Gone(network)


def attend(
    network: RunningNetwork,
    node: str,
    where: dict[str, str],
    words: list[str],
    *,
    terminal: bool,
    is_text: bool = False,
) -> int:
    """Runs a program in a node with our standard streams, or our terminal; returns its status as a shell would. What it
    says is passed on as it is, or with `is_text` as text that is harmless to a terminal.

    Raises MachineError if the network goes down meanwhile.
    """
    with connected(network) as connection, _signals() as signs:
        inherited = {key: os.environ[key] for key in ("TERM", "LANG") if key in os.environ}
        asked = asked_session(network, node, words, inherited) | {**where, "tty": terminal}
        if terminal:
            asked["rows"], asked["columns"] = _size()
        connection.sendall(frame.pack(0, frame.OPEN, json.dumps(asked).encode()))
        with _raw(0) if terminal else contextlib.nullcontext():
            return Exchange(network, connection, signs, is_text).run()


def asked_session(
    network: RunningNetwork, node: str, words: Sequence[str], environment: Mapping[str, str]
) -> dict[str, Any]:
    """What opens a session with a program that somebody works with in a node."""
    ours = {"TESTBED_NETWORK": network.name, "TESTBED_NODE": node, "PS1": f"{node}$ "}
    return {
        "do": "session",
        **network.where(node),
        "words": list(words),
        "folder": os.getcwd(),
        "environment": {**environment, **network.environment(node), **ours},
    }


class Exchange:
    """One session: passes input and output on until it ends."""

    def __init__(self, network: RunningNetwork, connection: socket.socket, signs: int, is_text: bool = False) -> None:
        self.network, self.connection, self.signs = network, connection, signs
        decoder = codecs.getincrementaldecoder("utf-8")
        self.texts = {kind: decoder("backslashreplace") for kind in (frame.OUTPUT, frame.ERRORS)} if is_text else {}
        self.reader = frame.Reader()
        self.credit = frame.WINDOW_BYTES
        self.reads_input = True
        self.status: int | None = None

    def run(self) -> int:
        while self.status is None:
            poll = select.poll()
            poll.register(self.connection, select.POLLIN)
            poll.register(self.signs, select.POLLIN)
            if self.reads_input and self.credit > 0:
                poll.register(0, select.POLLIN)
            ready = dict(poll.poll())
            with contextlib.suppress(BlockingIOError):  # whether or not `poll` told: one may have come as it returned
                self.forward(os.read(self.signs, READ_BYTES))  # before the input, which was typed after it
            if 0 in ready:
                self.put()
            if self.connection.fileno() in ready:
                self.hear()
        return self.status if self.status >= 0 else 128 - self.status

    def tell(self, kind: int, payload: bytes = b"") -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.sendall(frame.pack(0, kind, payload))

    def forward(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGWINCH:
                self.tell(frame.RESIZE, frame.SIZE.pack(*_size()))
            elif number in FORWARDED:
                self.tell(frame.SIGNAL, frame.COUNT.pack(number))

    def put(self) -> None:
        try:
            data = os.read(0, min(self.credit, frame.PAYLOAD_MAX))
        except OSError:  # a terminal that was closed
            data = b""
        self.reads_input = bool(data)
        self.credit -= len(data)
        self.tell(frame.INPUT if data else frame.END_OF_INPUT, data)

    def hear(self) -> None:
        data = b""
        with contextlib.suppress(ConnectionResetError):
            data = self.connection.recv(READ_BYTES)
        if not data:
            raise Gone(self.network)
        for _, kind, payload in self.reader.feed(data):
            if kind in (frame.OUTPUT, frame.ERRORS):
                said = harmless(self.texts[kind].decode(payload)).encode() if self.texts else payload
                write_all(1 if kind == frame.OUTPUT else 2, said)
                self.tell(frame.TAKEN, frame.COUNT.pack(len(payload)))
            elif kind == frame.TAKEN:
                self.credit += _number(frame.COUNT, payload, self.network)
            elif kind == frame.ENDED:
                self.status = _number(frame.STATUS, payload, self.network)
            elif kind == frame.REFUSED:
                raise MachineError(payload.decode(errors="replace"), f"testbed status {self.network.name}")


def _number(form: struct.Struct, payload: bytes, network: RunningNetwork) -> int:
    """Raises MachineError for what is none: whoever is root in the network may have said it."""
    try:
        (number,) = form.unpack(payload)
    except struct.error:
        raise _nonsense(network) from None
    return int(number)


def _nonsense(network: RunningNetwork) -> MachineError:
    return MachineError(f"{network.name} said what makes no sense", f"testbed down {network.name}")


def write_all(descriptor: int, data: bytes) -> None:
    """All of it, however little each call takes."""
    while data:
        data = data[os.write(descriptor, data) :]


def _size() -> tuple[int, int]:
    """Rows and columns of our terminal."""
    with contextlib.suppress(OSError):
        rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))
        return rows or 24, columns or 80
    return 24, 80


@contextmanager
def _raw(descriptor: int) -> Iterator[None]:
    before = termios.tcgetattr(descriptor)
    tty.setraw(descriptor)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def _signals() -> Iterator[int]:
    """A descriptor from which each arriving signal can be read as a byte, its number; the signals have no other
    effect.
    """
    reading, writing = os.pipe()
    for descriptor in (reading, writing):
        os.set_blocking(descriptor, False)
    numbers = (*FORWARDED, signal.SIGWINCH)
    before = {number: signal.signal(number, lambda number, stack: None) for number in numbers}
    woken = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)


def is_terminal() -> bool:
    """Whether all three standard streams are a terminal."""
    return all(os.isatty(stream.fileno()) for stream in (sys.stdin, sys.stdout, sys.stderr))
