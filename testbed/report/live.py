"""The report of a run that goes on: serves it on this computer alone, and says what has changed since.

It reads the run's folder. A page is worked out when somebody asks for it, and once for each change: a run that nobody
looks at is not slowed down.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from ..browser.page_text import data
from ..browser.server import Answer, Asked, LocalServer
from ..error import TestbedError, UserError
from ..model.scenario import Trial
from ..sweep.store import Store
from ..trial.folder import disk_full, write_text
from ..trial.result import TrialResult
from ..units import counted
from .page import page
from .stored_run import Reader
from .view import Traces, view

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
        self._server = LocalServer(self._answer, "testbed run")

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return self._server.url

    @property
    def file(self) -> Path:
        """Where the report is kept when the run has ended."""
        return self._store.path / FILE

    def __enter__(self) -> Live:
        self._server.__enter__()
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
            self._server.__exit__(None, None, None)

    def begun(self, trial: Trial) -> None:
        """Nothing to show yet."""

    def lab_time(self, trial: Trial, lab_s: float) -> None:
        """Nothing to show yet."""

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self._changed(result.verdict)

    def failed(self, trial: Trial, error: TestbedError) -> None:
        self._changed("failed")

    def progress(self) -> dict[str, Any]:
        """What the page asks for again and again. `version` goes up with each trial that ends, and with the run's end:
        so whoever has seen all of it before fetches it once more, and is not waited for in vain.
        """
        self._asked_at = time.monotonic()
        has_ended = self._ended
        ended = sum(self._verdicts.values())
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in self._verdicts.items())
        line = f"{ended} of {counted(self._total, 'trial')} ended" + (f": {verdicts}" if verdicts else "")
        return {"version": self._version + has_ended, "ended": has_ended, "line": line, "file": str(self.file)}

    def state(self) -> dict[str, Any]:
        """The report as it is now. Raises TestbedError if the run's folder cannot be read."""
        with self._reading:
            version = self._version
            if self._made[0] != version:
                self._made = version, view(self._reader.read(self._store), self._traces)
            return self._made[1]

    def _answer(self, asked: Asked) -> Answer | None:
        if asked.method != "GET" or asked.path not in _PAGES:
            return None
        kind, make = _PAGES[asked.path]
        is_last = self._ended and asked.path != "progress"
        return Answer(kind, make(self), sent=self._fetched.set if is_last else None)

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


_PAGES: dict[str, tuple[str, Callable[[Live], str]]] = {
    "": ("text/html", lambda live: page(live.state(), live=True)),
    "data.json": ("application/json", lambda live: data(live.state())),
    "progress": ("application/json", lambda live: json.dumps(live.progress())),
}
