"""A changed CUBIC found by comparison: what the regression scenarios measured on two kernels, stored.

`base` is the default lab kernel (Linux 7.3.4), `mine` the same with tests/kernels/cubic-beta-512.patch: after a loss
CUBIC keeps 1/2 of its window, not 7/10. The trials of scenarios/regression, as `testbed compare` measures them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from results import plain
from testbed.analysis import tcp_model
from testbed.analysis.paired import CellComparison
from testbed.compare import run
from testbed.compare.run import CellKey, RunComparison
from testbed.compare.side import Measured, single

STORED = json.loads((Path(__file__).parent / "data/cubic-beta.json").read_text())


def side(scenario: str, name: str) -> list[Measured]:
    return [
        Measured(
            plain(id=str((params, seed)), params=params, seed=seed),
            {},
            dict(zip(STORED["metrics"], values, strict=True)),
        )
        for params, seed, values in STORED["scenarios"][scenario][name]
    ]


def compared(scenario: str, base: str = "base", candidate: str = "mine") -> RunComparison:
    return run.compare(single(base, side(scenario, base)), single(candidate, side(scenario, candidate)))


def cell(found: RunComparison, label: str, metric: str) -> CellComparison[CellKey]:
    (one,) = (c for c in found.cells if c.key.metric == metric and found.label(c.key.cell) == label)
    return one


@pytest.mark.parametrize("scenario", STORED["scenarios"])
def test_the_same_kernel_is_the_same_in_every_cell(scenario: str) -> None:
    found = compared(scenario, "base", "base")
    assert {each.verdict for each in found.cells} == {"same"}


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
