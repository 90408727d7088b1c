"""What the output of the workload `flow` says of its goodput. No kernel needed."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from results import plain
from testbed.analysis.expectation.measured import EXTRA
from testbed.model.workload import FlowWorkload
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.workload import flow

S, MSS = 10**9, 1448


def info(received: int = 0, segments: int = 0, mss: int = MSS) -> str:
    """struct tcp_info with bytes in order, segments that came, and the size of a segment."""
    data = bytearray(280)
    struct.pack_into("=I", data, 16, mss)
    struct.pack_into("=Q", data, 128, received)
    struct.pack_into("=I", data, 152, segments)
    return data.hex()


def outcome(folder: Path, steady: tuple[int, int], stop: tuple[int, int], flows: int = 1) -> Outcome:
    """Of flows that had got so many bytes in order, in so many segments, when the ramp was over and at the end."""
    lines = [f"start {S}", *(f"flow {i} {5001 + i} cubic 87040 131072" for i in range(flows))]
    looks = [("start", 0, (0, 0)), ("steady", 5, steady), ("first", 10, stop), ("stop", 10, stop)]
    for moment, at_s, (received, segments) in looks:
        for i in range(flows):
            lines.append(f"info {S + at_s * S} {i} {moment} sender {info()}")
            lines.append(f"info {S + at_s * S} {i} {moment} receiver {info(received, segments)}")
    (folder / flow.OUTPUT).write_text("\n".join(lines) + "\n")
    asked = FlowWorkload("a", "b", duration_ns=10 * S, flows=flows, leave_out_ns=5 * S)
    return flow.read(asked, folder)


def test_what_waited_for_a_lost_segment_before_the_ramp_was_over_is_not_counted_after_it(tmp_path: Path) -> None:
    """Of 4000 segments that had come in the ramp, 1000 waited. Later 4000 came, and 5000 were handed over."""
    found = outcome(tmp_path, (3000 * MSS, 4000), (8000 * MSS, 8000), flows=2)
    assert found.goodput_bps == pytest.approx(2 * 4000 * MSS * 8 / 5)
    assert found.handed_over_bps == pytest.approx(2 * 5000 * MSS * 8 / 5)
    assert [each.goodput_bps for each in found.flows] == [pytest.approx(4000 * MSS * 8 / 5)] * 2
    assert found.ramp_goodput_bps == pytest.approx(2 * 3000 * MSS * 8 / 5)


def test_what_still_waits_at_the_end_was_not_handed_over_and_does_not_count(tmp_path: Path) -> None:
    found = outcome(tmp_path, (4000 * MSS, 4000), (7000 * MSS, 8000))
    assert (found.goodput_bps, found.handed_over_bps) == (pytest.approx(3000 * MSS * 8 / 5), None)


def test_where_nothing_waited_both_are_the_same(tmp_path: Path) -> None:
    found = outcome(tmp_path, (4000 * MSS, 4000), (8000 * MSS, 8000))
    assert (found.goodput_bps, found.handed_over_bps) == (pytest.approx(4000 * MSS * 8 / 5), None)


def test_flows_that_start_apart_have_parts_of_the_goodput_over_one_time(tmp_path: Path) -> None:
    """Each sends for 8 s, from 0 and from 4 s on. The goodput is counted from 5 s until the first one stops, at 8 s."""
    got = {"start": (0, 0), "steady": (5000, 0), "first": (6000, 2000), "stop": (6000, 9000)}
    at_s = {"start": (0, 0), "steady": (5, 5), "first": (8, 8), "stop": (8, 12)}
    lines = [f"start {S}", *(f"flow {i} {5001 + i} cubic 87040 131072" for i in (0, 1))]
    for moment, segments in got.items():
        for i in (0, 1):
            when = f"info {S + at_s[moment][i] * S} {i} {moment}"
            lines += [f"{when} sender {info()}", f"{when} receiver {info(segments[i] * MSS, segments[i])}"]
    (tmp_path / flow.OUTPUT).write_text("\n".join(lines) + "\n")
    asked = FlowWorkload("a", "b", duration_ns=8 * S, flows=2, leave_out_ns=S, start_ns=(0, 4 * S))
    found = flow.read(asked, tmp_path)
    assert found.goodput_bps == pytest.approx(3000 * MSS * 8 / 3)
    assert [each.part_bps for each in found.flows] == pytest.approx([1000 * MSS * 8 / 3, 2000 * MSS * 8 / 3])
    assert [each.goodput_bps for each in found.flows] == pytest.approx([1000 * MSS * 8 / 3, 9000 * MSS * 8 / 7])
    result = replace(plain(flows=[{"goodput_bps": 1.0}] * 2), flows=found.flows)
    assert result.shares == pytest.approx((1 / 3, 2 / 3))
    assert EXTRA["share"](result, 1) == pytest.approx(2 / 3)
    old = replace(result, flows=tuple(replace(each, part_bps=None) for each in found.flows))
    assert old.shares == pytest.approx((7 / 34, 27 / 34)), "a result without parts has the flows' own goodputs"
    assert [each.part_bps for each in outcome(tmp_path, (1, 1), (9, 9), flows=2).flows] == [None, None]
