"""Samples and read-back: records made by hand, and those of a real trial (`record.py` made them)."""

from __future__ import annotations

import socket
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record import DATA, sources

from testbed.plan.link.impairment import NETEM_LIMIT
from testbed.trial.observe import netlink, tcp_info
from testbed.trial.observe.readback import qdiscs
from testbed.trial.observe.sample import (
    Query,
    TcpSample,
    TcpSecond,
    device_drops,
    device_numbers,
    queue_samples,
    received_series,
    tcp_samples,
)

SOURCES = (Query("tcp", "tb-a"), Query("qdisc", "tb-e"), Query("link", "tb-e"))
SAMPLES, READ_BACK = ((DATA / name).read_bytes() for name in ("samples.bin", "read-back.bin"))
SAMPLED, OBSERVED = sources("samples.bin"), sources("read-back.bin")


def attribute(kind: int, payload: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def message(body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), 1, 0, 0, 0) + body + bytes(-len(body) % 4)


def record(time_ns: int, source: int, *bodies: bytes) -> bytes:
    messages = b"".join(map(message, bodies))
    return struct.pack("=QII", time_ns, source, len(messages)) + messages


def tcp_body(family: int = socket.AF_INET, near: str = "10.0.0.1", far: str = "10.0.0.2") -> bytes:
    body = bytearray(72)
    body[0] = family
    struct.pack_into("!HH", body, 4, 40000, 5001)
    body[8 : 8 + len(socket.inet_pton(family, near))] = socket.inet_pton(family, near)
    body[24 : 24 + len(socket.inet_pton(family, far))] = socket.inet_pton(family, far)
    info = bytearray(104)
    info[0] = 1
    return bytes(body) + attribute(4, b"cubic\0") + attribute(2, bytes(info))


def queue_body(packets64: int | None = None) -> bytes:
    stats = attribute(1, struct.pack("=QI", 3_000_000, 2000)) + attribute(3, struct.pack("=IIIII", 7, 10_598, 5, 0, 0))
    stats += attribute(8, struct.pack("=Q", packets64)) if packets64 is not None else b""
    head = struct.pack("=BBHiIII", 0, 0, 0, 6, 0x0002_0000, 0xFFFF_FFFF, 1)
    return head + attribute(1, b"tbf\0") + attribute(7 | 0x8000, stats)


def link_body(number: int, name: bytes, *, lost_in: int = 0, lost_out: int = 0) -> bytes:
    counters = struct.pack("=8Q", 1, 2, 3, 4, 5, 6, lost_in, lost_out)
    return struct.pack("=BBHiII", 0, 0, 0, number, 0, 0) + attribute(3, name) + attribute(23, counters)


def test_a_socket_has_its_ends_its_congestion_control_and_its_info() -> None:
    (found,) = tcp_samples(record(5, 0, tcp_body()), SOURCES)
    assert (found.time_ns, found.netns, found.congestion) == (5, "tb-a", "cubic")
    assert (found.source, found.source_port) == ("10.0.0.1", 40000)
    assert (found.destination, found.destination_port) == ("10.0.0.2", 5001)
    assert found.info["state"] == 1
    assert found.info["snd_wnd_bytes"] is None


def test_a_socket_of_ipv6_has_its_long_addresses() -> None:
    (found,) = tcp_samples(record(5, 0, tcp_body(socket.AF_INET6, "fd00::1", "fd00::2")), SOURCES)
    assert (found.source, found.destination) == ("fd00::1", "fd00::2")


@pytest.mark.parametrize(("packets64", "packets"), [(None, 2000), (2**32 + 2000, 2**32 + 2000)])
def test_a_queue_counts_beyond_32_bits_where_the_kernel_does(packets64: int | None, packets: int) -> None:
    (found,) = queue_samples(record(9, 1, queue_body(packets64)), SOURCES)
    assert (found.time_ns, found.netns, found.device, found.handle, found.kind) == (9, "tb-e", 6, "2:", "tbf")
    assert (found.bytes, found.packets, found.drops) == (3_000_000, packets, 5)
    assert (found.backlog_bytes, found.backlog_packets) == (10_598, 7)


def test_devices_have_numbers_names_and_losses() -> None:
    data = record(0, 2, link_body(1, b"lo\0"), link_body(6, b"wire0\0", lost_in=2, lost_out=3))
    assert device_numbers(data, SOURCES) == {("tb-e", 1): "lo", ("tb-e", 6): "wire0"}
    assert device_drops(data, SOURCES) == {("tb-e", "lo"): 0, ("tb-e", "wire0"): 5}


def test_each_record_goes_to_the_reader_of_its_kind() -> None:
    data = record(1, 1, queue_body()) + record(2, 0, tcp_body(), tcp_body()) + record(3, 2, link_body(1, b"lo\0"))
    assert [sample.time_ns for sample in tcp_samples(data, SOURCES)] == [2, 2]
    assert [sample.time_ns for sample in queue_samples(data, SOURCES)] == [1]


@given(st.integers(0, len(SAMPLES)))
def test_what_was_cut_off_is_left_out_and_the_rest_stays(length: int) -> None:
    whole = list(netlink.records(SAMPLES))
    assert list(netlink.records(SAMPLES[:length])) == whole[: len(list(netlink.records(SAMPLES[:length])))]
    sockets = list(tcp_samples(SAMPLES[:length], SAMPLED))
    assert sockets == list(tcp_samples(SAMPLES, SAMPLED))[: len(sockets)]


@given(st.binary(max_size=200))
def test_any_attributes_can_be_read(data: bytes) -> None:
    assert all(len(payload) <= len(data) for payload in netlink.attributes(data).values())


def test_a_real_trial_has_both_ends_of_each_flow_at_each_time() -> None:
    found = list(tcp_samples(SAMPLES, SAMPLED))
    times = sorted({sample.time_ns // 10**6 for sample in found})
    assert len(times) == 4  # at the start, after 100 and 200 ms, and when the flows had stopped
    assert sum(sample.time_ns // 10**6 in times[:-1] for sample in found) == 3 * 4  # then sockets go one by one
    assert {(s.netns, s.congestion) for s in found} == {(n, c) for n in ("tb-a", "tb-b") for c in ("cubic", "bbr")}
    for sender in (s for s in found if s.netns == "tb-a"):
        assert sender.destination_port in (5001, 5002)
        assert sender.info["min_rtt_s"] == pytest.approx(0.01, abs=10e-6)
        assert sender.info["snd_mss_bytes"] == 1448


def test_a_real_receiver_never_has_more_than_was_sent() -> None:
    found = list(tcp_samples(SAMPLES, SAMPLED))
    before_the_end_ms = sorted({sample.time_ns // 10**6 for sample in found})[-2]
    last = {(s.netns, s.congestion): s.info for s in found if s.time_ns // 10**6 == before_the_end_ms}
    for congestion in ("cubic", "bbr"):
        sent, got = last["tb-a", congestion], last["tb-b", congestion]
        assert 0 < (got["bytes_received"] or 0) <= (sent["bytes_sent"] or 0)
        assert (sent["bytes_sent"] or 0) - (sent["bytes_retrans"] or 0) >= (got["bytes_received"] or 0)


def test_a_real_queue_keeps_to_its_limit_and_its_counters_only_grow() -> None:
    names = device_numbers(READ_BACK, OBSERVED)
    found = [s for s in queue_samples(SAMPLES, SAMPLED) if names[s.netns, s.device] == "end1"]
    buffer = [sample for sample in found if sample.handle == "3:"]
    assert buffer
    assert all(sample.backlog_packets <= 20 for sample in buffer)
    for sooner, later in pairwise(buffer):
        assert sooner.packets <= later.packets
        assert sooner.drops <= later.drops
    assert buffer[-1].drops > 0


def test_what_was_set_up_is_read_back_by_a_second_decoder() -> None:
    names = device_numbers(READ_BACK, OBSERVED)
    found = {(names[q.netns, q.device], q.handle): q for q in qdiscs(READ_BACK, OBSERVED)}
    assert found.keys() == {(d, h) for d in ("end0", "end1") for h in ("2:", "3:")} | {
        (wire, "1:") for wire in ("wire0", "wire1")
    }
    assert (found["wire0", "1:"].delay_ns, found["wire0", "1:"].limit) == (5_000_000, NETEM_LIMIT)
    assert found["end1", "2:"].rate_bps == 100_000_000
    assert found["end1", "3:"].limit == 20
    ours = {(names[q.netns, q.device], q.handle): q.kind for q in queue_samples(READ_BACK, OBSERVED)}
    assert {place: qdisc.kind for place, qdisc in found.items()} == ours


def test_no_device_of_a_real_trial_lost_a_packet_before_it_began() -> None:
    assert set(device_drops(READ_BACK, OBSERVED).values()) == {0}


def told(time_s: float, received: int, port: int = 5001, netns: str = "tb-server") -> TcpSample:
    info = dict.fromkeys(tcp_info.decode(b"")) | {"bytes_received": received}
    return TcpSample(round(time_s * 1e9), netns, "10.0.0.2", port, "10.0.0.1", 40_000, "cubic", info)


def test_a_series_has_what_arrived_in_each_whole_second() -> None:
    samples = [told(0.5, 0), told(1.5, 1000), told(2.5, 1000), told(3.5, 5000)]
    series = received_series(samples, "tb-server", {5001}, 10**9, 3_900_000_000)
    assert series == [TcpSecond(0, 500 * 8), TcpSecond(1, 2000 * 8)]


def test_a_series_adds_up_flows_and_leaves_out_other_sockets() -> None:
    mine = [told(second, 100 * second, port) for second in range(4) for port in (5001, 5002)]
    others = [told(3, 10**6, 22), told(3, 10**6, 5001, "tb-client")]
    series = received_series([*mine, *others], "tb-server", {5001, 5002}, 0, 3 * 10**9)
    assert [each.goodput_bps for each in series] == [1600, 1600, 1600]


def test_a_flow_that_is_over_keeps_what_it_had() -> None:
    series = received_series([told(0, 0), told(1, 700)], "tb-server", {5001}, 0, 3 * 10**9)
    assert [each.goodput_bps for each in series] == [5600, 0, 0]
