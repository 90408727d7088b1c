"""The life of a flow, divided by what held it back: from samples made by hand, and from trials whose limit is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from storedruns import Made, trial_result
from trials import Ran, make_trial

from testbed.analysis.limit import flow_time, limit_sample, limited_by
from testbed.analysis.limit.flow_time import Path, QueueSamples, SenderSamples, parts
from testbed.model.scenario import Trial
from testbed.trial import column
from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders
from testbed.trial.result import (
    IntervalResult,
    PacedResult,
    PerFlowResult,
    PolicyResult,
    ShaperResult,
    StageResult,
)

SECONDS = 10
STEPS = 101
TIME = np.linspace(0, SECONDS, STEPS)
NOTHING = np.zeros(STEPS)
RATE = 1e8


def sender(**changes: Any) -> SenderSamples:
    """One that is always busy, whose data waits for the congestion window, in slow start."""
    usual: dict[str, Any] = {
        "time_s": TIME,
        "bytes_acked": TIME * 1e6,
        "unacked": NOTHING + 10,
        "notsent_bytes": NOTHING + 1e5,
        "rwnd_limited_s": NOTHING,
        "snd_ssthresh": NOTHING * np.nan,
        "ca_state": NOTHING,
        "total_retrans": NOTHING,
        "srtt_s": NOTHING + 0.05,
    }
    return SenderSamples(**{**usual, **changes})


def path(*, use: float = 0.1, drops_at_s: float | None = None, **changes: Any) -> Path:
    """One whose bottleneck carries a share of its rate, with a drop at its buffer at a time."""
    drops = NOTHING if drops_at_s is None else (drops_at_s <= TIME).astype(float)
    queue = QueueSamples(TIME, TIME * use * RATE / 8, drops, NOTHING + RATE)
    return replace(Path((queue,), 0.05, None, False, True), **changes)


def since(seconds: float, value: float = 1) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.where(seconds <= TIME, value, 0.0)


LOST = {"total_retrans": since(2), "snd_ssthresh": np.where(TIME < 2, np.nan, 7.0)}

CASES: Mapping[str, tuple[SenderSamples, Path, dict[str, float]]] = {
    "never lost anything": (sender(), path(), {"slow start": 1}),
    "a threshold without a loss": (sender(snd_ssthresh=since(5)), path(), {"congestion control": 1}),
    "a full bottleneck": (sender(**LOST), path(use=0.95, is_lossy=True), {"rate": 1}),
    "a bottleneck that is not quite full": (sender(**LOST), path(use=0.85, is_lossy=True), {"loss": 0.8}),
    "a way back that is full": (
        sender(**LOST),
        path(is_lossy=True, others=(QueueSamples(TIME, TIME * 0.95 * RATE / 8, TIME, NOTHING + RATE),)),
        {"rate": 1},
    ),
    "a shaper with credit": (
        sender(**LOST),
        path(is_lossy=True, others=(QueueSamples(TIME, TIME * RATE / 8, NOTHING, NOTHING * np.nan),)),
        {"slow start": 0.2, "loss": 0.8},
    ),
    "a flow at its cap": (sender(**LOST), path(is_lossy=True, cap_bps=8.5e6), {"rate": 1}),
    "a flow below its cap": (sender(**LOST), path(is_lossy=True, cap_bps=9.5e6), {"slow start": 0.2, "loss": 0.8}),
    "drops on a way back that is not full": (
        sender(**LOST),
        path(is_lossy=True, others=(QueueSamples(TIME, TIME * 0.1 * RATE / 8, TIME, NOTHING + RATE),)),
        {"slow start": 0.2, "loss": 0.8},
    ),
    "a loss of the link": (sender(**LOST), path(is_lossy=True), {"slow start": 0.2, "loss": 0.8}),
    "drops at a full buffer": (sender(**LOST), path(drops_at_s=1.95, is_lossy=True), {"path buffer": 0.8}),
    "drops at a full buffer long before": (sender(**LOST), path(drops_at_s=1, is_lossy=True), {"loss": 0.8}),
    "a policy that has begun": (sender(**LOST), path(policed_from_s=1.5, is_lossy=True), {"policer": 0.8}),
    "a policy that has not": (sender(**LOST), path(policed_from_s=5.0, is_lossy=True), {"loss": 0.8}),
    "sent again for no reason": (sender(**LOST), path(), {"unknown": 0.8}),
    "the next loss has its own cause": (
        sender(**{**LOST, "total_retrans": since(2) + since(7)}),
        path(drops_at_s=6.95, is_lossy=True),
        {"slow start": 0.2, "loss": 0.5, "path buffer": 0.3},
    ),
    "a full window for a half of each interval": (
        sender(rwnd_limited_s=TIME / 2),
        path(),
        {"receiver buffer": 0.5, "slow start": 0.5},
    ),
    "no data, and the tool always has some": (sender(notsent_bytes=NOTHING), path(), {"sender buffer": 1}),
    "no data, and the tool has none": (sender(notsent_bytes=NOTHING), path(always_sends=False), {"application": 1}),
    "nothing in flight": (
        sender(notsent_bytes=NOTHING, unacked=np.where((TIME >= 2) & (TIME < 6), 0, 10)),
        path(),
        {"application": 0.4, "sender buffer": 0.6},
    ),
    "connected long before": (sender(unacked=since(5), notsent_bytes=since(5)), path(), {"slow start": 1}),
    "a recovery that only the state shows": (
        sender(ca_state=np.where((TIME >= 2) & (TIME < 3), 3, 0), snd_ssthresh=LOST["snd_ssthresh"]),
        path(is_lossy=True),
        {"slow start": 0.2, "loss": 0.8},
    ),
}


@pytest.mark.parametrize(("flow", "met", "expected"), CASES.values(), ids=CASES)
def test_the_parts_of_a_life(flow: SenderSamples, met: Path, expected: dict[str, float]) -> None:
    found = parts(flow, met)
    assert sum(found.values()) == pytest.approx(1)
    for limit, part in expected.items():
        assert found.get(limit) == pytest.approx(part, abs=0.02), found  # type: ignore[call-overload]


def test_a_burst_at_the_rate_is_no_full_bottleneck() -> None:
    """A tenth of the time at the full rate, with every interval either full or empty."""
    sent = np.cumsum(np.where(np.arange(STEPS) % 10 == 0, RATE / 8 * 0.1, 0.0))
    bursts = path(queues=(QueueSamples(TIME, sent, NOTHING, NOTHING + RATE),), rtt_s=0.5)
    assert "rate" not in parts(sender(), bursts)


def test_a_bottleneck_is_full_for_an_interval_that_two_round_trips_fit_into() -> None:
    """The same bursts, of 0.1 s: that is twice an RTT of 50 ms, and less than twice one of 70 ms."""
    sent = np.concatenate([[0], np.cumsum(np.where(np.arange(STEPS - 1) % 10 == 0, RATE / 8 * 0.1, 0.0))])
    bursts = (QueueSamples(TIME, sent, NOTHING, NOTHING + RATE),)
    assert parts(sender(), path(queues=bursts, rtt_s=0.05))["rate"] == pytest.approx(0.1)
    assert "rate" not in parts(sender(), path(queues=bursts, rtt_s=0.07))


def test_two_round_trips_are_around_the_interval() -> None:
    """Of bursts of 0.3 s, the middle interval: two RTTs of 100 ms reach 50 ms into those around it."""
    sent = np.concatenate([[0], np.cumsum(np.where(np.arange(STEPS - 1) % 10 < 3, RATE / 8 * 0.1, 0.0))])
    bursts = (QueueSamples(TIME, sent, NOTHING, NOTHING + RATE),)
    found = parts(sender(), path(queues=bursts, rtt_s=0.1))
    assert found["rate"] == pytest.approx(0.11)  # with the first of all, before which there is nothing


def test_two_samples_of_a_queue_are_enough() -> None:
    ends = slice(0, STEPS, STEPS - 1)
    queue = QueueSamples(TIME[ends], TIME[ends] * RATE / 8, NOTHING[ends], NOTHING[ends] + RATE)
    assert parts(sender(), path(queues=(queue,))) == {"rate": pytest.approx(1)}


def test_a_bottleneck_is_not_full_where_it_was_not_sampled() -> None:
    """Its last sample is at 5 s; from then on there is no time in which it could have sent."""
    half = slice(0, STEPS // 2 + 1)
    early = QueueSamples(TIME[half], TIME[half] * 0.1 * RATE / 8, NOTHING[half], NOTHING[half] + RATE)
    assert parts(sender(), path(queues=(early,))) == {"slow start": pytest.approx(1)}


def test_a_queue_without_a_rate_or_with_one_sample_is_never_full() -> None:
    endless = path(queues=(QueueSamples(TIME, TIME * 1e9, NOTHING, NOTHING * np.nan),))
    once = path(queues=(QueueSamples(TIME[:1], TIME[:1], NOTHING[:1], NOTHING[:1] + RATE),))
    for met in (endless, once, path(queues=())):
        assert parts(sender(), met) == {"slow start": pytest.approx(1)}


def test_a_flow_that_never_sent_or_was_sampled_once_has_no_parts() -> None:
    assert parts(sender(unacked=NOTHING, notsent_bytes=NOTHING), path()) == {}
    assert parts(sender(bytes_acked=NOTHING), path()) == {}
    one = SenderSamples(**{name: getattr(sender(), name)[:1] for name in limit_sample.SOCKET})
    assert parts(one, path()) == {}


def test_the_mean_of_flows_counts_what_one_lacks_as_nothing() -> None:
    assert flow_time.mean([{"rate": 1.0}, {"loss": 0.8, "rate": 0.2}]) == {"rate": 0.6, "loss": 0.4}
    assert flow_time.mean([]) == {}


def write(rows: list[dict[str, Any]], schema: pa.Schema, file: FilePath) -> None:
    """With the types that a trial's tables have; what is absent has no value."""
    table = pa.Table.from_pylist([{k: None if v != v else v for k, v in row.items()} for row in rows])
    pq.write_table(table.cast(pa.schema([schema.field(name) for name in table.column_names]), safe=False), file)


def stored(folder: FilePath, *flows: SenderSamples, met: Path) -> None:
    """The samples of flows to ports 5001, 5002 …, each with those of its receiver, and of the first queue of a path."""
    rows = []
    for number, flow in enumerate(flows):
        for source, destination in ((40000 + number, 5001 + number), (5001 + number, 40000 + number)):
            is_sender = destination < 40000
            for at in range(STEPS):
                row = {name: float(getattr(flow, name)[at]) if is_sender else 0.0 for name in limit_sample.SOCKET}
                rows.append({**row, "time_s": float(TIME[at]), "source_port": source, "destination_port": destination})
    write(rows, column.SAMPLES, folder / "samples.parquet")
    queue = met.queues[0]
    waiting = [
        {"time_s": float(TIME[at]), "link": "path", "way": way, "bytes": float(sent[at]), "drops": float(drops[at])}
        for way, sent, drops in (
            ("forward", queue.sent_bytes, queue.drops),
            ("backward", TIME * 0, TIME * 1000),
        )
        for at in range(STEPS)
    ]
    write(waiting, column.QUEUES, folder / "queues.parquet")


def stages(rate_bps: float = RATE, **forward: Any) -> tuple[StageResult, ...]:
    usual: dict[str, Any] = {name: 0 for name in ("loss_phase", "data_packets", "dropped_packets", "queue_drops")}
    usual |= {"random_drops": 0, "oversize_packets": 0, "expected_drops": None, "peak_rate_bps": None}
    usual |= {"asked_rate_bps": rate_bps, "asked_delay_s": 0.025, "max_backlog_packets": None}
    usual |= {"link": "path", "buffer": None, "buffer_unit": None}
    return StageResult(**{**usual, "way": "forward", **forward}), StageResult(**{**usual, "way": "backward"})


def state(from_s: float, to_s: float, rate_bps: float) -> IntervalResult:
    return IntervalResult(from_s, to_s, None, rate_bps, 0.025, None, 0, None, 0, 0, 0, 0, None)


STORED: Mapping[str, tuple[SenderSamples, Path, dict[str, Any], dict[str, float]]] = {
    "drops at the buffer on the data's way": (sender(**LOST), path(drops_at_s=1.95), {}, {"path buffer": 0.8}),
    "drops on the way back only": (sender(**LOST), path(), {"dropped_packets": 3}, {"loss": 0.8}),
    "a random loss": (sender(**LOST), path(), {"random_drops": 3}, {"loss": 0.8}),
    "a full bottleneck": (sender(**LOST), path(use=0.95), {}, {"rate": 1}),
    "a policy": (
        sender(**LOST),
        path(),
        {"policy": PolicyResult(1000, 1e7, 1000, 1.5, 2000, 1000, 1, None, None)},
        {"policer": 0.8},
    ),
    "a shaper that has credit for a half": (
        sender(**LOST),
        path(use=0.1),
        {"dropped_packets": 3, "paced": PacedResult(ShaperResult(1e7, int(2e6), 7e6, None, 0, None, 0, True))},
        {"slow start": 0.2, "loss": 0.33, "rate": 0.47},
    ),
    "a flow at its cap": (
        sender(**LOST),
        path(),
        {
            "dropped_packets": 3,
            "data_packets": 9,
            "paced": PacedResult(per_flow=PerFlowResult(9e6, 3000, 0, 1, 1, 9, 9, 9)),
        },
        {"rate": 1},
    ),
    "a bottleneck that has the rate of its state for a half": (
        sender(),
        path(use=0.5),
        {"intervals": (state(0, 5, RATE), state(5, 11, RATE / 2))},
        {"slow start": 0.5, "rate": 0.5},
    ),
}


@pytest.mark.parametrize(("flow", "met", "stage", "expected"), STORED.values(), ids=STORED)
def test_the_parts_of_a_stored_life(
    flow: SenderSamples, met: Path, stage: dict[str, Any], expected: dict[str, float], tmp_path: FilePath
) -> None:
    stored(tmp_path, flow, met=met)
    forward, backward = stages(**stage)
    known = make_trial({"rtt": "50 ms"}, {"duration": "10 s"})
    for trial, met_by_any in ((None, (forward,)), (known, (forward, backward))):
        result = replace(trial_result(Made({}, [1e6])), stages=met_by_any)
        (found,) = limit_sample.times(tmp_path, result, trial)
        assert sum(found.values()) == pytest.approx(1)
        for limit, part in expected.items():
            assert found.get(limit) == pytest.approx(part, abs=0.02), found  # type: ignore[call-overload]


def test_stored_lives_are_in_the_order_of_the_flows_by_port(tmp_path: FilePath) -> None:
    stored(tmp_path, sender(), sender(notsent_bytes=NOTHING), met=path())
    result = replace(trial_result(Made({}, [1e6, 1e6])), stages=stages())
    slow, starved = {"slow start": pytest.approx(1)}, {"sender buffer": pytest.approx(1)}
    assert limit_sample.times(tmp_path, result, None) == (slow, starved)
    swapped = replace(result, flows=result.flows[::-1])
    assert limit_sample.times(tmp_path, swapped, None) == (starved, slow)


def test_a_life_that_cannot_be_told_is_absent_and_not_of_another_flow(tmp_path: FilePath) -> None:
    result = replace(trial_result(Made({}, [1e6, 1e6])), stages=stages())
    assert limit_sample.times(tmp_path, result, None) == ()
    stored(tmp_path, sender(), met=path())
    assert limit_sample.times(tmp_path, result, None) == ()  # the second flow was not sampled
    first = result.flows[0]
    for flows in ((first, replace(first, port=None)), (first, first), ()):
        assert limit_sample.times(tmp_path, replace(result, flows=flows), None) == ()
    assert len(limit_sample.times(tmp_path, replace(result, flows=(first,)), None)) == 1


def test_two_bottlenecks_each_count_where_they_are_full() -> None:
    """The first is full in the first half, the second in the second."""
    half = RATE / 8 * 0.1
    first = QueueSamples(TIME, np.cumsum(np.where(TIME < 5, half, 0)), NOTHING, NOTHING + RATE)
    second = QueueSamples(TIME, np.cumsum(np.where(TIME < 5, 0, half)), NOTHING, NOTHING + RATE)
    for queues in ((first, second), (second, first)):
        assert parts(sender(), path(queues=queues)).get("rate", 0) > 0.95


def test_the_largest_part_is_first() -> None:
    found = parts(sender(**LOST), path(is_lossy=True))
    assert list(found) == ["loss", "slow start"]


def test_a_receive_window_counts_only_while_nothing_else_explains_it() -> None:
    """The chronograph runs all the time; the flow is idle from 2 to 6 s."""
    pause = (TIME >= 2) & (TIME < 6)
    flow = sender(rwnd_limited_s=TIME, unacked=np.where(pause, 0, 10), notsent_bytes=np.where(pause, 0, 1e5))
    found = parts(flow, path())
    assert found == {"receiver buffer": pytest.approx(0.6), "application": pytest.approx(0.4)}
    assert parts(sender(rwnd_limited_s=TIME), path(use=0.95)) == {"rate": pytest.approx(1)}


RMEM, WMEM = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
SMALL, LARGE = 400_000, 100_000_000
"""Bytes of buffers, above and far above the 0.5 MB that 100 Mbit/s × 40 ms need for their overhead."""

KINDS: Mapping[str, Mapping[str, Any]] = {
    "receiver buffer": {RMEM: f"4096 131072 {SMALL}"},
    "sender buffer": {WMEM: f"4096 16384 {SMALL}"},
    "loss": {"path": {"loss": "1 in 1000"}},
    "policer": {"path": {"policy": {"after": "1 MB", "rate": "40 Mbit/s"}}},
    "path buffer": {"path": {"buffer": "10 packets"}, "workload": {"congestion": "reno"}},
    "rate": {},
    "slow start": {"workload": {"duration": "200 ms"}},
}
RAISED: Mapping[str, Mapping[str, Any]] = {
    "receiver buffer": {RMEM: f"4096 131072 {LARGE}"},
    "sender buffer": {WMEM: f"4096 16384 {LARGE}"},
    "loss": {"path": {"loss": None}},
    "policer": {"path": {"policy": None}},
    "path buffer": {"path": {"buffer": "2 bdp"}},
    "rate": {"path": {"rate": "400 Mbit/s"}},
    "slow start": {"workload": {"duration": "10 s"}},
}


def with_changes(*changes: Mapping[str, Any]) -> Trial:
    path: dict[str, Any] = {"rate": "200 Mbit/s", "rtt": "40 ms"}
    workload: dict[str, Any] = {"duration": "5 s"}
    sysctls: dict[str, str] = {}
    for each in changes:
        path |= each.get("path", {})
        workload |= each.get("workload", {})
        sysctls |= {name: each[name] for name in (RMEM, WMEM) if name in each}
    made = make_trial(path=path, workload=workload)
    return replace(made, sysctls=tuple(sysctls.items()), samples_interval_ns=10**7)


def told(trial: Trial, ran: Ran) -> tuple[float, str]:
    times = limit_sample.times(ran.folder, ran.result, trial)
    assert len(times) == 1
    limit = limited_by.limited_by(ran.result, trial, times)
    assert limited_by.limited_by(ran.result, trial) in (limit, "unknown"), "without the samples"
    return ran.result.goodput_bps or 0.0, limit


@pytest.fixture
def carry_out(tmp_path: Any) -> Callable[[Trial], Ran]:
    count = iter(range(1000))

    def run(trial: Trial) -> Ran:
        made, folder = orders(trial), tmp_path / f"trial-{next(count)}"
        folder.mkdir()
        return Ran(trial, made, folder, runner.run(trial, made, folder))

    return run


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_tells_what_limited_it_and_raising_that_raises_the_goodput(
    kind: str, carry_out: Callable[[Trial], Ran]
) -> None:
    trial, more = with_changes(KINDS[kind]), with_changes(KINDS[kind], RAISED[kind])
    goodput, limit = told(trial, carry_out(trial))
    assert limit == kind
    assert told(more, carry_out(more))[0] > 1.5 * goodput


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_raising_what_did_not_limit_a_trial_raises_less_and_leaves_the_limit(
    kind: str, carry_out: Callable[[Trial], Ran]
) -> None:
    """What is raised besides may raise the goodput a little: a faster link sends a window's burst in less time. The
    duration is left out: a longer trial of the same flow is another mean of it, with less of its ramp and its first
    recovery, whatever limits it later.
    """
    trial = with_changes(KINDS[kind])
    goodput, _ = told(trial, carry_out(trial))
    for other in RAISED.keys() - {kind, "slow start"}:
        more = with_changes(KINDS[kind], RAISED[other])
        raised, limit = told(more, carry_out(more))
        assert limit == kind, other
        assert raised < 1.5 * goodput, other
