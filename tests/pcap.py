"""Captures: pcap files as tcpdump writes them, read without a library so that it is a second opinion. Pure, no I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from pathlib import Path

TCP, UDP = 6, 17
LONGEST_ACK_BYTES = 100


@dataclass(frozen=True)
class Packet:
    """An IPv4 packet. `length_bytes` is that of its header and payload; `number` is TCP's sequence number,
    `datagram` what was kept of UDP's payload, `ecn` the two bits of RFC 3168, section 5: 3 is CE.
    """

    time_s: float
    source: IPv4Address
    destination: IPv4Address
    protocol: int
    length_bytes: int
    identification: int
    source_port: int
    destination_port: int
    number: int
    datagram: bytes = b""
    ecn: int = 0

    def is_data(self, source: str) -> bool:
        """Whether it is what a periodic loss counts, sent by `source`."""
        is_long = self.protocol == TCP and self.length_bytes > LONGEST_ACK_BYTES
        return self.source == ip_address(source) and (is_long or self.protocol == UDP)


def packets(path: Path) -> Iterator[Packet]:
    """Every IPv4 packet with ports, in the order of the file."""
    data = path.read_bytes()
    unit_s = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}[struct.unpack_from("=I", data)[0]]
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from("=IIII", data, at)
        frame = data[at + 16 : at + 16 + kept]
        at += 16 + kept
        if frame[12:14] == b"\x08\x00" and frame[23] in (TCP, UDP):
            yield _packet(seconds + fraction * unit_s, frame[14:])


def _packet(time_s: float, ip: bytes) -> Packet:
    length, identification = struct.unpack_from("!HH", ip, 2)
    ports = (ip[0] & 15) * 4
    source_port, destination_port, number = struct.unpack_from("!HHI", ip, ports)
    return Packet(
        time_s,
        IPv4Address(ip[12:16]),
        IPv4Address(ip[16:20]),
        ip[9],
        length,
        identification,
        source_port,
        destination_port,
        number,
        ip[ports + 8 :] if ip[9] == UDP else b"",
        ip[1] & 3,
    )
