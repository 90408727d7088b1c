"""Passes frames between the clients of a network and its one agent. Uses open sockets."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
from collections import deque
from typing import Any

from ..agent import frame
from ..kernel.consumption import kernel_bytes
from ..kernel.guest_file import HELD_BYTES
from ..process import Running
from . import request

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
                self.events.append(payload[:EVENT_BYTES].decode(errors="replace"))
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
                self._open(number, client, request.asked(payload))
            elif client.is_open:
                request.refuse_later(kind, payload)
                self._tell(number, kind, payload)
        except request.Refused as refused:
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
