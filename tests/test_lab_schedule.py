"""The lab: schedules and volume policies, and what physics says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pcap import packets
from trials import Ran, adding

from testbed.plan.network import plan
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile
from testbed.trial.folder import same_files
from testbed.trial.observe.readback import qdiscs
from testbed.trial.subject.observer import CHANGES, READ_BACK

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

FRAME_BYTES, PAYLOAD_BYTES = 1514, 1448
UDP_FRAME_BYTES, UDP_IP_BYTES, UDP_PAYLOAD_BYTES = 1442, 1428, 1400


def queues(ran: Ran, way: str = "forward") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(ran.folder / "queues.parquet").to_pylist()
    return [row for row in rows if row["way"] == way]


def rate_bps(rows: list[dict[str, Any]], begin_s: float, end_s: float) -> float:
    """From the first sample to the last that lie within."""
    within = [row for row in rows if begin_s <= row["time_s"] <= end_s]
    return (within[-1]["bytes"] - within[0]["bytes"]) * 8 / (within[-1]["time_s"] - within[0]["time_s"])


def moments(ran: Ran) -> tuple[int, list[dict[str, int]]]:
    first, *rest = map(json.loads, (ran.folder / "timeline.jsonl").read_text().splitlines())
    return first["start_ns"], rest


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize("buffer", ["100 packets", "151400 B"])
def test_a_rate_changes_on_the_millisecond_and_what_waits_keeps_waiting(
    run_trial: RunTrial, nic: str, buffer: str
) -> None:
    path = {"rate": "100 Mbit/s", "buffer": buffer, "schedule": [{"at": "2 s", "rate": "10 Mbit/s"}]}
    # 250 kB are more than the BDP and the buffer of the fast path hold: there is always something to send.
    workload = {"duration": "4 s", "window": "250 kB"}
    ran = run_trial(path=path, workload=workload, nic=nic, samples={"interval": "10 ms"})
    assert ran.result.verdict == "valid", ran.result.warnings
    start_ns, ((moment),) = moments(ran)
    assert 0 <= moment["begin_ns"] - start_ns - 2 * 10**9 <= 10**6
    rows = queues(ran)
    assert rate_bps(rows, 1.5, 2.0) == pytest.approx(100e6, rel=2e-3)
    # One full frame of 1.2 ms in each of the 48 intervals may fall on either side.
    assert rate_bps(rows, 2.0, 2.5) == pytest.approx(10e6, rel=5e-3)
    # The one interval in which the rate changes carries what both rates come to, and two frames fall on either side.
    before, after = next(pair for pair in pairwise(rows) if pair[0]["time_s"] <= 2 < pair[1]["time_s"])
    octets = (100e6 * (2 - before["time_s"]) + 10e6 * (after["time_s"] - 2)) / 8
    assert after["bytes"] - before["bytes"] == pytest.approx(octets, abs=2 * FRAME_BYTES)
    # And what waited then is not lost: the queue shrinks by no more than what was sent.
    assert after["backlog_bytes"] + after["bytes"] >= before["backlog_bytes"] + before["bytes"]
    most = 101 if buffer.endswith("packets") else 100
    assert max(row["backlog_packets"] for row in rows if row["time_s"] > 2.01) <= most


def test_a_loss_that_changes_is_counted_from_its_beginning_exactly(run_trial: RunTrial) -> None:
    schedule = [{"at": "1 s", "loss": {"every": "100", "phase": "7"}}, {"at": "2 s", "loss": "none"}]
    path = {"rate": "50 Mbit/s", "loss": "1 in 1000", "schedule": schedule}
    ran = run_trial(path=path, workload={"duration": "3 s", "flows": 3}, capture=[{"at": "path"}])
    assert ran.result.verdict == "valid", ran.result.warnings
    first, second, third = ran.result.stages[0].intervals
    assert first.dropped_packets == first.data_packets // 1000 > 0
    assert second.dropped_packets == (second.data_packets + 7) // 100 > 10
    assert (third.dropped_packets, third.asked_loss) == (0, "none")
    assert third.data_packets > 0
    total = sum(each.data_packets for each in (first, second, third))
    assert total == ran.result.stages[0].data_packets
    # A capture knows nothing of nftables, and sees the same packets.
    seen = [p for p in packets(ran.folder / "path-wire1.pcap") if p.is_data("10.0.0.1")]
    assert len(seen) == total


def test_random_loss_comes_and_goes(run_trial: RunTrial) -> None:
    schedule = [{"at": "1 s", "for": "2 s", "loss": {"random": "1 %"}}]
    udp = {"tool": "iperf3", "protocol": "udp", "rate": "50 Mbit/s", "length": "1400 B", "duration": "4 s"}
    ran = run_trial(path={"schedule": schedule}, workload=udp)
    assert ran.result.verdict == "valid", ran.result.warnings
    drops = [each.random_drops for each in ran.result.stages[0].intervals]
    offered = 2 * 50e6 / 8 / UDP_PAYLOAD_BYTES
    assert drops[0] == drops[2] == 0
    assert abs(drops[1] - 0.01 * offered) < 5 * (0.01 * offered) ** 0.5


@pytest.mark.parametrize("every", [None, "2 s"])
def test_a_delay_steps_for_every_ping_and_goes_back(run_trial: RunTrial, every: str | None) -> None:
    change = {"at": "1 s", "for": "500 ms", "rtt": "30 ms"} | ({"every": every} if every else {})
    ping = {"tool": "ping", "count": 400, "interval": "10 ms"}
    ran = run_trial(
        path={"rtt": "10 ms", "schedule": [change]},
        workload=ping,
        tamper=lambda steps: json.loads(json.dumps(steps).replace('"-n", "-c", "400"', '"-n", "-D", "-c", "400"')),
    )
    assert ran.result.verdict == "valid", ran.result.warnings
    pings = sent_pings(ran.folder / "ping.out")
    assert len(pings) == 400
    begins_s = [1.0, 3.0] if every else [1.0]
    long = 0
    for sent_s, took_ms in pings:
        # A packet that is on its way when the delay changes has some of each; nobody else has.
        if all(sent_s < begin - 0.02 or sent_s > begin + 0.52 for begin in begins_s):
            assert took_ms == pytest.approx(10, abs=0.01)
        elif any(begin + 0.02 < sent_s < begin + 0.47 for begin in begins_s):
            assert took_ms == pytest.approx(30, abs=0.01)
            long += 1
    assert long >= 30 * len(begins_s)


def test_packets_do_not_overtake_when_the_delay_shrinks(run_trial: RunTrial) -> None:
    udp = {"tool": "iperf3", "protocol": "udp", "rate": "20 Mbit/s", "length": "1400 B", "duration": "2 s"}
    schedule = [{"at": "500 ms", "rtt": "2 ms"}, {"at": "1 s", "rtt": "60 ms"}, {"at": "1500 ms", "rtt": "2 ms"}]
    ran = run_trial(path={"rtt": "60 ms", "schedule": schedule}, workload=udp)
    assert ran.udp.out_of_order_datagrams == 0
    assert ran.udp.lost_datagrams == 0
    assert ran.result.verdict == "valid", ran.result.warnings


def test_a_schedule_of_one_direction_leaves_the_other_alone(run_trial: RunTrial) -> None:
    slow = [{"at": "1 s", "every": "2 s", "for": "1 s", "rate": {"forward": "5 Mbit/s"}}]
    there, back = ({"from": a, "to": b, "duration": "3900 ms", "window": "400 kB"} for a, b in (("a", "b"), ("b", "a")))
    degraded, opposite = (run_trial(path={"schedule": slow}, workload=way) for way in (there, back))
    plain = run_trial(workload=back)
    assert [each.result.verdict for each in (degraded, opposite, plain)] == ["valid"] * 3
    rows = queues(degraded)
    for second, rate in ((0, 100e6), (1, 5e6), (2, 100e6), (3, 5e6)):
        # From 0.3 s on a flow of 10 ms has recovered; 2 % for frames on either side of an interval at 5 Mbit/s.
        assert rate_bps(rows, second + 0.3, second + 0.85) == pytest.approx(rate, rel=0.02)
    assert opposite.result.goodput_bps == pytest.approx(plain.result.goodput_bps, rel=0.02)
    assert [each.asked_rate_bps for each in opposite.result.stages[1].intervals] == [10**8, 5 * 10**6] * 2


def udp(rate: str, duration: str) -> dict[str, Any]:
    return {"tool": "iperf3", "protocol": "udp", "rate": rate, "length": "1400 B", "duration": duration}


def test_a_policy_lets_a_volume_pass_and_then_drops_what_exceeds_its_rate(run_trial: RunTrial) -> None:
    policy = {"after": "50 MB", "rate": "40 Mbit/s"}
    path = {"rate": "100 Mbit/s", "policy": policy}
    ran = run_trial(path=path, workload=udp("85 Mbit/s", "15 s"))
    assert ran.result.verdict == "valid", ran.result.warnings
    found, rows = ran.result.stages[0].policy, queues(ran)
    offered_bps = 85e6 * UDP_IP_BYTES / UDP_PAYLOAD_BYTES
    crossed_s = rows[0]["time_s"] + found.crossed_s + 0.5  # the server has half a second before the client starts
    assert found.crossed_s - 0.5 == pytest.approx(50e6 * 8 / offered_bps, abs=0.1)
    # Frames weigh 14 bytes more than the IP packets that a policy counts.
    frames = UDP_FRAME_BYTES / UDP_IP_BYTES
    assert rate_bps(rows, 1 + rows[0]["time_s"], crossed_s - 0.5) == pytest.approx(offered_bps * frames, rel=0.005)
    assert rate_bps(rows, crossed_s, crossed_s + 8) == pytest.approx(40e6 * frames, rel=0.005)
    assert found.rate_while_policed_bps == pytest.approx(40e6, rel=0.002)
    assert found.loss_while_policed == pytest.approx(1 - 40e6 / offered_bps, abs=0.01)
    measured = ran.udp
    assert measured.lost_datagrams == found.policed_packets


def test_a_policy_whose_volume_does_not_come_drops_nothing_and_says_so(run_trial: RunTrial) -> None:
    ran = run_trial(path={"policy": {"after": "1 GB", "rate": "40 Mbit/s"}}, workload={"duration": "2 s"})
    assert ran.result.verdict == "valid"
    assert ran.findings["policy"] == "valid"
    assert ran.result.stages[0].policy.policed_packets == 0


@pytest.mark.parametrize("congestion", ["cubic", "bbr"])
def test_a_flow_that_slows_down_under_a_policy_does_not_make_the_gate_doubt_it(
    run_trial: RunTrial, congestion: str
) -> None:
    path = {"rate": "20 Mbit/s", "rtt": "40 ms", "policy": {"after": "1 MB", "rate": "8 Mbit/s"}}
    ran = run_trial(path=path, workload={"duration": "4 s", "congestion": congestion})
    assert ran.result.verdict == "valid", ran.result.warnings
    assert ran.result.stages[0].policy.policed_packets > 0


def test_without_samples_a_policy_is_still_counted(run_trial: RunTrial) -> None:
    path = {"rate": "100 Mbit/s", "policy": {"after": "1 MB", "rate": "1 Mbit/s"}}
    ran = run_trial(path=path, workload=udp("20 Mbit/s", "1 s"), samples="none")
    policy = ran.result.stages[0].policy
    assert policy.offered_bytes > 2_000_000
    assert policy.policed_bytes == policy.policed_packets * UDP_IP_BYTES > 0
    small = run_trial(path=path, workload=udp("1 Mbit/s", "1 s"), samples="none")
    assert small.findings == {"policy": "valid"}


def test_a_flow_under_a_policy_is_explained_and_gets_no_more_than_its_rate(run_trial: RunTrial) -> None:
    path = {"policy": {"forward": {"after": "10 MB", "rate": "40 Mbit/s"}}}
    ran = run_trial(path=path, workload={"duration": "10 s", "flows": 4, "leave_out": "4 s"})
    assert ran.result.verdict == "valid", ran.result.warnings
    assert ran.result.stages[0].policy.policed_packets > 0
    assert ran.result.goodput_bps <= 40e6 + ran.result.stages[0].policy.bucket_bytes * 8 / 6


def test_a_volume_is_drawn_from_the_seed(run_trial: RunTrial) -> None:
    policy = {"after": {"from": "8 MB", "to": "10 MB"}, "rate": "40 Mbit/s"}
    schedule = [{"at": "1 s", "loss": {"every": "500", "phase": "seeded"}}, {"at": "1500 ms", "rate": "60 Mbit/s"}]
    path = {"policy": policy, "schedule": schedule}
    first, again, other = (run_trial(path=path, workload={"duration": "3 s"}, seed=seed) for seed in (7, 7, 8))
    assert same_files(first.folder, again.folder) == ()
    drawn = [each.result.stages[0].policy.after_bytes for each in (first, other)]
    assert drawn[0] != drawn[1]
    assert all(8 * 10**6 <= volume <= 10**7 for volume in drawn)


def test_a_schedule_ends_with_a_flow_that_sends_bytes(run_trial: RunTrial) -> None:
    schedule = [{"at": "100 ms", "every": "200 ms", "for": "100 ms", "rate": "10 Mbit/s"}]
    ran = run_trial(path={"schedule": schedule}, workload={"bytes": "5 MB"})
    assert ran.result.verdict == "valid", ran.result.warnings
    _, done = moments(ran)
    assert len(done) == int(ran.result.workload_s / 0.1)


def test_two_pairs_of_zones_behind_one_link_degrade_together(run_trial: RunTrial) -> None:
    net = load_topology(Path(__file__).parents[1] / "topologies" / "two-zones.yaml")
    topology = TopologyFile.of(net).written()
    topology["links"]["wan"]["schedule"] = [{"at": "3 s", "for": "3 s", "rate": "5 Mbit/s"}]
    to = next(port.addresses[0].ip for port in plan(net).book.ports if port.node == "east-b")
    ping = ["ping", "-n", "-D", "-i", "0.1", "-c", "80", str(to)]
    other_pair = {"run": ping, "netns": "tb-west-b", "out": "b.out", "background": "b"}
    flow = {"tool": "flow", "from": "west-a", "to": "east-a", "duration": "8 s"}
    ran = run_trial(topology=topology, workload=flow, tamper=adding("timeline", other_pair))
    assert ran.result.verdict == "valid", ran.result.warnings
    wan, access = ([row for row in queues(ran) if row["link"] == link] for link in ("wan", "east-a-access"))
    assert rate_bps(access, 2.0, 3.0) > 20e6
    assert rate_bps(wan, 3.5, 6.0) == pytest.approx(5e6, rel=0.02)
    # What waits at the shared link is in the way of the other pair's packets: a full one lasts 20 times as long.
    pings = sent_pings(ran.folder / "b.out")
    usual = [took_ms for sent_s, took_ms in pings if sent_s < 2.5]
    degraded = [took_ms for sent_s, took_ms in pings if 3.5 < sent_s < 5]
    assert min(degraded) > 2 * max(usual)


def sent_pings(path: Path) -> list[tuple[float, float]]:
    """When each was sent, in seconds after the first, and the milliseconds it took."""
    found = re.finditer(r"^\[([\d.]+)\].* time=([\d.]+)", path.read_text(), re.MULTILINE)
    pings = sorted((float(each[1]) - float(each[2]) / 1000, float(each[2])) for each in found)
    return [(at - pings[0][0], took_ms) for at, took_ms in pings]


def test_a_delay_is_exact_to_the_nanosecond_and_so_is_a_change_of_it(run_trial: RunTrial) -> None:
    """tc 6.1 sets whole microseconds. Failure: netlink tells another delay by a nanosecond, or a ping is 2 us off."""
    path = {"rtt": "12.345678 ms", "schedule": [{"at": "500 ms", "rtt": "20.000001 ms"}]}
    ran = run_trial(path=path, workload={"tool": "ping", "count": 10, "interval": "100 ms"})
    assert ran.result.verdict == "valid", ran.result.findings
    looks = [qdiscs((ran.folder / READ_BACK).read_bytes(), ran.made.observed)]
    looks.append(qdiscs((ran.folder / CHANGES).read_bytes(), ran.made.changed))
    found = [sorted(each.delay_ns or 0 for each in look if each.kind == "netem") for look in looks]
    assert found == [[6_172_839, 6_172_839], [10_000_000, 10_000_001]]
    assert ran.ping.rtt_min_s == pytest.approx(0.012345678, abs=2e-6)
    assert ran.ping.rtt_max_s == pytest.approx(0.020000001, abs=2e-6)
