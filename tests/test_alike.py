"""What `python -m benchmarks alike` deals and judges, over trials that are made up."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from runs import make_result, make_trials

from benchmarks.alike import MOST, dealt, judged
from testbed.analysis.metric import METRICS
from testbed.compare.side import Measured, Run, Side


def pool(noise: float, trials: int = 24) -> dict[str, Run]:
    rng = random.Random(1)
    made = make_trials(repetitions=trials)
    values = [1e7 * (1 + rng.gauss(0, noise)) for _ in made]
    nothing = dict.fromkeys(METRICS)
    return {
        "made": Run(
            tuple(
                Measured(make_result(trial, goodput_bps=value), {"seed": trial.seed}, {**nothing, "goodput": value})
                for trial, value in zip(made, values, strict=True)
            )
        )
    }


def test_no_trial_is_on_both_sides_and_pairs_have_one_seed() -> None:
    whole = pool(0.1)
    sides = dealt(whole, random.Random(3))
    drawn = [[each.metrics["goodput"] for each in side.runs["made"].trials] for side in sides]
    assert len({*drawn[0], *drawn[1]}) == 2 * 2 * MOST
    assert {*drawn[0], *drawn[1]} <= {each.metrics["goodput"] for each in whole["made"].trials}
    for side in sides:
        seeds = [(each.result.params["path.rtt"], each.result.seed, each.settings["seed"]) for each in side.trials]
        assert sorted(seeds) == [(rtt, seed + 1, seed + 1) for rtt in ("10 ms", "20 ms") for seed in range(MOST)]


@pytest.mark.parametrize(("noise", "pairs"), [(0.001, 3), (0.2, MOST)])
def test_cells_get_pairs_until_they_are_decided(noise: float, pairs: int) -> None:
    found = judged(dealt(pool(noise), random.Random(3)))
    assert {each.pairs for each in found.cells if each.key.metric == "goodput"} == {pairs}
    assert found.verdict == ("same" if pairs == 3 else "cannot tell")


def test_a_candidate_that_is_worse_is_called_so() -> None:
    base, candidate = dealt(pool(0.01), random.Random(3))
    run = candidate.runs["made"]
    less = tuple(replace(each, metrics={**each.metrics, "goodput": 8e6}) for each in run.trials)
    assert judged((base, Side("candidate", {"made": replace(run, trials=less)}))).verdict == "worse"
