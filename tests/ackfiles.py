"""Files as the lab kernel writes them with `samples: acks`."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from pathlib import Path

BEGIN, FLOW, NAME, NUMBERS, END = 16, 17, 18, 19, 20
ACK, STATE, RETRANSMIT, WINDOW = 1, 2, 3, 4
MOST = 1000
LOOK = "QIBBBB12IQQI5I"


def _record(head: bytes, body: bytes) -> bytes:
    return (head + body).ljust(104, b"\0")


def head(time_ns: int, flow: int, kind: int, argument: int = 0, ca_state: int = 0) -> bytes:
    return struct.pack("=QIBBBB", time_ns, flow, kind, argument, ca_state, 1)


def begin(version: int = 1, size: int = 104, most: int = MOST) -> bytes:
    return _record(head(0, 0, BEGIN), struct.pack("=8Q", version, size, most, *[0] * 5))


def end(written: int, most: int = MOST, flows: int = 1, left: Sequence[int] = (0, 0, 0, 0)) -> bytes:
    return _record(head(0, 0, END), struct.pack("=8Q", written, most, flows, *left, 0))


def flow(number: int = 1, ports: tuple[int, int] = (40000, 5000), congestion: str = "cubic", time_ns: int = 0) -> bytes:
    source, destination = (socket.inet_aton(each).ljust(16, b"\0") for each in ("10.0.0.1", "10.0.0.2"))
    ends = struct.pack("=16s16sHHHH16s", source, destination, socket.AF_INET, *ports, 0, congestion.encode())
    return _record(head(time_ns, number, FLOW), ends)


def name(text: str, index: int = 0, number: int = 1, time_ns: int = 0) -> bytes:
    return _record(head(time_ns, number, NAME, index), text.encode())


def numbers(values: Sequence[int], time_ns: int = 0, number: int = 1) -> bytes:
    return _record(head(time_ns, number, NUMBERS, len(values)), struct.pack("=8q", *values, *[0] * (8 - len(values))))


def look(
    time_ns: int,
    kind: int = ACK,
    *,
    number: int = 1,
    argument: int = 0,
    ca_state: int = 0,
    cwnd: int = 10,
    ssthresh: int = 0x7FFFFFFF,
    delivered: int = 1,
    again: int = 0,
    segs_in: int = 1,
    pacing: int = 125_000,
    octets: int = 1449,
    info_kind: int = 0,
    info: Sequence[int] = (0,) * 5,
) -> bytes:
    counts = (cwnd, ssthresh, 10_000, 9, 9, 0, 0, 0, delivered, 0, again, segs_in)
    return head(time_ns, number, kind, argument, ca_state) + struct.pack(
        "=12IQQI5I", *counts, pacing, octets, info_kind, *info
    )


def write(path: Path, *records: bytes, **told: object) -> Path:
    """A whole file of these records; `told` is for its end."""
    path.write_bytes(b"".join((begin(), *records, end(len(records) + 2, **told))))  # type: ignore[arg-type]
    return path
