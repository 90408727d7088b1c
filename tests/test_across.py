"""Secondary metrics that look worse over all cells together: `compare.across`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from comparing import Compare
from scipy import stats
from storedruns import Made, trial_result, write_run

from benchmarks.across import error, power
from benchmarks.few import NULLS
from testbed.analysis import paired
from testbed.analysis.paired import CellComparison
from testbed.compare import run as comparison
from testbed.compare.across import CELLS_MIN, ERROR, look_worse, originals
from testbed.compare.pairing import Cell
from testbed.compare.side import Measured, Run, Side
from testbed.report.evidence import part


def cells(base: list[float], candidate: list[float], metric: str = "rtt") -> list[tuple[str, CellComparison[int]]]:
    """Each with three pairs that are equal."""
    both = zip(base, candidate, strict=True)
    samples = {number: ([one] * 3, [other] * 3) for number, (one, other) in enumerate(both)}
    return [(metric, each) for each in paired.compare(samples, 0.03, is_more_better=False)]


RISES = (1.2, 1.3, 1.25, 1.18, 1.22, 1.31, 1.21, 1.27)


def test_the_numbers_are_those_of_a_t_test_of_differences_over_the_mean_of_both_sides() -> None:
    (found,) = look_worse(cells([1.0] * 8, [*RISES]), 0.03)
    harms = [2 * (each - 1) / (each + 1) for each in RISES]
    assert (found.metric, found.cells, found.worse) == ("rtt", 8, 8)
    assert found.effect == pytest.approx(np.mean(harms))
    assert found.p == pytest.approx(stats.ttest_1samp(harms, 0).pvalue)


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        ([each - 0.4 for each in RISES], "they are better"),
        ([1.02, 1.029, 1.025, 1.01, 1.02, 1.028, 1.02, 1.01], "within the tolerance"),
        ([3.0, *[1.0] * 7], "one cell is not all of them"),
        ([1.2, 0.8, 1.3, 0.7, 1.25, 0.75, 1.2, 0.8], "in either direction"),
        ([*RISES[:4], *[1.0] * 4], "half of them"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_no_worse_over_all_cells_is_not_named(candidate: list[float], why: str) -> None:
    assert look_worse(cells([1.0] * 8, candidate), 0.03) == ()


def test_few_cells_or_cells_of_one_pair_say_nothing() -> None:
    few = cells([1.0] * (CELLS_MIN - 1), [*RISES[: CELLS_MIN - 1]])
    assert look_worse(few, 0.03) == ()
    assert look_worse([(metric, replace(each, pairs=1)) for metric, each in cells([1.0] * 8, [*RISES])], 0.03) == ()


def none_and_some(some: list[float], count: int = 8) -> list[tuple[str, CellComparison[int]]]:
    """Cells of which the base has nothing, and the candidate so much, a bit more in each."""
    samples = {number: ([0.0] * 3, [each * (1 + number / 10) for each in some]) for number in range(count)}
    return [("retransmits", each) for each in paired.compare(samples, 0.03, is_more_better=False)]


def test_where_one_side_has_nothing_at_all_cells_that_no_trial_crosses_tell() -> None:
    """All differences are as large as they can be, and so equal; a base with a little was judged more strictly."""
    (found,) = look_worse(none_and_some([0.02, 0.03, 0.01]), 0.03)
    assert found.effect == 2.0
    assert found.p == pytest.approx(2 / 20**8)
    (found,) = look_worse(none_and_some([0.02, 0.0, 0.0]), 0.03)
    assert found.p == pytest.approx(2.0**-7)
    assert look_worse(none_and_some([0.02, 0.0, 0.0], 7), 0.03) == ()


def test_copies_of_a_cell_count_as_one() -> None:
    """Along an axis that does nothing: of two cells with five copies each, 81 % of comparisons were named."""
    copies = cells([1.0] * 8, [1.2, 1.3] * 4)
    assert look_worse(copies, 0.03, lambda number: number % 2) == ()
    assert look_worse(copies, 0.03)[0].cells == 8  # cells of their own may have the same means, as counts have


def trial(seed: int, **metrics: float | None) -> Measured:
    return Measured(trial_result(Made({}, [1e6], seed)), {}, metrics)


def test_a_cell_is_a_copy_if_its_trials_are_nearly_the_same_by_seed_on_both_sides() -> None:
    def pairs(*values: tuple[float, float | None]) -> list[tuple[Measured, Measured]]:
        return [
            (trial(seed, rtt=0.01, resent=one), trial(seed, rtt=0.01, resent=two))
            for seed, (one, two) in enumerate(values)
        ]

    cells = {
        Cell("", (("buffer", name),)): each
        for name, each in {
            "1": pairs((0.0, 100.0), (0.0, 0.0)),
            "2": pairs((0.0, 100.9), (0.0, 0.0)),
            "3": pairs((0.0, 0.0), (0.0, 100.0)),  # the same means, of other seeds
            "4": pairs((0.0, 102.0), (0.0, 0.0)),
            "5": pairs((0.0, 100.0), (0.0, None)),
            "6": pairs((0.0, 100.0)),
            "7": pairs((0.0, 100.0), (0.0, 0.0), (0.0, 50.0)),  # a seed more
            "8": [*pairs((0.0, 100.0), (0.0, 0.0), (0.0, 70.0), (0.0, 60.0))[1:]],  # another first seed, another third
        }.items()
    }
    found = {
        of.params[0][1]: first.params[0][1]
        for of, first in originals(cells, 0.03).items()
        if of.params and first.params
    }
    assert found == {"1": "1", "2": "1", "3": "3", "4": "4", "5": "5", "6": "6", "7": "1", "8": "8"}


def test_effects_near_their_end_count_as_tosses() -> None:
    """Of noise by factors all effects are near 2, and a t-test took that for precision."""
    samples = {number: ([1.0, 1.0, 60.0], [200.0 + number, 3.0, 200.0]) for number in range(5)}
    found = [("retransmits", each) for each in paired.compare(samples, 0.03, is_more_better=False)]
    assert not any(each.is_disjoint for _, each in found)
    assert look_worse(found, 0.03) == ()
    apart = {number: ([1.0, 1.0, 2.0], [200.0 + number, 3.0, 200.0]) for number in range(5)}
    found = [("retransmits", each) for each in paired.compare(apart, 0.03, is_more_better=False)]
    assert look_worse(found, 0.03)[0].p == pytest.approx(2 / 20**5)


@pytest.mark.parametrize("candidate", [[1.0, 1.0, 1.0], [1.5, 1.5, 0.5]])
def test_a_cell_that_differs_little_makes_no_precision_of_those_that_end(candidate: list[float]) -> None:
    """Where one of eight cells had nothing to tell, a t-test took seven tosses for p = 0.0002."""
    ends = {number: ([0.0, 0.0, 0.0], [0.02 * (number + 1), 0.0, 0.0]) for number in range(7)}
    samples = {**ends, 7: ([1.0, 1.0, 1.0], candidate)}
    others = [each for name in ("rtt-p95", "rtt-p99") for each in cells([*RISES], [*RISES], name)]
    found = [("retransmits", each) for each in paired.compare(samples, 0.03, is_more_better=False)]
    assert look_worse([*found, *others], 0.03) == ()
    apart = {number: ([0.0, 0.0, 0.0], [0.02 * (number + 1)] * 3) for number in range(7)}
    found = [("retransmits", each) for each in paired.compare({**apart, 7: samples[7]}, 0.03, is_more_better=False)]
    assert look_worse([*found, *others], 0.03)[0].p < 1e-5


def test_of_what_there_should_be_more_of_less_is_worse_and_the_error_is_for_all_metrics_together() -> None:
    fairness = [("fairness", replace(each, key=number)) for number, (_, each) in enumerate(cells([1.0] * 8, [*RISES]))]
    assert look_worse(fairness, 0.03) == ()
    fell = cells([*RISES], [1.0] * 8, "fairness")
    assert look_worse(fell, 0.03)[0].effect < -0.1
    equal = [each for name in ("rtt-p95", "rtt-p99") for each in cells([*RISES], [*RISES], name)]
    near = [1.2, 1.3, 1.25, 1.18, 1.22, 1.31, 1.001, 1.8]
    alone = look_worse(cells([1.0] * 8, near), 0.03)
    assert ERROR / 3 < alone[0].p < ERROR
    assert look_worse([*cells([1.0] * 8, near), *equal], 0.03) == ()


@pytest.mark.parametrize("name", NULLS)
def test_nothing_looks_worse_where_nothing_changed(name: str) -> None:
    assert error(name, 10, 3, 60) <= 0.05  # 1 % and three standard errors


def test_a_rise_of_all_cells_is_seen_that_no_cell_shows_by_itself() -> None:
    over, alone = power(0.2, 0.1, 10, 3, 30)
    assert over >= 0.9
    assert alone <= 0.8


def test_it_is_named_and_nothing_is_the_same_beside_it(compare: Compare, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    metrics = ("--metric", "goodput", "--metric", "retransmits")

    def made(factor: float) -> list[Made]:
        rates = {seed: 20e6 * (1 + 1e-4 * seed) for seed in (1, 2, 3)}
        return [
            Made({"path.buffer": f"{cell} bdp"}, [rate], seed, retransmits=int(factor * rng.normal(1000, 250)))
            for cell in range(1, 11)
            for seed, rate in rates.items()
        ]

    base = write_run(tmp_path / "base", made(1.0))
    assert compare(base, write_run(tmp_path / "same", made(1.0)), *metrics).code == 0
    candidate = write_run(tmp_path / "worse", made(1.35))
    said = compare(base, candidate, *metrics)
    text = " ".join(said.out.split())
    assert said.code == 5
    assert "retransmits looks worse over 10 cells, +2" in text
    assert "no cell tells by itself" in text
    (suite,) = ElementTree.fromstring(compare(base, candidate, *metrics, "--format", "junit").out)
    (failure,) = suite.findall("testcase[@classname='all cells']/failure")
    assert "looks worse over 10 cells" in (failure.get("message") or "")


def test_of_many_rows_that_of_what_looks_worse_is_shown(compare: Compare, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)

    def made(resent: int) -> list[Made]:
        return [
            Made(
                {"path.buffer": f"{cell} bdp"},
                [20e6 * (1 + 1e-4 * seed)],
                seed,
                retransmits=int((resent if cell == 7 else 200) * (1 + (0.02 if cell == 7 else 0.3) * rng.normal())),
            )
            for cell in range(1, 25)
            for seed in (1, 2, 3)
        ]

    base, candidate = (write_run(tmp_path / str(each), made(each), samples=False) for each in (200, 900))
    said = compare(base, candidate, "--metric", "goodput", "--metric", "retransmits")
    rows = [line for line in said.out.splitlines() if line.startswith("buffer 7 bdp") and "retransmits" in line]
    assert (said.code, len(rows)) == (5, 1)
    assert "cells that show nothing: 23 cannot tell" in " ".join(said.out.split())


def test_a_part_of_a_comparison_looks_worse_over_no_cells_of_its_own() -> None:
    """A section of the evidence was undecided of which all scenarios were the same."""
    found = look_worse(cells([1.0] * 8, [*RISES]), 0.03)
    trials = tuple(trial(seed, goodput=1e6 * (1 + 1e-4 * seed)) for seed in (1, 2, 3))
    sides = [Side(name, {"bulk": Run(trials, (), "goodput")}) for name in ("base", "candidate")]
    whole = replace(comparison.compare(*sides, metrics=("goodput",)), across=found)
    mine = part(whole, "bulk")
    assert mine is not None
    assert (whole.verdict, mine.verdict) == ("cannot tell", "same")
