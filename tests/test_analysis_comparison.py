"""Two runs against each other: effects, Holm's correction, verdicts."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

from results import plain
from testbed.analysis.paired import CellComparison, compare, noise_floor
from testbed.analysis.significance import noise, power
from testbed.analysis.significance.multiple import holm, shares
from testbed.analysis.significance.sequential import levels
from testbed.compare.look import Terms
from testbed.compare.seeds_ahead import seeds_ahead
from testbed.compare.side import Measured, single

SEEDS = 10


def run(mean: float, sd: float, seed: int, count: int = SEEDS) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, sd, count)


def cell(base: object, candidate: object, tolerance: float = 0.03, **options: object) -> CellComparison[str]:
    (found,) = compare({"cell": (base, candidate)}, tolerance, **options)  # type: ignore[dict-item,arg-type]
    return found


def test_equal_runs_are_the_same_even_without_tolerance_but_one_seed_says_nothing_of_others() -> None:
    """All trials of n equal pairs are on one of two levels in 2^(1-2n) of cases: 50, 12.5, 3.1 %."""
    base = run(1e9, 1e8, 1)
    assert cell(base, base, tolerance=0).verdict == "same"
    assert cell(base[:2], base[:2], tolerance=0).verdict == "same"  # seeds differ, and each is met
    for count, verdict in ((1, "cannot tell"), (2, "cannot tell"), (3, "same")):
        alike = cell([1e9] * count, [1e9] * count, tolerance=0)
        assert (alike.verdict, alike.seeds_needed) == (verdict, 3)
    assert cell([0.0] * 3, [0.0] * 3, tolerance=0).verdict == "same"


def test_a_clear_loss_is_worse_and_a_clear_gain_better() -> None:
    base = run(1e9, 1e7, 1)
    assert cell(base, 0.8 * base).verdict == "worse"
    assert cell(base, 1.2 * base).verdict == "better"


def test_where_less_is_better_the_verdict_turns_round() -> None:
    base = run(0.1, 0.001, 1)
    assert cell(base, 1.2 * base, is_more_better=False).verdict == "worse"
    assert cell(base, 0.8 * base, is_more_better=False).verdict == "better"


def test_a_difference_within_the_tolerance_is_the_same_however_certain() -> None:
    base = run(1e9, 1e6, 1)
    found = cell(base, 0.99 * base, tolerance=0.03)
    assert found.verdict == "same"
    assert found.p is not None
    assert found.p < 1e-6


def test_a_difference_that_noise_hides_cannot_be_told() -> None:
    """A drop of 10 % in noise of 30 %: of ten pairs, a z-test that knows the noise finds 12 %."""
    found = [cell(run(1e9, 3e8, seed), run(0.9e9, 3e8, 1000 + seed)).verdict for seed in range(200)]
    assert found.count("cannot tell") >= 0.8 * len(found)
    assert cell(run(1e9, 3e8, 3), run(0.9e9, 3e8, 4)).verdict == "cannot tell"


def test_one_pair_that_is_not_equal_cannot_be_told() -> None:
    found = cell([1e9], [0.5e9])
    assert found.verdict == "cannot tell"
    assert (found.interval, found.p, found.noise_floor) == (None, None, None)
    assert found.relative == pytest.approx(-0.5)


def test_effect_and_interval_are_those_of_the_paired_t_test() -> None:
    base, candidate = run(1e9, 1e8, 1), run(0.9e9, 1e8, 2)
    found, expected = cell(base, candidate), stats.ttest_rel(candidate, base)
    interval = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high))
    assert found.effect == pytest.approx(np.mean(candidate - base))
    assert found.relative_interval is not None
    assert found.relative_interval.low == pytest.approx(interval.low / base.mean())


def test_the_noise_floor_is_what_two_sets_of_the_same_seeds_differ_by() -> None:
    floors = [noise_floor(run(5, 1, seed)) for seed in range(400)]
    apart = [abs(run(5, 1, seed).mean() - run(5, 1, seed + 1000).mean()) for seed in range(400)]
    below = np.mean([gap <= floor for gap, floor in zip(apart, floors, strict=True)])
    assert below == pytest.approx(0.95, abs=0.035)  # three sigmas of 400 draws


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_the_noise_floor_covers_however_few_the_seeds(count: int) -> None:
    """With 2n - 2 degrees of freedom it was 0.85 for two seeds."""
    draws = np.random.default_rng(1).normal(5, 1, (4000, 2, count))
    below = [abs(one.mean() - other.mean()) <= noise_floor(one) for one, other in draws]
    assert np.mean(below) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 4000))


def test_an_effect_must_beat_the_noise_of_pairs_and_not_that_of_seeds() -> None:
    """Seeds that differ by 10 %, pairs by 0.2 %, a drop of 5 %: it was found in 2 %."""
    found = 0
    for seed in range(100):
        base = run(1e9, 1e8, seed)
        found += cell(base, 0.95 * base + run(0, 2e6, 1000 + seed)).verdict == "worse"
    assert found >= 95


def test_a_difference_that_is_the_same_in_all_pairs_is_as_certain_as_their_signs() -> None:
    """Ten coins that all fall the same way: the noise that would give a t is not there, and p is not 0."""
    base = run(1e9, 2e8, 1)
    found = cell(np.round(base), np.round(base) - 2e7, tolerance=0.01)
    assert found.p == 2 / 2**SEEDS
    assert found.verdict == "worse"


@pytest.mark.parametrize(("count", "verdict"), [(2, "cannot tell"), (3, "worse"), (8, "worse")])
def test_copies_of_one_pair_are_told_apart_where_two_levels_would_not_do_as_much(count: int, verdict: str) -> None:
    """They were "cannot tell", however many; before that they were so many observations, with p = 0."""
    found, one = cell([1e9] * count, [0.5e9] * count), cell([1e9], [0.5e9])
    assert (found.is_random, found.pairs, found.is_exact) == (False, count, False)
    assert (found.verdict, found.interval, found.noise_floor) == (verdict, None, None)
    assert found.p == pytest.approx(2 * 4.0**-count)
    assert found.seeds_needed == max(3, count)
    assert (one.verdict, one.is_random, one.p) == ("cannot tell", True, None)
    assert cell([1e9] * count, [1e9] * count).verdict == ("same" if count >= 3 else "cannot tell")
    assert cell([0.0] * 3, [0.0, 0.0, 1.0], absolute_tolerance=9.0).is_random


def test_a_metric_that_is_0_in_the_base_needs_an_absolute_tolerance() -> None:
    base, candidate = [0.0, 0.0, 0.0], [2.0, 3.0, 4.0]
    found = cell(base, candidate, is_more_better=False)
    assert found.verdict == "worse"
    assert found.relative is None
    assert cell(base, candidate, is_more_better=False, absolute_tolerance=10.0).verdict == "same"


def test_runs_of_the_same_thing_with_other_seeds_are_rarely_called_different() -> None:
    false = 0
    for trial in range(100):
        cells = {key: (run(1, 0.1, 7 * trial + key), run(1, 0.1, 10_000 + 7 * trial + key)) for key in range(7)}
        false += any(each.verdict in ("better", "worse") for each in compare(cells, tolerance=0.0))
    assert false / 100 <= 0.05


def test_holms_correction_is_that_of_the_textbook() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    with pytest.raises(ValueError, match="p-value"):
        holm([1.5])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_between_the_raw_value_and_bonferroni_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for raw, found in zip(p_values, adjusted, strict=True):
        assert raw <= found <= min(1, len(p_values) * raw) + 1e-12
    order = np.argsort(p_values, kind="stable")
    assert np.diff(np.array(adjusted)[order]).min(initial=0) >= 0


def test_primary_cells_have_most_of_the_error_and_all_of_it_if_they_are_alone() -> None:
    assert shares([True, False, True, False], 0.9) == pytest.approx((0.45, 0.05, 0.45, 0.05))
    assert shares([True, True], 0.9) == shares([False, False], 0.9) == (0.5, 0.5)
    assert shares([], 0.9) == ()


def test_holm_by_weight_is_bonferronis_for_the_first_and_gives_what_is_left_to_the_others() -> None:
    """By hand: 0.01/0.9 is the smallest; then all of the error is for the other."""
    assert holm([0.01, 0.04], [0.9, 0.1]) == pytest.approx((0.01 / 0.9, 0.04))
    assert holm([0.04, 0.001], [0.9, 0.1]) == pytest.approx((0.04, 0.01))
    assert holm([0.01, 0.04, 0.03, 0.005], [2, 2, 2, 2]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    with pytest.raises(ValueError, match="weight"):
        holm([0.5], [0])


def test_looks_share_the_error() -> None:
    assert sum(levels([0.3, 0.6, 1.0])) == pytest.approx(0.05)
    assert sum(levels([0.3, 0.6], level=0.9)) < 0.1
    assert levels([1.0]) == pytest.approx((0.05,))
    for wrong in ([0.5, 0.5], [0.0, 1.0], [0.5, 1.1]):
        with pytest.raises(ValueError, match="fractions"):
            levels(wrong)


@pytest.mark.parametrize(("tolerance", "level"), [(0.0, 0.95), (0.0, 0.999), (0.03, 0.95)])
def test_the_smallest_effect_is_found_in_80_percent(tolerance: float, level: float) -> None:
    draws = np.random.default_rng(3).normal(0, 0.02, (1000, 8))
    draws[0] *= 0.02 / draws[0].std(ddof=1)  # a draw whose noise looks as it is
    effect = cell([1.0] * 8, 1 + draws[0], tolerance, level=level).smallest_effect
    assert effect is not None
    found = [cell([1.0] * 8, 1 - effect + each, tolerance, level=level).verdict == "worse" for each in draws]
    assert np.mean(found) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 1000))


@pytest.mark.parametrize("sd", [0.02, 0.1])
def test_with_the_seeds_needed_both_answers_come_in_80_percent_at_least(sd: float) -> None:
    first = np.random.default_rng(3).normal(0, sd, 8)
    first *= sd / first.std(ddof=1)
    seeds = cell([1.0] * 8, 1 + first).seeds_needed
    assert seeds is not None
    draws = np.random.default_rng(4).normal(0, sd, (1000, seeds))
    for effect, verdict in ((0.0, "same"), (-0.06, "worse")):
        found = [cell([1.0] * seeds, 1 + effect + each).verdict == verdict for each in draws]
        assert np.mean(found) >= 0.8 - 4 * np.sqrt(0.16 / 1000)
    assert cell([1.0] * 8, 1 + first, tolerance=0).seeds_needed is None


def test_more_cells_make_one_finding_less_certain() -> None:
    base, candidate = run(1, 0.1, 1), run(0.85, 0.1, 2)
    alone = compare({0: (base, candidate)}, 0.0)[0]
    among = compare({0: (base, candidate)} | {key: (base, run(1, 0.1, key)) for key in range(3, 40)}, 0.0)[0]
    assert alone.p is not None
    assert among.p is not None
    assert alone.p < among.p


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        cell([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="absent"):
        cell([1.0, None], [1.0, 2.0])
    with pytest.raises(ValueError, match="tolerance"):
        cell([1.0], [1.0], tolerance=-1)


def sides(seeds: int, cells: int, shared: float, own: float, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Base and candidate of each cell: what the seed does to both, and what it does to each."""
    rng = np.random.default_rng(seed)
    common = rng.normal(1, shared, (cells, 1, seeds))
    return [(one, other) for one, other in common + rng.normal(0, own, (cells, 2, seeds))]


def test_the_prior_is_that_of_the_moderated_t() -> None:
    """Smyth 2004, section 6.2, with another solver: log variances have the mean and variance that the prior gives."""
    rows = np.random.default_rng(5).normal(0, 1, (6, 4)) * np.array([1, 2, 3, 4, 5, 6])[:, None]
    variances, df = rows.var(axis=1, ddof=1), 3.0
    logs = np.log(variances) - special.digamma(df / 2) + np.log(df / 2)
    excess = logs.var(ddof=1) - special.polygamma(1, df / 2)
    prior_df = 2 * optimize.brentq(lambda x: special.polygamma(1, x) - excess, 1e-3, 1e3)
    prior = np.exp(logs.mean() + special.digamma(prior_df / 2) - np.log(prior_df / 2))
    assert noise._prior(variances, np.full(6, df)) == pytest.approx((prior, prior_df), rel=1e-6)


def test_the_prior_is_found_again_in_many_cells() -> None:
    """Variances that are drawn as the model says: 4 over chi-squared of 8 degrees of freedom, over 8, for the prior."""
    rng = np.random.default_rng(2)
    variances = 4 / (rng.chisquare(8, 20_000) / 8) * rng.chisquare(5, 20_000) / 5
    assert noise._prior(variances, np.full(20_000, 5)) == pytest.approx((4, 8), rel=0.05)


def test_cells_that_are_alike_know_their_noise_together_and_cells_that_are_not_alone() -> None:
    cells = sides(5, 18, 0, 0.1)
    alike, alone = noise.pooled(cells), [noise.own(*each) for each in cells]
    assert np.std([each.variance for each in alike]) < 0.6 * np.std([each.variance for each in alone])
    assert min(each.df for each in alike) > 3 * alone[0].df
    unlike = noise.pooled([each for sd in (1e-4, 1e-3, 1e-2, 0.1) for each in sides(5, 5, 0, sd, int(1 / sd))])
    assert max(each.df for each in unlike) < 6
    assert unlike[0].variance < 1e-5 * unlike[-1].variance


def test_few_cells_stand_alone() -> None:
    few = sides(5, noise.CELLS_MIN - 1, 0, 0.1)
    assert noise.pooled(few) == tuple(noise.own(*each) for each in few)


def matter(seeds: int, shared: float) -> float:
    """How often the same seeds are found to make the sides alike."""
    found = [sides(seeds, 18, shared, 0.01, seed) for seed in range(200)]
    paired = [np.array([noise.own(*each).variance for each in cells]) for cells in found]
    apart = [np.array([one.var(ddof=1) + other.var(ddof=1) for one, other in cells]) for cells in found]
    df = np.full(18, seeds - 1)
    return float(np.mean([noise._seeds_matter(*both, df) for both in zip(paired, apart, strict=True)]))


@pytest.mark.parametrize("seeds", [3, 8])
def test_seeds_that_make_both_sides_alike_are_used_and_others_are_not(seeds: int) -> None:
    assert matter(seeds, 0.0) <= 0.06 + 3 * np.sqrt(0.06 / 200)
    assert matter(seeds, 0.02) == 1
    together = noise.pooled(sides(seeds, 18, 0.2, 0.01))
    assert np.mean([each.variance for each in together]) == pytest.approx(2e-4, rel=0.4)
    one_in_18 = noise.pooled([*sides(8, 17, 0.0, 0.1), *sides(8, 1, 0.1, 1e-4, 2)])
    assert one_in_18[-1].variance < 0.02 * one_in_18[0].variance  # drawn towards the others, and still far below


def levels_apart(seeds: int, cells: int, drop: float = 0.729, cv: float = 0.01) -> dict[int, tuple[np.ndarray, ...]]:
    """Cells of noise alike; the first drops from 47.5 to 12.9, as a real one did."""
    one, other = 47.5 * (1 + cv * np.random.default_rng(1).normal(size=(2, cells, seeds)))
    other[0] *= 1 - drop
    return dict(enumerate(zip(one, other, strict=True)))


def by_kind(cells: dict[int, tuple[np.ndarray, ...]]) -> tuple[CellComparison[int], ...]:
    return compare(cells, 0.03, kind=lambda key: "goodput")  # type: ignore[arg-type]


@pytest.mark.parametrize("cells", [1, 2, 4, 8])
@pytest.mark.parametrize("drop", [0.3, 0.729, 0.9])
def test_a_drop_of_many_times_the_noise_is_found_with_three_seeds_in_however_few_cells(cells: int, drop: float) -> None:
    """With 2 to 4 cells p was 2^-5 times as many, and -72.9 % was "cannot tell"."""
    found = by_kind(levels_apart(3, cells, drop))
    assert found[0].verdict == "worse"
    assert (found[0].p, found[0].is_by_levels) == (pytest.approx(1 / 32, abs=0.015), found[0].p == 1 / 32)
    assert {each.verdict for each in found[1:]} <= {"same", "cannot tell"}


def test_two_seeds_show_a_drop_of_all_cells_and_not_of_one_which_takes_three() -> None:
    """Two levels tell two pairs apart by a chance of 1/8, two such cells in one direction by one of 1/128."""
    (one, other) = by_kind(levels_apart(2, 2))
    assert (one.verdict, one.p, one.smallest_effect, one.seeds_needed) == ("cannot tell", 1 / 8, None, 3)
    assert not other.is_by_levels
    both = levels_apart(2, 2)
    both[1] = both[0]
    assert [(each.verdict, each.p) for each in by_kind(both)] == [("worse", pytest.approx(1 / 128, rel=4))] * 2


def test_levels_count_once_for_each_metric_as_the_tests_do() -> None:
    """Of a primary metric with nine tenths of the error, and one of five others with a fiftieth."""
    cells = {(metric, cell): both for metric in range(6) for cell, both in levels_apart(3, 2, cv=1e-4).items()}
    found = compare(cells, 0.03, is_primary=lambda key: key[0] == 0, kind=lambda key: key[0])  # type: ignore[arg-type]
    assert {each.key: each.p for each in found if each.key[1] == 0} == {
        (metric, 0): pytest.approx(1.0 if metric else 1 / 32 / 0.9) for metric in range(6)
    }


@pytest.mark.parametrize(("seeds", "verdict"), [(3, "cannot tell"), (4, "worse")])
def test_a_drop_that_may_be_a_level_of_which_another_cell_shows_two_takes_a_seed_more(seeds: int, verdict: str) -> None:
    cells = levels_apart(seeds, 4)
    cells[3][1][0] *= 0.27
    found = by_kind(cells)[0]
    assert (found.verdict, found.seeds_needed) == (verdict, 4)
    assert found.p == pytest.approx(noise.by_levels(seeds, others=1))
    assert noise.by_levels(seeds, others=1) == pytest.approx(2 * (1 - (1 - 4.0**-seeds) ** 2))


def test_a_change_that_can_be_seen_is_seen_beside_a_noisy_cell_too() -> None:
    """Of 3 pairs, twice of what the noisiest other cell varies by is seen; half as much may be a level."""
    cells = levels_apart(3, 4, drop=0.0)
    cells[3][1][0] *= 0.8
    seen = by_kind(cells)[0].smallest_effect
    assert seen is not None
    assert seen == pytest.approx(2 * 0.2 * 47.5, rel=0.15)
    for share, verdict in ((0.5, "cannot tell"), (1.2, "worse")):
        lower = (cells[0][0], cells[0][1] - share * seen)
        assert by_kind(cells | {0: lower})[0].verdict == verdict


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_two_levels_that_few_pairs_tell_apart_by_chance_are_no_certainty(seeds: int) -> None:
    base, candidate = 1 + 1e-6 * run(0, 1, 1, seeds), 0.5 + 1e-6 * run(0, 1, 2, seeds)
    found, _ = compare({0: (base, candidate), 1: (base[:1], base[:1])}, 0.03)
    assert found.p == pytest.approx(2 / 4**seeds)
    assert noise.by_levels(8) == 0


@pytest.mark.parametrize(("seeds", "apart", "others"), [(2, 1, 0), (2, 2, 1), (3, 1, 3), (3, 2, 2)])
def test_the_chance_that_levels_tell_cells_apart_is_that_of_all_patterns(seeds: int, apart: int, others: int) -> None:
    """Drawn: so many cells or more have all of one side below, or so many have all of it above."""
    is_low = np.random.default_rng(1).random((100_000, apart + others, 2, seeds)) < 0.5
    one, other = is_low[:, :, 0], is_low[:, :, 1]
    down = (~one & other).all(axis=2).sum(axis=1) >= apart
    up = (one & ~other).all(axis=2).sum(axis=1) >= apart
    expected = noise.by_levels(seeds, apart, others)
    assert down.mean() + up.mean() == pytest.approx(expected, abs=4 * np.sqrt(expected / 100_000))


def test_a_suite_of_few_pairs_finds_what_is_clear_beside_the_mean_noise() -> None:
    cells = dict(enumerate(sides(3, 18, 0, 0.01)))
    cells[0] = (cells[0][0], cells[0][1] - 0.2)
    assert compare(cells, 0.03)[0].verdict == "cannot tell"
    found = compare(cells, 0.03, kind=lambda key: "goodput")
    assert found[0].verdict == "worse"
    assert {each.verdict for each in found[1:]} <= {"same", "cannot tell"}


@pytest.mark.parametrize(("seeds", "verdict", "needed"), [(5, "cannot tell", 6), (6, "worse", 6)])
def test_equal_differences_say_how_many_signs_would_decide(seeds: int, verdict: str, needed: int) -> None:
    base = np.arange(10.0, 10 + seeds)
    found = cell(base, base - 2)
    assert (found.verdict, found.p, found.seeds_needed) == (verdict, 2.0 ** (1 - seeds), needed)


def test_equal_sides_and_copies_do_not_disturb_the_others() -> None:
    cells = dict(enumerate(sides(8, 18, 0, 0.01)))
    cells[0] = (cells[0][0], 0.8 * cells[0][1])
    plain = compare(cells, 0.03, kind=lambda key: "goodput")
    more = compare(cells | {18: ([1.0] * 8, [1.0] * 8), 19: (cells[1][0], cells[1][0]), 20: ([1.0], [0.5])}, 0.03,
                   kind=lambda key: "goodput")  # fmt: skip
    assert [each.verdict for each in more[:18]] == [each.verdict for each in plain]
    assert [each.verdict for each in more[18:]] == ["same", "same", "cannot tell"]


@pytest.mark.parametrize("effect", [0.0, 0.06])
def test_looking_often_errs_no_more_than_looking_once(effect: float) -> None:
    """At no difference, "worse" and "better" are wrong; at twice the tolerance, "same" is."""
    looks = (3, 5, 8, 12)
    spent = levels([look / looks[-1] for look in looks])
    wrong, suites = 0, 300
    for seed in range(suites):
        cells = {each: both for each, both in enumerate(sides(looks[-1], 3, 0, 0.02, seed))}
        false = set()
        for look, alpha in zip(looks, spent, strict=True):
            seen = {key: (one[:look], other[:look] + effect) for key, (one, other) in cells.items()}
            false |= {each.verdict for each in compare(seen, 0.03, level=1 - alpha)}
        wrong += bool(false & ({"same"} if effect else {"better", "worse"}))
    assert wrong / suites <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / suites)


@pytest.mark.parametrize(("looks", "pocock"), [(2, 2.178), (3, 2.289), (5, 2.413)])
def test_the_union_bound_costs_little(looks: int, pocock: float) -> None:
    """Pocock's constants: Jennison and Turnbull, Group Sequential Methods, 1999, table 2.1, at 0.05. They are exact for
    one test of equal shares at each look; with 20 tests what the bound costs is 0.1 standard errors at most.
    """

    def error(z: float) -> float:
        times = np.arange(1, looks + 1)
        shared = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
        return 1 - float(stats.multivariate_normal(cov=shared).cdf([z] * looks, lower_limit=[-z] * looks))

    assert error(pocock) == pytest.approx(0.05, abs=5e-4)
    exact = optimize.brentq(lambda z: error(z) - 0.05 / 20, 2.5, 4.5, xtol=1e-3)
    assert 0 < stats.norm.isf(0.05 / 20 / looks / 2) - exact < 0.1


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_the_level_that_was_asked_for_is_that_of_interval_and_noise_floor(level: float) -> None:
    base, candidate = run(1e9, 1e8, 1), run(0.9e9, 1e8, 2)
    found, expected = cell(base, candidate, level=level), stats.ttest_rel(candidate, base).confidence_interval(level)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))
    assert found.interval.level == level
    floor = stats.t.ppf((1 + level) / 2, SEEDS - 1) * base.std(ddof=1) * np.sqrt(2 / SEEDS)
    assert found.noise_floor == pytest.approx(floor / base.mean())


def test_every_cell_has_its_key() -> None:
    base = run(1e9, 1e7, 1)
    found = compare({"one": (base, 0.8 * base), "other": (base, 1.2 * base)}, 0.03)
    assert {each.key: each.verdict for each in found} == {"one": "worse", "other": "better"}


@pytest.mark.parametrize("cells", [1, 5])
def test_differences_that_are_all_equal_are_judged_by_their_signs(cells: int) -> None:
    """Beside no noise at all: alone, and where no cell of the metric has any."""
    base = np.array([10e6, 20e6, 30e6])
    found = compare({number: (base, base + 2e6) for number in range(cells)}, 0.03)
    assert {each.verdict for each in found} == {"cannot tell"}
    assert all(each.p is not None and each.p >= 0.25 for each in found)


def test_the_interval_of_one_cell_alone_is_the_t_interval_however_few_its_pairs() -> None:
    """In a unit in which all is small: 0.5 and 0.6, with a noise of 0.001. p is that of two levels, of 3 pairs."""
    base, candidate = run(0.5, 0.001, 1, 3), run(0.6, 0.001, 2, 3)
    compared, test = cell(base, candidate), stats.ttest_rel(candidate, base)
    found, expected = compared.interval, test.confidence_interval(0.95)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert test.pvalue < compared.p == pytest.approx(1 / 32)


@pytest.mark.parametrize(("seeds", "is_careful"), [(3, True), (4, True), (5, False)])
def test_few_pairs_among_others_are_as_noisy_as_the_mean_cell(seeds: int, is_careful: bool) -> None:
    """All pairs of two levels fall alike by a chance of 2^-n: 1/8 and 1/16 are more than 0.05, 1/32 is less."""
    cells = dict(enumerate(sides(seeds, 6, 0, 0.1)))
    quiet = cells[0] = (cells[0][0], cells[0][0] + 1e-3 * run(1, 0.1, 9, seeds))
    found = compare(cells, 0.03, kind=lambda key: "goodput")[0]
    (own, *_) = noise.pooled([*cells.values()])
    assert own.mean is not None
    assert own.variance < own.mean
    se = np.sqrt((own.mean if is_careful else own.variance) / seeds)
    half = stats.t.ppf(0.975, own.df) * se
    effect = float(np.mean(quiet[1] - quiet[0]))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((effect - half, effect + half))


def test_a_primary_cell_has_nine_tenths_of_the_error() -> None:
    """One primary cell and nine without a difference: Holm's first step is p over its share."""
    cells = {key: (run(1, 0.1, key), run(1, 0.1, 100 + key)) for key in range(10)}
    cells[0] = (cells[0][0], cells[0][0] - 0.1 + run(0, 0.05, 50))
    raw = stats.ttest_rel(cells[0][1], cells[0][0]).pvalue
    assert compare(cells, 0.0, is_primary=lambda key: key == 0)[0].p == pytest.approx(raw / 0.9)
    assert compare(cells, 0.0, is_primary=lambda key: key != 0)[0].p == pytest.approx(raw / 0.1)
    assert [each.key for each in compare(cells, 0.0)] == list(range(10))


@pytest.mark.parametrize(("sd", "margin"), [(0.01, 0.03), (0.02, 0.03), (0.05, 0.03), (0.1, 0.02), (0.3, 0.05)])
def test_the_seeds_needed_are_the_fewest_that_decide(sd: float, margin: float) -> None:
    """By scipy's noncentral t: a difference of 0 comes out as the same in 80 %, one of twice the margin is found."""

    def decide(pairs: int) -> bool:
        se, df = sd / np.sqrt(pairs), pairs - 1
        reach = stats.t.ppf(0.975, df) + stats.norm.ppf(0.9)
        found = stats.nct.sf(stats.t.ppf(1 - 0.01 / 2, df), df, 2 * margin / se)
        return bool(reach * se <= margin and found >= 0.8)

    needed = power.seeds_needed(sd, 0.01, 0.05, margin)
    assert needed == next(pairs for pairs in range(2, 10_000) if decide(pairs))


@pytest.mark.parametrize(("seeds", "share"), [(3, 0.632), (10, 0.259), (28, 0.1015), (29, 0.0982)])
def test_same_says_how_many_trials_may_differ_however_few_the_seeds(seeds: int, share: float) -> None:
    """1 trial in 10 that loses half was "same" in 72 % of comparisons with three seeds, and nothing said why."""
    base = np.random.default_rng(1).normal(100, 0.1, seeds)
    (found,) = compare({"cell": (base, base + 0.1)}, 0.03)
    assert (found.verdict, found.may_differ) == ("same", pytest.approx(share, abs=1e-3))
    assert found.may_differ == pytest.approx(1 - 0.05 ** (1 / seeds))
    (found,) = compare({"cell": (base, [50.0, *base[1:]])}, 0.2)
    assert found.may_differ > share
    (found,) = compare({"cell": ([100.0] * seeds, [100.0] * seeds)}, 0.2)
    assert found.may_differ == pytest.approx(share, abs=1e-3)  # seeds are drawn, whatever they do


def test_the_share_that_may_differ_is_above_the_true_one_in_95_percent() -> None:
    chance = np.random.default_rng(1)
    for share, seeds in product((0.05, 0.1, 0.3), (3, 10, 30)):
        seen = chance.binomial(seeds, share, 2000)
        covered = np.mean([noise.share_at_most(int(each), seeds) >= share for each in seen])
        assert covered >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize("noisy", [0.3, 1.0])
def test_one_noisy_cell_of_a_suite_hides_no_drop_of_another(noisy: float) -> None:
    """23 cells of CV 1 % and a noisy one, of two metrics: a drop by a tenth with five seeds was found in 0 to 4 %."""
    chance = np.random.default_rng(1)
    cv = np.array([0.01] * 23 + [noisy])[:, None, None]
    for drop, verdicts in ((0.1, {"worse"}), (0.0, {"same", "cannot tell"})):
        base, candidate = (1 + cv * chance.normal(size=(24, 5, 2)) for _ in range(2))
        candidate[0] *= 1 - drop
        cells = {(cell, of): (base[cell, :, of], candidate[cell, :, of]) for cell, of in product(range(24), range(2))}
        found = compare(cells, 0.03, kind=lambda key: key[1], is_primary=lambda key: key[1] == 0)
        assert found[0].verdict in verdicts
        assert {each.verdict for each in found[2:]} <= {"same", "cannot tell"}


def test_a_suite_says_how_many_seeds_let_all_its_cells_be_the_same() -> None:
    """192 cells of CV 3 %: with 10 seeds 95 of 100 comparisons in which nothing changed were undecided."""

    def suite(seeds: int, seed: int) -> list[CellComparison[int]]:
        sides = 1 + 0.03 * np.random.default_rng(seed).normal(size=(192, 2, seeds))
        return [*compare({cell: (each[0], each[1]) for cell, each in enumerate(sides)}, 0.03, kind=lambda key: 0)]

    needed = max(each.seeds_for_all or 0 for each in suite(10, 1))
    assert 45 <= needed <= 65
    assert max(each.seeds_needed or 0 for each in suite(10, 1)) < needed / 1.5
    whole = sum({each.verdict for each in suite(needed, seed)} == {"same"} for seed in range(2, 22))
    assert whole >= 20 * 0.8 - 3 * math.sqrt(20 * 0.8 * 0.2)


@pytest.mark.parametrize("seeds", [5, 10])
def test_a_cell_noisier_than_its_neighbours_is_the_same_in_no_more_than_a_fortieth_if_it_is_not(seeds: int) -> None:
    """A true −3.01 % beside a tolerance of 3 %: in 13 % with five seeds, when the quiet cells lent it their noise."""
    chance, runs = np.random.default_rng(1), 150
    cv, same = np.array([0.01] * 17 + [0.02])[:, None], 0
    for _ in range(runs):
        base, candidate = (1 + cv * chance.normal(size=(18, seeds)) for _ in range(2))
        candidate[17] -= 0.0301
        same += (
            compare(dict(enumerate(zip(base, candidate, strict=True))), 0.03, kind=lambda key: 0)[17].verdict == "same"
        )
    assert same / runs <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / runs)


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_where_nothing_is_random_a_difference_is_exact(seeds: int) -> None:
    """-36 % between the same seeds was "cannot tell"."""
    for other, verdict in ((0.64, "worse"), (2.38, "better"), (0.99, "same")):
        found = cell([1e9] * seeds, [other * 1e9] * seeds, exact=lambda key: True)
        assert (found.verdict, found.is_exact, found.p, found.may_differ) == (verdict, True, None, 0.0)
        assert found.interval is not None
        assert (found.interval.low, found.interval.high) == (found.effect, found.effect)


def test_samples_that_vary_are_not_exact_whatever_is_said_of_them() -> None:
    found = cell([1e9, 1.1e9, 1e9], [0.64e9, 0.64e9, 0.7e9], exact=lambda key: True)
    assert not found.is_exact
    assert found.p is not None


@pytest.mark.parametrize(("seeds", "verdict"), [(4, "cannot tell"), (5, "same")])
def test_copies_within_the_tolerance_are_the_same_when_levels_would_show(seeds: int, verdict: str) -> None:
    """All pairs of two levels fall alike by a chance of 2^-n, 1/16 and 1/32."""
    found = cell([1e9] * seeds, [0.99e9] * seeds)
    assert (found.verdict, found.seeds_needed) == (verdict, 5)


@pytest.mark.parametrize(("seeds", "verdict"), [(3, "cannot tell"), (28, "cannot tell"), (29, "same")])
def test_same_waits_for_the_seeds_that_exclude_rare_trials(seeds: int, verdict: str) -> None:
    base = np.random.default_rng(1).normal(100, 0.1, seeds)
    found = cell(base, base + 0.1, rare=0.1, tolerance=0.5)
    assert (found.verdict, found.is_rare_open) == (verdict, verdict != "same")
    assert cell(base, base, rare=0.1).verdict == verdict
    assert cell(base, 0.5 * base, rare=0.1).verdict == "worse"
    for level in (100.0, 0.0):
        copies = cell([level] * seeds, [level] * seeds, rare=0.1)
        assert (copies.verdict, copies.seeds_needed) == (verdict, 29)


def test_a_rare_trial_that_was_seen_takes_more_seeds() -> None:
    base = np.random.default_rng(1).normal(100, 0.1, 40)
    found = cell(base, [90.0, *base[1:]], tolerance=0.03, rare=0.1)
    assert (found.verdict, found.is_rare_open, found.seeds_needed) == ("cannot tell", True, 46)
    assert noise.share_at_most(1, 46) <= 0.1 < noise.share_at_most(1, 45)


def test_a_cell_may_carry_the_tolerance_of_its_own_noise() -> None:
    """Noise of 10 %, no change: 3 % is far off, and three standard deviations are within reach."""
    draws = {number: (run(1, 0.1, number), run(1, 0.1, 100 + number)) for number in range(6)}
    found = compare(draws, 0.03, kind=lambda key: 0, sds=3.0)
    assert {each.verdict for each in compare(draws, 0.03, kind=lambda key: 0)} == {"cannot tell"}
    assert {each.verdict for each in found} == {"same"}
    for each in found:
        assert 0.15 < each.margin / each.base < 0.5
    quiet = compare({key: (1 + (one - 1) / 1e3, 1 + (other - 1) / 1e3) for key, (one, other) in draws.items()}, 0.03,
                    kind=lambda key: 0, sds=2.0)  # fmt: skip
    assert [each.margin / each.base for each in quiet] == pytest.approx([0.03] * 6)


def test_cells_that_are_alike_need_as_many_seeds_as_so_many_of_one() -> None:
    alpha = 0.01
    for share in (0.5, 1.0, 2.0):
        assert power.seeds_for_all([share] * 20, alpha, 0.05) == power.seeds_needed(share, alpha, 0.05, 1.0, 20)
    assert power.seeds_for_all([1.0, *[0.01] * 19], alpha, 0.05) == power.seeds_needed(1.0, alpha, 0.05, 1.0)
    assert power.seeds_for_all([1e6], alpha, 0.05) is None


def test_a_run_that_exists_says_how_many_seeds_its_suite_needs() -> None:
    """192 cells of CV 3 % take 56 seeds. The noisiest by ten trials seems a tenth noisier than it is; not all are."""
    chance = np.random.default_rng(1)
    trials = [
        Measured(
            plain(id=f"{cell} {seed}", params={"cell": str(cell)}, seed=seed, repetition=seed, goodput_bps=1e9),
            {},
            {"goodput": 1e9 * (1 + 0.03 * chance.normal())},
        )
        for cell in range(192)
        for seed in range(10)
    ]
    found = seeds_ahead(single("a", trials), Terms(0.03))
    assert found is not None
    assert (found.cells, found.known) == (192, 192)
    assert found.seeds is not None
    assert 51 <= found.seeds <= 59  # 5 and 95 % of such runs; 55 to 69 if all counted as the noisiest
    own = seeds_ahead(single("a", trials), Terms(0.03, sds=3.0))
    assert own is not None
    assert own.seeds is not None
    assert own.seeds <= 12
    rare = seeds_ahead(single("a", trials), Terms(0.03, 3.0, {"": 0.1}))
    assert rare is not None
    assert rare.seeds == 29
    assert seeds_ahead(single("a", trials[:1]), Terms(0.03)) is None


@pytest.mark.parametrize("alpha", [10**-each for each in (1, 3, 4.5, 5, 6, 9, 12, 20, 30)])
@pytest.mark.parametrize("df", [1, 2, 3, 7, 100, 9999])
def test_a_shift_has_its_power_by_an_integral_at_any_level(alpha: float, df: int) -> None:
    """P(Z + shift > critical S) over the densities of S, where df S² is chi-square, by the quantiles of S."""
    shift = power._shift(df, alpha)
    spread = np.sqrt(special.chdtri(df, (np.arange(20_000) + 0.5) / 20_000) / df)
    found = special.ndtr(shift + special.stdtrit(df, alpha / 2) * spread).mean()
    assert found == pytest.approx(0.8, abs=2e-4)


def test_pairs_that_hardly_differ_need_two_seeds_of_a_comparison_with_many_tests() -> None:
    """Two pairs find a shift of 800 000 standard errors at a level of 1e-6: their test has one degree of freedom."""
    assert power.seeds_needed(1e-8, 1e-6, 0.05, 1.0) == 2
    assert power.seeds_needed(1e-3, 1e-6, 0.05, 1.0) == 3


def test_the_interval_has_its_own_level_and_is_that_of_the_pairs_where_the_sides_are_told_apart() -> None:
    """Beside a look that may err less, or with few pairs, "worse" stood beside an interval from -43 to +30 %."""
    rng = np.random.default_rng(1)
    noisy = {number: (rng.normal(100, 6, 3), rng.normal(100, 6, 3)) for number in range(8)}
    drop = {8: (np.array([95.3, 95.3, 95.3]), np.array([45.1, 44.2, 43.4]))}
    shift = {8: (drop[8][0], drop[8][1] + 48)}
    found = {}
    for name, cell, level in (("apart", drop, 0.95), ("strict", drop, 0.999), ("open", shift, 0.95)):
        *others, mine = compare({**noisy, **cell}, 0.01, kind=lambda key: 0, level=level, shown=0.95)
        assert mine.interval is not None
        assert {each.interval.level for each in (*others, mine) if each.interval} == {0.95}
        found[name] = (mine.verdict, mine.interval.high - mine.interval.low)
    assert [verdict for verdict, _ in found.values()] == ["worse", "cannot tell", "cannot tell"]
    assert found["apart"][1] < 0.6 * found["strict"][1]  # the same cell, with the noise of the mean one


def test_the_interval_of_a_cell_alone_is_the_t_interval_of_its_pairs() -> None:
    base, candidate = np.array([95.3, 95.3, 95.3]), np.array([90.1, 89.2, 88.4])
    (found,) = compare({8: (base, candidate)}, 0.03)
    assert found.interval is not None
    theirs = stats.ttest_rel(candidate, base).confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((theirs.low, theirs.high))
