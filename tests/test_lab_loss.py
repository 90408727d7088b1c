"""Loss and jitter in the lab kernel: counted by the emulator, and once more in captures before and after it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from pcap import UDP, Packet, packets
from trials import Ran

from testbed.trial.result import StageResult

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

CAPTURE = [{"at": "path"}]
A, B = "10.0.0.1", "10.0.0.2"
GREETING_BYTES = 32
"""iperf3's first datagram each way says hello and is waited for, so that it is not lost on purpose."""
IPERF3_CONTROL_PORT, IPERF3_DATA_PORTS = 5201, range(50_000, 50_128)


def is_control(packet: Packet) -> bool:
    if packet.protocol == UDP and packet.length_bytes <= GREETING_BYTES:
        return True
    ends = {packet.source_port, packet.destination_port}
    return IPERF3_CONTROL_PORT in ends and not ends & set(IPERF3_DATA_PORTS)


def data_packets(ran: Ran, device: str, source: str = A) -> list[Packet]:
    found = packets(ran.folder / f"path-{device}.pcap")
    return [packet for packet in found if packet.is_data(source) and not is_control(packet)]


def stage(ran: Ran, way: str) -> StageResult:
    return next(each for each in ran.result.stages if each.way == way)


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize(
    ("loss", "every", "phase", "duration"),
    [
        ("1 in 100", 100, 0, "2 s"),
        ({"every": 100, "phase": 99}, 100, 99, "1 s"),
        ({"every": 1000, "phase": 700}, 1000, 700, "1 s"),
        ("1 in 10000", 10_000, 0, "1 s"),
    ],
)
def test_exactly_one_data_packet_in_x_is_lost(
    run_trial: RunTrial, nic: str, loss: Any, every: int, phase: int, duration: str
) -> None:
    path = {"rate": "1 Gbit/s", "loss": loss}
    ran = run_trial(path=path, workload={"duration": duration}, nic=nic, capture=CAPTURE)
    seen = stage(ran, "forward")
    dropped = (seen.data_packets + phase) // every
    assert seen.dropped_packets == dropped > 0
    before, after = data_packets(ran, "wire1"), data_packets(ran, "end1")
    assert len(before) == seen.data_packets
    assert len(after) == len(before) - dropped - seen.queue_drops
    assert ran.result.verdict == "valid", ran.result.warnings
    if not seen.queue_drops:
        # The very packets: the IP identification tells each from its retransmission.
        ids = [packet.identification for packet in before]
        lost = ids[every - 1 - phase :: every]
        assert [packet.identification for packet in after] == [i for n, i in enumerate(ids, 1) if (n + phase) % every]
        assert len(lost) == dropped


def test_one_datagram_in_two_is_lost(run_trial: RunTrial) -> None:
    udp = {"tool": "iperf3", "protocol": "udp", "rate": "5 Mbit/s", "duration": "2 s"}
    ran = run_trial(path={"loss": "1 in 2"}, workload=udp, capture=CAPTURE)
    seen = stage(ran, "forward")
    assert seen.dropped_packets == seen.data_packets // 2 > 100
    assert len(data_packets(ran, "wire1")) == seen.data_packets
    assert len(data_packets(ran, "end1")) == math.ceil(seen.data_packets / 2)
    assert stage(ran, "backward").dropped_packets == 0
    # iperf3's own count leaves out its greeting and the datagram that ends the test.
    assert ran.udp.lost_datagrams == pytest.approx(seen.dropped_packets, abs=2)
    assert ran.result.verdict == "valid"


def test_iperf3_loses_data_and_none_of_its_control_connection(run_trial: RunTrial) -> None:
    ran = run_trial(path={"loss": "1 in 50"}, workload={"tool": "iperf3", "duration": "2 s"}, capture=CAPTURE)
    seen = stage(ran, "forward")
    assert seen.dropped_packets == seen.data_packets // 50 > 0
    assert len(data_packets(ran, "wire1")) == seen.data_packets
    control = [sum(map(is_control, packets(ran.folder / f"path-{device}.pcap"))) for device in ("wire1", "end1")]
    assert control[0] == control[1] > 0


def test_data_that_goes_backward_is_lost_backward(run_trial: RunTrial) -> None:
    workload = {"from": "b", "to": "a", "duration": "1 s"}
    ran = run_trial(path={"loss": "1 in 30"}, workload=workload, capture=CAPTURE)
    seen = stage(ran, "backward")
    assert seen.dropped_packets == seen.data_packets // 30 > 0
    before, after = data_packets(ran, "wire0", B), data_packets(ran, "end0", B)
    assert len(before) == seen.data_packets
    assert len(after) == len(before) - seen.dropped_packets - seen.queue_drops
    assert stage(ran, "forward").data_packets == 0


def test_each_direction_has_its_own_loss(run_trial: RunTrial) -> None:
    path = {"loss": {"forward": "1 in 200", "backward": {"random": "10 %"}}}
    ran = run_trial(path=path, workload={"duration": "2 s", "flows": 2})
    there, back = stage(ran, "forward"), stage(ran, "backward")
    assert there.dropped_packets == there.data_packets // 200 > 0
    assert there.random_drops == back.dropped_packets == 0
    assert back.random_drops > 0
    assert ran.result.verdict == "valid"


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize(
    ("loss", "share", "burst"),
    [
        ({"random": "1 %"}, 0.01, 1),
        ({"random": "0.1 %"}, 0.001, 1),
        # In the bad state a share of p/(p + r); it lasts 1/r packets, so that the count varies 2/r times as much.
        ({"gilbert-elliott": {"p": "1 %", "r": "50 %"}}, 1 / 51, 4),
        ({"gilbert-elliott": {"p": "1 %", "r": "50 %", "loss_bad": "50 %"}}, 0.5 / 51, 4),
    ],
)
def test_random_loss_has_the_asked_share_and_repeats_by_seed(
    run_trial: RunTrial, nic: str, loss: Any, share: float, burst: int
) -> None:
    workload = {"flows": 10, "duration": "3 s", "congestion": "bbr"}
    path = {"loss": loss, "buffer": "4 bdp"}
    first, again, other = (run_trial(path=path, workload=workload, nic=nic, seed=s) for s in (1, 1, 2))
    for ran in (first, other):
        seen = stage(ran, "forward")
        expected = share * (seen.data_packets + seen.random_drops)
        assert abs(seen.random_drops - expected) < 5 * math.sqrt(expected * burst)
        assert ran.result.verdict == "valid"
    assert first.result == again.result
    assert first.result.flows != other.result.flows


def delays_s(ran: Ran) -> list[tuple[int, float]]:
    """(place in the order of leaving, time from before the emulator to after it) in the order of entering."""
    left = {packet.identification: (n, packet.time_s) for n, packet in enumerate(data_packets(ran, "end1"))}
    entered = data_packets(ran, "end0")
    return [(left[p.identification][0], left[p.identification][1] - p.time_s) for p in entered]


def jittery(run_trial: RunTrial, nic: str, jitter: dict[str, Any]) -> Ran:
    """A thousand datagrams, one each 2 ms, through a delay of 20 ms with jitter."""
    udp = {"tool": "iperf3", "protocol": "udp", "rate": "1 Mbit/s", "length": "250 B", "duration": "2 s"}
    path = {"rtt": "40 ms", "jitter": {"forward": jitter}}
    return run_trial(path=path, workload=udp, nic=nic, capture=CAPTURE)


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_jitter_keeps_the_order_unless_told_otherwise(run_trial: RunTrial, nic: str) -> None:
    found = delays_s(jittery(run_trial, nic, {"most": "5 ms"}))
    assert [place for place, _ in found] == list(range(len(found)))
    # Uniform, 20 ± 5 ms; whoever waits for the one before it waits longer, never less.
    assert 0.015 - 1e-4 <= min(delay for _, delay in found) < 0.017
    assert max(delay for _, delay in found) <= 0.025 + 1e-4


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_jitter_with_reordering_spreads_as_asked_and_lets_packets_overtake(run_trial: RunTrial, nic: str) -> None:
    found = delays_s(jittery(run_trial, nic, {"most": "5 ms", "reorder": True}))
    assert [place for place, _ in found] != list(range(len(found)))
    mean = sum(delay for _, delay in found) / len(found)
    # Uniform with half a width of 5 ms: its deviation is 5/√3 ms, and the mean of a thousand is within 5 σ/√1000.
    assert mean == pytest.approx(0.020, abs=5 * 0.005 / math.sqrt(3 * len(found)))
    assert 0.015 - 1e-4 <= min(delay for _, delay in found) < 0.0155
    assert 0.0245 < max(delay for _, delay in found) <= 0.025 + 1e-4
