"""Small rules that were wrong once: pings that wait for bursts, late packets and silences, sfq that deals anew, drops
that parents count again, what a schedule changes in `status`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_gate import fine
from test_queue import looks, said
from trials import make_trial, seen_as

from testbed.interactive import overview
from testbed.interactive.build import build
from testbed.model.run_setting import Kernel
from testbed.model.scenario import Trial
from testbed.plan.network import plan
from testbed.trial.evidence.case import Case
from testbed.trial.gate.link import rtt_check
from testbed.trial.measured import PingResult
from testbed.trial.observe import sample
from testbed.trial.observe.queue_counter import Counts
from testbed.trial.observe.sample import CounterSample, QueueSample


def before(trial: Trial, low_s: float, high_s: float) -> list[str]:
    """Verdicts on the pings before the workload."""
    planned = plan(trial.topology, trial.workload)
    seen = seen_as(fine(trial, planned), rtt_check=PingResult(5, 5, low_s, (low_s + high_s) / 2, high_s, 0.0))
    return [each.verdict for each in rtt_check.rtt(Case(trial, planned, seen)) if each.check == "rtt"]


GATHERED = {"aggregate": {"forward": {"time": "4 ms"}, "backward": {"time": "3 ms"}}}
LATE = {"reorder": {"forward": {"random": "50 %", "by": "5 ms"}}}
EXACT = {"reorder": {"forward": {"every": 2, "by": "5 ms"}}}


@pytest.mark.parametrize(
    ("path", "low_s", "high_s", "verdicts"),
    [
        (GATHERED, 0.017, 0.017, []),
        (GATHERED, 0.010, 0.010, ["invalid"]),  # nobody gathered them
        (GATHERED, 0.014, 0.014, ["invalid"]),  # one way only
        (GATHERED, 0.017, 0.0185, ["invalid"]),
        (LATE, 0.010, 0.015, []),
        (LATE, 0.010, 0.0155, ["invalid"]),
        (EXACT, 0.010, 0.010, []),
        (EXACT, 0.010, 0.015, ["invalid"]),  # 1 in X are data packets: no ping is late
    ],
)
def test_a_ping_waits_for_bursts_and_may_be_late(
    path: dict[str, Any], low_s: float, high_s: float, verdicts: list[str]
) -> None:
    assert before(make_trial(path=path), low_s, high_s) == verdicts


@pytest.mark.parametrize(("high_s", "verdicts"), [(0.010, []), (0.5, []), (1.2, ["invalid"])])
def test_a_ping_may_wait_for_the_longest_silence_of_a_trace(high_s: float, verdicts: list[str]) -> None:
    trace = {"file": "t", "opportunities": "ms 1x3 500"}
    trial = make_trial(path={"rate": None, "buffer": "100 packets", "trace": trace})
    assert before(trial, 0.010, high_s) == verdicts


@pytest.mark.parametrize(
    ("queue", "own", "above", "is_fine"),
    [
        ({"type": "sfq", "perturb": "10 s"}, 2, 3, True),  # the rest was dropped when the flows were dealt anew
        ({"type": "sfq", "perturb": "10 s"}, 3, 2, False),
        ("sfq", 2, 3, False),
        ("sfq", 3, 3, True),
    ],
)
def test_an_sfq_that_deals_anew_may_drop_what_only_its_parent_counts(
    queue: Any, own: int, above: int, is_fine: bool
) -> None:
    trial = make_trial(path={"queue": {"forward": queue}})
    first, last = looks(drops=own, counts=Counts(0, own, 0))
    pair = tuple(replace(each, kind="sfq", counts=replace(each.counts, marks=0)) for each in (first, last))  # type: ignore[type-var]
    around = tuple(replace(each, handle="2:", kind="tbf", counts=None) for each in pair)
    found = said(trial=trial, queue_around=pair, around=(around[0], replace(around[1], drops=above)))
    assert any(each.startswith("invalid") for each in found) != is_fine, found


def drops(monkeypatch: pytest.MonkeyPatch, *queues: tuple[int, str, int]) -> int:
    """What status tells of an emulator whose queues, (device, handle, drops), tell this."""
    counters = {"rx_packets": 1, "rx_bytes": 1, "tx_packets": 1, "tx_bytes": 1}
    devices = {("tb-l.emulator", name): counters for name in ("end0", "end1")}
    told = [QueueSample(1, "tb-l.emulator", number, handle, "tbf", 0, 0, n, 0, 0) for number, handle, n in queues]
    monkeypatch.setattr(sample, "device_counters", lambda data, sources: devices)
    names = {("tb-l.emulator", 1): "end0", ("tb-l.emulator", 2): "end1"}
    monkeypatch.setattr(sample, "device_numbers", lambda data, sources: names)
    monkeypatch.setattr(sample, "queue_samples", lambda data, sources: iter(told))
    lost = CounterSample(1, "tb-l.emulator", "dropped-forward", 5, 0)
    monkeypatch.setattr(sample, "counter_samples", lambda data, sources: iter([lost]))
    seen = overview._seen(link(["dropped-forward"]), overview._decoded(b"", ()))
    assert seen is not None
    return int(seen["drops"])


def link(drop_counters: list[str], **more: Any) -> dict[str, Any]:
    ends = [{"node": "a", "device": "eth0"}, {"node": "b", "device": "eth0"}]
    return {"ends": ends, "emulator": "tb-l.emulator", "drop_counters": drop_counters, **more}


def test_status_counts_a_drop_once_however_many_parents_tell_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """netem, the token bucket in it and the queue in that: each tells of the drops of those below it."""
    assert drops(monkeypatch, (2, "1:", 7), (2, "2:", 7), (2, "3:", 7)) == 7 + 5
    assert drops(monkeypatch, (1, "2:", 3), (2, "2:", 7), (2, "3:", 7)) == 3 + 7 + 5


def test_status_knows_counters_that_a_schedule_makes_later() -> None:
    ends = {"rx_packets": 1, "rx_bytes": 1, "tx_packets": 1, "tx_bytes": 1}
    counters = {("tb-l.emulator", device): dict(ends) for device in ("end0", "end1")}
    later = {"fault_counters": {"corrupt": ["corrupt-met-forward-1"]}}
    assert (
        overview._seen(link(["dropped-forward"], **later), overview.Look(None, counters, {})) is None
    )  # somebody took them away
    seen = overview._seen(link(["dropped-forward"], changes=True, **later), overview.Look(None, counters, {}))
    assert seen is not None
    assert (seen["corrupt"], seen["drops"]) == (0, 0)
    counters["tb-l.emulator", "corrupt-met-forward-1"] = {"packets": 4}
    counters["tb-l.emulator", "dropped-forward"] = {"packets": 2}
    seen = overview._seen(link(["dropped-forward"], changes=True, **later), overview.Look(None, counters, {}))
    assert seen is not None
    assert (seen["corrupt"], seen["drops"]) == (4, 2)


def test_a_standing_network_names_the_counters_of_all_losses_and_faults_of_a_schedule() -> None:
    schedule = [
        {"at": "1 s", "loss": {"forward": "1 in 10"}},
        {"at": "2 s", "loss": {"forward": "none"}, "corrupt": {"forward": "1 in 5"}},
    ]
    made = build(make_trial(path={"schedule": schedule}).topology, Kernel("lab")).to_dict()["links"][0]
    assert {"dropped-forward", "dropped-forward-1"} <= set(made["drop_counters"])
    assert "corrupt-met-forward-1" in made["fault_counters"]["corrupt"]
