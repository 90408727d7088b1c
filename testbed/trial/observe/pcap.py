"""Reads the TCP and UDP packets of a capture by tcpdump. Pure, no I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple, TypeAlias

from ...codec.frozen import dataclass
from ..result import CaptureResult

Ip: TypeAlias = IPv4Address | IPv6Address

TCP, UDP = 6, 17
ETHERNET_BYTES, TAG_BYTES, UDP_BYTES = 14, 4, 8
TAGGED, IPV4, IPV6 = b"\x81\x00", b"\x08\x00", b"\x86\xdd"
FILE_BYTES, RECORD_BYTES = 24, 16

_MAGIC = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}
_RECORD, _FILE = struct.Struct("=IIII"), struct.Struct("=I")
_IPV4, _PORTS = struct.Struct("!2xH2xHxB2x4s4s"), struct.Struct("!HHI")
_IPV6 = struct.Struct("!4xHBx16s16s")


class Packet(NamedTuple):
    """A whole TCP or UDP packet. Addresses are as in the packet; `payload_bytes` is the payload of TCP or UDP.

    `number` is TCP's sequence number, and meaningless for UDP.
    """

    time_s: float
    source: bytes
    destination: bytes
    protocol: int
    source_port: int
    destination_port: int
    number: int
    payload_bytes: int


def packets(data: bytes) -> Iterator[Packet]:
    """Every packet whose headers were kept, in the order of the file. Skips all fragments but the first: they have no
    ports. Raises ValueError if the data is no capture of this computer's byte order.
    """
    unit_s = _MAGIC.get(_FILE.unpack_from(data)[0]) if len(data) >= FILE_BYTES else None
    if unit_s is None:
        raise ValueError("this is no packet capture")
    at = FILE_BYTES
    while at + RECORD_BYTES <= len(data):
        seconds, fraction, kept, _ = _RECORD.unpack_from(data, at)
        at += RECORD_BYTES
        found = _packet(seconds + fraction * unit_s, data, at, min(at + kept, len(data)))
        at += kept
        if found is not None:
            yield found


def _packet(time_s: float, data: bytes, at: int, end: int) -> Packet | None:
    at += ETHERNET_BYTES
    while data[at - 2 : at] == TAGGED:
        at += TAG_BYTES
    kind = data[at - 2 : at]
    if kind == IPV4 and at + 20 <= end:
        length, fragment, protocol, source, destination = _IPV4.unpack_from(data, at)
        header = (data[at] & 15) * 4
        if fragment & 0x1FFF:
            return None
    elif kind == IPV6 and at + 40 <= end:
        length, protocol, source, destination = _IPV6.unpack_from(data, at)
        header = 40
        length += header
    else:
        return None
    ports = at + header
    if protocol not in (TCP, UDP) or ports + (13 if protocol == TCP else UDP_BYTES) > end:
        return None
    source_port, destination_port, number = _PORTS.unpack_from(data, ports)
    header += (data[ports + 12] >> 4) * 4 if protocol == TCP else UDP_BYTES
    return Packet(time_s, source, destination, protocol, source_port, destination_port, number, length - header)


@dataclass(frozen=True)
class Stream:
    """The packets that count: from one address to another, with ports in these ranges (both ends included)."""

    source: Ip
    destination: Ip
    protocol: int
    source_ports: tuple[int, int]
    destination_ports: tuple[int, int]

    def matches(self, packet: Packet) -> bool:
        return (
            packet.protocol == self.protocol
            and packet.source == self.source.packed
            and packet.destination == self.destination.packed
            and self.source_ports[0] <= packet.source_port <= self.source_ports[1]
            and self.destination_ports[0] <= packet.destination_port <= self.destination_ports[1]
        )


def data_of(data: bytes, stream: Stream) -> CaptureResult:
    """What a capture shows of a stream. Raises ValueError if the data is no capture."""
    found = [packet for packet in packets(data) if packet.payload_bytes > 0 and stream.matches(packet)]
    begun: set[tuple[int, int, int]] = set()
    again = []
    for packet in found if stream.protocol == TCP else ():
        where = (packet.source_port, packet.destination_port, packet.number)
        again += [packet.payload_bytes] if where in begun else []
        begun.add(where)
    return CaptureResult(
        packets=len(found),
        payload_bytes=sum(packet.payload_bytes for packet in found),
        again_packets=len(again),
        again_bytes=sum(again),
        largest_bytes=max((packet.payload_bytes for packet in found), default=None),
        span_s=found[-1].time_s - found[0].time_s if found else None,
    )
