"""A trial whose iperf3 contradicts itself is no result."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from testbed.kernel.guest import TrialError
from testbed.model.workload import Iperf3Workload
from testbed.trial.workload import iperf3

SPAN = {"start": 0, "end": 1, "seconds": 1.0, "omitted": False}
ENDS = {"bytes": 1_000_000, "bits_per_second": 8e6, "seconds": 1.0, "retransmits": 0}
RUN: dict[str, Any] = {
    "start": {"test_start": {"protocol": "TCP", "num_streams": 1, "duration": 1, "reverse": 0}},
    "intervals": [{"sum": {**SPAN, "bytes": 1_000_000, "retransmits": 0}}],
    "end": {"streams": [{"sender": ENDS, "receiver": ENDS}], "sum_sent": ENDS, "sum_received": ENDS},
}
ASKED = Iperf3Workload("a", "b", duration_ns=10**9)


def read(folder: Path, **changes: Any) -> Any:
    run = copy.deepcopy(RUN)
    for key, value in changes.items():
        run["end"][key] = {**run["end"][key], **value}
    (folder / iperf3.CLIENT).write_text(json.dumps(run))
    return iperf3.read(ASKED, folder)


def test_sums_that_add_up_are_a_result(tmp_path: Path) -> None:
    assert read(tmp_path).goodput_bps == 8e6


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("sum_sent", {"bytes": 1_010_000, "bits_per_second": 8.08e6}, "its intervals have 1000000 bytes"),
        ("sum_sent", {"retransmits": 40}, "its intervals sent 0 segments again, and its end 40"),
        ("sum_received", {"bits_per_second": 9e6}, "sum_received has 1000000 bytes in 1 s, and 9000000 bit/s"),
        ("sum_received", {"bytes": 500_000, "bits_per_second": 4e6}, "its streams have 1000000 bytes"),
    ],
)
def test_sums_that_do_not_are_none(tmp_path: Path, name: str, change: dict[str, Any], said: str) -> None:
    with pytest.raises(TrialError, match=said):
        read(tmp_path, **{name: change})


def test_more_datagrams_than_were_sent_are_said_to_have_come_twice() -> None:
    """And not a result that is damaged, as one with -1 lost datagrams would be."""
    seen = {"sum": {"bytes": 2 * 1400, "seconds": 1.0}, "streams": []}
    heard = {"intervals": [seen], "end": {"sum": {"jitter_ms": 0.0}, "streams": []}}
    sent = {"sum": {"packets": 2, "bits_per_second": 1e6, "seconds": 1.0}}
    assert iperf3._udp(sent, heard, 1400, {}).measured["udp"]["lost_datagrams"] == 0
    sent["sum"]["packets"] = 1
    with pytest.raises(TrialError, match="iperf3 sent 1 datagrams and counted 2: some came twice; allowed: tool: udp"):
        iperf3._udp(sent, heard, 1400, {})
