"""Estimates: from what trials took to what others will take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from trials import make_trial

from testbed.kernel.consumption import Load
from testbed.model.workload import FlowWorkload
from testbed.sweep.forecast import (
    CROWDED,
    FIRST_LOSSES,
    LEAST_ERROR,
    MODEL_ERROR,
    MOST_ERROR,
    ODD,
    PACKET_S,
    PRIOR,
    PRIOR_WEIGHT,
    REAL_TIME_START_S,
    RECENT,
    SECONDS,
    WINDOW_SHARE,
    Forecast,
    Work,
    fitted,
    forecast_s,
    work,
)
from testbed.trial.orders.sequence import orders

RAMP = 0.04
"""What slow start may take off a second over 10 ms."""


def work_of(**changes: object) -> Work:
    trial = make_trial(**changes)  # type: ignore[arg-type]
    return work(trial, orders(trial))


def terms(start_s: float, data_s: float, time_s: float, lab_s: float = 10.0, *, is_virtual: bool = True) -> Work:
    return Work(start_s, data_s, time_s, lab_s, is_virtual)


def test_with_nothing_seen_the_coefficients_are_the_built_in_ones() -> None:
    assert fitted([]) == pytest.approx(PRIOR, rel=1e-9)


def test_the_true_coefficients_are_found_from_enough_trials() -> None:
    true = np.array([2.0, 0.5, 3.0])
    works = [terms(start, data, time) for start in (0.3, 1.0) for data in (0.1, 1.0, 30.0) for time in (0.1, 3.0)] * 30
    found = fitted((each, float(true @ each.row)) for each in works)
    assert found == pytest.approx(tuple(true), rel=0.05)  # the prior, of which they are threefold, still pulls a little


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
def test_one_trial_tells_the_speed_of_the_machine(speed: float) -> None:
    """All terms become dearer, not only the one that this trial is made of."""
    first, other = terms(0.3, 10.0, 0.1), terms(0.3, 0.1, 5.0)
    found = fitted([(first, speed * forecast_s(first, PRIOR))])
    assert forecast_s(other, found) == pytest.approx(speed * forecast_s(other, PRIOR))


def test_one_odd_trial_does_not_tell_it() -> None:
    odd, others = terms(0.3, 1.0, 0.1), [terms(0.3, data, 0.1) for data in (2.0, 3.0, 4.0, 5.0)]
    seen = [(odd, 100.0), *((each, forecast_s(each, PRIOR)) for each in others)]
    assert forecast_s(others[0], fitted(seen)) == pytest.approx(forecast_s(others[0], PRIOR), rel=0.2)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.1, 10), st.floats(0, 1e3), st.floats(0, 1e3), st.floats(0.01, 1e4)),
        max_size=8,
    )
)
def test_the_fit_is_as_good_as_scipys(rows: list[tuple[float, float, float, float]]) -> None:
    seen = [(terms(start, data, time), wall_s) for start, data, time, wall_s in rows]
    speed = np.median([wall_s / sum(each.row) for each, wall_s in seen]) if seen else 1.0
    prior, weight = speed * np.array(PRIOR), PRIOR_WEIGHT**0.5
    told = [speed * sum(each.row) for each, _ in seen]
    walls = [np.clip(wall_s, s / ODD, s * ODD) for (_, wall_s), s in zip(seen, told, strict=True)]
    scales = [np.sqrt(wall_s * s) for wall_s, s in zip(walls, told, strict=True)]
    scaled = [np.array(each.row) * prior / scale for (each, _), scale in zip(seen, scales, strict=True)]
    matrix = np.vstack([*scaled, weight * np.eye(3)])
    target = np.array([*(wall_s / scale for wall_s, scale in zip(walls, scales, strict=True)), *[weight] * 3])
    _, least = nnls(matrix, target)
    ours = np.array(fitted(seen)) / prior
    assert (ours >= 0).all()
    assert np.linalg.norm(matrix @ ours - target) == pytest.approx(least, rel=1e-6, abs=1e-9)


def test_packets_are_rate_times_duration() -> None:
    """100 Mbit/s for 1 s in frames of 1514 bytes; 3 s go to settling and the RTT check."""
    found = work_of()
    assert found.packets == pytest.approx(1e8 / 8 / 1514, rel=RAMP)
    assert found.lab_s == 4.0


def test_a_window_and_a_loss_leave_fewer_packets() -> None:
    """64 KiB in 10 ms is 52.4 Mbit/s; Reno's window at 1 in 10 000 is 120 segments, RFC 9438's Table 1."""
    assert work_of(workload={"window": "64 KiB"}).packets == pytest.approx(8 * 65536 / 0.01 / 8 / 1514, rel=RAMP)
    fast = {"rate": "10 Gbit/s", "loss": "1 in 10000"}
    assert work_of(path=fast, workload={"congestion": "reno"}).packets == pytest.approx(
        120 / 0.01 + FIRST_LOSSES * 10_000, rel=RAMP
    )
    assert work_of(path=fast, workload={"congestion": "bbr"}).packets == pytest.approx(1e10 / 8 / 1514, rel=3 * RAMP)


def test_what_a_cell_took_is_what_it_will_take() -> None:
    cell, other = (("rtt", "1"),), (("rtt", "2"),)
    forecast = Forecast({cell: terms(0.4, 2.0, 0.1), other: terms(0.4, 2.0, 0.1)})
    before_s = forecast.wall_s(other)
    for wall_s in (9.0, 11.0):
        forecast.learn(cell, wall_s)
    assert forecast.wall_s(cell) == 10.0
    assert before_s < forecast.wall_s(other) <= 10.1
    assert forecast.trials == 2


CELL, OTHER = (("rtt", "1"),), (("rtt", "2"),)
WORKS = {CELL: terms(1.0, 4.0, 0.0), OTHER: terms(1.0, 9.0, 0.0)}


def test_a_busy_computer_takes_longer_and_a_processor_does_not() -> None:
    """Eight others and one trial on two cores: each has two ninths of one."""
    free, busy = (Forecast(WORKS, Load(others, 2)).told([CELL], 1) for others in (0.0, 8.0))
    assert free.cpu_s.expected == busy.cpu_s.expected == free.wall_s.expected == 5.0
    assert busy.wall_s.expected == 5.0 * 9 / 2
    assert (free.wall_s.least, free.wall_s.most) == pytest.approx((5 / MODEL_ERROR, 5 * MODEL_ERROR))
    assert busy.wall_s.least == free.wall_s.least  # the others may end
    assert busy.wall_s.most == pytest.approx(5 * 4.5 * MODEL_ERROR * CROWDED)
    assert Forecast(WORKS, Load(8.0, 16)).told([CELL], 8).wall_s.expected == 5.0


@pytest.mark.parametrize("load", [None, Load(0.0, 2), Load(30.0, 2)])
def test_from_the_second_trial_on_what_was_measured_tells(load: Load | None) -> None:
    """Trials that wait twice as long as they run show how busy the computer is, whatever its load was at first."""
    forecast = Forecast(WORKS, load)
    assert not forecast.is_measured
    forecast.learn(CELL, 15.0, 5.0)
    assert forecast.is_measured
    assert forecast.cpu_s(CELL) == 5.0
    assert forecast.wall_s(CELL) == pytest.approx(15.0)
    assert forecast.wall_s(OTHER) == pytest.approx(3 * forecast.cpu_s(OTHER))
    forecast.learn(CELL, 20.0, 5.0)
    found = forecast.told([CELL], 1)
    assert found.cpu_s.expected == 5.0
    assert found.wall_s.expected == pytest.approx(5.0 * 3.5)
    assert (found.wall_s.least, found.wall_s.most) == pytest.approx((15 / LEAST_ERROR, 20 * LEAST_ERROR))


def test_only_the_last_trials_tell_how_busy_the_computer_is() -> None:
    forecast = Forecast(WORKS, Load(0.0, 2))
    for wall_s in (*[50.0] * 4, *[5.0] * RECENT):
        forecast.learn(CELL, wall_s, 5.0)
    assert forecast.wall_s(CELL) == 5.0
    assert forecast.told([CELL], 1).wall_s.most == pytest.approx(5.0 * LEAST_ERROR)


def test_the_range_is_as_wide_as_what_was_told_was_wrong() -> None:
    forecast = Forecast(WORKS)
    forecast.learn(CELL, 5.0, 5.0)
    assert forecast.error == MODEL_ERROR
    forecast.learn(OTHER, 20.0, 20.0)  # 10 were told
    assert forecast.error == pytest.approx(2.0)
    forecast.learn(OTHER, 2000.0, 2000.0)
    assert forecast.error == MOST_ERROR


def test_a_run_before_tells_the_cost_and_not_how_busy_the_computer_is() -> None:
    forecast = Forecast(WORKS, Load(8.0, 2))
    forecast.recall(CELL, 60.0, 6.0)
    assert (forecast.cpu_s(CELL), forecast.trials, forecast.is_measured) == (6.0, 1, False)
    assert forecast.wall_s(CELL) == 6.0 * 9 / 2
    older = Forecast(WORKS)
    older.recall(CELL, 7.0)
    assert older.cpu_s(CELL) == 7.0


def test_jobs_share_virtual_time_and_not_the_wall_clock() -> None:
    lab, real = (("k", "lab"),), (("k", "host"),)
    forecast = Forecast({lab: terms(0.4, 0, 0), real: terms(0.4, 0, 0, is_virtual=False)})
    forecast.learn(lab, 4.0)
    assert forecast.total_s([lab] * 10, 2) == 20.0
    assert forecast.total_s([lab] * 3, 8) == 4.0
    assert forecast.total_s([real] * 2, 8) == 2 * (10 + REAL_TIME_START_S)
    forecast.learn(real, 11.5)
    assert forecast.total_s([lab, lab, real], 2) == 15.5


def counts(**changes: object) -> dict[str, float]:
    return dict(work_of(**changes).counts)


def test_packets_cost_by_the_way_they_take() -> None:
    """Superpackets as far as the bucket, as far as the end of the delay, or never; datagrams by themselves."""
    many = pytest.approx(1e8 / 8 / 1514, rel=RAMP)
    assert counts(nic="plain")["plain"] == many
    bbr = {"congestion": "bbr"}
    for way, loss in (("late", "1 in 1000000"), ("cut", {"random": "0.0001 %"})):
        assert counts(path={"loss": {"forward": loss, "backward": "none"}}, workload=bbr)[way] == many
    assert counts(workload={"tool": "udp", "rate": "1 Mbit/s", "duration": "1 s"})["datagram"] > 80
    assert SECONDS["late"] < SECONDS["cut"] < SECONDS["plain"]


@pytest.mark.parametrize(("rate", "rtt", "flows", "stands_for"), [
    ("1 Mbit/s", "100 ms", "1", 2), ("10 Gbit/s", "100 ms", "1", 44), ("400 Mbit/s", "100 ms", "1", 38.7),
    ("400 Mbit/s", "100 ms", "4", 9.7), ("1 Mbit/s", "100 us", "1", 43.4),
])  # fmt: skip
def test_a_superpacket_is_what_tcp_sends_in_a_millisecond(rate: str, rtt: str, flows: str, stands_for: float) -> None:
    """1.2 of its share of the rate for 1/1024 s, and up to 64 KiB where the RTT is short; none where none is uncut."""
    path = {"rate": rate, "rtt": rtt, "loss": "none"}
    told = counts(path=path, workload={"flows": flows, "duration": "600 s"})
    assert told["late"] / told["superpacket"] == pytest.approx(stands_for, rel=0.02)
    assert counts(path=path, workload={"flows": flows}, nic="plain")["superpacket"] == 0


@pytest.mark.parametrize(
    ("workload", "sent_bytes", "lab_s"),
    [
        ({"duration": "10 s"}, 6_250_000 + 10 * 1_000_000, 10.0),  # the credit, and what comes back in these seconds
        ({"duration": "400 ms"}, 0.4 * 12_500_000, 0.4),
        ({"bytes": "10250 kB"}, 10_250_000, 4.0),
        ({"bytes": "2500 kB"}, 2_500_000, 0.2),
    ],
)
def test_a_shaper_sends_its_credit_and_its_refill(workload: dict[str, object], sent_bytes: float, lab_s: float) -> None:
    shaper = {"rate": "100 Mbit/s", "burst": "50 Mbit", "refill": "8 Mbit/s"}
    found = work_of(path={"rate": None, "rtt": "1 ms", "shaper": shaper}, workload=workload)
    assert dict(found.counts)["late"] == found.packets == pytest.approx(sent_bytes / 1514, rel=RAMP)
    assert found.lab_s == pytest.approx(3 + lab_s, abs=0.05)


def test_a_window_waits_for_packets_to_leave_each_hop() -> None:
    """4 KiB in a round trip of 140 us, and 12.1 us more for a full packet at 1 Gbit/s."""
    found = work_of(
        path={"rate": "1 Gbit/s", "rtt": "140 us"}, workload={"tool": "iperf3", "duration": "1 s", "window": "4 KiB"}
    )
    assert found.packets / (found.lab_s - 3) == pytest.approx(4096 / (140e-6 + 8 * 1514 / 1e9) / 1514, rel=0.01)


def test_flows_that_start_one_after_the_other_use_the_path_for_longer() -> None:
    """Three flows of 30 s, 10 s apart, fill 100 Mbit/s for 50 s; with small windows each has its own 30 s."""
    workload = {"flows": 3, "duration": "30 s", "start": "10 s"}
    assert work_of(workload=workload).packets == pytest.approx(50e8 / 8 / 1514, rel=RAMP)
    windows = {**workload, "window": "16 KiB"}
    together = {key: value for key, value in windows.items() if key != "start"}
    assert work_of(workload=windows).packets == pytest.approx(work_of(workload=together).packets)


def test_programs_that_are_not_ours_wake_up_for_each_packet() -> None:
    assert counts()["read"] == 0
    assert counts(workload={"tool": "iperf3", "duration": "1 s"})["read"] == pytest.approx(1e8 / 8 / 1514, rel=RAMP)


def test_our_library_wakes_up_for_each_packet_in_place_of_curl() -> None:
    found = counts(workload={"tool": "http", "sizes": "1514 kB"})
    assert (found["read"], found["fill"], found["object"]) == (0, 1000, 1)


def test_other_traffic_costs_too_and_takes_its_share() -> None:
    """40 Mbit/s of datagrams beside a flow of a second, over 100 Mbit/s."""
    constant = {"pattern": "constant", "from": "a", "to": "b", "rate": "40 Mbit/s", "length": "1250 B"}
    found = counts(background={"others": constant})
    assert found["datagram"] == found["group"] == pytest.approx(4e7 / 8 / 1250)
    both = {key: count for key, count in found.items() if key in ("late", "cut")}
    assert sum(both.values()) == pytest.approx((1e8 - 4000 * 1514 * 8) / 8 / 1514, rel=RAMP)


def test_buffers_bound_a_flow() -> None:
    sysctls = {"net.ipv4.tcp_rmem": "4096 131072 100000", "net.ipv4.tcp_wmem": "4096 16384 200000"}
    found = work_of(path={"rate": "1 Gbit/s"}, sysctls=sysctls)
    assert found.packets * 1514 == pytest.approx(WINDOW_SHARE * 100_000 / 0.01, rel=0.05)


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
    found = work(sized, orders(sized))
    assert found.lab_s == 3 + 2.0
    assert found.packets == pytest.approx(25e6 / 1514)


STAR = {
    "name": "net",
    "nodes": {**{name: {"type": "host"} for name in ("origin", "edge", "client")}, "r": {"type": "router"}},
    "links": {
        "access": {"ends": ["client", "r"], "rate": "100 Mbit/s", "rtt": "10 ms"},
        "near": {"ends": ["edge", "r"], "rate": "10 Gbit/s", "rtt": "2 ms"},
        "far": {"ends": ["origin", "r"], "rate": "10 Mbit/s", "rtt": "150 ms"},
    },
}
SIZE = 100 * 2**20


def test_downloads_take_as_long_as_the_path_needs_for_all_of_them() -> None:
    """100 MiB at 100 Mbit/s are 8.4 s; a new connection, a request and slow start add some ten round trips of 10 ms."""
    found = work_of(workload={"tool": "http", "sizes": "100 MiB", "downloads": 50})
    assert found.lab_s - 3 == pytest.approx(50 * 8 * SIZE / 1e8, rel=0.02)
    assert found.lab_s - 3 > 50 * (8 * SIZE / 1e8 + 0.02)
    assert found.packets == pytest.approx(50 * SIZE / 1514)


def test_downloads_at_once_share_the_path_and_pauses_lie_between() -> None:
    http = {"tool": "http", "sizes": ["1 MiB", "2 MiB"], "downloads": 5}
    alone, four = work_of(workload=http), work_of(workload={**http, "concurrency": 4})
    assert four.packets == pytest.approx(4 * alone.packets)
    assert four.lab_s - 3 == pytest.approx(8 * 4 * 15 * 2**20 / 1e8, rel=0.1)
    assert work_of(workload={**http, "pause": "10 s"}).lab_s == pytest.approx(alone.lab_s + 9 * 10)
    kept = work_of(workload={**http, "keepalive": True})
    assert kept.packets == alone.packets
    assert kept.lab_s < alone.lab_s - 10 * 0.01


def test_what_a_loss_leaves_of_downloads_takes_longer() -> None:
    """Reno's window at 1 in 100 is 12 segments: 14.5 Mbit/s over 10 ms."""
    http = {"tool": "http", "sizes": "1 MiB", "downloads": 10, "congestion": "reno"}
    found = work_of(path={"loss": "1 in 100"}, workload=http)
    assert found.lab_s - 3 == pytest.approx(10 * 8 * 2**20 / (12 * 1514 * 8 / 0.01), rel=0.1)


def test_what_a_cache_does_not_have_comes_over_both_paths() -> None:
    """From the origin at 10 Mbit/s, then from the cache at 100."""
    http = {"tool": "http", "from": "origin", "to": "client", "cache": "edge", "sizes": "10 MB", "downloads": 10}
    found, warm = (work_of(topology=STAR, workload={**http, "warm": warm}) for warm in (False, True))
    assert found.lab_s - 3 == pytest.approx(8 + 9 * 0.8, rel=0.15)
    assert found.packets == pytest.approx((2 + 9) * 1e7 / 1514)
    assert warm.packets == pytest.approx((2 + 10) * 1e7 / 1514)


@pytest.mark.parametrize("tool", ["udp", "iperf3"])
def test_datagrams_come_at_the_rate_that_is_offered(tool: str) -> None:
    """1 Mbit/s for 30 s in datagrams of 1400 bytes, whatever the path could carry."""
    workload = {"tool": tool, "rate": "1 Mbit/s", "duration": "30 s", "length": "1400 B"}
    protocol = {"protocol": "udp"} if tool == "iperf3" else {}
    found = work_of(path={"rate": "10 Gbit/s"}, workload={**workload, **protocol})
    assert found.packets == pytest.approx(30 * 1e6 / 8 / 1400)
    assert found.lab_s == 33.0
    assert work_of(workload={**workload, **protocol, "flows": 3}).packets == pytest.approx(3 * found.packets)


def test_a_rate_that_iperf3_is_given_bounds_its_flows() -> None:
    found = work_of(workload={"tool": "iperf3", "rate": "2 Mbit/s", "duration": "10 s", "flows": 4})
    assert found.packets == pytest.approx(8e6 * 10 / 8 / 1514)


def test_flows_that_start_later_end_later() -> None:
    assert work_of(workload={"flows": 3, "start": "2 s"}).lab_s == 3 + 1 + 2 * 2


PAIR = {
    "name": "net",
    "nodes": {"a": {"type": "vm"}, "b": {"type": "vm"}, "s": {"type": "switch"}},
    "links": {"left": {"ends": ["a", "s"]}, "right": {"ends": ["s", "b"]}},
}


def test_machines_in_virtual_time_cost_by_the_second_that_they_are_busy() -> None:
    """Nothing limits data between machines but their processors; datagrams at a low rate hardly keep them busy."""
    iperf3 = {"tool": "iperf3", "duration": "3 s"}
    found = counts(topology=PAIR, workload=iperf3)
    assert (found["machine"], found["busy"]) == (2, 6)
    slow = counts(topology=PAIR, workload={**iperf3, "protocol": "udp", "rate": "1 Mbit/s", "length": "1250 B"})
    assert slow["busy"] == pytest.approx(2 * 300 * PACKET_S)
    real = counts(topology=PAIR, workload=iperf3, kernel="host")
    assert (real["machine"], real["busy"]) == (0, 0)
    assert counts()["machine"] == 0
