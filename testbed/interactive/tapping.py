"""Captures in a running network: a tcpdump at each point, and one stream in pcapng's format out of all. Starts
processes.
"""

from __future__ import annotations

import re
import selectors
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO

from .. import process
from ..error import MachineError, TestbedError, UserError, one_of, visible
from . import pcapng
from .running_network import RunningNetwork

READ_BYTES = 1 << 16
PATIENCE_S = 60.0
"""How long a tcpdump may take to begin, and to end."""
BATCH_S, BATCH_NS = 0.25, 250_000_000
"""Packets that come within this time are sorted by when they were seen."""
WAITING_BYTES, SAID_BYTES = 64 << 20, 4096
"""Of packets that wait for others before they are written; of the beginning, and of the end, of what a tcpdump says. It
runs in a guest, whose root may have put anything in its place.
"""
TCPDUMP = ("--relinquish-privileges=root", "--time-stamp-precision=nano")
LISTENING, DROPPED = "listening on", re.compile(r"(\d+) packets? dropped by kernel")


@dataclass(frozen=True)
class Point:
    """A device of a node; `link` None if it is on none."""

    node: str
    device: str
    link: str | None

    @property
    def name(self) -> str:
        """As the file and Wireshark show it."""
        return f"{self.node}:{self.device}" if self.link is None else f"{self.node}:{self.link}"


@dataclass(frozen=True)
class Tapped:
    """How many packets were written, and how many the kernel did not keep for us (None: a tcpdump did not say)."""

    packets: int
    missed: int | None


def points(network: RunningNetwork, words: Sequence[str]) -> tuple[Point, ...]:
    """NODE is every device of a node, NODE:LINK the one on a link (or of this name). What passes a VLAN device passes
    the one below it, with its tag. Raises UserError.
    """
    found: list[Point] = []
    for word in words:
        node, _, end = word.partition(":")
        known = _of_node(network, node)
        if not known:
            raise UserError(f"{word}: {node} of {network.name} has no device to listen at; allowed: another node")
        fitting = [each for each in known if end in ("", each.link, each.device)]
        if not fitting:
            allowed = one_of([f"{node}:{each.link or each.device}" for each in known], word)
            raise UserError(f"{word}: {node} of {network.name} has no link {end!r}; allowed: {allowed}")
        found += fitting
    return tuple(dict.fromkeys(found))


def _of_node(network: RunningNetwork, node: str) -> list[Point]:
    nodes = network.about["nodes"]
    if node not in nodes:
        raise UserError(f"{network.name} has no node {node!r}; allowed: {one_of([*nodes], node)}")
    ends = {(end["node"], end["device"]): link["name"] for link in network.about["links"] for end in link["ends"]}
    own = (device for device in nodes[node]["ports"] if "." not in device)
    devices = dict.fromkeys((*own, *(device for other, device in ends if other == node)))
    return [Point(node, device, ends.get((node, device))) for device in devices]


class Tap:
    """The tcpdumps of some points. Leaving the `with` block ends them."""

    def __init__(self, network: RunningNetwork, at: Sequence[Point], expression: Sequence[str]) -> None:
        self._network, self._at, self._expression = network, at, expression
        self._stack = ExitStack()

    def __enter__(self) -> Tap:
        self._running = [self._stack.enter_context(self._started(each)) for each in self._at]
        self._said = [""] * len(self._at)
        self._readings = [pcapng.Reading() for _ in self._at]
        self._waiting: list[tuple[int, pcapng.Record]] = []
        self._before = 0
        self._open = selectors.DefaultSelector()
        for number, each in enumerate(self._running):
            for stream in (each.stdout, each.stderr):
                assert stream is not None, "BUG: a process without a pipe"
                self._open.register(stream, selectors.EVENT_READ, (number, stream is each.stdout))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._stack.close()

    def _started(self, point: Point) -> process.Running:
        tcpdump = (
            "tcpdump",
            "-i",
            point.device,
            "-n",
            "-U",
            "--immediate-mode",
            "-w",
            "-",
            "--relinquish-privileges=root",
        )
        ours = (sys.executable, "-m", "testbed", "exec", "-n", self._network.name, point.node, "--")
        words = (*ours, *tcpdump, *TCPDUMP, *self._expression)
        return process.start(words, stdout=process.PIPE, stderr=process.PIPE)

    def begin(self) -> None:
        """Returns when every tcpdump listens. Raises MachineError with what one said if it ended."""
        until = time.monotonic() + PATIENCE_S
        while not all(LISTENING in said for said in self._said) or any(
            each.link_type is None for each in self._readings
        ):
            self._read(BATCH_S)
            for point, running, said in zip(self._at, self._running, self._said, strict=True):
                if running.poll() is not None or time.monotonic() > until:
                    why = visible(" ".join(said.split())) or "it said nothing"
                    raise Refused(f"no capture at {point.name}: {why}")

    def head(self) -> bytes:
        """The beginning of the file."""
        each = zip(self._at, self._readings, strict=True)
        return pcapng.head((point.name, reading.link_type or 0, reading.snaplen) for point, reading in each)

    def copy(self, write: Callable[[bytes], None], most: int | None) -> Tapped:
        """Writes packets until there are `most` (None: no such number), all tcpdumps have ended, or Ctrl-C."""
        count = 0
        with suppress(KeyboardInterrupt, BrokenPipeError):  # whoever reads it may have enough
            while self._open.get_map() and (most is None or count < most):
                self._read_for(BATCH_S)
                count += self._written(write, None if most is None else most - count)
        self._end()
        if most is None:
            with suppress(BrokenPipeError):
                count += self._written(write, None, is_last=True)
        dropped = [DROPPED.search(said) for said in self._said]
        return Tapped(count, sum(int(each[1]) for each in dropped if each) if all(dropped) else None)

    def _end(self) -> None:
        """Asks all to end, and reads what they still have."""
        for each in self._running:
            if each.poll() is None:
                each.signal(signal.SIGTERM)
        until = time.monotonic() + PATIENCE_S
        while self._open.get_map() and time.monotonic() < until:
            self._read(BATCH_S)

    def _read_for(self, span_s: float) -> None:
        until = time.monotonic() + span_s
        while self._open.get_map() and (left_s := until - time.monotonic()) > 0:
            self._read(left_s)

    def _read(self, wait_s: float) -> None:
        for key, _ in self._open.select(wait_s):
            number, is_data = key.data
            stream: IO[bytes] = key.fileobj  # type: ignore[assignment]
            data = stream.read1(READ_BYTES)  # type: ignore[attr-defined]
            if not data:
                self._open.unregister(stream)
            elif is_data:
                self._take(number, data)
            else:
                self._said[number] = _ends(self._said[number] + data.decode(errors="replace"))

    def _take(self, number: int, data: bytes) -> None:
        try:
            self._waiting += ((number, record) for record in self._readings[number].feed(data))
        except ValueError as error:
            raise Refused(f"no capture at {self._at[number].name}: {error}") from None

    def _written(self, write: Callable[[bytes], None], most: int | None, *, is_last: bool = False) -> int:
        """Writes what came, the oldest first; how many. While packets still come, the newest wait for others that were
        seen before them and came later.
        """
        known = sorted(self._waiting, key=lambda each: each[1].time_ns)
        waits = known and len(known) != self._before and not is_last and (most is None or len(known) < most)
        waits = waits and sum(len(record.data) for _, record in known) < WAITING_BYTES
        limit_ns = known[-1][1].time_ns - BATCH_NS if waits else None
        ready = [each for each in known if limit_ns is None or each[1].time_ns <= limit_ns][:most]
        self._waiting = known[len(ready) :]
        self._before = len(self._waiting)
        if ready:
            write(b"".join(pcapng.packet(number, record) for number, record in ready))
        return len(ready)


def _ends(said: str) -> str:
    """The beginning of a text, with that it listens, and the end, with what was dropped."""
    return said if len(said) <= 2 * SAID_BYTES else said[:SAID_BYTES] + said[-SAID_BYTES:]


class Refused(TestbedError):
    """A tcpdump did not begin, such as for a filter that it does not understand."""

    exit_code = UserError.exit_code


def refuse_other_computers(network: RunningNetwork, at: Sequence[Point]) -> None:
    """Raises MachineError for nodes whose devices we cannot listen at."""
    for each in at:
        kind = network.about["nodes"][each.node]["type"]
        if kind in ("vm", "machine"):
            raise MachineError(f"{each.name} is a device of another kernel", f"testbed exec {each.node} -- tcpdump …")
