"""Queues that signal congestion, in the lab kernel: what they drop and mark against closed forms, RFCs and captures.

What would count as a failure was written down before the first run, with its source, in each test's docstring.
"""

from __future__ import annotations

import math
import struct
from itertools import pairwise
from typing import Any

import pyarrow.parquet as pq
import pytest
from pcap import TCP, UDP, Packet, packets
from trials import Ran, RunTrial

from testbed.trial.measured import need
from testbed.trial.workload.udp import UdpResult

pytestmark = pytest.mark.lab

RATE_BPS, FRAME = 10_000_000, 1014
LENGTH = FRAME - 14 - 28
"""Of the payload of a datagram whose frame has so many bytes."""
TO_SEND_S = FRAME * 8 / RATE_BPS
CREDIT_S = (1514 * 3 // 2 - FRAME) * 8 / RATE_BPS
"""What the token bucket lets go at once, beyond the first packet."""


def link(queue: Any, **more: Any) -> dict[str, Any]:
    return {"rate": f"{RATE_BPS} bit/s", "rtt": "20 ms", "buffer": None, "queue": {"forward": queue}, **more}


def datagrams(offered_bps: float, duration: str) -> dict[str, Any]:
    """An unresponsive load; `offered_bps` counts whole frames."""
    rate_bps = round(offered_bps * LENGTH / FRAME)
    return {"tool": "udp", "rate": f"{rate_bps} bit/s", "length": f"{LENGTH} B", "duration": duration}


def forward(ran: Ran) -> Any:
    return next(each for each in ran.result.stages if each.way == "forward")


def lost(ran: Ran) -> float:
    return need(UdpResult, ran.result.measured).loss or 0.0


def drop_times_s(ran: Ran) -> list[float]:
    """When each missing datagram was dropped, by the capture behind the queue: CoDel drops the first packet just before
    the link begins to send the next one.
    """
    found = [each for each in packets(ran.folder / "path-end1.pcap") if each.protocol == UDP and each.datagram]
    numbers = [(each.time_s, struct.unpack_from("=Q", each.datagram)[0]) for each in found]
    times = []
    for (_, number), (later_s, later) in pairwise(numbers):
        times += [later_s - TO_SEND_S] * (later - number - 1)
    return times


def newton_s(count: int, interval_s: float) -> list[float]:
    """The gaps between drops by RFC 8289's control law with the square root as Linux takes it: one step of Newton's
    iteration a drop (RFC 8289, appendix; codel_Newton_step), from 1.
    """
    root, gaps = 1.0, []
    for number in range(1, count + 1):
        if number > 1:
            root = root * (3 - number * root * root) / 2
        gaps.append(interval_s * root)
    return gaps


def test_codel_drops_at_the_times_of_its_control_law(run_trial: RunTrial) -> None:
    """Against RFC 8289, sections 4.2 and 5.3, by the times in a capture. Twice the rate comes, from a sender that does
    not slow down: the time in the queue of the packet that leaves at t is half of t without the bucket's credit, over
    the target at 2 × 5 ms later, and the first drop is 100 ms after that. Failure: the first drop is not then, within
    two packet times; a drop is more than the time of a packet off the schedule that the law gives from there, with
    Linux's root; or the gaps past the 16th together differ by more than 2 % from the sum of interval / √count.
    """
    ran = run_trial(
        path=link("codel", buffer="100000 packets"),
        workload=datagrams(2 * RATE_BPS, "8 s"),
        nic="plain",
        capture=[{"at": "path", "snaplen": 96}],
    )
    assert ran.result.verdict == "valid"
    times = drop_times_s(ran)
    assert len(times) > 500
    first = min(each.time_s for each in packets(ran.folder / "path-end1.pcap") if each.protocol == UDP)
    start_s = times[0] - first
    assert 0 <= start_s - (0.100 + 2 * (0.005 + CREDIT_S / 2)) <= 2 * TO_SEND_S
    due = times[0]
    gaps = newton_s(200, 0.1)
    off = []
    for number, gap in enumerate(gaps, 1):
        due += gap
        off.append(times[number] - due)
    print("off the schedule, in packets:", min(off) / TO_SEND_S, max(off) / TO_SEND_S)
    exact = sum(0.1 / math.sqrt(n) for n in range(16, 201))
    print("16 to 200 by the law:", exact, "seen:", times[200] - times[15])
    assert max(map(abs, off)) <= TO_SEND_S * 1.01
    assert pytest.approx(exact, rel=0.02) == times[200] - times[15]
    assert forward(ran).queue.aqm_drops == need(UdpResult, ran.result.measured).lost_datagrams
    assert forward(ran).queue_drops == 0


def waiting_bytes(ran: Ran, from_s: float, to_s: float) -> float:
    """The mean of the forward queue's samples in a span of the workload."""
    rows = pq.read_table(ran.folder / "queues.parquet").to_pylist()
    mine = [row["backlog_bytes"] for row in rows if row["way"] == "forward" and from_s <= row["time_s"] < to_s]
    assert len(mine) > 500
    return sum(mine) / len(mine)


RED = {"type": "red", "min": "30 kB", "max": "90 kB", "probability": "4 %", "avpkt": FRAME}


@pytest.mark.parametrize("excess", [0.01, 0.02, 0.04])
def test_red_drops_with_the_probability_of_its_formula(run_trial: RunTrial, excess: float) -> None:
    """Against Floyd and Jacobson 1993, sections IV and VI (method 2): p_b = max_p (avg - min) / (max - min), with gaps
    uniform from 1 to 1/p_b, so that 2 p_b / (1 + p_b) of the packets are dropped. A load that does not slow down must
    lose its excess, so the mean queue follows. Failure: the share lost is more than 0.001 off (it takes a second
    to fill the queue), or the mean queue more than 5 %.
    """
    ran = run_trial(
        path=link(RED, buffer="400 kB"),
        workload=datagrams(RATE_BPS / (1 - excess), "60 s"),
        nic="plain",
        samples={"interval": "20 ms"},
    )
    assert ran.result.verdict == "valid"
    each = excess / (2 - excess)
    asked = 30_000 + (90_000 - 30_000) * each / 0.04
    print(f"excess {excess}: lost {lost(ran):.5f}, queue {waiting_bytes(ran, 20, 60):.0f} of {asked:.0f}")
    assert lost(ran) == pytest.approx(excess, abs=0.001)
    assert forward(ran).queue_drops == 0
    assert waiting_bytes(ran, 20, 60) == pytest.approx(asked, rel=0.05)


@pytest.mark.parametrize("offered", [1.1, 1.3])
def test_pie_holds_its_target_and_drops_the_excess(run_trial: RunTrial, offered: float) -> None:
    """Against RFC 8033, sections 4.1 and 4.2: the drop probability rises by alpha (delay - target) + beta (delay - the
    last delay) in each update, so it comes to rest only where the delay is the target of 15 ms; the load loses what it
    offers too much. Failure: over the last 40 of 60 s, the mean time in the queue until a packet is being sent is more
    than 10 % off 15 ms, or the share of the load that is lost is more than 0.01 off.
    """
    ran = run_trial(
        path=link("pie"),
        workload=datagrams(offered * RATE_BPS, "60 s"),
        nic="plain",
        samples={"interval": "20 ms"},
    )
    assert ran.result.verdict == "valid"
    delay_s = waiting_bytes(ran, 20, 60) * 8 / RATE_BPS - TO_SEND_S
    print(f"offered {offered}: lost {lost(ran):.5f} of {1 - 1 / offered:.5f}, delay {delay_s * 1e3:.2f} ms")
    assert delay_s == pytest.approx(0.015, rel=0.1)
    assert lost(ran) == pytest.approx(1 - 1 / offered, abs=0.01)


@pytest.mark.parametrize("queue", ["fq_codel", "sfq", "cake", "fq_pie", "fq"])
def test_a_fair_queue_gives_a_sparse_flow_all_that_it_asks_for(run_trial: RunTrial, queue: str) -> None:
    """Against max-min fairness (RFC 8290, section 1.3; McKenney 1990): of 10 Mbit/s, a flow of 2 Mbit/s gets all
    beside one of 20, which gets the rest. Failure: a packet of the small flow is lost, or one of them waits longer than
    half its round trip and four full frames; with fq, which gives each new flow ten frames at once, fourteen.
    """
    ran = run_trial(
        path=link(queue),
        workload=datagrams(2_000_000, "5 s"),
        background={"flood": {"pattern": "constant", "from": "a", "to": "b", "rate": "20 Mbit/s"}},
        nic="plain",
    )
    assert ran.result.verdict == "valid"
    seen = need(UdpResult, ran.result.measured)
    print(queue, seen.lost_datagrams, seen.delay_max_s)
    assert seen.lost_datagrams == 0
    frames = 14 if queue == "fq" else 4
    assert (seen.delay_max_s or 1.0) < 0.010 + frames * 1514 * 8 / RATE_BPS
    assert forward(ran).queue.aqm_drops + forward(ran).queue_drops > 0


@pytest.mark.parametrize("rtt", ["10 ms", "40 ms"])
def test_dualpi2_couples_its_queues_so_that_both_kinds_of_flows_share(run_trial: RunTrial, rtt: str) -> None:
    """Against RFC 9332, sections 2.1 and 2.4: with k = 2, a scalable flow (DCTCP, here by its ECT(0)) and a classic one
    get about the same rate at the same round-trip time. Failure: one has more than twice the rate of the other
    (RFC 9332 gives no bound; the authors' figures are within that), or packets of the classic flow are marked.
    """
    ran = run_trial(
        path={"rate": "40 Mbit/s", "rtt": rtt, "queue": {"forward": {"type": "dualpi2", "any_ect": True}}},
        workload={"duration": "40 s", "flows": 2, "congestion": ["dctcp", "cubic"]},
        samples={"interval": "100 ms"},
    )
    rates = [flow.goodput_bps or 0.0 for flow in ran.result.flows]
    print(rtt, rates, forward(ran).queue, [str(each) for each in ran.result.findings])
    assert ran.result.verdict == "valid"
    assert 0.5 < rates[0] / rates[1] < 2
    assert forward(ran).queue.marks > 0
    assert forward(ran).queue.aqm_drops > 0


L4S_BPS, L4S_RTT_S, FULL_S = 50_000_000, 0.080, 1514 * 8 / 50_000_000
CE = 3


def l4s(ran: Ran) -> tuple[list[Packet], list[tuple[float, Packet]]]:
    """The data packets that came to the queue, and those that left it, each with how long it was between the two."""
    came, left = (
        [each for each in packets(ran.folder / f"path-{device}.pcap") if each.is_data("10.0.0.1")]
        for device in ("wire1", "end1")
    )
    times = {(each.identification, each.number): each.time_s for each in came}
    return came, [(each.time_s - times[each.identification, each.number], each) for each in left]


def run_l4s(run_trial: RunTrial, **workload: Any) -> Ran:
    """One flow over dualpi2, whose acknowledgements come in bursts, as over Wi-Fi: scenarios/l4s.yaml has it so."""
    path = {"rate": f"{L4S_BPS} bit/s", "rtt": f"{L4S_RTT_S} s", "buffer": "1000 packets"}
    hosts = {name: {"type": "host", "ecn": "on"} for name in ("a", "b")}
    queued = {**path, "queue": {"forward": {"type": "dualpi2", "any_ect": True}}}
    bursts = {"aggregate": {"backward": {"time": "4 ms", "bytes": "64 KiB"}}}
    return run_trial(
        topology={"name": "net", "nodes": hosts, "links": {"path": {"ends": ["a", "b"], **queued, **bursts}}},
        workload={"duration": "30 s", **workload},
        capture=[{"at": "path", "snaplen": 96}],
    )


def test_dualpi2_marks_the_packets_that_waited_longer_than_its_step(run_trial: RunTrial) -> None:
    """Against what its step says (step_thresh, 1 ms in the low-latency queue), and RFC 9438, section 5.1 (a window of
    √(1.5/p) packets where CUBIC is as friendly as Reno). The token bucket takes a packet out of the queue
    while the one before it is being sent. Failure: a packet that was 1 ms or less in the queue is marked, or one
    that was there longer is not; or the goodput is more than 25 % off the window that the share of marks gives.
    """
    ran = run_l4s(run_trial)
    assert ran.result.verdict == "valid", ran.result.warnings
    _, left = l4s(ran)
    marked = [waited_s - FULL_S for waited_s, each in left if each.ecn == CE]
    others = [waited_s - FULL_S for waited_s, each in left if each.ecn != CE]
    print(
        f"{len(marked)} marked after {min(marked):.6f} s or more, {len(others)} not after {max(others):.6f} s or less"
    )
    assert max(others) <= 0.001 < min(marked)
    assert len(marked) == forward(ran).queue.marks > 20
    window = math.sqrt(1.5 * len(left) / len(marked))
    rtt_s = L4S_RTT_S + 0.004
    print(f"{ran.result.goodput_bps} bit/s, a window of {window:.1f} packets gives {window * 1448 * 8 / rtt_s:.0f}")
    assert ran.result.goodput_bps == pytest.approx(window * 1448 * 8 / rtt_s, rel=0.25)


def test_a_flow_without_bursts_has_more_of_dualpi2(run_trial: RunTrial) -> None:
    """Against Heist and Morton's tests of L4S ("Underutilization with bursty traffic"): bursts alone bring about marks.
    Failure: paced by TCP, the same flow does not get five times as much; or the burst that brings about a mark is
    shorter than 1 ms at the rate of the link.
    """
    bursty, paced = run_l4s(run_trial), run_l4s(run_trial, rate="48 Mbit/s")
    rates = [ran.result.goodput_bps or 0.0 for ran in (bursty, paced)]
    print(rates)
    assert rates[1] > 5 * rates[0]
    came, left = l4s(bursty)
    marked = {(each.identification, each.number) for _, each in left if each.ecn == CE}
    sizes, place = [], 0
    for one, later in pairwise(came):
        place = place + 1 if later.time_s - one.time_s < FULL_S else 0
        sizes += [place] if (later.identification, later.number) in marked else []
    assert min(sizes) * FULL_S > 0.001
    assert all(each.protocol == TCP for each in came)


def test_the_acks_that_cake_filters_are_neither_congestion_nor_drops_of_a_full_queue(run_trial: RunTrial) -> None:
    """ACKs of a flow of 20 Mbit/s wait on a way back of 200 kbit/s. Failure: cake filters few; others are missing
    behind it than it says it filtered and dropped (captures); more than 1 in 20 count as drops to signal congestion.
    """
    ran = run_trial(
        path={
            "rate": {"forward": "20 Mbit/s", "backward": "200 kbit/s"},
            "rtt": "20 ms",
            "buffer": "1000 packets",
            "queue": {"backward": {"type": "cake", "ack_filter": "ack-filter"}},
        },
        workload={"duration": "5 s"},
        capture=[{"at": "path", "snaplen": 60}],
    )
    assert ran.result.verdict == "valid", ran.result.findings
    (stage,) = (each for each in ran.result.stages if each.way == "backward")
    assert stage.queue is not None
    print("filtered", stage.queue.filtered_acks, "AQM", stage.queue.aqm_drops, "full", stage.queue_drops)
    assert stage.queue.filtered_acks is not None
    assert stage.queue.filtered_acks > 100
    assert stage.queue_drops == 0
    assert stage.queue.aqm_drops < stage.queue.filtered_acks / 20
    assert ran.result.seen.filtered_acks == stage.queue.filtered_acks
    came, left = (
        sum(str(each.source) == "10.0.0.2" for each in packets(ran.folder / f"path-{device}.pcap"))
        for device in ("wire0", "end0")
    )
    assert came - left == stage.queue.filtered_acks + stage.queue.aqm_drops
