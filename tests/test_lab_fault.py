"""Faults of links in the lab kernel, counted once more in captures before and after them, and against closed forms."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pcap import TCP, Packet, packets
from trials import Ran, adding, make_trial

from testbed.plan.link import ruleset
from testbed.trial.orders.sequence import orders
from testbed.trial.result import FaultResult, StageResult

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

CAPTURE = [{"at": "path", "snaplen": "2000 B"}]
A, B = "10.0.0.1", "10.0.0.2"
UDP = {"tool": "udp", "rate": "20 Mbit/s", "duration": "2 s"}
DATAGRAM_BITS = 1400 * 8


def stage(ran: Ran, way: str = "forward") -> StageResult:
    return next(each for each in ran.result.stages if each.way == way)


def fault(ran: Ran, key: str, way: str = "forward") -> FaultResult:
    (found,) = [each for each in stage(ran, way).faults if each.fault == key]
    return found


def seen(ran: Ran, device: str, source: str = A) -> list[Packet]:
    return [packet for packet in packets(ran.folder / f"path-{device}.pcap") if packet.is_data(source)]


def identities(found: list[Packet]) -> list[tuple[int, int, bytes]]:
    """What tells packets apart: TCP's by the identification of IP, datagrams by the number and time that they have."""
    return [(each.identification, each.number, each.datagram[:16]) for each in found]


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize("workload", [{"duration": "1 s"}, UDP])
def test_exactly_one_data_packet_in_x_comes_twice(run_trial: RunTrial, nic: str, workload: dict[str, Any]) -> None:
    """Failure: another packet comes twice, or not twice, or any packet overtakes another or comes between the two."""
    asked = {"forward": {"every": 50, "phase": 7}}
    ran = run_trial(path={"duplicate": asked, "buffer": "4 MB"}, workload=workload, nic=nic, capture=CAPTURE)
    before, after = (identities(seen(ran, device)) for device in ("wire1", "end1"))
    doubled = [each for each, times in Counter(after).items() if times == 2]
    assert doubled == before[50 - 1 - 7 :: 50]
    assert after == [each for number, each in enumerate(before) for _ in range(2 if number % 50 == 42 else 1)]
    assert fault(ran, "duplicate").met == len(doubled) == (len(before) + 7) // 50 > 10
    assert ran.result.verdict == "valid", ran.result.warnings


def test_tcp_sees_no_reordering_in_what_comes_twice(run_trial: RunTrial) -> None:
    """Failure: TCP sends a segment again, or its sender counts reordering, though no packet was lost or overtaken."""
    path = {"duplicate": {"forward": "1 in 50"}, "buffer": "100 MB"}
    ran = run_trial(path=path, workload={"duration": "10 s"}, capture=CAPTURE)
    before, after = (len(seen(ran, device)) for device in ("wire1", "end1"))
    assert after - before == before // 50 == fault(ran, "duplicate").met > 1000
    (flow,) = ran.result.flows
    told = [line.split() for line in (ran.folder / "netstat-a-after.txt").read_text().splitlines()]
    counted = {name: int(value) for names, values in pairwise(told) if names[0] == values[0] == "TcpExt:"
               for name, value in zip(names[1:], values[1:], strict=True)}  # fmt: skip
    assert (flow.retransmits, counted["TCPSACKReorder"]) == (0, 0)
    assert counted["TCPDSACKRecv"] > before // 100
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize(
    "path",
    [
        {"policer": {"rate": "5 Mbit/s", "burst": "20 kB"}},
        {"rate": "5 Mbit/s", "queue": {"forward": "pie"}, "buffer": "20 packets"},
    ],
    ids=["policer", "pie"],
)
def test_what_others_drop_is_not_missed_by_faults(run_trial: RunTrial, path: dict[str, Any]) -> None:
    faults = {"reorder": {"forward": {"random": "1 %", "by": "2 ms"}}, "corrupt": {"forward": {"random": "2 %"}}}
    ran = run_trial(path={"rate": "100 Mbit/s", **path, **faults}, workload=UDP)
    assert ran.result.verdict == "valid", ran.result.warnings
    assert fault(ran, "reorder").met > 0 < fault(ran, "corrupt").met


def test_receivers_tell_of_what_came_twice(run_trial: RunTrial) -> None:
    ran = run_trial(path={"duplicate": {"forward": "1 in 20"}}, workload=UDP)
    assert ran.udp.duplicates == fault(ran, "duplicate").met == ran.udp.sent_datagrams // 20
    assert (ran.udp.lost_datagrams, ran.udp.arrived_datagrams) == (0, ran.udp.sent_datagrams)
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize("ip", ["4", "6"])
@pytest.mark.parametrize("workload", [{"duration": "1 s"}, UDP])
def test_receivers_find_every_damaged_packet(run_trial: RunTrial, ip: str, workload: dict[str, Any]) -> None:
    ran = run_trial(path={"corrupt": {"forward": "1 in 50"}}, workload=workload, ip=ip)
    met = fault(ran, "corrupt")
    assert met.met == met.packets // 50 > 10
    assert checksum_errors(ran) == met.met
    assert ran.result.verdict == "valid", ran.result.warnings


def checksum_errors(ran: Ran) -> int:
    files = [ran.folder / f"checksums{version}-b-after.txt" for version in ("", "6")]
    text = "".join(file.read_text() for file in files if file.exists())
    rows = [line.split() for line in text.splitlines()]
    pairs = {tuple(row) for row in rows if row[0] == "Udp6InCsumErrors"}
    found = sum(int(value) for _, value in pairs)
    for names, values in pairwise(rows):
        if names[0] in ("Tcp:", "Udp:") and values[0] == names[0] and "InCsumErrors" in names:
            found += int(values[names.index("InCsumErrors")])
    return found


def test_a_damaged_packet_has_one_wrong_bit(run_trial: RunTrial) -> None:
    path = {"corrupt": {"forward": "1 in 50"}, "buffer": "4 MB"}
    ran = run_trial(path=path, workload={"duration": "500 ms"}, capture=CAPTURE)
    wrong = [number for number, ip in enumerate(data(ran.folder / "path-end1.pcap")) if not is_right(ip)]
    assert wrong == list(range(49, len(seen(ran, "end1")), 50))
    whole = list(zip(data(ran.folder / "path-wire1.pcap"), data(ran.folder / "path-end1.pcap"), strict=True))
    differences = [int.from_bytes(one, "big") ^ int.from_bytes(other, "big") for one, other in whole]
    assert [each.bit_count() for each in differences] == [number % 50 == 49 for number in range(len(whole))]


def data(path: Path) -> Iterator[bytes]:
    """The data packets of TCP that A sent, from the header of IP on."""
    content, at = path.read_bytes(), 24
    while at + 16 <= len(content):
        (kept,) = struct.unpack_from("=I", content, at + 8)
        frame, at = content[at + 16 : at + 16 + kept], at + 16 + kept
        if frame[12:14] == b"\x08\x00" and frame[23] == TCP and frame[26:30] == bytes([10, 0, 0, 1]) and kept > 114:
            yield frame[14 : 14 + struct.unpack_from("!H", frame, 16)[0]]


def is_right(ip: bytes) -> bool:
    """RFC 9293, 3.1: the ones' complement sum over pseudo header and segment."""
    segment = ip[20:] + bytes(len(ip) % 2)
    total = sum(struct.unpack(f"!{len(segment) // 2}H", segment)) + sum(struct.unpack("!4H", ip[12:20]))
    total += TCP + len(ip) - 20
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


@pytest.mark.parametrize("ip", ["4", "6"])
def test_exactly_one_acknowledgement_in_x_is_lost_and_no_data(run_trial: RunTrial, ip: str) -> None:
    ran = run_trial(path={"ack_loss": "1 in 10"}, workload={"duration": "1 s"}, ip=ip, capture=CAPTURE)
    lost = fault(ran, "ack_loss", "backward")
    assert not stage(ran).faults
    assert lost.met == lost.packets // 10 > 10
    if ip == "4":
        came, left = (acks(ran.folder / f"path-{device}.pcap") for device in ("wire0", "end0"))
        assert (came, left) == (lost.packets, lost.packets - lost.met)
    assert ran.result.verdict == "valid", ran.result.warnings


def acks(path: Path) -> int:
    """The segments of B without data, of which only the last of FIN, SYN, RST and ACK is set."""
    content, at, found = path.read_bytes(), 24, 0
    while at + 16 <= len(content):
        (kept,) = struct.unpack_from("=I", content, at + 8)
        frame, at = content[at + 16 : at + 16 + kept], at + 16 + kept
        if frame[12:14] == b"\x08\x00" and frame[23] == TCP and frame[26:30] == bytes([10, 0, 0, 2]):
            (length,) = struct.unpack_from("!H", frame, 16)
            found += length == 20 + (frame[46] >> 4) * 4 and frame[47] & 0x17 == 0x10
    return found


def test_a_link_that_is_down_loses_what_it_holds_and_what_comes(run_trial: RunTrial) -> None:
    """A datagram is sent every 0.56 ms. Those of 25 ms are in the delay when it goes down, and those of 300 ms come."""
    path = {"rtt": "50 ms", "down": {"from": "500 ms", "for": "300 ms"}}
    ran = run_trial(path=path, workload=UDP, capture=CAPTURE)
    (outage,) = stage(ran).outages
    assert (outage.from_s, outage.to_s) == (pytest.approx(0.5, abs=1e-4), pytest.approx(0.8, abs=1e-4))
    every_s = DATAGRAM_BITS / 20e6
    assert ran.udp.lost_datagrams == outage.lost_packets
    assert outage.lost_packets * every_s == pytest.approx(0.325, abs=2 * every_s)
    times = [each.time_s for each in seen(ran, "end1")]
    gaps = sorted(later - one for one, later in pairwise(times))
    assert gaps[-1] == pytest.approx(0.325, abs=2 * every_s)
    assert gaps[-2] < 0.002
    assert ran.result.verdict == "valid", ran.result.warnings


def test_what_waits_in_the_buffer_of_a_link_that_goes_down_is_lost(run_trial: RunTrial) -> None:
    """Twice the rate is offered, so a buffer of 100 ms is full when the link goes down, and empty when it is up."""
    path = {"rate": "10 Mbit/s", "buffer": "125 kB", "down": {"from": "1 s", "for": "20 ms"}}
    ran = run_trial(path=path, workload=UDP, capture=CAPTURE)
    (outage,) = stage(ran).outages
    assert outage.lost_packets == pytest.approx(125_000 / 1442 + 0.025 / (DATAGRAM_BITS / 20e6), abs=4)
    assert ran.udp.lost_datagrams == outage.lost_packets + stage(ran).queue_drops
    times = [each.time_s for each in seen(ran, "end1")]
    assert max(later - one for one, later in pairwise(times)) == pytest.approx(0.025, abs=0.002)
    assert ran.result.seen.rate_bps == pytest.approx(10e6, rel=0.01)
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_packets_come_late_by_a_time(run_trial: RunTrial, nic: str) -> None:
    path = {"reorder": {"forward": {"every": 40, "by": "3 ms"}}}
    ran = run_trial(path=path, workload=UDP, nic=nic, capture=CAPTURE)
    came, left = ({key: each.time_s for key, each in zip(identities(found), found, strict=True)}
                  for found in (seen(ran, "wire1"), seen(ran, "end1")))  # fmt: skip
    late = [left[key] - time_s for key, time_s in came.items()]
    assert [each for number, each in enumerate(late) if number % 40 == 39] == pytest.approx(
        [0.003] * (len(late) // 40), abs=2e-6
    )
    assert max(each for number, each in enumerate(late) if number % 40 != 39) < 2e-6
    assert ran.udp.out_of_order_datagrams == fault(ran, "reorder").met == len(late) // 40
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize("by", [1, 3, 10])
def test_packets_come_late_by_a_number_of_packets(run_trial: RunTrial, by: int) -> None:
    """On a link that is never idle: twice its rate is offered, in full packets."""
    path = {"rate": "10 Mbit/s", "reorder": {"forward": {"every": 40, "by": f"{by} packets"}}}
    ran = run_trial(path=path, workload={**UDP, "length": "1472 B"}, capture=CAPTURE)
    order = [number for number, *_ in map(sent, seen(ran, "end1"))]
    passed = [sum(other > number for other in order[:at]) for at, number in enumerate(order)]
    assert {each for each in passed if each} == {by}
    assert sum(1 for each in passed if each) == pytest.approx(fault(ran, "reorder").met, abs=1)
    assert ran.result.verdict == "valid", ran.result.warnings


def sent(packet: Packet) -> tuple[int, ...]:
    """The number of a datagram: the first that our tool writes."""
    return struct.unpack_from("=Q", packet.datagram)


@pytest.mark.parametrize("congestion", ["cubic", "reno"])
def test_late_packets_beside_drops_of_the_queue_are_believed(run_trial: RunTrial, congestion: str) -> None:
    """Failure: what waits in the delay and the queue at the end came to the emulator and not to the fault, and is taken
    for a rule that is missing.
    """
    late = {"forward": {"every": 100, "by": "3 packets"}}
    path = {"rate": "20 Mbit/s", "rtt": "40 ms", "buffer": "0.5 bdp", "jitter": "100 us", "reorder": late}
    ran = run_trial(path=path, workload={"duration": "10 s", "congestion": congestion})
    assert stage(ran).queue_drops > 0 < fault(ran, "reorder").met
    assert fault(ran, "reorder").packets + stage(ran).queue_drops < stage(ran).data_packets  # some wait at the end
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_packets_leave_in_bursts(run_trial: RunTrial, nic: str) -> None:
    """40 Mbit/s of payload, a datagram every 0.28 ms: the first that finds no others waits 4 ms for those behind it."""
    path = {"aggregate": {"forward": {"time": "4 ms", "bytes": "32 KiB"}}}
    ran = run_trial(path=path, workload={**UDP, "rate": "40 Mbit/s"}, nic=nic, capture=CAPTURE)
    sizes, gaps = bursts(seen(ran, "end1"))
    assert min(gaps) >= 0.004
    assert max(gaps) < 0.004 + DATAGRAM_BITS / 40e6 + 2e-6
    assert max(sizes) <= 32 * 1024 + 1442
    assert ran.udp.lost_datagrams == 0
    assert ran.result.verdict == "valid", ran.result.warnings


def test_bursts_are_no_larger_than_asked(run_trial: RunTrial) -> None:
    """More comes than the bursts carry: each has the packets of which the last makes it full, every 4 ms."""
    path = {"aggregate": {"forward": {"time": "4 ms", "bytes": "10 kB"}}}
    ran = run_trial(path=path, workload={**UDP, "rate": "40 Mbit/s", "duration": "1 s"}, capture=CAPTURE)
    sizes, gaps = bursts(seen(ran, "end1"))
    assert Counter(sizes[1:-1]).most_common(1)[0][0] == 7 * 1442
    assert max(sizes) == 7 * 1442
    assert gaps[1:-1] == pytest.approx([0.004] * len(gaps[1:-1]), abs=2e-6)


def bursts(found: list[Packet]) -> tuple[list[int], list[float]]:
    """The bytes of frames of each burst, and the times from one to the next."""
    sizes, starts = [0], [found[0].time_s]
    for one, later in pairwise([found[0], *found]):
        if later.time_s - one.time_s > 0.0005:
            sizes.append(0)
            starts.append(later.time_s)
        sizes[-1] += later.length_bytes + 14
    return sizes, [later - one for one, later in pairwise(starts)]


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("duplicate", {"random": "3 %"}),
        ("corrupt", {"random": "3 %"}),
        ("ack_loss", {"random": "3 %"}),
        ("reorder", {"random": "3 %", "by": "100 us"}),
    ],
)
def test_a_share_meets_as_many_as_chance_does(run_trial: RunTrial, key: str, asked: Any) -> None:
    ran = run_trial(path={key: asked}, workload={"duration": "2 s"})
    met = fault(ran, key, "backward" if key == "ack_loss" else "forward")
    assert met.packets > 500
    sigma = (met.packets * 0.03 * 0.97) ** 0.5
    assert abs(met.met - 0.03 * met.packets) < 5 * sigma
    assert ran.result.verdict == "valid", ran.result.warnings


def test_faults_change_with_a_schedule(run_trial: RunTrial) -> None:
    schedule = [
        {"at": "500 ms", "duplicate": {"forward": "1 in 10"}},
        {"at": "1 s", "duplicate": {"forward": "none"}, "reorder": {"forward": {"every": 20, "by": "1 ms"}}},
        {"at": "1200 ms", "for": "100 ms", "down": True},
        {"at": "1500 ms", "reorder": {"forward": {"every": 20, "by": "2 ms"}}},
    ]
    ran = run_trial(path={"schedule": schedule}, workload=UDP, samples={"interval": "20 ms"})
    told = [(each.fault, each.from_s, each.packets // (10 if each.fault == "duplicate" else 20) == each.met)
            for each in stage(ran).faults]  # fmt: skip
    assert told == [("duplicate", 0.5, True), ("reorder", 1.0, True), ("reorder", 1.5, True)]
    assert all(each.met > 5 for each in stage(ran).faults)
    (outage,) = stage(ran).outages
    assert outage.lost_packets > 100
    assert ran.result.verdict == "valid", ran.result.warnings


def test_a_fault_that_meets_nothing_is_noted(run_trial: RunTrial) -> None:
    ran = run_trial(path={"duplicate": {"forward": "1 in 1000000"}}, workload={"duration": "200 ms"})
    assert fault(ran, "duplicate").met == fault(ran, "duplicate").expected == 0
    assert ran.findings["duplicate"] == ran.result.verdict == "valid"
    assert "it met none of the" in "".join(ran.result.warnings)


@pytest.mark.parametrize("switched", [(), (True,), (True, False)])
def test_a_link_can_be_taken_down_by_hand(run_trial: RunTrial, switched: tuple[bool, ...]) -> None:
    """The commands for a network that stands. Here nobody asked for them, so the gate must notice."""
    emulator = orders(make_trial(path={"down": "by hand"})).plan.emulator("path")
    assert emulator is not None
    words = [command.words for n, is_down in enumerate(switched, 1)
             for command in ruleset.switch(emulator, n, is_down=is_down)]  # fmt: skip
    added = [{"run": ["nft", *each], "netns": emulator.netns} for each in words]
    tamper = adding("background=observer", *added)
    ran = run_trial(path={"down": "by hand"}, workload={"tool": "ping", "count": 5}, tamper=tamper)
    assert (ran.ping.received, ran.result.verdict) == (
        0 if switched == (True,) else 5,
        "invalid" if switched else "valid",
    )
    assert not stage(ran).outages


def test_what_faults_meet_is_sampled_over_time(run_trial: RunTrial) -> None:
    """Failure: a fault has no samples, they fall, or they do not rise to what the trial counted."""
    path = {
        "corrupt": {"forward": "1 in 50"},
        "duplicate": {"forward": "1 in 60"},
        "reorder": {"forward": {"every": 70, "by": "1 ms"}},
        "down": {"from": "500 ms", "for": "100 ms"},
    }
    ran = run_trial(path=path, workload={**UDP, "duration": "1 s"})
    assert ran.result.verdict == "valid", ran.result.warnings
    rows = [row for row in pq.read_table(ran.folder / "faults.parquet").to_pylist() if row["way"] == "forward"]
    for key in ("corrupt", "duplicate", "reorder", "down"):
        mine = [(row["packets"], row["met"]) for row in rows if row["fault"] == key]
        assert len(mine) >= 9, key
        assert mine == sorted(mine)
        met = stage(ran).outages[0].lost_packets if key == "down" else fault(ran, key).met
        assert 0 < mine[-1][1] <= met
    lost = [(row["time_s"], row["met"]) for row in rows if row["fault"] == "down"]
    assert max(met for time_s, met in lost if time_s < 0.5) == 0
