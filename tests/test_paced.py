"""Traces and token buckets as values; what the gate says of looks that are not as they should be."""

from __future__ import annotations

import os
import runpy
import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_gate import fine
from trials import make_trial

from testbed.error import SpecError, UserError
from testbed.kernel.ready import feasibility
from testbed.model.link import trace
from testbed.model.link.bucket import Shaper
from testbed.model.link.trace import Trace
from testbed.model.scenario import Trial
from testbed.plan.network import plan
from testbed.spec import trace_file
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.trial.evidence import bucket as evidence_paced
from testbed.trial.evidence.bucket import Watch
from testbed.trial.evidence.case import Case
from testbed.trial.gate.link import bucket_check, trace_check
from testbed.trial.observe.bucket import PacedSample
from testbed.trial.observe.sample import QueueSample
from testbed.trial.result import Finding

TRACES = Path(__file__).parents[1] / "topologies" / "traces"


def rates() -> st.SearchStrategy[list[tuple[int, int]]]:
    rows = st.tuples(st.integers(1, 3 * 10**9), st.one_of(st.just(0), st.integers(1, 10**9)))
    return st.lists(rows, min_size=1, max_size=6)


@given(rates(), st.integers(0, 3 * 10**9))
def test_a_table_has_an_opportunity_for_each_packet_of_its_bits(rows: list[tuple[int, int]], at_ns: int) -> None:
    found = Trace("t", trace.pack_rates(rows))
    at_ns = at_ns % (found.period_ns + 1)
    bits, left_ns = 0, at_ns
    for span_ns, rate_bps in rows:
        bits += min(span_ns, left_ns) * rate_bps
        left_ns -= min(span_ns, left_ns)
    if at_ns < found.period_ns:
        assert abs(found.until(at_ns) - bits // (8 * 1514 * 10**9)) <= 1
    times = [run.at_ns for run in found.runs] + [run.last_ns for run in found.runs]
    assert all(0 <= time <= found.period_ns for time in times)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=40).map(sorted).filter(lambda times: times[-1] > 0))
def test_a_file_of_mahimahi_has_its_lines_as_opportunities_again_and_again(times: list[int]) -> None:
    found = Trace("t", trace.pack_times(times))
    twice = [*times, *(times[-1] + each for each in times)]
    assert list(islice(found.times_ns(), len(twice))) == [10**6 * each for each in twice]
    for at_ns in (0, 10**6 * times[-1], 10**6 * times[-1] * 2 - 1, 12_345_678 % (2 * 10**6 * times[-1])):
        assert found.until(at_ns) == sum(
            10**6 * each <= at_ns for each in [*twice, *(2 * times[-1] + t for t in times)]
        )
    gaps = [later - one for one, later in pairwise(twice)]
    assert found.longest_gap_ns == 10**6 * max(gaps)


def test_the_kernel_counts_the_same_sum() -> None:
    found = Trace("t", "ms 1x3 2")
    packed = b"".join(
        at.to_bytes(8, "little") + bytes(8) + n.to_bytes(4, "little") for at, n in ((10**6, 3), (3 * 10**6, 1))
    )
    assert found.crc == zlib.crc32(packed)


def test_the_traces_of_the_testbed_are_what_their_program_makes() -> None:
    made = runpy.run_path(str(TRACES / "make.py"))
    for name, maker in (("stepwise.csv", "stepwise"), ("satellite.csv", "satellite"), ("fading.trace", "fading")):
        assert (TRACES / name).read_text() == made[maker]()
        assert trace_file.read(str(TRACES / name), name).opportunities > 100


def test_a_pipe_and_a_huge_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").write_text("1\n" * 100)
    monkeypatch.setattr(trace_file, "TRACE_BYTES", 64)
    for name in ("pipe", "huge"):
        nodes = "nodes: {a: {type: host}, b: {type: host}}"
        text = f"name: t\n{nodes}\nlinks:\n  path: {{ends: [a, b], trace: {name}}}\n"
        (tmp_path / "t.yaml").write_text(text)
        with pytest.raises(SpecError, match="cannot be read"):
            load_topology(tmp_path / "t.yaml")


def test_a_trial_needs_no_file_to_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "a.trace").write_text("1\n2\n")
    (tmp_path / "b.csv").write_text("time_ms,rate_kbps\n0,1000\n20,end\n")
    (tmp_path / "s.yaml").write_text(
        "name: s\ntopology:\n  name: t\n  nodes: {a: {type: host}, b: {type: host}}\n"
        "  links: {path: {ends: [a, b], rtt: 2 ms}}\n"
        "workload: {tool: flow, from: a, to: b, duration: 1 s}\nsweep: {path.trace: [a.trace, b.csv]}\n"
    )
    trials = load_scenario(tmp_path / "s.yaml").trials()
    assert [dict(each.params)["path.trace"] for each in trials] == ["a.trace", "b.csv"]
    for name in ("a.trace", "b.csv"):
        (tmp_path / name).unlink()
    for each in trials:
        assert trial_of(trial_data(each), "again") == each
    assert trials[1].topology.links[0].forward.rate_bps == 605_600  # one packet of 1514 bytes in 20 ms


@pytest.mark.parametrize(
    "path",
    [
        {"rate": None, "shaper": {"rate": "10 Mbit/s", "burst": "1 MB", "refill": "1 Mbit/s"}},
        {"policer": {"rate": "10 Mbit/s", "burst": "64 KiB"}},
        {"per_flow": "10 Mbit/s"},
        {"rate": None, "trace": {"file": "t", "opportunities": "ms 1x3 2"}},
    ],
)
def test_the_kernel_of_the_host_is_refused(path: dict[str, Any]) -> None:
    trial = make_trial(path=path)
    planned = plan(trial.topology, trial.workload, real_time=True)
    with pytest.raises(UserError, match="which only the lab kernel has; allowed: kernel: lab"):
        feasibility.refuse(trial.topology, "host", planned)


LOOK = PacedSample("tb-path.emulator", 4, "2:", "tbshaper", 0, 0, 10**9, 0, 0, 10**6, 0, 0, 0, 0)
CREDIT = bucket_check.Bucket(10**5, 10**6)


def looks(*rows: dict[str, int]) -> list[PacedSample]:
    return [replace(LOOK, **row) for row in rows]


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (looks({"credit_bytes": 10**6 - 1}, {"time_ns": 2 * 10**9}), "held 999999 bytes before"),
        (looks({}, {"time_ns": 2 * 10**9, "taken_bytes": 1_100_001, "credit_bytes": 0}), "more than the bucket"),
        (looks({}, {"time_ns": 2 * 10**9, "taken_bytes": 500_000, "credit_bytes": 700_000}), "can have had"),
        (
            looks(
                {"taken_bytes": 10**6, "credit_bytes": 0},
                {"time_ns": 2 * 10**9, "taken_bytes": 10**6, "credit_bytes": 50_000},
            ),
            "should have 100000",
        ),
    ],
)
def test_a_bucket_that_does_not_add_up_is_told(seen: Sequence[PacedSample], said: str) -> None:
    assert any(said in what for what in bucket_check.replayed(CREDIT, seen))


def test_a_bucket_that_adds_up_is_fine() -> None:
    seen = looks(
        {},
        {"time_ns": 2 * 10**9, "taken_bytes": 900_000, "credit_bytes": 200_000},
        {"time_ns": 3 * 10**9, "taken_bytes": 1_200_000, "credit_bytes": 0},
        {"time_ns": 23 * 10**9, "taken_bytes": 1_200_000, "credit_bytes": 10**6},
    )
    assert not list(bucket_check.replayed(CREDIT, seen))


@pytest.mark.parametrize(("taken_bytes", "found"), [(3028, 0), (3027, 1), (3029, 1), (0, 1)])
def test_buckets_that_gave_other_bytes_than_left_are_told(taken_bytes: int, found: int) -> None:
    """Such as those of a kernel that takes a superpacket's bytes without the headers of its packets."""
    first = QueueSample(1, "tb-path.emulator", 4, "2:", "tbshaper", 5, 1, 0, 0, 0)
    around = (first, replace(first, time_ns=10**9, bytes=5 + 3028, packets=3))
    paced = tuple(looks({"taken_bytes": 70}, {"time_ns": 2 * 10**9, "taken_bytes": 70 + taken_bytes}))
    seen = SimpleNamespace(around=around, paced=paced)
    assert len(list(bucket_check._charged(seen))) == found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("waiting", "busy_ns", "seen"),
    [
        (0, 0, ()),
        (500_000, 10**9, ()),
        (103_028, 100_000_000, ()),  # but for what the bucket holds and two frames, 100 kB at 1 MB/s
        (103_028, 99_990_000, ("99990000 ns busy after a look at which 103028 bytes waited",)),
        (10**9, 10**9, ()),  # to the next look
        (10**9, 10**9 - 1, ("999999999 ns busy after a look at which 1000000000 bytes waited",)),
        (500_000, 0, ("0 ns busy after a look at which 500000 bytes waited",)),
    ],
)
def test_what_waits_is_busy_at_least_as_long_as_the_rate_needs(
    waiting: int, busy_ns: int, seen: tuple[str, ...]
) -> None:
    line = bucket_check.Bucket(10**6, 0)
    paced = tuple(looks({"backlog_bytes": waiting}, {"time_ns": 2 * 10**9, "busy_ns": busy_ns}))
    each: Any = SimpleNamespace(stage=SimpleNamespace(queue=None), paced=paced, mtu_bytes=1500)
    assert tuple(bucket_check._waited(line, each)) == seen
    each.stage.queue = "codel"
    assert tuple(bucket_check._waited(line, each)) == ()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"taken_bytes": 1514 * 20, "busy_ns": 0, "opportunities": 10}, "with 10 opportunities"),
        ({"taken_bytes": 1514 * 5, "busy_ns": 10**9, "opportunities": 10}, "while packets waited"),
        ({"taken_bytes": 1514 * 10, "busy_ns": 10**9, "opportunities": 11}, "opportunities came"),
        ({"taken_bytes": 0, "busy_ns": 0, "opportunities": 0}, "opportunities came"),
    ],
)
def test_another_number_of_opportunities_is_told(row: dict[str, int], said: str) -> None:
    asked = Trace("t", trace.pack_times(list(range(100, 1001, 100))))
    seen = looks({"begin_ns": 10**9}, {"begin_ns": 10**9, "time_ns": 2 * 10**9 + 50_000_000, **row})
    if row["busy_ns"]:
        seen[1] = replace(seen[1], busy_ns=seen[1].time_ns - seen[0].time_ns)
    told = [*trace_check._sent(asked, seen, 1514, 0), *trace_check._unused(asked, seen, 1514)]
    told += trace_check._told(asked, seen)
    assert any(said in what for what in told)


ASKED = Shaper(8 * 10**6, 10**6, 8 * 10**5)
"""1 MB/s for 1 MB, then 100 kB/s: used up after 1.111 s."""
SECOND = 10**9
UNWATCHED, WATCHED = Watch(10**9, None, True), Watch(10**9, 10**8, True)


@pytest.mark.parametrize(
    ("seen", "watch", "ever", "at_s"),
    [
        # It waits for 5 s; then credit comes back for 20 s: the look afterwards shows it full.
        ({"taken_bytes": 1_500_000, "busy_ns": 5 * SECOND}, UNWATCHED, True, None),
        ({"taken_bytes": 1_500_000, "busy_ns": 5 * SECOND}, Watch(10**9, None, False), None, None),
        # One second at the full rate uses no more than 0.9 MB: never.
        ({"taken_bytes": 10**6, "busy_ns": SECOND}, UNWATCHED, False, None),
        # 1.2 MB: at once they use it up, over 25 s they do not.
        ({"taken_bytes": 1_200_000, "busy_ns": 0}, UNWATCHED, None, None),
        # Packets waited all the time: it is known to the packet.
        ({"taken_bytes": 3_500_000, "busy_ns": 25 * SECOND, "credit_bytes": 0}, UNWATCHED, True, 1 / 0.9),
        # Nothing waited in a second of it: between 1.11 and 2.22 s, and nobody looked.
        ({"taken_bytes": 3_500_000, "busy_ns": 24 * SECOND, "credit_bytes": 0}, UNWATCHED, True, None),
    ],
)
def test_two_looks_do_not_say_when_credit_was_used_up_unless_packets_waited(
    seen: dict[str, int], watch: Watch, ever: bool | None, at_s: float | None
) -> None:
    found = evidence_paced.used_up(ASKED, looks({}, {"time_ns": 26 * SECOND, **seen}), watch)
    assert found.ever is ever
    assert (found.at_ns is None) == (at_s is None)
    if at_s is not None and found.at_ns is not None:
        assert abs(found.at_ns - SECOND - at_s * 1e9) < 2


def test_samples_say_when_credit_was_used_up() -> None:
    rows = [
        {"time_ns": SECOND + n * SECOND // 10, "taken_bytes": n * 10**5, "busy_ns": n * SECOND // 10} for n in range(12)
    ]
    rows = [{**row, "credit_bytes": 10**6 - n * 90_000} for n, row in enumerate(rows)]
    rows.append(
        {"time_ns": 22 * SECOND // 10, "taken_bytes": 1_119_000, "busy_ns": 12 * SECOND // 10, "credit_bytes": 1000}
    )
    found = evidence_paced.used_up(ASKED, looks(*rows), WATCHED)
    assert found.ever
    assert found.at_ns is not None
    assert abs(found.at_ns - SECOND - SECOND / 0.9) < 2


@pytest.mark.parametrize(
    ("path", "check"),
    [
        ({"rate": None, "shaper": {"rate": "8 Mbit/s", "burst": "1 MB", "refill": "800 kbit/s"}}, "shaper"),
        ({"policer": {"rate": "8 Mbit/s", "burst": "1 MB"}}, "policer"),
        ({"per_flow": "8 Mbit/s"}, "per flow"),
    ],
)
def test_without_samples_the_gate_says_what_it_cannot_tell(path: dict[str, Any], check: str) -> None:
    trial = make_trial(path=path, samples="none")
    told = _notes(trial)
    assert any(each.check == check and "no samples say" in str(each) for each in told), told
    assert not _notes(make_trial(path=path))


def _notes(trial: Trial) -> list[Finding]:
    planned = plan(trial.topology, trial.workload)
    evidence = fine(trial, planned)
    return list(bucket_check.unwatched(Case(trial, planned, evidence)))
