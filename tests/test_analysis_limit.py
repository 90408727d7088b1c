"""What limited a flow."""

from typing import get_args

import pytest

from testbed.analysis.limit.flow_time import CAUSES
from testbed.analysis.limit.limitation import WHAT, FlowTotals, Limit, limitation

CASES = {
    "a full bottleneck": (FlowTotals(30, goodput_bps=9.5e9, limit_bps=9.564e9, busy_s=30), "rate"),
    "a full bottleneck, in spite of losses and a full window": (
        FlowTotals(30, 30, 29, 0, goodput_bps=9.5e9, limit_bps=9.564e9),
        "rate",
    ),
    "a busy core": (FlowTotals(30, busy_s=30, goodput_bps=4e9, limit_bps=9.564e9, cpu_share=0.99), "cpu"),
    "a busy core under a full bottleneck": (
        FlowTotals(30, busy_s=30, goodput_bps=9.5e9, limit_bps=9.564e9, cpu_share=0.99),
        "rate",
    ),
    "an application that pauses": (FlowTotals(30, busy_s=10, rwnd_limited_s=9), "application"),
    "a small window": (FlowTotals(30, 30, rwnd_limited_s=28, sndbuf_limited_s=0), "receiver buffer"),
    "a small send buffer": (FlowTotals(30, 30, rwnd_limited_s=1, sndbuf_limited_s=25), "sender buffer"),
    "the longer of window and send buffer": (
        FlowTotals(30, 30, rwnd_limited_s=15, sndbuf_limited_s=15.5),
        "sender buffer",
    ),
    "all that was offered": (
        FlowTotals(30, busy_s=30, goodput_bps=1e8, limit_bps=9.5e9, offered_bps=1e8),
        "application",
    ),
    "less than was offered": (FlowTotals(30, busy_s=30, goodput_bps=1e8, limit_bps=9.5e9, offered_bps=2e8), "unknown"),
    "the longest of what was sampled": (
        FlowTotals(30, 30, 20, 0, times={"receiver buffer": 0.3, "sender buffer": 0.6, "loss": 0.1}),
        "sender buffer",
    ),
    "a full bottleneck, whatever was sampled": (
        FlowTotals(30, 30, goodput_bps=9.5e9, limit_bps=9.564e9, times={"loss": 1.0}),
        "rate",
    ),
    "nothing that was counted": (FlowTotals(30, 30, 0, 0, 1e9, 9.5e9, cpu_share=0.2), "unknown"),
    "nothing was counted": (FlowTotals(30), "unknown"),
}


@pytest.mark.parametrize(("totals", "limit"), CASES.values(), ids=CASES)
def test_what_limited_the_flow(totals: FlowTotals, limit: str) -> None:
    assert limitation(totals).limit == limit


def test_the_share_is_of_what_limited() -> None:
    found = limitation(FlowTotals(30, busy_s=28, rwnd_limited_s=21))
    assert found.share == pytest.approx(0.75)
    assert found.why == "the receive window held it back for 75% of its busy time"


def test_what_else_held_it_back_for_long_is_said() -> None:
    found = limitation(FlowTotals(30, times={"loss": 0.5, "rate": 0.3, "slow start": 0.15, "application": 0.05}))
    assert (found.limit, found.share) == ("loss", 0.5)
    assert found.why.endswith("for 50% of its time; rate: 30%; slow start: 15%")


def test_every_limit_is_explained() -> None:
    assert set(WHAT) == set(get_args(Limit))
    assert set(CAUSES) <= set(WHAT)


def test_an_absent_count_is_not_0() -> None:
    assert FlowTotals(30).busy_share is None
    assert FlowTotals(30, rwnd_limited_s=3).window_share is None
    assert FlowTotals(30, busy_s=0, rwnd_limited_s=0).window_share is None
    assert FlowTotals(30, goodput_bps=1e9).rate_share is None


def test_a_flow_that_never_sent_was_limited_by_its_application() -> None:
    assert limitation(FlowTotals(30, busy_s=0, rwnd_limited_s=0, sndbuf_limited_s=0)).limit == "application"


@pytest.mark.parametrize(
    "wrong",
    [
        {"duration_s": 0},
        {"duration_s": 1, "busy_s": -1},
        {"duration_s": 1, "limit_bps": 0},
        {"duration_s": 1, "offered_bps": 0},
    ],
)
def test_impossible_totals_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"."):
        FlowTotals(**wrong)


@pytest.mark.parametrize("name", ["busy_s", "rwnd_limited_s", "sndbuf_limited_s", "goodput_bps", "cpu_share"])
def test_a_count_below_0_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is -1, not 0 or more"):
        FlowTotals(30, **{name: -1})
    assert getattr(FlowTotals(30, **{name: 0}), name) == 0
    with pytest.raises(ValueError, match="limit_bps is 0, not above 0"):
        FlowTotals(30, limit_bps=0)
    with pytest.raises(ValueError, match="a flow of 0 s"):
        FlowTotals(0)
