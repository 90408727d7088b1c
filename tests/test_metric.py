"""What two runs are compared by: each metric against a case that one can work out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from storedruns import Made, trial_result, write_run

from testbed.analysis import flow_sample
from testbed.analysis.metric import (
    METRICS,
    FlowSamples,
    convergence_s,
    fairness,
    measure,
    retransmitted_share,
    rtt_under_load_s,
)
from testbed.error import UserError
from testbed.sweep.store import Store

STEP_S = 0.1


def flow(rate_bps: Callable[[float], float], end_s: float = 20.0, start_s: float = 0.0) -> FlowSamples:
    """A flow whose throughput at each time is given; its socket is there from 0 to 20 s."""
    times = np.arange(0, 20 + STEP_S / 2, STEP_S)
    rates = np.array([rate_bps(t) if start_s <= t < end_s else 0.0 for t in times])
    acked = np.concatenate([[0.0], np.cumsum(rates[:-1] * STEP_S / 8)])
    return FlowSamples(times, acked, np.where(acked > 0, 0.05, 0.01))


def test_segments_sent_again_are_a_share_of_all_that_were_sent() -> None:
    result = trial_result(Made({}, [1448 * 8 * 900 / 10], retransmits=100))  # 900 segments got through in 10 s
    assert retransmitted_share(result) == pytest.approx(0.1, rel=1e-3)
    uncounted = replace(result, flows=(replace(result.flows[0], retransmits=None),))
    assert retransmitted_share(uncounted) is None


def test_a_steady_flow_has_converged_as_soon_as_one_can_tell() -> None:
    assert convergence_s([flow(lambda t: 1e6)]) == pytest.approx(1.0)


def test_a_flow_that_doubles_has_converged_when_a_second_of_it_is_near_the_end_level() -> None:
    """It is at 0.5 until 5 s; a second's mean reaches 0.8 when six tenths of it are at 1."""
    found = convergence_s([flow(lambda t: 0.5e6 if t < 5 else 1e6)])
    assert found == pytest.approx(5.6, abs=STEP_S)


def test_an_incumbent_has_converged_when_it_has_given_up_its_surplus() -> None:
    """Falls from 2 to 1 at 6 s: a second's mean is at 1.25 when a quarter of it is left at 2."""
    found = convergence_s([flow(lambda t: 1e6), flow(lambda t: 2e6 if t < 6 else 1e6)])
    assert found == pytest.approx(6.75, abs=STEP_S)


def test_the_time_counts_from_the_last_start_and_to_the_first_end() -> None:
    late = flow(lambda t: 0.2e6 if t < 8 else 1e6, start_s=6)
    early = flow(lambda t: 1e6, end_s=16)
    assert convergence_s([early, late]) == pytest.approx(2.75, abs=2 * STEP_S)


def test_flows_that_never_converge_took_all_the_time_there_was() -> None:
    """Each passes through its long-term level once, at 15 and at 12 s, and never both at a time."""
    up, down = flow(lambda t: 0.1e6 if t < 15 else 1e6), flow(lambda t: 1e6 if t < 12 else 0.1e6)
    found = convergence_s([up, down])
    assert found == pytest.approx(20, abs=2 * STEP_S)
    # A number for those who calculate; for people it did not happen, and 20 s of 20 s would look as if it had.
    assert METRICS["convergence"].text(found) == "never"
    assert METRICS["convergence"].text(convergence_s([flow(lambda t: 1e6)])) == "1"


def test_a_flow_that_oscillates_by_half_never_converges() -> None:
    """It passes through its mean twice a period; near it for long it is not, whatever the period over a second."""
    for period_s in (3.0, 5.0, 8.0):
        samples = [flow(lambda t, p=period_s: 1e6 * (1 + 0.5 * np.sin(2 * np.pi * t / p)))]  # type: ignore[misc]
        assert convergence_s(samples) == pytest.approx(20, abs=2 * STEP_S), period_s
    square = flow(lambda t: 1.5e6 if int(t / 2) % 2 else 0.5e6)
    assert convergence_s([square]) == pytest.approx(20, abs=2 * STEP_S)


def test_a_flow_that_leaves_its_level_for_a_moment_has_converged_before() -> None:
    """Away from 8.0 to 8.5 s: a second's mean is half a second's worth off, for less than 1 in 10 of the 19 s."""
    assert convergence_s([flow(lambda t: 0.2e6 if 8 <= t < 8.5 else 1e6)]) == pytest.approx(1.0)


def test_a_flow_that_leaves_its_level_for_long_converges_when_it_is_back() -> None:
    found = convergence_s([flow(lambda t: 0.5e6 if 4 <= t < 9 else 1e6)])
    assert found is not None
    assert found > 9


def test_a_flow_that_starves_while_it_has_data_to_send_never_converges() -> None:
    """It sends for 8 s and then waits; by the bytes alone it would have ended after 8 s, and converged at once."""
    full, starved = flow(lambda t: 1e6), flow(lambda t: 1e6 if t < 8 else 0.0)
    assert convergence_s([full, replace(starved, busy_s=starved.time_s)]) == pytest.approx(20, abs=2 * STEP_S)


def staggered(*rates: Callable[[int], float]) -> tuple[list[FlowSamples], list[float]]:
    """Flows of 10 s that start 5 s apart and have these shares of 10 Mbit/s, by how many run; and their goodputs."""

    def running(t: float) -> int:
        return sum(5 * k <= t < 5 * k + 10 for k in range(len(rates)))

    made = [
        flow(lambda t, rate=rate: 10e6 * rate(running(t)), start_s=5 * k, end_s=5 * k + 10)  # type: ignore[misc]
        for k, rate in enumerate(rates)
    ]
    return made, [each.acked_bytes[-1] * 8 / 10 for each in made]


def test_flows_that_share_perfectly_while_they_run_together_are_fair_whenever_they_start() -> None:
    samples, goodputs = staggered(lambda n: 1 / n, lambda n: 1 / n, lambda n: 1 / n)
    assert fairness(trial_result(Made({}, goodputs)), samples) == pytest.approx(1, abs=1e-3)


def test_a_flow_that_takes_more_of_every_overlap_is_unfair_whatever_its_goodput() -> None:
    """55 % of each overlap: 1 / (2 (0.55^2 + 0.45^2)) = 0.990; the goodputs of the two flows come out equal."""
    samples, goodputs = staggered(lambda n: 0.55 if n > 1 else 0.9, lambda n: 0.45 if n > 1 else 1.0)
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.01)
    assert fairness(trial_result(Made({}, goodputs)), samples) == pytest.approx(0.990, abs=1e-3)


def test_a_flow_that_starves_or_was_never_seen_counts_with_nothing() -> None:
    full, starved = flow(lambda t: 1e6), flow(lambda t: 0.0)
    starved = replace(starved, busy_s=starved.time_s)
    result = trial_result(Made({}, [1e6, 0.0]))
    assert fairness(result, [full, starved]) == pytest.approx(0.5)
    assert fairness(result, [full]) == pytest.approx(0.5)
    assert fairness(trial_result(Made({}, [1e6, 1e6])), [full]) is None  # of the other we do not know
    early = flow(lambda t: 1e6 if t < 5 else 0.0)
    found = fairness(trial_result(Made({}, [1e6, 0.25e6])), [full, replace(early, busy_s=early.time_s)])
    assert found == pytest.approx(1.25**2 / (2 * (1 + 0.25**2)), abs=0.01)


def test_fairness_is_of_the_time_after_the_ramp() -> None:
    samples = [flow(lambda t: 1e6), flow(lambda t: 0.2e6 if t < 10 else 1e6)]
    result = trial_result(Made({}, [1e6, 0.6e6], data={"steady_s": 10.0}))
    assert fairness(result, samples) == pytest.approx(1)
    assert fairness(replace(result, steady_s=0.0), samples) < 0.95  # type: ignore[operator]


def test_without_samples_fairness_is_of_the_goodputs_if_the_flows_ran_at_the_same_time() -> None:
    result = trial_result(Made({}, [3e6, 1e6]))
    assert fairness(result, ()) == pytest.approx(0.8)  # (3+1)^2 / (2 (9+1))
    assert fairness(replace(result, workload_s=15.0), ()) is None  # each was busy for 10 s of it
    first, second = result.flows
    assert fairness(replace(result, flows=(first, replace(second, goodput_bps=None))), ()) is None
    assert fairness(trial_result(Made({}, [0.0, 0.0])), ()) is None
    assert fairness(trial_result(Made({}, [1e6])), ()) is None


def test_flows_that_never_run_together_share_nothing() -> None:
    samples = [flow(lambda t: 1e6, end_s=9), flow(lambda t: 1e6, start_s=9.5)]
    assert fairness(trial_result(Made({}, [1e6, 1e6])), samples) is None


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [flow(lambda t: 1e6, end_s=3)],
        [flow(lambda t: 0.0)],
        [flow(lambda t: 1e6, end_s=9), flow(lambda t: 1e6, start_s=9)],
    ],
    ids=["no samples", "3 s", "nothing sent", "never together"],
)
def test_without_enough_to_see_there_is_no_time_to_convergence(samples: list[FlowSamples]) -> None:
    assert convergence_s(samples) is None


def test_rtt_under_load_is_of_busy_flows_after_the_ramp() -> None:
    times = np.arange(0, 11.0)
    acked = np.clip(times - 1, 0, 8) * 1e6  # sends from 1 to 9 s
    samples = FlowSamples(times, acked, times / 100)
    result = trial_result(Made({}, [1e6], data={"steady_s": 3.0}))
    assert rtt_under_load_s(result, [samples], 0.5) == pytest.approx(0.06)  # 3 … 9
    assert rtt_under_load_s(result, [samples], 1.0) == pytest.approx(0.09)
    assert rtt_under_load_s(result, [], 0.5) is None


def test_samples_are_read_flow_by_flow_from_the_sender(tmp_path: Path) -> None:
    made = Made({}, [1e6, 3e6], srtt_s=0.07)
    run = write_run(tmp_path / "run", [made])
    result = trial_result(made)
    found = flow_sample.read(run / "trials" / made.id, result)
    assert [each.acked_bytes[-1] * 8 / each.time_s[-1] for each in found] == pytest.approx([1e6, 3e6], rel=1e-4)
    measured = measure(result, found, [name for name, metric in METRICS.items() if metric.only is None])
    assert measured == {
        "goodput": 4e6,
        "retransmits": 0,
        "rtt": pytest.approx(0.07),
        "rtt-p95": pytest.approx(0.07),
        "rtt-p99": pytest.approx(0.07),
        "fairness": pytest.approx(0.8),
        "convergence": pytest.approx(1.0),
    }


def test_a_trial_without_samples_has_only_what_its_result_tells(tmp_path: Path) -> None:
    made = Made({}, [1e6])
    run = write_run(tmp_path / "run", [made], samples=False)
    assert flow_sample.read(run / "trials" / made.id, trial_result(made)) == ()
    pq.write_table(pa.table({"time_s": [1.0]}), run / "trials" / made.id / "samples.parquet")
    assert flow_sample.read(run / "trials" / made.id, trial_result(made)) == ()
    assert measure(trial_result(made), (), ["rtt", "convergence"]) == {"rtt": None, "convergence": None}


def test_a_broken_sample_file_is_named(tmp_path: Path) -> None:
    made = Made({}, [1e6])
    folder = write_run(tmp_path / "run", [made]) / "trials" / made.id
    (folder / "samples.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(UserError, match=r"samples\.parquet is damaged: .*rm -r"):
        flow_sample.read(folder, trial_result(made))


def test_a_flow_of_several_connections_has_no_samples_of_its_own(tmp_path: Path) -> None:
    """Downloads by HTTP share a port: what its sockets say together is no flow's RTT and no flow's convergence."""
    run = write_run(tmp_path, [Made({}, [1e6, 2e6])])
    (made,) = Store(run).results()
    home = run / "trials" / made.id
    assert len(flow_sample.read(home, made)) == 2
    same_port = tuple(replace(flow, port=5001) for flow in made.flows)
    assert flow_sample.read(home, replace(made, flows=same_port)) == ()
    table = pq.read_table(home / "samples.parquet")
    ports = pa.array([port + 100 if n >= 200 else port for n, port in enumerate(table["source_port"].to_pylist())])
    pq.write_table(
        table.set_column(table.schema.get_field_index("source_port"), "source_port", ports), home / "samples.parquet"
    )
    assert flow_sample.read(home, made) == ()


@pytest.mark.parametrize(("surplus_s", "converged_s"), [(0.1, 5.0), (0.2, 8.0)])
def test_three_seconds_must_be_left_in_which_flows_stay_near(surplus_s: float, converged_s: float) -> None:
    """Of 8 s. It falls from 3 to 1 at 4.1 or 4.2 s, so its second half has 1.05 or 1.10; a second's mean is within a
    factor of 0.8 of that when 3 x + 1 - x is at most 1.3125 or 1.375: at 4.944 or 5.0125 s.
    """
    falling = flow(lambda t: 3e6 if t < 4 + surplus_s - STEP_S / 2 else 1e6, end_s=8)
    assert convergence_s([falling]) == pytest.approx(converged_s)
