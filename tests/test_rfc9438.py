"""Real Reno and CUBIC in the lab kernel against RFC 9438, section 5, which assumes periodic loss."""

from __future__ import annotations

import pytest
from trials import RunTrial

from testbed.analysis.tcp_model import cubic_alone_window_segments, cubic_resting_windows_segments, reno_window_segments

RTT_S, MSS_BYTES = 0.1, 1448


def average_window(run_trial: RunTrial, congestion: str, every: int, seconds: int) -> float:
    """Segments on their way, from the goodput of a run without queues, slow start left out."""
    path = {"rate": "1 Gbit/s", "rtt": "100 ms", "loss": f"1 in {every}"}
    workload = {"congestion": congestion, "duration": f"{seconds} s", "leave_out": f"{seconds // 3} s"}
    done = run_trial(path=path, workload=workload, samples={"interval": "1 s"}).result
    assert done.verdict == "valid", done.warnings
    assert done.seen.queue_drops == 0
    assert done.goodput_bps is not None
    return done.goodput_bps * RTT_S / (8 * MSS_BYTES)


@pytest.mark.lab
def test_reno_has_the_window_of_the_square_root_law(run_trial: RunTrial) -> None:
    window = average_window(run_trial, "reno", 1000, 300)
    assert window == pytest.approx(reno_window_segments(1e-3), rel=0.1)  # what the RFC's own approximation is good for


@pytest.mark.lab
def test_cubic_rests_between_the_rfc_and_the_end_of_its_plateau(run_trial: RunTrial) -> None:
    low, high = cubic_resting_windows_segments(1e-4, RTT_S)
    # 3 %: the round trip of each recovery, in which the window has fallen and the cubic function not begun.
    assert low * 0.97 <= average_window(run_trial, "cubic", 10_000, 300) <= high * 1.03


@pytest.mark.parametrize("loss", [1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("rtt_s", [0.1, 0.3])
def test_the_lowest_resting_window_is_the_formula_of_the_rfc(loss: float, rtt_s: float) -> None:
    low, high = cubic_resting_windows_segments(loss, rtt_s)
    assert low == pytest.approx(cubic_alone_window_segments(loss, rtt_s), rel=1e-9)
    assert high > low
