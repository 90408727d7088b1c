"""The terminals that a page has opened. Each is of one network, and ends if nobody fetches its output for long."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...error import UserError
from ..running_network import RunningNetwork
from .terminal import LineTerminal, NodeTerminal, Terminal

TERMINALS_MAX = 16
FORGOTTEN_S = 300.0
"""The page of a terminal whose output nobody has fetched for so long is gone."""
LOOK_S = 5.0
PATIENCE_S = 2.0
"""How long a page waits for news."""
PIECE_BYTES = 65536


@dataclass
class Opened:
    """A terminal, and when somebody asked for its output last."""

    terminal: Terminal
    asked_at: float


class Terminals:
    """By number. Its methods may be called from several threads."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._open: dict[int, Opened] = {}
        self._count = 0
        self._ended = threading.Event()

    def open(self, network: RunningNetwork, node: str, rows: int, columns: int) -> int:
        """The number of a new one. Raises UserError if there is no such node, or there are too many."""
        where = network.where(node)
        self._forget()
        with self._news:
            if len(self._open) >= TERMINALS_MAX:
                raise UserError(f"{TERMINALS_MAX} terminals are open; allowed: to close one")
        size = (min(max(rows, 2), 500), min(max(columns, 2), 1000))
        terminal: Terminal = (
            LineTerminal(network, node, self._news) if "on" in where else NodeTerminal(network, node, size, self._news)
        )
        with self._news:
            if self._count == 0:
                threading.Thread(target=self._look_after, name="terminals", daemon=True).start()
            self._count += 1
            self._open[self._count] = Opened(terminal, time.monotonic())
            return self._count

    def put(self, number: int, data: bytes) -> bool:
        """Whether a terminal took all of it, or has ended."""
        found = self._open.get(number)
        return found is None or found.terminal.put(data)

    def resize(self, number: int, rows: int, columns: int) -> None:
        found = self._open.get(number)
        if found is not None:
            found.terminal.resize(min(max(rows, 2), 500), min(max(columns, 2), 1000))

    def close(self, number: int) -> None:
        with self._news:
            found = self._open.pop(number, None)
        if found is not None:
            found.terminal.close()

    def close_all(self) -> None:
        self._ended.set()
        for number in list(self._open):
            self.close(number)

    def output(self, heard: Mapping[int, int]) -> dict[str, Any]:
        """What terminals have said after the bytes that were heard of each, as soon as one has said anything, or after
        PATIENCE_S; and why those ended that did.
        """
        until = time.monotonic() + PATIENCE_S
        for number, octets in heard.items():
            self._acknowledge(number, octets)
        with self._news:
            while not (found := self._told(heard)) and time.monotonic() < until:
                self._news.wait(max(0.0, until - time.monotonic()))
            return found

    def _acknowledge(self, number: int, octets: int) -> None:
        with self._news:
            found = self._open.get(number)
            if found is None:
                return
            found.asked_at = time.monotonic()
            dropped = found.terminal.text.drop(octets)
        found.terminal.taken(dropped)

    def _told(self, heard: Mapping[int, int]) -> dict[str, Any]:
        told: dict[str, Any] = {}
        for number in heard:
            opened = self._open.get(number)
            if opened is None:
                told[str(number)] = {"at": 0, "data": "", "ended": "this terminal has ended"}
                continue
            text = opened.terminal.text
            piece = bytes(text.waiting[:PIECE_BYTES])
            if piece or text.ended is not None:
                ended = text.ended if len(piece) == len(text.waiting) else None
                told[str(number)] = {"at": text.start, "data": base64.b64encode(piece).decode(), "ended": ended}
        return told

    def _look_after(self) -> None:
        """A browser that was killed tells nothing."""
        while not self._ended.wait(LOOK_S):
            self._forget(only_silent=True)

    def _forget(self, *, only_silent: bool = False) -> None:
        now = time.monotonic()
        for number, opened in list(self._open.items()):
            has_ended = opened.terminal.text.ended is not None and not only_silent
            if now - opened.asked_at > FORGOTTEN_S or has_ended:
                self.close(number)
