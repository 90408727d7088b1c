"""Schedules: what holds when, by the entries of a file; and how far they are followed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials import make_trial, steps_data

from testbed.error import UserError
from testbed.model.impairment import Direction, PeriodicLoss
from testbed.model.schedule import Change, course
from testbed.trial.evidence.interval import capacity_bits
from testbed.trial.orders.sequence import orders

S = 10**9
START = Direction(100, 5)


def rates(*changes: Change, until_s: int = 100) -> list[tuple[float, int | None]]:
    return [(at / S, now.rate_bps) for at, now in course(START, changes, "forward", True, until_s * S)]


def rate(value: int, at_s: float, every_s: float | None = None, for_s: float | None = None) -> Change:
    every, holds = (None if each is None else round(each * S) for each in (every_s, for_s))
    return Change(round(at_s * S), every, holds, forward=(("rate_bps", value),))


def test_lasting_changes_hold_in_the_order_of_time_whatever_that_of_the_file() -> None:
    assert rates(rate(20, 20), rate(10, 10)) == [(10, 10), (20, 20)]


def test_after_a_while_what_held_before_holds_again() -> None:
    assert rates(rate(10, 10, for_s=5)) == [(10, 10), (15, 100)]


def test_what_changes_for_good_under_a_passing_change_shows_when_that_is_over() -> None:
    assert rates(rate(10, 10, for_s=5), rate(50, 12)) == [(10, 10), (15, 50)]


def test_of_passing_changes_that_overlap_the_last_in_the_file_holds() -> None:
    assert rates(rate(10, 10, for_s=10), rate(5, 12, for_s=2)) == [(10, 10), (12, 5), (14, 10), (20, 100)]
    assert rates(rate(5, 12, for_s=2), rate(10, 10, for_s=10)) == [(10, 10), (20, 100)]


def test_a_change_comes_again_and_again() -> None:
    assert rates(rate(10, 5, every_s=30, for_s=10), until_s=70) == [(5, 10), (15, 100), (35, 10), (45, 100), (65, 10)]


def test_a_change_of_the_other_direction_or_to_what_already_holds_is_none() -> None:
    other = Change(5 * S, backward=(("rate_bps", 1),))
    assert rates(other, rate(100, 10)) == []


def test_a_loss_without_direction_is_for_the_data() -> None:
    change = Change(S, data=(("loss", PeriodicLoss(10)),))
    assert list(course(START, [change], "forward", False, S)) == []
    assert [now.loss for _, now in course(START, [change], "forward", True, S)] == [PeriodicLoss(10)]


@given(
    st.lists(
        st.builds(
            lambda at, every, share, value: rate(value, at, every, every * share if every else None),
            st.integers(0, 20),
            st.none() | st.integers(2, 9),
            st.sampled_from([0.25, 0.5]),
            st.integers(1, 9),
        ),
        max_size=5,
    )
)
def test_between_two_instants_nothing_changes(changes: list[Change]) -> None:
    found = dict(course(START, changes, "forward", True, 40 * S))
    holds: Direction = START
    for quarter in range(160):
        time_ns = quarter * S // 4
        holds = found.get(time_ns, holds)
        lasting = sorted((c for c in changes if c.is_lasting and c.at_ns <= time_ns), key=lambda c: c.at_ns)
        passing = [c for c in changes if not c.is_lasting and c.holds(time_ns)]
        expected = dict((passing or lasting)[-1].forward)["rate_bps"] if passing or lasting else START.rate_bps
        assert holds.rate_bps == expected
    assert all(sum(1 for _ in c.instants(40 * S)) <= c.count(40 * S) for c in changes)


def test_a_schedule_of_too_many_changes_is_refused_with_their_number() -> None:
    fast = [{"at": "0 s", "every": "1 ms", "for": "100 us", "rate": "1 Mbit/s"}]
    with pytest.raises(UserError, match=r"has 30402 changes in 15\.2 s; allowed: up to 10000"):
        orders(make_trial(path={"schedule": fast}, workload={"duration": "10 s"}))


def test_without_a_duration_a_schedule_is_followed_for_a_thousand_changes() -> None:
    fast = [{"at": "0 s", "every": "1 s", "for": "100 ms", "rate": "1 Mbit/s"}]
    planned = orders(make_trial(path={"schedule": fast}, workload={"bytes": "1 GB"})).plan
    assert len(planned.timeline) == 1000
    assert planned.until_ns < 500 * S
    assert orders(make_trial(workload={"bytes": "1 GB"})).plan.until_ns == 3600 * S


def test_memory_is_for_the_most_that_a_schedule_ever_asks() -> None:
    grows = [{"at": "1 s", "rate": "10 Gbit/s", "rtt": "1 s"}]
    plain, grown = (orders(make_trial(path={"schedule": each})).memory_bytes for each in (None, grows))
    assert grown - plain > 10e9 / 8 * 0.5 * 3


def test_the_rtt_axis_moves_the_start_and_leaves_the_schedule_as_it_is() -> None:
    for rtt_ms in (10, 50):
        planned = orders(make_trial(path={"rtt": f"{rtt_ms} ms", "schedule": [{"at": "100 ms", "rtt": "30 ms"}]})).plan
        assert planned.rtt_ns == rtt_ms * 10**6
        assert planned.rtts_ns == (min(rtt_ms, 30) * 10**6, max(rtt_ms, 30) * 10**6)


def test_what_a_link_can_carry_is_the_integral_of_its_rates() -> None:
    assert capacity_bits([(0, 100), (2 * S, 10)], S, 4 * S) == 100 + 20
    assert capacity_bits([(0, 100), (2 * S, 10)], 3 * S, 4 * S) == 10
    assert capacity_bits([(0, None)], 0, S) is None


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_only_a_delay_that_shrinks_is_told_to_keep_the_order(nic: str) -> None:
    grows, shrinks = ([{"at": "1 s", "rtt": rtt}] for rtt in ("20 ms", "5 ms"))
    scripts = [orders(make_trial(path={"schedule": each}, nic=nic)).script for each in (grows, shrinks)]
    assert ["100tbit" in script for script in scripts] == [False, True]


@pytest.mark.parametrize(
    "workload",
    [
        {"tool": "http", "sizes": "1 MB"},
        {"tool": "iperf3", "duration": "2 s"},
        {"tool": "udp", "rate": "1 Mbit/s", "duration": "2 s"},
        {"tool": "ping"},
        {},
    ],
)
def test_a_schedule_lasts_from_the_start_to_the_end_of_what_is_measured(workload: dict[str, Any]) -> None:
    made = orders(make_trial(path={"schedule": [{"at": "1 s", "rate": "1 Mbit/s"}]}, workload=workload))
    steps = steps_data(made.steps)
    begin = next(n for n, step in enumerate(steps) if "timeline" in step)
    assert steps[begin + 1]["title"] == (workload.get("tool") or "flow")
    assert steps[begin + 2] == {"stop": "timeline"}


@pytest.mark.parametrize("workload", [{"tool": "iperf3"}, {"tool": "udp", "rate": "1 Mbit/s"}])
def test_a_schedule_is_followed_while_a_tool_negotiates_and_waits(workload: dict[str, Any]) -> None:
    fast = [{"at": "0 s", "every": "1 s", "for": "500 ms", "rate": "1 Mbit/s"}]
    planned = orders(
        make_trial(path={"rtt": "600 ms", "schedule": fast}, workload={**workload, "duration": "2 s"})
    ).plan
    assert planned.timeline[-1].at_ns >= 2 * S + 5 * S + 20 * 600 * 10**6 - S


def test_memory_is_for_what_other_links_and_datagrams_bring_into_a_delay() -> None:
    nodes = {"a": {"type": "host"}, "r": {"type": "router"}, "b": {"type": "host"}}

    def megabytes(one: dict[str, Any], two: dict[str, Any]) -> float:
        links = {"one": {"ends": ["a", "r"], **one}, "two": {"ends": ["r", "b"], **two}}
        return orders(make_trial(topology={"name": "net", "nodes": nodes, "links": links})).memory_bytes / 1e6

    assert megabytes({"rate": "10 Gbit/s"}, {"rtt": "400 ms"}) > 500 * 3
    udp = {"tool": "udp", "duration": "1 s"}
    slow, fast = (
        orders(make_trial(path={"rtt": "2 s"}, workload={**udp, "rate": rate})).memory_bytes
        for rate in ("1 Mbit/s", "1 Gbit/s")
    )
    assert fast - slow > 900e6 / 8 * 3
