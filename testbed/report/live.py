"""The report of a run that goes on: serves it on this computer alone, and says what has changed since.

It opens a port on the loopback address and reads the run's folder. A page is worked out when somebody asks for it, and
once for each change: a run that nobody looks at is not slowed down. The loopback address is open to all local users:
only who knows the token in the page's address gets an answer, and CONNECTIONS_MAX bounds the descriptors.
"""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from ..error import TestbedError, UserError
from ..model.scenario import Trial
from ..sweep.store import Store
from ..trial.folder import disk_full, write_text
from ..trial.stored_result import TrialResult
from .page import data, page
from .stored_run import Reader
from .view import Traces, view

ADDRESS = "127.0.0.1"
CONNECTIONS_MAX = 16
"""So many at a time; one more, and the oldest is ended."""
SILENCE_S = 5.0
"""How long a connection may be silent while its request is read, or its answer sent."""
FILE = "report.html"
LOOKING_S = 6.0
"""Who asked within this time is still looking."""
GOODBYE_S = 5.0
"""How long the end waits for those who look to fetch the last state."""


class Live:
    """A Report of a sweep, and the server of its page. `total` is how many trials there are to do."""

    def __init__(self, store: Store, total: int) -> None:
        self._store = store
        self._total = total
        self._reader, self._traces = Reader(), Traces()
        self._reading = threading.Lock()
        self._version = 0
        self._made: tuple[int, dict[str, Any]] = (-1, {})
        self._verdicts: Counter[str] = Counter()
        self._ended = False
        self._asked_at = -LOOKING_S
        self._fetched = threading.Event()
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"http://{ADDRESS}:{self._server.server_port}/{self._server.token}/"

    @property
    def file(self) -> Path:
        """Where the report is kept when the run has ended."""
        return self._store.path / FILE

    def __enter__(self) -> Live:
        threading.Thread(target=self._server.serve_forever, name="live report", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._keep()
        except (TestbedError, OSError) as failed:
            if error is None:  # else that is what one must be told
                refused = UserError(f"the report {self.file} cannot be kept: {failed}")
                raise disk_full(failed, self._store.path) or refused from None
        finally:
            self._server.shutdown()
            self._server.server_close()

    def begun(self, trial: Trial) -> None:
        """Nothing to show yet."""

    def lab_time(self, trial: Trial, lab_s: float) -> None:
        """Nothing to show yet."""

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self._changed(result.verdict)

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self._changed("failed")

    def progress(self) -> dict[str, Any]:
        """What the page asks for again and again. `version` goes up with each trial that ends."""
        self._asked_at = time.monotonic()
        ended = sum(self._verdicts.values())
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in self._verdicts.items())
        line = f"{ended} of {self._total} trials ended" + (f": {verdicts}" if verdicts else "")
        return {"version": self._version, "ended": self._ended, "line": line, "file": str(self.file)}

    def state(self) -> dict[str, Any]:
        """The report as it is now. Raises TestbedError if the run's folder cannot be read."""
        with self._reading:
            version, was_ended = self._version, self._ended
            if self._made[0] != version:
                self._made = version, view(self._reader.read(self._store), self._traces)
            if was_ended:
                self._fetched.set()
            return self._made[1]

    def _changed(self, verdict: str) -> None:
        self._verdicts[verdict] += 1
        self._version += 1

    def _keep(self) -> None:
        """Writes the report to the run's folder, and lets those who look have it."""
        self._version += 1
        text = page(self.state())
        self._fetched.clear()
        write_text(self.file, text)
        self._ended = True
        if time.monotonic() - self._asked_at < LOOKING_S:
            self._fetched.wait(GOODBYE_S)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, live: Live) -> None:
        super().__init__((ADDRESS, 0), _Handler)
        self.live = live
        self.token = secrets.token_urlsafe(16)
        self._open: dict[socket.socket, None] = {}
        self._counting = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._counting:
            while len(self._open) >= CONNECTIONS_MAX:
                oldest = next(iter(self._open))
                del self._open[oldest]
                with suppress(OSError):  # its thread sees the end, and closes it
                    oldest.shutdown(socket.SHUT_RDWR)
            self._open[request] = None
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._counting:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: the terminal is the progress display's, and the client is gone."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = SILENCE_S

    def do_GET(self) -> None:
        if not self._is_for_us():
            self.send_error(HTTPStatus.FORBIDDEN, "this host name is not allowed")
            return
        token, slash, path = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not slash or not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self.send_error(HTTPStatus.FORBIDDEN, "the address of the page has a token, which testbed run printed")
            return
        if path not in _PAGES:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind, make = _PAGES[path]
        try:
            self._answer(kind, make(self.server.live))
        except TestbedError as error:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, "the report cannot be made", str(error))
        except (BrokenPipeError, ConnectionResetError):
            return  # the page was closed

    def _is_for_us(self) -> bool:
        """A page from elsewhere that has its own name lead to this address must not read the results."""
        hosts = [f"{name}:{self.server.server_port}" for name in (ADDRESS, "localhost")]
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in hosts and origin in (None, *(f"http://{host}" for host in hosts))

    def _answer(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *words: Any) -> None:
        """Nothing: the terminal is the progress display's."""


_PAGES: dict[str, tuple[str, Callable[[Live], str]]] = {
    "": ("text/html", lambda live: page(live.state(), live=True)),
    "data.json": ("application/json", lambda live: data(live.state())),
    "progress": ("application/json", lambda live: json.dumps(live.progress())),
}
