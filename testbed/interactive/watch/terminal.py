"""A terminal in a node for somebody who fetches its output now and then. Uses open sockets and threads."""

from __future__ import annotations

import contextlib
import json
import threading
from contextlib import ExitStack
from typing import Protocol

from ...agent import frame
from ...error import MachineError
from ...kernel.guest_file import HELD_BYTES, LINE_BYTES
from .. import node_files
from ..connection import READ_BYTES, SaysTooMuch, asked_session, connected, run
from ..running_network import RunningNetwork

ENVIRONMENT = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


class Terminal(Protocol):
    """What the page needs of a terminal. `text` is shared with the thread that hears it."""

    text: Text

    def put(self, data: bytes) -> bool: ...
    def resize(self, rows: int, columns: int) -> None: ...
    def taken(self, octets: int) -> None: ...
    def close(self) -> None: ...


class Text:
    """Output that nobody has fetched yet, from byte `start` on. `news` is told of all that comes."""

    def __init__(self, news: threading.Condition) -> None:
        self.news = news
        self.start = 0
        self.waiting = bytearray()
        self.ended: str | None = None

    def add(self, data: bytes) -> None:
        """Ends it where more would wait than an agent that keeps to its window sends."""
        with self.news:
            if len(self.waiting) + len(data) > HELD_BYTES:
                self.ended = self.ended or "the network sends more than was asked of it"
            else:
                self.waiting += data
            self.news.notify_all()

    def end(self, why: str) -> None:
        """Only the first reason counts."""
        with self.news:
            self.ended = self.ended or why
            self.news.notify_all()

    def drop(self, until: int) -> int:
        """Forgets what has been fetched; how many bytes that was. Call it with `news` held."""
        octets = min(max(until - self.start, 0), len(self.waiting))
        del self.waiting[:octets]
        self.start += octets
        return octets


class NodeTerminal:
    """A shell in a node of this kernel. The window of its session bounds what waits here.

    Raises MachineError if the network has gone down.
    """

    def __init__(self, network: RunningNetwork, node: str, size: tuple[int, int], news: threading.Condition) -> None:
        self.text = Text(news)
        self.credit = frame.WINDOW_BYTES
        self._telling = threading.Lock()
        self._open = ExitStack()
        self._connection = self._open.enter_context(connected(network))
        asked = asked_session(network, node, node_files.SHELL, ENVIRONMENT)
        asked |= {"tty": True, "rows": size[0], "columns": size[1]}
        self._tell(frame.OPEN, json.dumps(asked).encode())
        threading.Thread(target=self._hear, name=f"terminal in {node}", daemon=True).start()

    def put(self, data: bytes) -> bool:
        """Whether there was room for it; what does not fit must be put again."""
        with self.text.news:
            if len(data) > self.credit:
                return False
            self.credit -= len(data)
        for at in range(0, len(data), frame.PAYLOAD_MAX):
            self._tell(frame.INPUT, data[at : at + frame.PAYLOAD_MAX])
        return True

    def resize(self, rows: int, columns: int) -> None:
        self._tell(frame.RESIZE, frame.SIZE.pack(rows, columns))

    def taken(self, octets: int) -> None:
        if octets:
            self._tell(frame.TAKEN, frame.COUNT.pack(octets))

    def close(self) -> None:
        """The shell gets a SIGHUP."""
        self.text.end("closed")
        with contextlib.suppress(OSError):
            self._connection.shutdown(2)

    def _tell(self, kind: int, payload: bytes) -> None:
        with self._telling, contextlib.suppress(OSError):  # it has ended, and its thread says so
            self._connection.sendall(frame.pack(0, kind, payload))

    def _hear(self) -> None:
        reader = frame.Reader()
        with self._open, contextlib.suppress(OSError):
            while self.text.ended is None and (data := self._connection.recv(READ_BYTES)):
                for _, kind, payload in reader.feed(data):
                    self._heed(kind, payload)
        self.text.end("the network has gone down")

    def _heed(self, kind: int, payload: bytes) -> None:
        if kind in (frame.OUTPUT, frame.ERRORS):
            self.text.add(payload)
        elif kind == frame.TAKEN and len(payload) == frame.COUNT.size:
            with self.text.news:
                self.credit = min(self.credit + frame.COUNT.unpack(payload)[0], frame.WINDOW_BYTES)
        elif kind == frame.ENDED:
            self.text.end("the shell has ended")
        elif kind == frame.REFUSED:
            self.text.end(payload.decode(errors="replace"))


class LineTerminal:
    """For a node with a kernel of its own, which has no terminal: each line is a command of its own, run in /."""

    def __init__(self, network: RunningNetwork, node: str, news: threading.Condition) -> None:
        self.text = Text(news)
        self._network, self._where, self._prompt = network, network.where(node), f"{node}# ".encode()
        self._line, self._runs = "", False
        self._say(f"{node} has no terminal: each line is a command of its own, run in /\r\n".encode() + self._prompt)

    def put(self, data: bytes) -> bool:
        """Keys while a command runs are dropped."""
        for letter in data.decode(errors="replace"):
            if self._runs:
                break
            self._press(letter)
        return True

    def resize(self, rows: int, columns: int) -> None:
        """Nothing has a size here."""

    def taken(self, octets: int) -> None:
        """All that a command has said is here at once."""

    def close(self) -> None:
        self.text.end("closed")

    def _say(self, data: bytes) -> None:
        self.text.add(data)

    def _press(self, letter: str) -> None:
        if letter == "\r":
            self._say(b"\r\n")
            line, self._line = self._line, ""
            if line.split()[:1] in (["exit"], ["logout"]):
                self.text.end("left")
            elif line.strip():
                self._runs = True
                threading.Thread(target=self._run, args=(line,), daemon=True).start()
            else:
                self._say(self._prompt)
        elif letter in "\x7f\b" and self._line:
            self._line = self._line[:-1]
            self._say(b"\b \b")
        elif letter in "\x03\x15":
            self._line = ""
            self._say(b"\r\n" + self._prompt)
        elif letter == "\x04" and not self._line:
            self.text.end("left")
        elif letter.isprintable():
            self._line += letter
            self._say(letter.encode())

    def _run(self, line: str) -> None:
        try:
            try:
                _, out, err = run(self._network, self._where, ["sh", "-c", line], LINE_BYTES)
            except SaysTooMuch as error:
                out, err = b"", f"{error.what}: nothing of it is shown\n".encode()
            self._say((out + err).replace(b"\n", b"\r\n") + self._prompt)
            self._runs = False
        except (MachineError, OSError) as error:
            self.text.end(str(error))
