"""The RTT of each ping of a workload: what ping prints of it, and the quantiles that follow. No kernel needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from storedruns import Made, trial_result
from test_gate import fine
from trials import make_trial

from testbed.analysis.metric import METRICS, measure
from testbed.error import SpecError
from testbed.spec.load import load_scenario
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.trial import record
from testbed.trial.evidence.case import Case
from testbed.trial.measured import PingResult
from testbed.trial.orders.sequence import orders
from testbed.trial.result import TrialResult
from testbed.trial.workload import ping

TEXT = """PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=15.0 ms
64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=85.4 ms
64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=99.9 ms (DUP!)
64 bytes from 10.0.0.2: icmp_seq=4 ttl=64 time=0.043 ms

--- 10.0.0.2 ping statistics ---
4 packets transmitted, 3 received, +1 duplicates, 25% packet loss, time 3001ms
rtt min/avg/max/mdev = 0.043/33.481/85.411/40.100 ms
"""
NAMES = ("ping-p50", "ping-p95", "ping-p99")


def of_pings(*rtts_s: float | None) -> TrialResult:
    came = [rtt for rtt in rtts_s if rtt is not None]
    found = PingResult(
        len(rtts_s), len(came), *((min(came), 0.05, max(came), 0.01) if came else (None,) * 4), rtts_s=rtts_s
    )
    return replace(trial_result(Made({}, [])), measured={PingResult.KEY: record.write(found)})


def test_each_ping_has_its_rtt_and_a_lost_one_none() -> None:
    found = ping.parse(TEXT)
    assert found.rtts_s == (0.015, 0.0854, None, pytest.approx(0.000043))
    assert [*ping.round_trip_faults(found, 40_000)] == []


def test_pings_that_print_no_single_times_have_none() -> None:
    quiet = "\n".join(line for line in TEXT.splitlines() if "icmp_seq" not in line)
    assert (ping.parse(quiet).rtts_s, ping.parse(quiet).interval_s) == ((), None)
    assert "rtts_s" not in record.write(ping.parse(quiet))


PACED = {"tool": "ping", "count": 101, "interval": "10 ms"}


@pytest.mark.parametrize(
    ("took_ms", "said"),
    [
        (1000, None),
        (1021, None),  # 2 %, and the millisecond that ping rounds to
        (1022, "the pings were 10.22 ms apart, asked were 10 ms"),
        (1497, "the pings were 14.97 ms apart, asked were 10 ms"),
        (980, None),
        (978, "the pings were 9.78 ms apart, asked were 10 ms"),
    ],
)
def test_pings_further_apart_than_asked_are_a_note(took_ms: int, said: str | None) -> None:
    found = ping.parse(TEXT.replace("4 packets transmitted", "101 packets transmitted").replace("3001", str(took_ms)))
    assert found.interval_s == pytest.approx(took_ms / 1e5)
    trial = make_trial(workload=PACED)
    plan = orders(trial).plan
    told = [(each.check, each.verdict, each.text) for each in ping.pace(Case(trial, plan, fine(trial, plan)), found)]
    assert told == ([("load", "valid", said)] if said else [])


def test_the_first_pings_of_a_controller_are_no_part_of_the_interval() -> None:
    first = [ping.parse(TEXT.replace("4 packets", "1 packets").replace("3 received", "1 received"))] * 3
    together = ping._together(first, [ping.parse(TEXT)])
    assert [each.interval_s for each in first] == [None] * 3
    assert together.interval_s == pytest.approx(1.000333, rel=1e-5)
    trial = make_trial(workload={"tool": "ping", "count": 7, "interval": "1 s"})
    plan = orders(trial).plan
    assert [*ping.pace(Case(trial, plan, fine(trial, plan)), replace(together, sent=7))] == []
    assert ping._together(first, []).interval_s is None


@pytest.mark.parametrize(
    "wrong", [(0.015, 0.0854, None), (0.015, 0.0854, 0.02, 0.000043), (0.015, 0.05, None, 0.000043)]
)
def test_single_times_that_do_not_add_up_with_the_summary_are_a_fault(wrong: tuple[float | None, ...]) -> None:
    (said,) = ping.round_trip_faults(replace(ping.parse(TEXT), rtts_s=wrong), 40_000)
    assert "single ones that are others" in said


def test_the_quantiles_are_those_of_all_pings() -> None:
    """A FIFO and fq_codel both had an RTT of 15.000 ms in the table: that of the idle path."""
    some = of_pings(*(n / 1000 for n in range(1, 102)))
    assert measure(some, (), NAMES) == {
        name: pytest.approx(at) for name, at in zip(NAMES, (0.051, 0.096, 0.1), strict=True)
    }
    assert METRICS["ping-p95"].text(0.096) == "96"


def test_a_quantile_among_lost_pings_has_no_value() -> None:
    """Of 101 pings 6 were lost. Half took no longer than 51 ms; how long 95 % took, nobody knows."""
    some = of_pings(*(n / 1000 if n <= 95 else None for n in range(1, 102)))
    assert measure(some, (), NAMES) == {"ping-p50": pytest.approx(0.051), "ping-p95": None, "ping-p99": None}
    assert measure(of_pings(None, None), (), NAMES) == dict.fromkeys(NAMES)
    assert measure(trial_result(Made({}, [1e6])), (), NAMES) == dict.fromkeys(NAMES)


def test_a_quantile_of_three_digits_lies_between_the_shortest_and_the_longest() -> None:
    """From 100 ms on ping prints 123 ms of each, and 123.456 ms of the shortest: the quantile was below that."""
    lines = "".join(f"64 bytes from 10.0.0.2: icmp_seq={at} ttl=64 time={ms} ms\n" for at, ms in ((1, 123), (2, 124)))
    counts = "2 packets transmitted, 2 received, 0% packet loss, time 1ms"
    found = ping.parse(f"{lines}\n{counts}\nrtt min/avg/max/mdev = 123.456/123.500/123.544/0.044 ms\n")
    assert [*ping.round_trip_faults(found, 40_000)] == []
    result = replace(trial_result(Made({}, [])), measured={PingResult.KEY: record.write(found)})
    assert measure(result, (), NAMES) == {
        "ping-p50": pytest.approx(0.1235), "ping-p95": pytest.approx(0.123544), "ping-p99": pytest.approx(0.123544),
    }  # fmt: skip
    same = replace(found, rtts_s=(0.123, 0.123))
    result = replace(result, measured={PingResult.KEY: record.write(same)})
    assert measure(result, (), NAMES) == dict.fromkeys(NAMES, pytest.approx(0.123456))


@pytest.mark.parametrize("size", [1000, "1000", "1000 B", "1 kB"])
def test_the_payload_of_a_ping_is_bytes_with_their_unit_or_without(size: object) -> None:
    trial = make_trial(workload={"tool": "ping", "size": size})
    assert trial.workload.echo_bytes == 1000
    assert trial.workload.written()["size"] == 1000


def test_a_stored_trial_may_have_pings_without_a_time_and_a_scenario_not(tmp_path: Path) -> None:
    """Results of 0.1.0 have such pings, and their trials could not be read."""
    stored = trial_data(make_trial(workload={"tool": "ping", "size": 16}))
    stored["workload"]["size"] = 15
    assert trial_of(stored).workload.echo_bytes == 15
    file = tmp_path / "x.yaml"
    net = "{name: n, nodes: {a: {type: host}, b: {type: host}}, links: {path: {ends: [a, b], rate: 1 Mbit/s}}}"
    file.write_text(f"name: x\ntopology: {net}\nworkload:\n  {{tool: ping, from: a, to: b, size: 15 B}}\n")
    with pytest.raises(SpecError, match=r"x\.yaml:4: pings of 15 B have no room for the time.* 16 B and more"):
        load_scenario(file)
