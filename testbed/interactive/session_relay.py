"""Passes frames between the clients of a network and its one agent. Uses open sockets.

The agent trusts its channel: one message that it cannot read ends it, and the network with it. So what a client sends
is checked before it goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import socket
from collections import deque
from typing import Any

from ..agent import frame
from ..kernel.consumption import kernel_bytes
from ..kernel.guest_file import HELD_BYTES
from ..plan.step import TIMELINE
from ..process import Running

DOES = ("down", "status", "session", "steps")
LATER = {
    frame.INPUT: None,
    frame.END_OF_INPUT: None,
    frame.RESIZE: frame.SIZE.size,
    frame.SIGNAL: frame.COUNT.size,
    frame.CLOSE: None,
    frame.TAKEN: frame.COUNT.size,
}
"""What may follow in a session, and how many bytes it has; None: any number."""
SIGNAL_MAX = 64
STEPS_FILE = re.compile(r"steps-\w+")
CELLS_MAX = 65_535
OVER = f"{TIMELINE} has ended with status 0"
"""What the agent tells of a schedule that is over: it is no event."""
TEXTS = ("on", "netns", "folder", "name", "namespace")


class Refused(Exception):
    """Why a message is not passed on."""


def read_opening(payload: bytes) -> dict[str, Any]:
    """What an opening message asks for. Raises Refused."""
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        raise Refused("it is not JSON") from None
    if not isinstance(said, dict) or said.get("do") not in DOES:
        raise Refused(f"it asks for none of {', '.join(DOES)}")
    if said["do"] == "session":
        _refuse_session(said)
    elif said["do"] == "steps" and not STEPS_FILE.fullmatch(str(said.get("file"))):
        raise Refused("its file of steps has another name than ours")
    return said


def refuse_later(kind: int, payload: bytes) -> None:
    """Raises Refused for what cannot follow in a session."""
    if kind not in LATER or LATER[kind] not in (None, len(payload)):
        raise Refused(f"a message of kind {kind} with {len(payload)} bytes is none of a session")
    if kind == frame.SIGNAL and not 0 < frame.COUNT.unpack(payload)[0] <= SIGNAL_MAX:
        raise Refused("there is no such signal")


def _refuse_session(said: dict[str, Any]) -> None:
    words, environment = said.get("words"), said.get("environment", {})
    if not isinstance(words, list) or not words or not all(map(_is_text, words)):
        raise Refused("its words are no list of texts")
    if not isinstance(environment, dict) or not all(_is_text(each) for pair in environment.items() for each in pair):
        raise Refused("its environment is no object of texts")
    if any("=" in key or not key for key in environment):
        raise Refused("its environment has a name that none can have")
    for key in ("rows", "columns"):
        if not isinstance(said.get(key, 0), int) or not 0 <= said.get(key, 0) <= CELLS_MAX:
            raise Refused(f"its {key} are not 0 to {CELLS_MAX}")
    for key in TEXTS:
        if said.get(key) is not None and not _is_text(said[key]):
            raise Refused(f"its {key} is no text")


def _is_text(value: object) -> bool:
    """Text that a program can be given: Unicode, without the byte that ends it."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= each <= "\udbff" for each in value)


READ_BYTES = 65536
PATIENCE_MS = 60_000
EVENTS_MAX, EVENT_BYTES = 100, 1000


class Client:
    """A client; the window of a session bounds what it has not read yet."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.reader = frame.Reader()
        self.unsent = bytearray()
        self.is_open = False
        self.ends = False


class Relay:
    """`hears` and `says` are our ends of the agent's channel. Each connection is a session with its own number."""

    def __init__(self, hears: int, says: int, listening: socket.socket, guest: Running) -> None:
        self.hears, self.says, self.listening, self.guest = hears, says, listening, guest
        for descriptor in (hears, says):
            os.set_blocking(descriptor, False)
        self.reader = frame.Reader()
        self.unsent = bytearray()
        self.credit = frame.CHANNEL_BYTES
        self.clients: dict[int, Client] = {}
        self.count = 0
        self.is_ready = self.wants_down = False
        self.events: deque[str] = deque(maxlen=EVENTS_MAX)
        self.ended = os.pidfd_open(guest.pid)

    def look(self, others: dict[int, int], patience_ms: int = PATIENCE_MS) -> dict[int, int]:
        """Waits for the next event, and passes on what there is. Returns the events of the `others`."""
        poll = select.poll()
        for descriptor, events in others.items():
            poll.register(descriptor, events)
        poll.register(self.ended, select.POLLIN)
        poll.register(self.listening, select.POLLIN)
        if all(len(client.unsent) <= HELD_BYTES for client in self.clients.values()):
            poll.register(self.hears, select.POLLIN)
        if self.unsent and self.credit:
            poll.register(self.says, select.POLLOUT)
        by_descriptor = {client.connection.fileno(): number for number, client in self.clients.items()}
        for client in self.clients.values():
            held_up = len(self.unsent) > frame.WINDOW_BYTES
            reads = 0 if held_up or client.ends else select.POLLIN
            poll.register(client.connection, reads | (select.POLLOUT if client.unsent else 0))
        ready = dict(poll.poll(patience_ms))
        if self.hears in ready:
            self._hear()
        for descriptor, number in by_descriptor.items():
            if descriptor in ready:
                self._attend(number, ready[descriptor])
        if self.listening.fileno() in ready:
            self._welcome()
        self._flush()
        return ready

    def say_goodbye(self) -> None:
        """Tells the agent to end."""
        self._tell(0, frame.QUIT)
        self._flush()
        os.close(self.ended)

    def _tell(self, number: int, kind: int, payload: bytes = b"") -> None:
        self.unsent += frame.pack(number, kind, payload)

    def _flush(self) -> None:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            while self.unsent and self.credit:
                sent = os.write(self.says, self.unsent[: self.credit])
                del self.unsent[:sent]
                self.credit -= sent

    def _hear(self) -> None:
        """Reads frames from the agent; none once it has ended."""
        data = os.read(self.hears, READ_BYTES)
        if not data:
            self.guest.end()
        for number, kind, payload in self.reader.feed(data):
            if kind == frame.HEARD:
                heard = int.from_bytes(payload[: frame.COUNT.size], "big")
                self.credit = min(self.credit + heard, frame.CHANNEL_BYTES)
            elif kind == frame.READY:
                self.is_ready = True
            elif kind == frame.DIED:
                said = payload[:EVENT_BYTES].decode(errors="replace")
                self.events.extend([said] if said != OVER else [])
            elif kind == frame.STARTED:
                ended = f"{payload[:EVENT_BYTES].decode(errors='replace')} has ended"
                self.events = deque((each for each in self.events if not each.startswith(ended)), EVENTS_MAX)
            elif number in self.clients and self.clients[number].is_open:
                client = self.clients[number]
                client.unsent += frame.pack(number, kind, payload)
                if kind in (frame.ENDED, frame.REFUSED):
                    client.is_open, client.ends = False, True

    def _welcome(self) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = self.listening.accept()
            connection.setblocking(False)
            self.count += 1
            self.clients[self.count] = Client(connection)

    def _attend(self, number: int, events: int) -> None:
        client = self.clients[number]
        if events & select.POLLOUT:
            with contextlib.suppress(BlockingIOError):
                try:
                    del client.unsent[: client.connection.send(client.unsent)]
                except (BrokenPipeError, ConnectionResetError):
                    self._leave(number)
                    return
        if events & select.POLLIN and not client.ends:
            self._listen(number, client)
        elif events & (select.POLLHUP | select.POLLERR):
            self._leave(number)
            return
        if client.ends and not client.unsent:
            self._leave(number)

    def _listen(self, number: int, client: Client) -> None:
        data = b""
        with contextlib.suppress(ConnectionResetError):
            data = client.connection.recv(READ_BYTES)
        if not data:
            self._leave(number)
            return
        for _, kind, payload in client.reader.feed(data):
            if not client.ends:
                self._heed(number, client, kind, payload)

    def _heed(self, number: int, client: Client, kind: int, payload: bytes) -> None:
        """Does what a client asks, or tells it why not; the network stays."""
        try:
            if kind == frame.OPEN and not client.is_open:
                self._open(number, client, read_opening(payload))
            elif client.is_open:
                refuse_later(kind, payload)
                self._tell(number, kind, payload)
        except Refused as refused:
            client.unsent += frame.pack(number, frame.REFUSED, f"this message is refused: {refused}".encode())
            client.ends = True

    def _open(self, number: int, client: Client, asked: dict[str, Any]) -> None:
        what = asked.pop("do")
        if what == "down":
            self.wants_down = True  # and the connection ends once all is sent
        elif what == "status":
            said = json.dumps({"events": list(self.events), "memory_bytes": memory_bytes(os.getpid())})
            client.unsent += frame.pack(number, frame.OUTPUT, said.encode())
            client.unsent += frame.pack(number, frame.ENDED, frame.STATUS.pack(0))
            client.ends = True
        elif what in ("session", "steps"):
            client.is_open = True
            self._tell(number, frame.OPEN, json.dumps(asked).encode())

    def _leave(self, number: int) -> None:
        client = self.clients.pop(number)
        client.connection.close()
        if client.is_open:
            self._tell(number, frame.CLOSE)


def memory_bytes(pid: int) -> int:
    """The memory of a process and its descendants, with what the kernel keeps for it; shared memory counts once."""
    total = kernel_bytes(pid)
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as file:
        total += sum(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                total += sum(memory_bytes(int(child)) for child in file.read().split())
    return total
