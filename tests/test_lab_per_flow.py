"""Caps of flows in the lab kernel: each flow has a bucket of its own, to a packet; what the gate says of other ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby
from typing import Any

import pytest
from pcap import Packet, packets
from trials import Ran, Steps, adding, instead

from testbed.trial.result import PerFlowResult

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

CAPTURE = [{"at": "path", "snaplen": 60}]
FRAME = 1514
EMULATOR = "tb-path.emulator"
SHAPED: dict[str, Any] = {"per_flow": {"forward": "10 Mbit/s"}}
POLICED: dict[str, Any] = {"per_flow": {"forward": {"rate": "10 Mbit/s", "burst": "64 KiB", "police": True}}}


def udp(flows: int, rate: str = "15 Mbit/s", duration: str = "2 s") -> dict[str, Any]:
    return {"tool": "udp", "rate": rate, "duration": duration, "length": 1472, "flows": flows}


NANO = instead('"tcpdump", ', '"tcpdump", "--nano", ')


def by_flow(ran: Ran, device: str) -> dict[int, list[tuple[int, int]]]:
    """Of each flow, by the port that is its own: when each frame passed, in ns, and its bytes."""
    found = [each for each in packets(ran.folder / f"path-{device}.pcap") if each.is_data("10.0.0.1")]
    one = {each.destination_port for each in found}

    def port(each: Packet) -> int:
        return each.source_port if len(one) == 1 else each.destination_port

    groups = groupby(sorted(found, key=lambda each: (port(each), each.time_s)), key=port)
    return {
        key: [(round(each.time_s * 1e9), each.length_bytes + 14) for each in group if each.length_bytes > 1000]
        for key, group in groups
    }


def forward(ran: Ran) -> PerFlowResult:
    paced = next(each.paced for each in ran.result.stages if each.way == "forward")
    assert paced is not None
    assert paced.per_flow is not None
    return paced.per_flow


def replayed(came: list[tuple[int, int]], rate_bps: int, burst_bytes: int) -> list[tuple[int, int]]:
    """What a bucket passes, in whole numbers."""
    held, last_ns, passed = Fraction(burst_bytes), came[0][0], []
    for at_ns, size in came:
        held = min(Fraction(burst_bytes), held + Fraction((at_ns - last_ns) * rate_bps, 8 * 10**9))
        last_ns = at_ns
        if held >= size:
            held -= size
            passed.append((at_ns, size))
    return passed


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_each_flow_leaves_at_its_cap_to_a_packet(run_trial: RunTrial, nic: str) -> None:
    """Between two packets of a flow that wait is the time of a frame at the cap, whatever other flows do."""
    ran = run_trial(path=SHAPED, workload=udp(5), nic=nic, capture=CAPTURE, tamper=NANO)
    assert ran.result.verdict == "valid", ran.result.findings
    flows = by_flow(ran, "end1")
    assert len([each for each in flows.values() if len(each) > 100]) == 5
    gap_ns = FRAME * 8 * 100  # at 10 Mbit/s
    for left in (each for each in flows.values() if len(each) > 100):
        begin_ns = left[0][0]
        for number, (at_ns, _) in enumerate(left[:-1]):
            early = number * gap_ns - (at_ns - begin_ns)
            assert early <= 3 * gap_ns / 2  # the bucket holds a frame and a half
        middle = left[10:-10]
        span_ns = middle[-1][0] - middle[0][0]
        assert abs(span_ns - (len(middle) - 1) * gap_ns) < gap_ns  # others may be before it in the link's queue


@pytest.mark.parametrize(("flows", "share"), [(1, 0.1), (4, 0.4), (9, 0.9), (14, 1.0)])
def test_n_flows_get_n_times_the_cap_up_to_the_rate_of_the_path(run_trial: RunTrial, flows: int, share: float) -> None:
    ran = run_trial(path=SHAPED, workload=udp(flows, duration="3 s"))
    assert ran.result.verdict == "valid", ran.result.findings
    assert ran.result.goodput_bps == pytest.approx(100e6 * share * 1472 / FRAME, rel=0.005)
    assert forward(ran).capped_flows == flows


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_a_policed_flow_passes_what_its_own_bucket_holds_to_a_packet(run_trial: RunTrial, nic: str) -> None:
    ran = run_trial(path=POLICED, workload=udp(4), nic=nic, capture=CAPTURE, tamper=NANO)
    assert ran.result.verdict == "valid", ran.result.findings
    came, passed = by_flow(ran, "wire1"), by_flow(ran, "end1")
    should = {port: replayed(each, 10**7, 65536) for port, each in came.items() if each}
    assert {port: len(each) for port, each in passed.items() if each} == {p: len(each) for p, each in should.items()}
    dropped = sum(map(len, came.values())) - sum(map(len, should.values()))
    assert forward(ran).dropped_packets == dropped > 100


@pytest.mark.parametrize("control", ["cubic", "bbr", "reno"])
@pytest.mark.parametrize("flows", [1, 4])
def test_the_cap_holds_for_any_control(run_trial: RunTrial, control: str, flows: int) -> None:
    ran = run_trial(path=SHAPED, workload={"duration": "4 s", "flows": flows, "congestion": control})
    assert ran.result.verdict == "valid", ran.result.findings
    assert ran.result.goodput_bps == pytest.approx(flows * 10e6 * 1448 / FRAME, rel=0.03)
    assert all(each.goodput_bps <= 10e6 * 1448 / FRAME * 1.01 for each in ran.result.flows)


def test_the_cap_holds_for_another_sender(run_trial: RunTrial) -> None:
    ran = run_trial(path=SHAPED, workload={"tool": "iperf3", "duration": "4 s", "flows": 4})
    assert ran.result.verdict == "valid", ran.result.findings
    assert ran.result.goodput_bps == pytest.approx(4 * 10e6 * 1448 / FRAME, rel=0.03)


def test_no_two_of_many_flows_share_a_bucket(run_trial: RunTrial) -> None:
    """A hash of 4096 places would let some of 128 flows share one in six of seven cases."""
    ran = run_trial(path={"per_flow": {"forward": "400 kbit/s"}}, workload=udp(128, "600 kbit/s"))
    assert ran.result.verdict == "valid", ran.result.findings
    assert forward(ran).capped_flows == 128
    received = [each.goodput_bps for each in ran.result.flows]
    assert min(received) > 0.9 * max(received)


def test_a_queue_of_a_flow_drops_what_does_not_fit(run_trial: RunTrial) -> None:
    path = {"per_flow": {"forward": {"rate": "10 Mbit/s", "buffer": "10 packets"}}}
    ran = run_trial(path=path, workload=udp(3))
    assert ran.result.verdict == "valid", ran.result.findings
    found = forward(ran)
    assert found.queue_bytes == 10 * FRAME
    sent = 3 * 15e6 * 2 / 8 / 1472
    assert found.dropped_packets == pytest.approx(sent - 3 * (10e6 * 2 / 8 / FRAME), rel=0.02)


def before_the_workload(*words: str) -> Callable[[Steps], Steps]:
    return adding("background=observer", {"run": list(words), "netns": EMULATOR})


def without_the_cap(steps: Steps) -> Steps:
    text = json.dumps(steps)
    left = re.sub(r"qdisc add dev end1 root handle 6: tbflow [a-z0-9 ]*\\n", "", text)
    assert left != text
    kept = json.loads(left.replace("dev end1 parent 6:1", "dev end1 root"))
    return tuple(step for step in kept if step.get("stdin") != "")


ONE_FOR_ALL = "tc qdisc del dev end1 root; tc qdisc add dev end1 root handle 2: tbf rate 10mbit burst 2271 limit 125000"
CAUGHT: dict[str, tuple[dict[str, Any], Callable[[Steps], Steps]]] = {
    "it-is-left-out": (SHAPED, without_the_cap),
    "it-is-10-percent-more": (SHAPED, instead("refill 1250000", "refill 1375000")),
    "it-is-10-percent-less": (SHAPED, instead("refill 1250000", "refill 1125000")),
    "its-queue-is-10-percent-less": (SHAPED, instead("bytes 151400", "bytes 136260")),
    "its-bucket-is-larger": (SHAPED, instead("credit 2271", "credit 2500")),
    "it-shapes-and-does-not-police": (POLICED, instead("bytes 0", "bytes 151400")),
    "it-polices-and-does-not-shape": (SHAPED, instead("bytes 151400", "bytes 0")),
    "its-burst-is-10-percent-less": (POLICED, instead("credit 65536", "credit 58982")),
    "all-flows-share-one": (SHAPED, before_the_workload("sh", "-c", ONE_FOR_ALL)),
    "it-is-another-one-later": (
        SHAPED,
        before_the_workload(
            "sh",
            "-c",
            "tc qdisc del dev end1 root; { echo qdisc add dev end1 root handle 6: tbflow limit 2147483648 "
            "refill 1375000 credit 2271 bytes 151400; } | /run/tools/qdisc; "
            "tc qdisc add dev end1 parent 6:1 handle 2: tbf rate 100mbit burst 2271 limit 125000",
        ),
    ),
}


BACK = (
    "tc qdisc del dev end1 root; echo qdisc add dev end1 root handle 6: tbflow limit 2147483648 refill 1250000 "
    "credit 2271 bytes 151400 | /run/tools/qdisc; "
    "tc qdisc add dev end1 parent 6:1 handle 2: tbf rate 100mbit burst 2271 limit 250000"
)


def gone_for_a_while(steps: Steps) -> Steps:
    """It is away for a part of the workload, and nobody can read that back afterwards."""
    text = f"sleep 0.3; {ONE_FOR_ALL.replace('10mbit', '100mbit')}; sleep 0.7; {BACK}; sleep 60"
    step = {"run": ["sh", "-c", text], "netns": EMULATOR, "background": "somebody"}
    return adding("background=observer", step, later=1)(steps)


@pytest.mark.parametrize("samples", [{"interval": "100 ms"}, "none"])
@pytest.mark.parametrize("tool", ["udp", "flow"])
def test_the_gate_catches_a_cap_that_was_away_for_a_while(run_trial: RunTrial, samples: Any, tool: str) -> None:
    workload = udp(3) if tool == "udp" else {"duration": "2 s", "flows": 3}
    ran = run_trial(path=SHAPED, workload=workload, samples=samples, tamper=gone_for_a_while)
    assert ran.result.verdict == "invalid"


@pytest.mark.parametrize("name", CAUGHT)
@pytest.mark.parametrize("tool", ["udp", "flow"])
def test_the_gate_catches_a_cap_where(run_trial: RunTrial, name: str, tool: str) -> None:
    path, tamper = CAUGHT[name]
    workload = udp(3) if tool == "udp" else {"duration": "2 s", "flows": 3}
    assert run_trial(path=path, workload=workload, tamper=tamper).result.verdict == "invalid"


POLICER: dict[str, Any] = {"policer": {"forward": {"rate": "10 Mbit/s", "burst": "64 KiB"}}}
FIVE_PERCENT_LESS = instead("refill 1250000", "refill 1187500")
SLOW: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "per flow": (POLICED, udp(3)),
    "per flow, at 40 Mbit/s": (POLICED, udp(1, "40 Mbit/s")),
    "per flow, at 11 Mbit/s": (POLICED, udp(2, "11 Mbit/s")),
    "policer": (POLICER, udp(1)),
    "policer, of 3 flows": (POLICER, udp(3, "5 Mbit/s")),
}


@pytest.mark.parametrize("name", SLOW)
def test_what_passes_alone_shows_a_policer_that_is_five_percent_slow(run_trial: RunTrial, name: str) -> None:
    """Though it were read back as asked: samples are too far apart for its bucket to tell."""
    path, workload = SLOW[name]
    found = run_trial(path=path, workload=workload, tamper=FIVE_PERCENT_LESS).result.findings
    assert name.partition(",")[0] in {each.check for each in found if each.verdict == "invalid"}
    assert run_trial(path=path, workload=workload).result.verdict == "valid"


BESIDE_A_POLICER: dict[str, dict[str, Any]] = {
    "a rate above it": {
        "path": {
            **{"rate": "100 Mbit/s", "rtt": "50 ms", "policer": {"rate": "10 Mbit/s", "burst": "200 kB"}},
            "schedule": [
                {"at": "500 ms", "rtt": "100 ms"},
                {"at": "1 s", "rate": "15 Mbit/s"},
                {"at": "1500 ms", "rtt": "50 ms"},
            ],
        },
        "workload": {**udp(1, "60 Mbit/s"), "burst": 16},
        "nic": "plain",
    },
    "a loss": {"path": {**POLICER, "loss": {"random": "1 %"}}, "workload": udp(1, duration="1 s")},
}


@pytest.mark.parametrize("name", BESIDE_A_POLICER)
def test_what_a_policer_drops_is_no_fault_of(run_trial: RunTrial, name: str) -> None:
    result = run_trial(**BESIDE_A_POLICER[name]).result
    assert result.verdict == "valid", result.findings
