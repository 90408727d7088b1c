"""The laws against the tables and examples of their sources."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.analysis import tcp_model

LOSSES = [10.0**-exponent for exponent in range(2, 9)]
RENO = [12, 38, 120, 379, 1200, 3795, 12000]
CUBIC = {  # RFC 9438, Tables 1 and 2, by C and RTT
    (0.04, 0.1): [12, 38, 120, 593, 3332, 18740, 105383],
    (0.4, 0.1): [12, 38, 187, 1054, 5926, 33325, 187400],
    (4.0, 0.1): [12, 59, 333, 1874, 10538, 59261, 333250],
    (0.04, 0.01): [12, 38, 120, 379, 1200, 3795, 18740],
    (0.4, 0.01): [12, 38, 120, 379, 1200, 5926, 33325],
    (4.0, 0.01): [12, 38, 120, 379, 1874, 10538, 59261],
}
ROWS = [(*key, *row) for key, windows in CUBIC.items() for row in zip(LOSSES, windows, strict=True)]


@pytest.mark.parametrize(("loss", "window"), [*zip(LOSSES, RENO, strict=True)])
def test_renos_average_windows_are_those_of_rfc_9438(loss: float, window: int) -> None:
    assert round(tcp_model.reno_window_segments(loss)) == window


@pytest.mark.parametrize(("c", "rtt_s", "loss", "window"), ROWS)
def test_cubics_average_windows_are_those_of_rfc_9438(c: float, rtt_s: float, loss: float, window: int) -> None:
    assert round(tcp_model.cubic_window_segments(loss, rtt_s, c)) == window


def test_the_reno_friendly_region_lifts_cubic_to_reno_and_never_lowers_it() -> None:
    assert tcp_model.cubic_alone_window_segments(1e-3, 0.1) < tcp_model.cubic_window_segments(1e-3, 0.1)
    assert tcp_model.cubic_alone_window_segments(1e-5, 0.1) == tcp_model.cubic_window_segments(1e-5, 0.1)


def test_the_factor_of_cubics_window_is_1_054() -> None:
    assert tcp_model.cubic_alone_window_segments(1.0, 1.0) == pytest.approx(1.054, abs=5e-4)


@pytest.mark.parametrize(
    ("rate_bps", "reno", "cubic"),
    [
        (1e6, 2.0e-2, 2.0e-2),
        (1e7, 2.0e-4, 2.9e-4),
        (1e8, 2.0e-6, 1.4e-5),
        (1e9, 2.0e-8, 6.3e-7),
        (1e10, 2.0e-10, 2.9e-8),
    ],
)
def test_the_window_at_a_loss_is_that_of_rfc_9438_table_3(rate_bps: float, reno: float, cubic: float) -> None:
    """The table has the loss for a rate, which has two digits, and Reno's is rounded down."""
    window = rate_bps * 0.1 / (1500 * 8)
    assert tcp_model.reno_window_segments(reno) == pytest.approx(window, rel=0.02)
    assert tcp_model.cubic_window_segments(cubic, 0.1) == pytest.approx(window, rel=0.03)


def test_the_square_root_law_has_its_constant_of_1997() -> None:
    assert tcp_model.square_root_window_segments(1.0) == pytest.approx(1.22, abs=5e-3)
    assert tcp_model.square_root_window_segments(1.0, segments_per_ack=2) == pytest.approx(0.87, abs=5e-3)


def test_the_square_root_law_is_the_area_of_a_sawtooth() -> None:
    peak = 400  # segments; the window goes from 200 to 400, one more in each round
    sent = sum(range(peak // 2, peak))
    assert tcp_model.square_root_window_segments(1 / sent) == pytest.approx(0.75 * peak, rel=2e-3)


def test_one_in_500_at_1_ms_is_317_mbit_per_second() -> None:
    window = tcp_model.square_root_window_segments(1 / 500)
    assert tcp_model.window_throughput_bps(window, 0.001, 1448) == pytest.approx(317e6, rel=2e-3)


@pytest.mark.parametrize(
    ("window_bytes", "rtt_s", "limit_bps"),
    [(4e6, 0.05, 640e6), (250e6, 0.376, 5.32e9), (250e6, 0.340, 5.88e9), (65536, 0.1, 5_242_880), (0, 1, 0)],
)
def test_no_more_than_a_window_in_a_round_trip(window_bytes: float, rtt_s: float, limit_bps: float) -> None:
    assert tcp_model.window_limit_bps(window_bytes, rtt_s) == pytest.approx(limit_bps, rel=1e-3)


@pytest.mark.parametrize(
    ("mtu", "timestamps", "version", "mss"),
    [(1500, True, 4, 1448), (1500, False, 4, 1460), (1500, True, 6, 1428), (9000, True, 4, 8948)],
)
def test_the_payload_of_a_full_segment(mtu: int, timestamps: bool, version: int, mss: int) -> None:
    assert tcp_model.mss_bytes(mtu, timestamps, version) == mss


def test_a_saturated_10_gbit_link_carries_1448_of_1514() -> None:
    assert tcp_model.line_rate_limit_bps(10e9) == pytest.approx(10e9 * 1448 / 1514)


def test_gigabit_ethernet_with_its_whole_framing_carries_949_mbit() -> None:
    found = tcp_model.line_rate_limit_bps(1e9, timestamps=False, framing_bytes=38)
    assert found == pytest.approx(949.3e6, rel=1e-4)


@given(st.integers(576, 9000), st.booleans(), st.sampled_from([4, 6]))
def test_goodput_is_below_the_rate_and_headers_cost(mtu: int, timestamps: bool, version: int) -> None:
    def limit(timestamps: bool, version: int) -> float:
        return tcp_model.line_rate_limit_bps(1e9, mtu, timestamps, version)

    assert 0 < limit(timestamps, version) < 1e9
    assert limit(True, version) < limit(False, version)
    assert limit(timestamps, 6) < limit(timestamps, 4)


def test_slow_start_doubles_in_each_round_trip() -> None:
    assert tcp_model.slow_start_s(10 * 2**5, 0.1) == pytest.approx(0.5)
    assert tcp_model.slow_start_s(10, 0.1) == 0
    assert tcp_model.slow_start_s(5, 0.1) == 0
    assert tcp_model.slow_start_s(10 * 1.5**4, 0.1, growth=1.5) == pytest.approx(0.4)


def test_slow_start_to_10_gbit_at_366_ms_takes_5_4_seconds() -> None:
    window = 10e9 * 0.366 / (8 * 1514)
    assert tcp_model.slow_start_s(window, 0.366) == pytest.approx(0.366 * math.log2(window / 10))
    assert tcp_model.slow_start_s(window, 0.366) == pytest.approx(5.4, abs=0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tcp_model.reno_window_segments(0),
        lambda: tcp_model.reno_window_segments(1.5),
        lambda: tcp_model.square_root_window_segments(-0.1),
        lambda: tcp_model.square_root_window_segments(0.1, 0),
        lambda: tcp_model.cubic_window_segments(0.1, 0),
        lambda: tcp_model.cubic_window_segments(0.1, 0.1, beta=1.0),
        lambda: tcp_model.cubic_window_segments(0.1, 0.1, c=0),
        lambda: tcp_model.window_limit_bps(-1, 0.1),
        lambda: tcp_model.window_limit_bps(1, 0),
        lambda: tcp_model.window_limit_bps(math.nan, 1),
        lambda: tcp_model.window_throughput_bps(1, 1, 0),
        lambda: tcp_model.mss_bytes(40),
        lambda: tcp_model.mss_bytes(1500, ip_version=5),
        lambda: tcp_model.line_rate_limit_bps(-1),
        lambda: tcp_model.line_rate_limit_bps(1, framing_bytes=-1),
        lambda: tcp_model.slow_start_s(10, 0),
        lambda: tcp_model.slow_start_s(10, 1, growth=1),
        lambda: tcp_model.slow_start_s(10, 1, initial_segments=0),
    ],
)
def test_what_is_out_of_range_is_refused(call: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: tcp_model.window_limit_bps(-7, 0.1), "-7 bytes"),
        (lambda: tcp_model.window_limit_bps(1, -0.5), "RTT is -0.5"),
        (lambda: tcp_model.cubic_alone_window_segments(0.1, -0.5), "RTT is -0.5"),
        (lambda: tcp_model.cubic_resting_windows_segments(0.1, -0.5), "RTT is -0.5"),
        (lambda: tcp_model.slow_start_s(10, -0.5), "RTT is -0.5"),
        (lambda: tcp_model.slow_start_s(-3, 1), "the window is -3"),
        (lambda: tcp_model.slow_start_s(10, 1, -3), "initial window is -3"),
        (lambda: tcp_model.slow_start_s(10, 1, growth=0.9), "grows by 0.9"),
        (lambda: tcp_model.window_throughput_bps(1, 1, -4), "MSS is -4"),
        (lambda: tcp_model.reno_window_segments(1.5), "loss of 1.5"),
        (lambda: tcp_model.cubic_window_segments(0.1, 0.1, beta=0), "beta is 0,"),
        (lambda: tcp_model.cubic_window_segments(0.1, 0.1, c=-1), "C is -1"),
        (lambda: tcp_model.square_root_window_segments(0.1, 0), "0 segments per ACK"),
        (lambda: tcp_model.mss_bytes(40), "MTU of 40"),
        (lambda: tcp_model.mss_bytes(ip_version=5), "IP version 5; allowed: 4, 6"),
        (lambda: tcp_model.line_rate_limit_bps(-9), "rate of -9"),
        (lambda: tcp_model.line_rate_limit_bps(1, framing_bytes=-9), "-9 bytes of framing"),
    ],
)
def test_what_is_refused_is_named_with_its_value(call: Callable[[], object], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        call()


@pytest.mark.parametrize("loss", [1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("rtt_s", [0.01, 0.2])
def test_cubic_settles_between_epochs_that_end_at_w_max_and_a_second_and_a_third_before(
    loss: float, rtt_s: float
) -> None:
    """By simulation: W(t) = C (t - K)^3 + W_max in small steps, from 0.7 W_max until the epoch has sent 1/p segments;
    K is 1.357 s, cbrt(1 / 0.4), longer than the epoch of the highest window.
    """
    for lead_s, window in zip(
        (0.0, 2.5 ** (1 / 3)), tcp_model.cubic_resting_windows_segments(loss, rtt_s), strict=True
    ):
        epoch_s = rtt_s / loss / window  # 1/p segments at so many a round trip
        top = ((epoch_s + lead_s) ** 3) * 0.4 / 0.3
        times = (np.arange(100_000) + 0.5) * epoch_s / 100_000
        assert np.mean(0.4 * (times - epoch_s - lead_s) ** 3 + top) == pytest.approx(window, rel=1e-6)
