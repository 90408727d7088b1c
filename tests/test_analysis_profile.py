"""Throughput profiles: what they are made of, and how they bend."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.analysis.profile import Reference, Stretch, ThroughputProfile, stretches
from testbed.analysis.statistic import Estimate

RTTS = [0.001, 0.012, 0.022, 0.045, 0.091, 0.183, 0.366]


def of(values: list[float], rtts: list[float] = RTTS) -> ThroughputProfile:
    return ThroughputProfile.of_means(dict(zip(rtts, values, strict=True)))


def bends(profile: ThroughputProfile, **margin: float) -> list[str]:
    return [stretch.bend for stretch in stretches(profile, **margin)]


def test_the_means_of_a_profile_are_those_of_its_samples_in_order_of_rtt() -> None:
    profile = ThroughputProfile.of_samples({0.1: [4e9, 6e9], 0.01: [9e9]})
    assert profile.rtt_s == (0.01, 0.1)
    assert profile.mean_bps == (9e9, 5e9)
    assert profile.samples_bps == ((9e9,), (4e9, 6e9))


def test_the_estimates_of_a_profile_are_those_of_its_samples_and_constants_without_any() -> None:
    mixed = ThroughputProfile((0.01, 0.1, 0.2), (5.0, 9.0, 7.0), ((4.0, 6.0), (9.0,), ()))
    assert mixed.estimates == (Estimate(5.0, pytest.approx(1.0), 1), Estimate(9.0, None, 0), Estimate.constant(7.0))


def test_a_scaled_profile_keeps_its_repetitions() -> None:
    mixed = ThroughputProfile((0.01, 0.1), (5.0, 9.0), ((4.0, 6.0), ()))
    assert mixed.scaled(2.0) == ThroughputProfile((0.01, 0.1), (10.0, 18.0), ((8.0, 12.0), ()))


@pytest.mark.parametrize(
    ("rtt", "mean", "samples", "said"),
    [
        ((), (), (), "0 samples"),
        ((0.1, 0.1), (1.0, 1.0), ((), ()), "strictly increasing"),
        ((-0.1, 0.1), (1.0, 1.0), ((), ()), "strictly increasing"),
        ((0.1,), (-1.0,), ((),), "negative"),
        ((0.1,), (float("nan"),), ((),), "nan"),
        ((0.1,), (1.0,), (), "groups of samples"),
        ((0.1,), (1.0,), ((3.0,),), "its samples have another"),
    ],
)
def test_what_is_no_profile_is_refused(rtt: tuple, mean: tuple, samples: tuple, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ThroughputProfile(rtt, mean, samples)


def test_between_two_rtts_a_profile_is_a_straight_line_and_outside_it_is_unknown() -> None:
    profile = of([10.0, 0.0], [0.1, 0.2])
    assert profile.at([0.1, 0.15, 0.2]) == pytest.approx([10, 5, 0])
    with pytest.raises(ValueError, match="outside"):
        profile.at([0.25])


def test_a_parabola_is_concave_and_its_mirror_convex() -> None:
    x = np.array(RTTS) / RTTS[-1]
    assert bends(of((1 - x**2).tolist())) == ["concave"]
    assert bends(of(((1 - x) ** 2).tolist())) == ["convex"]


@given(st.floats(1, 1e10), st.floats(1, 1e10))
def test_a_line_is_straight_whatever_its_ends(first: float, last: float) -> None:
    line = np.interp(RTTS, [RTTS[0], RTTS[-1]], [first, last])
    assert bends(of(line.tolist())) == ["straight"]


def test_concave_at_low_rtt_and_convex_at_high_rtt_meet_in_one_segment() -> None:
    x = np.linspace(0, 1, 11)
    values = np.where(x <= 0.5, 1 - 2 * x**2, 2 * (1 - x) ** 2)
    assert stretches(of(values.tolist(), (x + 0.1).tolist())) == (
        Stretch(pytest.approx(0.1), pytest.approx(0.7), "concave"),
        Stretch(pytest.approx(0.6), pytest.approx(1.1), "convex"),
    )


def test_two_points_are_straight_and_one_has_no_shape() -> None:
    assert bends(of([3.0, 1.0], [0.1, 0.2])) == ["straight"]
    with pytest.raises(ValueError, match="a single RTT has no shape"):
        stretches(of([3.0], [0.1]))


def test_a_bend_within_the_margin_is_straight() -> None:
    bent = of([10.0, 9.6, 9.0], [0.1, 0.2, 0.3])
    assert bends(bent) == ["concave"]
    assert bends(bent, margin_bps=0.2) == ["straight"]


def test_a_long_slow_bend_is_seen_although_no_three_neighbours_show_it() -> None:
    x = np.linspace(0, 1, 21)
    values = (1e9 * (1 - x**2)).tolist()
    margin_bps = 1e7  # ten times what three neighbours deviate from their chord by
    assert bends(of(values, (x + 0.1).tolist()), margin_bps=margin_bps) == ["concave"]


def noisy(values: np.ndarray, seed: int) -> ThroughputProfile:
    """Ten repetitions at each of the RTTs, with noise of sd 0.02."""
    repetitions = values[:, None] + np.random.default_rng(seed).normal(0, 0.02, (len(values), 10))
    rtts = np.linspace(0.1, 1.1, len(values)).tolist()
    return ThroughputProfile.of_samples(dict(zip(rtts, repetitions, strict=True)))


def test_noise_bends_a_line_in_few_seeds_only_and_does_not_hide_a_parabola() -> None:
    x, seeds = np.linspace(0, 1, 7), range(100)
    bent = sum(bends(noisy(2 - x, seed)) != ["straight"] for seed in seeds)
    assert bent / len(seeds) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(seeds))  # 5 %, within two sigmas
    assert all(bends(noisy(2 - x**2, seed)) == ["concave"] for seed in range(20))


def test_a_reference_is_scaled_with_its_error_and_with_how_far_it_may_be_off() -> None:
    assert Reference(Estimate(100.0, 5.0, 3), 2.0).scaled(3) == Reference(Estimate(300.0, 15.0, 3), 6.0)
    assert Reference(Estimate.constant(100.0), 2.0).scaled(3) == Reference(Estimate.constant(300.0), 6.0)


def test_a_negative_throughput_is_named_by_its_rtt() -> None:
    with pytest.raises(ValueError, match=r"at 0\.012 s is negative"):
        of([3.0, -1.0, 2.0], RTTS[:3])


def test_a_mean_that_is_not_that_of_its_samples_is_refused_in_any_unit() -> None:
    for mean, samples in ((1e9, (1e9, 1e9 + 20)), (0.5, (0.6, 0.6))):
        with pytest.raises(ValueError, match=r"at 0\.1 s is .*, but its samples have another mean"):
            ThroughputProfile((0.1,), (mean,), (samples,))
    assert ThroughputProfile((0.1,), (1e9,), ((1e9, 1e9 + 1),)).mean_bps == (1e9,)
