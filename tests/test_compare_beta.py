"""A changed CUBIC found by comparison: what the regression scenarios measured on two kernels, stored.

`base` is the default lab kernel (Linux 7.3.4), `mine` the same with tests/kernels/cubic-beta-512.patch: after a loss
CUBIC keeps 1/2 of its window, not 7/10. The trials of scenarios/regression, as `testbed compare` measured them,
fairness and convergence by older definitions. `test_compare_lab.py` measures the same change anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from results import plain
from testbed.analysis import tcp_model
from testbed.analysis.metric import METRICS
from testbed.analysis.paired import CellComparison
from testbed.compare import run
from testbed.compare.run import CellKey, RunComparison
from testbed.compare.side import Measured, Run, Side, single

STORED = json.loads((Path(__file__).parent / "data/cubic-beta.json").read_text())


def side(scenario: str, name: str) -> list[Measured]:
    return [
        Measured(
            plain(id=str((params, seed)), params=params, seed=seed),
            {},
            {**dict.fromkeys(METRICS), **dict(zip(STORED["metrics"], values, strict=True))},
        )
        for params, seed, values in STORED["scenarios"][scenario][name]
    ]


def compared(scenario: str, base: str = "base", candidate: str = "mine") -> RunComparison:
    return run.compare(single(base, side(scenario, base)), single(candidate, side(scenario, candidate)))


def cell(found: RunComparison, label: str, metric: str) -> CellComparison[CellKey]:
    (one,) = (c for c in found.cells if c.key.metric == metric and found.label(c.key.cell) == label)
    return one


def suite(name: str, seeds: Sequence[int]) -> Side:
    """All scenarios of a kernel with these seeds, as if they were 1, 2, …"""
    number = {seed: at for at, seed in enumerate(seeds, 1)}
    runs = {
        scenario: Run(
            tuple(
                replace(each, result=replace(each.result, seed=number[each.result.seed]))
                for each in side(scenario, name)
                if each.result.seed in number
            )
        )
        for scenario in STORED["scenarios"]
    }
    return Side(name, runs)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["base", "mine"])
def test_other_seeds_of_the_same_kernel_are_worse_no_more_often_than_chance_has_it(kernel: str) -> None:
    """A/A with real noise: four of the eight seeds as the base, the other four as the candidate, in all 35 ways, the
    whole suite at a time. At most 5 % of suites may have anything worse; of 35, three standard errors more are 5.
    """
    seeds, wrong = range(1, 9), 0
    for three in combinations(seeds[1:], 3):
        first = (1, *three)
        second = [seed for seed in seeds if seed not in first]
        found = run.compare(suite(kernel, first), suite(kernel, second))
        wrong += any(each.verdict == "worse" for each in found.cells)
        assert len({each.verdict for each in found.cells}) > 1, "no noise: this compares nothing"
    assert wrong <= 5


def test_the_change_is_found_in_the_whole_suite_too() -> None:
    """What the test above would miss if nothing were ever called worse."""
    found = run.compare(suite("base", range(1, 9)), suite("mine", range(1, 9)))
    assert found.verdict == "worse"
    assert any(each.verdict == "worse" and found.is_primary(each.key) for each in found.cells)


@pytest.mark.parametrize(
    ("scenario", "label", "metric", "verdict"),
    [
        ("bulk", "20 ms, 1 flow", "rtt", "better"),
        ("bulk", "100 ms, 1 flow", "rtt", "better"),
        ("bulk", "100 ms, 1 flow", "goodput", "same"),
        ("bufferbloat", "1 flow", "rtt", "better"),
        ("bufferbloat", "4 flows", "rtt", "better"),
        ("bufferbloat", "1 flow", "rtt-p95", "same"),
        ("random-loss", "loss every 20000, phase seeded", "goodput", "worse"),
        ("start-stop", "all", "rtt", "better"),
    ],
)
def test_the_cells_where_it_matters_are_named(scenario: str, label: str, metric: str, verdict: str) -> None:
    assert cell(compared(scenario), label, metric).verdict == verdict


def test_the_loss_of_goodput_is_that_of_the_formula() -> None:
    """RFC 9438, section 5: the average window goes with ((3 + beta) / (1 - beta))^(1/4)."""
    found = cell(compared("random-loss"), "loss every 20000, phase seeded", "goodput")
    windows = [tcp_model.cubic_window_segments(1 / 20000, 0.08, beta=beta) for beta in (717 / 1024, 512 / 1024)]
    assert found.relative_interval is not None
    assert found.relative_interval.contains(windows[1] / windows[0] - 1)


def test_a_worse_cell_makes_the_whole_worse() -> None:
    assert compared("random-loss").verdict == "worse"
