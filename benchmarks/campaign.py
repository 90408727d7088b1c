"""What the campaign of Phanekham et al. (S3) takes: `python -m benchmarks campaign [TRIALS [SEED]]`.

All trials of `throughput-profile` and `throughput-profile-loss` in their full size are put in order by what the
forecast tells of them, and cut into as many strata as TRIALS (40), each with as many trials as the others. One trial of
each, drawn by SEED (1), runs, one at a time. Prints told and taken processor time of each, and what the whole campaign
takes: the sum over strata of what all trials there are told to take, times taken over told of the one that ran.
"""

from __future__ import annotations

import random

from testbed.library import SCENARIOS
from testbed.spec.load import load_scenario
from testbed.sweep.forecast import PRIOR, forecast_s, work
from testbed.trial.orders.sequence import orders

from .forecast import measured

NAMES = ("throughput-profile", "throughput-profile-loss")


def main(count: int = 40, seed: int = 1) -> int:
    found = [
        (forecast_s(work(trial, orders(trial)), PRIOR), name, trial.id, trial)
        for name in NAMES
        for trial in load_scenario(SCENARIOS / f"{name}.yaml").trials()
    ]
    order = sorted(found, key=lambda each: each[:3])
    draw, told_s, took_s, all_s = random.Random(seed), 0.0, 0.0, 0.0
    print(f"{'told s':>9}{'took s':>9}  trial")
    for number in range(count):
        stratum = order[number * len(order) // count : (number + 1) * len(order) // count]
        told, name, id, trial = draw.choice(stratum)
        took = measured(trial).cpu_s
        told_s, took_s = told_s + told, took_s + took
        all_s += sum(each[0] for each in stratum) * took / told
        print(f"{told:9.2f}{took:9.2f}  {name} {id}", flush=True)
    whole_s = sum(each[0] for each in order)
    print(f"{told_s:9.2f}{took_s:9.2f}  {count} of {len(order)} trials")
    print(f"the campaign: {whole_s / 3600:.1f} h of a processor told, {all_s / 3600:.1f} h by what these took")
    return 0
