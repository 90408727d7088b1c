"""Captures in a running network: one file for several points, which other programs read."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from interactive import Home

from testbed import process
from testbed.interactive import pcapng, tapping

ROUTED = """
name: routed
nodes: {a: {type: host}, r: {type: router}, b: {type: host}}
links:
  left: {ends: [a, r], rtt: 10 ms}
  right: {ends: [r, b], rtt: 20 ms}
"""


def tcpdumps(records: list[pcapng.Record], magic: int = 0xA1B23C4D) -> bytes:
    """A file as tcpdump writes it."""
    unit_ns = pcapng.UNITS_NS[magic]
    head = struct.pack("=IHHiIII", magic, 2, 4, 0, 0, 262144, 1)
    rows = (
        struct.pack("=IIII", each.time_ns // 10**9, each.time_ns % 10**9 // unit_ns, len(each.data), each.length)
        + each.data
        for each in records
    )
    return head + b"".join(rows)


RECORDS = [pcapng.Record(1_700_000_000_123_456_789 + n, 60 + n, bytes(range(n))) for n in range(14, 60)]


@pytest.mark.parametrize("step", [1, 7, 24, 100_000])
def test_what_tcpdump_writes_is_read_in_whatever_pieces_it_comes(step: int) -> None:
    data, reading = tcpdumps(RECORDS), pcapng.Reading()
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    assert [record for piece in pieces for record in reading.feed(piece)] == RECORDS
    assert (reading.link_type, reading.snaplen) == (1, 262144)


def test_microseconds_are_read_as_such_and_no_capture_is_none() -> None:
    (found,) = pcapng.Reading().feed(tcpdumps([pcapng.Record(5_000_007_000, 1, b"x")], 0xA1B2C3D4))
    assert found.time_ns == 5_000_007_000
    with pytest.raises(ValueError, match="no packet capture"):
        [*pcapng.Reading().feed(b"tcpdump: eth9: No such device exists")]


def test_a_packet_that_no_tcpdump_keeps_is_not_waited_for() -> None:
    """Its length could be 4 GiB, and whoever is root in a guest can send them."""
    head = tcpdumps([])
    with pytest.raises(ValueError, match="a packet of 262145 bytes is none"):
        [*pcapng.Reading().feed(head + struct.pack("=IIII", 0, 0, 262145, 262145))]
    assert [*pcapng.Reading().feed(head + struct.pack("=IIII", 0, 0, 262144, 262144))] == []


ENDLESS = """
import os, struct, sys
os.write(2, b"listening on eth0" + b"x" * (1 << 18))
os.write(1, {head!r})
while True:
    os.write(1, struct.pack("=IIII", 7, 0, 60, 60) + bytes(60))
"""


def test_packets_that_all_have_one_time_are_written_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the newest would wait for ever, and fill the memory."""
    script = ENDLESS.format(head=tcpdumps([]))
    point, written = tapping.Point("a", "eth0", None), []
    monkeypatch.setattr(tapping, "WAITING_BYTES", 1 << 10)
    monkeypatch.setattr(
        tapping.Tap,
        "_started",
        lambda *_: process.start((sys.executable, "-c", script), stdout=process.PIPE, stderr=process.PIPE),
    )

    def write(data: bytes) -> None:
        written.append(data)
        if len(written) == 1:
            raise KeyboardInterrupt

    with tapping.Tap(None, [point], ()) as tap:  # type: ignore[arg-type]
        tap.begin()
        tap.copy(write, None)
        assert len(tap._said[0]) <= 2 * tapping.SAID_BYTES
    assert written


def test_another_program_reads_names_times_and_lengths(tmp_path: Path) -> None:
    scapy = pytest.importorskip("scapy.utils")
    names = ["a:left", "s1:trunk-ü"]
    packets = [(n % 2, record) for n, record in enumerate(RECORDS)]
    file = tmp_path / "x.pcapng"
    file.write_bytes(pcapng.head((name, 1, 262144) for name in names) + b"".join(pcapng.packet(*p) for p in packets))
    with scapy.RawPcapNgReader(str(file)) as reader:
        found = [(data, about) for data, about in reader]
    assert [data for data, _ in found] == [record.data for _, record in packets]
    assert [about.ifname.decode() for _, about in found] == [names[number] for number, _ in packets]
    assert [(about.tshigh << 32) + about.tslow for _, about in found] == [record.time_ns for _, record in packets]
    assert [about.wirelen for _, about in found] == [record.length for _, record in packets]
    assert {about.tsresol for _, about in found} == {10**9}
    if shutil.which("capinfos"):
        said = subprocess.run(("capinfos", "-cI", file), capture_output=True, text=True, check=True).stdout
        assert "pcapng" in subprocess.run(("capinfos", "-t", file), capture_output=True, text=True, check=True).stdout
        assert all(name in said for name in names)


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Home]:
    home = Home.at(tmp_path)
    (tmp_path / "routed.yaml").write_text(ROUTED)
    home.says("up", tmp_path / "routed.yaml", "--kernel", "lab-realtime")
    yield home
    home.clean()


@pytest.mark.lab
@pytest.mark.slow
def test_one_file_shows_a_ping_at_three_points_in_the_order_of_its_way(net: Home) -> None:
    """Three pings cross three devices there and back: 18 packets. The first link takes 5 ms in each direction."""
    scapy = pytest.importorskip("scapy.utils")
    file = net.folder / "way.pcapng"
    words = net.words("capture", "a:left", "r", "-w", str(file), "-c", "18", "--filter", "icmp")
    with subprocess.Popen(words, env=net.env, cwd=net.folder, stderr=subprocess.PIPE, text=True) as capturing:
        assert capturing.stderr is not None
        assert "capturing at a:left, r:left, r:right" in capturing.stderr.readline()
        net.says("exec", "a", "--", "ping", "-c", "3", "-i", "0.2", "b")
        assert "18 packets, 0 missed" in capturing.stderr.read()
    assert capturing.returncode == 0
    way: dict[tuple[int, int], list[tuple[int, str]]] = {}
    with scapy.RawPcapNgReader(str(file)) as reader:
        for data, about in reader:
            kind, number = data[34], int.from_bytes(data[40:42], "big")
            way.setdefault((kind, number), []).append(((about.tshigh << 32) + about.tslow, about.ifname.decode()))
    asked, answered = ["a:left", "r:left", "r:right"], ["r:right", "r:left", "a:left"]
    assert set(way) == {(kind, number) for kind in (8, 0) for number in (1, 2, 3)}
    for (kind, _), seen in way.items():
        assert [name for _, name in sorted(seen)] == (asked if kind == 8 else answered)
        times = [time for time, _ in sorted(seen)]
        first, last = (times[0], times[1]) if kind == 8 else (times[1], times[2])
        assert last - first >= 5_000_000, "the link is never faster than asked"
    for words, says in (
        (("a:right", "-w", "x"), "has no link 'right'; allowed: a:left"),
        (("nobody", "-w", "x"), "nobody"),
        (("a", "-w", str(file)), "exists; allowed: a new file"),
        (("a", "-w", "x", "--wireshark"), "at the same time"),
        (("a", "-w", "x", "--filter", "icmp and ("), "no capture at a:left: "),
    ):
        done = net.run("capture", *words)
        assert done.returncode == 2, done.stderr.decode()
        assert says in done.stderr.decode()
    assert not (net.folder / "x").exists(), "a capture that did not begin leaves no file"
