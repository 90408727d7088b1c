"""Datagrams in the lab kernel: loss, delay and jitter against what was asked, iperf3 and packet captures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from pcap import packets
from trials import Ran

from testbed.model.link.impairment import NETEM_SD
from testbed.trial.workload.ping import OUTPUT as PING
from testbed.trial.workload.udp import UdpResult

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

UDP = {"tool": "udp", "rate": "10 Mbit/s", "duration": "2 s", "length": "1000 B"}
ETHERNET_BYTES = 14
HEADERS_BYTES = ETHERNET_BYTES + 20 + 8


def found(ran: Ran) -> UdpResult:
    return ran.udp


@pytest.mark.parametrize("every", [2, 100])
@pytest.mark.parametrize("burst", [1, 7])
def test_periodic_loss_is_exact(run_trial: RunTrial, every: int, burst: int) -> None:
    ran = run_trial(path={"loss": f"1 in {every}"}, workload={**UDP, "burst": burst})
    udp = found(ran)
    assert udp.lost_datagrams == udp.sent_datagrams // every
    assert udp.lost_datagrams == ran.result.seen.dropped_packets
    assert udp.sent_datagrams == ran.result.seen.data_packets
    assert sum(each.lost_datagrams for each in udp.series) == udp.lost_datagrams
    assert ran.result.verdict == "valid"


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_in_a_quiet_network_nothing_is_lost_late_or_uneven(run_trial: RunTrial, nic: str) -> None:
    ran = run_trial(path={"rtt": "50 ms", "rate": "1 Gbit/s"}, workload=UDP, nic=nic)
    udp = found(ran)
    assert udp.sent_datagrams == 2500
    assert (udp.lost_datagrams, udp.duplicates, udp.out_of_order_datagrams) == (0, 0, 0)
    # A frame of 1042 bytes at 1 Gbit/s, unless the full bucket lets it go at once; each look at a clock takes 256 ns.
    assert udp.delay_min_s == pytest.approx(0.025, abs=10e-6)
    assert udp.delay_max_s == pytest.approx(0.025, abs=10e-6)
    assert udp.jitter_s < 1e-6
    assert udp.jitter_mean_s < 1e-6
    assert udp.send_late_max_s < 10e-6
    assert ran.result.goodput_bps == pytest.approx(10e6, rel=1e-3)
    assert ran.result.verdict == "valid"


def test_a_schedule_that_goes_on_while_the_receiver_waits_is_no_fault(run_trial: RunTrial) -> None:
    slower = [{"at": "0 s", "every": "100 ms", "for": "50 ms", "rate": "50 Mbit/s"}]
    workload = {"tool": "udp", "rate": "1 Mbit/s", "duration": "2 s"}
    ran = run_trial(path={"rtt": "200 ms", "schedule": slower}, workload=workload)
    assert ran.result.verdict == "valid", ran.result.warnings


def test_jitter_is_that_of_the_path(run_trial: RunTrial) -> None:
    path = {"rtt": "100 ms", "jitter": {"forward": {"sd": "1 ms", "distribution": "normal", "reorder": True}}}
    # 10 ms apart, ten standard deviations: none overtakes another.
    ran = run_trial(path=path, workload={**UDP, "rate": "800 kbit/s", "duration": "60 s"})
    udp = found(ran)
    # |D| is between two normal values: its mean is 2/sqrt(pi) of their standard deviation.
    assert udp.jitter_mean_s == pytest.approx(1.128e-3, rel=0.05)
    assert udp.jitter_s == pytest.approx(1.128e-3, rel=0.5)  # RFC 3550's sees the last 16 or so
    assert udp.out_of_order_datagrams == 0


@pytest.mark.parametrize("distribution", NETEM_SD)
def test_the_standard_deviation_of_jitter_is_what_is_asked_whatever_the_distribution_is(
    run_trial: RunTrial, distribution: str
) -> None:
    path = {"rtt": "100 ms", "jitter": {"sd": "1 ms", "distribution": distribution}}
    ran = run_trial(path=path, workload={"tool": "ping", "count": "3000", "interval": "200 ms"})
    mdev_ms = float((ran.folder / PING).read_text().rsplit("/", 1)[1].split()[0])
    assert mdev_ms / 2**0.5 == pytest.approx(
        1.0, rel=0.06
    )  # two ways; the pareto tables' deviation is known to 2 to 3 %


def test_packets_that_overtake_one_another_are_counted(run_trial: RunTrial) -> None:
    path = {"rtt": "100 ms", "jitter": {"forward": {"sd": "5 ms", "distribution": "normal", "reorder": True}}}
    ran = run_trial(path=path, workload=UDP, capture=[{"at": "b", "snaplen": "64 B"}])
    # udp.c writes the number of a datagram into its first eight bytes.
    (file,) = ran.folder.glob("b-*.pcap")
    numbers = [
        int.from_bytes(packet.datagram[:8], "little")
        for packet in packets(file)
        if packet.length_bytes == 1000 + HEADERS_BYTES - ETHERNET_BYTES
    ]
    highest, overtaken = -1, 0
    for number in numbers:
        overtaken += number < highest
        highest = max(highest, number)
    assert overtaken > 100
    assert found(ran).out_of_order_datagrams == overtaken
    assert found(ran).arrived_datagrams == len(numbers) == len(set(numbers))


def test_a_rate_that_is_more_than_the_path_carries_is_lost_in_its_queue(run_trial: RunTrial) -> None:
    path = {"rate": "10 Mbit/s", "rtt": "20 ms", "buffer": "20 packets"}
    ran = run_trial(path=path, workload={**UDP, "rate": "20 Mbit/s", "duration": "5 s"})
    udp = found(ran)
    assert ran.result.goodput_bps == pytest.approx(10e6 * 1000 / (1000 + HEADERS_BYTES), rel=5e-3)
    assert udp.lost_datagrams == ran.result.seen.queue_drops
    # Twenty packets wait before each, and one is on its way out.
    assert udp.delay_max_s == pytest.approx(0.010 + 21 * 8 * 1042 / 10e6, rel=0.1)
    assert [each.goodput_bps for each in udp.series[1:4]] == pytest.approx([9.597e6] * 3, rel=5e-3)


def test_groups_leave_at_even_times_and_flows_take_turns(run_trial: RunTrial) -> None:
    workload = {**UDP, "duration": "200 ms", "burst": 4, "flows": 2}
    ran = run_trial(workload=workload, nic="plain", capture=[{"at": "a"}])
    (file,) = ran.folder.glob("a-*.pcap")
    times = [packet.time_s for packet in packets(file) if packet.length_bytes == 1000 + HEADERS_BYTES - ETHERNET_BYTES]
    assert len(times) == found(ran).sent_datagrams == 125 * 4
    starts = times[::4]
    # Each flow sends 4 × 8000 bits at 10 Mbit/s every 3.2 ms, the other one in the middle.
    assert [later - sooner for sooner, later in pairwise(starts)] == pytest.approx([1.6e-3] * 124, abs=20e-6)


def test_iperf3_sees_the_same_loss_and_goodput(run_trial: RunTrial) -> None:
    path = {"rate": "50 Mbit/s", "rtt": "20 ms", "loss": "1 in 100"}
    ours = found(run_trial(path=path, workload={**UDP, "duration": "4 s"}))
    theirs = run_trial(
        path=path,
        workload={"tool": "iperf3", "protocol": "udp", "rate": "10 Mbit/s", "duration": "4 s", "length": "1000 B"},
    )
    said = theirs.udp
    assert said.sent_datagrams == pytest.approx(ours.sent_datagrams, rel=0.01)
    assert said.lost_datagrams == pytest.approx(ours.lost_datagrams, abs=1)
    assert said.out_of_order_datagrams == ours.out_of_order_datagrams == 0


def test_a_full_gigabit_keeps_its_rate_in_groups(run_trial: RunTrial) -> None:
    workload = {**UDP, "rate": "850 Mbit/s", "length": "1448 B", "duration": "1 s"}
    ran = run_trial(path={"rate": "1 Gbit/s", "rtt": "50 ms"}, workload=workload, samples="none")
    udp = found(ran)
    assert udp.burst_datagrams == 8
    assert udp.lost_datagrams == 0
    assert ran.result.goodput_bps == pytest.approx(850e6, rel=1e-3)
