"""RTTs that wander: the process against its closed forms, tables against their rows, and what files are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest
from sabotage_during import shell
from trials import Ran, make_trial

from testbed.error import SpecError, UserError
from testbed.model.chance import is_drawn
from testbed.model.link.wander import Table, Wander
from testbed.plan.network import plan
from testbed.spec import trace_file
from testbed.spec.load import load_scenario, load_topology

MS, S = 10**6, 10**9
RunTrial = Callable[..., Ran]


def series(wander: Wander, rtt_ns: int = 50 * MS, until_ns: int = 4000 * S, seed: str = "1") -> list[int]:
    return [value for _, value in wander.values(rtt_ns, seed, until_ns)]


def correlation(values: list[int], lag: int) -> float:
    mean, variance = fmean(values), pstdev(values) ** 2
    return fmean((a - mean) * (b - mean) for a, b in zip(values, values[lag:], strict=False)) / variance


def test_the_process_has_the_deviation_and_the_correlation_of_its_formula() -> None:
    found = series(Wander(sd_ns=2 * MS, correlation_ns=S, step_ns=100 * MS))
    assert len(found) == 40_001
    # 4000 s hold some 2000 independent values: a deviation is known to 2 %, a correlation to 0.03
    assert fmean(found) == pytest.approx(50 * MS, abs=0.2 * MS)
    assert pstdev(found) == pytest.approx(2 * MS, rel=0.06)
    for lag in (1, 5, 10, 20):
        assert correlation(found, lag) == pytest.approx(math.exp(-lag / 10), abs=0.08)
    assert max(abs(later - one) for one, later in pairwise(found)) < 6 * 2 * MS * math.sqrt(1 - math.exp(-0.2))


def test_a_seed_draws_the_same_again_and_another_one_does_not() -> None:
    wander = Wander(sd_ns=MS, correlation_ns=S)
    assert series(wander, until_ns=9 * S) == series(wander, until_ns=9 * S)
    assert series(wander, until_ns=9 * S) != series(wander, until_ns=9 * S, seed="2")
    assert series(wander, until_ns=9 * S)[:10] == series(wander, until_ns=2 * S)[:10]


def test_values_have_the_distribution_of_a_table() -> None:
    rows = "0:18000000 500000000:20000000 900000000:30000000 1000000000:90000000"
    found = sorted(series(Wander(quantiles=Table("q.csv", rows), correlation_ns=S, step_ns=500 * MS)))
    assert all(18 * MS <= each <= 90 * MS for each in found)
    for share, rtt_ms in ((0.25, 19), (0.5, 20), (0.7, 25), (0.9, 30)):
        place = sum(each <= rtt_ms * MS for each in found) / len(found)
        assert place == pytest.approx(share, abs=0.04)


def test_a_trace_is_played_again_and_again() -> None:
    wander = Wander(trace=Table("t.csv", "500000000:20000000 1000000000:40000000"))
    assert list(wander.values(0, "", 3 * S)) == [
        (0, 20 * MS),
        (500 * MS, 40 * MS),
        (1500 * MS, 20 * MS),
        (2000 * MS, 40 * MS),
        (3000 * MS, 20 * MS),
    ]


def test_the_plan_splits_what_is_longer_between_the_directions_and_keeps_the_order_of_packets() -> None:
    wander = {"trace": {"file": "t", "rows": "500000000:20000000 500000000:11000001"}}
    trial = make_trial(path={"delay": {"forward": "8 ms", "backward": "2 ms"}, "rtt": None, "wander": wander})
    planned = plan(trial.topology, trial.workload, seed=trial.seed)
    forward, backward = planned.emulator("path").stages  # type: ignore[union-attr]
    found = [(state.at_ns, state.asked.delay_ns) for state in forward.states[:3]]
    assert found == [(0, 13 * MS), (500 * MS, 8_500_000), (1000 * MS, 13 * MS)]
    assert [state.asked.delay_ns for state in backward.states[:2]] == [7 * MS, 2_500_000]
    assert forward.keeps_order
    assert backward.keeps_order


def test_only_what_is_drawn_depends_on_the_seed() -> None:
    drawn = {"sd": "1 ms", "correlation": "1 s"}
    assert is_drawn(make_trial(path={"wander": drawn}))
    played = {"trace": {"file": "t", "rows": "500000000:20000000"}}
    assert is_drawn(make_trial(path={"wander": played})) == is_drawn(make_trial())


BAD: dict[str, tuple[str, str]] = {
    "no-header": ("0,20\n1,end\n", "w.csv:1: '0,20' is no header"),
    "no-end": ("time_s,rtt_ms\n0,20\n1,30\n", "w.csv:3: the table has no end"),
    "falls": ("time_s,rtt_ms\n0,20\n2,30\n1,20\n3,end\n", "w.csv:4: the time 1 is not after the one before"),
    "word": ("time_s,rtt_ms\n0,20\n1,long\n3,end\n", "w.csv:3: 'long' is not a RTT in whole ns"),
    "short": ("time_ms,rtt_ms\n0,20\n0.5,30\n3,end\n", "w.csv:2: the RTT holds for too short a time"),
    "long": ("time_s,rtt_s\n0,20\n1,600\n3,end\n", "w.csv:3: the RTT is too long"),
    "empty": ("# nothing\n", "w.csv: this is empty"),
    "three": ("time_s,rtt_ms\n0,20,3\n1,end\n", "w.csv:2: 3 values in this row"),
}
BAD_QUANTILES: dict[str, tuple[str, str]] = {
    "header": ("time_s,rtt_ms\n0,20\n1,end\n", "w.csv:1: 'time_s,rtt_ms' is no header"),
    "falls": ("quantile,rtt_ms\n0,20\n0.5,19\n1,30\n", "w.csv:3: a quantile or its RTT falls"),
    "same": ("quantile,rtt_ms\n0,20\n0,21\n1,30\n", "w.csv:3: a quantile or its RTT falls"),
    "part": ("quantile,rtt_ms\n0.1,20\n0.5,21\n1,30\n", "the quantiles are not those of a whole distribution"),
    "beyond": ("quantile,rtt_ms\n0,20\n1.5,21\n", "w.csv:3: '1.5' is not a quantile"),
}


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        *(("trace", *row) for row in BAD.values()),
        *(("quantiles", *row) for row in BAD_QUANTILES.values()),
    ],
)
def test_a_table_is_refused_with_its_line(tmp_path: Path, key: str, text: str, said: str) -> None:
    (tmp_path / "w.csv").write_text(text)
    more = ", correlation: 1 s" if key == "quantiles" else ""
    link = f"{{ends: [a, b], rtt: 20 ms, wander: {{{key}: w.csv{more}}}}}"
    (tmp_path / "t.yaml").write_text(
        f"name: t\nnodes: {{a: {{type: host}}, b: {{type: host}}}}\nlinks: {{path: {link}}}\n"
    )
    with pytest.raises(SpecError) as refused:
        load_topology(tmp_path / "t.yaml")
    assert said in str(refused.value)
    assert "allowed: " in str(refused.value)


def test_a_trial_needs_no_table_to_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("time_s,rtt_ms\n0,20\n1,end\n")
    (tmp_path / "s.yaml").write_text(
        "name: s\ntopology:\n  name: t\n  nodes: {a: {type: host}, b: {type: host}}\n"
        "  links: {path: {ends: [a, b], rtt: 20 ms}}\n"
        "workload: {tool: ping, from: a, to: b}\nsweep: {path.wander: [none, {trace: w.csv}]}\n"
    )
    trials = load_scenario(tmp_path / "s.yaml").trials()
    (tmp_path / "w.csv").unlink()
    assert [dict(each.params)["path.wander"] for each in trials] == ["none", "trace w.csv"]
    assert trials[1].topology.links[0].wander == Wander(trace=Table("w.csv", "1000000000:20000000"))


def test_a_workload_of_more_steps_than_a_plan_follows_is_refused() -> None:
    wander = {"sd": "1 ms", "correlation": "100 ms", "step": "1 ms"}
    trial = make_trial(path={"wander": wander}, workload={"duration": "60 s"})
    with pytest.raises(UserError, match="allowed: up to 10000: a longer 'every' or 'step'"):
        plan(trial.topology, trial.workload)


def test_a_table_of_rtts_and_a_table_of_rates_are_not_taken_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("time_s,rtt_ms\n0,20\n1,end\n")
    with pytest.raises(SpecError, match=r"w\.csv:1: 'time_s,rtt_ms' is no header"):
        trace_file.read(str(tmp_path / "w.csv"), "w.csv")


def pings(ran: Ran) -> list[float]:
    found: dict[str, Any] = ran.result.measured["ping"]
    return [round(1000 * each, 3) for each in found["rtts_s"]]


PING = {"tool": "ping", "count": 30, "interval": "100 ms"}


@pytest.mark.lab
def test_each_ping_takes_what_the_trace_says(run_trial: RunTrial) -> None:
    rows = "500000000:20000000 500000000:40000000 500000000:30500000"
    ran = run_trial(path={"wander": {"trace": {"file": "t", "rows": rows}}, "rtt": "20 ms"}, workload=PING)
    assert ran.result.verdict == "valid", ran.result.findings
    assert pings(ran) == ([20.0] * 5 + [40.0] * 5 + [30.5] * 5) * 2


@pytest.mark.lab
def test_each_ping_takes_what_the_process_drew(run_trial: RunTrial) -> None:
    wander = {"sd": "4 ms", "correlation": "500 ms", "step": "100 ms"}
    ran = run_trial(path={"wander": wander, "rtt": "40 ms"}, workload=PING)
    assert ran.result.verdict == "valid", ran.result.findings
    asked = Wander(sd_ns=4 * MS, correlation_ns=500 * MS, step_ns=100 * MS)
    drawn = series(asked, 40 * MS, 3 * S, f"{ran.trial.seed}/path/wander")
    assert pings(ran) == pytest.approx([each / MS for each in drawn[:30]], abs=0.1)  # of three digits


@pytest.mark.lab
def test_no_packet_overtakes_where_the_rtt_falls(run_trial: RunTrial) -> None:
    wander = {"sd": "4 ms", "correlation": "50 ms", "step": "20 ms"}
    workload = {"tool": "udp", "rate": "20 Mbit/s", "duration": "2 s"}
    ran = run_trial(path={"wander": wander, "rtt": "40 ms"}, workload=workload)
    assert ran.result.verdict == "valid", ran.result.findings
    assert ran.result.measured["udp"]["out_of_order_datagrams"] == 0


WANDERS: dict[str, Any] = {
    "path": {"wander": {"sd": "8 ms", "correlation": "400 ms", "step": "100 ms"}, "rtt": "40 ms", "rate": "100 Mbit/s"},
    "samples": {"interval": "100 ms"},
}
HELD: dict[str, tuple[dict[str, Any], int]] = {
    "pings": ({"tool": "ping", "count": 20, "interval": "100 ms"}, 20_000),
    "TCP at a rate of its own": ({"duration": "2 s", "rate": "2 Mbit/s"}, 20_000),
    "BBR": ({"duration": "2 s", "congestion": "bbr"}, 20_000),
    "iperf3": ({"tool": "iperf3", "duration": "2 s"}, 12_000),
    "datagrams": ({"tool": "udp", "rate": "10 Mbit/s", "duration": "2 s"}, 12_000),
}
"""Workloads, and a delay in us that somebody sets again and again."""


@pytest.mark.lab
@pytest.mark.parametrize("name", HELD)
def test_a_delay_that_does_not_wander_is_told(run_trial: RunTrial, name: str) -> None:
    """Each of its values lies between the least and the greatest that the process drew."""
    workload, us = HELD[name]
    again = f"tc qdisc change dev $device root handle 1: netem delay {us}us"
    loop = f"while :; do for device in wire0 wire1; do {again}; done; sleep 0.013; done"
    found = run_trial(**WANDERS, workload=workload, tamper=shell("sleep 0.3", loop)).result.findings
    assert any("of its time" in each.text or "of their time" in each.text for each in found), found
    assert run_trial(**WANDERS, workload=workload).result.verdict == "valid"


@pytest.mark.lab
def test_a_connection_that_measures_nothing_is_no_fault(run_trial: RunTrial) -> None:
    """As that by which iperf3 says what it does: its mean stays as it was."""
    rows = "0:20000000 500000000:40000000 1000000000:160000000"
    path = {"wander": {"quantiles": {"file": "q", "rows": rows}, "correlation": "500 ms", "step": "20 ms"}}
    workload = {"tool": "iperf3", "duration": "2 s"}
    ran = run_trial(path={**path, "rtt": "40 ms"}, workload=workload, samples={"interval": "30 ms"})
    assert ran.result.verdict != "invalid", ran.result.findings
