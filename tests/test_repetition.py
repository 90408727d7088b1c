"""Repetitions: when there are enough, and which trials a sweep has because of that."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import make_result, make_trials
from scipy import stats

from testbed.commands.result_table import finding_lines, print_cells
from testbed.model.run_setting import Until
from testbed.model.scenario import Trial
from testbed.sweep.queue import TrialQueue
from testbed.sweep.repetition import Stop, cells, mean, stop, unfinished
from testbed.trial.result import Finding, TrialResult

UNTIL = Until(Fraction(5, 100), most=8, least=3)


def results(*goodputs_mbps: float, **changes: object) -> list[TrialResult]:
    trials = make_trials(["10 ms"], len(goodputs_mbps))
    return [
        make_result(trial, **{"goodput_bps": each * 1e6, **changes})
        for trial, each in zip(trials, goodputs_mbps, strict=True)
    ]


def test_the_interval_is_students_by_the_table() -> None:
    """Of 1, 2, 3: mean 2, sd 1, and t(0.975, 2) = 4.3027 of any printed table, over the root of 3."""
    found = mean(results(1, 2, 3))
    assert found is not None
    assert found.mean == 2e6
    assert found.half_width == pytest.approx(4.302653 / math.sqrt(3) / 2, rel=1e-6)


def test_the_interval_is_scipys() -> None:
    values = [9.1, 9.4, 8.8, 9.9]
    low, high = stats.t.interval(0.95, 3, loc=sum(values) / 4, scale=stats.sem(values))
    found = mean(results(*values))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low * 1e6, high * 1e6), rel=1e-12)


def test_the_interval_of_goodputs_does_not_go_below_0_and_its_width_stays() -> None:
    """Of 1 and 9: mean 5, and t(0.975, 1) = 12.706 times 4, so that it would begin at -45.8."""
    found = mean(results(1, 9))
    assert found is not None
    assert (found.low, found.high) == (0, pytest.approx(55.8248e6, rel=1e-5))
    assert found.half_width == pytest.approx(50.8248 / 5, rel=1e-5)


def test_one_trial_has_a_mean_and_no_interval() -> None:
    found = mean(results(7))
    assert found is not None
    assert (found.mean, found.low, found.half_width) == (7e6, None, None)


def test_invalid_trials_are_counted_and_not_averaged() -> None:
    good, bad = results(1, 3)
    bad = make_result(make_trials(["10 ms"], 2)[1], verdict="invalid", goodput_bps=1e12)
    (cell,) = cells([good, bad])
    assert cell.goodput is not None
    assert (cell.goodput.trials, cell.goodput.mean) == (1, 1e6)
    assert cell.verdicts == {"valid": 1, "invalid": 1}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (results(5, 5), None),
        (results(5, 5, 5), Stop("narrow", 0.0)),
        (results(0, 0, 0), Stop("narrow", 0.0)),
        (results(1, 5, 9), None),
        ([*results(5, 5), None], Stop("failed")),
        (results(5, 5, 5, verdict="invalid"), Stop("invalid")),
        (results(5, 5, 5, goodput_bps=None), Stop("no goodput")),
    ],
    ids=["too few", "all the same", "all nothing", "wide", "failed", "invalid", "no goodput"],
)
def test_a_cell_stops_for_a_reason(found: list[TrialResult | None], expected: Stop | None) -> None:
    assert stop(UNTIL, found) == expected


def test_a_cell_that_never_narrows_stops_at_the_most() -> None:
    found = results(*[1, 9] * 4)
    assert [stop(UNTIL, found[:n]) for n in range(3, 8)] == [None] * 5
    ended = stop(UNTIL, found)
    assert ended is not None
    assert ended.reason == "most"
    assert ended.in_words(UNTIL).startswith("8 trials reached (±")


def test_equal_trials_are_said_to_be_equal_and_not_exact(capsys: pytest.CaptureFixture[str]) -> None:
    """Copies of one case have an interval without a width, which is no precision."""
    for found, expected in ((results(5, 5, 5), True), (results(5, 6, 7), False), (results(5), False)):
        print_cells(found, measured={each.id: {"goodput": each.goodput_bps} for each in found})
        table = capsys.readouterr().out
        assert ("all equal" in table) == expected
        assert "0.00%" not in table
        assert "± 0" not in table
        (cell,) = cells(found)
        assert cell.to_dict()["all_equal"] == expected
    assert Stop("narrow", 0.0).in_words(UNTIL) == "narrow enough (all equal)"


def test_one_trial_and_one_cell_are_not_many() -> None:
    (only,) = results(500, findings=(Finding("rtt", "invalid", "too long", "look there"),))
    assert finding_lines([replace(only, id="x" * 99)]) == [("invalid", "the one trial: rtt: too long (look there)")]
    said = ["1 cell needs more repetitions (until)", "2 cells need more repetitions (until)"]
    assert [unfinished(count) for count in (1, 2)] == said


def test_an_interval_takes_two_trials_even_where_one_is_asked_for() -> None:
    until = Until(Fraction(1, 2), most=5, least=1)
    assert stop(until, results(5)) is None
    assert stop(until, results(5, 5)) == Stop("narrow", 0.0)
    assert stop(Until(Fraction(1, 2), most=1, least=1), results(5)) == Stop("most")


def in_run_order(trials: list[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: trial.repetition)


@cache
def three_cells() -> list[Trial]:
    return in_run_order(make_trials(["10 ms", "20 ms", "40 ms"], 8))


def goodput(trial: Trial) -> float:
    """Nothing but the trial decides it; some cells are steady and some are not."""
    spread = {"10 ms": 0.0, "20 ms": 0.05, "40 ms": 0.5}[dict(trial.params)["path.rtt"]]
    return 1e6 * (1 + spread * random.Random(trial.id).uniform(-1, 1))


def simulate(jobs: int, seed: int, outcome: Callable[[Trial], TrialResult | None]) -> tuple[list[str], frozenset[str]]:
    """Runs a sweep on paper, with `jobs` at a time that end in an arbitrary order."""
    queue = TrialQueue(three_cells(), UNTIL)
    chance, running, ran = random.Random(seed), [], []
    while True:
        while len(running) < jobs and (trial := queue.take(virtual=True)) is not None:
            running.append(trial)
        if not running:
            return ran, queue.members
        ended = running.pop(chance.randrange(len(running)))
        ran.append(ended.id)
        queue.ended(ended, outcome(ended))


@settings(deadline=None)
@given(jobs=st.integers(1, 12), seed=st.integers(0, 10_000))
def test_which_trials_there_are_depends_neither_on_jobs_nor_on_what_ends_first(jobs: int, seed: int) -> None:
    def outcome(trial: Trial) -> TrialResult:
        return make_result(trial, goodput_bps=goodput(trial))

    one, members = simulate(1, 0, outcome)
    many, same = simulate(jobs, seed, outcome)
    assert sorted(many) == sorted(one)
    assert len(many) == len(set(many))
    assert same == members == frozenset(one)
    assert 9 < len(one) < 24


@settings(deadline=None)
@given(jobs=st.integers(1, 12), seed=st.integers(0, 10_000))
def test_a_cell_with_a_failure_ends_and_the_others_go_on(jobs: int, seed: int) -> None:
    def outcome(trial: Trial) -> TrialResult | None:
        fails = dict(trial.params)["path.rtt"] == "40 ms" and trial.repetition == 1
        return None if fails else make_result(trial, goodput_bps=goodput(trial))

    ran, members = simulate(jobs, seed, outcome)
    assert sorted(ran) == sorted(members)
    assert sum("40ms" in id for id in ran) == 3
    assert sum("10ms" in id for id in ran) == 3


def test_without_until_all_trials_run_in_run_order() -> None:
    trials = in_run_order(make_trials(repetitions=3))
    queue = TrialQueue(trials)
    taken = [queue.take(virtual=True) for _ in trials]
    assert taken == trials
    assert queue.take(virtual=True) is None


def test_trials_in_real_time_are_handed_out_apart() -> None:
    queue = TrialQueue(make_trials(["10 ms"], 1, kernels=["lab", "host", "lab-realtime"]))
    places = []
    for virtual in (True, False):
        while (trial := queue.take(virtual=virtual)) is not None:
            places.append(trial.kernel.kind)
    assert places == ["lab", "host", "lab-realtime"]
