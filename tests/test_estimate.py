"""Estimates: from what trials took to what others will take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from trials import make_trial

from testbed.model.workload import FlowWorkload
from testbed.sweep.estimate import PRIOR, PRIOR_WEIGHT, REAL_TIME_START_S, Forecast, Work, fitted, work
from testbed.trial.orders.sequence import orders


def work_of(**changes: object) -> Work:
    trial = make_trial(**changes)  # type: ignore[arg-type]
    return work(trial, orders(trial).plan)


def test_with_nothing_seen_the_coefficients_are_the_built_in_ones() -> None:
    assert fitted([]) == pytest.approx(PRIOR, rel=1e-9)


def test_the_true_coefficients_are_found_from_enough_trials() -> None:
    true = np.array([2.0, 5e-6, 0.02])
    works = [Work(packets, lab_s, True) for packets in (1e3, 1e5, 1e7) for lab_s in (3.0, 30.0, 300.0)] * 30
    found = fitted((each, float(true @ each.row)) for each in works)
    assert found == pytest.approx(
        tuple(true), rel=0.05
    )  # the prior, of which they are four times, still pulls a little


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1e8), st.floats(0, 1e3), st.floats(0.01, 1e4)),
        max_size=8,
    )
)
def test_the_fit_is_as_good_as_scipys(rows: list[tuple[float, float, float]]) -> None:
    seen = [(Work(packets, lab_s, True), wall_s) for packets, lab_s, wall_s in rows]
    prior, weight = np.array(PRIOR), PRIOR_WEIGHT**0.5
    matrix = np.vstack([*(np.array(each.row) * prior / wall_s for each, wall_s in seen), weight * np.eye(3)])
    target = np.array([1.0] * len(seen) + [weight] * 3)
    _, least = nnls(matrix, target)
    ours = np.array(fitted(seen)) / prior
    assert (ours >= 0).all()
    assert np.linalg.norm(matrix @ ours - target) == pytest.approx(least, rel=1e-6, abs=1e-9)


def test_packets_are_rate_times_duration() -> None:
    """100 Mbit/s for 1 s in frames of 1514 bytes; 3 s go to settling and the RTT check."""
    found = work_of()
    assert found.packets == pytest.approx(1e8 / 8 / 1514)
    assert found.lab_s == 4.0


def test_a_window_and_a_loss_leave_fewer_packets() -> None:
    """64 KiB in 10 ms is 52.4 Mbit/s; Reno's window at 1 in 10 000 is 120 segments, RFC 9438's Table 1."""
    assert work_of(workload={"window": "64 KiB"}).packets == pytest.approx(8 * 65536 / 0.01 / 8 / 1514)
    fast = {"rate": "10 Gbit/s", "loss": "1 in 10000"}
    assert work_of(path=fast, workload={"congestion": "reno"}).packets == pytest.approx(120 / 0.01)
    assert work_of(path=fast, workload={"congestion": "bbr"}).packets == pytest.approx(1e10 / 8 / 1514)


def test_what_a_cell_took_is_what_it_will_take() -> None:
    cell, other = (("rtt", "1"),), (("rtt", "2"),)
    forecast = Forecast({cell: Work(1e6, 10, True), other: Work(1e6, 10, True)})
    before_s = forecast.wall_s(other)
    for wall_s in (9.0, 11.0):
        forecast.learn(cell, wall_s)
    assert forecast.wall_s(cell) == 10.0
    assert before_s < forecast.wall_s(other) <= 10.1
    assert forecast.trials == 2


def test_jobs_share_virtual_time_and_not_the_wall_clock() -> None:
    lab, real = (("k", "lab"),), (("k", "host"),)
    forecast = Forecast({lab: Work(0, 10, True), real: Work(0, 10, False)})
    forecast.learn(lab, 4.0)
    assert forecast.total_s([lab] * 10, 2) == 20.0
    assert forecast.total_s([lab] * 3, 8) == 4.0
    assert forecast.total_s([real] * 2, 8) == 2 * (10 + REAL_TIME_START_S)
    forecast.learn(real, 11.5)
    assert forecast.total_s([lab, lab, real], 2) == 15.5


@pytest.mark.parametrize(
    "workload",
    [
        {"tool": "iperf3", "duration": "2 s", "window": "64 KiB"},
        {"tool": "iperf3", "duration": "2 s", "protocol": "udp", "rate": "1 Mbit/s"},
        {"tool": "ping", "count": 7, "interval": "100 ms"},
    ],
    ids=["iperf3", "udp", "ping"],
)
def test_every_tool_has_an_estimate(workload: dict[str, object]) -> None:
    found = work_of(workload=workload)
    assert found.packets > 0
    assert found.lab_s > 3


def test_bytes_take_as_long_as_the_path_needs_for_them() -> None:
    trial = make_trial()
    sized = replace(trial, workload=FlowWorkload("a", "b", duration_ns=None, flow_bytes=25 * 10**6))
    found = work(sized, orders(sized).plan)
    assert found.lab_s == 3 + 2.0
    assert found.packets == pytest.approx(25e6 / 1514)
