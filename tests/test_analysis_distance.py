"""How far profiles are apart, what is shown by that, and which of ours explains a published one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from testbed.analysis import concavity
from testbed.analysis.distance import best_match, distance, worst
from testbed.analysis.point import Figure, PointDifference
from testbed.analysis.profile import Reference, ThroughputProfile
from testbed.analysis.statistic import Estimate, Interval

RTTS = (0.001, 0.05, 0.1, 0.2, 0.35)
SAME = (10e9, 10e9)


def exact(values: dict[float, float]) -> ThroughputProfile:
    return ThroughputProfile.of_means(values)


def exactly(profile: ThroughputProfile) -> dict[float, Reference]:
    """The means of a profile with the errors of its repetitions; constants where it has none."""
    return {rtt: Reference(mean) for rtt, mean in zip(profile.rtt_s, profile.estimates, strict=True)}


def noisy(share: float, seed: int = 1, bend: float = 1.0, repetitions: int = 10) -> ThroughputProfile:
    """A profile that falls to nothing at 0.4 s: straight for a bend of 1, concave above, convex below."""
    generator = np.random.default_rng(seed)
    means = {rtt: 10e9 * (1 - (rtt / 0.4) ** bend) for rtt in RTTS}
    return ThroughputProfile.of_samples(
        {rtt: mean * (1 + share * generator.normal(0, 1, repetitions)) for rtt, mean in means.items()}
    )


def test_a_profile_is_at_no_distance_from_itself() -> None:
    profile = exact({rtt: 10e9 / (1 + 10 * rtt) for rtt in RTTS})
    found = distance(profile, exactly(profile), SAME)
    assert [point.relative.value for point in found.points] == [0] * 5
    assert found.rms.value == 0
    assert found.shape is not None
    assert found.shape.c_uc.value == 0
    assert found.shape.is_same
    assert found.verdict(0.01) == "agree"


def test_a_tenth_less_everywhere_is_minus_10_percent_at_each_point() -> None:
    published = exact({rtt: 8e9 for rtt in RTTS})
    measured = exact({rtt: 7.2e9 for rtt in RTTS})
    found = distance(measured, exactly(published), SAME)
    assert [point.relative.value for point in found.points] == pytest.approx([-0.1] * 5)
    assert found.rms.value == pytest.approx(0.1)
    assert found.shape is not None
    assert found.shape.c_uc.value == pytest.approx(-0.08 * 0.5)  # mean less half of the mean of the ends
    assert (found.verdict(0.11), found.verdict(0.09)) == ("agree", "differ")


def test_a_measurement_and_a_published_profile_in_another_unit_are_compared_after_scaling() -> None:
    published = {rtt: each.scaled(1 / 10e9) for rtt, each in exactly(exact({rtt: 8e9 for rtt in RTTS})).items()}
    measured = exact({rtt: 0.8e9 for rtt in RTTS}).scaled(1 / 1e9)
    assert distance(measured, published, (1, 1)).rms.value == pytest.approx(0)


def test_only_published_rtts_within_the_measured_range_are_compared() -> None:
    measured = exact({0.01: 10e9, 0.1: 1e9})
    published = exact({0.001: 9e9, 0.055: 5e9, 0.2: 1e9})
    found = distance(measured, exactly(published), SAME)
    assert [(point.rtt_s, point.measured_bps) for point in found.points] == [(0.055, pytest.approx(5.5e9))]
    assert found.points[0].is_between
    assert found.left_out_rtt_s == (0.001, 0.2)
    assert found.shape is None


def test_the_difference_of_c_uc_is_over_the_common_range() -> None:
    measured = exact({0.0: 10e9, 0.1: 9e9, 0.2: 4e9, 0.4: 1e9})
    published = exact({0.1: 9e9, 0.2: 6e9})
    found = distance(measured, exactly(published), SAME)
    expected = [
        concavity.utilization_concavity(concavity.normalized(exact(part), 10e9))
        for part in ({0.1: 9e9, 0.2: 4e9}, {0.1: 9e9, 0.2: 6e9})
    ]
    assert found.shape is not None
    assert found.shape.c_uc.value == pytest.approx(expected[0] - expected[1])


@pytest.mark.parametrize(("bend", "shape"), [(1.0, "straight"), (3.0, "concave"), (0.3, "convex")])
def test_the_shape_is_read_through_noise(bend: float, shape: str) -> None:
    measured = noisy(0.03, bend=bend)
    published = exact({rtt: 10e9 * (1 - rtt / 0.4) for rtt in RTTS})
    found = distance(measured, exactly(published), SAME)
    assert found.shape is not None
    assert found.shape.measured_bend == shape
    assert found.shape.published_bend == "straight"
    assert found.shape.is_same == (shape == "straight")


def test_a_shape_that_the_repetitions_do_not_show_is_not_named() -> None:
    published = exactly(exact({rtt: 10e9 * (1 - rtt / 0.4) for rtt in RTTS}))
    for measured in (noisy(0.3, repetitions=3), noisy(0.03, repetitions=1, bend=3.0)):
        shape = distance(measured, published, SAME).shape
        assert shape is not None
        assert (shape.measured_bend, shape.is_same) == (None, None)


def test_the_interval_of_a_point_is_students_of_its_repetitions() -> None:
    """On the logarithmic scale, by the delta method; SciPy has the interval of the mean."""
    measured, published = noisy(0.05), exact({0.1: 7.5e9, 0.2: 5e9})
    interval = distance(measured, exactly(published)).points[0].relative.interval
    samples = np.array(measured.samples_bps[2])
    plain = stats.ttest_1samp(samples, 0).confidence_interval(0.95)
    half = (plain.high - plain.low) / 2 / samples.mean()
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(
        tuple(samples.mean() / 7.5e9 * np.exp(sign * half) - 1 for sign in (-1, 1))
    )


def test_the_interval_of_two_noisy_sides_is_welchs() -> None:
    """SciPy's interval of the difference of the logarithms differs from the delta method only in the second order."""
    measured = ThroughputProfile.of_samples({0.1: [9.0, 10.0, 11.0, 10.5]})
    other = np.array([10.0, 10.4, 9.8])
    published = {0.1: Reference(Estimate(other.mean(), other.std(ddof=1) / np.sqrt(3), 2))}
    found = distance(measured, published).points[0].relative.interval
    welch = stats.ttest_ind(np.log(measured.samples_bps[0]), np.log(other), equal_var=False).confidence_interval(0.95)
    assert found is not None
    assert (np.log1p(found.low), np.log1p(found.high)) == pytest.approx((welch.low, welch.high), abs=0.01)


def test_how_far_the_published_number_may_be_off_widens_the_interval_at_its_worst() -> None:
    found = distance(exact({0.1: 10e9}), {0.1: Reference(Estimate.constant(10e9), 1e9)}).points[0]
    assert found.relative.interval is not None
    assert (found.relative.interval.low, found.relative.interval.high) == pytest.approx((1 / 1.1 - 1, 1 / 0.9 - 1))
    assert found.share_off == pytest.approx(0.1)


def test_one_repetition_and_equal_ones_have_no_interval_and_show_nothing() -> None:
    for samples in ([8e9], [8e9, 8e9, 8e9]):
        found = distance(
            ThroughputProfile.of_samples({0.1: samples, 0.2: samples}), exactly(exact({0.1: 8e9, 0.2: 4e9}))
        )
        assert [point.relative.interval for point in found.points] == [None, None]
        assert found.rms.interval is None
        assert found.verdict(0.1) == "cannot tell"


def test_nothing_received_differs_from_something() -> None:
    found = distance(ThroughputProfile.of_samples({0.1: [0.0, 0.0]}), exactly(exact({0.1: 410e6})))
    assert found.points[0].relative.value == -1
    assert found.verdict(0.1) == "differ"


def test_the_interval_of_the_rms_can_hold_0_and_cannot_where_all_differ() -> None:
    published = exactly(exact({rtt: 10e9 * (1 - rtt / 0.4) for rtt in RTTS}))
    near, far = (distance(noisy(0.05, bend=bend), published).rms for bend in (1.0, 0.3))
    assert near.interval is not None
    assert near.interval.low == 0 < near.value < near.interval.high
    assert far.interval is not None
    assert 0 < far.interval.low < far.value < far.interval.high


def test_a_series_agrees_if_all_points_do_and_differs_if_one_does() -> None:
    assert worst(["agree", "agree"]) == "agree"
    assert worst(["agree", "cannot tell"]) == "cannot tell"
    assert worst(["agree", "cannot tell", "differ"]) == "differ"
    assert worst([]) == "cannot tell"


def test_profiles_without_a_common_rtt_and_impossible_ones_are_refused() -> None:
    one, other = exact({0.01: 1e9, 0.02: 1e9}), exact({0.1: 1e9, 0.2: 1e9})
    with pytest.raises(ValueError, match="no published RTT lies within"):
        distance(one, exactly(other))
    with pytest.raises(ValueError, match="capacity"):
        distance(one, exactly(one), (0, 10e9))
    with pytest.raises(ValueError, match="published throughput is 0"):
        distance(one, exactly(exact({0.01: 0.0})))
    with pytest.raises(ValueError, match="no candidate"):
        best_match(exactly(one), {})


def test_the_best_match_is_the_profile_that_the_target_was_made_from() -> None:
    candidates = {bend: noisy(0.02, seed=int(10 * bend), bend=bend) for bend in (0.3, 0.6, 1.0, 2.0)}
    ranking = best_match(exactly(noisy(0.02, seed=99, bend=0.6)), candidates)
    assert ranking[0].key == 0.6
    assert [candidate.rms.value for candidate in ranking] == sorted(candidate.rms.value for candidate in ranking)
    assert ranking[0].is_apart
    assert ranking[-1].is_apart is None


def test_candidates_that_cannot_be_told_apart_are_not_called_apart() -> None:
    candidates = {seed: noisy(0.2, seed=seed, repetitions=3) for seed in range(2)}
    assert best_match(exactly(noisy(0.2, seed=9)), candidates)[0].is_apart is False


def test_without_repetitions_there_is_a_ranking_and_no_certainty() -> None:
    flat, falling = ThroughputProfile.of_samples({0.1: [1e9], 0.2: [1e9]}), exact({0.1: 1e9, 0.2: 0.1e9})
    ranking = best_match(exactly(exact({0.1: 1e9, 0.2: 1e9})), {"falling": falling, "flat": flat})
    assert [candidate.key for candidate in ranking] == ["flat", "falling"]
    assert ranking[0].is_apart is None
    assert ranking[0].rms.interval is None


def test_every_interval_has_the_level_that_was_asked_for() -> None:
    published = exactly(exact({rtt: 10e9 * (1 - rtt / 0.4) for rtt in RTTS}))
    found = distance(noisy(0.05), published, SAME, level=0.8)
    assert found.shape is not None
    intervals = [found.rms.interval, found.shape.c_uc.interval, *(each.relative.interval for each in found.points)]
    assert [each and each.level for each in intervals] == [0.8] * 7


def test_the_rms_of_a_profile_is_its_own_whatever_is_judged_with_it() -> None:
    ours = ThroughputProfile.of_samples({0.01: [1.0e9, 1.1e9, 1.2e9], 0.02: [0.8e9, 0.9e9, 0.85e9]})
    theirs = exactly(ThroughputProfile.of_means({0.01: 1e9, 0.02: 0.9e9}))
    alone, among = distance(ours, theirs), distance(ours, theirs, family=50)
    assert among.rms == alone.rms
    assert among.points[0].family.high > alone.points[0].family.high  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 0.3, "cannot tell"), (0.1001, 0.3, "differ"), (-0.3, -0.1, "cannot tell"), (-0.3, -0.1001, "differ")],
)
def test_a_point_differs_only_beyond_the_tolerance(low: float, high: float, verdict: str) -> None:
    family = Interval(low, high, 0.99)
    point = PointDifference(0.1, 1e9, 1e9, Figure(0.2, Interval(low, high, 0.95)), family, False, 0.0, 3)
    assert point.verdict(0.1) == verdict
    assert replace(point, measured_bps=0.0).verdict(0.1) == "differ"
    assert replace(point, relative=Figure(0.0, Interval(-0.1, 0.1, 0.95))).verdict(0.1) == "agree"
