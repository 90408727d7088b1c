"""Queues that are shorter than what is read back of them: the gate tells by what TCP had on its way, though its samples
are far apart.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from trials import Ran, instead

from testbed.trial.gate.during import window

RunTrial = Callable[..., Ran]
Changes = dict[str, Any]

CAP: Changes = {"per_flow": {"forward": "10 Mbit/s"}}
DEEP: Changes = {"buffer": "4 bdp"}
HALF: dict[str, tuple[str, Changes, Changes, tuple[str, str]]] = {
    "a flow's": ("per flow", CAP, {"congestion": "cubic"}, ("bytes 151400", "bytes 75700")),
    "a flow's, reno": ("per flow", CAP, {"congestion": "reno"}, ("bytes 151400", "bytes 75700")),
    "each flow's": ("per flow", CAP, {"flows": 3}, ("bytes 151400", "bytes 75700")),
    "a link's": ("queue", DEEP, {}, ("limit 500000", "limit 250000")),
}


@pytest.mark.lab
@pytest.mark.parametrize("name", HALF)
def test_a_queue_that_drops_at_half_its_size_is_told(run_trial: RunTrial, name: str) -> None:
    check, path, workload, words = HALF[name]
    changes = {"path": path, "workload": {"duration": "3 s", **workload}, "samples": {"interval": "100 ms"}}
    found = run_trial(**changes, tamper=instead(*words)).result.findings
    assert check in {each.check for each in found if each.verdict == "invalid"}
    assert run_trial(**changes).result.verdict == "valid"


@pytest.mark.lab
def test_what_was_sent_faster_before_the_first_look_is_no_fault(run_trial: RunTrial) -> None:
    """In slow start a delay holds more than the link carries in that time, which comes to the queue later."""
    path = {"rtt": "100 ms", "rate": "100 Mbit/s", "buffer": "100 kB"}
    ran = run_trial(path=path, workload={"flows": 5, "duration": "1500 ms"}, samples={"interval": "10 ms"})
    assert ran.result.verdict == "valid", ran.result.findings


@pytest.mark.lab
@pytest.mark.parametrize("rate", ["1 Gbit/s", "2500 Mbit/s", "400 Mbit/s"])
@pytest.mark.parametrize("control", ["cubic", "reno"])
def test_a_queue_that_is_as_large_as_asked_drops_when_it_is_full(run_trial: RunTrial, rate: str, control: str) -> None:
    """With 1 Gbit/s and CUBIC the gate counts 99.85 % of it."""
    path = {"rtt": "22 ms", "rate": rate, "buffer": "1 bdp"}
    workload = {"duration": "12 s", "congestion": control}
    ran = run_trial(path=path, workload=workload, nic="offload", samples={"interval": "100 ms"})
    assert ran.result.seen.queue_drops > 0
    assert ran.result.verdict == "valid", ran.result.findings


def sample(**changes: Any) -> Any:
    info = {
        **{"snd_cwnd": 10, "ca_state": 0, "total_retrans": 0, "total_rto": 0, "snd_ssthresh": 99, "notsent_bytes": 9},
        **{"rwnd_limited_s": 0.0, "sndbuf_limited_s": 0.0, "snd_mss_bytes": 1448, "min_rtt_s": 1.0},
        **{"pacing_rate_bps": 0, **changes},
    }
    ends = {"source": "a", "source_port": 1, "destination": "b", "destination_port": 2}
    return SimpleNamespace(**ends, congestion="cubic", info=info)


def test_more_is_on_its_way_by_what_the_window_grew() -> None:
    """Beyond it there are two frames of limited transmit, and what the sender held back."""
    held = 2 * 1448
    assert window.grown_bytes([sample()], [sample(snd_cwnd=15)], 1514) == (5 + 2) * 1514 + held
    assert window.grown_bytes([sample()], [sample(snd_cwnd=15, ca_state=1)], 1514) == (5 + 2) * 1514 + held


@pytest.mark.parametrize(
    "changes",
    [
        {"ca_state": 3},
        {"total_retrans": 1},
        {"total_rto": 1},
        {"snd_ssthresh": 7},
        {"snd_cwnd": 9},
        {"rwnd_limited_s": 0.1},
        {"notsent_bytes": 0},
    ],
)
def test_a_window_that_may_have_shrunk_says_nothing(changes: dict[str, Any]) -> None:
    assert window.grown_bytes([sample()], [sample(**changes)], 1514) is None


def test_a_flow_that_came_or_went_meanwhile_leaves_it_open() -> None:
    assert window.grown_bytes([sample()], [], 1514) is None
    assert window.grown_bytes([], [sample()], 1514) is None
