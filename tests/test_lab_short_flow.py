"""Flows that arrive and end, in the lab kernel: against closed forms, packet captures and queueing theory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow.parquet as pq
import pytest
from pcap import packets
from trials import Ran

from testbed.model.workload.flow import schedule
from testbed.trial.evidence.completion import FctResult
from testbed.trial.measured import need

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

ARRIVING: dict[str, Any] = {"arrivals": {"poisson": "5 /s"}, "size": "14480 B", "duration": "2 s"}
MSS_BYTES, FRAME_BYTES, SYN_BYTES, HEADERS_BYTES = 1448, 1514, 60, 52


def fct(ran: Ran) -> FctResult:
    return need(FctResult, ran.result.measured)


@pytest.mark.parametrize(("segments", "rounds"), [(1, 1), (10, 1), (11, 2), (30, 2), (31, 3), (70, 3)])
def test_a_flow_alone_takes_a_handshake_and_the_rounds_of_slow_start(
    run_trial: RunTrial, segments: int, rounds: int
) -> None:
    """A round trip for the handshake, half of one for the last flight, and one for each flight before it. The first
    has 10 segments (RFC 6928), each later one twice as many (RFC 5681); and at most the time to send them all.
    """
    path = {"rate": "1 Gbit/s", "rtt": "40 ms"}
    ran = run_trial(path=path, workload={**ARRIVING, "size": f"{segments * MSS_BYTES} B"})
    found = fct(ran).fct_s
    assert ran.result.verdict == "valid", ran.result.warnings
    assert found is not None
    least_s = 0.040 * (1 + rounds - 1 + 0.5)
    sending_s = segments * FRAME_BYTES * 8 / 1e9
    assert least_s <= found.p50 <= found.max <= least_s + sending_s + 50e-6


def test_completion_times_are_those_of_the_packets(run_trial: RunTrial) -> None:
    """From the SYN at the sender to the last data packet at the receiver: the program sees both within 10 µs."""
    workload = {**ARRIVING, "arrivals": "poisson", "load": "50 %", "size": {"pareto": {"mean": "50 kB"}}}
    ran = run_trial(path={"rate": "20 Mbit/s"}, workload=workload, capture=[{"at": "a"}, {"at": "b"}])
    syn, last, octets, seen = {}, {}, {}, set()
    for packet in packets(ran.folder / "a-eth0.pcap"):
        if packet.destination_port == 5001:
            syn.setdefault(packet.source_port, packet.time_s)
    for packet in packets(ran.folder / "b-eth0.pcap"):
        port = packet.source_port
        if packet.destination_port == 5001 and port not in seen:
            seen.add(port)
        elif packet.destination_port == 5001 and packet.length_bytes > HEADERS_BYTES:
            last[port] = packet.time_s
            octets[port] = octets.get(port, 0) + packet.length_bytes - HEADERS_BYTES
    table = pq.read_table(ran.folder / "completions.parquet").to_pylist()
    assert len(table) == fct(ran).finished > 10
    for row in table:
        if not row["retransmits"]:
            assert octets[row["port"]] == row["size_bytes"]
        assert row["fct_s"] == pytest.approx(last[row["port"]] - syn[row["port"]], abs=10e-6)
    for one, later in pairwise(table):
        apart_s = syn[later["port"]] - syn[one["port"]]
        assert apart_s == pytest.approx(later["start_s"] - one["start_s"], abs=10e-6)


@pytest.mark.parametrize("requests", [{}, {"connections": "2"}])
def test_a_request_takes_the_way_there_and_back(run_trial: RunTrial, requests: dict[str, str]) -> None:
    """A new connection costs a round trip more; ten segments come in one flight."""
    ran = run_trial(path={"rate": "1 Gbit/s", "rtt": "40 ms"}, workload={**ARRIVING, "requests": requests})
    found = fct(ran)
    assert ran.result.verdict == "valid", ran.result.warnings
    assert found.fct_s is not None
    trips = 1 if requests else 2
    assert found.fct_s.p50 == pytest.approx(0.040 * trips, abs=300e-6)
    assert found.received_bytes == found.flows * 14480


def test_flows_that_share_a_link_take_as_long_as_processor_sharing_says(run_trial: RunTrial) -> None:
    """M/G/1 with processor sharing: the mean slowdown is 1 / (1 - load) for any distribution of sizes (Kleinrock,
    Queueing Systems II, 4.4). TCP shares a link roughly, over many round trips of a buffer that is small beside the
    flows: within 20 %, of the load that was drawn.
    """
    path = {"rate": "10 Mbit/s", "rtt": "200 us", "buffer": "30 packets"}
    workload = {"arrivals": "poisson", "load": "50 %", "size": "1 MB", "duration": "1000 s", "drain": "100 s"}
    ran = run_trial(path=path, workload=workload, samples={"interval": "1 s"})
    found = fct(ran)
    assert found.unfinished == 0
    assert found.slowdown is not None
    load = found.offered_bytes * 8 / 1000 / (10e6 * MSS_BYTES / FRAME_BYTES)
    assert load == pytest.approx(0.5, rel=0.1)
    assert found.slowdown.mean == pytest.approx(1 / (1 - load), rel=0.2)


def test_flows_that_are_cut_are_counted_and_none_is_never_valid(run_trial: RunTrial) -> None:
    workload = {**ARRIVING, "arrivals": {"poisson": "20 /s"}, "size": "2 MB", "drain": "100 ms"}
    ran = run_trial(path={"rate": "100 Mbit/s", "rtt": "20 ms"}, workload=workload)
    found = fct(ran)
    assert 0 < found.finished < found.flows == found.finished + found.unfinished
    assert ran.result.verdict == "suspect"
    assert any("were cut" in text and "lower bounds" in text for text in ran.result.warnings)
    table = pq.read_table(ran.folder / "completions.parquet").to_pylist()
    assert [row["state"] for row in table].count("cut") == found.unfinished
    assert all((row["fct_s"] is None) == (row["state"] == "cut") for row in table)
    ran = run_trial(path={"rate": "1 Mbit/s"}, workload={**workload, "size": "20 MB"})
    assert (fct(ran).finished, ran.result.verdict) == (0, "invalid")


def test_the_same_seed_makes_the_same_flows_and_another_seed_others(run_trial: RunTrial) -> None:
    outputs = []
    for seed in (1, 1, 2):
        ran = run_trial(workload={**ARRIVING, "size": {"cdf": "web-search"}}, seed=seed)
        outputs.append((ran.folder / "arrivals.out").read_bytes())
        drawn = schedule(ran.trial.workload, seed=seed, goodput_bps=None)  # type: ignore[arg-type]
        assert len(drawn) == fct(ran).flows
    assert outputs[0] == outputs[1] != outputs[2]


def test_a_flow_with_a_rate_is_paced_by_tcp_and_one_that_writes_has_its_pieces(run_trial: RunTrial) -> None:
    """SO_MAX_PACING_RATE counts payload (tcp_update_skb_after_send), after the first ten segments."""
    paced = run_trial(workload={"rate": "5 Mbit/s", "duration": "5 s", "flows": 2})
    for flow in paced.result.flows:
        assert flow.goodput_bps == pytest.approx(5e6, rel=0.01)
    writes = run_trial(workload={"writes": {"size": "20 kB", "every": "50 ms"}, "duration": "5 s"})
    # The last of 100 pieces leaves 50 ms before the end, and is there by then.
    assert writes.result.flows[0].received_bytes == 100 * 20_000
    for ran in (paced, writes):
        assert ran.result.verdict == "valid", ran.result.warnings


def test_the_rate_of_short_flows_is_that_of_each(run_trial: RunTrial) -> None:
    """100 kB at 5 Mbit/s: all but the first ten segments are paced, after 1.5 round trips of 10 ms."""
    ran = run_trial(workload={**ARRIVING, "size": "100 kB", "rate": "5 Mbit/s"})
    found = fct(ran).fct_s
    assert found is not None
    assert found.p50 == pytest.approx(0.015 + (100_000 - 10 * MSS_BYTES) * 8 / 5e6, rel=0.05)
