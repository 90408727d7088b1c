"""How often `testbed cc --quick` calls worse what is the same: `python -m benchmarks alike [SUITES] [TRIALS]`.

Runs TRIALS (24) trials of CUBIC in each cell of `--quick`, deals them at random to a base and a candidate, and judges
as `testbed cc` judges: looks after 3, 5 and 8 pairs at the cells that are not decided, and the verdict on all metrics.
So it does SUITES (20) times, with the seeds 1, 2, …. What is dealt never has one trial on both sides; two suites have
trials in common. Finished trials are in results/alike and do not run again.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from testbed.analysis.metric import METRICS
from testbed.commands import compared_run, question
from testbed.commands.candidate.contender import CUBIC, Contender
from testbed.commands.candidate.suite import QUICK, ours
from testbed.commands.candidate.under_test import under_test
from testbed.commands.known import learn_metrics
from testbed.commands.measure import cc
from testbed.commands.measure.run import carry_out
from testbed.compare import look, run
from testbed.compare.look import LEAST, CellData, Looks
from testbed.compare.pairing import Cell, pair
from testbed.compare.run import TOLERANCE, RunComparison, apart, exact_cells
from testbed.compare.side import Measured, Run, Side, rare_of
from testbed.kernel.image.cache import find
from testbed.model.run_setting import LAB
from testbed.spec.load import files_of, load_scenario
from testbed.sweep.store import Store

MOST = cc.QUICK.repetitions
ROOT = Path("results/alike")


def measured(folder: Path, trials: int) -> dict[str, Run]:
    """The trials of each scenario, with all metrics."""
    side = Contender(CUBIC, CUBIC, LAB, find(None))
    found = {}
    for path in ours(QUICK):
        scenario = under_test(load_scenario(path), side, CUBIC, trials)
        carry_out(scenario, Store(folder / path.stem), files_of(path), 1, Console(stderr=True))
        learn_metrics([folder / path.stem])
        found[path.stem] = compared_run.run(folder / path.stem, tuple(METRICS), in_parts=False)
    return found


def dealt(pool: dict[str, Run], rng: random.Random) -> tuple[Side, Side]:
    """Two sides of MOST repetitions of each cell, that have no trial in common."""
    sides: list[dict[str, Run]] = [{}, {}]
    for name, whole in pool.items():
        cells = defaultdict(list)
        for each in whole.trials:
            cells[frozenset(each.result.params.items())].append(each)
        mine: list[list[Measured]] = [[], []]
        for trials in cells.values():
            drawn = rng.sample(trials, 2 * MOST)
            for at, each in enumerate(drawn):
                mine[at % 2].append(_as(each, at // 2))
        for made, trials in zip(sides, mine, strict=True):
            made[name] = replace(whole, trials=tuple(trials))
    return Side("base", sides[0]), Side("candidate", sides[1])


def _as(trial: Measured, number: int) -> Measured:
    """As the trial of this repetition."""
    result = replace(trial.result, seed=number + 1, repetition=number)
    return replace(trial, result=result, settings={**trial.settings, "seed": result.seed, "repetition": number})


def judged(sides: tuple[Side, Side]) -> RunComparison:
    """By looks at MOST repetitions at most, as until-decided makes them, and the comparison of what they saw."""
    metrics = question.deciding(*sides, None)
    between = apart(*sides)
    paired = pair(*sides, between)
    exact = exact_cells(paired, sides, between)
    names = tuple(dict.fromkeys(name for each in metrics.values() for name in each))
    looks = Looks("base", "candidate", TOLERANCE, names, sum(len(metrics[cell.scenario]) for cell in paired.asked))
    done = dict.fromkeys(paired.asked, LEAST)
    while True:
        data = {cell: _data(cell, sides, metrics[cell.scenario], count, cell in exact) for cell, count in done.items()}
        looks, wanted = look.advance(looks, data, MOST)
        if not wanted:
            break
        done |= wanted
    return run.compare(*question.looked_at(*sides, looks), TOLERANCE, tuple(METRICS), looks=looks)


def _data(cell: Cell, sides: tuple[Side, Side], metrics: Sequence[str], count: int, is_exact: bool) -> CellData:
    values = [
        {each.result.repetition: each.metrics for each in side.runs[cell.scenario].trials if _is_of(each, cell)}
        for side in sides
    ]
    samples = {
        metric: {
            number: (first, second)
            for number in range(count)
            if (first := values[0][number][metric]) is not None and (second := values[1][number][metric]) is not None
        }
        for metric in metrics
    }
    return CellData(count, LEAST, samples, rare=rare_of(*sides, cell.scenario), is_exact=is_exact)


def _is_of(each: Measured, cell: Cell) -> bool:
    return dict(cell.params or ()).items() <= each.result.params.items()


def main(suites: int = 20, trials: int = 24) -> int:
    pool = measured(ROOT, trials)
    invalid = sum(each.result.verdict == "invalid" for whole in pool.values() for each in whole.trials)
    count = sum(len(whole.trials) for whole in pool.values())
    print(f"{count} trials, {invalid} of them invalid")
    found, cells = Counter[str](), Counter[str]()
    for seed in range(1, suites + 1):
        made = judged(dealt(pool, random.Random(seed)))
        found[made.verdict] += 1
        cells.update(each.verdict for each in made.cells if made.is_primary(each.key))
        differ = [each for each in made.cells if each.verdict in ("worse", "better")]
        for each in differ:
            where = f"{each.key.scenario} {dict(each.key.params)}"
            kind = "primary" if made.is_primary(each.key) else "another metric"
            print(f"suite {seed}: {where}: {each.key.metric} {each.verdict} ({kind})")
    for what, counts in ((f"{suites} suites", found), (f"their {cells.total()} primary cells", cells)):
        print(f"of {what}: {', '.join(f'{number} {verdict}' for verdict, number in counts.most_common())}")
    return 0
