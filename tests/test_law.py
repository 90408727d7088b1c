"""Laws at fields: what they say of two looks, one after the other, and that checks go by them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from testbed.trial.law import broken_between, under, zeros
from testbed.trial.observe.bucket import PacedSample
from testbed.trial.observe.queue_counter import Counts
from testbed.trial.observe.sample import QueueSample
from testbed.trial.result import FlowResult

QUEUE = QueueSample(7, "e", 7, "2:", "tbf", 7, 7, 7, 7, 7)
BUCKET = PacedSample("e", 7, "2:", "tbshape", 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)
COUNTS = Counts(7, 7, 7, filtered_acks=7)
LOOKS = [
    (look, law, name)
    for look in (QUEUE, BUCKET, COUNTS)
    for law in ("rises", "same")
    for name in under(law, type(look))
]


@pytest.mark.parametrize(("look", "law", "name"), LOOKS)
def test_a_counter_that_rises_may_stay_and_may_not_fall(look: Any, law: str, name: str) -> None:
    assert list(broken_between(look, look)) == []
    for number in (6, 8):
        is_broken = law == "same" or number < 7
        told = [f"{name} went from 7 to {number}"] if is_broken else []
        assert list(broken_between(look, replace(look, **{name: number}))) == told


def test_what_waits_may_rise_and_fall() -> None:
    assert list(broken_between(QUEUE, replace(QUEUE, backlog_bytes=0, backlog_packets=9))) == []


@pytest.mark.parametrize("name", [each.name for each in fields(FlowResult)])
def test_a_flow_has_no_port_buffer_or_segment_of_zero(name: str) -> None:
    none = FlowResult(None, None, None, None)
    never = {"port", "sndbuf_bytes", "rcvbuf_bytes", "mss_bytes", "rtt_min_s"}
    assert list(zeros(none)) == []
    assert list(zeros(replace(none, **{name: 0}))) == ([name] if name in never else [])
