"""The end of a budget of time: the last look of a comparison, at all cells together. Runs no trial."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from comparing import Compare
from storedruns import Made, write_run

from benchmarks.looks import drawn, in_time, in_times, time_lines
from testbed.compare.look import CellData, Looks, Terms, advance, close, judged
from testbed.compare.pairing import Cell
from testbed.compare.run import CellKey

GOODPUT, RETRANSMITS, FAIRNESS = "goodput", "retransmits", "fairness"
NO_LOSS: dict[tuple[str, str, str], list[tuple[float, float]]] = {
    ("bulk", "20 ms, 1", GOODPUT): [(95.289, 95.289), (95.294, 95.292), (95.288, 95.285)],
    ("bulk", "20 ms, 4", GOODPUT): [(95.467, 95.339), (95.467, 95.309), (95.468, 95.255)],
    ("bulk", "100 ms, 1", GOODPUT): [(92.788, 92.146), (92.790, 91.882), (92.788, 91.946)],
    ("bulk", "100 ms, 4", GOODPUT): [(93.728, 93.082), (93.537, 93.037), (93.397, 92.948)],
    ("coexistence", "reno", FAIRNESS): [
        (0.94885, 0.52649), (0.97215, 0.52426), (0.95889, 0.52589), (0.87056, 0.52855), (0.99439, 0.52586)
    ],
    ("coexistence", "bbr", FAIRNESS): [
        (0.61169, 0.9951), (0.60897, 0.99397), (0.61152, 0.99458), (0.61501, 0.99337), (0.60655, 0.99532)
    ],
    ("idle", "", RETRANSMITS): [
        (0.0015542, 0.020356), (0.0015181, 0.020356), (0.0015542, 0.020391), (0.0014098, 0.019904),
        (0.0015181, 0.020286),
    ],
    ("shallow-buffer", "1", GOODPUT): [
        (33.658, 32.114), (35.239, 42.791), (34.323, 33.164), (32.940, 39.602), (32.406, 38.855)
    ],
    ("shallow-buffer", "4", GOODPUT): [
        (64.521, 63.371), (62.598, 72.420), (66.244, 68.472), (64.672, 65.033), (64.451, 61.473)
    ],
    ("timeout", "", GOODPUT): [
        (60.053, 76.085), (60.071, 73.737), (60.581, 77.549), (60.106, 78.161), (60.072, 73.323)
    ],
}  # fmt: skip
"""What a real control that ignores every loss did in the cells of `testbed cc --quick`, whose time ended with five
seeds: retransmits are shares, goodputs Mbit/s.
"""


def place(scenario: str, cell: str) -> Cell:
    return Cell(scenario, (("cell", cell),) if cell else ())


def no_loss(seeds: int) -> dict[Cell, CellData]:
    return {
        place(scenario, cell): CellData(min(seeds, len(pairs)), 3, {metric: dict(enumerate(pairs[:seeds]))})
        for (scenario, cell, metric), pairs in NO_LOSS.items()
    }


def new(keys: int) -> Looks:
    return Looks("base", "candidate", 0.03, (GOODPUT, FAIRNESS, RETRANSMITS), keys)


def verdicts(looks: Looks) -> dict[str, str]:
    return {f"{each.scenario} {dict(each.params).get('cell', '')}".strip(): each.verdict for each in looks.cells}


def test_a_control_that_ignores_every_loss_is_told_when_the_time_ends() -> None:
    """By itself no cell can be told apart with five seeds, of which p is 0.022 at best, as a look may err by 0.01."""
    begun, wanted = advance(new(10), no_loss(3), 8)
    begun, wanted = advance(begun, no_loss(5), 8)
    assert len(wanted) == 6
    assert {each.verdict for each in begun.cells} == {"same", "cannot tell"}
    ended = close(begun, no_loss(5))
    assert {cell: verdict for cell, verdict in verdicts(ended).items() if verdict not in ("same", "cannot tell")} == {
        "coexistence bbr": "better", "coexistence reno": "worse", "idle": "worse", "timeout": "better",
    }  # fmt: skip
    last = ended.of(place("idle", ""), RETRANSMITS).looks[-1]
    assert (last.repetitions, last.pairs, last.is_joint) == (5, 5, True)
    assert last.spent == pytest.approx(0.81)
    assert sum(each.error for each in ended.of(place("idle", ""), RETRANSMITS).looks) == pytest.approx(0.05 * 0.81)
    assert close(ended, no_loss(5)) == ended  # the same again spends nothing


def test_a_larger_budget_goes_on_with_what_the_end_of_one_left() -> None:
    ended = close(advance(new(10), no_loss(3), 8)[0], no_loss(3))
    assert {each.fraction for each in ended.cells if each.looks[-1].is_joint} == {0.9}
    again, wanted = advance(ended, no_loss(5), 8)
    assert {*wanted.values()} == {8}
    again = close(again, no_loss(5))
    spent = [each.spent for each in again.cells if each.verdict == "cannot tell"]
    assert spent == [pytest.approx(0.9801)] * len(spent)
    assert spent
    for cell in again.cells:
        assert sum(each.error for each in cell.looks) <= 0.05


def test_cells_that_were_measured_later_have_their_own_error_and_share() -> None:
    """Nobody takes part in more looks than the error allows: what was decided stands by, once others spent more."""
    chance = np.random.default_rng(1)
    places = [place("made", str(number)) for number in range(4)]
    values = {each: 1 + 0.1 * chance.standard_normal((2, 3)) for each in places}
    data = {
        each: CellData(3, 3, {GOODPUT: {n: (both[0, n], both[1, n]) for n in range(3)}})
        for each, both in values.items()
    }
    first = dict([*data.items()][:2])
    ended = close(advance(new(4), first, 8)[0], first)
    again = close(advance(ended, data, 8)[0], data)
    assert [each.spent for each in again.cells] == [pytest.approx(0.81)] * 4
    assert [sum(look.error for look in each.looks) for each in again.cells] == [pytest.approx(0.05 * 0.81)] * 4


@pytest.mark.parametrize(("seeds", "keys"), [(3, 1), (3, 10), (4, 10), (5, 10), (5, 2), (6, 10), (7, 40), (8, 40)])
@pytest.mark.parametrize("may_err", [0.0057, 0.0101, 0.0247, 0.05])
def test_no_change_is_said_to_be_shown_that_so_many_seeds_cannot_show(seeds: int, keys: int, may_err: float) -> None:
    """Of five seeds of ten cells it said "36.7 % or more", and called twelve times as much undecided."""
    noise = 0.001 * np.random.default_rng(seeds).standard_normal((2, seeds))
    key = CellKey((), GOODPUT)

    def found(change: float) -> Any:
        base, candidate = 100 * (1 + noise[0]), 100 * (1 + change) * (1 + noise[1])
        return judged(new(keys), {key: (base, candidate)}, Terms(0.03), may_err)[0]

    one = found(0.05)
    shown = found(10.0)
    assert (one.smallest_effect is None) == (shown.verdict == "cannot tell")
    if one.smallest_effect is None:
        assert one.seeds_needed is None or one.seeds_needed > seeds


@pytest.mark.parametrize(
    ("cells", "noise", "levels"), [(4, 0.1, 0.0), (4, 0.03, 0.0), (4, 0.001, 0.3), (1, 0.001, 0.1)]
)
@pytest.mark.parametrize("calls", [1, 2])
def test_what_did_not_change_is_called_better_or_worse_in_five_percent_at_most_when_time_ends(
    cells: int, noise: float, levels: float, calls: int
) -> None:
    """Wherever it ends. 200 comparisons: three standard errors of 5 % are 4.6 points."""
    assert in_times(cells, 0.0, noise, 200, levels, calls).wrong <= 0.05 + 0.046


def test_a_large_change_of_all_cells_is_found_whenever_the_time_ends() -> None:
    """Of 10 cells with three seeds each, no plan told one before: only the seeds of a whole budget did."""
    assert in_times(10, -0.3, 0.03, 20).right == 1.0
    ended = in_time(drawn(np.random.default_rng(1), 10, -0.3, 0.03), [0.0])
    assert {(each.verdict, each.repetitions) for each in ended.cells} == {("worse", 3)}
    assert len([*time_lines(1)]) == 18


def test_equal_pairs_take_the_more_seeds_the_less_an_analysis_may_err() -> None:
    """Three of a whole comparison; with a budget of four the first analysis may err by 0.0228, and takes four: all six
    trials of three pairs are on one of two levels in 1/32.
    """
    key = CellKey((), "convergence")
    for may_err, seeds in ((0.05, 3), (0.0228, 4), (0.0057, 5), (0.05 * 0.0675**2, 7)):
        for pairs in range(2, 8):
            (found,) = judged(new(1), {key: ([1.0] * pairs, [1.0] * pairs)}, Terms(0.03), may_err)
            assert (found.verdict == "same") == (pairs >= seeds), (may_err, pairs)
            assert pairs >= seeds or found.seeds_needed == seeds


def made(factor: float, retransmits: tuple[int, ...]) -> list[Made]:
    rates = [20e6 * (1 + noise) for noise in np.random.default_rng(3).normal(0, 0.01, 4)]
    return [
        Made({"path.buffer": "1 bdp"}, [rate * factor], seed, retransmits=count)
        for seed, (rate, count) in enumerate(zip(rates, retransmits, strict=True), 1)
    ]


def test_better_does_not_hide_what_looks_worse(compare: Compare, tmp_path: Path) -> None:
    """Four seeds of a secondary metric may be on two levels: so it is not told, and yet is not to be passed over."""
    metrics = ("--metric", "goodput", "--metric", "retransmits")
    base = write_run(tmp_path / "base", made(1.0, (5, 6, 7, 5)))
    for counts, code in (((5, 6, 7, 5), 0), ((500, 510, 505, 503), 5)):
        said = compare(base, write_run(tmp_path / f"mine{code}", made(1.5, counts)), *metrics)
        assert said.code == code
    last = " ".join(said.out.split())
    assert "of the other metrics 1 of 1 cannot be told and looks worse, retransmits +" in last
    assert "overall: cannot tell (1 better, 1 cannot tell" in last
    (suite,) = ElementTree.fromstring(compare(base, tmp_path / "mine5", *metrics, "--format", "junit").out)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
