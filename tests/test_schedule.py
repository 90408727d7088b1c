"""Schedules: what holds when, by the entries of a file; and how far they are followed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_gate import carried, fine
from test_gate import seen as seen_of_stage
from trials import make_trial, steps_data

from testbed.error import UserError
from testbed.model.link.impairment import Direction, PeriodicLoss
from testbed.model.scenario import Trial
from testbed.model.schedule import Change, course
from testbed.plan.link.stage import Stage, State
from testbed.plan.network import Plan
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.interval import Counts, Happened, Interval, LossCount, Timeline, capacity_bits
from testbed.trial.evidence.stage import Evidence
from testbed.trial.gate.link import link_check, schedule_check
from testbed.trial.orders.sequence import orders

S = 10**9
START = Direction(100, 5)
Followed: TypeAlias = tuple[Trial, Plan, Evidence]


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
    assert orders(make_trial(workload={"bytes": "1 GB"})).plan.until_ns == 6 * 3600 * S


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


CHANGE = [{"at": "1 s", "rate": "50 Mbit/s"}]


def followed(kernel: str = "lab", ran_ns: int = 10 * S, late_ns: int | None = 0, **path: Any) -> Followed:
    """A trial of 10 s, and what is seen of its change at 1 s; None: it did not happen."""
    trial = make_trial(path={"schedule": CHANGE, **path}, workload={"duration": "10 s"}, kernel=kernel)
    plan = orders(trial).plan
    seen = fine(trial, plan)
    moments = {} if late_ns is None else {S: Happened(7 * S + S, 8 * S, 8 * S + late_ns, 9 * S)}
    held = tuple(
        replace(stage, intervals=tuple(held_by(stage.stage, state, trial) for state in stage.stage.history))
        for stage in seen.stages
    )
    count = len(seen.data_stages)
    timeline = Timeline(7 * S, 7 * S + ran_ns, moments)
    return trial, plan, replace(seen, timeline=timeline, data_stages=held[:count], answer_stages=held[count:])


def held_by(stage: Stage, state: State, trial: Trial) -> Interval:
    """A state that the kernel had as asked."""
    own = replace(stage, asked=state.asked, phase=state.phase, limit=state.limit)
    return Interval(
        state, state.at_ns, 10 * S, seen_of_stage(own, trial).qdiscs, (), Counts(10_000, delay_packets=10_000)
    )


@pytest.mark.parametrize(
    ("kernel", "late_ns", "verdict"),
    [
        ("lab", 1_000_000, None),
        ("lab", 1_000_001, "invalid"),
        ("host", 50_000_000, None),
        ("host", 50_000_001, "suspect"),
        ("host", S, "suspect"),
        ("host", S + 1, "invalid"),
    ],
)
def test_a_change_may_be_late_by_a_millisecond_and_in_real_time_by_fifty(
    kernel: str, late_ns: int, verdict: str | None
) -> None:
    found = list(schedule_check.happened(Case(*followed(kernel, late_ns=late_ns))))
    assert [each.verdict for each in found] == ([verdict] if verdict else [])
    for each in found:
        assert each.text == f"the change at 1 s was {late_ns / S:g} s late"
        assert (each.check, each.hint) == ("schedule", "the machine is too busy")


@pytest.mark.parametrize(
    ("kernel", "ran_ns", "is_due"),
    [("lab", S + 1_000_000, False), ("lab", S + 1_000_001, True), ("host", 2 * S, False), ("host", 2 * S + 1, True)],
)
def test_a_change_that_was_due_before_the_end_must_have_happened(kernel: str, ran_ns: int, is_due: bool) -> None:
    found = list(schedule_check.happened(Case(*followed(kernel, ran_ns, None))))
    missing = ("schedule", "invalid", "the change at 1 s did not happen", "look at timeline.jsonl")
    assert [(each.check, each.verdict, each.text, each.hint) for each in found] == ([missing] if is_due else [])


def test_a_change_that_nobody_asked_for_is_invalid() -> None:
    trial, plan, seen = followed()
    assert seen.timeline is not None
    also = {**seen.timeline.moments, 2 * S: Happened(9 * S, 9 * S, 9 * S, 10 * S)}
    timeline = replace(seen.timeline, moments=also)
    (found,) = schedule_check.happened(Case(trial, plan, replace(seen, timeline=timeline)))
    assert (found.verdict, found.text) == ("invalid", "there was a change at 2 s, which nobody asked for")


def test_a_schedule_that_never_started_is_invalid_and_without_one_nothing_is_said() -> None:
    trial, plan, seen = followed()
    (found,) = schedule_check.happened(Case(trial, plan, replace(seen, timeline=None)))
    assert (found.verdict, found.text, found.hint) == (
        "invalid", "the schedule never started", "the workload did not report its start",
    )  # fmt: skip
    plain = make_trial()
    nothing = replace(seen, timeline=None)
    assert not list(schedule_check.happened(Case(plain, orders(plain).plan, nothing)))
    assert not list(schedule_check.came(Case(trial, plan, nothing)))


def test_a_workload_that_outlasts_the_plan_of_its_schedule_is_invalid() -> None:
    trial, plan, seen = followed()
    assert not list(schedule_check.happened(Case(trial, replace(plan, until_ns=S), seen)))
    (found,) = schedule_check.happened(Case(trial, replace(plan, until_ns=S - 1), seen))
    assert (found.verdict, found.text) == (
        "invalid", "the workload ran for 10 s, but the plan has the schedule only up to 1 s",
    )  # fmt: skip
    assert found.hint == "give the workload a duration, or the schedule fewer changes"


@pytest.mark.parametrize(("ran_ns", "is_noted"), [(S - 1, True), (S, True), (S + 1, False)])
def test_a_change_after_the_end_is_noted(ran_ns: int, is_noted: bool) -> None:
    found = [str(each) for each in schedule_check.came(Case(*followed(ran_ns=ran_ns)))]
    text = "schedule: path: the change at 1 s never happened, the workload was over (the workload ran for 1 s)"
    assert found == ([text] if is_noted else [])
    assert all(each.verdict == "valid" for each in schedule_check.came(Case(*followed(ran_ns=ran_ns))))


@pytest.mark.parametrize("at_s", [11, 100, 10**6])
def test_a_change_later_than_the_plan_follows_is_noted_too(at_s: int) -> None:
    trial, plan, seen = followed(schedule=[{"at": f"{at_s} s", "rate": "50 Mbit/s"}])
    assert bool(plan.timeline) is (at_s == 11)
    seen = seen if plan.timeline else replace(seen, timeline=None)
    (found,) = schedule_check.came(Case(trial, plan, seen))
    assert (found.verdict, found.text.split(",")[0]) == ("valid", f"path: the change at {at_s:g} s never happened")
    untold = replace(seen, timeline=None, outcome=replace(seen.outcome, begin_ns=None))
    assert len(list(schedule_check.came(Case(trial, plan, untold)))) == (0 if plan.timeline else 1)


def test_what_is_read_back_after_a_change_must_be_what_was_asked() -> None:
    trial, plan, seen = followed()
    assert not list(schedule_check.set_up(Case(trial, plan, seen)))
    (stage, *_) = seen.data_stages
    first, second = stage.intervals
    slow = {**second.qdiscs, "2:": replace(second.qdiscs["2:"], rate_bps=49_000_000)}
    wrong = replace(seen, data_stages=(replace(stage, intervals=(first, replace(second, qdiscs=slow))),))
    (found,) = schedule_check.set_up(Case(trial, plan, wrong))
    assert found.verdict == "invalid"
    assert found.text.startswith("path forward from 1 s on: rate in bit/s: asked 50000000, the kernel has 49000000")
    assert found.hint == "the change did not take effect"
    blind = replace(seen, data_stages=(replace(stage, intervals=(first,)),))
    (found,) = schedule_check.set_up(Case(trial, plan, blind))
    assert found.text == "path forward: nothing was read back after the change at 1 s"
    assert not list(schedule_check.set_up(Case(trial, plan, replace(blind, timeline=None))))


def test_no_state_carries_more_than_its_own_rate() -> None:
    """70 Mbit/s are too much for the second state, of 50, and not for the first, of 100."""
    trial, plan, seen = followed()
    (stage, *_) = seen.data_stages
    held = [replace(each, samples=carried(70e6, 70e6, 70e6)) for each in stage.intervals]
    for intervals, expected in (([held[0], stage.intervals[1]], []), ([stage.intervals[0], held[1]], ["invalid"])):
        found = list(link_check.rate(Case(trial, plan, seen), replace(stage, intervals=tuple(intervals))))
        assert [each.verdict for each in found] == expected
        assert all(each.check == "schedule" and "path forward from 1 s on" in each.text for each in found)


@pytest.mark.parametrize(("dropped", "is_right"), [(10, True), (9, False), (11, False), (0, False)])
def test_each_periodic_loss_of_a_schedule_drops_exactly_its_packets(dropped: int, is_right: bool) -> None:
    """1 in 100 of 1000 packets, which begins with the first."""
    comes = [{"at": "1 s", "loss": {"every": 100, "phase": 0}}]
    trial, plan, seen = followed(schedule=comes)
    (stage, *_) = seen.data_stages
    counts = (LossCount(stage.stage.history[-1], 1000, dropped),)
    found = list(link_check.periodic_loss(Case(trial, plan, seen), replace(stage, losses=counts)))
    assert [each.verdict for each in found] == ([] if is_right else ["invalid"])
    for each in found:
        asked = f"{dropped} of 1000 data packets were dropped, asked were 10"
        assert (each.check, each.text) == ("loss", f"path forward from 1 s on: {asked}")
    first, second = (replace(each, counts=replace(each.counts, data_packets=0)) for each in stage.intervals)
    silent = replace(stage, intervals=(first, second), losses=())
    (told,) = link_check.periodic_loss(Case(trial, plan, replace(seen, data_stages=(silent,))), silent)
    assert (told.check, told.verdict, told.text) == (
        "loss", "suspect", "path forward: periodic loss was asked, but no packet that it counts passed",
    )  # fmt: skip
