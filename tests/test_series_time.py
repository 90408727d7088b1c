"""The time of a trial divided by what held its flows back, from their goodput in each second alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from storedruns import Made, trial_result
from test_flow_time import RATE, stages, state
from trials import make_trial

from testbed.analysis.limit.limitation import FlowTotals, limitation
from testbed.analysis.limit.series_time import parts
from testbed.model.background import Constant
from testbed.model.scenario import Trial
from testbed.trial.result import (
    FaultResult,
    PacedResult,
    PerFlowResult,
    RandomLossResult,
    RouteChange,
    RouterResult,
    SdnResult,
    ShaperResult,
    TraceResult,
    TrialResult,
)

FULL = 1e8
FAST, SLOW = 0.95 * FULL, 0.1 * FULL


def result(goodput_bps: list[float], flows: int = 1, drops: int = 10, **changes: Any) -> TrialResult:
    """A trial whose link lost packets; its flows were never held back by a buffer."""
    made = trial_result(Made({}, [1e6] * flows, retransmits=3))
    each = tuple(replace(flow, rwnd_limited=0.0, sndbuf_limited=0.0) for flow in made.flows)
    series = [{"time_s": float(n), "goodput_bps": value} for n, value in enumerate(goodput_bps)]
    seen = replace(made.seen, dropped_packets=drops, random_drops=0, queue_drops=0)
    usual: dict[str, Any] = {"flows": each, "measured": {"tcp": {"series": series}}, "seen": seen, "kernel": "lab"}
    return replace(made, **{**usual, "stages": stages(), **changes})


TRIAL = make_trial({"rtt": "50 ms"}, {"duration": "10 s"})


def told(made: TrialResult, trial: Trial | None = TRIAL) -> dict[str, float]:
    return {kind: round(part, 9) for kind, part in parts(made, trial, FULL).items()}


def seen(**changes: Any) -> Callable[[TrialResult], TrialResult]:
    return lambda made: replace(made, seen=replace(made.seen, **changes))


def flow(**changes: Any) -> Callable[[TrialResult], TrialResult]:
    return lambda made: replace(made, flows=tuple(replace(each, **changes) for each in made.flows))


def test_a_second_at_the_line_rate_is_the_rates_and_others_are_the_losses_once_there_was_one() -> None:
    assert told(result([FAST] * 6 + [SLOW] * 4)) == {"rate": 0.6, "loss": 0.4}
    assert told(result([FAST] * 10)) == {"rate": 1.0}


def test_before_each_flow_has_lost_a_packet_nobody_can_tell() -> None:
    """Of ten equal seconds with five drops, one flow has met the first after two, and two have after four."""
    assert told(result([SLOW] * 10, drops=5)) == {"loss": 0.8, "unknown": 0.2}
    assert told(result([SLOW] * 10, flows=2, drops=5)) == {"loss": 0.6, "unknown": 0.4}
    assert told(result([SLOW] * 10, flows=5, drops=5)) == {"unknown": 1.0}
    assert told(result([SLOW] * 10, flows=6, drops=5)) == {"unknown": 1.0}
    assert told(result([SLOW] * 10, drops=0)) == {"unknown": 1.0}


def test_it_is_the_share_of_the_data_that_counts_and_not_that_of_the_time() -> None:
    """A slow start that brings half of the data in the last of ten seconds has met none of two drops before."""
    assert told(result([SLOW / 9] * 9 + [SLOW], drops=2)) == {"unknown": 0.9, "loss": 0.1}


def test_what_a_buffer_held_back_is_not_the_losses() -> None:
    held = flow(rwnd_limited=0.25, sndbuf_limited=0.15)(result([SLOW] * 10))
    assert told(held) == {"loss": 0.5, "unknown": 0.5}
    assert told(flow(rwnd_limited=None)(held)) == {"unknown": 1.0}


def test_a_small_part_for_which_the_send_buffer_held_bbr_back_may_be_all() -> None:
    """With a buffer for 12.5 of 20 Mbit/s the kernel counted 21 %, and BBR had the same goodput without the losses."""
    held = flow(sndbuf_limited=0.21)(result([SLOW] * 10))
    assert told(held) == {"loss": 0.69, "unknown": 0.31}
    assert told(flow(congestion="bbr")(held)) == {"unknown": 1.0}
    assert told(flow(congestion="bbr", sndbuf_limited=0.05)(held)) == {"loss": 0.85, "unknown": 0.15}


def test_a_second_that_a_bounded_send_buffer_may_have_held_back_is_not_the_losses() -> None:
    """The kernel may not count such a buffer at all. At 10 Mbit/s and 10 ms 12.5 kB are in flight, half of 25 kB."""
    made = result([SLOW / 2] * 5 + [SLOW] * 5, drops=20)
    fixed = make_trial({"rtt": "10 ms"}, {"duration": "10 s", "window": "64 KiB"})
    for size, expected in ((25_000, {"unknown": 0.6, "loss": 0.4}), (25_100, {"loss": 0.9, "unknown": 0.1})):
        bounded = replace(TRIAL, sysctls=(("net.ipv4.tcp_wmem", f"4096 16384 {size}"),))
        own = make_trial({"rtt": "10 ms"}, {"duration": "10 s"}, sysctls={"net.ipv4.tcp_wmem": f"4096 16384 {size}"})
        assert told(made, bounded) == told(made, own) == expected
        assert told(flow(sndbuf_bytes=size)(made), fixed) == expected
        assert told(flow(sndbuf_bytes=size)(made)) == {"loss": 0.9, "unknown": 0.1}, "where tuning began"


def test_a_window_for_just_less_than_the_path_carries_is_not_the_rate() -> None:
    """16 KiB at 1 Gbit/s and 0.15 ms had 90.2 % of what the path carries, and the kernel counted the two buffers."""
    held = flow(rwnd_limited=0.53, sndbuf_limited=0.45)
    assert told(held(result([0.902 * FULL] * 10, drops=0))) == {"unknown": 1.0}
    assert told(held(result([0.96 * FULL] * 10, drops=0))) == {"rate": 1.0}
    assert told(flow(rwnd_limited=0.3)(result([0.902 * FULL] * 10, drops=0))) == {"rate": 1.0}


CLUSTERS = RandomLossResult(0.01, 1000, 10, None, None)
ALONE = replace(CLUSTERS, low=0.005, high=0.018)


def stage(**forward: Any) -> Callable[[TrialResult], TrialResult]:
    return lambda made: replace(made, stages=stages(**forward))


def shaper(used_up: bool | None) -> PacedResult:
    return PacedResult(shaper=ShaperResult(FULL, 10**7, 1e7, None, 10**7, None, 0, used_up=used_up))


def cap(capped_flows: int) -> PacedResult:
    return PacedResult(per_flow=PerFlowResult(FULL, 1514, 10**6, 2, capped_flows, 10**7, 0, 0))


@pytest.mark.parametrize(
    "other",
    [
        seen(queue_drops=1),
        seen(aqm_drops=1),
        seen(marks=1),
        stage(random_loss=CLUSTERS),
        stage(paced=shaper(used_up=True)),
        stage(paced=shaper(used_up=None)),
        stage(paced=cap(1)),
        lambda made: replace(made, stages=(made.stages[0], replace(made.stages[1], peak_rate_bps=0.95 * RATE))),
        stage(faults=(FaultResult("reorder", 0, 1000, 10, 10),)),
        lambda made: replace(made, routers={"r": RouterResult(changes=(RouteChange(1, "10.0.0.0/24 via 10.0.1.1"),))}),
        lambda made: replace(made, sdn=SdnResult({}, {})),
    ],
    ids=[
        "a full buffer",
        "a queue that drops early",
        "a queue that marks",
        "losses in bursts",
        "a shaper without credit",
        "a shaper that may have had none",
        "the cap of a flow",
        "a way back that is full of ACKs",
        "packets that overtake",
        "a route that changed",
        "switches that are told what to do",
    ],
)
def test_what_else_may_have_cut_the_window_leaves_the_rate_alone(other: Callable[[TrialResult], TrialResult]) -> None:
    assert told(other(result([FAST] * 4 + [SLOW] * 6))) == {"unknown": 0.6, "rate": 0.4}


@pytest.mark.parametrize(
    "asked",
    [
        ({"rtt": "50 ms"}, {"rate": "50 Mbit/s"}),
        ({"rtt": "50 ms"}, {"writes": {"size": "20 kB", "every": "50 ms"}}),
        ({"rtt": "50 ms"}, {"flows": 2, "start": ["0 s", "20 s"]}),
        ({"rtt": "50 ms", "jitter": {"sd": "5 ms", "reorder": True}}, {}),
    ],
    ids=[
        "a flow that is paced",
        "an application that writes at times",
        "flows that start apart",
        "jitter that reorders",
    ],
)
def test_what_was_asked_may_have_held_the_flows_back_too(asked: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Between flows that start apart nobody may send; and the first may have met all of the drops."""
    path, workload = asked
    trial = make_trial(path, {"duration": "10 s", **workload})
    assert told(result([FAST] * 4 + [SLOW] * 6), trial) == {"unknown": 0.6, "rate": 0.4}


def test_what_was_there_and_did_nothing_changes_nothing() -> None:
    made = result([SLOW] * 10)
    trial = make_trial({"rtt": "50 ms", "jitter": "1 ms"}, {"duration": "10 s", "flows": 2, "start": "10 ms"})
    assert told(made, trial) == {"loss": 0.9, "unknown": 0.1}
    idle = replace(
        made, stages=stages(data_packets=1000, peak_rate_bps=RATE, faults=(FaultResult("corrupt", 0, 9, 0, 0),))
    )
    assert told(idle) == {"loss": 0.9, "unknown": 0.1}
    for other in (shaper(used_up=False), cap(0)):
        assert told(stage(paced=other)(made)) == {"loss": 0.9, "unknown": 0.1}
    assert told(replace(made, routers={"r": RouterResult()})) == {"loss": 0.9, "unknown": 0.1}


def test_rules_of_a_user_may_drop_packets_and_those_of_a_firewall_let_through_all_or_nothing() -> None:
    made = result([FAST] * 4 + [SLOW] * 6)
    links = {"one": {"ends": ["a", "r"], "rate": "1 Gbit/s"}, "two": {"ends": ["r", "b"], "rate": "1 Gbit/s"}}
    for rules, expected in (
        ({"nftables": "limit.nft", "nftables_text": "table ip t { }"}, {"unknown": 0.6, "rate": 0.4}),
        ({"firewall": [{"action": "deny", "port": 80, "protocol": "tcp"}]}, {"loss": 0.6, "rate": 0.4}),
    ):
        nodes = {"a": {"type": "host"}, "b": {"type": "host"}, "r": {"type": "router", **rules}}
        trial = make_trial(topology={"name": "net", "nodes": nodes, "links": links})
        assert told(made, trial) == expected


def test_a_trace_carries_another_rate_in_each_second() -> None:
    trace = PacedResult(trace=TraceResult("fade.csv", 10, FULL, 0, 10**5, 10**8))
    assert told(stage(paced=trace)(result([FAST] * 4 + [SLOW] * 6))) == {}


def test_a_random_loss_whose_drops_are_on_their_own_is_one() -> None:
    made = replace(result([SLOW] * 10, drops=0), stages=stages(random_loss=ALONE))
    assert told(seen(random_drops=10)(made)) == {"loss": 0.9, "unknown": 0.1}


def test_where_others_or_computing_or_a_change_of_the_link_count_nothing_is_told() -> None:
    made = result([SLOW] * 10)
    other = replace(TRIAL, background=(("others", Constant("client", "server", rate_bps=10**6)),))
    assert told(made, other) == {}
    assert told(made, None) == {}
    assert told(replace(made, kernel="host")) == {}
    assert told(replace(made, kernel="lab-realtime")) == {}
    assert told(replace(made, stages=stages(intervals=(state(0, 5, FULL), state(5, 11, FULL / 2))))) == {}
    assert told(replace(made, measured={})) == {}
    assert told(result([])) == {}
    assert parts(made, TRIAL, None) == {}


def test_samples_come_first_and_a_buffer_that_was_counted_comes_after_the_seconds() -> None:
    busy = FlowTotals(10, busy_s=10, rwnd_limited_s=6, sndbuf_limited_s=0, seconds={"rate": 0.6, "unknown": 0.4})
    assert limitation(busy).limit == "rate"
    assert limitation(replace(busy, times={"loss": 1.0})).limit == "loss"
    assert limitation(replace(busy, seconds={"unknown": 0.6, "rate": 0.4})).limit == "receiver buffer"
    nobody = replace(busy, rwnd_limited_s=0, seconds={"rate": 0.4, "loss": 0.35, "unknown": 0.25})
    assert limitation(nobody).limit == "unknown", "losses may have held it back for 60 %"
    assert limitation(replace(nobody, seconds={"rate": 0.5, "unknown": 0.5})).limit == "rate"
    found = limitation(replace(busy, rwnd_limited_s=0, seconds={"loss": 0.6, "unknown": 0.4}))
    assert (found.limit, found.share) == ("loss", 0.6)
    assert found.why == "links lost packets, which kept the congestion window small for 60% of its time; unknown: 40%"
    assert limitation(replace(busy, rwnd_limited_s=0, seconds={"unknown": 1.0})).share is None
