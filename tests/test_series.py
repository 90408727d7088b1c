"""From stored results to series, their profiles, and what limited their trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from storedruns import RATE_BPS, Made, trial_result, trial_settings
from trials import make_trial

from testbed.analysis import tcp_model
from testbed.analysis.condition import conditions
from testbed.analysis.limit.limited_by import flow_limitations, limited_by, limits
from testbed.analysis.series import Series, goodput_bps, rtt_key, series
from testbed.analysis.theory_curve import line_rate_bps, overlays
from testbed.model.link.impairment import GilbertElliott, PeriodicLoss, RandomLoss, mean_loss
from testbed.model.scenario import Trial
from testbed.spec.scenario.trial import trial_of
from testbed.trial.orders.sequence import orders
from testbed.trial.result import PacedResult, PerFlowResult, PolicyResult, StageResult, TrialResult
from testbed_reproductions.measured import Measured

LINE = RATE_BPS * 1448 / 1514


def results(*made: Made) -> list[TrialResult]:
    return [trial_result(each) for each in made]


def trial(made: Made) -> Trial:
    return trial_of(trial_settings(made))


def flat(goodput: float, **params: str) -> list[Made]:
    """Two RTTs, two seeds."""
    return [
        Made({"path.rtt": rtt, **params}, [goodput], seed) for rtt in ("10 ms", "20 ms", "30 ms") for seed in (1, 2)
    ]


def test_all_parameters_but_the_rtt_and_the_seed_make_a_series() -> None:
    found = series(results(*flat(1e6, congestion="cubic", flows="1"), *flat(2e6, congestion="bbr", flows="1")))
    assert [each.label for each in found] == ["cubic", "bbr"]
    assert found[0].params == (("congestion", "cubic"), ("flows", "1"))
    profile = found[1].profile()
    assert profile is not None
    assert profile.rtt_s == (0.01, 0.02, 0.03)
    assert profile.samples_bps == ((2e6, 2e6),) * 3


def test_what_is_given_for_each_rtt_sets_no_series_apart() -> None:
    made = [Made({"path.rtt": f"{rtt} ms", "duration": f"{rtt} s"}, [1e6]) for rtt in (10, 20)]
    (found,) = series(results(*made))
    assert found.params == ()
    apart = [Made({"path.rtt": f"{rtt} ms", "congestion": name}, [1e6]) for rtt, name in ((10, "cubic"), (20, "bbr"))]
    assert len(series(results(*apart))) == 2


def test_a_run_without_an_rtt_axis_has_series_of_one_point() -> None:
    found = series(results(Made({"flows": "1"}, [1e6]), Made({"flows": "2"}, [1e6, 1e6])))
    assert [each.label for each in found] == ["1 flow", "2 flows"]
    assert rtt_key(results(Made({}, [1e6]))) is None
    assert found[0].coefficients() is None
    assert found[0].stretches() == ()


def test_of_several_rtts_the_one_with_the_most_values_is_that_of_the_profile() -> None:
    made = [Made({"near.rtt": near, "far.rtt": far}, [1e6]) for near in ("1 ms",) for far in ("5 ms", "9 ms")]
    assert rtt_key(results(*made)) == "far.rtt"


def test_invalid_trials_are_left_out_and_named_and_suspect_ones_are_marked() -> None:
    made = flat(1e6)
    made[0] = Made(made[0].params, [9e6], 1, "invalid")
    made[1] = Made(made[1].params, [1e6], 2, "suspect")
    made[2] = Made(made[2].params, [], 1)
    (found,) = series(results(*made))
    assert found.left_out == (made[0].id, made[2].id)
    assert found.suspect == (made[1].id,)
    profile = found.profile()
    assert profile is not None
    assert profile.samples_bps == ((1e6,), (1e6,), (1e6, 1e6))


def test_a_series_of_which_nothing_is_left_has_no_profile() -> None:
    (found,) = series(results(Made({"path.rtt": "10 ms"}, [1e6], 1, "invalid")))
    assert found.profile() is None
    assert found.coefficients() is None
    assert found.conditions is None


def falling() -> Series:
    """From a full link to 0 on a straight line, over 10, 20 and 30 ms."""
    made = [Made({"path.rtt": f"{rtt} ms"}, [rate], 1) for rtt, rate in ((10, LINE), (20, LINE / 2), (30, 0.0))]
    (found,) = series(results(*made))
    return found


def test_the_coefficients_are_those_of_the_closed_forms() -> None:
    (full,) = series(results(*flat(LINE)))
    found, line = full.coefficients(), falling().coefficients()
    assert found is not None
    assert line is not None
    assert (found.c_u, found.c_cc, found.c_uc) == pytest.approx((0, 0, 0.75), abs=1e-12)
    assert (line.c_u, line.c_cc, line.c_uc) == pytest.approx((0.5, 0, 0.5), abs=1e-12)
    assert line.c_cc_bits == pytest.approx(0, abs=1e-3)
    assert line.c_cc_bits_as_printed == pytest.approx(0.01 * LINE)  # tau_L times the fall
    assert found.c_uc_as_glossed == pytest.approx(0.25)
    assert line.c_uc_interval is None


@pytest.mark.parametrize(("share", "c_uc"), [(1.0, 0.75), (0.5, 0.5), (0.0, 0.25)])
def test_there_is_one_c_uc_and_a_flat_profile_of_a_full_link_has_three_quarters(share: float, c_uc: float) -> None:
    """mean - (first + last)/4 + 1/4 of a flat profile is share/2 + 1/4, and a full link carries no more than LINE."""
    found = results(*flat(share * LINE))
    (one,) = series(found)
    coefficients = one.coefficients()
    assert coefficients is not None
    assert coefficients.c_uc == pytest.approx(c_uc, abs=1e-12)
    assert Measured.of("flat", "quick", found).c_uc == pytest.approx(c_uc, abs=1e-12)
    assert one.full_goodput_bps == pytest.approx(LINE)
    assert one.capacity_bps == RATE_BPS


def test_a_full_link_of_large_frames_has_three_quarters_too() -> None:
    """Of 9014 bytes, 8948 are payload."""
    found = [
        replace(each, flows=tuple(replace(flow, mss_bytes=8948) for flow in each.flows))
        for each in results(*flat(RATE_BPS * 8948 / 9014))
    ]
    (one,) = series(found)
    coefficients = one.coefficients()
    assert coefficients is not None
    assert coefficients.c_uc == pytest.approx(0.75, abs=1e-12)
    assert Measured.of("flat", "quick", found).c_uc == pytest.approx(0.75, abs=1e-12)


def test_the_interval_of_c_uc_holds_it_and_repeats() -> None:
    made = [
        Made({"path.rtt": f"{rtt} ms"}, [1e8 - rtt * 1e6 * (1 + 0.2 * seed)], seed)
        for rtt in (10, 20, 30)
        for seed in range(6)
    ]
    (found,) = series(results(*made))
    first, again = found.coefficients(), found.coefficients()
    assert first == again
    assert first is not None
    assert first.c_uc_interval is not None
    assert first.c_uc_interval.contains(first.c_uc)
    assert first.c_uc_interval.low < first.c_uc < first.c_uc_interval.high


def test_the_stretches_of_a_series_are_those_of_its_profile() -> None:
    rates = {10: 1e8, 20: 0.98e8, 30: 0.9e8, 40: 0.7e8}
    (found,) = series(results(*[Made({"path.rtt": f"{rtt} ms"}, [rate]) for rtt, rate in rates.items()]))
    assert [each.bend for each in found.stretches()] == ["concave"]
    assert [each.bend for each in falling().stretches()] == ["straight"]


def test_a_series_of_several_rates_has_no_capacity() -> None:
    made = [Made({"path.rtt": "10 ms"}, [1e6], seed) for seed in (1, 2)]
    (found,) = series([trial_result(made[0], 1e8), trial_result(made[1], 1e9)])
    assert found.capacity_bps is None


def test_the_ramp_is_taken_in_where_it_is_asked_for() -> None:
    ramp = {"ramp_goodput_bps": 1e6, "steady_s": 5.0, "goodput_bps": 3e6}
    result = trial_result(Made({}, [2e6], data=ramp))
    assert goodput_bps(result) == 3e6
    assert goodput_bps(result, "whole") == pytest.approx(2e6)  # 2.5 MB in 10 s
    assert goodput_bps(trial_result(Made({}, [2e6])), "whole") == 2e6


@pytest.mark.parametrize(
    ("loss", "share"),
    [
        (None, 0),
        (PeriodicLoss(500), 1 / 500),
        (RandomLoss(Fraction(1, 100)), 0.01),
    ],
)
def test_the_mean_of_a_loss(loss: object, share: float) -> None:
    assert mean_loss(loss) == pytest.approx(share)  # type: ignore[arg-type]


def test_the_mean_loss_of_two_states_is_that_of_the_stationary_one() -> None:
    chain = GilbertElliott(Fraction(1, 100), Fraction(9, 100), Fraction(1, 2), Fraction(1, 1000))
    assert mean_loss(chain) == pytest.approx(0.1 * 0.5 + 0.9 * 0.001)


def test_conditions_come_from_the_trial() -> None:
    made = Made({}, [1e6, 1e6], path={"loss": "1 in 500"}, workload={"window": "64 KiB"})
    found = conditions(trial_result(made), trial(made))
    assert (found.flows, found.congestion, found.rate_bps) == (2, ("cubic",), RATE_BPS)
    assert (found.loss, found.window_bytes, found.duration_s) == (pytest.approx(1 / 500), 65536, 10.0)
    without = conditions(trial_result(made))
    assert (without.window_bytes, without.duration_s) == (None, None)


def star(loss: Mapping[str, Any], **workload: Any) -> Trial:
    """An origin, a cache and a client around a router, with losses on their links."""
    hosts = {name: {"type": "host"} for name in ("origin", "edge", "client")}
    ends = {"access": ["client", "r"], "near": ["edge", "r"], "far": ["origin", "r"]}
    links = {
        name: {"ends": pair, "rate": "1 Gbit/s", "rtt": "2 ms", "loss": loss.get(name, "none")}
        for name, pair in ends.items()
    }
    topology = {"name": "star", "nodes": {**hosts, "r": {"type": "router"}}, "links": links}
    http = {"tool": "http", "from": "origin", "to": "client", "sizes": "1 MB", **workload}
    return make_trial(topology=topology, workload=http)


def test_the_loss_of_a_transfer_through_a_cache_is_that_of_the_links_it_takes() -> None:
    def loss(trial: Trial) -> float | None:
        return conditions(trial_result(Made({}, [1e6])), trial).loss

    lossy = {"random": "5 %"}
    assert loss(star({"near": lossy}, cache="edge")) == pytest.approx(0.05)  # on its way out, towards the client
    assert loss(star({"near": lossy})) == 0
    assert loss(star({"far": lossy, "access": lossy}, cache="edge")) == pytest.approx(1 - 0.95**2)
    ways = {"forward": "none", "backward": {"random": "5 %"}}
    assert loss(star({"near": ways}, cache="edge")) == pytest.approx(0.05)  # on its way in, from the origin


def test_the_loss_of_a_transfer_is_that_of_the_routes_it_takes() -> None:
    """A route of its own sends a's data around, over the lossy link between the routers."""
    hosts = {"a": {"type": "host", "routes": [{"to": "10.0.3.0/24", "via": "10.0.2.2"}]}, "b": {"type": "host"}}
    nodes = {**hosts, "one": {"type": "router"}, "two": {"type": "router"}}
    links = {
        "direct": {"ends": ["a", "one"], "addresses": {"a": "10.0.1.1/24", "one": "10.0.1.2/24"}},
        "aside": {"ends": ["a", "two"], "addresses": {"a": "10.0.2.1/24", "two": "10.0.2.2/24"}},
        "last": {"ends": ["one", "b"], "addresses": {"one": "10.0.3.1/24", "b": "10.0.3.2/24"}, "rate": "1 Gbit/s"},
        "cross": {
            "ends": ["two", "one"],
            "addresses": {"two": "10.0.4.2/24", "one": "10.0.4.1/24"},
            "loss": "1 in 20",
        },
    }
    found = make_trial(topology={"name": "detour", "nodes": nodes, "links": links})
    assert [hop.link.name for hop in orders(found).plan.path] == ["aside", "cross", "last"]
    assert conditions(trial_result(Made({}, [1e6])), found).loss == pytest.approx(1 / 20)


def test_the_overlays_are_the_formulas_for_all_flows() -> None:
    made = Made({}, [1e6, 1e6], path={"loss": "1 in 500"}, workload={"window": "64 KiB"})
    rtts = (0.05, 0.2)
    found = {each.kind: each for each in overlays(conditions(trial_result(made), trial(made)), rtts)}
    assert list(found) == ["line rate", "window limit", "square-root law", "CUBIC average"]
    assert found["line rate"].goodput_bps == pytest.approx((LINE, LINE))
    assert found["window limit"].goodput_bps == pytest.approx([2 * 8 * 65536 / rtt for rtt in rtts])
    root = [2 * 8 * 1448 / rtt * (1.5 * 500) ** 0.5 for rtt in rtts]
    assert found["square-root law"].goodput_bps == pytest.approx(root)
    cubic = [2 * 8 * 1448 / rtt * tcp_model.cubic_window_segments(1 / 500, rtt) for rtt in rtts]
    assert found["CUBIC average"].goodput_bps == pytest.approx(cubic)


def test_a_law_of_loss_is_bounded_by_the_line_rate_and_absent_without_loss() -> None:
    made = Made({}, [1e6], path={"loss": "1 in 100000"})
    found = {each.kind: each for each in overlays(conditions(trial_result(made), trial(made)), (0.001,))}
    assert found["square-root law"].goodput_bps == pytest.approx((LINE,))
    clean = Made({}, [1e6])
    assert [each.kind for each in overlays(conditions(trial_result(clean), trial(clean)), (0.01,))] == ["line rate"]
    assert line_rate_bps(conditions(trial_result(clean, None))) is None


def with_flow(**counts: object) -> TrialResult:
    base = trial_result(Made({}, [1e6]))
    (flow,) = base.flows
    return replace(base, flows=(replace(flow, **counts),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "limit"),
    [
        (trial_result(Made({}, [LINE])), "rate"),
        (trial_result(Made({}, [LINE / 2, LINE / 2])), "rate"),
        (with_flow(rwnd_limited=0.9), "receiver buffer"),
        (with_flow(sndbuf_limited=0.9), "sender buffer"),
        (with_flow(retransmits=3), "unknown"),
        (with_flow(busy_s=2.0), "application"),
        (with_flow(busy_s=None, rwnd_limited=None, sndbuf_limited=None, retransmits=None), "unknown"),
        (replace(trial_result(Made({}, [1e6])), flows=()), "unknown"),
    ],
    ids=[
        "rate",
        "rate of two",
        "receiver buffer",
        "sender buffer",
        "lost but not sampled",
        "application",
        "not counted",
        "no flows",
    ],
)
def test_what_limited_a_trial(result: TrialResult, limit: str) -> None:
    assert limited_by(result) == limit


def test_a_flow_that_starts_late_was_not_limited_by_its_application() -> None:
    made = Made({}, [1e6], retransmits=3, workload={"duration": "4 s"})
    late = trial_result(made)
    late = replace(late, flows=(replace(late.flows[0], busy_s=4.0),))
    assert limited_by(late) == "application"
    assert limited_by(late, trial(made)) == "unknown"
    (found,) = flow_limitations(late, trial(made), [{"loss": 0.8, "slow start": 0.2}])
    assert (found.limit, found.share) == ("loss", 0.8)


def test_of_several_flows_the_time_counts_and_not_the_majority() -> None:
    result = trial_result(Made({}, [1e6, 1e6, 1e6], workload={"flows": 3}))
    mostly, wholly = {"rate": 0.51, "loss": 0.49}, {"loss": 1.0}
    assert limited_by(result, None, [mostly, mostly, wholly]) == "loss"
    assert limited_by(result, None, [mostly]) == "unknown", "samples of one flow tell nothing of the others"


STAGE = StageResult(
    "path", "forward", 100e6, 0.01, None, None, 0, 0, 0, None, 0, 0, 0, None, None
)  # fmt: skip
POLICED = PolicyResult(1, 1e6, 1, 0.0, 1000, 1000, 90, None, None)


def test_datagrams_that_a_policer_dropped_were_limited_by_it() -> None:
    lost = with_flow(busy_s=None, rwnd_limited=None, sndbuf_limited=None, retransmits=None)
    lost = replace(lost, flows=tuple(replace(flow, congestion=None) for flow in lost.flows))
    policed = replace(STAGE, policy=POLICED)
    assert limited_by(replace(lost, stages=(STAGE,), seen=replace(lost.seen, queue_drops=10))) == "path buffer"
    assert limited_by(replace(lost, stages=(policed,), seen=replace(lost.seen, queue_drops=10))) == "policer"
    assert limited_by(replace(lost, stages=(STAGE,), seen=replace(lost.seen, random_drops=10))) == "loss"
    assert limited_by(lost) == "unknown"


def test_flows_at_the_cap_that_each_has_are_limited_by_the_rate() -> None:
    two = trial_result(Made({}, [9.5e6, 9.5e6], workload={"flows": 2}))
    cap = PerFlowResult(10e6, 2271, 151_400, 2, 2, 10**7, 0, 0)
    capped = replace(STAGE, data_packets=9, paced=PacedResult(per_flow=cap))
    assert limited_by(replace(two, stages=(capped,))) == "rate"
    assert limited_by(replace(two, stages=(STAGE,))) != "rate"
    answers = replace(capped, data_packets=0)
    assert limited_by(replace(two, stages=(answers,))) != "rate", "that is the cap of the acknowledgements"


def test_the_limits_of_a_cell_are_counted_over_its_seeds() -> None:
    made = [
        Made({"flows": "1"}, [LINE], 1),
        Made({"flows": "1"}, [1e6], 2, retransmits=1),
        Made({"flows": "2"}, [LINE]),
    ]
    made.append(Made({"flows": "1"}, [1e6], 3, "invalid"))
    first, second = limits(results(*made))
    assert (first.params, first.trials, first.limits) == ((("flows", "1"),), 2, (("rate", 1), ("unknown", 1)))
    assert (str(first), str(second)) == ("rate 1, unknown 1", "rate")
    lost = {each.id: [{"loss": 1.0}] for each in results(*made)}
    assert str(limits(results(*made), times=lost)[0]) == "rate 1, loss 1"


def test_the_line_rate_over_ipv6_leaves_room_for_longer_headers() -> None:
    found = trial_result(Made({}, [90e6]), 100e6)
    flows = tuple(replace(flow, mss_bytes=1428) for flow in found.flows)
    over_6 = replace(found, flows=flows, ip_version=6)
    assert line_rate_bps(conditions(found)) == pytest.approx(100e6 * 1448 / 1514)
    assert line_rate_bps(conditions(over_6)) == pytest.approx(100e6 * 1428 / 1514)


def test_a_window_is_not_bounded_by_the_line_rate_that_it_may_exceed() -> None:
    made = Made({}, [1e6], workload={"window": "64 KiB"})
    found = {each.kind: each for each in overlays(conditions(trial_result(made), trial(made)), (0.001,))}
    assert found["window limit"].goodput_bps == pytest.approx((8 * 65536 / 0.001,))


def two_links(first: Mapping[str, Any], last: Mapping[str, Any], **workload: Any) -> Trial:
    """Two hosts with a router between them."""
    nodes = {"a": {"type": "host"}, "r": {"type": "router"}, "b": {"type": "host"}}
    links = {"first": {"ends": ["a", "r"], **first}, "last": {"ends": ["r", "b"], **last}}
    about = {"tool": "iperf3", "from": "a", "to": "b", "duration": "10 s", **workload}
    return make_trial(topology={"name": "two", "nodes": nodes, "links": links}, workload=about)


@pytest.mark.parametrize(
    ("first", "last", "buffer"),
    [
        ({"rate": "1 Gbit/s", "buffer": "7 packets"}, {"rate": "10 Mbit/s", "buffer": "9 packets"}, "9 packets"),
        ({"rate": "10 Mbit/s", "buffer": "7 packets"}, {"rate": "1 Gbit/s", "buffer": "9 packets"}, "7 packets"),
        ({"rate": "1 Gbit/s", "buffer": "7 packets"}, {"rate": "10 Mbit/s"}, "default"),
        ({"rate": "1 Gbit/s", "buffer": "7 packets"}, {}, "7 packets"),
        ({}, {}, None),
    ],
)
def test_the_buffer_of_a_trial_is_that_of_its_slowest_link(
    first: Mapping[str, Any], last: Mapping[str, Any], buffer: str | None
) -> None:
    assert conditions(trial_result(Made({}, [1e6])), two_links(first, last)).buffer == buffer


def test_the_windows_of_a_trial_are_each_said_once() -> None:
    def window(**workload: Any) -> str | None:
        made = Made({}, [1e6, 1e6], workload=workload)
        return conditions(trial_result(made), trial(made)).window

    assert window(window="64 KiB") == "64 KiB"
    assert window() == "auto"
    assert conditions(trial_result(Made({}, [1e6]))).window is None


def test_counters_do_not_tell_why_a_window_was_small_even_where_packets_were_dropped() -> None:
    """Of TCP; datagrams that fill the link were limited by its rate, whatever it dropped."""
    counted = with_flow(retransmits=3)
    assert limited_by(replace(counted, seen=replace(counted.seen, queue_drops=10))) == "unknown"
    full = trial_result(Made({}, [LINE]))
    sent = replace(full.flows[0], busy_s=None, rwnd_limited=None, sndbuf_limited=None, congestion=None)
    assert limited_by(replace(full, flows=(sent,), seen=replace(full.seen, random_drops=10))) == "rate"


@pytest.mark.parametrize(("queue_bytes", "limit"), [(0, "policer"), (30_000, "path buffer")])
def test_a_cap_of_each_flow_drops_as_a_policer_or_as_a_full_buffer(queue_bytes: int, limit: str) -> None:
    found = trial_result(Made({}, [1e6]))
    sent = replace(found.flows[0], busy_s=None, rwnd_limited=None, sndbuf_limited=None, congestion=None)
    cap = PacedResult(per_flow=PerFlowResult(8e6, 1, queue_bytes, 1, 1, 1, 1514 * 875, 875))
    stage = StageResult("path", "forward", 1e8, 0.01, None, None, 0, 0, 0, None, 0, 0, 0, None, None, paced=cap)
    assert limited_by(replace(found, flows=(sent,), stages=(stage,))) == limit


@pytest.mark.parametrize(("goodput", "limit"), [(2e6, "application"), (1e6, "unknown")])
def test_flows_that_offer_less_than_the_link_are_limited_by_that(goodput: float, limit: str) -> None:
    """Two flows of 1 Mbit/s each, over 100 Mbit/s."""
    offered = make_trial(workload={"tool": "iperf3", "duration": "10 s", "flows": 2, "rate": "1 Mbit/s"})
    assert limited_by(trial_result(Made({}, [goodput / 2] * 2)), offered) == limit


def test_the_stretches_are_those_of_the_span() -> None:
    """Without the ramp concave, with it a straight line: 8 times the bytes received over 10 s."""
    steady = {10: 1e8, 20: 0.98e8, 30: 0.9e8}
    whole = {10: 9e7, 20: 8e7, 30: 7e7}
    made = [
        Made({"path.rtt": f"{rtt} ms"}, [whole[rtt]], data={"goodput_bps": rate, "ramp_goodput_bps": 1e6})
        for rtt, rate in steady.items()
    ]
    (found,) = series(results(*made))
    assert [each.bend for each in found.stretches()] == ["concave"]
    assert [each.bend for each in found.stretches("whole")] == ["straight"]


def test_the_delay_of_one_direction_is_an_rtt_axis_too() -> None:
    made = [Made({"path.delay.forward": at, "flows": "1"}, [1e6]) for at in ("5 ms", "9 ms")]
    assert rtt_key(results(*made)) == "path.delay.forward"


def test_sampled_flows_that_fill_the_link_together_are_limited_by_its_rate() -> None:
    lossy: list[dict[Any, float]] = [{"loss": 1.0}, {"loss": 1.0}]
    assert limited_by(trial_result(Made({}, [LINE / 2, LINE / 2])), None, lossy) == "rate"
    assert limited_by(trial_result(Made({}, [LINE / 4, LINE / 4])), None, lossy) == "loss"
