"""Captures of several devices as one file in pcapng's format, which names them; and what tcpdump writes, as it comes.
Pure, no I/O.

The format: draft-ietf-opsawg-pcapng; a block is its type, its length, its body padded to 32 bits, its length again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER, VERSION = 0x1A2B3C4D, (1, 0)
END, NAME, RESOLUTION, PROGRAM = 0, 2, 9, 4
"""Codes of options."""
NANOSECONDS = b"\x09"
FILE_BYTES, RECORD_BYTES = 24, 16
KEPT_BYTES = 262144
"""The most that tcpdump keeps of a packet."""
UNITS_NS = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}
"""By the first number of a file of tcpdump's: in which unit the fraction of a second is."""


@dataclass(frozen=True)
class Record:
    """A packet: when it was seen, how long it was, and as much of it as was kept."""

    time_ns: int
    length: int
    data: bytes


@dataclass
class Reading:
    """What a tcpdump wrote so far. `link_type` and `snaplen` are known (not None) once its head has come."""

    link_type: int | None = None
    snaplen: int = 0
    _unit_ns: int = 1
    _rest: bytes = field(default=b"", repr=False)

    def feed(self, data: bytes) -> Iterator[Record]:
        """The packets that are whole now. Raises ValueError if this is no capture of this computer's byte order, or has
        a packet that no tcpdump would keep: whoever is root in a guest may write anything in its place.
        """
        self._rest += data
        if self.link_type is None:
            if len(self._rest) < FILE_BYTES:
                return
            magic, _, _, _, _, self.snaplen, link_type = struct.unpack_from("=IHHiIII", self._rest)
            if magic not in UNITS_NS:
                raise ValueError("this is no packet capture")
            self.link_type, self._unit_ns = link_type & 0xFFFF, UNITS_NS[magic]
            self._rest = self._rest[FILE_BYTES:]
        at = 0
        while len(self._rest) >= at + RECORD_BYTES:
            seconds, fraction, kept, length = struct.unpack_from("=IIII", self._rest, at)
            if kept > KEPT_BYTES:
                raise ValueError(f"a packet of {kept} bytes is none")
            if len(self._rest) < at + RECORD_BYTES + kept:
                break
            begin = at + RECORD_BYTES
            yield Record(seconds * 10**9 + fraction * self._unit_ns, length, self._rest[begin : begin + kept])
            at = begin + kept
        self._rest = self._rest[at:]


def head(interfaces: Iterable[tuple[str, int, int]]) -> bytes:
    """The beginning of a file: of each interface its name, its type of link and how much of a packet is kept."""
    options = _option(PROGRAM, b"testbed") + _option(END, b"")
    section = struct.pack("=IHHq", BYTE_ORDER, *VERSION, -1) + options
    return _block(SECTION, section) + b"".join(_interface(*each) for each in interfaces)


def packet(interface: int, record: Record) -> bytes:
    """A packet that an interface saw; they are counted from 0."""
    high, low = record.time_ns >> 32, record.time_ns & 0xFFFFFFFF
    return _block(
        PACKET, struct.pack("=IIIII", interface, high, low, len(record.data), record.length) + _padded(record.data)
    )


def _interface(name: str, link_type: int, snaplen: int) -> bytes:
    options = _option(NAME, name.encode()) + _option(RESOLUTION, NANOSECONDS) + _option(END, b"")
    return _block(INTERFACE, struct.pack("=HHI", link_type, 0, snaplen) + options)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("=HH", code, len(value)) + _padded(value)


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("=I", 12 + len(body))
    return struct.pack("=I", kind) + size + body + size


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
