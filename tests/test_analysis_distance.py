"""How far profiles are apart, and which of ours explains a published one."""

import numpy as np
import pytest

from testbed.analysis import concavity
from testbed.analysis.distance import best_match, distance
from testbed.analysis.profile import ThroughputProfile

RTTS = (0.001, 0.05, 0.1, 0.2, 0.35)
DRAWS = 300


def exact(values: dict[float, float]) -> ThroughputProfile:
    return ThroughputProfile.of_means(values)


def noisy(share: float, seed: int = 1, bend: float = 1.0, repetitions: int = 10) -> ThroughputProfile:
    """A profile that falls to nothing at 0.4 s: straight for a bend of 1, concave above, convex below."""
    generator = np.random.default_rng(seed)
    means = {rtt: 10e9 * (1 - (rtt / 0.4) ** bend) for rtt in RTTS}
    return ThroughputProfile.of_samples(
        {rtt: mean * (1 + share * generator.normal(0, 1, repetitions)) for rtt, mean in means.items()}
    )


def test_a_profile_is_at_no_distance_from_itself() -> None:
    profile = exact({rtt: 10e9 / (1 + 10 * rtt) for rtt in RTTS})
    found = distance(profile, profile, 10e9, 10e9, seed=1)
    assert [point.relative.value for point in found.points] == [0] * 5
    assert found.rms.value == 0
    assert found.shape is not None
    assert found.shape.c_uc.value == 0
    assert found.shape.is_same
    assert found.rms.interval is None  # nothing to resample


def test_a_tenth_less_everywhere_is_minus_10_percent_at_each_point() -> None:
    published = exact({rtt: 8e9 for rtt in RTTS})
    measured = exact({rtt: 7.2e9 for rtt in RTTS})
    found = distance(measured, published, 10e9, 10e9, seed=1)
    assert [point.relative.value for point in found.points] == pytest.approx([-0.1] * 5)
    assert found.rms.value == pytest.approx(0.08)
    assert found.shape is not None
    assert found.shape.c_uc.value == pytest.approx(-0.08 * 0.5)  # mean less half of the mean of the ends


def test_profiles_of_unequal_capacity_are_compared_by_their_share_of_it() -> None:
    published = exact({rtt: 8e9 for rtt in RTTS})
    measured = exact({rtt: 0.8e9 for rtt in RTTS})
    assert distance(measured, published, 1e9, 10e9, seed=1).rms.value == pytest.approx(0)


def test_only_published_rtts_within_the_measured_range_are_compared() -> None:
    measured = exact({0.01: 10e9, 0.1: 1e9})
    published = exact({0.001: 9e9, 0.055: 5e9, 0.2: 1e9})
    found = distance(measured, published, 10e9, 10e9, seed=1)
    assert [(point.rtt_s, point.measured_bps) for point in found.points] == [(0.055, pytest.approx(5.5e9))]
    assert found.left_out_rtt_s == (0.001, 0.2)
    assert found.shape is None


def test_the_difference_of_c_uc_is_over_the_common_range() -> None:
    measured = exact({0.0: 10e9, 0.1: 9e9, 0.2: 4e9, 0.4: 1e9})
    published = exact({0.1: 9e9, 0.2: 6e9})
    found = distance(measured, published, 10e9, 10e9, seed=1)
    expected = [
        concavity.utilization_concavity(concavity.normalized(exact(part), 10e9))
        for part in ({0.1: 9e9, 0.2: 4e9}, {0.1: 9e9, 0.2: 6e9})
    ]
    assert found.shape is not None
    assert found.shape.c_uc.value == pytest.approx(expected[0] - expected[1])


@pytest.mark.parametrize(("bend", "shape"), [(1.0, "straight"), (3.0, "concave"), (0.3, "convex")])
def test_the_shape_is_read_through_noise(bend: float, shape: str) -> None:
    measured = noisy(0.03, bend=bend)
    found = distance(measured, noisy(0.0, repetitions=1), 10e9, 10e9, seed=1, resamples=DRAWS)
    assert found.shape is not None
    assert found.shape.measured_bend == shape
    assert found.shape.published_bend == "straight"
    assert found.shape.is_same == (shape == "straight")


def test_the_interval_of_a_point_is_that_of_its_repetitions() -> None:
    measured, published = noisy(0.05), exact({0.1: 7.5e9, 0.2: 5e9})
    interval = distance(measured, published, 10e9, 10e9, seed=1, resamples=5000).points[0].relative.interval
    samples = np.array(measured.samples_bps[2])
    error = samples.std() / np.sqrt(len(samples)) / 7.5e9
    assert interval is not None
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_the_same_seed_gives_the_same_intervals() -> None:
    published = exact({0.1: 7.5e9, 0.2: 5e9})
    first, again, other = (
        distance(noisy(0.05), published, 10e9, 10e9, seed=seed, resamples=DRAWS) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.rms.interval != other.rms.interval


def test_profiles_without_a_common_rtt_and_impossible_ones_are_refused() -> None:
    one, other = exact({0.01: 1e9, 0.02: 1e9}), exact({0.1: 1e9, 0.2: 1e9})
    with pytest.raises(ValueError, match="no published RTT lies within"):
        distance(one, other, 10e9, 10e9, seed=1)
    with pytest.raises(ValueError, match="capacity"):
        distance(one, one, 0, 10e9, seed=1)
    with pytest.raises(ValueError, match="published throughput is 0"):
        distance(one, exact({0.01: 0.0}), 10e9, 10e9, seed=1)
    with pytest.raises(ValueError, match="no candidate"):
        best_match(one, {}, 10e9, 10e9, seed=1)


def test_the_best_match_is_the_profile_that_the_target_was_made_from() -> None:
    candidates = {bend: noisy(0.05, seed=int(10 * bend), bend=bend) for bend in (0.3, 0.6, 1.0, 2.0)}
    target = noisy(0.05, seed=99, bend=0.6)
    ranking = best_match(target, candidates, 10e9, 10e9, seed=1, resamples=DRAWS)
    assert ranking[0].key == 0.6
    assert [candidate.rms.value for candidate in ranking] == sorted(candidate.rms.value for candidate in ranking)
    assert ranking[0].wins == 1.0
    assert sum(candidate.wins or 0 for candidate in ranking) == pytest.approx(1)


def test_candidates_that_cannot_be_told_apart_share_the_wins() -> None:
    candidates = {seed: noisy(0.2, seed=seed, repetitions=3) for seed in range(2)}
    ranking = best_match(noisy(0.2, seed=9), candidates, 10e9, 10e9, seed=1, resamples=DRAWS)
    assert 0.02 < (ranking[0].wins or 0) < 0.98


def test_without_repetitions_there_is_a_ranking_and_no_certainty() -> None:
    flat, falling = exact({0.1: 1e9, 0.2: 1e9}), exact({0.1: 1e9, 0.2: 0.1e9})
    ranking = best_match(flat, {"falling": falling, "flat": flat}, 1e9, 1e9, seed=1)
    assert [candidate.key for candidate in ranking] == ["flat", "falling"]
    assert ranking[0].wins is None
    assert ranking[0].rms.interval is None
