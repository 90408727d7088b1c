"""Serves a page on this computer alone. Opens a port on the loopback address.

That address is open to all local users: only who knows the token in the page's address gets an answer. CONNECTIONS_MAX
bounds the descriptors of those who have shown it, and of all others, apart: nobody pushes them out. Pages of other
sites, which a browser may lead here by a name of their own, are refused by the names in their requests.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl

from ..codec.frozen import dataclass
from ..error import TestbedError, UserError

ADDRESS = "127.0.0.1"
CONNECTIONS_MAX = 16
"""So many at a time that have shown the token, and so many that have not; one more, and the oldest of them is ended."""
SILENCE_S = 30.0
"""How long a connection may be silent while its request is read, and how long sending its answer may take."""
BODY_BYTES = 65536
"""The most that a request can bring."""


@dataclass(frozen=True)
class Asked:
    """A request of somebody who knows the token. `path` is what follows the token and its slash."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What is sent back: text in UTF-8 of a `kind`, such as text/html. `sent` is called when all of it has been."""

    kind: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: Callable[[], None] | None = None


Site = Callable[[Asked], Answer | None]
"""Answers requests, from several threads at once; None: there is no such page. A TestbedError is told as one."""


class LocalServer(ThreadingHTTPServer):
    """Serves `site` between entering and leaving. `told_by` is the command that prints the address. Raises UserError if
    the `port` is taken; 0 is any that is free.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, site: Site, told_by: str, port: int = 0) -> None:
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            raise UserError(f"port {port} cannot be opened: {error.strerror}; allowed: another port") from None
        self.site = site
        self.told_by = told_by
        self.token = secrets.token_urlsafe(16)
        self._unknown: dict[socket.socket, None] = {}
        self._known: dict[socket.socket, None] = {}
        self._counting = threading.Lock()

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def __enter__(self) -> LocalServer:
        threading.Thread(target=self.serve_forever, name=f"page of {self.told_by}", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._counting:
            self._admit(request, self._unknown)
        super().process_request(request, client_address)

    def knows(self, request: socket.socket) -> None:
        """A connection has shown the token."""
        with self._counting:
            if request in self._unknown:
                del self._unknown[request]
                self._admit(request, self._known)

    @staticmethod
    def _admit(request: socket.socket, among: dict[socket.socket, None]) -> None:
        while len(among) >= CONNECTIONS_MAX:
            oldest = next(iter(among))
            del among[oldest]
            with suppress(OSError):  # its thread sees the end, and closes it
                oldest.shutdown(socket.SHUT_RDWR)
        among[request] = None

    def shutdown_request(self, request: Any) -> None:
        with self._counting:
            self._unknown.pop(request, None)
            self._known.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: the terminal is not ours, and the client is gone."""


class Handler(BaseHTTPRequestHandler):
    """One request. Reads its body only once the token has been seen."""

    server: LocalServer
    timeout = SILENCE_S

    def do_GET(self) -> None:
        self._do("GET")

    def do_POST(self) -> None:
        self._do("POST")

    def _do(self, method: str) -> None:
        if not self._is_for_us():
            self.send_error(HTTPStatus.FORBIDDEN, "this host name is not allowed")
            return
        where, _, query = self.path.partition("?")
        token, slash, path = where.removeprefix("/").partition("/")
        if not slash or not secrets.compare_digest(token.encode(), self.server.token.encode()):
            what = f"the address of the page has a token, which {self.server.told_by} printed"
            self.send_error(HTTPStatus.FORBIDDEN, what)
            return
        self.server.knows(self.connection)
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit() and len(length) < 9 and int(length) <= BODY_BYTES):
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            body = self.rfile.read(int(length))
            if len(body) != int(length):
                return
            answer = self.server.site(Asked(method, path, dict(parse_qsl(query)), body))
            if answer is None:
                self.send_error(HTTPStatus.NOT_FOUND)
            else:
                self._answer(answer)
        except TestbedError as error:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, "this page cannot be made", str(error))
        except (BrokenPipeError, ConnectionResetError):
            return  # the page was closed

    def _is_for_us(self) -> bool:
        """A page from elsewhere that has its own name lead to this address must not read anything. The port is that of
        the browser's computer, which SSH may have chosen; a page of another port there is from elsewhere, too.
        """
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        name, _, port = host.rpartition(":")
        is_here = name in (ADDRESS, "localhost") and port.isascii() and port.isdigit()
        return is_here and origin in (None, f"http://{host}")

    def _answer(self, answer: Answer) -> None:
        body = answer.text.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{answer.kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Referrer-Policy", "no-referrer")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        if answer.sent is not None:
            answer.sent()

    def log_message(self, format: str, *words: Any) -> None:
        """Nothing: the terminal is not ours."""
