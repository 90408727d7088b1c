"""Decodes the observer's output: records of netlink messages, and their attributes. Pure, no I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from ...codec.frozen import dataclass

_RECORD = struct.Struct("=QII")
_MESSAGE = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_TYPE_MASK = 0x3FFF


@dataclass(frozen=True)
class Record:
    """The answer of one source (its number on the observer's command line) at one time of CLOCK_MONOTONIC."""

    time_ns: int
    source: int
    messages: bytes


def records(data: bytes) -> Iterator[Record]:
    """All whole records; skips a record that is cut off at the end."""
    return (record for record, _ in raw_records(data))


def raw_records(data: bytes) -> Iterator[tuple[Record, bytes]]:
    """As `records`, each with the bytes it was read from."""
    at = 0
    while at + _RECORD.size <= len(data):
        time_ns, source, length = _RECORD.unpack_from(data, at)
        end = at + _RECORD.size + length
        if end > len(data):
            return
        yield Record(time_ns, source, data[at + _RECORD.size : end]), data[at:end]
        at = end


def bodies(messages: bytes) -> Iterator[bytes]:
    """The payload of each netlink message."""
    at = 0
    while at + _MESSAGE.size <= len(messages):
        length = _MESSAGE.unpack_from(messages, at)[0]
        yield messages[at + _MESSAGE.size : at + length]
        at += aligned(length)


def attributes(data: bytes) -> Mapping[int, bytes]:
    """Maps attribute numbers to payloads; a repeated attribute has its last payload."""
    return dict(each_attribute(data))


def each_attribute(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Pairs of the number and the payload of an attribute, in their order."""
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        if length < _ATTRIBUTE.size:
            break
        yield kind & _TYPE_MASK, data[at + _ATTRIBUTE.size : at + length]
        at += aligned(length)


def aligned(length: int) -> int:
    """The length rounded up to a multiple of four bytes, where the next message or attribute begins."""
    return (length + 3) & ~3
