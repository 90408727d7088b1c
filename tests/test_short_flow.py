"""Flows that arrive and end: what is drawn, what files say, what is read, and what the gate says of it."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trials import found_in, make_trial, seen_evidence

from testbed.error import SpecError, UserError
from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.model.workload import ShortFlowWorkload
from testbed.model.workload.arrival import PUBLISHED, Cdf, Fixed, OnOff, Pareto, Poisson
from testbed.model.workload.flow import ARRIVALS_MAX, schedule
from testbed.plan.step import Run
from testbed.spec.load import load_scenario
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.trial import record
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.completion import Completion, FctResult, goodput_bps, ideal_ns, summary
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.evidence.stage import Evidence
from testbed.trial.measured import PingResult, need
from testbed.trial.orders.sequence import orders
from testbed.trial.result import Finding, FlowResult
from testbed.trial.workload import flow, short_flow

ARRIVING = {"arrivals": {"poisson": "20 /s"}, "size": "10 kB"}
MILLION = 1_000_000


def trial(path: dict[str, Any] | None = None, **workload: Any) -> Trial:
    return make_trial(path=path, workload={**ARRIVING, **workload})


def value(**workload: Any) -> ShortFlowWorkload:
    found = trial(**workload).workload
    assert isinstance(found, ShortFlowWorkload)
    return found


def starts(workload: ShortFlowWorkload, seed: int = 1, bps: float | None = 1e8) -> list[int]:
    return [each.start_ns for each in schedule(workload, seed=seed, goodput_bps=bps)]


# What is drawn


def test_poisson_arrivals_pass_the_kolmogorov_smirnov_test() -> None:
    """Below 1.63 / sqrt(n), which holds for 99 of 100 exponential samples (Massey, JASA 46, 1951)."""
    gaps = np.sort(np.diff([0, *starts(value(arrivals={"poisson": "5000 /s"}, duration="4 s"))])) / 1e9
    expected = 1 - np.exp(-5000 * gaps)
    count = len(gaps)
    steps = np.arange(count + 1) / count
    distance = max(np.abs(steps[1:] - expected).max(), np.abs(steps[:-1] - expected).max())
    assert count == pytest.approx(20_000, abs=3 * math.sqrt(20_000))
    assert distance < 1.63 / math.sqrt(count)


@pytest.mark.parametrize("sizes", [*PUBLISHED.values(), Pareto(100_000, Fraction(6, 5)), Fixed(5000)], ids=str)
def test_the_quantiles_of_drawn_sizes_are_those_of_the_distribution(sizes: Any) -> None:
    """By the Dvoretzky-Kiefer-Wolfowitz bound, all shares are within 0.012 in 99 of 100 samples of 20 000."""
    draw, count = random.Random("sizes"), 20_000
    drawn = np.sort([sizes.draw(draw) for _ in range(count)])
    bound = math.sqrt(math.log(2 / 0.01) / (2 * count))
    for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99):
        size = sizes.at(share)
        assert (drawn < size).mean() <= share + bound
        assert (drawn <= size).mean() >= share - bound


def test_the_published_sizes_are_those_of_the_papers() -> None:
    """DCTCP, figure 4: more than half of the flows have less than 100 kB, the largest 30 MB. VL2, figure 2: four in
    five have less than 10 kB, the largest a gigabyte.
    """
    search, mining = PUBLISHED["web-search"], PUBLISHED["data-mining"]
    assert search.at(0.53) == 80_000
    assert search.points[-1] == (30 * MILLION, 1)
    assert search.mean_bytes == pytest.approx(1.7112e6, rel=1e-3)
    assert mining.at(0.8) == 10_000
    assert mining.points[-1] == (1000 * MILLION, 1)


def test_the_mean_of_a_pareto_distribution_is_that_of_the_file() -> None:
    """The mean of all quantiles below 1 - 1e-6, with shape 3, whose tail beyond is small."""
    sizes = Pareto(100_000, Fraction(3))
    shares = (np.arange(200_000) + 0.5) / 200_000
    assert np.mean([sizes.at(share) for share in shares]) == pytest.approx(100_000, rel=1e-3)


def test_between_two_points_a_distribution_is_linear_and_its_first_point_has_its_share() -> None:
    sizes = Cdf("x", ((1000, Fraction(1, 2)), (3000, Fraction(1))))
    assert [sizes.at(share) for share in (0.0, 0.2, 0.5, 0.75)] == [1000, 1000, 1000, 2000]
    assert sizes.mean_bytes == 1500
    assert Cdf("x", ((0, Fraction(0)), (100, Fraction(1)))).at(0.0) == 1


def test_an_on_off_process_is_busy_for_its_share_of_the_time() -> None:
    process = OnOff(100 * MILLION, 300 * MILLION, Fraction(1000))
    times = list(process.times_ns(1000.0, random.Random(1), 200 * 10**9))
    assert len(times) == pytest.approx(process.mean_count(200 * 10**9), rel=0.1)
    assert times == sorted(times)
    gaps = [later - one for one, later in pairwise(times)]
    assert sum(gap > 50 * MILLION for gap in gaps) == pytest.approx(500 * math.exp(-1 / 6), rel=0.15)


def test_a_load_makes_the_rate_of_arrivals_and_flow_n_has_the_same_size_at_each() -> None:
    low, high = (value(arrivals="poisson", load=load, size={"cdf": "web-search"}) for load in ("20 %", "40 %"))
    one, other = (schedule(each, seed=3, goodput_bps=1e10) for each in (low, high))
    rate = 0.4 * 1e10 / (8 * PUBLISHED["web-search"].mean_bytes)
    assert len(other) == pytest.approx(rate, abs=3 * math.sqrt(rate))
    assert [each.size_bytes for each in one] == [each.size_bytes for each in other[: len(one)]]
    assert [each.start_ns // 2 for each in one] == pytest.approx([e.start_ns for e in other[: len(one)]], abs=2)


def test_busy_times_of_a_load_have_the_higher_rate() -> None:
    spells = value(arrivals={"busy": "10 ms", "idle": "30 ms"}, load="50 %", duration="60 s")
    assert len(starts(spells, bps=8e6)) == pytest.approx(0.5 * 8e6 / 8e4 * 60, rel=0.15)


def test_a_draw_depends_on_the_seed_and_nothing_else() -> None:
    workload = value()
    assert starts(workload) == starts(workload)
    assert starts(workload) != starts(workload, seed=2)


def test_times_of_a_file_are_taken_as_they_are() -> None:
    workload = value(arrivals={"trace": "t", "text": "# start\n0\n0.25\n0.25\n3\n"}, duration="1 s")
    assert starts(workload) == [0, 250_000_000, 250_000_000]


@pytest.mark.parametrize(
    ("workload", "bps", "says"),
    [
        (value(arrivals={"poisson": "200000 /s"}, duration="1 s"), 1e8, f"more than {ARRIVALS_MAX} flows"),
        (value(arrivals={"poisson": "1 /h"}), 1e8, "no flow arrives in 1 s with the seed 1"),
        (value(arrivals="poisson", load="50 %"), None, "no link has a rate"),
    ],
)
def test_flows_that_cannot_be_drawn_are_refused(workload: ShortFlowWorkload, bps: float | None, says: str) -> None:
    with pytest.raises(UserError, match=says):
        schedule(workload, seed=1, goodput_bps=bps)


# What files say


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"arrivals": "poisson", "load": "62.5 %"},
        {"arrivals": {"busy": "1 s", "idle": "2 s", "rate": "100 /s"}, "rate": "2 Mbit/s"},
        {"arrivals": {"trace": "t", "text": "0.1\n0.25"}, "size": {"cdf": "f", "text": "10 0.5\n100 1"}},
        {"size": {"pareto": {"mean": "100 kB", "shape": "1.2"}}, "requests": {"size": "200 B", "connections": "4"}},
        {"size": {"cdf": "data-mining"}, "requests": {}, "drain": "1 s", "congestion": "bbr"},
    ],
    ids=str,
)
def test_a_trial_with_arrivals_is_stored_and_read_again(keys: dict[str, Any]) -> None:
    made = trial(**keys)
    data = trial_data(made)
    assert trial_of(data, "test") == made
    assert not {"flows", "start", "window"} & data["workload"].keys()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"size": None}, "need a size"),
        ({"flows": 4}, "flows is for flows that do not arrive"),
        ({"bytes": "1 MB", "duration": "1 s"}, "bytes is for flows that do not arrive"),
        ({"window": "64 KiB"}, "window is for"),
        ({"start": "1 s"}, "start is for"),
        ({"leave_out": "1 s"}, "leave_out is for"),
        ({"writes": {"size": "1 kB", "every": "1 ms"}}, "writes is for"),
        ({"congestion": ["cubic", "bbr"]}, "one congestion control"),
        ({"load": "50 %"}, "the arrivals have their own rate"),
        ({"arrivals": {"trace": "t", "text": "1"}, "load": "50 %"}, "their own times"),
        ({"arrivals": "poisson"}, "nothing says how many arrive"),
        ({"arrivals": "poisson", "load": "0 %"}, "a load of 0"),
        ({"arrivals": "poisson", "load": "120 %"}, "more than the whole"),
        ({"arrivals": "often"}, "these are no arrivals"),
        ({"arrivals": {"poisson": "0 /s"}}, "not a rate of arrivals"),
        ({"arrivals": {"busy": "1 us", "idle": "1 s", "rate": "1 /s"}}, "too short"),
        ({"arrivals": {"trace": "t"}}, "was not read"),
        ({"arrivals": {"trace": "t", "text": "1\n0.5"}}, "t:2: 0.5 s is before the arrival above it"),
        ({"arrivals": {"trace": "t", "text": "-1"}}, "t:1: '-1' is no time"),
        ({"arrivals": {"trace": "t", "text": "1 2"}}, "t:1: '1 2' is no time"),
        ({"arrivals": {"trace": "t", "text": "\n#\n"}}, "0 arrivals"),
        ({"size": {"cdf": "nosuch"}}, "no published distribution.*allowed: .*web-search"),
        ({"size": {"cdf": "f", "text": "10 0.5"}}, "does not end at a share of 1"),
        ({"size": {"cdf": "f", "text": "10 0.5\n10 1"}}, "does not rise"),
        ({"size": {"cdf": "f", "text": "10 0.5\n20 0.4\n30 1"}}, "does not rise"),
        ({"size": {"cdf": "f", "text": "10 0.5\n30 1.5"}}, "out of range"),
        ({"size": {"cdf": "f", "text": "ten 1"}}, "f:1: 'ten 1' is no point"),
        ({"size": {"pareto": {"mean": "1 kB", "shape": "1"}}}, "shape of a Pareto"),
        ({"size": {"normal": "1 kB"}}, "no distribution of sizes"),
        ({"size": "2000 GB"}, "too large"),
        ({"requests": {"size": "4 B"}}, "out of range"),
        ({"requests": {"connections": "0"}}, "out of range"),
        ({"rate": "100 bit/s"}, "1 kbit/s and more"),
    ],
)
def test_keys_that_make_no_sense_are_refused(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        trial_of(_data({**ARRIVING, **keys}), "test")


@pytest.mark.parametrize("key", [{"size": "1 kB"}, {"load": "50 %"}, {"drain": "1 s"}, {"requests": {}}])
def test_keys_of_flows_that_arrive_need_arrivals(key: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="is for flows that arrive"):
        trial_of(_data(key), "test")


def _data(workload: dict[str, Any]) -> dict[str, Any]:
    data = trial_data(make_trial())
    ends = {"tool": "flow", "from": "a", "to": "b", "duration": "1 s"}
    known = {key: each for key, each in {**ends, **workload}.items() if each is not None}
    return {**data, "workload": known}


def test_files_are_read_from_the_folder_of_the_scenario_and_become_part_of_the_trial(tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text("0.5\n")
    (tmp_path / "sizes.txt").write_text("100 50%\n200 100%\n")
    file = scenario(tmp_path, "{trace: times.txt}", "{cdf: sizes.txt}")
    (cell,) = load_scenario(file).cells
    workload = cell.workload
    assert isinstance(workload, ShortFlowWorkload)
    assert workload.arrivals.times_ns  # read
    assert workload.sizes == Cdf("sizes.txt", ((100, Fraction(1, 2)), (200, Fraction(1))))


@pytest.mark.parametrize(
    ("arrivals", "size", "says"),
    [
        ("{trace: nosuch.txt}", "1 kB", r"s\.yaml:3: trace: the file '.*nosuch\.txt' cannot be read"),
        ("{trace: /dev/zero}", "1 kB", r"s\.yaml:3: trace: the file '/dev/zero' cannot be read"),
        ("{poisson: 1 /s}", "{cdf: web-serach}", r"s\.yaml:3: cdf: .*; or web-search, data-mining"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(tmp_path: Path, arrivals: str, size: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        load_scenario(scenario(tmp_path, arrivals, size))


def scenario(folder: Path, arrivals: str, size: str) -> Path:
    nodes = "nodes: {a: {type: host}, b: {type: host}}, links: {path: {ends: [a, b], rate: 1 Mbit/s}}"
    file = folder / "s.yaml"
    ends = "tool: flow, from: a, to: b, duration: 1 s"
    file.write_text(
        f"name: s\ntopology: {{name: t, {nodes}}}\nworkload: {{{ends}, arrivals: {arrivals}, size: {size}}}\n"
    )
    return file


# What is planned, read and said


def test_the_schedule_is_a_file_of_the_plan_with_the_ideal_time_of_each_flow() -> None:
    made = orders(trial())
    schedules = [step for step in made.steps if isinstance(step, Run) and step.out == short_flow.SCHEDULE]
    rows = [tuple(map(int, line.split())) for line in (schedules[0].stdin or "").splitlines()]
    drawn = short_flow.asked(value(), made.plan, 1)
    assert [row[:2] for row in rows] == [(each.start_ns, each.size_bytes) for each in drawn]
    # 10 000 bytes are 7 segments of 1448 at most, of 66 bytes of headers each; one way the path takes 5 ms.
    assert {row[2] for row in rows} == {5_000_000 + (10_000 + 7 * 66) * 80}
    assert f"# {len(drawn)} flows with {10_000 * len(drawn)} bytes arrive" in made.script
    assert "and 0 more" not in made.script


def test_the_ideal_of_a_request_has_the_way_there_too_and_a_changing_path_has_none() -> None:
    asked = trial(requests={})
    ideal = ideal_ns(asked.workload, orders(asked).plan)  # type: ignore[arg-type]
    assert ideal is not None
    assert ideal(1) == 10_000_000 + 67 * 80
    varies = trial(path={"schedule": [{"at": "100 ms", "rate": "10 Mbit/s"}]})
    assert ideal_ns(varies.workload, orders(varies).plan) is None  # type: ignore[arg-type]
    back = trial(requests={}, path={"schedule": [{"at": "10 ms", "delay": {"backward": "200 ms"}}]})
    assert ideal_ns(back.workload, orders(back).plan) is None  # type: ignore[arg-type]
    credit = trial({"rate": None, "shaper": {"rate": "10 Mbit/s", "burst": "10 Mbit", "refill": "1 Mbit/s"}})
    assert ideal_ns(credit.workload, orders(credit).plan) is None  # type: ignore[arg-type]
    free = make_trial({"rate": None, "buffer": None, "rtt": None}, ARRIVING, kernel="lab-realtime")
    assert ideal_ns(free.workload, orders(free).plan) is None  # type: ignore[arg-type]


def flows(count: int, cut: int = 0) -> tuple[Completion, ...]:
    """Flows of 1 ms, 2 ms, … in the order of their numbers; the last are cut."""
    return tuple(
        Completion(0, 1000, 500_000, 0, 100, None if number > count - cut else number * MILLION, 1000, 0, 1)
        for number in range(1, count + 1)
    )


def test_quantiles_are_those_of_all_flows() -> None:
    found = summary(flows(101), 10**9)
    assert found.fct_s is not None
    assert found.slowdown is not None
    assert (found.fct_s.p50, found.fct_s.p95, found.fct_s.p99) == pytest.approx((0.051, 0.096, 0.1))
    assert (found.slowdown.p50, found.slowdown.mean, found.slowdown.max) == pytest.approx((102, 102, 202))
    assert found.fct_s.bounds == ()
    assert (found.flows, found.finished, found.unfinished, found.open_max) == (101, 101, 0, 101)


def test_a_flow_that_was_cut_makes_lower_bounds_of_what_it_may_raise_and_is_never_left_out() -> None:
    found = summary(flows(101, cut=3), 10**9)
    assert found.fct_s is not None
    assert found.fct_s.bounds == ("max", "mean", "p99")
    assert found.fct_s.p50 == pytest.approx(0.051)
    assert found.fct_s.exact("p99") is None
    assert found.fct_s.exact("p95") == pytest.approx(0.096)
    assert found.fct_s.p99 == pytest.approx(1.0)
    assert (found.finished, found.unfinished) == (98, 3)


def test_a_flow_that_was_cut_early_is_no_short_flow() -> None:
    """Cut at 0.5 ms: a lower bound that is less than all others, so every quantile is only a bound."""
    found = summary(flows(10, cut=1), MILLION // 2)
    assert found.fct_s is not None
    assert found.fct_s.bounds == ("max", "mean", "p50", "p95", "p99")


def test_without_a_flow_that_ended_there_is_no_completion_time() -> None:
    found = summary(flows(5, cut=5), 10**9)
    assert (found.fct_s, found.slowdown, found.unfinished) == (None, None, 5)


def test_classes_of_sizes_hold_every_flow_once() -> None:
    some = [replace(flows(1)[0], size_bytes=size) for size in (1, 10_000, 10_001, 100_000, 10**7, 10**7 + 1, 10**9)]
    found = summary(some, 10**9)
    assert [(each.up_to_bytes, each.flows) for each in found.sizes] == [
        (10_000, 2),
        (100_000, 2),
        (10_000_000, 1),
        (None, 2),
    ]


PLANNED = "0 1000 500000\n1000000 1000 500000\n"
TOLD = "start 7\nsocket cubic 0\nflow 0 4000 100 200 900000 1000 0\nflow 1 4001 1000100 1000200 0 500 2\nend 5000000\n"


def output(folder: Path, planned: str = PLANNED, told: str = TOLD) -> Path:
    (folder / short_flow.SCHEDULE).write_text(planned)
    (folder / short_flow.OUTPUT).write_text(told)
    return folder


def test_what_the_program_says_is_what_the_result_says(tmp_path: Path) -> None:
    read = short_flow.read(value(), output(tmp_path))
    assert (read.begin_ns, read.end_ns) == (7, 5_000_007)
    one, other = read.completions
    assert (one.fct_ns, one.slowdown, one.port) == (900_000, 1.8, 4000)
    assert (other.fct_ns, other.slowdown, other.received_bytes, other.retransmits) == (None, None, 500, 2)
    assert read.flows[0].received_bytes == 1500
    assert read.goodput_bps == pytest.approx(1500 * 8 / 0.005)
    assert need(FctResult, read.measured).unfinished == 1


@pytest.mark.parametrize(
    ("planned", "told", "says"),
    [
        (PLANNED, TOLD.replace("end 5000000\n", ""), "from start to end"),
        (PLANNED, TOLD.replace("start 7\n", ""), "from start to end"),
        (PLANNED, "", "from start to end"),
        (PLANNED, TOLD.replace("flow 1", "flow 2"), "other flows than"),
        ("0 1000\n", TOLD, "other flows than"),
        (PLANNED, TOLD.replace("900000 1000 0", "900000 999 0"), "without all of their bytes"),
    ],
)
def test_half_of_an_output_is_no_result(tmp_path: Path, planned: str, told: str, says: str) -> None:
    with pytest.raises(TrialError, match=says):
        short_flow.read(value(), output(tmp_path, planned, told))


# What the gate says


def evidence(asked: Trial, *, keep: int | None = None, accepted: int | None = None, **changes: Any) -> Evidence:
    """What is seen if each flow takes 30 ms; `changes` are of the first, `keep` is how many are told of, `accepted` of
    connections.
    """
    made, workload = orders(asked), asked.workload
    assert isinstance(workload, ShortFlowWorkload)
    ideal = ideal_ns(workload, made.plan)
    kept = (workload.requests and workload.requests.connections) or None
    found = [
        Completion(
            each.start_ns,
            each.size_bytes,
            ideal(each.size_bytes) if ideal else None,
            each.start_ns + 1_000,
            each.start_ns + 10_001_000,
            each.start_ns + 30 * MILLION,
            each.size_bytes,
            0,
            4000 + (number % kept if kept else 0),
            workload.requests.size_bytes if workload.requests else 0,
        )
        for number, each in enumerate(short_flow.asked(workload, made.plan, asked.seed))
    ]
    found[0] = replace(found[0], **changes)
    told = tuple(found[:keep])
    measured = {"fct": record.write(summary(told, 2 * 10**9))}
    outcome = Outcome(0, None, 2 * 10**9, 1.0, None, (), measured, completions=told)
    ended = sum(each.began_ns is not None for each in told)
    outcome = replace(outcome, connections=(kept or ended) if accepted is None else accepted)
    return seen_evidence(PingResult(5, 5, 0.01, 0.01, 0.01, 0.0), (), (), outcome, (), {}, {}, None, 0)


def judged(asked: Trial, seen: Evidence) -> list[Finding]:
    plan = orders(asked).plan
    checks = (short_flow.as_drawn, short_flow.requested, short_flow.possible, short_flow.ended)
    return [finding for check in checks for finding in found_in(check, Case(asked, plan, seen))]


def test_flows_as_drawn_are_fine() -> None:
    assert judged(trial(), evidence(trial())) == []


@pytest.mark.parametrize(
    ("changes", "verdict", "says"),
    [
        ({"size_bytes": 9_999}, "invalid", "flow 1 was"),
        ({"start_ns": 5}, "invalid", "flow 1 was"),
        ({"ideal_ns": 5}, "invalid", "flow 1 was"),
        ({"ideal_ns": None}, "invalid", "flow 1 was"),
        ({"ended_ns": None}, "suspect", "1 of .* flows had not ended"),
        ({"began_ns": None, "connected_ns": None, "ended_ns": None}, "suspect", "never began"),
        ({"ended_ns": 5 * 10**9}, "invalid", "began, was connected and ended"),
        ({"connected_ns": 0}, "invalid", "began, was connected and ended"),
        ({"port": None}, "invalid", "missing: the port"),
        ({"port": 0}, "invalid", "missing: the port"),
        ({"retransmits": None}, "invalid", "missing: the port or the retransmissions of flow 1"),
        ({"began_ns": 0}, "invalid", "began, was connected and ended"),
    ],
)
def test_a_flow_that_is_not_as_drawn_is_told_of(changes: dict[str, Any], verdict: str, says: str) -> None:
    found = judged(trial(), evidence(trial(), **changes))
    assert [each.verdict for each in found if re.search(says, each.text)] == [verdict], found


@pytest.mark.parametrize(
    ("requests", "changes", "says"),
    [
        ({"size": "100 B"}, {}, None),
        ({"size": "100 B"}, {"requested_bytes": 99}, "request of flow 1: it had 99 bytes, asked were 100"),
        ({"size": "100 B"}, {"requested_bytes": 0}, "it had 0 bytes"),
        ({"size": "100 B"}, {"requested_bytes": None}, "missing: how long it was"),
        (None, {"requested_bytes": 8}, "it had 8 bytes, asked were 0"),
        ({"connections": 2}, {}, None),
        ({"connections": 2}, {"accepted": 3}, "3 connections were accepted, asked were 2"),
        ({"connections": 2}, {"accepted": 1}, "1 connections were accepted, asked were 2"),
        ({"connections": 2}, {"port": 4001}, "came from port"),
        ({"size": "100 B"}, {"accepted": 10**6}, "1000000 connections were accepted"),
        ({"size": "100 B"}, {"accepted": 0}, "0 connections were accepted"),
        (None, {"accepted": 0}, "0 connections were accepted"),
    ],
)
def test_requests_and_connections_are_those_asked(
    requests: dict[str, Any] | None, changes: dict[str, Any], says: str | None
) -> None:
    asked = trial() if requests is None else trial(requests=requests)
    plan = orders(asked).plan
    found = list(found_in(short_flow.requested, Case(asked, plan, evidence(asked, **changes))))
    assert bool(found) == (says is not None), found
    assert all(each.verdict == "invalid" for each in found)
    assert says is None or any(says in each.text for each in found)


def test_how_many_connections_were_accepted_is_never_left_out() -> None:
    seen = evidence(trial())
    seen = replace(seen, outcome=replace(seen.outcome, connections=None))
    (found,) = found_in(short_flow.requested, Case(trial(), orders(trial()).plan, seen))
    assert "missing: how many connections" in found.text


def test_a_flow_that_is_missing_is_told_of() -> None:
    first, *_ = judged(trial(), evidence(trial(), keep=3))
    assert (first.verdict, first.text.split(",")[0]) == ("invalid", "the tool tells of 3 flows")
    assert any(each.verdict == "invalid" for each in judged(trial(), evidence(trial(), keep=0)))


def test_a_flow_that_is_faster_than_the_path_or_its_handshake_is_no_flow() -> None:
    start_ns = evidence(trial()).outcome.completions[0].start_ns
    soon = evidence(trial(), connected_ns=start_ns + 10_000_500, ended_ns=start_ns + 10_000_600)
    assert judged(trial(), soon) == []
    quick = evidence(trial(), connected_ns=start_ns + 9_000_000)
    assert any("over a path with an RTT" in each.text for each in judged(trial(), quick))
    big = trial(size="1 MB")
    start_ns = evidence(big).outcome.completions[0].start_ns
    found = judged(big, evidence(big))
    assert [each.verdict for each in found] == ["invalid"]
    assert "on an empty path it takes" in found[0].text


@pytest.mark.parametrize("path", [{"jitter": "1 ms"}], ids=str)
def test_a_path_on_which_packets_are_early_may_be_faster(path: dict[str, Any]) -> None:
    start_ns = evidence(trial()).outcome.completions[0].start_ns
    asked = trial(path)
    assert judged(asked, evidence(asked, connected_ns=start_ns + 9_000_000, ended_ns=start_ns + 9_000_001)) == []


def test_flows_that_begin_late_are_suspect() -> None:
    start_ns = evidence(trial()).outcome.completions[0].start_ns
    late = evidence(trial(), began_ns=start_ns + 2 * MILLION, connected_ns=start_ns + 13 * MILLION)
    assert ["began 2 ms late" in each.text for each in judged(trial(), late)] == [True]


def test_a_request_may_wait_for_the_one_before_it_and_no_longer() -> None:
    asked = trial(requests={"connections": "1"}, arrivals={"trace": "t", "text": "0\n0\n0.5"})
    seen = evidence(asked)
    one, other, last = (replace(each, connected_ns=None) for each in seen.outcome.completions)
    waits = replace(other, began_ns=(one.ended_ns or 0) + 500, ended_ns=100 * MILLION)
    for third, texts in ((last, []), (replace(last, began_ns=last.start_ns + 5 * MILLION), ["flow 3 began 5 ms late"])):
        told = (one, waits, third)
        measured = {"fct": record.write(summary(told, 2 * 10**9))}
        outcome = replace(seen.outcome, completions=told, measured=measured)
        assert [each.text for each in judged(asked, replace(seen, outcome=outcome))] == texts


def test_without_a_flow_that_ended_a_trial_is_invalid() -> None:
    asked = trial(arrivals={"trace": "t", "text": "0"})
    found = judged(asked, evidence(asked, ended_ns=None))
    assert [(each.verdict, each.text) for each in found] == [
        ("invalid", "none of 1 flows ended: there is no completion time")
    ]


def test_numbers_of_the_result_that_are_not_those_of_the_flows_are_told_of() -> None:
    seen = evidence(trial())
    outcome = replace(seen.outcome, measured={"fct": {**seen.outcome.measured["fct"], "finished": 1}})
    found = judged(trial(), replace(seen, outcome=outcome))
    assert any("not those of its flows" in each.text for each in found)


def test_a_flow_with_a_rate_that_brings_more_is_told_of() -> None:
    asked = make_trial(workload={"rate": "8 Mbit/s"})
    plan = orders(asked).plan
    for received, verdicts in ((1_000_000, []), (1_070_000, []), (1_100_000, ["invalid"])):
        one = FlowResult(1.0, 0, None, "cubic", 5001, received)
        outcome = Outcome(0, None, 10**9, 1.0, None, (one,))
        seen = seen_evidence(PingResult(5, 5, 0.01, 0.01, 0.01, 0.0), (), (), outcome, (), {}, {}, None, 0)
        assert [each.verdict for each in found_in(flow.rates, Case(asked, plan, seen))] == verdicts


def test_a_path_carries_less_payload_than_its_rate() -> None:
    assert goodput_bps(orders(trial()).plan) == pytest.approx(1e8 * 1448 / 1514)


def test_what_is_asked_of_a_workload_with_arrivals() -> None:
    workload = value(arrivals={"poisson": "20 /s"})
    assert isinstance(workload.arrivals, Poisson)
    assert workload.asked_flows[0].rate_bps == 20 * 10_000 * 8
    assert (workload.length_ns, workload.sending_ns) == (None, None)
    assert value(requests={}).data_ports.source == (5001, 5128)
