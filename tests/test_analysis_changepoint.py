"""Level shifts: found where they are, and not where they are not."""

import numpy as np
import pytest
from scipy import stats

from testbed.analysis.changepoint import levels

FALSE_POSITIVES = 0.05  # what a series without a shift may show, as a share of seeds
SEEDS = 200


def noise(seed: int, count: int, correlation: float = 0.0) -> np.ndarray:
    """Noise of sd 1, autoregressive of order 1."""
    draws = np.random.default_rng(seed).normal(0, 1, count + 100)
    series = np.empty(count + 100)
    series[0] = draws[0]
    for index in range(1, count + 100):
        series[index] = correlation * series[index - 1] + np.sqrt(1 - correlation**2) * draws[index]
    return series[100:]


def policed(seed: int, share: float, correlation: float = 0.0) -> np.ndarray:
    """850 and then 400 Mbit/s, with noise that is a share of the level."""
    level = np.where(np.arange(300) < 100, 850e6, 400e6)
    return level * (1 + share * noise(seed, 300, correlation))


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", range(10))
def test_850_to_400_mbit_at_100_s_is_found(share: float, seed: int) -> None:
    found = levels(policed(seed, share))
    assert len(found.shifts) == 1
    shift = found.shifts[0]
    assert shift.at_s == pytest.approx(100, abs=3)
    assert shift.before_bps == pytest.approx(850e6, rel=4 * share / np.sqrt(100))  # four standard errors
    assert shift.after_bps == pytest.approx(400e6, rel=4 * share / np.sqrt(200) + 0.02)
    assert shift.confidence > 0.999
    assert shift.ratio == pytest.approx(0.47, abs=0.05)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", range(10))
def test_the_step_is_found_in_correlated_noise_too(share: float, seed: int) -> None:
    found = levels(policed(seed, share, correlation=0.6))
    assert [shift.at_s for shift in found.shifts] == [pytest.approx(100, abs=6)]
    assert found.correlation == pytest.approx(0.6, abs=0.25)  # five standard errors


def test_the_step_is_found_without_any_noise_at_its_exact_place() -> None:
    (shift,) = levels([850e6] * 100 + [400e6] * 200).shifts
    assert (shift.at_s, shift.before_bps, shift.after_bps) == (100, 850e6, 400e6)


def test_the_place_is_in_seconds_whatever_the_interval() -> None:
    assert levels([850e6] * 100 + [400e6] * 200, interval_s=0.1).shifts[0].at_s == pytest.approx(10)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.8])
def test_a_constant_level_shows_a_shift_in_few_seeds_only(correlation: float) -> None:
    series = (850e6 * (1 + 0.1 * noise(seed, 300, correlation)) for seed in range(SEEDS))
    false = sum(bool(levels(each).shifts) for each in series)
    assert false / SEEDS <= FALSE_POSITIVES


@pytest.mark.slow
@pytest.mark.parametrize("count", [60, 1000])
def test_short_and_long_series_show_no_more_false_shifts(count: int) -> None:
    series = (850e6 * (1 + 0.2 * noise(seed, count)) for seed in range(SEEDS // 2))
    assert sum(bool(levels(each).shifts) for each in series) / (SEEDS // 2) <= FALSE_POSITIVES


def test_a_run_shorter_than_100_s_does_not_show_the_step() -> None:
    assert levels(policed(1, 0.05)[:95]).shifts == ()


def test_a_sawtooth_is_no_series_of_shifts() -> None:
    assert levels(np.tile(np.linspace(700e6, 1000e6, 20), 15)).shifts == ()


def test_a_dip_shorter_than_a_level_is_no_shift() -> None:
    series = 850e6 * (1 + 0.05 * noise(2, 300))
    series[150:152] /= 3
    assert levels(series).shifts == ()


def test_two_shifts_are_found_in_order() -> None:
    series = np.concatenate([np.full(80, 900e6), np.full(60, 300e6), np.full(100, 600e6)])
    found = levels(series * (1 + 0.08 * noise(3, 240)))
    assert [shift.at_s for shift in found.shifts] == pytest.approx([80, 140], abs=2)
    assert found.shifts[0].after_bps == found.shifts[1].before_bps


def test_a_smaller_step_has_less_confidence() -> None:
    def confidence(size: float) -> float:
        series = np.where(np.arange(60) < 30, 1.0, 1.0 - size) * 1e9 + 1e8 * noise(5, 60)
        (shift,) = levels(series, confidence=0.5).shifts
        return shift.confidence

    assert 1 > confidence(0.2) > confidence(0.12) > 0.5


def test_the_noise_around_the_levels_is_measured() -> None:
    assert levels(850e6 * (1 + 0.1 * noise(1, 2000))).noise_sd_bps == pytest.approx(85e6, rel=0.1)


def test_an_idle_series_has_no_shift() -> None:
    assert levels([0.0] * 50).shifts == ()


def test_too_few_samples_and_absent_ones_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 10"):
        levels([1.0] * 9)
    with pytest.raises(ValueError, match="absent"):
        levels([1.0] * 20 + [None])
    with pytest.raises(ValueError, match="2 samples or more"):
        levels([1.0] * 20, shortest=1)


def test_a_level_of_two_samples_is_allowed_and_of_one_is_not() -> None:
    assert levels([850e6] * 100 + [400e6] * 200, shortest=2).shifts[0].at_s == 100
    with pytest.raises(ValueError, match=r"."):
        levels([850e6] * 100 + [400e6] * 200, shortest=1)


def test_of_two_doubtful_shifts_the_one_that_explains_less_goes_first() -> None:
    """From 100 over a short 70 to 60: without the step of 10 that of 30 stands out, at its own place."""
    series = np.repeat([100.0, 70.0, 60.0], [30, 5, 25]) + 3.0 * noise(3, 60)
    assert [shift.at_s for shift in levels(series, confidence=0.0).shifts] == [30, 35]
    (shift,) = levels(series, confidence=0.999).shifts
    assert (shift.at_s, shift.confidence > 0.999) == (30, True)


def test_a_confidence_is_a_share_however_weak_the_shift() -> None:
    found = [shift for seed in range(40) for shift in levels(noise(seed, 40, 0.8) + 9, confidence=0.0).shifts]
    assert min(shift.confidence for shift in found) == 0
    assert max(shift.confidence for shift in found) < 1


@pytest.mark.parametrize("unit", [1e9, 1.0, 1e-9])
def test_a_step_without_noise_is_judged_by_a_thousandth_of_the_median_in_any_unit(unit: float) -> None:
    """From 1 to 0.998: t of 0.002 over 0.000999 sqrt(2 / 5), with 8 degrees of freedom, at 10 positions, two-sided."""
    (shift,) = levels(unit * np.repeat([1.0, 0.998], 5), confidence=0.0).shifts
    t = 0.002 / (0.000999 * np.sqrt(2 / 5))
    assert shift.confidence == pytest.approx(1 - 20 * stats.t.sf(t, 8))
