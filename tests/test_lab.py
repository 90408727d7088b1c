"""The lab kernel: what physics says of delay, rate, buffers and windows, and that a trial can be repeated exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pcap import packets
from trials import Ran

from testbed.trial.folder import same_files

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

FRAME_BYTES, PAYLOAD_BYTES = 1514, 1448
"""An MTU of 1500 with the Ethernet header; less the headers of Ethernet, IP and TCP with timestamps."""


@pytest.mark.parametrize("rtt_ms", [1, 10, 50, 100, 366])
def test_every_ping_takes_the_round_trip_time_that_was_asked(run_trial: RunTrial, rtt_ms: int) -> None:
    ping = {"tool": "ping", "count": 20, "interval": "10 ms"}
    found = run_trial(path={"rtt": f"{rtt_ms} ms", "rate": "10 Gbit/s"}, workload=ping).ping
    assert found.received == 20
    # ping prints microseconds; its two frames of 98 bytes take less than one at 10 Gbit/s.
    assert found.rtt_min_s == pytest.approx(rtt_ms / 1000, abs=10e-6)
    assert found.rtt_max_s == pytest.approx(rtt_ms / 1000, abs=10e-6)


def test_uneven_delays_add_up_and_serialisation_comes_on_top(run_trial: RunTrial) -> None:
    path = {"rtt": None, "delay": {"forward": "7 ms", "backward": "13 ms"}, "rate": "1 Mbit/s"}
    ping = {"tool": "ping", "count": 5, "size": "958"}
    found = run_trial(path=path, workload=ping).ping
    # A frame of 14 + 20 + 8 + 958 = 1000 bytes takes 8 ms at 1 Mbit/s, each way, unless the full bucket lets it go.
    assert 0.020 - 10e-6 <= found.rtt_min_s <= 0.036 + 10e-6


@pytest.mark.parametrize("samples", ["10 s", "none"])
def test_the_shortest_round_trip_is_not_forgotten_where_a_queue_stands_for_five_minutes(
    run_trial: RunTrial, samples: str
) -> None:
    """A socket forgets round trips of more than 300 s ago, and its queue of 120 ms never empties."""
    path = {"rate": "1 Mbit/s", "rtt": "20 ms", "buffer": "100 packets"}
    given = {"interval": samples} if samples != "none" else "none"
    ran = run_trial(path=path, workload={"window": "30 kB", "duration": "320 s"}, samples=given)
    assert ran.result.verdict == "valid", ran.result.findings
    shortest_s = ran.result.flows[0].rtt_min_s
    assert shortest_s is not None
    assert (shortest_s < 0.04) == (samples != "none")


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize(
    ("rate", "rtt", "window", "duration", "leave_out"),
    [
        ("10 Mbit/s", "20 ms", "40 kB", "6 s", "2 s"),
        ("1 Gbit/s", "10 ms", "2 MB", "1500 ms", "1 s"),
        ("10 Gbit/s", "2 ms", "4 MB", "500 ms", "300 ms"),
    ],
)
def test_a_flow_that_fills_a_lossless_path_gets_all_of_its_rate(
    run_trial: RunTrial, nic: str, rate: str, rtt: str, window: str, duration: str, leave_out: str
) -> None:
    # The window is more than one BDP and less than BDP and buffer: the path is full and nothing is dropped.
    workload = {"window": window, "duration": duration, "leave_out": leave_out}
    ran = run_trial(path={"rate": rate, "rtt": rtt, "buffer": "1 bdp"}, workload=workload, nic=nic)
    line_bps = ran.result.asked.rate_bps * PAYLOAD_BYTES / FRAME_BYTES
    # 0.1 %: the steady state begins and ends in the middle of a burst of up to 64 KiB.
    assert ran.result.goodput_bps == pytest.approx(line_bps, rel=1e-3)
    assert ran.result.seen.queue_drops == 0
    assert ran.result.verdict == "valid"
    assert ran.result.nic == {"a": nic, "b": nic}


@pytest.mark.parametrize(
    ("rate", "window", "duration"), [("25 Gbit/s", "600 kB", "750 ms"), ("100 Gbit/s", "2 MB", "300 ms")]
)
def test_many_flows_fill_a_fast_link_to_a_part_in_ten_thousand(
    run_trial: RunTrial, rate: str, window: str, duration: str
) -> None:
    """A burst of 64 KiB at either end of what counts is less than that. (With a window of 500 kB, which the link does
    not fill, some segments are shorter, and headers take 0.0125 % more.)
    """
    workload = {"window": window, "flows": 16, "duration": duration, "leave_out": "150 ms"}
    ran = run_trial(path={"rate": rate, "rtt": "2 ms", "buffer": "1 bdp"}, workload=workload)
    line_bps = ran.result.asked.rate_bps * PAYLOAD_BYTES / FRAME_BYTES
    assert ran.result.goodput_bps == pytest.approx(line_bps, rel=1e-4)
    assert ran.result.verdict == "valid", ran.result.findings


def test_a_way_back_with_another_rate_carries_that_rate(run_trial: RunTrial) -> None:
    path = {"rate": {"forward": "100 Mbit/s", "backward": "20 Mbit/s"}}
    workload = {"from": "b", "to": "a", "duration": "3 s", "leave_out": "1 s", "window": "40 kB"}
    ran = run_trial(path=path, workload=workload)
    assert ran.result.goodput_bps == pytest.approx(20e6 * PAYLOAD_BYTES / FRAME_BYTES, rel=1e-3)


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize(("buffer", "limit"), [("30 packets", 30), ("45420 B", 45420), ("1 packets", 1)])
def test_a_buffer_never_holds_more_than_its_limit(run_trial: RunTrial, nic: str, buffer: str, limit: int) -> None:
    samples = {"interval": "1 ms"}
    ran = run_trial(path={"rate": "10 Mbit/s", "buffer": buffer}, workload={"flows": 4}, nic=nic, samples=samples)
    held = "backlog_packets" if buffer.endswith("packets") else "backlog_bytes"
    most = max(row[held] for row in rows(ran, "queues") if row["way"] == "forward")
    # A token bucket takes the packet that it waits for out of a buffer in packets, and still counts it.
    assert 0 < most <= limit + (held == "backlog_packets")
    assert ran.result.seen.queue_drops > 0
    assert ran.result.verdict == "valid"


def test_the_queue_drops_whole_packets_of_the_mtu(run_trial: RunTrial) -> None:
    path = {"rate": "50 Mbit/s", "buffer": "20 packets"}
    ran = run_trial(path=path, workload={"flows": 2}, capture=[{"at": "path"}])
    lengths = [packet.length_bytes for packet in packets(ran.folder / "path-end1.pcap")]
    assert max(lengths) == FRAME_BYTES - 14
    superpackets = [packet.length_bytes for packet in packets(ran.folder / "path-end0.pcap")]
    assert max(superpackets) > FRAME_BYTES  # the sender segments late: the emulator does it
    assert ran.result.stages[0].oversize_packets == 0


@pytest.mark.parametrize("window_kib", [64, 256])
def test_a_small_window_limits_goodput_to_one_window_in_a_round_trip(run_trial: RunTrial, window_kib: int) -> None:
    path = {"rate": "1 Gbit/s", "rtt": "50 ms"}
    workload = {"window": f"{window_kib} KiB", "duration": "4 s", "leave_out": "1 s"}
    ran = run_trial(path=path, workload=workload)
    flow = ran.result.flows[0]
    assert flow.rcvbuf_bytes == flow.sndbuf_bytes == 2 * window_kib * 1024
    # Of the doubled buffer the kernel keeps what its packets cost beyond their payload: with full packets a third.
    assert window_kib * 1024 <= flow.snd_wnd_bytes <= 2 * window_kib * 1024
    # Whole segments only, and the last of a window waits for the others: 3 %.
    assert ran.result.goodput_bps * 0.05 / 8 == pytest.approx(flow.snd_wnd_bytes, rel=0.03)
    assert ran.result.verdict == "valid"


def test_samples_tell_of_both_ends_at_the_asked_interval(run_trial: RunTrial) -> None:
    ran = run_trial(samples={"interval": "50 ms"}, workload={"flows": 2, "congestion": ["cubic", "bbr"]})
    senders = [row for row in rows(ran, "samples") if row["netns"] == "tb-a" and row["time_s"] > 0]
    assert {row["congestion"] for row in senders} == {"cubic", "bbr"}
    times = sorted({row["time_s"] for row in senders})
    gaps = [later - sooner for sooner, later in pairwise(times)]
    assert gaps[:-1] == pytest.approx([0.05] * (len(gaps) - 1), abs=1e-3)
    assert all(row["srtt_s"] >= 0.01 - 10e-6 for row in senders if row["srtt_s"])


PERIODIC, RANDOM = {"every": 500, "phase": "seeded"}, {"random": "0.2 %"}


@pytest.mark.parametrize("congestion", ["reno", "cubic", "htcp", "bbr", "scalable"])
@pytest.mark.parametrize("loss", [PERIODIC, RANDOM], ids=["periodic", "random"])
@pytest.mark.parametrize("flows", [1, 10])
def test_a_seed_repeats_every_byte_and_another_seed_does_not(
    run_trial: RunTrial, congestion: str, loss: dict[str, Any], flows: int
) -> None:
    workload = {"congestion": congestion, "flows": flows, "duration": "2 s"}
    first, again, other = (run_trial(path={"loss": loss}, workload=workload, seed=seed) for seed in (7, 7, 8))
    assert same_files(first.folder, again.folder) == ()
    assert "samples.parquet" in same_files(first.folder, other.folder)


def test_two_trials_at_once_share_nothing(run_trial: RunTrial) -> None:
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(run_trial, path={"loss": RANDOM}, seed=5) for _ in range(2)]
        first, second = (each.result() for each in waiting)
    assert first.folder != second.folder
    assert same_files(first.folder, second.folder) == ()


def test_flow_and_iperf3_and_a_capture_agree(run_trial: RunTrial) -> None:
    path = {"rate": "50 Mbit/s", "rtt": "10 ms"}
    capture = [{"at": "b"}]
    flow = run_trial(path=path, workload={"duration": "10 s", "window": "100 kB"}, capture=capture)
    iperf3 = run_trial(path=path, workload={"tool": "iperf3", "duration": "10 s", "window": "100 kB"})
    # 0.5 %: iperf3 counts to the end of its last 128 KiB block, flow to the last byte in order.
    assert iperf3.result.goodput_bps == pytest.approx(flow.result.goodput_bps, rel=0.005)
    seen = [p for p in packets(flow.folder / "b-eth0.pcap") if p.is_data("10.0.0.1")]
    payload_bytes = sum(p.length_bytes - 52 for p in seen)
    assert payload_bytes == pytest.approx(flow.result.flows[0].received_bytes, rel=0.005)
    assert json.loads((iperf3.folder / "iperf3-client.json").read_text())["end"]


def test_the_two_ends_of_a_link_without_an_emulator_are_captured_in_a_file_each(run_trial: RunTrial) -> None:
    """Both devices are called eth0: two captures wrote into one file, and it was no capture any more."""
    topology = {
        "name": "net",
        "nodes": {"a": {"type": "host"}, "s": {"type": "switch"}, "b": {"type": "host"}},
        "links": {"plain": {"ends": ["a", "s"]}, "path": {"ends": ["s", "b"], "rate": "10 Mbit/s", "rtt": "2 ms"}},
    }
    ran = run_trial(topology=topology, workload={"duration": "1 s"}, capture=[{"at": "plain"}])
    assert ran.result.verdict == "valid"
    assert sorted(path.name for path in ran.folder.glob("*.pcap")) == ["plain.a-eth0.pcap", "plain.s-eth0.pcap"]
    seen = [ran.result.captures[name] for name in ("plain.a-eth0.pcap", "plain.s-eth0.pcap")]
    assert seen[0] == seen[1]
    for each in seen:
        assert each is not None
        assert each.payload_bytes >= ran.result.flows[0].received_bytes > 0


def test_the_data_reaches_a_destination_with_another_link_before_the_direct_one(run_trial: RunTrial) -> None:
    topology = {
        "name": "net",
        "nodes": {name: {"type": "host"} for name in "abc"},
        "links": {"aside": {"ends": ["b", "c"]}, "path": {"ends": ["a", "b"], "rate": "10 Mbit/s", "rtt": "2 ms"}},
    }
    assert run_trial(topology=topology).result.verdict == "valid"


@pytest.mark.parametrize("name", ["dumbbell", "parking-lot"])
def test_the_data_crosses_switches_and_routers(run_trial: RunTrial, name: str) -> None:
    import yaml

    topology = yaml.safe_load((Path(__file__).parents[1] / "topologies" / f"{name}.yaml").read_text())
    ends = {"dumbbell": ("left-1", "right-2"), "parking-lot": ("host-1", "host-4")}[name]
    ran = run_trial(topology=topology, workload={"from": ends[0], "to": ends[1], "duration": "2 s"})
    assert ran.result.verdict == "valid"
    assert ran.result.seen.rtt_s == pytest.approx(ran.result.asked.rtt_s, abs=20e-6)


def test_data_over_ipv6_is_limited_delayed_and_counted_too(run_trial: RunTrial) -> None:
    topology = {
        "name": "net",
        "nodes": {end: {"type": "host", "addresses": [f"fd00::{n}/64"]} for n, end in enumerate("ab", 1)},
        "links": {"path": {"ends": ["a", "b"], "rate": "100 Mbit/s", "rtt": "10 ms", "loss": "1 in 200"}},
    }
    ran = run_trial(topology=topology)
    assert ran.result.verdict == "valid"
    assert ran.result.stages[0].dropped_packets == ran.result.stages[0].data_packets // 200 > 0


def test_a_path_without_a_rate_is_refused_in_virtual_time() -> None:
    from trials import make_trial

    from testbed.error import UserError
    from testbed.trial.orders.sequence import orders

    with pytest.raises(UserError, match=r"no link between a and b has a rate \(path\).*allowed: a rate"):
        orders(make_trial(path={"rate": None, "buffer": None}))


def rows(ran: Ran, name: str) -> list[dict[str, Any]]:
    return pq.read_table(ran.folder / f"{name}.parquet").to_pylist()


def test_what_the_host_read_last_does_not_reach_the_guest(run_trial: Callable[..., Ran]) -> None:
    """A time of access to note, which depends on the host, would be work at a time of its own."""
    ran = run_trial(tamper=lambda steps: (*steps, {"run": ["cat", "/proc/mounts"], "out": "mounts"}))
    mounts = [line.split(" ") for line in (ran.folder / "mounts").read_text().splitlines()]
    options = {where: set(words.split(",")) for _, where, kind, words, *_ in mounts if kind == "hostfs"}
    assert options.keys() == {"/", "/run/trial", "/run/tools"}
    assert "noatime" in options["/run/trial"]
    assert all("ro" in options[where] for where in ("/", "/run/tools"))
