"""Captures: our reader against frames that scapy made and wrote."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet as Frame
from scapy.packet import Raw
from scapy.utils import wrpcap

from testbed.trial.observe.pcap import FILE_BYTES, Stream, data_of, packets
from testbed.trial.result import CaptureResult

A, B = "10.0.0.1", "10.0.0.2"
A6, B6 = "fd54:42::1", "fd54:42::2"
ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")  # else scapy asks the network for the neighbour's
HTTP = Stream(ip_address(A), ip_address(B), 6, (1000, 1999), (80, 80))


def written(tmp_path: Path, *frames: Frame) -> bytes:
    for number, frame in enumerate(frames):
        frame.time = 100 + number / 4
    path = tmp_path / "frames.pcap"
    wrpcap(str(path), list(frames), linktype=1)
    return path.read_bytes()


@pytest.mark.parametrize("payload", [0, 1, 1448])
@pytest.mark.parametrize("tag", [(), (Dot1Q(vlan=10),)], ids=["untagged", "tagged"])
@pytest.mark.parametrize("network", [IP(src=A, dst=B), IPv6(src=A6, dst=B6)], ids=["4", "6"])
@pytest.mark.parametrize(
    "transport",
    [
        TCP(sport=1000, dport=80, seq=7),
        TCP(sport=1000, dport=80, seq=7, options=[("Timestamp", (1, 2))]),
        UDP(sport=1000, dport=80),
    ],
    ids=["tcp", "timestamps", "udp"],
)
def test_a_packet_is_read_as_scapy_wrote_it(
    tmp_path: Path, network: Frame, tag: tuple[Frame, ...], transport: Frame, payload: int
) -> None:
    frame = ETHER
    for layer in (*tag, network, transport, Raw(b"x" * payload)):
        frame = frame / layer
    (found,) = packets(written(tmp_path, frame))
    assert (found.source_port, found.destination_port, found.payload_bytes) == (1000, 80, payload)
    assert found.protocol == (17 if isinstance(transport, UDP) else 6)
    assert {str(ip_address(found.source)), str(ip_address(found.destination))} in ({A, B}, {A6, B6})
    assert found.time_s == 100
    assert isinstance(transport, UDP) or found.number == 7


def test_what_is_no_tcp_or_udp_and_what_is_cut_short_is_passed_over(tmp_path: Path) -> None:
    whole = ETHER / IP(src=A, dst=B) / TCP(sport=1000, dport=80) / Raw(b"xyz")
    fragment = ETHER / IP(src=A, dst=B, frag=100, proto=17) / Raw(b"x" * 100)
    data = written(tmp_path, ETHER / ARP(), fragment, ETHER / IP(src=A, dst=B, proto=1) / Raw(b"x" * 50), whole)
    assert [packet.payload_bytes for packet in packets(data)] == [3]
    for end in range(FILE_BYTES, len(data)):  # as a capture that was ended in the middle of a write
        assert [packet.payload_bytes for packet in packets(data[:end])] in ([], [3])
    with pytest.raises(ValueError, match="no packet capture"):
        list(packets(b"GIF89a and more than twenty-four bytes"))


def test_the_data_of_a_stream_is_counted_and_what_came_again_apart(tmp_path: Path) -> None:
    def segment(seq: int, size: int, sport: int = 1000, **changes: str) -> Frame:
        ip = {"src": A, "dst": B} | changes
        return ETHER / IP(**ip) / TCP(sport=sport, dport=80, seq=seq) / Raw(b"x" * size)

    frames = (
        segment(1, 100),
        segment(101, 50),
        segment(151, 0),  # carries no data
        segment(101, 50),  # again
        segment(101, 60, sport=1001),  # another connection
        segment(1, 1000, sport=2000),  # another stream
        segment(1, 1000, src=B, dst=A),
        segment(201, 10),
    )
    assert data_of(written(tmp_path, *frames), HTTP) == CaptureResult(5, 270, 1, 50, 100, 7 / 4)
    assert data_of(written(tmp_path, segment(151, 0)), HTTP) == CaptureResult(0, 0, 0, 0, None, None)
