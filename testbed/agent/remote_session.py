"""A session on a remote node (see `remote`): starts the program and reports its end."""

from __future__ import annotations

import contextlib
import os

from .frame import COUNT, ENDED, ERRORS, OUTPUT, PAYLOAD_MAX, STATUS, TAKEN, WINDOW_BYTES
from .syscall import StepError

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any

    from .remote import RemoteNode, RemoteProcess

TICK_MS = 50


class RemoteSession:
    """A program on a remote node. Its output passes through two files in memory.

    Remote nodes take no stream of input: the program starts once its input has ended. A program with input blocks all
    other sessions until it ends; one without runs beside them.
    """

    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()

    def __init__(self, there: RemoteNode, asked: dict[str, Any], send: Callable[[int, bytes], None]) -> None:
        self.there, self.words, self.send = there, asked["words"], send
        self.credit = WINDOW_BYTES
        self.input = bytearray()
        self.process: RemoteProcess | None = None
        self.status: int | None = None
        self.files = {os.memfd_create(name): kind for name, kind in (("output", OUTPUT), ("errors", ERRORS))}
        self.sent = dict.fromkeys(self.files, 0)
        if asked.get("tty"):  # the user's terminal never ends by itself
            self.end_input()

    def put(self, data: bytes) -> None:
        self.input += data
        self.send(TAKEN, COUNT.pack(len(data)))

    def end_input(self) -> None:
        if self.process is not None or self.status is not None:
            return
        out, err = self.files
        if not self.input:
            self.process = self.there.start(self.words, out, err)
            return
        self.status, stdout, stderr = self.there.run(self.words, bytes(self.input), None)
        os.write(out, stdout)
        os.write(err, stderr)

    def look(self) -> bool:
        """Passes on new output; returns whether that was all."""
        if self.process is not None and self.status is None and self.process.poll() is not None:
            self.status = self.process.wait()
        ended = self.status is not None
        left = False
        for descriptor, kind in self.files.items():
            while (most := min(self.credit, PAYLOAD_MAX)) > 0:
                data = os.pread(descriptor, most, self.sent[descriptor])
                if not data:
                    break
                self.sent[descriptor] += len(data)
                self.credit -= len(data)
                self.send(kind, data)
            left = left or self.sent[descriptor] < os.fstat(descriptor).st_size
        if ended and not left and self.status is not None:
            self.send(ENDED, STATUS.pack(self.status))
            self.close()
            return True
        return False

    def give(self, count: int) -> None:
        self.credit += count

    def resize(self, rows: int, columns: int) -> None:
        """It has no terminal."""

    def signal(self, number: int) -> None:
        if self.process is not None and self.status is None:
            self.process.send_signal(number)

    def read(self, descriptor: int) -> None:
        """Nothing to wait for: `look` reads its output."""

    def write(self) -> None:
        """Collects the input, which goes as a whole."""

    def close(self) -> None:
        if self.process is not None and self.status is None:
            with contextlib.suppress(StepError, OSError):
                self.process.kill()
                self.process.wait()
        for descriptor in self.files:
            os.close(descriptor)
        self.files = {}
