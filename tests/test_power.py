"""The benchmark of comparisons, smaller: what they find beside an oracle, and how often they err.

The criteria are older than the figures: any false "worse" in at most 5 % of suites, and a power within 5 points of the
oracle's; each with three standard errors of so many suites. Where the second is missed, the case says by how much.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from benchmarks import claims, few
from benchmarks.power import ALIKE, OTHERS, Case, errors, keys, normal, power

SUITES = 60


def at_most(share: float, suites: int = SUITES) -> float:
    """What a share of so many suites may come to by chance."""
    return share + 3 * math.sqrt(share * (1 - share) / suites)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [3, 5, 8])
@pytest.mark.parametrize("case", [ALIKE[1], *OTHERS], ids=lambda case: case.name)
def test_nothing_is_worse_where_nothing_changed(case: Case, seeds: int) -> None:
    found = errors(case, seeds, SUITES)["now"]
    assert found.worse <= at_most(0.05)


@pytest.mark.slow
def test_the_error_rate_before_is_the_reason_for_the_change() -> None:
    assert errors(ALIKE[1], 10, SUITES)["before"].worse > at_most(0.05) - 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cv", "drop", "seeds", "missing"),
    [
        (0.02, 0.05, 3, 0.17),  # the noise has to be estimated, and three pairs can all agree by chance
        (0.02, 0.05, 5, 0.05),
        (0.02, 0.10, 3, 0.06),
        (0.02, 0.10, 5, 0.05),
        (0.10, 0.20, 5, 0.05),
        (0.10, 0.20, 10, 0.05),
    ],
)
def test_what_can_be_found_is_found(cv: float, drop: float, seeds: int, missing: float) -> None:
    found = power(normal(cv), seeds, drop, 100)
    assert found["now"] >= found["oracle"] - missing - 3 * math.sqrt(0.06 / 100)
    assert found["now"] >= found["before"] - 0.05


def test_the_suite_is_that_of_the_regression_scenarios() -> None:
    assert len(keys(1)) == 20
    assert len({key[0] for key in keys(1)}) == 10


def test_the_shapes_of_noise_have_the_sd_that_is_said() -> None:
    for case in OTHERS:
        draws = case.draw(np.random.default_rng(1), (200_000,))
        assert draws.std() == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize(("cells", "seeds"), [(1, 2), (1, 3), (4, 2), (4, 3)])
@pytest.mark.parametrize("noise", few.NULLS)
def test_nothing_is_worse_in_few_cells_with_few_seeds_where_nothing_changed(noise: str, cells: int, seeds: int) -> None:
    assert few.errors(noise, cells, seeds, SUITES).worse <= at_most(0.05)


@pytest.mark.parametrize("cells", few.FEW_CELLS)
@pytest.mark.parametrize("cv", few.CVS[:2])
@pytest.mark.parametrize("drop", few.DROPS[-2:])
def test_a_drop_by_half_or_more_in_one_of_few_cells_is_found_with_three_seeds(
    cv: float, drop: float, cells: int
) -> None:
    """It was in one cell, and never in two or four."""
    assert few.oracle(cv, drop, cells, 3) == pytest.approx(1)
    assert few.power(cv, drop, cells, 3, SUITES) >= 0.95


@pytest.mark.parametrize("cells", few.FEW_CELLS)
def test_two_seeds_find_a_drop_of_several_cells_and_none_of_one(cells: int) -> None:
    assert few.power(0.01, 0.9, cells, 2, SUITES) == 0
    assert few.power(0.01, 0.9, cells, 2, SUITES, everywhere=True) >= (0.95 if cells > 1 else 0)


def test_a_row_that_does_not_keep_what_is_claimed_says_so() -> None:
    assert claims.Row("x", 0.05, 100, most=0.05).is_kept
    assert claims.Row("x", 0.11, 100, most=0.05).is_kept
    assert not claims.Row("x", 0.12, 100, most=0.05).is_kept
    assert not claims.Row("x", 0.88, 100, least=0.95).is_kept
    assert claims.Row("x", 0.12, 100, most=0.05).text.endswith("| at most 5 % | NO |")
    assert claims.Row("x", 0.5, 100).text.endswith("| nothing | - |")


@pytest.mark.parametrize(
    "part",
    [claims.rare_rows, claims.above_rows, claims.within_rows, claims.two_seed_rows],
    ids=lambda part: part.__name__,
)
def test_verdicts_keep_what_they_claim(part: Callable[[int], Iterator[claims.Row]]) -> None:
    rows = [*part(40)]
    assert any(row.most is not None or row.least is not None for row in rows)
    assert [row.text for row in rows if not row.is_kept] == []


def test_without_the_key_rare_trials_pass_as_the_same() -> None:
    """What the key is for."""
    shares = [row.share for row in claims.rare_rows(40) if row.name == "rare, 3 seeds, no key"]
    assert shares[0] > 0.5
