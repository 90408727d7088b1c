"""Every statistic against a closed form or SciPy."""

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from testbed.analysis import statistic
from testbed.analysis.statistic import Estimate

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False, allow_infinity=False, allow_subnormal=False)
SHARES = st.floats(1e-3, 1e12)
SAMPLES = [3.1, 4.1, 5.9, 2.6, 5.3, 5.8, 9.7, 9.3]


@given(st.lists(NUMBERS, min_size=2, max_size=50))
def test_mean_and_both_sds_agree_with_scipy(values: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # SciPy on equal values
        sds = [math.sqrt(stats.tvar(values, ddof=ddof)) for ddof in (0, 1)]
    assert statistic.mean(values) == pytest.approx(stats.tmean(values), rel=1e-9, abs=1e-3)
    assert statistic.population_sd(values) == pytest.approx(sds[0], rel=1e-9, abs=1e-3)
    assert statistic.sample_sd(values) == pytest.approx(sds[1], rel=1e-9, abs=1e-3)


def test_the_two_sds_of_1_to_10_are_those_of_the_textbook() -> None:
    values = list(range(1, 11))
    assert statistic.population_sd(values) == pytest.approx(math.sqrt(99 / 12))
    assert statistic.sample_sd(values) == pytest.approx(math.sqrt(99 / 12 * 10 / 9))


@given(NUMBERS, st.integers(2, 50))
def test_equal_samples_do_not_vary_and_are_one_case(value: float, count: int) -> None:
    """Their mean is rounded: that of three times 0.1 is 0.10000000000000002."""
    for each in (value, 0.1):
        assert statistic.population_sd([each] * count) == statistic.sample_sd([each] * count) == 0
        assert statistic.estimate([each] * count).interval() is None


@given(st.lists(NUMBERS, min_size=1, max_size=50), st.floats(0, 1))
def test_quantiles_are_of_type_7(values: list[float], share: float) -> None:
    expected = stats.mstats.mquantiles(values, [share], alphap=1, betap=1)[0]
    assert statistic.quantile(values, share) == pytest.approx(expected, rel=1e-9, abs=1e-3)


def test_the_iqr_of_1_to_5_is_2_and_agrees_with_scipy() -> None:
    assert statistic.iqr([1, 2, 3, 4, 5]) == 2
    assert statistic.iqr(SAMPLES) == pytest.approx(stats.iqr(SAMPLES))


def test_the_coefficient_of_variation_agrees_with_scipy() -> None:
    assert statistic.population_cov(SAMPLES) == pytest.approx(stats.variation(SAMPLES))


def test_cv_rmse_of_a_constant_offset_is_the_offset_over_the_mean() -> None:
    assert statistic.cv_rmse([9, 9, 9], [11, 11, 11]) == pytest.approx(0.2)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=30))
def test_cv_rmse_is_symmetric_and_0_only_for_equals(pairs: list[tuple[float, float]]) -> None:
    one, other = ([pair[side] for pair in pairs] for side in (0, 1))
    assert statistic.cv_rmse(one, other) == pytest.approx(statistic.cv_rmse(other, one))
    assert statistic.cv_rmse(one, one) == 0


@pytest.mark.parametrize(("takers", "flows"), [(1, 1), (1, 4), (3, 4), (7, 10), (10, 10)])
def test_jain_index_of_k_equal_takers_among_n_is_k_over_n(takers: int, flows: int) -> None:
    assert statistic.jain_index([5.0] * takers + [0.0] * (flows - takers)) == pytest.approx(takers / flows)


@given(st.lists(SHARES, min_size=1, max_size=30), st.floats(1e-6, 1e6))
def test_jain_index_is_from_1_over_n_to_1_and_has_no_scale(shares: list[float], scale: float) -> None:
    index = statistic.jain_index(shares)
    assert 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9
    assert statistic.jain_index([scale * share for share in shares]) == pytest.approx(index)


@given(st.lists(NUMBERS, min_size=2, max_size=30, unique=True), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_t_interval_agrees_with_scipy(values: list[float], level: float) -> None:
    found = statistic.t_interval(values, level)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9, abs=1e-3)


def test_the_t_interval_covers_the_mean_as_often_as_it_says() -> None:
    generator = np.random.default_rng(1)
    hits = sum(statistic.t_interval(generator.normal(7, 2, 5)).contains(7) for _ in range(2000))
    assert hits / 2000 == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 2000))  # three sigmas


@given(st.lists(NUMBERS, min_size=2, max_size=30, unique=True), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_of_an_estimate_agrees_with_scipy(values: list[float], level: float) -> None:
    assume(np.std(values) > 0)  # the square of 1e-200 is 0 in floating point
    found = statistic.estimate(values).interval(level)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(level)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9, abs=1e-3)


def test_one_sample_and_equal_samples_have_no_interval_and_a_constant_has() -> None:
    assert statistic.estimate([5.0]) == Estimate(5.0, None, 0)
    assert statistic.estimate([5.0]).interval() is None
    assert statistic.estimate([0.1] * 7) == Estimate(pytest.approx(0.1), 0.0, 6)
    assert statistic.estimate([0.1] * 7).interval() is None
    assert Estimate.constant(5.0).interval() == statistic.Interval(5.0, 5.0)


SMALL = st.lists(st.floats(1, 10).map(lambda value: round(value, 3)), min_size=2, max_size=8, unique=True)


@given(SMALL, SMALL)
def test_a_difference_of_means_is_welchs_as_in_scipy(one: list[float], other: list[float]) -> None:
    found = statistic.weighted([(1, statistic.estimate(one)), (-1, statistic.estimate(other))])
    expected = stats.ttest_ind(one, other, equal_var=False)
    interval, known = found.interval(), expected.confidence_interval(0.95)
    assert interval is not None
    assert found.freedom == pytest.approx(expected.df)
    assert (interval.low, interval.high) == pytest.approx((known.low, known.high), rel=1e-6, abs=1e-9)


def test_a_weighted_sum_needs_the_error_of_each_part_that_counts() -> None:
    known, single, equal = (statistic.estimate(values) for values in ([1.0, 3.0], [5.0], [4.0, 4.0]))
    assert statistic.weighted([(1, known), (1, single)]).interval() is None
    assert statistic.weighted([(1, known), (0, single)]) == known
    assert statistic.weighted([(1, equal), (2, equal)]).interval() is None
    assert statistic.weighted([(1, known), (1, equal)]).error == known.error
    assert statistic.weighted([(2, known), (1, Estimate.constant(1.0))]) == Estimate(5.0, 2.0, 1)
    assert statistic.weighted([]) == Estimate(0, 0.0, math.inf)


def test_a_ratio_has_relative_errors_on_the_logarithmic_scale() -> None:
    found = statistic.log_ratio(statistic.estimate([8.0, 12.0]), Estimate.constant(5.0))
    assert (found.value, found.error, found.freedom) == pytest.approx((math.log(2), 0.2, 1))
    with pytest.raises(ValueError, match="not above 0"):
        statistic.log_ratio(Estimate.constant(0.0), Estimate.constant(5.0))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_the_cdf_agrees_with_scipy(values: list[int]) -> None:
    found, expected = statistic.cdf(values), stats.ecdf(values)
    assert found.x == tuple(expected.cdf.quantiles)
    assert found.share == pytest.approx(expected.cdf.probabilities)


def test_an_interval_scaled_by_a_negative_number_still_goes_up() -> None:
    assert statistic.Interval(1, 2).scaled(-3) == statistic.Interval(-6, -3)


ONE_SERIES: list[Callable[[object], object]] = [
    statistic.mean,
    statistic.sample_sd,
    statistic.population_sd,
    statistic.median,
    statistic.iqr,
    statistic.population_cov,
    statistic.jain_index,
    statistic.t_interval,
    statistic.estimate,
    lambda values: statistic.cv_rmse(values, values),
    statistic.cdf,
]


@pytest.mark.parametrize("function", ONE_SERIES)
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "there are 0 samples"),
        ([1.0, math.nan, 3.0], "sample 1 is nan"),
        ([1.0, 2.0, math.inf], "sample 2 is inf"),
        ([1.0, None], "sample 1 is absent"),
        (np.ones((2, 2)), "2 dimensions"),
    ],
)
def test_no_statistic_of_nothing_or_of_what_is_no_number(
    function: Callable[[object], object], values: object, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        function(values)


@pytest.mark.parametrize("function", [statistic.sample_sd, statistic.t_interval])
def test_one_sample_has_no_sample_sd(function: Callable[[object], object]) -> None:
    with pytest.raises(ValueError, match="there are 1 samples, and at least 2 are needed"):
        function([5.0])


def test_what_is_undefined_is_refused() -> None:
    with pytest.raises(ValueError, match="mean is 0"):
        statistic.population_cov([-1, 1])
    with pytest.raises(ValueError, match="the sum of both means is 0"):
        statistic.cv_rmse([-1], [1])
    with pytest.raises(ValueError, match="2 samples cannot be paired with 1"):
        statistic.cv_rmse([1, 2], [1])
    with pytest.raises(ValueError, match="all shares are 0"):
        statistic.jain_index([0, 0])
    with pytest.raises(ValueError, match="share 1 is negative"):
        statistic.jain_index([1, -1])
    with pytest.raises(ValueError, match=r"not in \[0, 1\]"):
        statistic.quantile([1], 1.5)
    with pytest.raises(ValueError, match="confidence level"):
        statistic.t_interval([1, 2], 1.0)


def test_an_interval_says_which_level_it_has_and_a_level_of_0_or_1_is_refused() -> None:
    found = statistic.t_interval([1.0, 2.0, 3.0], 0.8)
    assert found.level == 0.8
    assert found.high - 2 == pytest.approx(stats.t.ppf(0.9, 2) / math.sqrt(3))
    for level in (0.0, 1.0):
        with pytest.raises(ValueError, match="level"):
            statistic.t_interval([1.0, 2.0, 3.0], level)


def test_an_interval_contains_its_ends() -> None:
    found = statistic.Interval(1.0, 2.0, 0.95)
    assert [found.contains(value) for value in (0.999, 1.0, 1.5, 2.0, 2.001)] == [False, True, True, True, False]
