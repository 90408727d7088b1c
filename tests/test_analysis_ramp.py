"""Ramp and steady state, apart."""

import numpy as np
import pytest

from testbed.analysis import ramp


def test_ramp_and_steady_state_are_told_apart() -> None:
    assert ramp.split([1.0, 3.0, 8.0, 10.0], ramp_s=2.0) == ramp.Phases(2.0, 2.0, 9.0)


def test_a_sample_that_the_ramp_covers_in_part_belongs_to_it() -> None:
    assert ramp.split([1.0, 3.0, 8.0, 10.0], ramp_s=1.2) == ramp.Phases(2.0, 2.0, 9.0)
    assert ramp.split([1.0, 3.0, 8.0, 10.0], ramp_s=0.3, interval_s=0.1).steady_bps == 10.0


def test_without_a_ramp_its_throughput_is_absent_and_not_0() -> None:
    assert ramp.split([4.0, 6.0], ramp_s=0.0) == ramp.Phases(0.0, None, 5.0)


def test_a_ramp_as_long_as_the_series_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves nothing"):
        ramp.split([1.0, 2.0], ramp_s=2.0)


def test_the_end_of_a_doubling_start_is_found() -> None:
    start = [10.0 * 2**step for step in range(7)]
    steady = np.random.default_rng(1).normal(1000, 20, 60)
    assert ramp.end_s(np.concatenate([start, steady]), interval_s=0.5) == pytest.approx(3.5, abs=0.5)


def test_a_series_that_starts_steady_has_no_ramp() -> None:
    assert ramp.end_s([7.0] * 10) == 0
