"""The parts of a criterion: intervals decide, hold together, and what is missing is never met."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.compare import published
from testbed_reproductions.check import (
    AnyOf,
    Holds,
    LittleSpread,
    MoreSpread,
    Share,
    Within,
    above,
    alike,
    apart,
    below,
    classify,
    decide,
    estimate,
    minus,
    near,
    over,
)
from testbed_reproductions.paper import (
    cloudcmp,
    interdatacenter,
    interdatacenter_path,
    links,
    object_store_check,
    throughput_profile,
    throughput_profile_check,
)


def test_the_interval_of_a_mean_is_students() -> None:
    """t(0.975, 2) = 4.3027 times 0.2 / sqrt(3)."""
    found = estimate((1, [1.0, 1.2, 1.4]))
    assert found is not None
    low, high = found.interval(0.05)
    assert (low, high) == pytest.approx((1.2 - 0.49683, 1.2 + 0.49683), abs=1e-5)


def test_a_difference_of_samples_has_the_freedom_of_welch() -> None:
    found = estimate((1, [3.0, 4.0, 5.0]), (-1, [1.0, 1.0, 1.0]))
    assert found is not None
    assert (found.mean, found.error, found.freedom) == pytest.approx((3.0, 1 / math.sqrt(3), 2.0))


def test_a_difference_is_of_pairs_or_of_samples_of_unlike_size() -> None:
    """Pairs: 1, 2 and 3, so an error of 1 / sqrt(3). Samples: means 4 and 2, and 1/3 + 2/2 of Welch."""
    pairs, samples = minus([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]), minus([3.0, 4.0, 5.0], [1.0, 3.0])
    assert pairs is not None
    assert samples is not None
    assert (pairs.mean, pairs.error, pairs.freedom) == pytest.approx((2.0, 1 / math.sqrt(3), 2.0))
    freedom = (1 / 3 + 1) ** 2 / ((1 / 3) ** 2 / 2 + 1**2 / 1)
    assert (samples.mean, samples.error, samples.freedom) == pytest.approx((2.0, math.sqrt(4 / 3), freedom))


def test_a_slope_is_of_seeds_where_all_have_as_many_and_of_samples_otherwise() -> None:
    """The slope over three steps is half of the third less the first, whatever the second is."""
    steps = [[3.0, 4.0], [9.0, 9.5], [1.0, 2.0]]
    trend = throughput_profile_check.trend
    paired, samples = trend(steps), trend([[3.0, 4.0, 5.0], *steps[1:]])
    assert paired is not None
    assert samples is not None
    assert (paired.mean, paired.error) == (-1.0, 0.0)
    assert samples.mean == pytest.approx(-1.25)
    assert samples.error == pytest.approx(math.sqrt(1 / 3 + 0.5 / 2) / 2)  # the variances are 1 and 0.5
    assert trend([[3.0, None], *steps[1:]]) is None


def test_every_part_says_what_it_is_and_what_was_found() -> None:
    """By hand: CoV 0.5 and 0.1; 3 of 4 is a beta from 19 to 99 %."""
    wide, narrow = [0.5, 1.0, 1.5], [0.9, 1.0, 1.1]
    parts = {
        Within("mean", estimate((1, [1.0, 1.0]))): "1",
        Within("no mean", None): "fewer than two values",
        Share("share", 3, 4): "3 of 4, 19% to 99%",
        Share("no share", 0, 0): "no runs",
        Holds("it", True, "so"): "so",
        AnyOf("any", (Holds("a", False, "1"), Holds("b", True, "2"))): "b (2)",
        AnyOf("none", (Holds("a", False, "1"),)): "",
        AnyOf("nothing", ()): "nothing was seen",
    }
    assert {str(part.decide()) for part in parts} == {
        f"{part.says} ({found})" if found else part.says for part, found in parts.items()
    }
    more, little = MoreSpread("more", [wide], [narrow]).decide(), LittleSpread("little", narrow, 0.1).decide()
    assert more.found.startswith("CoV 0.5 and 0.1, ratio 5 [")
    assert little.found.startswith("CoV 0.1 [")
    assert (more.says, little.says) == ("more", "little")
    for part in (MoreSpread("more", [[]], [narrow]), LittleSpread("little", [0.0, 0.0], 0.1)):
        decided = part.decide()
        assert (decided.says, decided.found) == (part.says, "fewer than two values, or a mean of 0")
    assert MoreSpread("more", [wide], [[1.0, 1.0]]).decide().found == "CoV 0.5 and 0"


def test_the_intervals_of_spread_are_those_of_f_and_chi_square() -> None:
    """CoV 0.5 over 0.1 with 2 and 2 degrees of freedom: F(0.975; 2, 2) = 39, so 25 / 39 to 25 * 39."""
    part = MoreSpread("it", [[0.5, 1.0, 1.5]], [[0.9, 1.0, 1.1]])
    assert part.decide().found.endswith("ratio 5 [0.8, 31]")  # the roots of 0.641 and 975
    found = LittleSpread("it", [0.9, 1.0, 1.1], 0.1).decide().found
    assert found == "CoV 0.1 [0.052, 0.63]"  # 0.1 sqrt(2 / 7.378), 0.1 sqrt(2 / 0.05064)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, None], [1.0, math.nan], [math.inf, 1.0], [None, None]])
def test_what_is_missing_or_single_is_never_met(values: list[float | None]) -> None:
    parts = [above("it", estimate((1, values)), -1e9), near("it", values, 1.0, 1e9), alike("it", values, values, 9.0)]
    parts += [below("it", minus(values, values), 1e9), Within("it", estimate())]
    assert {each.verdict for each in decide(parts)} == {"cannot tell"}


def test_nothing_seen_is_never_met() -> None:
    parts = [Holds("it", None), Share("it", 0, 0), AnyOf("it", ()), MoreSpread("it", [], [[1.0, 2.0]])]
    assert {each.verdict for each in decide(parts)} == {"cannot tell"}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1.0, 1.1, 1.2], "met"),
        ([0.0, 1.0, 2.0], "cannot tell"),
        ([-1.0, -1.1, -1.2], "not met"),
        ([0.0, 0.0], "not met"),
    ],
)
def test_an_interval_that_straddles_the_bound_decides_nothing(values: list[float], verdict: str) -> None:
    (found,) = decide([above("it", estimate((1, values)))])
    assert found.verdict == verdict


def test_equal_seeds_have_no_interval_and_meet_a_closed_bound() -> None:
    (found,) = decide([Within("it", estimate((1, [2.0, 2.0])), 2.0, 2.0)])
    assert found.verdict == "met"


def test_a_row_is_met_by_parts_that_are_met_alone_and_not_met_only_together() -> None:
    """One interval of 95 % is above 0, and one is below; those of 20 parts together, at 99.75 %, are neither."""
    is_above, is_below = ([sign * each for each in (0.1, 0.2, 0.3, 0.2)] for sign in (1, -1))
    met, unmet = above("it", estimate((1, is_above))), above("it", estimate((1, is_below)))
    assert [each.verdict for each in decide([met] * 20)] == ["met"] * 20
    assert decide([unmet])[0].verdict == "not met"
    assert [each.verdict for each in decide([unmet, *[met] * 19])] == ["cannot tell", *["met"] * 19]
    assert decide([unmet, *[Holds("counted", True)] * 19])[0].verdict == "not met"
    assert [each.verdict for each in classify([met] * 20, 0.05)] == ["cannot tell"] * 20


def test_of_any_the_parts_that_are_met_hold_together_and_those_that_are_not_alone() -> None:
    is_above, is_below = ([sign * each for each in (0.1, 0.2, 0.3, 0.2)] for sign in (1, -1))
    met, unmet = above("it", estimate((1, is_above))), above("it", estimate((1, is_below)))
    assert decide([AnyOf("any", (met,))])[0].verdict == "met"
    assert decide([AnyOf("any", (met, *[unmet] * 19))])[0].verdict == "cannot tell"
    assert decide([AnyOf("any", (unmet,) * 20)])[0].verdict == "not met"


def test_what_is_shown_is_the_interval_that_decided() -> None:
    is_above, is_below = ([sign * each for each in (0.1, 0.2, 0.3, 0.2)] for sign in (1, -1))
    near_by, far = above("it", estimate((1, is_above))), above("it", estimate((1, [each - 9 for each in is_below])))
    found = decide([near_by, far])
    assert near_by.estimate is not None
    assert far.estimate is not None
    for each, part, chance in zip(found, (near_by, far), (0.05, 0.025), strict=True):
        assert part.estimate is not None
        low, high = part.estimate.interval(chance)
        assert each.found == f"{part.estimate.mean:.5g} [{low:.5g}, {high:.5g}]"


@pytest.mark.parametrize(
    ("hits", "of", "verdict"), [(20, 20, "met"), (13, 13, "met"), (12, 12, "cannot tell"), (10, 20, "not met")]
)
def test_a_share_of_runs_is_decided_by_the_exact_interval(hits: int, of: int, verdict: str) -> None:
    """More than 75 %: 0.025 ** (1 / 13) is 0.753, 0.025 ** (1 / 12) is 0.735."""
    (found,) = decide([Share("it", hits, of, low=0.75)])
    assert found.verdict == verdict


def test_two_means_are_alike_apart_or_nobody_can_tell_by_one_threshold() -> None:
    one = [1.0, 1.0, 1.0]
    for other, is_alike, is_apart in (
        ([1.04, 1.04, 1.04], "met", "not met"),
        ([1.10, 1.10, 1.10], "not met", "met"),
        ([1.0, 1.05, 1.11], "cannot tell", "cannot tell"),
    ):
        found = [decide([each("it", one, other, 0.05)])[0].verdict for each in (alike, apart)]
        assert found == [is_alike, is_apart]


def test_a_spread_is_more_than_another_only_if_the_interval_of_f_says_so() -> None:
    wide, narrow = [[1.0, 1.5, 0.5, 1.2]], [[1.0, 1.01, 0.99, 1.0]]
    assert decide([MoreSpread("it", wide, narrow)])[0].verdict == "met"
    assert decide([MoreSpread("it", narrow, wide)])[0].verdict == "not met"
    assert decide([MoreSpread("it", wide, wide)])[0].verdict == "cannot tell"
    assert decide([MoreSpread("it", wide, [[1.0, 1.0]])])[0].verdict == "met"
    assert decide([MoreSpread("it", [[1.0, 1.0]], [[1.0, 1.0]])])[0].verdict == "not met"


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1.0] * 5, "met"),
        ([1.0, 1.01, 0.99, 1.0, 1.0], "met"),
        ([1.0, 1.05, 0.95], "cannot tell"),
        ([1.0, 3.0] * 5, "not met"),
    ],
)
def test_a_spread_is_little_only_if_the_interval_of_chi_square_says_so(values: list[float], verdict: str) -> None:
    assert decide([LittleSpread("it", values, 0.05)])[0].verdict == verdict
    assert decide([LittleSpread("it", values[:1], 0.05)])[0].verdict == "cannot tell"


def test_a_ratio_to_nothing_is_absent() -> None:
    assert over([1.0, 2.0, None], [0.0, 4.0, 1.0]) == [None, 0.5, None]


RUNS = 1000
RARELY = 0.05 + 3 * math.sqrt(0.05 * 0.95 / RUNS)


def sample(generator: np.random.Generator, mean: float, seeds: int) -> Within:
    return above("it", estimate((1, generator.normal(mean, 1.0, seeds).tolist())))


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("others", [0.0, 1.0, 1000.0])
def test_a_row_of_which_one_part_is_not_met_is_rarely_called_met(seeds: int, others: float) -> None:
    """That part's true mean lies on its bound; those of the four others on it, above it and far above it."""
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(RUNS):
        parts = [sample(generator, mean, seeds) for mean in (0.0, *[others] * 4)]
        wrong += {each.verdict for each in decide(parts)} == {"met"}
    assert wrong / RUNS <= RARELY


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("kind", ["all", "any"])
def test_a_row_that_is_met_is_rarely_called_not_met(seeds: int, kind: str) -> None:
    """Five parts whose true mean lies on the bound; or one such, and four far from met, of which one must be."""
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(RUNS):
        means = [0.0] * 5 if kind == "all" else [0.0, *[-1000.0] * 4]
        parts = [sample(generator, mean, seeds) for mean in means]
        every = parts if kind == "all" else [AnyOf("any", tuple(parts))]
        wrong += "not met" in {each.verdict for each in decide(every)}
    assert wrong / RUNS <= RARELY


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_any_of_parts_of_which_none_is_met_is_rarely_called_met(seeds: int) -> None:
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(RUNS):
        parts = tuple(sample(generator, 0.0, seeds) for _ in range(5))
        wrong += decide([AnyOf("any", parts)])[0].verdict == "met"
    assert wrong / RUNS <= RARELY


LEVELS = {(provider, what): mbit * 1e6 for provider, what, mbit, _ in interdatacenter_path.LEVELS_MBIT}
PRINTED = {
    "amazon-azure-2015": {
        "run-length": interdatacenter_path.RUN_S,
        "traffic-total": interdatacenter_path.ALL_S,
        "tcp-mean-amazon": LEVELS["Amazon", "mean"],
        "tcp-max-amazon": LEVELS["Amazon", "largest"],
        "tcp-p75-amazon": LEVELS["Amazon", "p75"],
        "tcp-min-amazon": LEVELS["Amazon", "smallest"],
        "tcp-mean-azure": LEVELS["Azure", "mean"],
        "tcp-max-azure": LEVELS["Azure", "largest"],
        "tcp-p5-azure": LEVELS["Azure", "p5"],
        "tcp-min-azure": interdatacenter_path.AZURE_LEAST_MBIT * 1e6,
        "tcp-mean-gain": interdatacenter_path.GAIN,
        "tcp-cov-p95": interdatacenter_path.COV,
        "tcp-region-gap": interdatacenter_path.GAP,
        "tcp-degraded": interdatacenter.DEGRADED_BPS,
        "udp-us-eu": interdatacenter_path.UDP_SHARE * 850e6,
        "zones-degraded": interdatacenter.ZONES_DEGRADED_BPS,
        "zones-cv-rmse": interdatacenter.CV_RMSE,
        "rtt-mean-amazon": interdatacenter_path.RTT_MEAN_MS["Amazon"] / 1e3,
        "rtt-mean-azure": interdatacenter_path.RTT_MEAN_MS["Azure"] / 1e3,
        "rtt-eu-ap-amazon": interdatacenter_path.FAR_RTT_MS["Amazon"] / 1e3,
        "rtt-eu-ap-azure": interdatacenter_path.FAR_RTT_MS["Azure"] / 1e3,
        "rtt-cov-tail": interdatacenter_path.UNSTEADY,
        "step-high": interdatacenter.HIGH_BPS,
        "step-low": interdatacenter.LOW_BPS,
        "step-drop": interdatacenter.DROP,
        "step-time": interdatacenter.STEP_S,
        "step-time-share": interdatacenter.SHARE,
        "step-volume": interdatacenter.VOLUME_BYTES[0],
        "step-cov-ratio": interdatacenter.COV_RATIO,
        "step-visible-from": interdatacenter.VISIBLE_FROM_S,
    },
    "s3-cloudfront-2016": {
        **{f"goodput-{store}": kib * 8192 for store, kib in object_store_check.MEAN_KIB.items()},
        **{
            f"goodput-{store}-from-{home}": object_store_check.NEAR_KIB[store] * 8192
            for store, home in object_store_check.NEAR.items()
        },
        "near-gain-mean": object_store_check.MEAN_GAIN,
        "near-gain-ap": object_store_check.NEAR_GAIN["ap"],
        "near-gain-sa": object_store_check.NEAR_GAIN["sa"],
        "cdn-gain-negligible": object_store_check.NEGLIGIBLE_SHARE,
        "cdn-gain-max-1mib": object_store_check.SMALL_MOST_KIB * 8192,
        "cdn-worst": object_store_check.WORST,
        "cdn-worse-same-region": object_store_check.NEAR_SHARE,
        "clients": object_store_check.ALL_HOMES,
        "downloads-per-cycle": object_store_check.PER_CYCLE,
        "download-spacing": object_store_check.PAUSE_S,
        "cycle-period": object_store_check.PERIOD_S,
        "cycles-per-client": object_store_check.CYCLES,
    },
    "cloudcmp-2010": {
        "nic": cloudcmp.NIC_BPS,
        "intra-rtt": cloudcmp.INTRA_RTT_S,
        "inter-median-c1": cloudcmp.INTER_BPS,
        "inter-median-c4": cloudcmp.INTER_BPS,
    },
    "google-cloud-emulated": {
        "rate": throughput_profile.RATE_BPS,
        "emulated-rtt-max": throughput_profile.FAR_RTT_S,
        "emulated-1in500": throughput_profile.BOUND_BPS,
        "cloud-80ms": throughput_profile_check.OUTLIER_SHARES["busy"] * 10e9,
        "cloud-81ms": throughput_profile_check.OUTLIER_SHARES["idle"] * 10e9,
        "loss-smallest": throughput_profile_check.LOW_LOSS,
    },
    "physical-virtual-links-2015": {"jitter": links.JITTER_S, "udp-loss": links.LOSS, "mb": links.MB},
}
CASES = [(profile, key, value) for profile, numbers in PRINTED.items() for key, value in numbers.items()]


@pytest.mark.parametrize(("profile", "key", "value"), CASES, ids=[f"{profile} {key}" for profile, key, _ in CASES])
def test_the_numbers_of_criteria_are_those_of_the_published_profiles(profile: str, key: str, value: float) -> None:
    fact = published.find(profile)[0].facts[key]
    number = fact.value or fact.at_least or fact.at_most
    assert number is not None
    assert abs(number.value) == pytest.approx(abs(value), rel=1e-12)
