"""Events in the lab kernel: they come when the sender is in the state, change nothing else, and no wrong one passes.

Records of ACKs (`samples: acks`) are a second witness: the kernel itself writes them, at each ACK.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from trials import Ran, RunTrial, instead

from testbed.trial.result import EventResult

pytestmark = pytest.mark.lab

PATH = {"rate": "10 Mbit/s", "rtt": "40 ms", "buffer": "50 kB"}
LOSSY = {**PATH, "loss": "1 in 300"}
HALF = {"rate": "5 Mbit/s"}
MS = 0.001


def rows(ran: Ran, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(ran.folder / f"{table}.parquet").to_pylist()
    return found


def first(ran: Ran) -> tuple[EventResult, float]:
    """The first event, and when it came."""
    event = ran.result.schedule_events[0]
    assert event.at_s is not None, ran.result.warnings
    return event, event.at_s


def state_at(ran: Ran, at_s: float) -> dict[str, Any]:
    """The last record of an ACK of the first flow's sender at a time."""
    return [row for row in rows(ran, "acks") if row["netns"] == "tb-a" and row["time_s"] <= at_s][-1]


@pytest.mark.parametrize("control", ["cubic", "reno", "bbr"])
@pytest.mark.parametrize("occurrence", [1, 3])
def test_it_comes_within_a_millisecond_of_recovery_by_what_the_kernel_records(
    run_trial: RunTrial, control: str, occurrence: int
) -> None:
    when = {"state": "recovery", "occurrence": occurrence}
    schedule = [{"when": when, "rate": "5 Mbit/s"}]
    workload = {"duration": "6 s", "congestion": control}
    ran = run_trial(path={**LOSSY, "schedule": schedule}, workload=workload, samples="acks")
    assert ran.result.verdict == "valid", ran.result.warnings
    event, at_s = first(ran)
    assert event.state == "recovery"
    changes = [row for row in rows(ran, "events") if row["event"] == "state" and row["time_s"] <= at_s]
    entered = [row for row in changes if row["name"] == "Recovery"]
    # Two that are less than a millisecond apart would be seen as one.
    assert len(entered) == occurrence
    assert 0 <= at_s - entered[-1]["time_s"] <= MS
    (stage,) = [each for each in ran.result.stages if each.way == "forward"]
    assert [(each.from_s, each.asked_rate_bps) for each in stage.intervals] == [(0, 10_000_000), (at_s, 5_000_000)]


@pytest.mark.parametrize(
    ("phase", "pacing", "window"),
    [
        ("startup", 2.89, 2.89),
        ("drain", 0.34, 2.89),
        ("probe_up", 1.25, 2),
        ("probe_down", 0.75, 2),
        ("probe_rtt", 1, 1),
    ],
)
def test_a_phase_of_bbr_is_what_its_gains_are_in_the_records(
    run_trial: RunTrial, phase: str, pacing: float, window: float
) -> None:
    schedule = [{"when": {"phase": phase}, "after": "60 ms", "for": "1 s", "rate": "5 Mbit/s"}]
    workload = {"duration": "14 s", "congestion": "bbr"}
    ran = run_trial(path={**PATH, "schedule": schedule}, workload=workload, samples="acks")
    assert ran.result.verdict == "valid", ran.result.warnings
    event, at_s = first(ran)
    assert event.phase == phase
    assert event.until_s == pytest.approx(at_s + 1, abs=1e-9)
    there, before = state_at(ran, at_s), state_at(ran, at_s - 1.001 * MS)
    assert (round(there["pacing_gain"], 2), round(there["cwnd_gain"], 2)) == (pacing, window)
    if phase != "startup":
        assert (there["pacing_gain"], there["cwnd_gain"]) != (before["pacing_gain"], before["cwnd_gain"])


@pytest.mark.parametrize("control", ["cubic", "reno"])
def test_controls_without_phases_leave_slow_start_by_their_threshold(run_trial: RunTrial, control: str) -> None:
    schedule = [{"when": {"phase": "slow_start"}, "rtt": "50 ms"}, {"when": {"phase": "avoidance"}, "rate": "5 Mbit/s"}]
    workload = {"duration": "6 s", "congestion": control}
    ran = run_trial(path={**PATH, "schedule": schedule}, workload=workload, samples="acks")
    assert ran.result.verdict == "valid", ran.result.warnings
    began, left = ran.result.schedule_events
    assert began.at_s is not None
    assert began.at_s <= MS
    assert left.at_s is not None
    there, before = state_at(ran, left.at_s), state_at(ran, left.at_s - 1.001 * MS)
    assert there["snd_ssthresh"] is not None
    assert there["snd_cwnd"] >= there["snd_ssthresh"]
    assert before["snd_ssthresh"] is None or before["snd_cwnd"] < before["snd_ssthresh"]


def test_an_event_that_never_comes_makes_the_trial_invalid_and_says_what_was_seen(run_trial: RunTrial) -> None:
    never = {"phase": "slow_start", "occurrence": 9}
    schedule = [{"when": never, **HALF}, {"when": {"state": "open"}, "rate": "2 Mbit/s"}]
    ran = run_trial(path={**PATH, "schedule": schedule}, workload={"duration": "3 s", "congestion": "reno"})
    assert ran.result.verdict == "invalid"
    first, second = [each for each in ran.result.findings if each.verdict == "invalid"]
    assert first.text == "path: the change when flow 0 is in slow_start, time 9 never came"
    assert "open/slow_start" in (first.hint or "")
    assert second.text == "path: the change when flow 0 is in open never came"
    assert [each.at_s for each in ran.result.schedule_events] == [None, None]


def test_an_event_that_changes_nothing_comes_too(run_trial: RunTrial) -> None:
    """Such as in the cell of a sweep in which the link is as it would become."""
    ran = run_trial(path={**PATH, "schedule": [{"when": {"phase": "avoidance"}, "for": "200 ms", "rate": "10 Mbit/s"}]})
    assert ran.result.verdict == "valid", ran.result.warnings
    event, at_s = first(ran)
    assert event.until_s == pytest.approx(at_s + 0.2, abs=1e-9)


def same(one: Ran, other: Ran, *left_out: str) -> list[str]:
    names = {path.relative_to(one.folder) for path in one.folder.rglob("*") if path.is_file()}
    names = {each for each in names if each.name not in ("host.json", *left_out)}
    assert len(names) > 10
    return [
        str(each) for each in sorted(names) if (one.folder / each).read_bytes() != (other.folder / each).read_bytes()
    ]


@pytest.mark.parametrize("control", ["cubic", "bbr"])
def test_the_same_seed_gives_the_same_bytes(run_trial: RunTrial, control: str) -> None:
    schedule = [{"when": {"state": "recovery"}, "for": "1 s", **HALF}, {"when": {"state": "recovery"}, "loss": "none"}]
    path = {**LOSSY, "jitter": "100 us", "schedule": schedule}
    one, other = (run_trial(path=path, workload={"duration": "5 s", "congestion": control}) for _ in range(2))
    assert one.result.verdict == "valid", one.result.warnings
    assert same(one, other) == []


@pytest.mark.parametrize("control", ["cubic", "bbr"])
def test_a_look_delays_what_falls_into_it_by_microseconds_and_changes_nothing_else(
    run_trial: RunTrial, control: str
) -> None:
    workload = {"duration": "4 s", "congestion": control}
    never = {"when": {"state": "loss", "occurrence": 9}, **HALF}
    looked = run_trial(path={**LOSSY, "schedule": [never]}, workload=workload, samples="acks")
    blind = run_trial(path={**LOSSY, "schedule": [{**never, "after": "9 s"}]}, workload=workload, samples="acks")
    assert "open/" in str(looked.result.findings[0])
    assert "no sender at all" in str(blind.result.findings[0])
    assert looked.result.goodput_bps == pytest.approx(blind.result.goodput_bps, rel=1e-6)
    assert looked.result.retransmits == blind.result.retransmits
    one, other = ([row for row in rows(ran, "acks") if row["time_s"] < 4] for ran in (looked, blind))
    assert len(one) == len(other) > 1000
    for row, same_row in zip(one, other, strict=True):
        assert row["time_s"] == pytest.approx(same_row["time_s"], abs=5e-6)
        assert (row["snd_cwnd"], row["bytes_acked"]) == (same_row["snd_cwnd"], same_row["bytes_acked"])


def test_a_flow_of_many_and_one_of_the_background_are_each_looked_at(run_trial: RunTrial) -> None:
    path = {**PATH, "buffer": "10 kB"}
    for flow in (1, "web"):
        schedule = [{"when": {"flow": flow, "phase": "startup"}, "after": "500 ms", **HALF}]
        ran = run_trial(
            path={**path, "schedule": schedule},
            workload={"duration": "6 s", "flows": 2, "congestion": ["cubic", "bbr"], "start": "2 s"},
            background={
                "web": {"pattern": "on-off", "from": "a", "to": "b", "congestion": "bbr", "busy": "1 s", "idle": "1 s"}
            },
        )
        assert ran.result.verdict != "invalid", ran.result.warnings
        event, at_s = first(ran)
        assert event.phase == "startup"
        assert at_s >= (2 if flow == 1 else 0.5)


def test_over_ipv6_too(run_trial: RunTrial) -> None:
    schedule = [{"when": {"state": "recovery"}, **HALF}]
    addresses = {"a": ["fd00::1/64"], "b": ["fd00::2/64"]}
    ran = run_trial(path={**LOSSY, "addresses": addresses, "schedule": schedule}, workload={"duration": "5 s"})
    assert ran.result.ip_version == 6
    assert ran.result.verdict == "valid", ran.result.warnings
    assert first(ran)[0].state == "recovery"


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("rate 5000000bit", "rate 6000000bit", "schedule"),
        ('"after_ns": 1000000000', '"after_ns": 0', "event"),
        ('"states": ["recovery"]', '"states": ["open"]', "event"),
        ('"port": 5001', '"port": 5002', "event"),
        ('"occurrence": 1', '"occurrence": 2', "event"),
        ('"for_ns": 1000000000', '"for_ns": 500000000', "event"),
    ],
)
def test_what_comes_otherwise_than_asked_is_not_valid(run_trial: RunTrial, old: str, new: str, check: str) -> None:
    schedule = [{"when": {"state": "recovery"}, "after": "1 s", "for": "1 s", **HALF}]
    workload = {"duration": "6 s", "flows": 2}
    ran = run_trial(path={**LOSSY, "schedule": schedule}, workload=workload, tamper=instead(old, new))
    assert ran.result.verdict == "invalid"
    assert check in {each.check for each in ran.result.findings if each.verdict == "invalid"}


def test_what_an_event_says_in_the_folder_is_what_was_seen(run_trial: RunTrial, tmp_path: Path) -> None:
    schedule = [{"when": {"state": "recovery"}, **HALF}]
    ran = run_trial(path={**LOSSY, "schedule": schedule}, workload={"duration": "4 s"})
    event, at_s = first(ran)
    lines = [json.loads(line) for line in (ran.folder / "timeline.jsonl").read_text().splitlines()]
    assert lines[1]["at_ns"] == round(at_s * 1e9)
    assert lines[-1] == {"waiting": []}
    stored = json.loads((ran.folder / "result.json").read_text())["schedule_events"]
    assert stored == [{"link": "path", "entry": 1, "when": "flow 0 is in recovery", "at_s": at_s, "until_s": None,
                       "state": "recovery", "phase": event.phase}]  # fmt: skip
